// The first view: what the model is, how good it is, and what it looks at.

function drawOverview(panel) {
  replaceContent(
    panel,
    summaryTiles(),
    nOutputs > FEW_CLASSES ? confusionCard() : null,
    make(
      "div",
      { class: "cards" },
      comparisonCard(),
      nOutputs > FEW_CLASSES ? null : confusionCard(),
      residualCard(),
      importanceCard(),
      calibrationCard(),
      trainingCard(),
      parameterCard(),
    ),
  );
}

function summaryTiles() {
  const leaves = report.trees.reduce((sum, tree) => sum + tree.leaves, 0);
  const depth = Math.max(...report.trees.map((tree) => tree.depth));
  const tiles = (report.scores ?? []).map((score) => [
    score.name,
    score.isShare ? percent(score.value, 2) : score.isCount ? count(score.value) : number(score.value),
  ]);
  tiles.push(
    ["trees", count(nTrees)],
    ["deepest leaf", count(depth)],
    ["leaves", count(leaves)],
    ["parameters", count(report.nParameters)],
  );
  if (report.flops) tiles.push(["read for a row", count(report.flops)]);
  return make(
    "dl",
    { class: "tiles" },
    tiles.map(([term, value], i) =>
      make(
        "div",
        { class: i === 0 && report.scores?.length ? "tile first" : "tile" },
        make("dt", {}, term),
        make("dd", {}, value),
      ),
    ),
  );
}

function comparisonCard() {
  if (!report.compared.length) return null;
  const items = report.compared.map((entry) => ({
    label: name(entry.name),
    value: entry.error,
    mark: entry.isModel,
    text: isClassifier ? percent(entry.error, 2) : number(entry.error),
    colour: entry.isModel ? "var(--accent)" : "var(--bar)",
  }));
  return card(
    `Compared by ${report.errorName}`,
    barTable(items, { few: 30, label: "Errors of the model and of the baselines" }),
    quiet(`On the same ${plural(report.nRows, "row")}. Shorter is better.`),
  );
}

const FEW_CLASSES = 10; // of a confusion matrix that fits into a column of the page
const MOST_CLASSES = 40; // of a confusion matrix; more are a list of pairs

function confusionCard() {
  if (!report.confusion) return null;
  return nOutputs <= MOST_CLASSES ? confusionMatrix() : confusedPairs();
}

function confusionMatrix() {
  const answers = report.outputs.map((_, code) => code);
  if (report.confusion.some(([, said]) => said < 0)) answers.push(-1);
  const counts = new Map(report.confusion.map(([truth, said, n]) => [`${truth} ${said}`, n]));
  const most = (isRight) =>
    Math.max(
      ...report.confusion.filter(([truth, said]) => (truth === said) === isRight).map(([, , n]) => n),
      1,
    );
  const largest = { true: most(true), false: most(false) };
  const line = (truth) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name(className(truth))),
      answers.map((said) =>
        confusionCell(truth, said, counts.get(`${truth} ${said}`) ?? 0, largest[truth === said]),
      ),
    );
  return make(
    "section",
    { class: "card wide" },
    make("h2", {}, "Confusion"),
    make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Confusion matrix" },
      make(
        "table",
        { class: "confusion" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("th", { scope: "col" }, make("span", { class: "quiet" }, "true \u2193 said \u2192")),
            answers.map((said) => make("th", { scope: "col" }, name(className(said)))),
          ),
        ),
        make(
          "tbody",
          {},
          report.outputs.map((_, truth) => line(truth)),
        ),
      ),
    ),
    quiet("Choose a cell to see its rows."),
  );
}

function confusionCell(truth, said, n, largest) {
  if (!n) return make("td", {}, make("span", { class: "none" }, "·"));
  const strength = 0.12 + 0.78 * (n / largest);
  const colour = truth === said ? "--accent" : "--positive";
  const title = `${plural(n, "row")} of class ${className(truth)} called ${className(said)}`;
  return make(
    "td",
    {
      css: {
        "background-color": `color-mix(in srgb, var(${colour}) ${Math.round(100 * strength)}%, transparent)`,
      },
    },
    action(count(n), () => go({ view: "rows", row: -1, filter: { truth, said } }), {
      class: `cell${strength > 0.62 ? " strong" : ""}`,
      title,
      "aria-label": title,
    }),
  );
}

function confusedPairs() {
  const pairs = report.confusion
    .filter(([truth, said]) => truth !== said)
    .sort((a, b) => b[2] - a[2])
    .slice(0, 200);
  const items = pairs.map(([truth, said, n]) => ({
    label: [name(className(truth)), " called ", name(className(said))],
    value: n,
    text: count(n),
  }));
  return items.length
    ? card("Most frequent confusions", barTable(items, { few: 15, label: "Confusions" }))
    : null;
}

function residualCard() {
  if (isClassifier || !hasTruth) return null;
  const holder = card("Predicted and true");
  rowsOf().then((rows) => {
    for (let k = 0; k < nOutputs; k++) {
      const points = [];
      for (let row = 0; row < nShown; row++)
        points.push({ x: rows.predicted(row)[k], y: rows.truth(row)[k] });
      const values = points.flatMap((point) => [point.x, point.y]);
      if (nOutputs > 1) holder.append(make("h3", {}, name(report.outputs[k])));
      holder.append(
        diagonalChart(points, {
          label: `Predicted and true numbers of ${report.outputs[k]}`,
          xLabel: "predicted",
          yLabel: "true",
          low: Math.min(...values),
          high: Math.max(...values),
        }),
      );
    }
    holder.append(quiet(`${plural(nShown, "row")} of ${count(report.nRows)}.`));
  });
  return holder;
}

function importanceCard() {
  if (!report.importances) return null;
  const isPicture =
    report.imageShape && report.importances.length === report.imageShape[0] * report.imageShape[1];
  const order = report.importances
    .map((value, column) => ({ value, column }))
    .sort((a, b) => b.value - a.value);
  const items = order
    .filter((item) => item.value > 0)
    .map(({ value, column }) => ({
      label: name(report.columns[column]),
      value,
      text: value.toFixed(3),
      colour: "var(--bar)",
    }));
  if (!items.length) return null;
  return card(
    "Importance of columns",
    isPicture ? picture(report.importances, "Importance of each pixel") : null,
    barTable(items, { few: isPicture ? 6 : 12, label: "Importance of columns" }),
    quiet(
      report.importanceType === "gain"
        ? "Share of each column in what the splits lower the loss of the training rows by."
        : "Share of each column in the splits, weighted by the rows that they part.",
    ),
  );
}

function calibrationCard() {
  if (!report.calibration?.length) return null;
  const most = Math.max(...report.calibration.map((bin) => bin.rows));
  const points = report.calibration.map((bin) => ({
    x: bin.confidence,
    y: bin.accuracy,
    size: 3 + 7 * Math.sqrt(bin.rows / most),
    title: `${plural(bin.rows, "row")}: said ${percent(bin.confidence)}, right ${percent(bin.accuracy)}`,
  }));
  return card(
    "Calibration",
    diagonalChart(points, {
      label: "Share of right rows by the probability of the predicted class",
      xLabel: "probability said",
      yLabel: "share right",
    }),
    quiet(
      "Rows in bins by the probability of their most probable class. " +
        "On the line, a said 80\u202f% is right 80 times in 100.",
    ),
  );
}

function trainingCard() {
  const { objectives, nTraces, validation, validationName } = report.training;
  const parts = [];
  if (objectives.length) {
    const longest = Math.max(...objectives.map((values) => values.length));
    const at = (values, i) => values[Math.min(i, values.length - 1)];
    const middle = Array.from({ length: longest }, (_, i) =>
      median(objectives.map((values) => at(values, i))),
    );
    const series = objectives.length > 1 ? [middle, ...objectives] : objectives;
    parts.push(
      lineChart(series, { label: "Objective by sweep", xLabel: "sweep", strong: 1 }),
      quiet(trainingNote(objectives.length, nTraces)),
    );
  }
  if (validation.length > 1) {
    parts.push(
      make("h3", {}, validationName),
      lineChart([validation], { label: validationName, xLabel: "step", strong: 1 }),
    );
  }
  return parts.length ? card("Training", parts) : null;
}

function trainingNote(nDrawn, nTraces) {
  if (nTraces === 1) return "Objective after each sweep.";
  const drawn = nTraces > nDrawn ? `, of which ${nDrawn} are drawn` : "";
  return `Objective after each sweep; the strong line is the median of ${count(nTraces)} optimisations${drawn}.`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function parameterCard() {
  return card(
    "Parameters",
    make(
      "div",
      { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Parameters" },
      make(
        "table",
        { class: "list" },
        make(
          "tbody",
          {},
          report.parameters.map(([key, value]) =>
            make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, make("code", {}, value))),
          ),
        ),
      ),
    ),
  );
}
