"""Compare ways to turn columns into coordinates, to choose those of `spinney.data.tables`.

    python benchmarks/encodings.py               measure what is missing, then write the page
    python benchmarks/encodings.py --report-only only the page

Every way is judged by 2-fold cross-validation with three seeds, on training rows alone and at most
6000 of them, with three small forests: optimised oblique trees, greedy axis-aligned trees and
greedy oblique trees. Finished cells are kept in ``results/encodings.json``, so that a run that was
stopped goes on where it stopped. The page is ``results/encodings.md``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from datasets import find_file, load
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from spinney import (
    GreedyForestClassifier,
    GreedyForestRegressor,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
)
from spinney.data.tables import (
    Column,
    Table,
    TableEncoding,
    category_mask,
    encode_training,
    learn_table,
    levels,
    read_table,
)

RESULTS = Path(__file__).resolve().parent / "results"
N_ROWS, SEEDS, N_FOLDS = 6000, (0, 1, 2), 2
HOLES = 0.2
Task = tuple[pd.DataFrame, NDArray[Any]]


# --- tasks ------------------------------------------------------------------------------------


def _parquet(name: str, target: str) -> Task:
    table = pd.read_parquet(find_file(f"{name}.parquet")).replace("?", None)
    if "split" in table:
        table = table[table["split"] == "train"].drop(columns="split")
    table = table.sample(min(N_ROWS, len(table)), random_state=0)
    y = np.unique(table[target], return_inverse=True)[1]
    return table.drop(columns=target), y


def credit_default() -> Task:
    X, y = _parquet("credit_default", "default.payment.next.month")
    codes = ["SEX", "EDUCATION", "MARRIAGE"]
    return X.astype(dict.fromkeys(codes, "category")), y


def _numbers(name: str) -> Task:
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.y_train))[:N_ROWS]
    X = pd.DataFrame(data.X_train[rows].astype(np.float64))
    X.columns = [f"x{column}" for column in range(X.shape[1])]
    return X, data.y_train[rows]


def with_holes(name: str, *, depends: bool) -> Task:
    """A fifth of all values missing: at random, or the larger a value the more likely."""
    X, y = _numbers(name)
    draw = np.random.default_rng(1).random(X.shape)
    share = 2 * HOLES * X.rank(pct=True).to_numpy() if depends else HOLES
    return X.mask(draw < share), y


def told_by_target(name: str) -> Task:
    """A fifth of the values of half of the columns missing, the larger the target the more."""
    X, y = _numbers(name)
    share = 2 * HOLES * pd.Series(y).rank(pct=True).to_numpy()[:, None]
    is_hole = np.random.default_rng(1).random(X.shape) < share
    return X.mask(is_hole & (np.arange(X.shape[1]) % 2 == 0)), y


def places() -> Task:
    """California housing with the place as a text: a cell of a tenth of a degree."""
    X, y = _numbers("california_housing")
    longitude, latitude = X["x0"].round(1), X["x1"].round(1)
    X = X.drop(columns=["x0", "x1"])
    return X.assign(place=latitude.astype(str) + "/" + longitude.astype(str)), y


MIXED: dict[str, Callable[[], Task]] = {
    "adult": lambda: _parquet("adult", "income"),
    "bank_additional_full": lambda: _parquet("bank_additional_full", "y"),
    "credit_default": credit_default,
    "german_credit": lambda: _parquet("german_credit", "class"),
}
MANY_LEVELS: dict[str, Callable[[], Task]] = {"california, place as text": places}
WITH_HOLES: dict[str, Callable[[], Task]] = {
    "letter, holes at random": lambda: with_holes("letter", depends=False),
    "letter, holes where large": lambda: with_holes("letter", depends=True),
    "california, holes at random": lambda: with_holes("california_housing", depends=False),
    "california, holes where large": lambda: with_holes("california_housing", depends=True),
    "california, holes by the target": lambda: told_by_target("california_housing"),
}


# --- ways to encode ---------------------------------------------------------------------------

Way = Callable[[Table, NDArray[np.float64]], TableEncoding]


def learned(**options: Any) -> Way:
    """The library's own encoding, maybe with another limit."""

    def learn(table: Table, targets: NDArray[np.float64]) -> TableEncoding:
        weights = np.ones(table.n_rows)
        mask = category_mask("from_dtype", table)
        return learn_table(table, mask, targets, weights, **options)

    return learn


def commonest(most: int, rare_share: float = 0.002) -> Way:
    """A coordinate for each of the commonest levels, one for the rest, and means if it is many."""

    def learn(table: Table, targets: NDArray[np.float64]) -> TableEncoding:
        encoding = learned(most_levels=0)(table, targets)
        found = {
            column: dataclasses.replace(of, **_commonest(table.columns[column], most, rare_share))
            for column, of in encoding.levels.items()
        }
        for column, of in found.items():
            if len(of.known) <= most:
                found[column] = _no_means(of)
        # Missing has a coordinate of its own here, whether there are means or not.
        is_holed = [column.is_missing.any() for column in table.columns]
        has_missing = np.array(is_holed, dtype=np.bool_)
        return dataclasses.replace(encoding, levels=found, has_missing=has_missing)

    return learn


def _commonest(column: Column, most: int, rare_share: float) -> dict[str, Any]:
    coded = levels.code_column(column)
    counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.levels))
    is_own = counts >= rare_share * len(coded.codes)
    is_own[np.argsort(-counts, kind="stable")[most:]] = False
    own = tuple(level for level, kept in zip(coded.levels, is_own, strict=True) if kept)
    return {"own": own, "has_rest": len(own) < len(coded.levels)}


def _no_means(of: levels.Levels) -> levels.Levels:
    return dataclasses.replace(of, known=(), means=np.zeros((0, 0), np.float32))


def without_means(way: Way) -> Way:
    """The same without means of the target."""

    def learn(table: Table, targets: NDArray[np.float64]) -> TableEncoding:
        encoding = way(table, targets)
        found = {column: _no_means(of) for column, of in encoding.levels.items()}
        return dataclasses.replace(encoding, levels=found)

    return learn


def one_of_two(way: Way) -> Way:
    """The same with one coordinate, not two, for a column of two levels."""

    def learn(table: Table, targets: NDArray[np.float64]) -> TableEncoding:
        encoding = way(table, targets)
        found = {
            column: dataclasses.replace(of, own=of.own[1:])
            if len(of.own) == 2 and not of.has_rest
            else of
            for column, of in encoding.levels.items()
        }
        return dataclasses.replace(encoding, levels=found)

    return learn


def filled(fill: str, *, flags: str) -> Way:
    """Other values for missing numbers, and a coordinate that tells them never or always."""

    def learn(table: Table, targets: NDArray[np.float64]) -> TableEncoding:
        encoding = learned()(table, targets)
        values = np.column_stack([column.numbers for column in table.columns])
        fills = {
            "mean": encoding.fill,
            "median": np.nanmedian(values, axis=0),
            "beyond": 1.5 * np.nanmin(values, axis=0) - 0.5 * np.nanmax(values, axis=0),
        }
        has_missing = np.isnan(values).any(axis=0) & (flags == "always")
        fill_values = fills[fill].astype(np.float32)
        return dataclasses.replace(encoding, fill=fill_values, has_missing=has_missing)

    return learn


DEFAULT = "the library's rule"
WAYS_OF_MIXED: dict[str, Way] = {
    DEFAULT: learned(),
    "up to 2 levels, else means": learned(most_levels=2),
    "up to 8 levels, else means": learned(most_levels=8),
    "means alone": commonest(0),
    "5 levels, then means too": commonest(5),
    "10 levels, then means too": commonest(10),
    "30 levels, then means too": commonest(30),
    "30 levels, none pooled": commonest(30, 0.0),
    "30 levels, below 0.5 % pooled": commonest(30, 0.005),
    "30 levels, below 1 % pooled": commonest(30, 0.01),
    "30 levels, below 2 % pooled": commonest(30, 0.02),
    "30 levels, one coordinate for two": one_of_two(commonest(30)),
}
WAYS_OF_BOOSTED: dict[str, Way] = {
    name: WAYS_OF_MIXED[name]
    for name in (
        DEFAULT,
        "up to 2 levels, else means",
        "means alone",
        "30 levels, then means too",
    )
}
WAYS_OF_MANY: dict[str, Way] = {
    DEFAULT: learned(),
    "10 levels and means": commonest(10),
    "30 levels and means": commonest(30),
    "30 levels, no means": without_means(commonest(30)),
    "100 levels, no means": without_means(commonest(100, 0.0)),
}
WAYS_OF_HOLES: dict[str, Way] = {
    DEFAULT: learned(),
    "mean, never a flag": filled("mean", flags="never"),
    "mean, always a flag": filled("mean", flags="always"),
    "median, always a flag": filled("median", flags="always"),
    "below all values, never a flag": filled("beyond", flags="never"),
    "below all values, always a flag": filled("beyond", flags="always"),
}
SMOOTHINGS = (1.0, 3.0, 30.0, 100.0)
GROUPS = {
    "mixed columns": (MIXED, WAYS_OF_MIXED),
    "mixed columns, gradient boosting": (MIXED, WAYS_OF_BOOSTED),
    "many levels": (MANY_LEVELS, WAYS_OF_MANY),
    "missing numbers": (WITH_HOLES, WAYS_OF_HOLES),
}


# --- measuring --------------------------------------------------------------------------------


def forests(group: str, is_regression: bool, seed: int) -> dict[str, Any]:
    """The small forests to judge by."""
    if group.endswith("gradient boosting"):
        boosting = TAOGradientBoostingClassifier(
            20, learning_rate=0.3, max_depth=4, max_sweeps=3, random_state=seed
        )
        return {"boosting": boosting}
    tao = TAOForestRegressor if is_regression else TAOForestClassifier
    greedy = GreedyForestRegressor if is_regression else GreedyForestClassifier
    return {
        "TAO": tao(5, max_depth=6, max_iter=8, random_state=seed),
        "greedy axis": greedy(20, random_state=seed),
        "greedy oblique": greedy(20, split="ridge", random_state=seed),
    }


def measure(group: str, task: Task, way: Way, seed: int) -> dict[str, dict[str, float]]:
    """Error and, of two classes, AUC of each forest, mean over the folds."""
    X, y = task
    is_regression = y.dtype.kind == "f"
    kind = KFold if is_regression else StratifiedKFold
    found: dict[str, list[dict[str, float]]] = {}
    for fit, held in kind(N_FOLDS, shuffle=True, random_state=seed).split(X, y):
        targets = y[fit][:, None] if is_regression else _indicators(y[fit])
        table, other = (read_table(X.iloc[rows], list(X.columns)) for rows in (fit, held))
        encoding = way(table, targets)
        A = encode_training(encoding, table, targets, np.ones(len(fit)))
        B = encoding.encode(other)
        for name, forest in forests(group, is_regression, seed).items():
            forest.fit(A, y[fit])
            found.setdefault(name, []).append(_judge(forest, B, y[held], is_regression))
    return {
        name: {key: float(np.mean([of[key] for of in each])) for key in each[0]}
        for name, each in found.items()
    }


def _indicators(codes: NDArray[Any]) -> NDArray[np.float64]:
    n_classes = int(codes.max()) + 1
    return np.equal(codes[:, None], np.arange(n_classes == 2, n_classes)).astype(np.float64)


def _judge(forest: Any, X: Any, y: NDArray[Any], is_regression: bool) -> dict[str, float]:
    if is_regression:
        return {"error": 100 * float(np.sqrt(np.mean((forest.predict(X) - y) ** 2)) / y.std())}
    judged = {"error": 100 * float(np.mean(forest.predict(X) != y))}
    if len(forest.classes_) == 2:
        judged["auc"] = 100 * float(roc_auc_score(y, forest.predict_proba(X)[:, 1]))
    return judged


def cells() -> Iterator[tuple[str, Callable[[], Task], Way]]:
    """Key, task and way of everything that is measured."""
    for group, (tasks, ways) in GROUPS.items():
        for task_name, task in tasks.items():
            for way_name, way in ways.items():
                yield f"{group}|{task_name}|{way_name}", task, way
    for rows in SMOOTHINGS:
        for group in ("many levels", "mixed columns"):
            for task_name, task in GROUPS[group][0].items():
                yield f"{group}|{task_name}|{smoothing_name(rows)}", task, smoothed(rows)


def smoothing_name(rows: float) -> str:
    return f"means smoothed by {rows:g} rows"


def smoothed(rows: float) -> Way:
    """The library's rule with another smoothing; `run` keeps it while rows are encoded."""

    def learn(table: Table, targets: NDArray[np.float64]) -> TableEncoding:
        levels.SMOOTHING_ROWS = rows
        return learned()(table, targets)

    return learn


def run(path: Path) -> dict[str, Any]:
    """Measure what is missing and keep every cell."""
    done: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    usual = levels.SMOOTHING_ROWS
    loaded: dict[Callable[[], Task], Task] = {}
    for key, task, way in cells():
        for seed in SEEDS:
            cell = f"{key}|{seed}"
            if cell in done:
                continue
            if task not in loaded:
                loaded = {task: task()}
            done[cell] = measure(key.split("|")[0], loaded[task], way, seed)
            levels.SMOOTHING_ROWS = usual
            part = path.with_suffix(".part")
            part.write_text(json.dumps(done, indent=1) + "\n")
            part.replace(path)
            print(cell, {name: round(of["error"], 2) for name, of in done[cell].items()})
    return done


# --- the page ---------------------------------------------------------------------------------


def page(done: dict[str, Any]) -> str:
    """A table a group: how far each way is from the library's rule."""
    lines = [
        "# Ways to encode columns",
        "",
        "`python benchmarks/encodings.py`; the rules that came of it are in "
        "[tables](../../docs/guide/tables.md).",
        "",
        f"2-fold cross-validation inside at most {N_ROWS} training rows, {len(SEEDS)} seeds, means "
        "over three forests: TAO (5 trees of depth 6), greedy axis-aligned and greedy oblique (20 "
        "trees each); where it is said, of gradient boosting (20 rounds). Errors in %: of "
        "classes, or RMSE over the deviation of the target. Other lines are differences to the "
        "first (less is better for errors, more for AUC), ± their standard error over the seeds.",
    ]
    for group in GROUPS:
        found = (key.split("|")[2] for key in done if key.startswith(f"{group}|"))
        ways = list(dict.fromkeys([DEFAULT, *found]))
        tasks = list(dict.fromkeys(k.split("|")[1] for k in done if k.startswith(f"{group}|")))
        lines += ["", f"## {group.capitalize()}", ""]
        columns = [
            (task, what)
            for task in tasks
            for what in ("error", "auc")
            if _has(done, group, task, what)
        ]
        heads = [f"{task}: {'AUC' if what == 'auc' else what}" for task, what in columns]
        lines += [f"| way | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
        for way in ways:
            shown = [_shown(done, group, task, way, what) for task, what in columns]
            lines.append(f"| {way} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _values(done: dict[str, Any], key: str, what: str) -> NDArray[np.float64]:
    """One value a seed, mean over the forests."""
    return np.array(
        [np.mean([of[what] for of in done[f"{key}|{seed}"].values()]) for seed in SEEDS]
    )


def _has(done: dict[str, Any], group: str, task: str, what: str) -> bool:
    return what in next(iter(done[f"{group}|{task}|{DEFAULT}|{SEEDS[0]}"].values()))


def _shown(done: dict[str, Any], group: str, task: str, way: str, what: str) -> str:
    base = _values(done, f"{group}|{task}|{DEFAULT}", what)
    if way == DEFAULT:
        return f"{base.mean():.2f}"
    if f"{group}|{task}|{way}|{SEEDS[-1]}" not in done:
        return "–"
    difference = _values(done, f"{group}|{task}|{way}", what) - base
    spread = difference.std(ddof=1) / np.sqrt(len(difference))
    return f"{difference.mean():+.2f} ± {spread:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report-only", action="store_true", help="measure nothing")
    options = parser.parse_args()
    path = RESULTS / "encodings.json"
    done = json.loads(path.read_text()) if options.report_only else run(path)
    (RESULTS / "encodings.md").write_text(page(done), encoding="utf-8")
    print(f"written: {RESULTS / 'encodings.md'}", file=sys.stderr)


if __name__ == "__main__":
    main()
