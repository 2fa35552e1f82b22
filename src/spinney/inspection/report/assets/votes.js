// One row: what it is, what each tree says of it, and the way that led there.

const FEW_TERMS = report.imageShape ? 4 : 8;

function describeRow(panel, rows, row, place) {
  replaceContent(
    panel,
    make("h2", { id: "row-heading" }, `Row ${report.rows.numbers[row]}`),
    make("p", { class: "verdict" }, verdictSentence(rows, row)),
    rowValues(rows, row),
    totalsPart(rows, row),
    pushesPart(rows, row),
    treesPart(rows, row, place),
  );
}

function verdictSentence(rows, row) {
  if (!isClassifier) {
    const said = rows
      .predicted(row)
      .map((value) => number(value, 6))
      .join(", ");
    const truth = hasTruth
      ? [
          `, true ${rows
            .truth(row)
            .map((value) => number(value, 6))
            .join(", ")}`,
        ]
      : [];
    return ["Predicted ", make("strong", { "data-predicted": rows.predicted(row).join(" ") }, said), truth];
  }
  const code = rows.predicted(row);
  const said = make("strong", { "data-predicted": className(code) }, name(className(code)));
  const truth = hasTruth ? [", true ", make("strong", {}, name(className(rows.truth(row))))] : [];
  return [make("span", { class: rows.isWrong(row) ? "wrong" : "" }, "Predicted ", said), truth];
}

// The row as it was given: a picture, the values of the table, or its coordinates.
function rowValues(rows, row) {
  const values = rows.vector(row);
  if (report.imageShape) return inkPicture(values, "The row as a picture");
  const coordinates = Array.from(values, (value, k) => [report.coordinates[k], number(value, 6)]).filter(
    ([, text]) => text !== "0" || nCoordinates <= 40,
  );
  const raw = report.rows.raw?.[row];
  const table = (pairs, label) =>
    make(
      "div",
      { class: "scroll short", tabindex: 0, role: "region", "aria-label": label },
      make(
        "table",
        { class: "list" },
        make(
          "tbody",
          {},
          pairs.map(([key, text]) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, name(key)),
              make("td", { class: "figure" }, name(text)),
            ),
          ),
        ),
      ),
    );
  if (!raw)
    return make("details", {}, make("summary", {}, "Values"), table(coordinates, "Values of the row"));
  return make(
    "div",
    {},
    make(
      "details",
      { open: true },
      make("summary", {}, "Values as given"),
      table(
        report.columns.map((column, k) => [column, raw[k]]),
        "Values as given",
      ),
    ),
    make(
      "details",
      {},
      make("summary", {}, "Coordinates that the trees read"),
      table(coordinates, "Coordinates of the row"),
    ),
  );
}

function totalsTitle() {
  if (!isClassifier)
    return nTrees === 1 ? "Prediction" : report.finish === "mean" ? "Sum over the trees" : "Sum of the trees";
  if (report.says === "label")
    return report.treeWeights.every((weight) => weight === 1) ? "Votes" : "Weighted votes";
  if (report.says === "probabilities") return "Probabilities, summed over the trees";
  return report.finish === "identity" ? "Class fractions of the leaf" : "Scores";
}

function totalsPart(rows, row) {
  const totals = rows.outputsOf("totals", row);
  const shares = isClassifier ? rows.outputsOf("probabilities", row) : null;
  const truth = rows.truth(row);
  const all = totals.map((value, k) => ({
    label: isClassifier && k === truth ? [name(report.outputs[k]), " ◂"] : name(report.outputs[k]),
    value,
    colour: isClassifier && Math.min(...totals) >= 0 ? colourOfClass(k) : null,
    mark: isClassifier && k === truth,
    text: [
      make("span", { "data-total": value }, number(value)),
      shares ? make("span", { class: "quiet" }, ` ${percent(shares[k], 0)}`) : null,
    ],
    k,
  }));
  if (isClassifier) all.sort((a, b) => b.value - a.value);
  const items = all.filter(
    (item) => !isClassifier || (item.value !== 0 && item.value > NEVER) || (item.mark && item.value > NEVER),
  );
  return make(
    "section",
    {},
    make("h3", {}, totalsTitle()),
    barTable(items, { few: 10, label: totalsTitle() }),
    quiet(totalsNote()),
  );
}

function totalsNote() {
  const offsets = report.offsets.some((offset) => offset !== 0)
    ? ` They start from ${report.offsets.map((offset) => number(offset)).join(", ")}.`
    : "";
  const finish = {
    mean: isClassifier
      ? "Probabilities are the mean over the trees."
      : `The prediction is this over ${count(nTrees)} trees.`,
    shares: "Probabilities are shares of the sum.",
    powers: "Probabilities come from a map of the totals that was fitted to rows the trees had not seen.",
    softmax: "Probabilities are the softmax of the scores.",
    nearest: "Probabilities are those nearest to the scores.",
    identity: "",
  }[report.finish];
  return `${finish}${offsets}${hasTruth && isClassifier ? " The true class is marked." : ""}`;
}

// What each column adds to the answer, from what the model says of the typical row.
function pushesPart(rows, row) {
  if (!report.rows.typicalAnswer) return null;
  const output = isClassifier ? largestOf(rows.outputsOf("totals", row)) : 0;
  const pushes = rows.pushes(row);
  const written = (value) => (isClassifier ? sharedText(value) : signed(value));
  const items = Array.from(pushes, (value, column) => ({ value, column }))
    .filter(({ value }) => value !== 0)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .map(({ value, column }) => ({ label: name(report.columns[column]), value, text: written(value) }));
  const typicalAnswer = report.rows.typicalAnswer[output];
  const startItem = { label: make("i", {}, "typical row"), value: typicalAnswer, text: written(typicalAnswer) };
  const what = isClassifier ? ["probability of ", name(report.outputs[output])] : [report.outputs[output]];
  return make(
    "section",
    { id: "pushes" },
    make("h3", {}, "What the columns add to the ", what),
    report.imageShape && pushes.length === nCoordinates
      ? picture(pushes, "What the pixels add: orange argues for the answer, blue against")
      : null,
    barTable([startItem, ...items], { few: FEW_TERMS + 1, label: "What the columns add", sumOf: otherTerms }),
    quiet(pushesNote()),
  );
}

function sharedText(value) {
  return (value < 0 ? MINUS : "+") + Math.abs(value).toFixed(3);
}

function pushesNote() {
  const error = report.rows.pushError;
  const how = error > 0 ? ` Drawn orders of the columns: standard errors up to ${number(error, 2)}.` : "";
  return `From the answer for the typical row of training to this one. Orange argues for it, blue against.${how}`;
}

function treesPart(rows, row, place) {
  const path = make("div", { class: "way-of-row", id: "way" });
  const body = make("tbody");
  const table = make(
    "table",
    { class: "trees-table" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ["Tree", "Way", "Leaf", "Says", report.says === "label" ? "Counts" : ""].map((title, i) =>
          make("th", { scope: "col", class: i === 2 || i === 4 ? "figure" : null }, title),
        ),
      ),
    ),
    body,
  );
  const section = make(
    "section",
    {},
    make("h3", {}, "Tree by tree"),
    make(
      "div",
      { class: "scroll trees-scroll", tabindex: 0, role: "region", "aria-label": "What each tree says" },
      table,
    ),
    path,
  );
  showWay(path, rows, row, place.tree).then(() => fillTrees(body, rows, row, place));
  return section;
}

async function fillTrees(body, rows, row, place) {
  for (let first = 0; first < report.nTreesShown; first += 25) {
    if (!body.isConnected) return; // another row was chosen
    const numbers = Array.from({ length: Math.min(25, report.nTreesShown - first) }, (_, i) => first + i);
    const trees = await Promise.all(numbers.map(treeOf));
    trees.forEach((tree) => body.append(treeLine(rows, row, tree, place)));
  }
  if (report.nTreesShown < nTrees) {
    body.append(
      make(
        "tr",
        {},
        make(
          "td",
          { colspan: 5, class: "quiet" },
          `${plural(nTrees - report.nTreesShown, "more tree")} counted, not carried by this page`,
        ),
      ),
    );
  }
}

function treeLine(rows, row, tree, place) {
  const leaf = rows.leaf(row, tree.number);
  const path = tree.path(leaf);
  const way = path
    .slice(1)
    .map((node, i) =>
      tree.right[path[i]] === node
        ? make("span", { class: "to-right" }, "R")
        : make("span", { class: "to-left" }, "L"),
    );
  const weight = report.treeWeights[tree.number];
  const choose = () => go({ tree: tree.number, node: 0 });
  return make(
    "tr",
    {
      class: tree.number === place.tree ? "chosen" : null,
      "data-tree": tree.number,
      "data-leaf": leaf,
      "data-says": saysText(rows, row, tree),
    },
    make(
      "td",
      {},
      action(`${tree.number}`, choose, {
        class: "link",
        "aria-label": `Follow the row through tree ${tree.number}`,
      }),
    ),
    make("td", { class: "way-letters" }, way.length ? way : "–"),
    make("td", { class: "figure" }, `${leaf}`),
    make("td", {}, saysPart(rows, row, tree)),
    make("td", { class: "figure" }, report.says === "label" ? number(weight, 3) : ""),
  );
}

function saysText(rows, row, tree) {
  return report.says === "label" ? className(rows.labelBy(tree, row)) : rows.saidBy(tree, row).join(" ");
}

function saysPart(rows, row, tree) {
  if (!isClassifier)
    return rows
      .saidBy(tree, row)
      .map((value) => number(value))
      .join(", ");
  const said = report.says === "label" ? null : rows.saidBy(tree, row);
  const code = rows.labelBy(tree, row);
  const figure = report.hasScores ? (score) => `score ${signed(score, 3)}` : (share) => number(share, 3);
  const dot = make("span", { class: "key", css: { "background-color": colourOfClass(code) } });
  return [
    dot,
    name(className(code)),
    said ? make("span", { class: "quiet" }, ` ${figure(said[code])}`) : null,
  ];
}

// Each split on the way of a row, with the terms that decided it.
async function showWay(holder, rows, row, treeNumber) {
  if (treeNumber >= report.nTreesShown) return;
  const tree = await treeOf(treeNumber);
  if (state.row !== row || state.tree !== treeNumber) return;
  const leaf = rows.leaf(row, treeNumber);
  const path = tree.path(leaf);
  replaceContent(
    holder,
    make(
      "h3",
      {},
      `Way through tree ${treeNumber} `,
      action("show in the tree", () => go({ view: "trees", node: leaf }), { class: "link" }),
    ),
    quiet(wayNote()),
    make(
      "ol",
      { class: "steps" },
      path.slice(0, -1).map((node, i) => wayStep(tree, node, path[i + 1], rows, row)),
      make("li", {}, make("strong", {}, `Leaf ${leaf}`), " says ", saysPart(rows, row, tree)),
    ),
  );
}

function wayNote() {
  return report.hasTypical
    ? "Contributions are weight × (value − typical value) and start from the score of the typical row of training: the mean of each number, the most frequent level of each category. Orange pulls right at the split, blue left."
    : "This model knows no typical row: contributions are weight × value and start from the bias.";
}

function wayStep(tree, node, next, rows, row) {
  const isRight = tree.right[node] === next;
  const plane = tree.hyperplane(node);
  const terms = rows.contributions(plane, row);
  const bias = tree.bias(node);
  const [score] = rows.scores(plane, bias, [row]);
  const items = terms.map((term) => ({
    label: name(report.coordinates[term.coordinate]),
    value: term.product,
    text: signed(term.product),
    title: `${number(term.weight)} × (${number(term.value)} − ${number(typical[term.coordinate])})`,
  }));
  const base = rows.typicalScore(plane, bias);
  const baseItem = { label: make("i", {}, startName()), value: base, text: signed(base) };
  const rule = tree.rule(node);
  const isOff = !rule && score >= 0 !== isRight;
  return make(
    "li",
    {
      "data-node": node,
      "data-score": score,
      "data-base": base,
      "data-sum": terms.reduce((sum, term) => sum + term.product, base),
    },
    make(
      "p",
      {},
      action(`Split ${node}`, () => go({ view: "trees", tree: tree.number, node }), { class: "link" }),
      rule ? [" ", name(rule), isRight ? ": yes → " : ": no → "] : ` score ${signed(score)} → `,
      make("strong", { class: isRight ? "to-right" : "to-left" }, isRight ? "right" : "left"),
      isOff
        ? make("span", { class: "quiet" }, " (by the model; the weights of this page are rounded)")
        : null,
    ),
    rule
      ? null // what the row has in the column says all
      : make(
          "div",
          { class: "step" },
          report.imageShape
            ? picture(productsAsRow(terms), "Contributions of the pixels: orange pulls right, blue left")
            : null,
          barTable([baseItem, ...items], { few: FEW_TERMS + 1, label: "Contributions", sumOf: otherTerms }),
        ),
  );
}

// Where contributions start: at what the split says of the typical row.
function startName() {
  return report.hasTypical ? "typical row" : "bias";
}

// Terms that are not shown yet, as one bar: what is seen adds up to the score all the same.
function otherTerms(items) {
  const sum = items.reduce((total, item) => total + item.value, 0);
  return { label: make("i", {}, `${count(items.length)} other terms`), value: sum, text: signed(sum) };
}

function productsAsRow(terms) {
  const values = new Float64Array(nCoordinates);
  for (const term of terms) values[term.coordinate] = term.product;
  return values;
}
