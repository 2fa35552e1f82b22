"""Choice of settings on rows held out of the training set; test rows are never looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from datasets import Dataset
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

# Far from the seeds of the measured fits.
TUNING_SEED = 90210


def tune_alpha(
    data: Dataset,
    alphas: Sequence[float],
    fit: Callable[[Dataset, float, int], Any],
    n_repeats: int = 1,
) -> dict[str, Any]:
    """The `alpha` with the lowest mean error on 20 % of the training rows.

    `fit(data, alpha, seed)` gives an estimator fitted on the training rows of `data`. Each of
    the `n_repeats` repeats has its own split and seed.
    """
    errors = {alpha: [] for alpha in alphas}
    for repeat in range(n_repeats):
        seed = TUNING_SEED + repeat
        part = hold_out(data, seed)
        for alpha in alphas:
            predicted = fit(part, alpha, seed).predict(part.X_test)
            errors[alpha].append(100 * float(np.mean(predicted != part.y_test)))
    means = {alpha: float(np.mean(found)) for alpha, found in errors.items()}
    best = min(means, key=lambda alpha: means[alpha])
    return {"alpha": best, "validation_errors": {str(a): e for a, e in means.items()}}


def hold_out(data: Dataset, seed: int, max_rows: int | None = None) -> Dataset:
    """Training rows only, cut 80/20 with the classes in proportion.

    Of more than `max_rows` training rows, that many are drawn first.
    """
    X, y = data.X_train, data.y_train
    if max_rows is not None and len(y) > max_rows:
        kept = _draw(y, max_rows, data.is_regression, seed)
        X, y = _safe_indexing(X, kept), y[kept]
    strata = None if data.is_regression else y
    X_fit, X_held, y_fit, y_held = train_test_split(
        X, y, test_size=0.2, stratify=strata, random_state=seed
    )
    return Dataset(data.name, X_fit, y_fit, X_held, y_held, f"{data.source}, held out")


def _draw(y: Any, n_rows: int, is_regression: bool, seed: int) -> Any:
    strata = None if is_regression else y
    rows = np.arange(len(y))
    return train_test_split(rows, train_size=n_rows, stratify=strata, random_state=seed)[0]


def configurations(grid: dict[str, list[Any]] | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every combination of the grid's values; a list of combinations stays as it is."""
    if isinstance(grid, list):
        return grid
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
