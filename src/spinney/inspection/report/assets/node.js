// What is known of one node: its hyperplane, the rows that reach it, and where they go.

const MOST_ROWS_OF_NODE = 40;
const EFFECT = "weight × deviation of the column";

function describeNode(panel, tree, node, rows, chosenRow) {
  replaceContent(
    panel,
    nodeHeading(tree, node),
    breadcrumbs(tree, node),
    reachSentence(tree, node),
    tree.isLeaf(node) ? leafAnswer(tree, node) : splitPart(tree, node),
    tree.isLeaf(node) || !rows ? null : scorePart(tree, node, rows),
    mixPart(tree, node, rows),
    rows ? rowsOfNode(tree, node, rows, chosenRow) : null,
  );
}

function nodeHeading(tree, node) {
  const kind = tree.isLeaf(node) ? "Leaf" : "Split";
  return make(
    "h2",
    { id: "node-heading" },
    `${kind} ${node}`,
    make("span", { class: "quiet" }, ` tree ${tree.number}, depth ${tree.depth[node]}`),
  );
}

function breadcrumbs(tree, node) {
  const path = tree.path(node);
  if (path.length < 2) return null;
  return make(
    "nav",
    { class: "crumbs", "aria-label": "Way from the root" },
    path.slice(0, -1).map((at, i) => {
      const isRight = tree.right[at] === path[i + 1];
      return [
        action(i ? `${at}` : "root", () => go({ node: at }), { class: "link" }),
        make("span", { class: isRight ? "to-right" : "to-left" }, isRight ? " right › " : " left › "),
      ];
    }),
    make("span", {}, `${node}`),
  );
}

function reachSentence(tree, node) {
  const n = tree.nReached(node);
  if (n === null) return null;
  const all = tree.nReached(0);
  const parts = [`${plural(n, "row")} of ${count(all)} ${n === 1 ? "reaches" : "reach"} it`];
  if (!tree.isLeaf(node)) {
    parts.push(
      `: ${count(tree.nReached(tree.left[node]))} go `,
      action("left", () => go({ node: tree.left[node] }), { class: "link to-left" }),
      `, ${count(tree.nReached(tree.right[node]))} `,
      action("right", () => go({ node: tree.right[node] }), { class: "link to-right" }),
    );
  }
  return make("p", {}, parts, ".");
}

// A split of one column of a table in words, with its hyperplane for those who want to see it.
function splitPart(tree, node) {
  const rule = tree.rule(node);
  if (!rule) return hyperplanePart(tree, node);
  return make(
    "section",
    {},
    make("h3", {}, "Question"),
    make("p", { class: "formula" }, "Right if ", name(rule)),
    make("details", {}, make("summary", {}, "As a hyperplane"), hyperplanePart(tree, node)),
  );
}

function hyperplanePart(tree, node) {
  const plane = tree.hyperplane(node);
  const terms = byEffect(plane);
  const items = terms.map((term) => ({
    label: name(report.coordinates[term.coordinate]),
    value: term.effect,
    text: signed(term.weight),
    title: `weight ${number(term.weight)} × deviation ${number(spreads[term.coordinate])}`,
  }));
  const isPicture = report.imageShape !== null;
  const few = isPicture ? 5 : 12;
  return make(
    "section",
    {},
    make("h3", {}, "Hyperplane"),
    isPicture ? picture(planeAsRow(plane), `${pictured()}: orange pulls right, blue left`) : null,
    items.length
      ? barTable(items, { few, label: "Weights of the hyperplane" })
      : quiet("No weights: all rows go one way."),
    make(
      "p",
      { class: "formula" },
      "Right if ",
      make("var", {}, "w·x"),
      ` ${signed(tree.bias(node))} ≥ 0, `,
      make("span", { class: "quiet" }, `${plural(terms.length, "weight")} of ${count(nCoordinates)}`),
    ),
    hasRows ? quiet(`${isPicture ? "Picture and bars" : "Bars"}: ${EFFECT}. Figures: the weight.`) : null,
  );
}

// What the picture of a hyperplane shows; without rows there are no deviations.
function pictured() {
  return hasRows ? `Hyperplane, ${EFFECT}` : "Weights of the hyperplane";
}

function scorePart(tree, node, rows) {
  const reaching = rows.reaching(tree, node);
  if (!reaching.length) return null;
  const scores = rows.scores(tree.hyperplane(node), tree.bias(node), reaching);
  const isRight = reaching.map((row) => wentRight(tree, node, rows, row));
  return make(
    "section",
    {},
    make("h3", {}, make("span", {}, "Score ", make("var", {}, "w·x + b"))),
    sideHistogram(scores, isRight),
    make(
      "p",
      { class: "legend" },
      make("span", { class: "key negative" }),
      "left",
      make("span", { class: "key positive" }),
      "right",
      make("span", { class: "quiet" }, ` ${plural(reaching.length, "row")} of the page`),
    ),
  );
}

function wentRight(tree, node, rows, row) {
  const path = tree.path(rows.leaf(row, tree.number));
  return path[tree.depth[node] + 1] === tree.right[node];
}

function mixPart(tree, node, rows) {
  if (!hasTruth || tree.nReached(node) === 0) return null;
  if (isClassifier) {
    const n = tree.nReached(node);
    const items = tree
      .classMix(node)
      .map((value, code) => ({ value, code }))
      .filter((item) => item.value > 0)
      .sort((a, b) => b.value - a.value)
      .map(({ value, code }) => ({
        label: name(report.outputs[code]),
        value,
        text: `${count(value)} · ${percent(value / n, 0)}`,
        colour: colourOfClass(code),
      }));
    return make(
      "section",
      {},
      make("h3", {}, "Classes of its rows"),
      barTable(items, { few: 8, label: "Classes of the rows", largest: n }),
    );
  }
  const means = tree.meanTargets(node);
  const reaching = rows.reaching(tree, node);
  return make(
    "section",
    {},
    make("h3", {}, "Targets of its rows"),
    make(
      "p",
      {},
      nOutputs === 1
        ? `Mean ${number(means[0])}`
        : means.map((mean, k) => `${report.outputs[k]}: ${number(mean)}`).join(", "),
    ),
    reaching.length > 1
      ? plainHistogram(
          reaching.map((row) => rows.truth(row)[0]),
          `Histogram of the targets${nOutputs > 1 ? ` ${report.outputs[0]}` : ""}`,
        )
      : null,
  );
}

function leafAnswer(tree, node) {
  if (tree.isLinear) return linearAnswer(tree, node);
  const values = tree.leafValues(node);
  const items = values.map((value, k) => ({
    label: name(report.outputs[k]),
    value,
    text: report.hasScores ? signed(value) : number(value),
    colour: isClassifier && !report.hasScores ? colourOfClass(k) : null,
  }));
  if (isClassifier) items.sort((a, b) => b.value - a.value);
  const kept = isClassifier && !report.hasScores ? items.filter((item) => item.value > 0) : items;
  return make("section", {}, make("h3", {}, leafTitle()), barTable(kept, { few: 10, label: leafTitle() }));
}

function leafTitle() {
  if (!isClassifier) return "It says";
  return report.hasScores ? "Scores that it adds" : "Class fractions in training";
}

function linearAnswer(tree, node) {
  const values = tree.leafValues(node);
  return make(
    "section",
    {},
    make("h3", {}, "Linear leaf"),
    values.map((intercept, k) => {
      const terms = byEffect(tree.leafHyperplane(node, k));
      if (intercept < NEVER) return null;
      return make(
        "details",
        { open: k === 0 ? true : null },
        make(
          "summary",
          {},
          name(report.outputs[k]),
          ` = ${number(intercept)} + ${plural(terms.length, "term")}`,
        ),
        terms.length
          ? barTable(
              terms.map((term) => ({
                label: name(report.coordinates[term.coordinate]),
                value: term.effect,
                text: signed(term.weight),
              })),
              { few: 8, label: "Weights of the leaf" },
            )
          : null,
      );
    }),
  );
}

function rowsOfNode(tree, node, rows, chosenRow) {
  const reaching = rows.reaching(tree, node).sort((a, b) => rows.badness(b) - rows.badness(a));
  if (!reaching.length) return null;
  if (report.imageShape) return thumbnailsOfRows(reaching, rows, chosenRow);
  const line = (row) =>
    make(
      "li",
      {},
      action([`Row ${report.rows.numbers[row]}`], () => go({ view: "rows", row }), {
        class: `link${row === chosenRow ? " chosen" : ""}`,
      }),
      " ",
      rowVerdict(rows, row),
    );
  return make(
    "section",
    {},
    make("h3", {}, "Rows that reach it"),
    make("ul", { class: "row-list" }, reaching.slice(0, MOST_ROWS_OF_NODE).map(line)),
    reaching.length > MOST_ROWS_OF_NODE
      ? quiet(`and ${count(reaching.length - MOST_ROWS_OF_NODE)} more of the page`)
      : null,
  );
}

function thumbnailsOfRows(reaching, rows, chosenRow) {
  const thumb = (row) => {
    const title = `Row ${report.rows.numbers[row]}: ${rowVerdict(rows, row).textContent}`;
    return action(inkPicture(rows.vector(row), ""), () => go({ view: "rows", row }), {
      title,
      "aria-label": title,
      class: row === chosenRow ? "chosen" : rows.isWrong(row) ? "missed" : null,
    });
  };
  return make(
    "section",
    {},
    make("h3", {}, "Rows that reach it"),
    make("div", { class: "thumbs" }, reaching.slice(0, MOST_ROWS_OF_NODE).map(thumb)),
    reaching.length > MOST_ROWS_OF_NODE
      ? quiet(`and ${count(reaching.length - MOST_ROWS_OF_NODE)} more of the page`)
      : null,
  );
}

// What a row is and what it was called, in a few words.
function rowVerdict(rows, row) {
  if (!isClassifier) {
    const said = rows
      .predicted(row)
      .map((value) => number(value))
      .join(", ");
    return hasTruth
      ? make(
          "span",
          {},
          `${rows
            .truth(row)
            .map((value) => number(value))
            .join(", ")}, said ${said}`,
        )
      : make("span", {}, `said ${said}`);
  }
  const said = name(className(rows.predicted(row)));
  if (!hasTruth) return make("span", {}, said);
  return rows.isWrong(row)
    ? make("span", { class: "wrong" }, name(className(rows.truth(row))), ", said ", said)
    : make("span", {}, said);
}
