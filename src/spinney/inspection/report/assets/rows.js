// The view of the rows that the page carries: a table to sort and filter, and the chosen row.

class RowsView {
  constructor(panel) {
    this.detail = make("div", { class: "detail card", id: "row-detail" });
    this.sorting = { by: hasTruth ? "badness" : "number", isDescending: hasTruth };
    this.onlyWrong = make("input", { type: "checkbox", id: "only-wrong", on: { change: () => this.fill() } });
    this.search = make("input", {
      type: "search",
      id: "row-search",
      placeholder: isClassifier ? "row number or class" : "row number",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.fill() },
    });
    this.status = make("span", { class: "quiet", role: "status" });
    this.chip = make("span");
    this.body = make("tbody", { on: { keydown: (event) => this.pressed(event) } });
    this.head = make("tr");
    replaceContent(
      panel,
      make(
        "div",
        { class: "toolbar" },
        make(
          "label",
          { for: "row-search", class: "grow" },
          make("span", { class: "hidden-label" }, "Search rows"),
          this.search,
        ),
        hasTruth && isClassifier ? make("label", { class: "check" }, this.onlyWrong, " only wrong") : null,
        this.chip,
        this.status,
      ),
      make(
        "div",
        { class: "split-view rows-view" },
        make(
          "div",
          { class: "card" },
          make(
            "div",
            { class: "scroll rows-scroll" },
            make("table", { class: "rows-table" }, make("thead", {}, this.head), this.body),
          ),
          quiet(sampleNote()),
        ),
        this.detail,
      ),
    );
  }

  columns() {
    const columns = [{ key: "number", title: "Row", value: (row) => report.rows.numbers[row] }];
    if (hasTruth)
      columns.push({
        key: "truth",
        title: "True",
        value: (row) => (isClassifier ? this.rows.truth(row) : this.rows.truth(row)[0]),
      });
    columns.push({
      key: "predicted",
      title: "Predicted",
      value: (row) => (isClassifier ? this.rows.predicted(row) : this.rows.predicted(row)[0]),
    });
    if (hasTruth)
      columns.push({
        key: "badness",
        title: isClassifier ? "P(true)" : "Residual",
        value: (row) => this.rows.badness(row),
      });
    else if (isClassifier)
      columns.push({
        key: "sure",
        title: "P",
        value: (row) =>
          this.rows.arrays.probabilities[row * nOutputs + Math.max(this.rows.predicted(row), 0)],
      });
    return columns;
  }

  async update() {
    this.rows = await rowsOf();
    if (!this.isFilled || this.filter !== state.filter) {
      this.filter = state.filter;
      this.fill();
    }
    if (state.row < 0) {
      const first = this.body.querySelector("[data-row]");
      if (first) state.row = Number(first.dataset.row);
    }
    this.markChosen();
    if (state.row >= 0) describeRow(this.detail, this.rows, state.row, { tree: state.tree });
    else replaceContent(this.detail, quiet("No row is chosen."));
  }

  fill() {
    if (!this.rows) return;
    this.isFilled = true;
    const kept = this.kept();
    const column = this.columns().find((one) => one.key === this.sorting.by);
    const sign = this.sorting.isDescending ? -1 : 1;
    kept.sort((a, b) => sign * (column.value(a) - column.value(b)) || a - b);
    replaceContent(
      this.head,
      this.columns().map((one) => this.heading(one)),
    );
    replaceContent(
      this.body,
      kept.map((row) => this.line(row)),
    );
    this.status.textContent = `${count(kept.length)} of ${plural(nShown, "row")}`;
    replaceContent(
      this.chip,
      this.filter
        ? [
            action(
              [
                "true ",
                name(className(this.filter.truth)),
                ", said ",
                name(className(this.filter.said)),
                " ✕",
              ],
              () => go({ filter: null }),
              { class: "chip", "aria-label": "Remove the filter by classes" },
            ),
          ]
        : [],
    );
    this.markChosen();
  }

  kept() {
    const text = this.search.value.trim().toLocaleLowerCase();
    const all = Array.from({ length: nShown }, (_, row) => row);
    return all.filter(
      (row) =>
        (!this.onlyWrong.checked || this.rows.isWrong(row)) &&
        (!this.filter ||
          (this.rows.truth(row) === this.filter.truth && this.rows.predicted(row) === this.filter.said)) &&
        (!text || this.isNamed(row, text)),
    );
  }

  isNamed(row, text) {
    if (String(report.rows.numbers[row]) === text) return true;
    if (!isClassifier) return false;
    const codes = hasTruth ? [this.rows.truth(row), this.rows.predicted(row)] : [this.rows.predicted(row)];
    return codes.some((code) => className(code).toLocaleLowerCase().includes(text));
  }

  heading(column) {
    const isHere = this.sorting.by === column.key;
    const arrow = isHere ? (this.sorting.isDescending ? " ↓" : " ↑") : "";
    const sort = () => {
      this.sorting = {
        by: column.key,
        isDescending: isHere ? !this.sorting.isDescending : column.key === "badness",
      };
      this.fill();
      this.head.querySelector(`[data-key="${column.key}"]`).focus();
    };
    const isFigure =
      column.key === "badness" || column.key === "sure" || (!isClassifier && column.key !== "number");
    return make(
      "th",
      {
        scope: "col",
        class: isFigure ? "figure" : null,
        "aria-sort": isHere ? (this.sorting.isDescending ? "descending" : "ascending") : "none",
      },
      action(`${column.title}${arrow}`, sort, { class: "sort", "data-key": column.key }),
    );
  }

  line(row) {
    const { rows } = this;
    const cells = [
      make(
        "td",
        {},
        action(`${report.rows.numbers[row]}`, () => go({ row }), { class: "link", tabindex: -1 }),
      ),
    ];
    const shown = (value) =>
      isClassifier
        ? [
            make("span", { class: "key", css: { "background-color": colourOfClass(value) } }),
            name(className(value)),
          ]
        : value.map((one) => number(one)).join(", ");
    const kind = isClassifier ? null : "figure";
    if (hasTruth) cells.push(make("td", { class: kind }, shown(rows.truth(row))));
    cells.push(make("td", { class: kind }, shown(rows.predicted(row))));
    if (hasTruth)
      cells.push(
        make(
          "td",
          { class: "figure" },
          isClassifier
            ? rows.arrays.probabilities[row * nOutputs + rows.truth(row)].toFixed(2)
            : number(rows.badness(row)),
        ),
      );
    else if (isClassifier)
      cells.push(make("td", { class: "figure" }, this.columns()[2].value(row).toFixed(2)));
    return make(
      "tr",
      { "data-row": row, class: rows.isWrong(row) ? "wrong" : null, on: { click: () => go({ row }) } },
      cells,
    );
  }

  markChosen() {
    for (const line of this.body.children) {
      const isChosen = Number(line.dataset.row) === state.row;
      line.classList.toggle("chosen", isChosen);
      line.querySelector("button").setAttribute("tabindex", isChosen ? "0" : "-1");
    }
    if (!this.body.querySelector('button[tabindex="0"]'))
      this.body.querySelector("button")?.setAttribute("tabindex", "0");
  }

  pressed(event) {
    const line = event.target.closest("tr");
    const next =
      event.key === "ArrowDown"
        ? line.nextElementSibling
        : event.key === "ArrowUp"
          ? line.previousElementSibling
          : null;
    if (!next) return;
    event.preventDefault();
    go({ row: Number(next.dataset.row) });
    next.querySelector("button").focus();
    next.scrollIntoView({ block: "nearest" });
  }
}

function sampleNote() {
  const { nWrong, nWrongKept } = report.rows;
  if (nShown === report.nRows) return `All ${plural(nShown, "row")} that were given.`;
  const wrong =
    hasTruth && isClassifier ? `, ${count(nWrongKept)} of the ${count(nWrong)} wrong ones among them` : "";
  const how = hasTruth ? "The worst are taken first, the others at random." : "They are taken at random.";
  const shown = `${plural(nShown, "row")} of ${count(report.nRows)}${wrong}.`;
  return `${shown} ${how} Errors and counts elsewhere are of all rows.`;
}
