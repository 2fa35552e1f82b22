// One tree as a drawing that can be moved, enlarged, and walked with the arrow keys.

const MOST_PICTURES = 70;  // splits of a tree that are drawn as pictures
const MOST_LABELS = 40;    // leaves of a tree whose nodes have names under them

class TreeDrawing {
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.layer = draw("g");
    this.svg = draw("svg", { class: "tree", role: "tree", "aria-label": "Tree", on: {
      click: (event) => this.clicked(event),
      keydown: (event) => this.pressed(event),
      pointerdown: (event) => this.grabbed(event),
      wheel: (event) => this.wheeled(event),
      dblclick: (event) => this.zoom(1.6, this.pointOf(event)),
    } }, this.layer);
    this.svg.addEventListener("wheel", (event) => { if (event.ctrlKey || event.metaKey) event.preventDefault(); }, { passive: false });
  }

  show(tree) {
    this.tree = tree;
    this.node = -1;
    this.matches = new Set();
    this.layOut();
    this.items = [];
    for (let node = 0; node < tree.nNodes; node++) this.items.push(this.item(node));
    this.pathLayer = draw("g", { class: "path-layer" });
    this.layer.replaceChildren(...this.edges(), this.pathLayer, ...this.items);
    this.fit();
  }

  // Leaves side by side, each split above the middle of its children.
  layOut() {
    const { tree } = this;
    const nLeaves = (tree.nNodes + 1) / 2;
    this.hasPictures = report.imageShape !== null && nLeaves <= MOST_PICTURES;
    this.hasLabels = nLeaves <= MOST_LABELS;
    this.gap = this.hasPictures ? Math.max(38, 560 / nLeaves) : this.hasLabels ? Math.max(70, 640 / nLeaves) : 18;
    const depth = tree.depth[tree.nNodes - 1] || 1;
    this.levelHeight = Math.min(Math.max(80, (0.56 * nLeaves * this.gap) / depth), 260);
    this.x = new Float64Array(tree.nNodes);
    this.y = Float64Array.from(tree.depth, (level) => level * this.levelHeight);
    let place = 0;
    const waiting = [0];
    while (waiting.length) {
      const node = waiting.pop();
      if (tree.isLeaf(node)) this.x[node] = this.gap * place++;
      else waiting.push(tree.right[node], tree.left[node]);
    }
    for (let node = tree.nNodes - 1; node >= 0; node--) {
      if (!tree.isLeaf(node)) this.x[node] = (this.x[tree.left[node]] + this.x[tree.right[node]]) / 2;
    }
    this.size = [Math.max(nLeaves - 1, 1) * this.gap, depth * this.levelHeight];
    if (this.hasPictures) this.setPictureSizes(depth);
  }

  // Pictures as large as the neighbours on a level allow.
  setPictureSizes(depth) {
    const least = new Float64Array(depth + 1).fill(Infinity);
    for (let node = 1; node < this.tree.nNodes; node++) {
      const level = this.tree.depth[node];
      if (level === this.tree.depth[node - 1]) least[level] = Math.min(least[level], this.x[node] - this.x[node - 1]);
    }
    this.pictureSize = Array.from(least, (gap) => Math.max(24, Math.min(0.84 * gap, 0.66 * this.levelHeight, 130)));
  }

  share(node) {
    const all = this.tree.nReached(0);
    return all ? this.tree.nReached(node) / all : 1 / 2 ** this.tree.depth[node];
  }

  // Edges in five widths, one path for each: thousands of elements would be slow.
  edges() {
    const byWidth = new Map();
    for (let node = 1; node < this.tree.nNodes; node++) {
      const width = Math.ceil(5 * Math.sqrt(this.share(node)));
      byWidth.set(width, `${byWidth.get(width) ?? ""}${this.edge(node)}`);
    }
    return [...byWidth].map(([width, d]) => draw("path", { class: "edge", d, "stroke-width": Math.max(width, 0.6) }));
  }

  edge(node) {
    const parent = this.tree.parent[node];
    const [x0, y0, x1, y1] = [this.x[parent], this.y[parent], this.x[node], this.y[node]];
    const middle = (y0 + y1) / 2;
    return `M${x0.toFixed(1)} ${y0.toFixed(1)}C${x0.toFixed(1)} ${middle.toFixed(1)} ${x1.toFixed(1)} ${middle.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
  }

  item(node) {
    const { tree } = this;
    const isLeaf = tree.isLeaf(node);
    const text = this.hasLabels || this.hasPictures ? this.shortName(node) : "";
    const isInside = isLeaf && text && text.length <= 2;
    const radius = Math.max((isLeaf ? 4 : 4.5) + 7 * Math.sqrt(this.share(node)), isInside ? 10 : 0);
    const isPicture = this.hasPictures && !isLeaf;
    const half = isPicture ? this.pictureSize[tree.depth[node]] / 2 : 0;
    const shape = isPicture ? this.thumbnail(node) : draw("circle", { class: isLeaf ? "leaf" : "split", r: radius,
      css: isLeaf ? { fill: this.colourOfLeaf(node) } : {} });
    const halo = isPicture
      ? draw("rect", { class: "halo", x: -half - 2, y: -half - 2, width: 2 * half + 4, height: 2 * half + 4, rx: 4 })
      : draw("circle", { class: "halo", r: radius + 3 });
    return draw("g", { class: "node", role: "treeitem", tabindex: -1, "data-node": node,
      "aria-level": tree.depth[node] + 1, "aria-label": this.describe(node), "aria-selected": "false",
      transform: `translate(${this.x[node].toFixed(1)} ${this.y[node].toFixed(1)})` },
      draw("title", {}, this.describe(node)), halo, shape,
      text && !isPicture ? draw("text", { y: isInside ? 0 : radius + 13, "text-anchor": "middle", class: isInside ? "inside" : "under" }, text) : null);
  }

  thumbnail(node) {
    const canvas = picture(planeAsRow(this.tree.hyperplane(node)), "");
    const size = this.pictureSize[this.tree.depth[node]];
    return draw("image", { class: "thumbnail", href: canvas.toDataURL(), x: -size / 2, y: -size / 2, width: size, height: size });
  }

  colourOfLeaf(node) {
    if (isClassifier) return colourOfClass(this.tree.label(node));
    const value = this.tree.leafValues(node)[0];
    this.range ??= leafRange(this.tree);
    const share = (value - this.range[0]) / (this.range[1] - this.range[0] || 1);
    return `color-mix(in srgb, var(--positive) ${Math.round(100 * share)}%, var(--negative))`;
  }

  describe(node) {
    const { tree } = this;
    const n = tree.nReached(node);
    const rows = n === null ? "" : `, ${plural(n, "row")}`;
    if (!tree.isLeaf(node)) return `Split ${node}${rows}: ${mainTerms(tree, node, 2)}`;
    if (isClassifier) return `Leaf ${node}${rows}: ${className(tree.label(node))}`;
    return `Leaf ${node}${rows}: ${tree.leafValues(node).map((value) => number(value)).join(", ")}`;
  }

  shortName(node) {
    const { tree } = this;
    let text;
    if (!tree.isLeaf(node)) {
      const [first] = byEffect(tree.hyperplane(node));
      text = first ? report.coordinates[first.coordinate] : "–";
    } else {
      text = isClassifier ? className(tree.label(node)) : number(tree.leafValues(node)[0], 3);
    }
    const letters = Array.from(text);
    const most = Math.max(3, Math.floor(this.gap / 7.5));
    return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
  }

  choose(node, { focus = false } = {}) {
    const before = this.items[this.node];
    if (before) {
      before.setAttribute("tabindex", "-1");
      before.setAttribute("aria-selected", "false");
    }
    this.node = node;
    const item = this.items[node];
    item.setAttribute("tabindex", "0");
    item.setAttribute("aria-selected", "true");
    if (focus) item.focus({ preventScroll: true });
    this.reveal(node);
  }

  // The way of a row, or to the chosen node, above the other edges.
  showPath(node) {
    this.pathLayer.replaceChildren();
    if (node < 0) return;
    const d = this.tree.path(node).slice(1).map((at) => this.edge(at)).join("");
    if (d) this.pathLayer.append(draw("path", { class: "edge way", d }));
  }

  mark(nodes) {
    this.matches = new Set(nodes);
    this.items.forEach((item, node) => {
      item.classList.toggle("match", this.matches.has(node));
      item.classList.toggle("faded", nodes.length > 0 && !this.matches.has(node));
    });
  }

  clicked(event) {
    if (this.wasDragged) return;
    const item = event.target.closest("[data-node]");
    if (item) this.onChoose(Number(item.dataset.node), { focus: true });
  }

  pressed(event) {
    const target = this.neighbour(event.key);
    if (target >= 0) this.onChoose(target, { focus: true });
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  // Where an arrow leads: up to the parent, down to the larger child, aside on the same level.
  neighbour(key) {
    const { tree, node } = this;
    if (key === "Home") return 0;
    if (key === "ArrowUp") return tree.parent[node];
    if (key === "ArrowDown" && !tree.isLeaf(node)) {
      const [left, right] = [tree.left[node], tree.right[node]];
      return this.share(right) > this.share(left) ? right : left;
    }
    const step = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
    const aside = node + step;
    return step && aside >= 0 && aside < tree.nNodes && tree.depth[aside] === tree.depth[node] ? aside : -1;
  }

  fit() {
    const [width, height] = this.size;
    const [left, top] = [Math.max(40, (560 - width) / 2), (this.pictureSize?.[0] ?? 40) / 2 + 16];  // small trees are not blown up
    this.box = [-left, -top, width + 2 * left, height + top + 40];
    this.applyBox();
  }

  applyBox() {
    this.svg.setAttribute("viewBox", this.box.map((value) => value.toFixed(1)).join(" "));
  }

  zoom(factor, centre) {
    const [x, y, width, height] = this.box;
    const focus = this.node >= 0 && factor > 1 ? [this.x[this.node], this.y[this.node]] : [x + width / 2, y + height / 2];
    const [cx, cy] = centre ?? focus;
    const least = 120;
    const scale = Math.max(1 / factor, least / width);
    this.box = [cx - (cx - x) * scale, cy - (cy - y) * scale, width * scale, height * scale];
    this.applyBox();
  }

  // Move the drawing so that a node is in view.
  reveal(node) {
    const [x, y, width, height] = this.box;
    const [px, py] = [this.x[node], this.y[node]];
    if (px < x || px > x + width) this.box[0] = px - width / 2;
    if (py < y || py > y + height) this.box[1] = py - height / 2;
    this.applyBox();
  }

  pointOf(event) {
    const inverse = this.svg.getScreenCTM().inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
    return [point.x, point.y];
  }

  wheeled(event) {
    if (event.ctrlKey || event.metaKey) this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, this.pointOf(event));
  }

  grabbed(event) {
    if (event.button !== 0) return;
    const start = [event.clientX, event.clientY];
    const [x, y, width, height] = this.box;
    const scale = 1 / this.svg.getScreenCTM().a;
    this.wasDragged = false;
    const moved = (move) => {
      const [dx, dy] = [move.clientX - start[0], move.clientY - start[1]];
      if (Math.hypot(dx, dy) > 4) this.wasDragged = true;
      if (!this.wasDragged) return;
      this.box = [x - dx * scale, y - dy * scale, width, height];
      this.applyBox();
    };
    const released = () => {
      window.removeEventListener("pointermove", moved);
      window.removeEventListener("pointerup", released);
      window.removeEventListener("pointercancel", released);
    };
    window.addEventListener("pointermove", moved);
    window.addEventListener("pointerup", released);
    window.addEventListener("pointercancel", released);
  }
}

function leafRange(tree) {
  let [low, high] = [Infinity, -Infinity];
  for (let node = 0; node < tree.nNodes; node++) {
    if (!tree.isLeaf(node)) continue;
    const [value] = tree.leafValues(node);
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

// A hyperplane with its zeros, as a picture wants it.
function planeAsRow(plane) {
  const values = new Float64Array(nCoordinates);
  plane.indices.forEach((coordinate, k) => { values[coordinate] = plane.weights[k]; });
  return values;
}

// Terms of a hyperplane, those that move scores most first: by |weight| times the spread of the
// coordinate over the rows.
function byEffect(plane) {
  const terms = Array.from(plane.indices, (coordinate, k) => ({
    coordinate, weight: plane.weights[k], effect: plane.weights[k] * spreads[coordinate],
  }));
  return terms.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

function mainTerms(tree, node, most) {
  const terms = byEffect(tree.hyperplane(node));
  const shown = terms.slice(0, most).map((term) => `${signed(term.weight, 3)} × ${report.coordinates[term.coordinate]}`);
  return shown.join(" ") + (terms.length > most ? " …" : "");
}
