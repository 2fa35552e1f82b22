"""A table of the benchmark, read from ``tables/NAME.toml``: data x models x seeds.

    title = "..."
    data = ["letter"]          # each row is measured on each of these
    seeds = [0, 1, 2]
    [[row]]
    label = "S-TAO T=30"       # a name for people; unique on its data
    estimator = "TAOBoostClassifier"   # a class of spinney, or a word of `peers.PEERS`
    params = {n_estimators = 30}
    grid = {alpha = [0.03, 0.1, 0.3]}  # searched on training rows; every combination is tried
    paper = {error = 1.79, parameters = 200e3, T = 30, depth = 11}
    target = {error = 1.79}

Further keys of a row: `data`, `seeds`, `threads`, `time_limit` (as of the table), `curve` (error
against trees and seconds), `search_params` (cheaper parameters for the search), `metrics`
(["jaccard"]), `vary` (one row for every combination of these parameters, named in the label as
``{name}``), `cases` (one row for each of these, merged into the row), `group` (heading on the
page). Further keys of the table: `data_seeds` (seeds of single data sets), `search_rows`, `budget`
(the most configurations a search may try), `notes`, `claim` (see `verdicts`), `plot` (see `plots`),
`first_trees` (a column with the error of so many first trees; `paper.error_of_first` beside it).

A row without an estimator is a value quoted from a paper. ``{seed}`` in a data name is replaced by
the seed: folds are seeds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from models import Settings
from peers import PEERS
from tune import configurations

TABLES = Path(__file__).resolve().parent / "tables"
Content = dict[str, Any]

OURS = ("TAO", "FAO", "CO2", "Greedy", "RandomDecision")
TABLE_KEYS = {
    "title", "data", "seeds", "threads", "time_limit", "search_rows", "budget", "notes",
    "parameter_allowance", "row", "claim", "plot", "data_seeds", "first_trees",
}  # fmt: skip
ROW_KEYS = {
    "label", "estimator", "params", "grid", "paper", "target", "data", "seeds", "threads",
    "time_limit", "curve", "search_params", "metrics", "vary", "cases", "group", "resume",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One model on one data set."""

    label: str
    data: str
    settings: Settings | None
    grid: list[dict[str, Any]]
    search_params: dict[str, Any]
    paper: dict[str, Any]
    target: dict[str, Any]
    seeds: tuple[int, ...]
    time_limit: float
    group: str = ""

    @property
    def name(self) -> tuple[str, str]:
        """Label and data, which together are unique in a table."""
        return self.label, self.data

    @property
    def is_quoted(self) -> bool:
        """Whether this row only shows a paper's value."""
        return self.settings is None

    @property
    def is_ours(self) -> bool:
        """Whether the model is one of spinney's."""
        return self.settings is not None and self.settings["kind"] == "spinney"

    def data_of(self, seed: int) -> str:
        """Data set of one seed."""
        return self.data.replace("{seed}", str(seed))

    def searched(self, configuration: dict[str, Any]) -> Settings:
        """Settings of one fit of the search; no curve is needed there, and no checkpoint."""
        assert self.settings is not None
        cheap = {**self.settings["params"], **self.search_params, **configuration}
        settings = {k: v for k, v in self.settings.items() if k not in ("curve", "resume")}
        return settings | {"params": cheap}

    def chosen(self, configuration: dict[str, Any]) -> Settings:
        """Settings of the measured fit."""
        assert self.settings is not None
        return self.settings | {"params": {**self.settings["params"], **configuration}}


@dataclass(frozen=True)
class Table:
    """All rows of a table, and what is to be shown of them."""

    name: str
    title: str
    rows: tuple[Row, ...]
    search_rows: int
    budget: int | None
    notes: tuple[str, ...] = ()
    claims: tuple[Content, ...] = ()
    plots: tuple[Content, ...] = ()
    data: tuple[str, ...] = field(default=())
    first_trees: int | None = None

    def row(self, label: str, data: str | None = None) -> Row:
        """The row of this label, on `data` if several sets have it."""
        found = [r for r in self.rows if r.label == label and data in (None, r.data)]
        if len(found) != 1:
            raise ValueError(
                f"{self.name}: {len(found)} rows are named {label!r} on data {data}; the rows are "
                f"{[r.label for r in self.rows]}. Name one row, and its data if there are several."
            )
        return found[0]


def names() -> list[str]:
    """Names of the tables that can be run."""
    return sorted(path.stem for path in TABLES.glob("*.toml"))


def read(name: str) -> Table:
    """Table `name`, or the table in a TOML file."""
    path = Path(name) if name.endswith(".toml") else TABLES / f"{name}.toml"
    if not path.is_file():
        raise FileNotFoundError(f"no table {name!r}; there are {names()}, or give a .toml file.")
    return parse(path.stem, tomllib.loads(path.read_text()))


def parse(name: str, content: Content) -> Table:
    """Table from the content of a TOML file."""
    _check_keys(f"table {name}", content, TABLE_KEYS)
    rows = [row for raw in content["row"] for row in _rows(content, raw)]
    table = Table(
        name=name,
        title=content["title"],
        rows=tuple(rows),
        search_rows=content.get("search_rows", 20_000),
        budget=content.get("budget"),
        notes=tuple(content.get("notes", ())),
        claims=tuple(content.get("claim", ())),
        plots=tuple(content.get("plot", ())),
        data=tuple(dict.fromkeys(row.data for row in rows)),
        first_trees=content.get("first_trees"),
    )
    _check(table)
    return table


def _rows(table: Content, raw: Content) -> Iterator[Row]:
    _check_keys(f"row {raw.get('label')!r}", raw, ROW_KEYS)
    for case in raw.get("cases", [{}]):
        _check_keys(f"a case of {raw.get('label')!r}", case, ROW_KEYS - {"cases"})
        merged = _merge(raw, case)
        for values in _combinations(merged.get("vary", {})):
            params = {**merged.get("params", {}), **values}
            label = _label(merged["label"], {**params, **values})
            for data in merged.get("data", table.get("data", [])):
                yield _row(table, {**merged, "label": label, "params": params}, data)


def _row(table: Content, raw: Content, data: str) -> Row:
    def inherited(key: str, default: Any) -> Any:
        return raw.get(key, table.get(key, default))

    paper, target = raw.get("paper", {}), dict(raw.get("target", {}))
    if "error" in target and "parameters" in paper:
        # "no more parameters than 1.5x the paper's"
        target.setdefault("parameters", table.get("parameter_allowance", 1.5) * paper["parameters"])
    return Row(
        label=raw["label"],
        data=data,
        settings=_settings(raw, inherited("threads", 1)),
        grid=configurations(raw["grid"]) if "grid" in raw else [],
        search_params=raw.get("search_params", {}),
        paper=paper,
        target=target,
        seeds=tuple(table.get("data_seeds", {}).get(data) or inherited("seeds", [0])),
        time_limit=float(inherited("time_limit", 3600)),
        group=raw.get("group", ""),
    )


def _settings(raw: Content, n_threads: int) -> Settings | None:
    name = raw.get("estimator")
    if name is None:
        return None
    if name not in PEERS and not name.startswith(OURS):
        raise ValueError(
            f"row {raw['label']!r}: estimator {name!r} is not known; give a class of spinney, "
            f"such as 'TAOForestClassifier', or one of {sorted(PEERS)}."
        )
    kind = {"kind": name} if name in PEERS else {"kind": "spinney", "estimator": name}
    extra = {key: raw[key] for key in ("curve", "metrics", "resume") if raw.get(key)}
    return {**kind, "params": raw["params"], "threads": n_threads, **extra}


def _merge(raw: Content, case: Content) -> Content:
    """`case` over `raw`, tables such as `params` key by key."""
    merged = dict(raw)
    for key, value in case.items():
        both = isinstance(value, dict) and isinstance(raw.get(key), dict)
        merged[key] = {**raw[key], **value} if both else value
    return merged


def _combinations(vary: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in product(*vary.values()):
        yield dict(zip(vary, values, strict=True))


def _label(pattern: str, params: dict[str, Any]) -> str:
    """Label with ``{name}`` replaced by the value of that parameter."""
    return re.sub(r"\{(\w+)\}", lambda found: str(params[found[1]]), pattern)


def _check(table: Table) -> None:
    """Raise at the door: one row a name, no search beyond the budget, claims about known rows."""
    seen = set()
    for row in table.rows:
        if row.name in seen:
            raise ValueError(f"{table.name}: two rows are named {row.label!r} on {row.data!r}.")
        seen.add(row.name)
        if table.budget is not None and len(row.grid) > table.budget:
            raise ValueError(
                f"{table.name}: {row.label!r} searches {len(row.grid)} configurations, the table "
                f"allows {table.budget} to every model. Thin its grid or raise the budget for all."
            )


def _check_keys(what: str, content: Content, known: set[str]) -> None:
    unknown = set(content) - known
    if unknown:
        raise ValueError(f"{what} has unknown keys {sorted(unknown)}; known are {sorted(known)}.")
