"""Tables of README and docs, written from ``results/*.json`` between two comments of a page.

    python benchmarks/doc_tables.py            # rewrite what differs
    python benchmarks/doc_tables.py --check    # say what differs; fails if anything does

A page has ``<!-- table: NAME -->`` and ``<!-- end of table -->``; what is between them belongs to
this program. `doc_tables.toml` says what is in the table of a name.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from markdown_parts import spread, table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BLOCK = re.compile(r"<!-- table: (\S+) -->\n.*?<!-- end of table -->", re.DOTALL)
SEEDS = {1: "one seed", 2: "two seeds"}
MARKS = {1: "¹", 2: "²"}
USUAL_SEEDS = 3
Row = dict[str, Any]


def main() -> int:
    """Rewrite or check all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    stale = [page for page in pages() if rewritten(page) != page.read_text(encoding="utf-8")]
    for page in stale:
        print(f"{page.relative_to(ROOT)}: tables differ from benchmarks/results")
        if not is_check:
            page.write_text(rewritten(page), encoding="utf-8")
    return int(is_check and bool(stale))


def pages() -> list[Path]:
    """Pages that have such tables."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


def rewritten(page: Path) -> str:
    """The text of a page with its tables as they should be."""

    def block(match: re.Match[str]) -> str:
        name = match[1]
        lines = lines_of(name)
        return "\n".join([f"<!-- table: {name} -->", "", *lines, "", "<!-- end of table -->"])

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def lines_of(name: str) -> list[str]:
    """The table of a name in Markdown."""
    wanted = specification()["tables"][name]
    return KINDS[wanted["kind"]](wanted)


# Kinds of tables


def best_and_best(wanted: Row) -> list[str]:
    """A row a data set: our best model beside the best of the peers, with what they cost."""
    head = ["data", "our best", "error", "fit s", "one row µs", "best peer", "error", "fit s"]
    return table([*head, "one row µs"], _pairs(wanted))


def _pairs(wanted: Row) -> Iterator[list[str]]:
    for choice in wanted["rows"]:
        found = [row for file in choice["files"] for row in measured(file, choice["data"])]
        ours = min((row for row in found if is_ours(row)), key=error_of)
        theirs = min((row for row in found if not is_ours(row)), key=error_of)
        parts = [_with_cost(ours, error_of(ours) <= error_of(theirs))]
        parts.append(_with_cost(theirs, error_of(theirs) <= error_of(ours)))
        yield [choice["name"], *parts[0], *parts[1]]


def _with_cost(row: Row, is_best: bool) -> list[str]:
    costs = [short(mean_of(row, key)) for key in ("cpu_seconds", "single_row_us")]
    return [readable(row["label"]), with_seeds(error_text(row, is_best), row), *costs]


def beside_papers(wanted: Row) -> list[str]:
    """A row a forest: our error beside the paper's (bold if better), sizes, and cost.

    FLOPS, and the papers' sizes, are shown where some paper has them.
    """
    head = ["data", "forest", "test error %", "paper's", "parameters"]
    found = [row_of(choice["file"], choice["data"], choice["row"]) for choice in wanted["rows"]]
    has_sizes = any("parameters" in (row["paper"] or {}) for row in found)
    head += [*(["paper's", "FLOPS", "paper's"] if has_sizes else []), "fit CPU s", "one row µs"]
    rows = []
    for choice, row in zip(wanted["rows"], found, strict=True):
        error = with_seeds(error_text(row, is_best=False), row) if row["cells"] else "not measured"
        rows.append(
            [
                choice["name"],
                choice["forest"],
                error,
                paper_text(row),
                *sizes_beside_paper(row)[: None if has_sizes else 1],
                short(mean_of(row, "cpu_seconds")),
                short(mean_of(row, "single_row_us")),
            ]
        )
    return table(head, rows)


def grid(wanted: Row) -> list[str]:
    """A row a model, a column a data set; the least of each column is bold.

    ¹ and ² mark means of one and of two seeds.
    """
    names = wanted["data"]
    cells = {data: {r["label"]: r for r in measured(wanted["file"], data)} for data in names}
    least = {data: min(map(error_of, rows.values())) for data, rows in cells.items()}
    labels = dict.fromkeys(row["label"] for row in results(wanted["file"])["rows"])
    lines = []
    for label in labels:
        found = [cells[data].get(label) for data in names]
        if any(found):
            shown = [_grid_cell(wanted, r, least[d]) for d, r in zip(names, found, strict=True)]
            is_own = any(is_ours(row) for row in found if row)
            lines.append([f"*{readable(label)}*" if is_own else readable(label), *shown])
    return table(["model (ours in italics)", *names.values()], lines)


def _grid_cell(wanted: Row, row: Row | None, least: float) -> str:
    if row is None:
        return "–"
    if "measure" in wanted:
        value = mean_of(row, wanted["measure"])
        is_share = wanted["measure"] == "auc"
        return f"{value:.3f}" if is_share and value is not None else short(value)
    return error_text(row, is_best=error_of(row) == least) + MARKS.get(len(row["cells"]), "")


def claims(wanted: Row) -> list[str]:
    """What a table of results claims, and whether it holds."""
    rows = results(wanted["file"])["claims"]
    return table(
        ["claim", "measured", "holds"],
        ([row["what"], row["measured"], "yes" if row["holds"] else "**no**"] for row in rows),
    )


def figures(wanted: Row) -> list[str]:
    """The figures of one tree: what, target, measured."""
    found = results(wanted["file"])
    return table(
        ["what", "measured"], ([figure["what"], figure["value"]] for figure in found.values())
    )


def serving(_wanted: Row) -> list[str]:
    """Times and sizes of predictions, one forest beside others of as many trees or rounds."""
    found = results("serving")
    rows = []
    for name, microseconds in found["single_row_us"].items():
        error = found["error_percent"].get(name)
        rows.append(
            [
                name,
                "" if error is None else f"{error:.2f}",
                short(microseconds),
                f"{found['batch_us_a_row'][name]:.2f}",
            ]
        )
    return table(["model", "test error %", "one row µs", "batch, µs a row"], rows)


def serving_tables(_wanted: Row) -> list[str]:
    """Times of single rows of a raw table, by the way that the model is asked."""
    found = results("serving_tables")["one_row_us"]
    return table(["way", "one row µs"], [[name, short(us)] for name, us in found.items()])


def exports(_wanted: Row) -> list[str]:
    """Sizes of a forest in other forms, and rows for which they answer otherwise."""
    found = results("serving")
    rows = [["pickle", kilobytes(found["pickle_bytes"]["spinney"]), "", "", "", ""]]
    for name, export in found["exports"].items():
        sizes = [kilobytes(export.get(key)) for key in ("bytes", "table_bytes", "object_bytes")]
        differing = f"{export['rows_that_differ']} of {grouped(export['rows'])}"
        rows.append([name, *sizes, differing, short(export["single_row_us"])])
    head = ["export", "kB", "tables, kB", "object, kB", "rows that differ", "one row µs"]
    return table(head, rows)


def threads(_wanted: Row) -> list[str]:
    """What a second thread brings."""
    found = results("serving")["threads"].items()
    rows = (
        [name, f"{r['speedup']:.2f}", "yes" if r["same_bits"] else "**no**"] for name, r in found
    )
    return table(["two threads that call", "times as fast as one", "same bits"], rows)


KINDS: dict[str, Callable[[Row], list[str]]] = {
    "best and best": best_and_best,
    "beside papers": beside_papers,
    "grid": grid,
    "claims": claims,
    "figures": figures,
    "serving": serving,
    "serving tables": serving_tables,
    "exports": exports,
    "threads": threads,
}


# Results


@cache
def specification() -> Row:
    """What `doc_tables.toml` says."""
    return tomllib.loads((HERE / "doc_tables.toml").read_text(encoding="utf-8"))


@cache
def results(file: str) -> Row:
    """Measured results of a table."""
    found: Row = json.loads((HERE / "results" / f"{file}.json").read_text(encoding="utf-8"))
    return found


def measured(file: str, data: str) -> list[Row]:
    """Rows of a data set that have at least one finished cell."""
    return [row for row in results(file)["rows"] if row["data"] == data and row["cells"]]


def row_of(file: str, data: str, label: str) -> Row:
    """One row of a table, measured or not."""
    found = [row for row in results(file)["rows"] if (row["data"], row["label"]) == (data, label)]
    if len(found) != 1:
        raise ValueError(
            f"{len(found)} rows {label!r} on {data!r} in results/{file}.json; doc_tables.toml must "
            "name one. After a change to a table: `python benchmarks/run.py TABLE --report-only`."
        )
    return found[0]


def is_ours(row: Row) -> bool:
    """Whether a row is of this library."""
    return bool(row["settings"]["kind"] == "spinney")


def values_of(row: Row, key: str) -> np.ndarray:
    """One number a seed."""
    found = [cell.get(key) for cell in row["cells"].values()]
    return np.array([value for value in found if value is not None], dtype=float)


def mean_of(row: Row, key: str) -> float | None:
    """Mean over the seeds, if it was measured."""
    values = values_of(row, key)
    return float(values.mean()) if len(values) else None


def errors_of(row: Row) -> np.ndarray:
    """Test errors in per cent, or root mean square errors, one a seed."""
    errors = values_of(row, "test_rmse")
    return errors if len(errors) else values_of(row, "test_error")


def error_of(row: Row) -> float:
    """Their mean."""
    return float(errors_of(row).mean())


# Text


def error_text(row: Row, is_best: bool) -> str:
    """Mean ± deviation of the error, bold if it is the best."""
    text = grouped_text(spread(errors_of(row))).replace(" ", "\u00a0")
    return f"**{text}**" if is_best else text


def with_seeds(text: str, row: Row) -> str:
    """The text with the number of seeds or folds, if there are not three."""
    number = len(row["cells"])
    if number == USUAL_SEEDS:
        return text
    folds = f"{number} folds" if "fold" in row["data"] else f"{number} seeds"
    return f"{text} ({SEEDS.get(number, folds)})"


def paper_text(row: Row) -> str:
    """The paper's error, bold if it is less than ours."""
    paper = row["paper"] or {}
    if "error" not in paper:
        return "–"
    text = f"{paper['error']:.2f}" + (f"\u00a0±\u00a0{paper['sd']:.2f}" if "sd" in paper else "")
    is_better = row["cells"] and paper["error"] < round(error_of(row), 2)
    return f"**{text}**" if is_better else text


def sizes_beside_paper(row: Row) -> list[str]:
    """Our parameters and FLOPS, each before the paper's and how many times it ours are."""
    cells = []
    for ours, theirs in (("n_parameters", "parameters"), ("flops", "flops")):
        size, paper = mean_of(row, ours), (row["paper"] or {}).get(theirs)
        ratio = f"\u00a0({size / paper:.2f}×)" if size and paper else ""
        cells += [grouped(size), f"{grouped(paper)}{ratio}"]
    return cells


def readable(label: str) -> str:
    """The label of a row in words."""
    for pattern, words in specification()["names"].items():
        label = re.sub(pattern, words, label)
    return label


def short(value: float | None) -> str:
    """A cost in two or three digits."""
    if value is None:
        return "–"
    return grouped(value) if value >= 100 else f"{value:.2g}"


def kilobytes(n_bytes: float | None) -> str:
    """Bytes in thousands."""
    return "" if n_bytes is None else grouped(n_bytes / 1000)


def grouped(value: float | None) -> str:
    """A large number in groups of three digits, with spaces at which no line breaks."""
    return "–" if value is None else f"{value:,.0f}".replace(",", "\u202f")


def grouped_text(text: str) -> str:
    """Groups of three digits in the numbers of a text."""
    return re.sub(r"(?<![\d.])\d{5,}(?![\d.])", lambda found: grouped(float(found[0])), text)


if __name__ == "__main__":
    sys.exit(main())
