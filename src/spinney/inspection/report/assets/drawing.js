// One tree as a drawing that can be moved, enlarged, and walked with the arrow keys.

// A large tree is shown in a window of some levels, which moves with the chosen node; subtrees below
// it are folded. The whole of it can be seen too.

const LEVELS_BY_WIDTH = [
  [520, 3],
  [820, 4],
  [Infinity, 5],
];
const LEVELS_ABOVE = 2; // of a chosen node that was not in the window

class TreeDrawing {
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.isWhole = false;
    this.layer = draw("g");
    this.svg = draw(
      "svg",
      {
        class: "tree",
        role: "tree",
        "aria-label": "Tree",
        preserveAspectRatio: "xMidYMin meet",
        on: {
          click: (event) => this.clicked(event),
          keydown: (event) => this.pressed(event),
          pointerdown: (event) => this.grabbed(event),
          dblclick: (event) => this.zoom(1.6, this.pointOf(event)),
        },
      },
      this.layer,
    );
    this.svg.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
  }

  show(tree, node = 0) {
    this.tree = tree;
    this.node = -1;
    this.range = null;
    this.matches ??= [];
    const width = this.svg.clientWidth || 800;
    [, this.nLevels] = LEVELS_BY_WIDTH.find(([widest]) => width < widest);
    this.fitsWhole = (tree.nNodes + 1) / 2 <= 1.25 * 2 ** this.nLevels;
    this.root = 0;
    this.moveWindow(node);
    this.build();
  }

  // Let a node be inside the window with its children, if it is not.
  moveWindow(node) {
    if (this.fitsWhole || this.isWhole) {
      this.root = 0;
      return this.root;
    }
    const path = this.tree.path(node);
    const top = path.indexOf(this.root);
    const below = path.length - 1 - top;
    const isInside =
      top >= 0 &&
      (below < this.nLevels || (below === this.nLevels && this.tree.isLeaf(node))) &&
      (below > 0 || this.root === 0);
    if (!isInside) this.root = path[Math.max(0, path.length - 1 - LEVELS_ABOVE)];
    return this.root;
  }

  build() {
    this.setVisible();
    this.layOut();
    this.items = new Map(this.visible.map((node) => [node, this.item(node)]));
    this.pathLayer = draw("g", { class: "path-layer" });
    this.layer.replaceChildren(...this.edges(), this.pathLayer, ...this.items.values());
    this.mark(this.matches);
    this.fit();
  }

  // Nodes of the window in breadth-first order; `isFolded` tells splits whose children are not.
  setVisible() {
    const { tree, root } = this;
    const deepest = this.fitsWhole || this.isWhole ? Infinity : tree.depth[root] + this.nLevels;
    this.visible = [];
    const level = [root];
    for (let at = 0; at < level.length; at++) {
      const node = level[at];
      this.visible.push(node);
      if (!tree.isLeaf(node) && tree.depth[node] < deepest) level.push(tree.left[node], tree.right[node]);
    }
    this.isFolded = (node) => !tree.isLeaf(node) && tree.depth[node] >= deepest;
  }

  // Ends side by side, each split above the middle of its children.
  layOut() {
    const { tree } = this;
    const isEnd = (node) => tree.isLeaf(node) || this.isFolded(node);
    const nEnds = this.visible.filter(isEnd).length;
    const isCrowded = nEnds > 45;
    this.hasPictures = report.imageShape !== null && !isCrowded;
    this.hasLabels = !isCrowded;
    this.gap = isCrowded ? Math.max(4, 1000 / nEnds) : Math.max(this.hasPictures ? 38 : 70, 620 / nEnds);
    const depth = tree.depth[this.visible.at(-1)] - tree.depth[this.root] || 1;
    this.levelHeight = Math.min(Math.max(isCrowded ? 24 : 80, (0.56 * nEnds * this.gap) / depth), 260);
    this.x = new Map();
    this.y = new Map(
      this.visible.map((node) => [node, (tree.depth[node] - tree.depth[this.root]) * this.levelHeight]),
    );
    let place = 0;
    const waiting = [this.root];
    while (waiting.length) {
      const node = waiting.pop();
      if (isEnd(node)) this.x.set(node, this.gap * place++);
      else waiting.push(tree.right[node], tree.left[node]);
    }
    for (const node of [...this.visible].reverse()) {
      if (!isEnd(node)) this.x.set(node, (this.x.get(tree.left[node]) + this.x.get(tree.right[node])) / 2);
    }
    this.size = [Math.max(nEnds - 1, 1) * this.gap, depth * this.levelHeight];
    this.pictureSize = this.hasPictures ? this.pictureSizes() : null;
  }

  // Pictures as large as the neighbours on a level allow, by depth.
  pictureSizes() {
    const least = new Map();
    this.visible.forEach((node, i) => {
      const level = this.tree.depth[node];
      const before = this.visible[i - 1];
      const gap = i && this.tree.depth[before] === level ? this.x.get(node) - this.x.get(before) : Infinity;
      least.set(level, Math.min(least.get(level) ?? Infinity, gap));
    });
    return new Map(
      [...least].map(([level, gap]) => [
        level,
        Math.max(24, Math.min(0.84 * gap, 0.66 * this.levelHeight, 130)),
      ]),
    );
  }

  share(node) {
    const all = this.tree.nReached(0);
    return all ? this.tree.nReached(node) / all : 1 / 2 ** this.tree.depth[node];
  }

  // Edges in five widths, one path for each: thousands of elements would be slow.
  edges() {
    const byWidth = new Map();
    const all = this.share(this.root) || 1;
    for (const node of this.visible.slice(1)) {
      const width = Math.ceil(5 * Math.sqrt(this.share(node) / all));
      byWidth.set(width, `${byWidth.get(width) ?? ""}${this.edge(node)}`);
    }
    const edges = [...byWidth].map(([width, d]) =>
      draw("path", { class: "edge", d, "stroke-width": Math.max(width, 0.6) }),
    );
    if (this.root > 0) {
      const x = this.x.get(this.root);
      const up = draw("path", {
        class: "edge above",
        d: `M${x} 0V${-0.45 * this.levelHeight}`,
        "stroke-width": 2,
      });
      edges.push(up);
    }
    return edges;
  }

  edge(node) {
    const parent = this.tree.parent[node];
    const [x0, y0, x1, y1] = [this.x.get(parent), this.y.get(parent), this.x.get(node), this.y.get(node)];
    const middle = (y0 + y1) / 2;
    const points = [x0, y0, x0, middle, x1, middle, x1, y1].map((value) => value.toFixed(1));
    return `M${points.slice(0, 2).join(" ")}C${points.slice(2).join(" ")}`;
  }

  item(node) {
    const { tree } = this;
    const isLeaf = tree.isLeaf(node);
    const text = this.hasLabels ? this.shortName(node) : "";
    const isInside = isLeaf && text && text.length <= 2;
    const share = Math.sqrt(this.share(node) / (this.share(this.root) || 1));
    const largest = this.hasLabels ? 99 : Math.max(1.3, 0.45 * this.gap);
    const radius = Math.min(
      Math.max((isLeaf ? 4 : 4.5) + 7 * share, isInside ? 10 : 0),
      Math.max(largest, 7 * share),
    );
    const isPicture = this.hasPictures && !isLeaf;
    const half = isPicture ? this.pictureSize.get(tree.depth[node]) / 2 : 0;
    const shape = isPicture
      ? this.thumbnail(node)
      : draw("circle", {
          class: isLeaf ? "leaf" : "split",
          r: radius,
          css: isLeaf ? { fill: this.colourOfLeaf(node) } : {},
        });
    const halo = isPicture
      ? draw("rect", {
          class: "halo",
          x: -half - 2,
          y: -half - 2,
          width: 2 * half + 4,
          height: 2 * half + 4,
          rx: 4,
        })
      : draw("circle", { class: "halo", r: radius + 3 });
    return draw(
      "g",
      {
        class: "node",
        role: "treeitem",
        tabindex: -1,
        "data-node": node,
        "aria-level": tree.depth[node] + 1,
        "aria-label": this.describe(node),
        "aria-selected": "false",
        transform: `translate(${this.x.get(node).toFixed(1)} ${this.y.get(node).toFixed(1)})`,
      },
      draw("title", {}, this.describe(node)),
      halo,
      shape,
      this.isFolded(node)
        ? draw("path", {
            class: "fold",
            d: `M-5 ${(isPicture ? half : radius) + (isPicture || !text ? 6 : 20)}h10l-5 6z`,
          })
        : null,
      text && !isPicture
        ? draw(
            "text",
            { y: isInside ? 0 : radius + 13, "text-anchor": "middle", class: isInside ? "inside" : "under" },
            text,
          )
        : null,
    );
  }

  thumbnail(node) {
    const canvas = picture(planeAsRow(this.tree.hyperplane(node)), "");
    const size = this.pictureSize.get(this.tree.depth[node]);
    return draw("image", {
      class: "thumbnail",
      href: canvas.toDataURL(),
      x: -size / 2,
      y: -size / 2,
      width: size,
      height: size,
    });
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
    if (!tree.isLeaf(node))
      return `Split ${node}${rows}: ${tree.rule(node) || mainTerms(tree, node, 2)}${this.isFolded(node) ? ", more below" : ""}`;
    if (isClassifier) return `Leaf ${node}${rows}: ${className(tree.label(node))}`;
    return `Leaf ${node}${rows}: ${tree
      .leafValues(node)
      .map((value) => number(value))
      .join(", ")}`;
  }

  shortName(node) {
    const { tree } = this;
    let text;
    if (!tree.isLeaf(node)) {
      const [first] = byEffect(tree.hyperplane(node));
      text = tree.rule(node) || (first ? report.coordinates[first.coordinate] : "–");
    } else {
      text = isClassifier ? className(tree.label(node)) : number(tree.leafValues(node)[0], 3);
    }
    const letters = Array.from(text);
    const most = Math.max(3, Math.floor(this.gap / 7.5));
    return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
  }

  choose(node, { focus = false } = {}) {
    const { root } = this;
    if (this.moveWindow(node) !== root) this.build();
    const before = this.items.get(this.node);
    if (before) {
      before.setAttribute("tabindex", "-1");
      before.setAttribute("aria-selected", "false");
    }
    this.node = node;
    const item = this.items.get(node);
    item.setAttribute("tabindex", "0");
    item.setAttribute("aria-selected", "true");
    if (focus) item.focus({ preventScroll: true });
    this.reveal(node);
  }

  // The way of a row, or to the chosen node, above the other edges.
  showPath(node) {
    this.pathLayer.replaceChildren();
    if (node < 0) return;
    const shown = this.tree
      .path(node)
      .slice(1)
      .filter((at) => this.x.has(at) && this.x.has(this.tree.parent[at]));
    const d = shown.map((at) => this.edge(at)).join("");
    if (d) this.pathLayer.append(draw("path", { class: "edge way", d }));
  }

  // Nodes that were searched for, and folded ones that hide such.
  mark(nodes) {
    this.matches = nodes;
    const marked = new Set(nodes);
    for (const node of nodes) {
      for (const at of this.tree.path(node)) if (this.isFolded(at)) marked.add(at);
    }
    for (const [node, item] of this.items) {
      item.classList.toggle("match", marked.has(node));
      item.classList.toggle("faded", nodes.length > 0 && !marked.has(node));
    }
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
    const side = Math.max(this.hasLabels ? 40 : 14, this.pictureSize ? 0 : this.gap / 2, (560 - width) / 2); // small trees are not blown up
    const top = this.root > 0 ? 0.55 * this.levelHeight : (this.pictureSize?.get(0) ?? 40) / 2 + 16;
    this.box = [-side, -top, width + 2 * side, height + top + 44];
    this.applyBox();
  }

  applyBox() {
    this.svg.setAttribute("viewBox", this.box.map((value) => value.toFixed(1)).join(" "));
  }

  zoom(factor, centre) {
    const [x, y, width, height] = this.box;
    const isNear = this.x.has(this.node) && factor > 1;
    const focus = isNear ? [this.x.get(this.node), this.y.get(this.node)] : [x + width / 2, y + height / 2];
    const [cx, cy] = centre ?? focus;
    const least = 120;
    const scale = Math.max(1 / factor, least / width);
    this.box = [cx - (cx - x) * scale, cy - (cy - y) * scale, width * scale, height * scale];
    this.applyBox();
  }

  // Move the drawing so that a node is in view.
  reveal(node) {
    const [x, y, width, height] = this.box;
    const [px, py] = [this.x.get(node), this.y.get(node)];
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
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, this.pointOf(event));
  }

  grabbed(event) {
    if (event.button !== 0) return;
    const origin = [event.clientX, event.clientY];
    const [x, y, width, height] = this.box;
    const scale = 1 / this.svg.getScreenCTM().a;
    this.wasDragged = false;
    const moved = (move) => {
      const [dx, dy] = [move.clientX - origin[0], move.clientY - origin[1]];
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

// A hyperplane with its zeros, as a picture wants it: effects, as the bars have them.
function planeAsRow(plane) {
  const values = new Float64Array(nCoordinates);
  for (const { coordinate, effect } of byEffect(plane)) values[coordinate] = effect;
  return values;
}

// Terms of a hyperplane, those that move scores most first: by |weight| times the spread of the
// coordinate over the rows.
function byEffect(plane) {
  const terms = Array.from(plane.indices, (coordinate, k) => ({
    coordinate,
    weight: plane.weights[k],
    effect: plane.weights[k] * spreads[coordinate],
  }));
  return terms.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

function mainTerms(tree, node, most) {
  const terms = byEffect(tree.hyperplane(node));
  const shown = terms
    .slice(0, most)
    .map((term) => `${signed(term.weight, 3)} × ${report.coordinates[term.coordinate]}`);
  return shown.join(" ") + (terms.length > most ? " …" : "");
}
