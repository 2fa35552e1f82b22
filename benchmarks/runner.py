"""The cells of a table: which there are, which are missing, and how they get measured.

Each row first searches its grid (validation rows from inside the training rows; one cell a
configuration), then fits the chosen configuration on all training rows, once a seed.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cells import CellStore, Result
from models import missing
from table import Row, Table
from tune import TUNING_SEED
from worker import run_cell


@dataclass(frozen=True)
class Cell:
    """One fit in a process of its own; a search cell is fitted on part of the training rows."""

    row: Row
    label: str
    question: Result

    @property
    def key(self) -> Result:
        """All that decides the result."""
        extra = {} if self.question["search"] is None else {"search": self.question["search"]}
        about = {"data": self.question["data"], "seed": self.question["seed"]}
        return {**about, **self.question["settings"], **extra}


@dataclass
class Search:
    """What the search of one row on one data set found."""

    configuration: dict[str, Any] = field(default_factory=dict)
    scores: list[tuple[dict[str, Any], float]] = field(default_factory=list)
    note: str = ""


@dataclass
class Outcome:
    """All that is known of one row: results by seed, searches, and what is missing."""

    row: Row
    results: dict[int, Result] = field(default_factory=dict)
    searches: dict[str, Search] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    lacking: str | None = None


def run_table(
    table: Table, rows: Sequence[Row], store: CellStore, *, measure: bool
) -> list[Outcome]:
    """Outcomes of `rows`; cells that are not on disk are measured only if `measure`."""
    progress = Progress({row.name: _n_cells(row) for row in rows if _can_run(row)})
    outcomes = [Outcome(row, lacking=_lacking(row)) for row in rows]

    def fetch(cell: Cell) -> Result | None:
        found = store.find(cell.label, cell.key)
        if found is not None and not _is_worth_another_try(found, cell.row):
            progress.found(cell)
            return found
        if not measure or missing(cell.question["settings"]):
            return None
        with progress.measuring(cell):
            result = run_cell(cell.question, cell.row.time_limit)
        return store.save(cell.label, cell.key, result)

    # Seeds outside, rows inside: the rows take turns, so that load hits all alike, and a run that
    # is stopped early has at least one seed of each row.
    for seed in sorted({seed for row in rows for seed in row.seeds}):
        for outcome in outcomes:
            if seed in outcome.row.seeds and not outcome.row.is_quoted:
                _run_seed(table, outcome, seed, fetch)
    return outcomes


def _run_seed(
    table: Table, outcome: Outcome, seed: int, fetch: Callable[[Cell], Result | None]
) -> None:
    row, data = outcome.row, outcome.row.data_of(seed)
    if data not in outcome.searches:
        outcome.searches[data] = _search(table, row, data, fetch)
    search = outcome.searches[data]
    if row.grid and not search.configuration:
        return
    settings = row.chosen(search.configuration)
    question = {"data": data, "settings": settings, "seed": seed, "search": None}
    result = fetch(Cell(row, f"{data}-{row.label}-s{seed}", question))
    if result is None:
        return
    if "failed" in result:
        outcome.failures.append(f"{data}, seed {seed}: {result['failed']}")
    else:
        outcome.results[seed] = result


def _search(table: Table, row: Row, data: str, fetch: Callable[[Cell], Result | None]) -> Search:
    """Configuration with the least validation error among those small enough."""
    if not row.grid:
        return Search()
    found: list[tuple[dict[str, Any], Result]] = []
    for configuration in row.grid:
        name = ", ".join(f"{key}={value}" for key, value in configuration.items())
        question = {
            "data": data,
            "settings": row.searched(configuration),
            "seed": TUNING_SEED,
            "search": table.search_rows,
        }
        result = fetch(Cell(row, f"{data}-search-{row.label}-{name}", question))
        if result is None:
            return Search(note="search not finished")
        found.append((configuration, result))
    return choose(found, _parameter_limit(row))


def _parameter_limit(row: Row) -> float | None:
    """The target's limit, less in proportion if the search grows fewer trees."""
    limit = row.target.get("parameters")
    n_searched = row.search_params.get("n_estimators")
    if limit is None or n_searched is None or row.settings is None:
        return limit
    return float(limit * n_searched / row.settings["params"]["n_estimators"])


def choose(
    found: list[tuple[dict[str, Any], Result]], max_parameters: float | None = None
) -> Search:
    """The best of the tried configurations, and what each scored.

    One that is larger than the target allows is chosen only if all are. One that failed or ran
    out of time is never chosen.
    """
    scores = [(configuration, score(result)) for configuration, result in found]
    limit = max_parameters or np.inf
    small = [(result.get("n_parameters") or 0) <= limit for _, result in found]
    allowed = small if any(small) else [True] * len(found)
    order = [s if ok else np.inf for (_, s), ok in zip(scores, allowed, strict=True)]
    best = int(np.argmin(order))
    note = "" if all(small) else "configurations with too many parameters were passed over"
    if not np.isfinite(order[best]):
        return Search(scores=scores, note="every configuration failed")
    return Search(scores[best][0], scores, note)


def score(result: Result) -> float:
    """What a search makes small: validation error, or RMSE for regression."""
    if "failed" in result:
        return float("inf")
    return float(result.get("test_error", result.get("test_rmse", np.inf)))


def _is_worth_another_try(result: Result, row: Row) -> bool:
    """A crash may have been mended since; a fit that ran out of time needs a higher limit."""
    if "failed" not in result:
        return False
    return result.get("time_limit") is None or result["time_limit"] < row.time_limit


def _n_cells(row: Row) -> int:
    n_data = len({row.data_of(seed) for seed in row.seeds})
    return len(row.seeds) + n_data * len(row.grid)


def _can_run(row: Row) -> bool:
    return not row.is_quoted and _lacking(row) is None


def _lacking(row: Row) -> str | None:
    return None if row.settings is None else missing(row.settings)


class Progress:
    """Lines on the standard error: cell i of n, seconds so far, and those to come."""

    def __init__(self, n_cells: dict[tuple[str, str], int]) -> None:
        self.left = dict(n_cells)
        self.n_cells, self.n_seen = sum(n_cells.values()), 0
        self.begin = time.perf_counter()
        self.seconds: dict[tuple[str, str], list[float]] = defaultdict(list)

    def found(self, cell: Cell) -> None:
        """A cell is on disk, or about to be."""
        if cell.row.name in self.left:  # not one of a package that is not installed here
            self.n_seen += 1
            self.left[cell.row.name] -= 1

    def measuring(self, cell: Cell) -> _Measuring:
        """Context of one measurement."""
        self.found(cell)
        return _Measuring(self, cell)

    def say(self, text: str) -> None:
        """One line, at once."""
        print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)

    def estimate(self) -> str:
        """Time to come: a row's cells are taken to be alike, a row not begun like all others."""
        if not self.seconds:
            return "?"
        of_all = float(np.mean(np.concatenate(list(self.seconds.values()))))
        to_come = 0.0
        for name, n_left in self.left.items():
            known = self.seconds.get(name)
            to_come += n_left * (float(np.mean(known)) if known else of_all)
        return _duration(to_come)


@dataclass
class _Measuring:
    progress: Progress
    cell: Cell

    def __enter__(self) -> None:
        self.begin = time.perf_counter()
        p = self.progress
        p.say(f"cell {p.n_seen} of {p.n_cells}: {self.cell.label} ...")

    def __exit__(self, *_error: object) -> None:
        taken = time.perf_counter() - self.begin
        p = self.progress
        p.seconds[self.cell.row.name].append(taken)
        elapsed = _duration(time.perf_counter() - p.begin)
        p.say(f"    {taken:.1f} s; {elapsed} so far, about {p.estimate()} to come")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
