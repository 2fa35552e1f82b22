"""Rows whose best classes have equally many votes, and what they are called.

Ho rejects such rows ("Random Decision Forests", ICDAR 1995, section 5).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE_MARGIN = 1e-12
"""Share of the largest vote within which another counts as equal: sums are rounded."""


def is_tied(votes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether more than one class has the most votes, up to the rounding of their sums."""
    least = (1 - TIE_MARGIN) * votes.max(axis=1, keepdims=True)
    tied: NDArray[np.bool_] = (votes >= least).sum(axis=1) > 1
    return tied


def with_rejects(labels: NDArray[Any], is_rejected: NDArray[np.bool_], label: Any) -> NDArray[Any]:
    """Labels with another one for rejected rows; objects if it is of another kind."""
    given = np.asarray(label)
    is_number = [array.dtype.kind in "biuf" for array in (labels, given)]
    is_alike = labels.dtype.kind == given.dtype.kind or all(is_number)
    mixed: NDArray[Any] = labels.astype(np.result_type(labels, given) if is_alike else object)
    mixed[is_rejected] = label
    return mixed
