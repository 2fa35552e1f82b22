"""Share of the importances that goes to columns of noise, for every estimator's defaults.

    python benchmarks/importances.py               measure what is missing, then write the page
    python benchmarks/importances.py --report-only only the page
    python benchmarks/importances.py --seeds 0     some of the seeds

Tables are made up, or bundled with scikit-learn and given permuted copies of all their columns.
LightGBM and random forests have their defaults, too; theirs are importances by gain, and by the
decrease of impurity. Cells are kept in ``results/importances.json``, so that a run that was
stopped goes on where it stopped. The page is ``results/importances.md``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import spinney
from spinney.tree.gains import GainImportances

RESULTS = Path(__file__).resolve().parent / "results"
SEEDS, N_ROWS = (0, 1, 2), 1000

Floats = NDArray[np.float64]
Table = tuple[Floats, NDArray[Any], NDArray[np.bool_]]
Cell = dict[str, float]


def two_of_twelve(seed: int) -> Table:
    """Numbers that follow two columns, with noise; ten columns mean nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 12))
    y = X[:, 0] + 0.7 * X[:, 1] + 0.8 * rng.normal(size=N_ROWS)
    return X, y, np.arange(12) >= 2


def friedman(seed: int) -> Table:
    """Friedman's first function of five columns, and ten more."""
    X, y = make_friedman1(N_ROWS, n_features=15, noise=1.0, random_state=seed)
    return X, y, np.arange(15) >= 5


def four_of_twenty(seed: int) -> Table:
    """Three classes in four columns, and sixteen more."""
    X, y = make_classification(
        N_ROWS,
        n_features=20,
        n_informative=4,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        flip_y=0.05,
        shuffle=False,
        random_state=seed,
    )
    return X, y, np.arange(20) >= 4


def halves(table: Callable[[int], Table]) -> Callable[[int], Table]:
    """Whether the number is above its median."""

    def of(seed: int) -> Table:
        X, y, is_noise = table(seed)
        return X, (y > np.median(y)).astype(int), is_noise

    return of


def with_copies(load: Callable[..., Any]) -> Callable[[int], Table]:
    """A real table, and a permuted copy of each of its columns."""

    def of(seed: int) -> Table:
        X, y = load(return_X_y=True)
        rng = np.random.default_rng(seed)
        copies = np.column_stack([rng.permutation(column) for column in X.T])
        return np.hstack([X, copies]), y, np.arange(2 * X.shape[1]) >= X.shape[1]

    return of


CLASSES = {
    "two of 12": halves(two_of_twelve),
    "Friedman + 10": halves(friedman),
    "four of 20": four_of_twenty,
    "breast cancer + copies": with_copies(load_breast_cancer),
    "wine + copies": with_copies(load_wine),
}
NUMBERS = {
    "two of 12": two_of_twelve,
    "Friedman + 10": friedman,
    "diabetes + copies": with_copies(load_diabetes),
}
PEERS = {
    "LightGBM": (
        lightgbm.LGBMClassifier(importance_type="gain", n_jobs=1, verbose=-1),
        lightgbm.LGBMRegressor(importance_type="gain", n_jobs=1, verbose=-1),
    ),
    "random forest": (RandomForestClassifier(), RandomForestRegressor()),
}
OURS: dict[str, tuple[Any, Any]] = {
    "TAOTree": (spinney.TAOTreeClassifier(), spinney.TAOTreeRegressor()),
    "TAOForest": (spinney.TAOForestClassifier(), spinney.TAOForestRegressor()),
    "TAOBoost": (spinney.TAOBoostClassifier(), None),
    "TAOGradientBoosting": (
        spinney.TAOGradientBoostingClassifier(),
        spinney.TAOGradientBoostingRegressor(),
    ),
    "FAOForest": (spinney.FAOForestClassifier(), spinney.FAOForestRegressor()),
    "CO2Tree": (spinney.CO2TreeClassifier(), spinney.CO2TreeRegressor()),
    "CO2Forest": (spinney.CO2ForestClassifier(), spinney.CO2ForestRegressor()),
    "RandomDecisionForest": (spinney.RandomDecisionForestClassifier(), None),
    "GreedyForest": (spinney.GreedyForestClassifier(), spinney.GreedyForestRegressor()),
}


class Clock:
    """Seconds spent on gains, while it watches."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._add = GainImportances.add

    def __enter__(self) -> Clock:
        def add(importances: GainImportances, *given: Any) -> None:
            began = time.process_time()
            self._add(importances, *given)
            self.seconds += time.process_time() - began

        GainImportances.add = add  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        GainImportances.add = self._add  # type: ignore[method-assign]


def noise_share(importances: Floats, is_noise: NDArray[np.bool_]) -> float:
    """Percent of the importances that noise gets."""
    return 100 * float(importances[is_noise].sum() / importances.sum())


def run_cell(model: BaseEstimator, table: Table, seed: int) -> Cell:
    """Shares of noise by gain and, for ours, by weight; percent of the fit that gains take."""
    X, y, is_noise = table
    model = clone(model).set_params(random_state=seed)
    if "calibrate" in model.get_params():
        model.set_params(calibrate=False)  # so that the fit is the trees alone
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore")
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    found = {"gain": noise_share(model.feature_importances_, is_noise)}
    if isinstance(model, spinney.estimators.model.Model):
        model.set_params(importance_type="weight").fit(X, y)
        found["weight"] = noise_share(model.feature_importances_, is_noise)
        found["percent of fit"] = 100 * clock.seconds / seconds
        found["seconds"] = seconds
    return found


def measure(path: Path, seeds: tuple[int, ...]) -> dict[str, Cell]:
    """All cells, measured now or before."""
    cells: dict[str, Cell] = json.loads(path.read_text()) if path.exists() else {}
    for seed in seeds:
        for kind, tables in enumerate((CLASSES, NUMBERS)):
            for table, make in tables.items():
                for name, models in (PEERS | OURS).items():
                    key = f"{KINDS[kind]}|{table}|{name}|{seed}"
                    if key not in cells and models[kind] is not None:
                        cells[key] = run_cell(models[kind], make(seed), seed)
                        shown = {what: round(value, 2) for what, value in cells[key].items()}
                        print(key, shown, flush=True)
                path.write_text(json.dumps(cells, indent=0))
    return cells


KINDS = ("classes", "numbers")


def mean_of(cells: dict[str, Cell], kind: str, table: str, name: str, what: str) -> float:
    """Mean over the seeds that are there; nan if none is."""
    keys = [f"{kind}|{table}|{name}|{seed}" for seed in SEEDS]
    found = [cells[key][what] for key in keys if key in cells and what in cells[key]]
    return float(np.mean(found)) if found else float("nan")


def table_of(cells: dict[str, Cell], names: list[str], what: str, digits: int) -> list[str]:
    """Lines of a table, one model a line."""
    columns = [
        (kind, table) for kind, of in zip(KINDS, (CLASSES, NUMBERS), strict=True) for table in of
    ]
    lines = ["| model | " + " | ".join(f"{table}, {kind}" for kind, table in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for name in names:
        values = [mean_of(cells, *column, name, what) for column in columns]
        shown = ["–" if np.isnan(value) else f"{value:.{digits}f}" for value in values]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return lines


def write_page(cells: dict[str, Cell], path: Path) -> None:
    """Shares of noise by gain and by weight, what gains cost, and where LightGBM has less noise."""
    lines = ["# Importances of noise", "", "`python benchmarks/importances.py`", ""]
    lines += ["Percent of the importances that columns of noise get, by gain.", ""]
    lines += table_of(cells, [*PEERS, *OURS], "gain", 1)
    lines += ["", 'The same with `importance_type="weight"`.', ""]
    lines += table_of(cells, list(OURS), "weight", 1)
    lines += ["", "CPU time of gains, in percent of the fit without `calibrate`.", ""]
    lines += table_of(cells, list(OURS), "percent of fit", 1)
    lines += ["", "CPU seconds of that fit.", ""]
    lines += table_of(cells, list(OURS), "seconds", 2)
    worse = [
        f"{name} on {table}, {kind}"
        for kind, tables in zip(KINDS, (CLASSES, NUMBERS), strict=True)
        for table in tables
        for name in OURS
        if mean_of(cells, kind, table, name, "gain")
        > mean_of(cells, kind, table, "LightGBM", "gain")
    ]
    lines += ["", f"More noise than LightGBM: {', '.join(worse) or 'nowhere'}."]
    n_cells = {seed: sum(key.endswith(f"|{seed}") for key in cells) for seed in SEEDS}
    lines += ["", f"Cells by seed: {n_cells}. Means over the seeds that are there.", ""]
    path.write_text("\n".join(lines))
    print("\n".join(lines))


def main() -> None:
    """Measure, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    arguments = parser.parse_args()
    path = RESULTS / "importances.json"
    given = tuple(arguments.seeds)
    cells = json.loads(path.read_text()) if arguments.report_only else measure(path, given)
    write_page(cells, RESULTS / "importances.md")


if __name__ == "__main__":
    main()
