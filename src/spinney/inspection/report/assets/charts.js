// Bars, histograms, lines and pictures.

const FEW_BARS = 12;

// A table of named bars. Items: {label, value, text, colour?, mark?}. Bars of both signs start in
// the middle. More than `few` items hide behind a button; `sumOf` makes one item that stands for
// those that are hidden.
function barTable(items, { few = FEW_BARS, label = "", largest = null, sumOf = null } = {}) {
  const hidden = items.length <= few + 1 ? [] : items.slice(few);
  const sum = hidden.length && sumOf ? [sumOf(hidden)] : [];
  const all = [...items, ...sum];
  const size = largest ?? Math.max(...all.map((item) => Math.abs(item.value)), 1e-300);
  const isSigned = all.some((item) => item.value < 0);
  const body = make("tbody");
  const longest = (part) => Math.min(Math.max(...all.map((item) => lengthOf(item[part]))), 22);
  const css = {
    "--label-width": `${Math.min(longest("label"), 19) + 3}ch`,
    "--figure-width": `${longest("text") + 2}ch`,
  };
  const table = make("table", { class: isSigned ? "bars signed" : "bars", "aria-label": label, css }, body);
  const drawn = (some) => some.map((item) => barRow(item, size, isSigned));
  body.append(...drawn(items.slice(0, items.length - hidden.length)));
  if (!hidden.length) return table;
  const sumRows = drawn(sum);
  body.append(...sumRows);
  const more = action(
    `Show all ${count(items.length)}`,
    () => {
      sumRows.forEach((row) => row.remove());
      body.append(...drawn(hidden));
      more.remove();
    },
    { class: "plain more" },
  );
  return make("div", {}, table, more);
}

// Letters of a label or figure, which may be a text, an element or several.
function lengthOf(part) {
  if (Array.isArray(part)) return part.reduce((sum, one) => sum + lengthOf(one), 0);
  return (typeof part === "string" ? part : (part?.textContent ?? "")).length;
}

function barRow(item, size, isSigned) {
  const share = Math.min(Math.abs(item.value) / size, 1);
  const width = `${(isSigned ? 50 : 100) * share}%`;
  const side = item.value < 0 ? "negative" : "positive";
  const css = isSigned ? { width, [item.value < 0 ? "right" : "left"]: "50%" } : { width, left: "0" };
  if (item.colour) css["background-color"] = item.colour;
  const bar = make("span", { class: `bar ${isSigned ? side : ""}`, css });
  return make(
    "tr",
    { class: item.mark ? "marked" : null },
    make("th", { scope: "row", title: item.title ?? null }, item.label),
    make("td", { class: "track" }, make("span", { class: "rail" }, bar)),
    make("td", { class: "figure" }, item.text),
  );
}

// Counts of values left and right of zero. Values: numbers; sides: true where a row went right.
function sideHistogram(values, sides) {
  const [least, most] = [Math.min(...values, 0), Math.max(...values, 0)];
  const width = (most - least) / Math.min(40, Math.max(8, Math.ceil(2 * Math.sqrt(values.length)))) || 1;
  const nBelow = Math.ceil(-least / width); // a bin ends at zero, so that none has both sides
  const nBins = nBelow + Math.floor(most / width) + 1;
  const low = -nBelow * width;
  const left = new Array(nBins).fill(0);
  const right = new Array(nBins).fill(0);
  values.forEach((value, i) => {
    const bin = Math.min(nBins - 1, Math.floor((value - low) / width));
    (sides[i] ? right : left)[bin] += 1;
  });
  return histogramChart(left, right, low, low + nBins * width, ["negative", "positive"]);
}

function histogramChart(left, right, low, high, kinds) {
  const [W, H, pad] = [360, 120, 18];
  const top = Math.max(...left.map((n, i) => n + right[i]), 1);
  const step = W / left.length;
  const bars = [];
  left.forEach((n, i) => {
    const heights = [(n / top) * (H - pad - 8), (right[i] / top) * (H - pad - 8)];
    const base = H - pad;
    if (n)
      bars.push(
        draw("rect", {
          class: kinds[0],
          x: i * step + 0.5,
          y: base - heights[0],
          width: step - 1,
          height: heights[0],
        }),
      );
    if (right[i])
      bars.push(
        draw("rect", {
          class: kinds[1],
          x: i * step + 0.5,
          y: base - heights[0] - heights[1],
          width: step - 1,
          height: heights[1],
        }),
      );
  });
  const zero = low < high ? (W * -low) / (high - low) : 0;
  const isInside = low < 0 && high > 0;
  return draw(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${W} ${H}`,
      role: "img",
      "aria-label": `Histogram of the score from ${number(low)} to ${number(high)}`,
    },
    bars,
    draw("line", { class: "axis", x1: 0, x2: W, y1: H - pad, y2: H - pad }),
    isInside ? draw("line", { class: "zero", x1: zero, x2: zero, y1: 4, y2: H - pad + 4 }) : null,
    isInside && zero > 40 && zero < W - 40
      ? draw("text", { x: zero, y: H - 4, "text-anchor": "middle" }, "0")
      : null,
    draw("text", { x: 0, y: H - 4 }, number(low, 3)),
    draw("text", { x: W, y: H - 4, "text-anchor": "end" }, number(high, 3)),
  );
}

function plainHistogram(values, label) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const nBins = Math.min(30, Math.max(6, Math.ceil(2 * Math.sqrt(values.length))));
  const width = (high - low) / nBins || 1;
  const counts = new Array(nBins).fill(0);
  for (const value of values) counts[Math.min(nBins - 1, Math.floor((value - low) / width))] += 1;
  const chart = histogramChart(
    counts.map(() => 0),
    counts,
    low,
    low + nBins * width,
    ["neutral", "neutral"],
  );
  chart.setAttribute("aria-label", label);
  return chart;
}

// Lines over the same steps. Series: arrays of numbers, null where there is none.
function lineChart(series, { label, xLabel, strong = 0 }) {
  const [W, H, left, bottom] = [480, 220, 8, 22];
  const all = series.flat().filter((value) => value !== null);
  const low = Math.min(...all);
  const high = Math.max(...all);
  const longest = Math.max(...series.map((values) => values.length));
  const x = (i) => left + ((W - 2 * left) * i) / Math.max(longest - 1, 1);
  const y = (value) => 14 + (H - bottom - 20) * (1 - (value - low) / (high - low || 1));
  const lines = series.map((values, i) =>
    draw("polyline", {
      class: i < strong ? "line strong" : "line",
      points: values
        .map((value, k) => (value === null ? "" : `${x(k).toFixed(1)},${y(value).toFixed(1)}`))
        .join(" "),
    }),
  );
  return draw(
    "svg",
    { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label },
    draw("line", { class: "axis", x1: left, x2: W - left, y1: H - bottom, y2: H - bottom }),
    lines.reverse(),
    draw("text", { x: left, y: 10 }, number(high)),
    draw("text", { x: left, y: H - bottom - 4 }, number(low)),
    draw("text", { x: left, y: H - 6 }, "0"),
    draw("text", { x: W / 2, y: H - 6, "text-anchor": "middle" }, xLabel),
    draw("text", { x: W - left, y: H - 6, "text-anchor": "end" }, count(longest - 1)),
  );
}

// Points in a square with the diagonal of agreement. Points: {x, y, size?, wrong?}.
function diagonalChart(points, { label, xLabel, yLabel, low = 0, high = 1 }) {
  const [W, pad] = [280, 26];
  const span = high - low || 1;
  const x = (value) => pad + ((W - pad - 8) * (value - low)) / span;
  const y = (value) => W - pad - ((W - pad - 8) * (value - low)) / span;
  return draw(
    "svg",
    { class: "chart square", viewBox: `0 0 ${W} ${W}`, role: "img", "aria-label": label },
    draw("line", { class: "axis", x1: pad, x2: W - 8, y1: W - pad, y2: W - pad }),
    draw("line", { class: "axis", x1: pad, x2: pad, y1: W - pad, y2: 8 }),
    draw("line", { class: "zero", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }),
    points.map((point) =>
      draw(
        "circle",
        { class: "dot", cx: x(point.x), cy: y(point.y), r: point.size ?? 2.2 },
        point.title ? draw("title", {}, point.title) : null,
      ),
    ),
    draw("text", { x: pad, y: W - 10 }, number(low, 3)),
    draw("text", { x: W - 8, y: W - 10, "text-anchor": "end" }, number(high, 3)),
    draw("text", { x: (W + pad) / 2, y: W - 10, "text-anchor": "middle" }, xLabel),
    draw(
      "text",
      { x: 12, y: (W - pad) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(W - pad) / 2})` },
      yLabel,
    ),
  );
}

// Numbers in the shape of the pictures: blue below zero, orange above, the paper between.
function picture(values, label) {
  return painted(make("canvas", { class: "picture", role: "img", "aria-label": label }), values);
}

function painted(canvas, values) {
  const [height, width] = report.imageShape;
  canvas.setAttribute("width", width);
  canvas.setAttribute("height", height);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const [paper, below, above] = ["--picture", "--negative", "--positive"].map(colourOf);
  for (let i = 0; i < values.length; i++) {
    const share = Math.sqrt(Math.abs(values[i]) / largest);
    const end = values[i] < 0 ? below : above;
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = paper[c] + share * (end[c] - paper[c]);
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// A row as the picture that it is, in shades of the ink.
function inkPicture(values, label) {
  const canvas = make("canvas", { class: "picture", role: "img", "aria-label": label });
  const [height, width] = report.imageShape;
  canvas.setAttribute("width", width);
  canvas.setAttribute("height", height);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const [paper, ink] = ["--picture", "--ink"].map(colourOf);
  for (let i = 0; i < values.length; i++) {
    const share = (values[i] - low) / (high - low || 1);
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = paper[c] + share * (ink[c] - paper[c]);
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// Red, green and blue of a colour of the style, written there as #rrggbb.
function colourOf(property) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(property).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}
