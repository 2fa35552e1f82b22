"""Choice of `alpha` on rows held out of the training set; test rows are never looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from datasets import Dataset
from sklearn.model_selection import train_test_split

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


def hold_out(data: Dataset, seed: int) -> Dataset:
    """Training rows only, cut 80/20 with the classes in proportion."""
    X_fit, X_held, y_fit, y_held = train_test_split(
        data.X_train, data.y_train, test_size=0.2, stratify=data.y_train, random_state=seed
    )
    return Dataset(data.name, X_fit, y_fit, X_held, y_held, f"{data.source}, held out")
