"""Class probabilities from totals over trees, row by row.

References
----------
.. [1] Duchi, Shalev-Shwartz, Singer and Chandra, "Efficient projections onto the l1-ball for
   learning in high dimensions", ICML 2008, figure 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney import _core


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax of each row, by the core: libm's exp differs between machines."""
    return _core.softmax(np.ascontiguousarray(scores))


def power_shares(votes: NDArray[np.float64], shift: float, slope: float) -> NDArray[np.float64]:
    """Powers of votes, of which each gets some more, divided by their sum in each row."""
    return _core.power_shares(np.ascontiguousarray(votes), shift, slope)


def vote_shares(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Votes of each row, divided by their sum."""
    return votes / _row_sums(votes)


def nearest_shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities nearest to the scores of each row: some constant less, and at least zero.

    The projection onto the simplex ([1]_). The order of the classes stays, so the most probable
    class is the one with the largest score.
    """
    scores = scores - scores.max(axis=1, keepdims=True)  # huge scores would swallow the one
    ordered = -np.sort(-scores, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    counts = np.arange(1, scores.shape[1] + 1)
    # rho of [1]: the largest j whose score is above (the sum of the j largest scores - 1) / j.
    n_positive = np.count_nonzero(ordered * counts > excess, axis=1)
    rows = np.arange(len(scores))
    threshold = excess[rows, n_positive - 1] / n_positive  # theta of [1]
    shares = np.maximum(scores - threshold[:, None], 0.0)
    # The sum is 1 but for rounding, which is divided out.
    return np.asarray(shares / _row_sums(shares))


def _row_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of each row from left to right, as exported code adds: numpy's own goes in pairs."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1:])
