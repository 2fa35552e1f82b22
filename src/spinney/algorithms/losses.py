"""Losses of a forest whose trees add up: what is wanted of the sum, and what a sum costs.

Each loss is a function of ``wanted`` and of the scores that the trees give together. The joint
step over all leaves sees it through a quadratic bound: ``curvature * |aim - scores|**2`` plus a
constant, equal to the loss at the present scores and never below it. The least value of the bound
is found by a ridge or Lasso regression, and can only lower the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

Array = NDArray[np.float64]

#: Rows of one step of SciPy; longer ones would keep Ctrl-C waiting.
ROWS_AT_ONCE = 1 << 17

#: Least share of a class that trees begin with.
LEAST_SHARE = 1e-6


@dataclass(frozen=True)
class ForestLoss:
    """Loss of the summed scores of a row, by name.

    Attributes
    ----------
    name : str
        "squared_error", "absolute_error" or "huber" of real targets; "squared_error" (on one-hot
        targets), "squared_hinge" or "log_loss" of classes.
    delta : float
        Where Huber's loss becomes linear.
    """

    name: str
    delta: float = 1.0

    def wanted(self, codes: NDArray[np.int32], n_classes: int) -> Array:
        """Scores wanted of rows with these classes: one for their own class, zero for others.

        The cross-entropy wants no fixed scores; zeros leave its scores as they are.
        """
        wanted = np.zeros((len(codes), n_classes))
        if self.name != "log_loss":
            wanted[np.arange(len(codes)), codes] = 1.0
        return wanted

    def total(
        self, wanted: Array, scores: Array, codes: NDArray[np.int32], weights: Array
    ) -> float:
        """Weighted sum of the losses of all rows."""
        return float(weights @ self._of_rows(wanted, scores, codes))

    def _of_rows(self, wanted: Array, scores: Array, codes: NDArray[np.int32]) -> Array:
        if self.name == "log_loss":
            return _of_each_row(logsumexp, scores) - scores[np.arange(len(codes)), codes]
        if self.name == "squared_hinge":
            wanted = self.aim(wanted, scores, codes)
        size = np.abs(wanted - scores)
        if self.name == "absolute_error":
            of_scores = size
        elif self.name == "huber":
            linear = self.delta * (size - 0.5 * self.delta)
            of_scores = np.where(size <= self.delta, 0.5 * size**2, linear)
        else:
            of_scores = size**2
        return np.asarray(of_scores.sum(axis=1))

    @property
    def curvature(self) -> float | None:
        """Factor of the quadratic bound; None if there is none that is of use.

        The absolute loss has none. Huber's is so flat far from its target that a step on its bound
        could not go further than `delta`.
        """
        bounds = {"squared_error": 1.0, "squared_hinge": 1.0, "log_loss": 0.25}
        return bounds.get(self.name)

    def aim(self, wanted: Array, scores: Array, codes: NDArray[np.int32]) -> Array:
        """Scores at which the quadratic bound at the present `scores` is least."""
        if self.name == "squared_hinge":
            # A score beyond what is wanted, on the right side, is as good as one that is there.
            aim = np.minimum(wanted, scores)
            rows = np.arange(len(codes))
            aim[rows, codes] = np.maximum(wanted[rows, codes], scores[rows, codes])
            return aim
        if self.name == "log_loss":
            # The curvature is at most 1/2 in each score (Böhning, 1992).
            slope = _of_each_row(softmax, scores)
            slope[np.arange(len(codes)), codes] -= 1.0
            return np.asarray(scores - 2.0 * slope)
        return wanted

    @property
    def bound(self) -> float:
        """Curvature of a quadratic through the present scores that is never below the loss.

        For the absolute loss, which has none, that of Huber's with a width of 1.
        """
        return 0.5 if self.curvature is None else self.curvature

    def downhill(self, wanted: Array, scores: Array, codes: NDArray[np.int32]) -> Array:
        """Negative gradient of the loss by the scores, in units of twice the `bound`."""
        if self.name == "absolute_error":
            return np.asarray(np.sign(wanted - scores))
        if self.name == "huber":
            return np.asarray(np.clip(wanted - scores, -self.delta, self.delta))
        return np.asarray(self.aim(wanted, scores, codes) - scores)

    def best_constant(self, wanted: Array, codes: NDArray[np.int32], weights: Array) -> Array:
        """The same scores for all rows, of low loss: to begin with."""
        if self.name == "log_loss":
            counts = np.bincount(codes, weights=weights, minlength=wanted.shape[1])
            # A class whose rows all have weight 0 is unlikely, not impossible.
            return np.asarray(np.log(np.maximum(counts / counts.sum(), LEAST_SHARE)))
        if self.name in ("absolute_error", "huber"):
            return np.array([weighted_median(column, weights) for column in wanted.T])
        return np.asarray(np.average(wanted, axis=0, weights=weights))

    @property
    def n_rounds(self) -> int:
        """Bounds minimised in one joint step; the bound of a squared loss is the loss itself."""
        return {"squared_error": 1, "squared_hinge": 4}.get(self.name, 8)


def _of_each_row(function: Callable[..., Array], scores: Array) -> Array:
    """A function of the scores of each row, by pieces."""
    firsts = range(0, max(len(scores), 1), ROWS_AT_ONCE)
    return np.concatenate([function(scores[row : row + ROWS_AT_ONCE], axis=1) for row in firsts])


def weighted_median(values: Array, weights: Array) -> float:
    """Least value that has half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, 0.5 * reached[-1])])
