"""CO2 on Pendigits, judged on groups of similar training rows that were held out.

    python benchmarks/pendigits_groups.py

The test rows are of other writers than the training rows, and nothing says who wrote a row. Groups
that k-means finds within each class stand in for writers: five folds of them, 40 groups a class
and, with two seeds, 100. Test rows are never looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from datasets import load
from sklearn.cluster import KMeans

from spinney import CO2ForestClassifier

N_FOLDS = 5
CUTS = ((40, 0), (100, 0), (100, 1))
BEFORE = {"max_norm": 100.0, "max_samples": 1.0, "leaf_shrinkage": 3.0}
FEW_COLUMNS = {"scale": "deviation", "max_norm": 43.0, "max_features": 2}
JUDGED = {"max_samples": 0.8, "relabel_epochs": 50, "choice": "oob", "leaf_shrinkage": 1.0}
SETTINGS: dict[str, dict[str, Any]] = {
    "all rows, range": BEFORE,
    "all rows, deviation, q = 2": BEFORE | FEW_COLUMNS,
    "judged": FEW_COLUMNS | JUDGED,
    "judged, learning rate 0.1": FEW_COLUMNS | JUDGED | {"learning_rate": 0.1},
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


def error_on_groups(folds: Any, X: Any, y: Any, forest: CO2ForestClassifier, seed: int) -> float:
    """Errors in per cent of forests that have not seen the fold they are asked about."""
    n_wrong = 0
    for fold in range(N_FOLDS):
        seen = folds != fold
        forest.set_params(random_state=N_FOLDS * 2 * seed + fold).fit(X[seen], y[seen])
        n_wrong += int(np.sum(forest.predict(X[~seen]) != y[~seen]))
    return 100 * n_wrong / len(y)


def main() -> None:
    """Print a line for each setting: the errors of the three cuts, and their mean."""
    data = load("pendigits")
    X, y = np.asarray(data.X_train, dtype=np.float32), np.asarray(data.y_train)
    cuts = [folds_of_groups(X, y, n_groups, seed) for n_groups, seed in CUTS]
    for n_trees in (10, 30):
        for name, params in SETTINGS.items():
            forest = CO2ForestClassifier(n_trees, max_iter=100, bootstrap=False, **params)
            errors = [error_on_groups(cut, X, y, forest, k) for k, cut in enumerate(cuts)]
            cells = "  ".join(f"{error:.2f}" for error in errors)
            print(f"T={n_trees}  {name:28}  {cells}  mean {np.mean(errors):.2f}", flush=True)


if __name__ == "__main__":
    main()
