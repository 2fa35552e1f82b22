"""Rows to choose settings by: trained on some, judged on others, never on test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state

from spinney.data.checks import check_share
from spinney.data.validation import check_sample_weight


@dataclass(frozen=True)
class HeldOut:
    """Two parts of the training rows; `X` and `y` may be arrays, frames or sparse matrices."""

    X_fit: Any
    y_fit: Any
    weights: NDArray[np.float64]
    X_held: Any
    y_held: Any
    weights_held: NDArray[np.float64]


def hold_out(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    fraction: float,
) -> HeldOut:
    """Set a share of the weighted rows aside, by `random_state`, classes in proportion."""
    check_share("validation_fraction", fraction, example="0.2")
    weights = check_sample_weight(sample_weight, np.shape(X)[0])
    used = np.flatnonzero(weights)
    fit_rows, held_rows = train_test_split(
        used,
        test_size=fraction,
        stratify=_safe_indexing(y, used) if is_classifier(estimator) else None,
        random_state=check_random_state(estimator.random_state),
    )
    return HeldOut(
        _safe_indexing(X, fit_rows),
        _safe_indexing(y, fit_rows),
        weights[fit_rows],
        _safe_indexing(X, held_rows),
        _safe_indexing(y, held_rows),
        weights[held_rows],
    )


def not_empty(name: str, values: list[Any]) -> list[Any]:
    """The values to try; raises if there are none."""
    if not values:
        raise ValueError(f"{name} is empty; give at least one value; try {name}=None.")
    return values
