"""A measured table as JSON and as a Markdown page, the paper's values beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench import column, mean
from cell_file import write_whole
from markdown_parts import decimals, environment_line, spread
from markdown_parts import table as lines_of
from runner import Outcome, Search
from table import Table
from verdicts import Verdict, error_at, error_key, judge, meets_target, results_of

# Heading -> key of a result. Shown only if some row of the data set has it.
MEASURED = {
    "AUC": "auc",
    "Jaccard": "jaccard",
    "train error %": "train_error",
    "train RMSE": "train_rmse",
    "parameters": "n_parameters",
    "FLOPS": "flops",
    "T": "n_trees",
    "Δ": "depth",
    "fit s": "wall_seconds",
    "cpu s": "cpu_seconds",
    "predict µs/row": "predict_us",
    "one row µs": "single_row_us",
    "model MB": "model_mb",
    "peak MB": "peak_mb",
}
# Heading -> what is said of the errors that a forest's trees have by themselves.
TREES = {"mean tree %": np.mean, "best tree %": np.min}


def save(
    folder: Path,
    table: Table,
    outcomes: Sequence[Outcome],
    *,
    plots: Sequence[Path],
    cautions: Sequence[str],
    environment: dict[str, Any],
) -> None:
    """Write ``NAME.json`` and ``NAME.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    verdicts = judge(table, outcomes)
    write_whole(folder / f"{table.name}.json", _content(table, outcomes, verdicts, environment))
    lines = [
        f"# {table.title}",
        "",
        *(f"- {note}" for note in _notes(table, outcomes)),
        *_claims(verdicts),
        *(line for data in table.data for line in _data_section(table, data, outcomes)),
        *(line for path in plots for line in ("", f"![{path.stem}]({path.name})")),
        *_missing(outcomes),
        *_searches(outcomes),
        *_list("Cautions", [*cautions, *_version_cautions(outcomes, environment)]),
        "",
        f"Page written with {environment_line(environment)}.",
    ]
    (folder / f"{table.name}.md").write_text("\n".join(lines) + "\n")


def _notes(table: Table, outcomes: Sequence[Outcome]) -> list[str]:
    notes = list(table.notes)
    budgets = sorted({len(o.row.grid) for o in outcomes if o.row.grid})
    if budgets:
        notes.append(
            f"Search: {' or '.join(map(str, budgets))} configurations a model, judged on 20 % of "
            f"the training rows (at most {table.search_rows} rows are used), then refitted on all "
            "training rows. Test rows are never looked at."
        )
    loads = [r["load_before"] for o in outcomes for r in results_of(o) if r.get("load_before")]
    if loads:
        notes.append(f"Highest load average just before a fit: {max(loads)}.")
    notes += _builds(outcomes)
    notes.append("One figure is the mean ± sd over the seeds; n=1 marks a single seed.")
    return notes


def _builds(outcomes: Sequence[Outcome]) -> list[str]:
    """Which builds of spinney measured its cells; none where it measured nothing."""
    cells = [r for o in outcomes if o.row.is_ours for r in results_of(o) if r.get("build")]
    counts = Counter(
        (r["build"], r.get("versions", {}).get("spinney", "not installed")) for r in cells
    )
    if not counts:
        return []
    parts = (
        f"{build} ({'version unknown' if version == 'not installed' else version}; "
        f"{n_cells} cell{'s' if n_cells > 1 else ''})"
        for (build, version), n_cells in counts.most_common()
    )
    return [f"Builds of spinney that measured its models: {', '.join(parts)}."]


def _claims(verdicts: Sequence[Verdict]) -> list[str]:
    if not verdicts:
        return []
    rows = ([v.what, v.measured, _holds(v.holds), v.caution] for v in verdicts)
    return ["", "## Claims", "", *lines_of(["claim", "measured", "holds", ""], rows)]


def _holds(holds: bool | None) -> str:
    return {True: "yes", False: "**no**", None: "?"}[holds]


def _data_section(table: Table, data: str, outcomes: Sequence[Outcome]) -> list[str]:
    here = [outcome for outcome in outcomes if outcome.row.data == data]
    if not here:
        return []
    lines = ["", f"## {data}", ""]
    sources = {r["source"]: r for outcome in here for r in results_of(outcome) if "source" in r}
    for source, r in list(sources.items())[:1]:
        lines += [
            f"{r['n_train']} training rows, {r['n_test']} test rows, {r['n_features']} columns; "
            f"{source}",
            "",
        ]
    shown = {head: key for head, key in MEASURED.items() if _any_has(here, key)}
    if any("tree_error" in (r.get("curve") or {}) for o in here for r in results_of(o)):
        shown |= dict.fromkeys(TREES, "curve")
    first = table.first_trees
    if first is not None:
        shown[f"first {first} trees %"] = "curve"
    error = "test RMSE" if _any_has(here, "test_rmse") else "test error %"
    head = ["model", "paper", error, "target", "met", *shown, "paper's parameters", "seeds"]
    for group in dict.fromkeys(outcome.row.group for outcome in here):
        if group:
            lines += ["", f"### {group}", ""]
        rows = [_row(outcome, shown, first) for outcome in here if outcome.row.group == group]
        lines += lines_of(head, rows)
    return lines


def _any_has(outcomes: Sequence[Outcome], key: str) -> bool:
    return any(r.get(key) is not None for outcome in outcomes for r in results_of(outcome))


def _row(outcome: Outcome, shown: dict[str, str], first_trees: int | None) -> list[str]:
    row, results = outcome.row, results_of(outcome)
    paper = row.paper
    theirs = f"{paper['error']:.2f}" if "error" in paper else ""
    theirs += f" ± {paper['sd']:.2f}" if "sd" in paper else ""
    measured = [_mean(results, key) for key in shown.values() if key != "curve"]
    measured += [_single_tree(results, TREES[head]) for head in TREES if head in shown]
    if first_trees is not None:
        measured.append(_first_trees(outcome, first_trees))
    if row.is_quoted:
        own = {"Δ": "depth", "T": "T", "FLOPS": "flops"}
        measured = [_count(paper.get(own.get(head, ""))) for head in shown]
    return [
        row.label,
        theirs,
        "" if row.is_quoted else _error(outcome),
        f"<= {row.target['error']:.2f}" if "error" in row.target else "",
        _met(outcome),
        *measured,
        _count(paper.get("parameters")),
        "" if row.is_quoted else f"{len(results)}/{len(row.seeds)}",
    ]


def _error(outcome: Outcome) -> str:
    results = results_of(outcome)
    if not results:
        return "missing"
    values = column(results, error_key(outcome))
    return spread(values) + (" (n=1)" if len(values) == 1 else "")


def _met(outcome: Outcome) -> str:
    met, wrong = meets_target(outcome)
    return "" if met is None else "yes" if met else f"**no** ({wrong})"


def _mean(results: list[dict[str, Any]], key: str) -> str:
    if not results or all(result.get(key) is None for result in results):
        return "–"
    values = column(results, key)
    return _count(float(np.nanmean(values)))


def _single_tree(results: list[dict[str, Any]], summary: Callable[[list[float]], Any]) -> str:
    """Mean over the forests of the mean or the least test error of a single tree."""
    curves = [result["curve"] for result in results if result.get("curve")]
    found = [summary(curve["tree_error"]) for curve in curves if "tree_error" in curve]
    return f"{np.mean(found):.2f}" if found else "–"


def _first_trees(outcome: Outcome, n_trees: int) -> str:
    """Mean test error of the first trees of each forest, and the paper's."""
    found = error_at(outcome, n_trees)
    theirs = outcome.row.paper.get("error_of_first")
    beside = "" if theirs is None else f" (paper {theirs:.2f})"
    return "–" if np.isnan(found) else f"{found:.2f}{beside}"


def _count(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"


def _missing(outcomes: Sequence[Outcome]) -> list[str]:
    found = []
    for outcome in outcomes:
        row = outcome.row
        if row.is_quoted:
            continue
        name = f"{row.label} on {row.data}"
        absent = sorted(set(row.seeds) - set(outcome.results))
        if outcome.lacking:
            found.append(f"{name}: {outcome.lacking}")
        elif outcome.failures:
            found.append(f"{name}: failed ({'; '.join(outcome.failures)})")
        elif absent:
            notes = [s.note for s in outcome.searches.values() if s.note and not s.configuration]
            why = f" ({notes[0]})" if notes else ""
            found.append(f"{name}: seeds {', '.join(map(str, absent))} not measured{why}")
    return _list("Missing", found)


def _searches(outcomes: Sequence[Outcome]) -> list[str]:
    found = []
    for outcome in outcomes:
        for data, search in outcome.searches.items():
            if search.scores:
                found.append(f"{outcome.row.label} on {data}: {_search_text(search)}")
    return _list("Searches (validation error)", found)


def _search_text(search: Search) -> str:
    tried = "; ".join(
        f"{'**' if configuration == search.configuration else ''}"
        f"{_configuration(configuration)}: {score:.{decimals(score)}f}"
        f"{'**' if configuration == search.configuration else ''}"
        for configuration, score in search.scores
    )
    return f"{tried}{f' ({search.note})' if search.note else ''}"


def _configuration(configuration: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in configuration.items())


def _version_cautions(outcomes: Sequence[Outcome], environment: dict[str, Any]) -> list[str]:
    """Packages whose version is not that of all cells."""
    found: dict[str, set[str]] = {}
    for outcome in outcomes:
        for result in results_of(outcome):
            for package, version in result.get("versions", {}).items():
                if version != environment.get(package):
                    found.setdefault(package, set()).add(version)
    return [
        f"CAUTION: some cells were measured with {package} {', '.join(sorted(versions))}"
        for package, versions in found.items()
    ]


def _list(heading: str, items: list[str]) -> list[str]:
    return ["", f"## {heading}", "", *(f"- {item}" for item in items)] if items else []


def _content(
    table: Table,
    outcomes: Sequence[Outcome],
    verdicts: Sequence[Verdict],
    environment: dict[str, Any],
) -> dict[str, Any]:
    """All cells and verdicts, ready for JSON."""
    return {
        "title": table.title,
        "environment": environment,
        "claims": [vars(verdict) for verdict in verdicts],
        "rows": [_row_content(outcome) for outcome in outcomes],
    }


def _row_content(outcome: Outcome) -> dict[str, Any]:
    row, results = outcome.row, results_of(outcome)
    searches = {
        data: {"chosen": s.configuration, "tried": s.scores, "note": s.note}
        for data, s in outcome.searches.items()
    }
    return {
        "label": row.label,
        "data": row.data,
        "settings": row.settings,
        "paper": row.paper,
        "target": row.target,
        "met": meets_target(outcome)[0],
        "mean_error": mean(results, error_key(outcome)) if results else None,
        "searches": searches,
        "missing": outcome.lacking,
        "failures": outcome.failures,
        "cells": {str(seed): result for seed, result in sorted(outcome.results.items())},
    }
