"""What a sum of trees can be fitted to: one class a loss.

A forest whose trees add up gives each row scores F(x), one an output, and its loss is the L of
[1]_ eq. (2). A class here says what a row loses, which way is downhill from given scores, and
which constant to begin with. Most losses also have a quadratic bound, through which the step over
all leaves sees them ([1]_ eq. 6): see :class:`BoundedLoss`. What a single tree is to lose in one of
its leaves is known to the core alone, by the same names.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
.. [2] Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35,
   1964.
.. [3] Böhning, "Multinomial logistic regression algorithm", Annals of the Institute of Statistical
   Mathematics 44, 1992.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

#: Rows of one step of SciPy or NumPy; longer ones would keep Ctrl-C waiting.
ROWS_AT_ONCE = 1 << 17

#: Least share of a class that trees begin with.
LEAST_SHARE = 1e-6


class ForestLoss(ABC):
    """What a loss of the summed scores of a row has to say.

    Everywhere `wanted` and `scores` are float64[n_rows, n_outputs], `codes` is int32[n_rows], the
    class of each row, empty where targets are numbers, and `weights` is float64[n_rows].

    Attributes
    ----------
    name : str
        The word by which users and the core know it.
    curvature : float
        The c of the quadratic ``c * |aim - scores|**2`` by which a step from given scores sees the
        loss, up to a constant.
    n_rounds : int
        Fits in one step over all leaves: each is the least value of such a quadratic, after which
        the next one is taken through the new scores.
    ignores_shifts : bool
        Whether the same number added to all scores of a row changes nothing.
    """

    name: ClassVar[str]
    curvature: ClassVar[float]
    n_rounds: ClassVar[int] = 8
    ignores_shifts: ClassVar[bool] = False

    @property
    def is_quadratic(self) -> bool:
        """Whether one fit is enough: the leaves solve one linear system, or one Lasso."""
        return self.n_rounds == 1

    def wanted(self, codes: Codes, n_classes: int) -> Array:
        """Scores wanted of rows with these classes: one for their own class, zero for others."""
        wanted = np.zeros((len(codes), n_classes))
        wanted[np.arange(len(codes)), codes] = 1.0
        return wanted

    def total(self, wanted: Array, scores: Array, codes: Codes, weights: Array) -> float:
        """Weighted sum of the losses of all rows: the first term of [1]_ eq. (2)."""
        lost = np.empty(len(scores))
        for first in range(0, len(scores), ROWS_AT_ONCE):  # little memory beside the sums
            rows = slice(first, first + ROWS_AT_ONCE)
            lost[rows] = self.of_rows(wanted[rows], scores[rows], codes[rows])
        return float(weights @ lost)

    @abstractmethod
    def of_rows(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Loss of each row, float64[n_rows]."""

    @abstractmethod
    def downhill(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Negative gradient of the loss by the scores, in units of ``2 * curvature``.

        It is the step to the least value of the quadratic through `scores` that has the slope of
        the loss there, and so the target of a least squares fit with weights ``curvature``.
        """

    @abstractmethod
    def best_constant(self, wanted: Array, codes: Codes, weights: Array) -> Array:
        """The same scores for all rows, of low loss: to begin with. float64[n_outputs]."""


class BoundedLoss(ForestLoss):
    """A loss with a quadratic bound that is of use far from its target.

    ``curvature * |aim - scores|**2`` plus a constant touches the loss at the present scores and is
    nowhere below it. So the leaves of least bound, which a ridge or Lasso regression on `aim`
    finds, can only lower the loss.
    """

    @abstractmethod
    def aim(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Scores at which the bound through the present `scores` is least."""

    def downhill(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Negative gradient of the loss by the scores, in units of ``2 * curvature``."""
        # Bound and loss have one slope where they touch: -2c (aim - scores).
        return np.asarray(self.aim(wanted, scores, codes) - scores)


@dataclass(frozen=True)
class SquaredError(BoundedLoss):
    """``sum_k (y_k - F_k)**2``, the loss of [1]_ section 4: of numbers or of one-hot targets."""

    name: ClassVar[str] = "squared_error"
    curvature: ClassVar[float] = 1.0  # the loss is its own bound
    n_rounds: ClassVar[int] = 1

    def of_rows(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Loss of each row, float64[n_rows]."""
        del codes
        return _sum_of_squares(wanted, scores)

    def aim(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """What is wanted, from anywhere."""
        del scores, codes
        return wanted

    def best_constant(self, wanted: Array, codes: Codes, weights: Array) -> Array:
        """The weighted mean of each output."""
        del codes
        return _weighted_mean(wanted, weights)


@dataclass(frozen=True)
class AbsoluteError(ForestLoss):
    """``sum_k |y_k - F_k|``.

    Nothing quadratic lies above a kink and touches it. Where a curvature is asked for, steps see
    Huber's loss of width 1, which has the same slope beyond it.
    """

    name: ClassVar[str] = "absolute_error"
    curvature: ClassVar[float] = 0.5

    def of_rows(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Loss of each row, float64[n_rows]."""
        del codes
        return np.asarray(np.abs(wanted - scores).sum(axis=1))

    def downhill(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Negative gradient of the loss by the scores; 0 at the kink."""
        del codes
        return np.asarray(np.sign(wanted - scores))  # -dL/dF, and 2c = 1

    def best_constant(self, wanted: Array, codes: Codes, weights: Array) -> Array:
        """The weighted median of each output."""
        del codes
        return _weighted_medians(wanted, weights)


@dataclass(frozen=True)
class Huber(ForestLoss):
    """``sum_k h(y_k - F_k)``: ``h(r) = r**2 / 2`` up to `delta`, then linear ([2]_).

    It has a bound, of curvature 1/2. But the loss is so flat far from its target that a step on
    that bound would go no further than `delta`.

    Attributes
    ----------
    delta : float
        Where it becomes linear, in the unit of the scores.
    """

    delta: float = 1.0

    name: ClassVar[str] = "huber"
    curvature: ClassVar[float] = 0.5  # h'' <= 1

    def of_rows(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Loss of each row, float64[n_rows]."""
        del codes
        size = np.abs(wanted - scores)
        # d (|r| - d/2) meets r**2 / 2 at |r| = d, with the same slope d.
        linear = self.delta * (size - 0.5 * self.delta)
        return np.asarray(np.where(size <= self.delta, 0.5 * size**2, linear).sum(axis=1))

    def downhill(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Negative gradient of the loss by the scores: residuals, no longer than `delta`."""
        del codes
        return np.asarray(np.clip(wanted - scores, -self.delta, self.delta))  # h', and 2c = 1

    def best_constant(self, wanted: Array, codes: Codes, weights: Array) -> Array:
        """The weighted median of each output: near the least value, and as robust."""
        del codes
        return _weighted_medians(wanted, weights)


@dataclass(frozen=True)
class SquaredHinge(BoundedLoss):
    """``max(0, 1 - F_c)**2 + sum_{k != c} max(0, F_k)**2`` of a row of class c.

    The squared error of one-hot targets that forgives scores beyond them. Decision 0008 has the
    reasons.
    """

    name: ClassVar[str] = "squared_hinge"
    # Each term has a second derivative of 2 or 0, never more than the squared error's.
    curvature: ClassVar[float] = 1.0
    n_rounds: ClassVar[int] = 4

    def of_rows(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Loss of each row, float64[n_rows]."""
        return _sum_of_squares(self.aim(wanted, scores, codes), scores)

    def aim(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """The nearest scores without loss."""
        # A score beyond what is wanted, on the right side, is as good as one that is there:
        # other classes may have less than 0, its own more than 1.
        aim = np.minimum(wanted, scores)
        rows = np.arange(len(codes))
        aim[rows, codes] = np.maximum(wanted[rows, codes], scores[rows, codes])
        return aim

    def best_constant(self, wanted: Array, codes: Codes, weights: Array) -> Array:
        """The shares of the classes, best for the squared error: near the least value."""
        del codes
        return _weighted_mean(wanted, weights)


@dataclass(frozen=True)
class LogLoss(BoundedLoss):
    """``log(sum_k exp(F_k)) - F_c`` of a row of class c: the cross-entropy of the softmax."""

    name: ClassVar[str] = "log_loss"
    # Its Hessian diag(p) - p p' has no eigenvalue above 1/2 ([3]_), so 2c = 1/2 is never below it.
    curvature: ClassVar[float] = 0.25
    ignores_shifts: ClassVar[bool] = True  # the softmax divides them out

    def wanted(self, codes: Codes, n_classes: int) -> Array:
        """Zeros: no finite scores are the wanted ones, and zeros leave all scores as they are."""
        return np.zeros((len(codes), n_classes))

    def of_rows(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Loss of each row, float64[n_rows]."""
        del wanted
        return _of_each_row(logsumexp, scores) - scores[np.arange(len(codes)), codes]

    def aim(self, wanted: Array, scores: Array, codes: Codes) -> Array:
        """Scores at which the bound through the present `scores` is least."""
        del wanted
        slope = _of_each_row(softmax, scores)  # dL/dF_k = p_k - [k = c]
        slope[np.arange(len(codes)), codes] -= 1.0
        # L + slope . d + c |d|**2 is least at d = -slope / (2c).
        return np.asarray(scores - 2.0 * slope)

    def best_constant(self, wanted: Array, codes: Codes, weights: Array) -> Array:
        """The logarithms of the shares of the classes."""
        counts = np.bincount(codes, weights=weights, minlength=wanted.shape[1])
        # A class whose rows all have weight 0 is unlikely, not impossible.
        return np.asarray(np.log(np.maximum(counts / counts.sum(), LEAST_SHARE)))


def forest_loss(name: str, huber_delta: float = 1.0) -> ForestLoss:
    """The loss of this name.

    Parameters
    ----------
    name : str
        "squared_error", "absolute_error" or "huber" of real targets; "squared_error" (on one-hot
        targets), "squared_hinge" or "log_loss" of classes.
    huber_delta : float, default=1.0
        Where Huber's loss becomes linear; others do not look at it.
    """
    losses = (SquaredError(), AbsoluteError(), Huber(huber_delta), SquaredHinge(), LogLoss())
    of_name = {loss.name: loss for loss in losses}
    if name not in of_name:
        raise ValueError(
            f"loss={name!r} is no loss of a sum of trees; give one of {', '.join(of_name)}."
        )
    return of_name[name]


def _sum_of_squares(wanted: Array, scores: Array) -> Array:
    return np.asarray(((wanted - scores) ** 2).sum(axis=1))


def _weighted_mean(wanted: Array, weights: Array) -> Array:
    return np.asarray(np.average(wanted, axis=0, weights=weights))


def _weighted_medians(wanted: Array, weights: Array) -> Array:
    return np.array([weighted_median(column, weights) for column in wanted.T])


def weighted_median(values: Array, weights: Array) -> float:
    """Least value that has half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, 0.5 * reached[-1])])


def _of_each_row(function: Callable[..., Array], scores: Array) -> Array:
    """A function of the scores of each row, by pieces."""
    firsts = range(0, max(len(scores), 1), ROWS_AT_ONCE)
    return np.concatenate([function(scores[row : row + ROWS_AT_ONCE], axis=1) for row in firsts])
