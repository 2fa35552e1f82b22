// The start, and what is chosen: a view, a tree, a node, a row. The address keeps it.

const state = { view: "overview", tree: 0, node: 0, row: -1, filter: null };
const VIEWS = hasRows ? ["overview", "trees", "rows"] : ["overview", "trees"];
const views = {};
let spreads = new Float32Array(nCoordinates).fill(1);
let typical = new Float32Array(nCoordinates); // the row that contributions are measured from

function go(changes) {
  Object.assign(state, changes);
  const parts = [state.view, `tree=${state.tree}`, `node=${state.node}`];
  if (state.row >= 0) parts.push(`row=${report.rows.numbers[state.row]}`);
  const address = `#${parts.join("&")}`;
  if (location.hash !== address) history.replaceState(null, "", address);
  return render();
}

function readAddress() {
  const [view, ...rest] = location.hash.slice(1).split("&");
  if (VIEWS.includes(view)) state.view = view;
  const given = Object.fromEntries(rest.map((part) => part.split("=")));
  const tree = Number(given.tree);
  if (Number.isInteger(tree) && tree >= 0 && tree < report.nTreesShown) state.tree = tree;
  const node = Number(given.node);
  if (Number.isInteger(node) && node >= 0) state.node = node;
  if (hasRows && given.row !== undefined) state.row = report.rows.numbers.indexOf(Number(given.row));
}

async function render() {
  for (const view of VIEWS) {
    const isHere = view === state.view;
    const tab = document.getElementById(`tab-${view}`);
    tab.setAttribute("aria-selected", String(isHere));
    tab.setAttribute("tabindex", isHere ? "0" : "-1");
    document.getElementById(`panel-${view}`).hidden = !isHere;
  }
  const panel = document.getElementById(`panel-${state.view}`);
  if (state.view === "overview") {
    if (views.overview !== themeNow()) drawOverview(panel);
    views.overview = themeNow();
    return;
  }
  views[state.view] ??= state.view === "trees" ? new TreesView(panel) : new RowsView(panel);
  await views[state.view].update();
}

// What the address asks for, with the keyboard where it is of use.
async function renderAddress() {
  await render();
  if (state.view === "trees") views.trees.focusNode();
}

function setUpTabs() {
  if (!hasRows) document.getElementById("tab-rows").remove();
  const tabs = VIEWS.map((view) => document.getElementById(`tab-${view}`));
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => go({ view: VIEWS[i] }));
    tab.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (!step) return;
      const next = (i + step + VIEWS.length) % VIEWS.length;
      go({ view: VIEWS[next] });
      tabs[next].focus();
    });
  });
}

function themeNow() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function setUpTheme() {
  const button = document.getElementById("theme");
  const label = () => {
    const isDark = themeNow() === "dark";
    button.textContent = isDark ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark ? "light" : "dark"} colours`);
    button.setAttribute("aria-pressed", String(isDark));
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = themeNow() === "dark" ? "light" : "dark";
    label();
    render();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    label();
    render();
  });
  label();
}

function fillFrame() {
  const outputs = isClassifier ? plural(nOutputs, "class") : plural(nOutputs, "output");
  const data = hasRows ? `shown with ${plural(report.nRows, "row")}` : "shown without rows";
  document.title = `${report.title} · spinney explorer`;
  document.getElementById("title").textContent = report.title;
  document.getElementById("subtitle").textContent =
    `${report.task}, ${outputs}, ${plural(report.columns.length, "column")}, ${plural(nTrees, "tree")}, ${data}`;
  const notes = [`Written by spinney ${report.version}. This file needs no network.`];
  if (report.precision !== "float32") {
    notes.push(
      `To keep the file small, weights are rounded to ${report.precision === "int8" ? 8 : 16} bits; ` +
        "ways, votes and predictions are those of the model itself.",
    );
  }
  if (report.nTreesShown < nTrees)
    notes.push(`The first ${count(report.nTreesShown)} of ${count(nTrees)} trees are carried.`);
  replaceContent(
    document.getElementById("notes"),
    notes.map((note) => make("p", {}, note)),
  );
}

async function start() {
  fillFrame();
  if (typeof DecompressionStream === "undefined") {
    replaceContent(
      document.getElementById("main"),
      make(
        "p",
        { class: "notice" },
        "This browser cannot inflate the data of the report. Open it in a browser of 2023 or later.",
      ),
    );
    return;
  }
  setUpTabs();
  setUpTheme();
  readAddress();
  addEventListener("hashchange", () => {
    readAddress();
    renderAddress();
  });
  ({ spreads, typical = typical } = await readBlock("columns"));
  await renderAddress();
  // For the console of the browser: the report, its trees and rows.
  window.spinneyExplorer = Object.freeze({ report, state, treeOf, rowsOf, go });
  document.documentElement.dataset.ready = String(Math.round(performance.now())); // milliseconds to open
}

start();
