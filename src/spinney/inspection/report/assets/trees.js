// The view of one tree: a drawing, a search, and what is known of the chosen node.

class TreesView {
  constructor(panel) {
    this.drawing = new TreeDrawing((node, options) => this.chooseNode(node, options));
    this.detail = make("div", { class: "detail card", id: "node-detail" });
    this.followed = make("span");
    this.found = make("span", { class: "quiet", role: "status" });
    this.number = make("input", {
      type: "number",
      id: "tree-number",
      min: 0,
      max: report.nTreesShown - 1,
      value: 0,
      on: { change: () => this.typed() },
    });
    this.search = make("input", {
      type: "search",
      id: "tree-search",
      placeholder: isClassifier ? "column, class or node number" : "column or node number",
      autocomplete: "off",
      spellcheck: "false",
      on: {
        input: () => this.find(),
        keydown: (event) => {
          if (event.key === "Enter") this.nextMatch();
        },
      },
    });
    this.matches = [];
    this.whole = action("Whole tree", () => this.toggleWhole(), { "aria-pressed": "false" });
    replaceContent(
      panel,
      this.toolbar(),
      make(
        "div",
        { class: "split-view" },
        make(
          "div",
          { class: "canvas card" },
          make("div", { class: "canvas-top" }, this.drawing.svg, this.zoomButtons()),
          make(
            "p",
            { class: "hint quiet" },
            "Arrow keys walk: up, down, aside. Drag to move, Ctrl + wheel to zoom.",
          ),
        ),
        this.detail,
      ),
    );
  }

  toolbar() {
    return make(
      "div",
      { class: "toolbar" },
      make("label", { for: "tree-number" }, "Tree"),
      action("‹", () => this.step(-1), { "aria-label": "Previous tree" }),
      this.number,
      action("›", () => this.step(1), { "aria-label": "Next tree" }),
      make("span", { class: "quiet" }, `of ${count(report.nTreesShown)}, counted from 0`),
      make(
        "label",
        { for: "tree-search", class: "grow" },
        make("span", { class: "hidden-label" }, "Search"),
        this.search,
      ),
      this.found,
      this.followed,
    );
  }

  zoomButtons() {
    return make(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      action("+", () => this.drawing.zoom(1.4), { "aria-label": "Zoom in" }),
      action(MINUS, () => this.drawing.zoom(1 / 1.4), { "aria-label": "Zoom out" }),
      action("Fit", () => this.drawing.fit(), { "aria-label": "Fit the drawing into view" }),
      this.whole,
    );
  }

  toggleWhole() {
    this.drawing.isWhole = !this.drawing.isWhole;
    this.whole.setAttribute("aria-pressed", String(this.drawing.isWhole));
    this.drawing.tree = null;
    this.update();
  }

  step(by) {
    const next = state.tree + by;
    if (next >= 0 && next < report.nTreesShown) go({ tree: next, node: 0 });
  }

  typed() {
    const wanted = this.number.value === "" ? -1 : Math.round(Number(this.number.value));
    if (wanted >= 0 && wanted < report.nTreesShown) go({ tree: wanted, node: 0 });
    else this.number.value = state.tree;
  }

  chooseNode(node, options = {}) {
    this.focus = options.focus ?? false;
    go({ node });
  }

  // Whoever opens a link to a tree can walk it with the arrow keys at once.
  focusNode() {
    this.drawing.choose(this.drawing.node, { focus: true });
  }

  async update() {
    const { tree: treeNumber, node, row } = state;
    const tree = await treeOf(treeNumber);
    const rows = hasRows ? await rowsOf() : null;
    if (state.tree !== treeNumber || state.node !== node) return; // something newer was asked for
    const at = Math.min(node, tree.nNodes - 1);
    this.number.value = treeNumber;
    if (this.drawing.tree !== tree || this.theme !== themeNow()) {
      this.theme = themeNow();
      this.drawing.show(tree, at);
      this.whole.hidden = this.drawing.fitsWhole;
      this.find();
    }
    this.drawing.choose(at, { focus: this.focus });
    this.drawing.showPath(rows && row >= 0 ? rows.leaf(row, treeNumber) : at);
    this.showFollowed(row);
    this.focus = false;
    describeNode(this.detail, tree, at, rows, row);
  }

  // Which row the drawn way is of, and a button to let go of it.
  showFollowed(row) {
    const label = row < 0 ? "" : `way of row ${report.rows.numbers[row]} ✕`;
    const chip = () =>
      action(label, () => go({ row: -1 }), { class: "chip", title: "Stop following this row" });
    replaceContent(this.followed, label ? chip() : null);
  }

  // Nodes whose number is the text, whose hyperplane has a column or whose rule has a level, or
  // whose leaf has a class of such a name.
  find() {
    const text = this.search.value.trim().toLocaleLowerCase();
    const { tree } = this.drawing;
    if (!tree) return;
    this.matches = text ? matchingNodes(tree, text) : [];
    this.drawing.mark(this.matches);
    this.found.textContent = text ? `${count(this.matches.length)} found` : "";
  }

  nextMatch() {
    if (!this.matches.length) return;
    const next = this.matches.find((node) => node > state.node) ?? this.matches[0];
    go({ node: next });
  }
}

function matchingNodes(tree, text) {
  const isNamed = (label) => label.toLocaleLowerCase().includes(text);
  const coordinates = new Set(
    report.coordinates.flatMap((label, coordinate) => (isNamed(label) ? [coordinate] : [])),
  );
  const found = [];
  for (let node = 0; node < tree.nNodes; node++) {
    const isSame = String(node) === text;
    const isMatch = tree.isLeaf(node)
      ? isClassifier && isNamed(className(tree.label(node)))
      : isNamed(tree.rule(node)) ||
        tree.hyperplane(node).indices.some((coordinate) => coordinates.has(coordinate));
    if (isSame || isMatch) found.push(node);
  }
  return found;
}
