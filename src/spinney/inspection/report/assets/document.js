// Names and numbers of the report, and how numbers are written for people.

const report = JSON.parse(document.getElementById("document").textContent);

const isClassifier = report.task === "classification";
const nOutputs = report.outputs.length;
const nCoordinates = report.coordinates.length;
const nTrees = report.trees.length;
const hasRows = report.rows !== undefined;
const hasTruth = hasRows && report.hasTruth;
const nShown = hasRows ? report.rows.numbers.length : 0;

const MINUS = "\u2212";

function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e6)
    return (value < 0 ? MINUS : "") + count(Math.abs(value));
  const size = Math.abs(value);
  let text;
  if (size >= 1e6 || size < 1e-4) text = size.toExponential(digits - 2);
  else if (size >= 10 ** (digits - 1)) text = Math.round(size).toString();
  else text = size.toPrecision(digits);
  return (value < 0 ? MINUS : "") + text;
}

function signed(value, digits = 4) {
  return (value >= 0 ? "+" : "") + number(value, digits);
}

function count(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)}\u202f%`;
}

function plural(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? "" : nounEnding(noun)}`;
}

function nounEnding(noun) {
  return noun.endsWith("s") ? "es" : "s";
}

function className(code) {
  return code < 0 ? (report.reject ?? "rejected") : report.outputs[code];
}
