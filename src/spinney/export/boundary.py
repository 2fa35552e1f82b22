"""The rule of the boundary in the numbers that other programs compare with.

A row goes right at a split if ``w . x + bias >= 0``. The core forms ``w . x`` in float32 and adds
the bias in float64. The sum of two floats has the sign of the exact sum, so the same rule in
float32 alone is ``w . x >= t`` with the smallest float32 ``t`` that is not below ``-bias``. See
docs/guide/export.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST = np.finfo(np.float32).max


def sum_thresholds(bias: NDArray[np.float64]) -> NDArray[np.float32]:
    """Smallest float32 that ``w . x`` must reach for a row to go right; inf if none is enough."""
    wanted = -bias
    with np.errstate(over="ignore", under="ignore"):
        nearest = wanted.astype(np.float32)
        above = np.nextafter(nearest, np.float32(np.inf))
    return np.where(nearest >= wanted, nearest, above).astype(np.float32)


def axis_thresholds(
    weights: NDArray[np.float32], bias: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Where splits of one weight cut their column.

    Parameters
    ----------
    weights : float32 ndarray of shape (n_splits,)
        The weight of each split, 0 if it has none.
    bias : float64 ndarray of shape (n_splits,)

    Returns
    -------
    cuts : float32 ndarray of shape (n_splits,)
        First value of the column that goes right, in the direction of the weight; infinite where
        no finite value does.
    is_right_above : bool ndarray of shape (n_splits,)
        Whether ``x >= cut`` goes right, as for weights >= 0; else ``x <= cut`` does.
    """
    limits = sum_thresholds(bias)
    is_right_above = weights >= 0
    sign = np.where(is_right_above, np.float32(1), np.float32(-1))
    low = _order(np.full(len(weights), -LARGEST, dtype=np.float32))
    high = _order(np.full(len(weights), np.inf, dtype=np.float32))  # as if infinity went right
    while (low < high).any():
        middle = (low + high) >> 1
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            is_right = weights * (sign * _value(middle)) >= limits
        high = np.where(is_right, middle, high)
        low = np.where(is_right, low, np.minimum(middle + 1, high))
    return sign * _value(high), is_right_above


def _order(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Whole numbers in the order of the floats, without gaps; both zeros are 0."""
    bits = values.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _value(order: NDArray[np.int64]) -> NDArray[np.float32]:
    bits = np.abs(order).astype(np.int32).view(np.float32)
    return np.where(order < 0, -bits, bits).astype(np.float32)
