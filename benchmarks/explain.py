"""How long explanations take, and how far changes for forests are from the least.

    python benchmarks/explain.py

Generated data: one in the shape of Letter (16 columns, 26 classes), and small ones for which every
combination of leaves can be searched. Prints Markdown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import mean, median
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from spinney import (
    FAOForestClassifier,
    TAOForestClassifier,
    TAOTreeClassifier,
    explain,
    nearest_change,
)
from spinney.inspection.explanations import proof

N_TRAIN = 5000


def main() -> None:
    X, y = _data(6000, 16, 26)
    train, test = X[:N_TRAIN], X[N_TRAIN:]
    tree = TAOTreeClassifier(max_depth=8, random_state=0).fit(train, y[:N_TRAIN])
    forest = TAOForestClassifier(30, max_depth=6, max_iter=3, random_state=0)
    forest.fit(train, y[:N_TRAIN])
    print("| model | question | ms, median | ms, largest | proven |")
    print("|---|---|---|---|---|")
    for name, model, n_rows in (
        (f"tree, {tree.get_n_leaves()} leaves", tree, 40),
        ("30 trees", forest, 10),
    ):
        print(f"| {name} | explain | {_time_explain(model, test[:n_rows])} | |")
        for question, options in QUESTIONS.items():
            print(f"| {name} | {question} | {_time_change(model, test[:n_rows], train, options)} |")
    print("\n| small forest | rows | mean gap % | largest gap % | proven least by default |")
    print("|---|---|---|---|---|")
    for name, model, rows in _small_forests():
        print(f"| {name} | {len(rows)} | {_gaps(model, rows)} |")


QUESTIONS: dict[str, dict[str, Any]] = {
    "any other class": {},
    "a given class": {"target": 3},
    "any other class, l1": {"norm": "l1"},
    "any other class, at most 2 columns": {"max_changes": 2},
    "any other class, within the data": {"bounds": "data"},
}


def _data(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=n_columns,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    return X.astype(np.float32), y


def _time_explain(model: Any, rows: np.ndarray) -> str:
    times = [_timed(lambda x=x: explain(model, x))[0] for x in rows]
    return f"{median(times):.1f} | {max(times):.1f}"


def _time_change(model: Any, rows: np.ndarray, data: np.ndarray, options: dict[str, Any]) -> str:
    told = [_timed(lambda x=x: nearest_change(model, x, data=data, **options)) for x in rows]
    times, changes = zip(*told, strict=True)
    assert all(change.is_found for change in changes)
    n_exact = sum(change.is_exact for change in changes)
    return f"{median(times):.0f} | {max(times):.0f} | {n_exact} of {len(rows)}"


def _timed(call: Any) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = call()
    return 1e3 * (time.perf_counter() - begin), result


def _small_forests() -> Iterator[tuple[str, Any, np.ndarray]]:
    options = {"max_depth": 3, "random_state": 0}
    for n_columns, n_classes in ((2, 2), (4, 3), (8, 3)):
        X, y = _data(400, n_columns, n_classes)
        voting = TAOForestClassifier(7, bootstrap=True, voting="hard", **options).fit(X, y)
        yield f"7 trees that vote, {n_columns} columns", voting, X[:25]
        summed = FAOForestClassifier(1, 7, **options).fit(X, y)
        yield f"7 trees that add up, {n_columns} columns", summed, X[:25]


def _gaps(model: Any, rows: np.ndarray) -> str:
    """How much longer changes are that are found without the proof than the proven least."""
    usual = proof.MOST_PROGRAMMES
    n_exact = sum(nearest_change(model, x, scale=1.0).is_exact for x in rows)
    gaps = []
    for x in rows:
        proof.MOST_PROGRAMMES = 10**9
        least = nearest_change(model, x, scale=1.0, budget=600.0)
        assert least.is_exact
        proof.MOST_PROGRAMMES = -1
        gaps.append(100 * (nearest_change(model, x, scale=1.0).cost / least.cost - 1))
    proof.MOST_PROGRAMMES = usual
    return f"{mean(gaps):.2f} | {max(gaps):.2f} | {n_exact} of {len(rows)}"


if __name__ == "__main__":
    main()
