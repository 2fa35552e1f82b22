"""CO2 on Pendigits, judged on training rows that were held out because they are alike.

    python benchmarks/pendigits_groups.py

The test rows are of other writers than the training rows, and nothing says who wrote a row. Two
things stand in for writers. Groups that k-means finds within each class: five folds of them, 40
groups a class and, with two seeds, 100. And styles: random directions of the deviations from the
means of the classes, each of which holds out the fifth of the rows of every class that goes
farthest. Test rows are never looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from datasets import load
from sklearn.cluster import KMeans

from spinney import CO2ForestClassifier

N_FOLDS = 5
SHARE_OF_STYLE = 0.2
CUTS = ((40, 0), (100, 0), (100, 1))
STYLES = ((12, 0), (16, 1))
BEFORE = {"max_norm": 100.0, "max_samples": 1.0, "leaf_shrinkage": 3.0}
FEW_COLUMNS = {"scale": "deviation", "max_norm": 43.0, "max_features": 2}
JUDGED = {"max_samples": 0.8, "relabel_epochs": 50, "choice": "oob", "leaf_shrinkage": 1.0}
SETTINGS: dict[str, dict[str, Any]] = {
    "all rows, range": BEFORE,
    "all rows, deviation, q = 2": BEFORE | FEW_COLUMNS,
    "judged": FEW_COLUMNS | JUDGED,
    "judged, learning rate 0.1": FEW_COLUMNS | JUDGED | {"learning_rate": 0.1},
    "all rows, relabelled": FEW_COLUMNS
    | {"max_samples": 1.0, "relabel_epochs": 50, "learning_rate": 0.1, "max_norm": 20.0},
}


def folds_of_groups(X: Any, y: Any, n_groups: int, seed: int) -> Any:
    """The fold of each row; rows of a group are in the same one, and folds have equally many."""
    random = np.random.RandomState(seed)
    folds = np.zeros(len(y), dtype=int)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        groups = KMeans(n_groups, n_init=3, random_state=seed).fit_predict(X[rows])
        drawn = [random.permutation(N_FOLDS) for _ in range(n_groups // N_FOLDS)]
        folds[rows] = np.concatenate(drawn)[groups]
    return folds


def seen_in_styles(X: Any, y: Any, n_styles: int, seed: int) -> list[Any]:
    """For each style, which rows are seen: all but those of every class that have most of it."""
    random = np.random.RandomState(seed)
    deviations = np.array(X, dtype=float)
    for label in np.unique(y):
        deviations[y == label] -= deviations[y == label].mean(axis=0)
    factor = np.linalg.cholesky(np.cov(deviations.T))
    styles = []
    for _ in range(n_styles):
        # Directions are drawn where deviations are as large in each: no column is preferred.
        amount = deviations @ np.linalg.solve(factor.T, random.randn(len(factor)))
        seen = np.ones(len(y), dtype=bool)
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            most = np.argsort(-amount[rows], kind="stable")[: int(SHARE_OF_STYLE * len(rows))]
            seen[rows[most]] = False
        styles.append(seen)
    return styles


def error_on_unseen(
    cut: list[Any], X: Any, y: Any, forest: CO2ForestClassifier, seed: int
) -> float:
    """Errors in per cent of forests on the rows that they have not seen."""
    n_wrong = n_unseen = 0
    for part, seen in enumerate(cut):
        forest.set_params(random_state=N_FOLDS * 2 * seed + part).fit(X[seen], y[seen])
        n_wrong += int(np.sum(forest.predict(X[~seen]) != y[~seen]))
        n_unseen += int(np.sum(~seen))
    return 100 * n_wrong / n_unseen


def main() -> None:
    """Print a line for each setting: the errors of the cuts into groups, their mean, of styles."""
    data = load("pendigits")
    X, y = np.asarray(data.X_train, dtype=np.float32), np.asarray(data.y_train)
    folds = [folds_of_groups(X, y, n_groups, seed) for n_groups, seed in CUTS]
    cuts = [[fold != k for k in range(N_FOLDS)] for fold in folds]
    styles = [seen for n_styles, seed in STYLES for seen in seen_in_styles(X, y, n_styles, seed)]
    for n_trees in (10, 30):
        for name, params in SETTINGS.items():
            forest = CO2ForestClassifier(n_trees, max_epochs=100, bootstrap=False, **params)
            errors = [error_on_unseen(cut, X, y, forest, k) for k, cut in enumerate(cuts)]
            cells = "  ".join(f"{error:.2f}" for error in errors)
            styled = error_on_unseen(styles, X, y, forest, len(cuts))
            print(
                f"T={n_trees}  {name:28}  {cells}  mean {np.mean(errors):.2f}  styles {styled:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
