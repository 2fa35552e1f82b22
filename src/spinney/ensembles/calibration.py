"""Maps from what trees say to probabilities, fitted to rows that the trees have not seen.

Trees know their training rows by heart, so what they say there is no measure of how often they are
right. The maps have one or two numbers, rise with the votes or the score of a class, and give the
same map to all classes: the largest probability stays where it was, and none is ever exactly 0.

Votes become ``p_k ∝ (v_k + c / K)^a``, v_k the votes of class k of K. With c votes shared among all
classes, a class is as probable as infinitely many such trees would say, if their votes were spread
evenly at first; the power a says how sure a majority may be. Scores become ``p_k ∝ exp(a s_k)``, as
in [1]_.

References
----------
.. [1] Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017,
   section 4.2: temperature scaling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from spinney import _core
from spinney.data import Problem, as_rows, counted_rows
from spinney.data.distinct import row_keys

Floats = NDArray[np.float64]

#: Parts that rows are cut into; one of them, or more where rows are few, is held out.
N_FOLDS = 5

#: Held-out rows that are enough for two numbers.
ENOUGH_ROWS = 500

#: Most rows that a map is fitted to; more would not change it.
MOST_ROWS = 100_000

#: Trees, or forests, of a fit that is made for its held-out rows alone: votes of a few are nearly
#: as sure as those of all, and the map knows how many there were.
FEW_TREES, FEW_FORESTS = 10, 2

#: Votes that are shared among the classes, one of these.
SHARED_VOTES = 2.0 ** np.arange(-6, 6)


@dataclass(frozen=True)
class Belief:
    """A normal distribution of the logarithm of a slope, before any row is seen."""

    mean: float
    deviation: float


#: Few rows must not make a map of votes much steeper than the votes themselves.
OF_VOTES = Belief(0.0, 0.3)

#: Scores are estimates of one-hot targets: a slope of 1 to 4 is usual, but that is all one knows.
OF_SCORES = Belief(math.log(2.0), 2.0)


@dataclass(frozen=True)
class ProbabilityMap:
    """Two numbers that turn votes or scores into probabilities.

    Attributes
    ----------
    slope : float
        The power of votes, or the factor of scores; above 0.
    shared : float
        Votes that are shared among all classes; 0 for scores.
    """

    slope: float
    shared: float


#: Where there are too few rows to fit anything: one vote more, for any class.
UNFITTED_VOTES = ProbabilityMap(1.0, 1.0)
UNFITTED_SCORES = ProbabilityMap(2.0, 0.0)


@dataclass(frozen=True)
class Unseen:
    """What trees say of rows that they have not seen.

    Attributes
    ----------
    said : float64 ndarray of shape (n_rows, n_classes)
        Votes for each class, summed class fractions, or scores.
    codes : int32 ndarray of shape (n_rows,)
        Classes; -1 for one that the trees do not know, and such rows are left out.
    weights : float64 ndarray of shape (n_rows,)
        Row weights, 0 for rows to leave out.
    """

    said: Floats
    codes: NDArray[np.int32]
    weights: Floats

    def rows(self, is_usable: NDArray[np.bool_] | bool = True) -> NDArray[np.intp]:
        """Rows to fit a map to, evenly spaced if there are very many; none if it takes more."""
        found = np.flatnonzero((self.weights > 0) & (self.codes >= 0) & is_usable)
        if len(found) < 2 or self.said.shape[1] < 2:
            return found[:0]
        return found[:: math.ceil(len(found) / MOST_ROWS)]


def cross_fitted(problem: Problem, say: Callable[[Problem, _core.Rows], Floats]) -> Unseen:
    """What trees say that are fitted without some of the rows, of these rows.

    Parameters
    ----------
    problem : Problem
    say : callable
        Fits trees to a task, and gives what they say of other rows.
    """
    said, held_rows = [np.zeros((0, problem.n_classes))], [np.zeros(0, dtype=np.intp)]
    for part, held in held_parts(problem):
        said.append(say(part, as_rows(problem.matrix[held])))
        held_rows.append(held)
    rows = np.concatenate(held_rows)
    return Unseen(np.concatenate(said), problem.classes[rows], problem.sample_weight[rows])


def map_of_votes(unseen: Unseen, n_votes: Floats | float) -> ProbabilityMap:
    """The most probable map of votes.

    Parameters
    ----------
    unseen : Unseen
    n_votes : float or float64 ndarray of shape (n_rows,)
        Sum of the votes of a row; rows without any are left out.
    """
    n_votes = np.broadcast_to(np.asarray(n_votes, dtype=np.float64), unseen.codes.shape)
    rows = unseen.rows(n_votes > 0)
    if not len(rows):
        return UNFITTED_VOTES
    n_classes = unseen.said.shape[1]
    wanted = _Wanted.of(unseen.codes[rows], unseen.weights[rows], n_classes)
    votes, n_votes = unseen.said[rows], n_votes[rows, None]
    best, best_loss = UNFITTED_VOTES, math.inf
    for shared in SHARED_VOTES.tolist():
        logs = np.log((votes + shared / n_classes) / (n_votes + shared))
        slope, loss = _best_slope(logs, wanted, OF_VOTES)
        if loss < best_loss:
            best, best_loss = ProbabilityMap(slope, shared), loss
    return best


def map_of_scores(unseen: Unseen) -> ProbabilityMap:
    """The most probable map of class scores."""
    rows = unseen.rows()
    if not len(rows):
        return UNFITTED_SCORES
    wanted = _Wanted.of(unseen.codes[rows], unseen.weights[rows], unseen.said.shape[1])
    slope, _ = _best_slope(unseen.said[rows], wanted, OF_SCORES)
    return ProbabilityMap(slope, 0.0)


def held_parts(problem: Problem) -> Iterator[tuple[Problem, NDArray[np.intp]]]:
    """Tasks without a part of the rows, and the numbers of these rows.

    Which part a row is in follows from its values alone, so that copies of a row stay together, a
    row of weight k is the same as k rows, and the order of the rows is of no account. Some rows of
    every class are left in, and classes of a single row are never held out.
    """
    part_of, n_distinct = _parts(problem)
    n_parts = min(N_FOLDS, math.ceil(ENOUGH_ROWS * N_FOLDS / max(n_distinct, 1)))
    for part in range(n_parts):
        held = np.flatnonzero(part_of == part)
        if len(held):
            weights = problem.sample_weight.copy()
            weights[held] = 0.0
            yield replace(problem, sample_weight=weights), held


def _parts(problem: Problem) -> tuple[NDArray[np.int64], int]:
    """Part of each row, -1 for none, and how many distinct rows there are."""
    keys = row_keys(problem.matrix, problem.inverse_scale)
    parts = np.full(problem.n_rows, -1, dtype=np.int64)
    n_distinct = 0
    for code in range(problem.n_classes):
        rows = np.flatnonzero((problem.classes == code) & (problem.sample_weight > 0))
        distinct, places = np.unique(keys[rows], return_inverse=True)
        n_distinct += len(distinct)
        if len(distinct) > 1:
            parts[rows] = places % N_FOLDS
    return parts, n_distinct


@dataclass(frozen=True)
class _Wanted:
    """Weighted rows and the probabilities that their classes ask for."""

    weights: Floats
    shares: Floats

    @classmethod
    def of(cls, codes: NDArray[np.int32], weights: Floats, n_classes: int) -> _Wanted:
        """Rows that count as many as they are, and one more that may be of any class.

        That one keeps the slope finite where all rows are on the right side.
        """
        n_rows = counted_rows(weights)
        of_any = 1.0 / (n_rows + 1.0)
        shares = np.full((len(codes), n_classes), of_any / n_classes)
        shares[np.arange(len(codes)), codes] += 1.0 - of_any
        return cls(weights * (n_rows / weights.sum()), shares)


def _best_slope(logs: Floats, wanted: _Wanted, belief: Belief) -> tuple[float, float]:
    """Slope a of least loss where ``p ∝ exp(a logs)``, and that loss, by Newton steps on log(a)."""
    log_slope = belief.mean
    for _ in range(100):
        loss, first, second = _loss_and_slopes(log_slope, logs, wanted, belief)
        step = -first / second if second > 0 else -math.copysign(1.0, first)
        log_slope += min(max(step, -1.0), 1.0)
        if abs(step) < 1e-12:
            break
    # Six digits are all that rows can tell, and rounding errors do not reach them.
    return float(f"{math.exp(log_slope):.6g}"), loss


def _loss_and_slopes(
    log_slope: float, logs: Floats, wanted: _Wanted, belief: Belief
) -> tuple[float, float, float]:
    """Cross-entropy and belief at the logarithm of a slope, and two derivatives by it."""
    slope = math.exp(log_slope)
    scaled = slope * logs
    norm = logsumexp(scaled, axis=1)
    shares = np.exp(scaled - norm[:, None])
    mean = (shares * logs).sum(axis=1)
    spread = (shares * logs**2).sum(axis=1) - mean**2
    asked = (wanted.shares * logs).sum(axis=1)
    off = (log_slope - belief.mean) / belief.deviation
    rise = slope * float(wanted.weights @ (mean - asked))
    loss = float(wanted.weights @ (norm - slope * asked)) + 0.5 * off**2
    first = rise + off / belief.deviation
    second = rise + slope**2 * float(wanted.weights @ spread) + 1.0 / belief.deviation**2
    return loss, first, second
