"""Turn ``class_weight`` into one factor per class.

The factors multiply the sample weights. "balanced" counts weighted rows, so that a row of
weight k still equals the row repeated k times and a row of weight 0 equals a missing row.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def class_factors(
    class_weight: object,
    classes: NDArray[np.generic],
    codes: NDArray[np.int32],
    sample_weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weight factor of each class, in the order of `classes`.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping {class: factor}
        Classes that a mapping leaves out get the factor 1.
    classes : ndarray of shape (n_classes,)
        Class labels.
    codes : int32 ndarray of shape (n_rows,)
        Position of each row's label in `classes`.
    sample_weight : float64 ndarray of shape (n_rows,)

    Returns
    -------
    float64 ndarray of shape (n_classes,)
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        return _factors_from_mapping(class_weight, classes)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return _balanced_factors(len(classes), codes, sample_weight)
    kind = ValueError if isinstance(class_weight, str) else TypeError
    raise kind(
        f'class_weight={class_weight!r} is not known; give None, "balanced" or a dict from class '
        'to weight; try class_weight="balanced".'
    )


def check_some_weight(class_weight: object, weights: NDArray[np.float64]) -> None:
    """Raise if `class_weight` took the weight of every row that had one."""
    if not weights.any():
        raise ValueError(
            f"class_weight={class_weight!r} leaves no row a weight; give a factor > 0 to a class "
            "that has rows of weight > 0; try class_weight=None."
        )


def _balanced_factors(
    n_classes: int, codes: NDArray[np.int32], sample_weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Factors that give every class present the same total weight."""
    totals = np.bincount(codes, weights=sample_weight, minlength=n_classes)
    is_present = totals > 0
    factors = np.ones(n_classes)
    factors[is_present] = totals.sum() / (is_present.sum() * totals[is_present])
    return factors


def _factors_from_mapping(
    class_weight: Mapping[object, object], classes: NDArray[np.generic]
) -> NDArray[np.float64]:
    """Factors read from a mapping, each checked."""
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    missing = [label for label in labels if label not in class_weight]
    # Unknown labels alone are fine: a fold of the data may lack a class. With some class left
    # out as well, a misspelt label is the likely cause.
    if unknown and missing:
        raise ValueError(
            f"class_weight names {unknown!r}, which y does not hold; accepted are the classes "
            f"{labels!r}; try correcting the label."
        )
    for label, factor in class_weight.items():
        _check_factor(label, factor)
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])  # type: ignore[arg-type]


def _check_factor(label: object, factor: object) -> None:
    """Raise unless the factor is a finite number >= 0."""
    accepted = "give a finite number >= 0; try 1.0, or 0 to leave the class out."
    if isinstance(factor, (bool, np.bool_)) or not isinstance(factor, numbers.Real):
        raise TypeError(
            f"class_weight[{label!r}]={factor!r} is of type {type(factor).__name__}; {accepted}"
        )
    if not math.isfinite(factor) or factor < 0:
        raise ValueError(f"class_weight[{label!r}]={factor!r} is not a weight; {accepted}")
