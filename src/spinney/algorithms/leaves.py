"""All leaves of a forest at once, its splits fixed.

With fixed splits a forest is linear in the values of its leaves ([1]_ eq. 5): a row has a one in
the column of each leaf it reaches. The best values of all leaves together ([1]_ eq. 6) are, with a
squared penalty, a ridge regression, with an absolute one a Lasso. The same step improves a forest
that something else has grown, and is then known as global refinement.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
.. [2] Nesterov, "A method of solving a convex programming problem with convergence rate O(1/k²)",
   Soviet Mathematics Doklady 27, 1983.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.losses import Array, BoundedLoss, Codes, ForestLoss

#: Numbers of leaves, as wide as the largest needs.
LeafNumbers: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]

#: Systems of this many leaves are always factored, larger ones up to the second number if that is
#: less work than conjugate gradients: a factor costs a third of the cube of its size once, and the
#: square of it in numbers.
DIRECT_LIMITS = (1024, 4096)

#: Products that conjugate gradients need for each leaf that a row reaches, and each output, in one
#: joint step: a few rounds of some twenty iterations.
PRODUCTS_OF_A_STEP = 300

#: Share of the gradient of leaves that are all zero that conjugate gradients leave, from whatever
#: start: in one step of many, after which trees change; for good.
IN_A_STEP, TO_THE_END = 1e-4, 1e-9

#: Share of the gradient at its start that one round of many on the bound of a loss leaves, after
#: which the bound changes.
IN_A_ROUND = 0.1

#: Most iterations for good. They leave 0.002 % of the sum with 60 trees on cpuact and a penalty of
#: 1, and 0.7 % with one of 0.01, where trees can trade nearly for free.
MOST_ITERATIONS = 200

#: Share of the sum by which leaves with an absolute penalty may be above its least value: in one
#: step of many; in one round on the bound of a loss, after which the bound changes.
ABOVE_IN_A_STEP, ABOVE_IN_A_ROUND = 1e-3, 0.1

#: Most entries of the normal matrix for each leaf that a row reaches, for coordinate descent on it
#: to be less work than on the rows. It is never larger than a factor would be.
ENTRIES_PER_PASS = 4

#: Share of the sum by which a round has to lower it for another one to follow.
LEAST_PROGRESS = 1e-3

#: Least penalty, as a share of the weight of the rows. Without any, trees could trade constants.
LEAST_PENALTY = 1e-9


@dataclass(frozen=True)
class LeafTask:
    """What the leaves have to give together.

    Attributes
    ----------
    loss : ForestLoss
        The steps below want a :class:`~spinney.algorithms.losses.BoundedLoss`.
    wanted : float64[n_rows, n_outputs]
    codes : int32[n_rows]
        Class codes; empty for regression.
    weights : float64[n_rows]
    offset : float64[n_rows, n_outputs] or None
        What rows have already, whatever the leaves give them. None is nothing.
    """

    loss: ForestLoss
    wanted: Array
    codes: Codes
    weights: Array
    offset: Array | None = None

    @property
    def bounded_loss(self) -> BoundedLoss:
        """The loss, which the steps below can see through its bound."""
        assert isinstance(self.loss, BoundedLoss), f"{self.loss.name} has no quadratic bound"
        return self.loss

    def aim(self, scores: Array) -> Array:
        """What leaves alone have to give for the quadratic bound at `scores` to be least."""
        aim = self.bounded_loss.aim(self.wanted, scores, self.codes)
        return aim if self.offset is None else aim - self.offset

    def scores(self, given: Array) -> Array:
        """Scores of rows to which leaves give so much."""
        return given if self.offset is None else given + self.offset

    def total(self, scores: Array) -> float:
        """Weighted sum of the losses of all rows."""
        return self.loss.total(self.wanted, scores, self.codes, self.weights)


def improve_leaves(
    task: LeafTask,
    leaves: LeafNumbers,
    values: Array,
    scores: Array,
    l2: float,
    n_threads: int = 1,
    *,
    l1: float = 0.0,
    first_leaf: NDArray[np.uint32] | None = None,
) -> tuple[Array, Array]:
    """Leaf values of lower loss + penalty, and the scores they give: one step of many.

    The squared loss is solved outright; other losses by a few rounds on their quadratic bounds,
    each of which can only lower the sum. The penalty is l2 * |values|**2, or l1 * |values|.

    Parameters
    ----------
    task : LeafTask
    leaves : uint8, uint16 or uint32[n_trees, n_rows]
        Leaf of each row in each tree, numbered from the first leaf of the tree on.
    values : float64[n_leaves, n_outputs]
        Present values.
    scores : float64[n_rows, n_outputs]
        What they give.
    l2 : float
        Weight of the squared values; 0 where `l1` is not.
    n_threads : int, default=1
    l1 : float, default=0.0
        Weight of the absolute values. Leaves whose rows have no weight then keep theirs.
    first_leaf : uint32[n_trees], optional
        Number of the first leaf of each tree; by default `leaves` are numbered through all trees.
    """
    system: _core.LeafSystem | _core.LeafLasso
    if l1 > 0:
        system = _lasso(task, leaves, len(values), l1, n_threads, first_leaf)
        tolerance = ABOVE_IN_A_STEP if task.loss.is_quadratic else ABOVE_IN_A_ROUND
    else:
        system = _system(task, leaves, len(values), l2, n_threads, first_leaf)
        tolerance = IN_A_STEP
    for _ in range(task.loss.n_rounds):
        # Eq. (6) of [1] with the bound of the loss in its place: the design stays the same.
        values = system.solve(task.aim(scores), values, tolerance)
        scores = task.scores(system.add_up(values))  # sum_t sum_j theta_tj phi_tj(x_n) of eq. (6)
    return values, scores


def solve_leaves(
    task: LeafTask,
    leaves: LeafNumbers,
    n_leaves: int,
    l2: float,
    n_rounds: int,
    n_threads: int = 1,
    after_round: Callable[[int, float, float], bool] | None = None,
) -> tuple[Array, Array]:
    """Leaf values of least loss + l2 * |values|**2, and the scores they give.

    Rounds as of :func:`improve_leaves` until they bring nothing, but at most `n_rounds`, each from
    a point beyond the last one ([2]_). A round that would raise the sum is done again from where
    the last one ended.

    `after_round` is asked after each round that counts, with how many there were, the least sum and
    its loss; True ends the work there.
    """
    system = _system(task, leaves, n_leaves, l2, n_threads)
    values = np.zeros((n_leaves, task.wanted.shape[1]))
    scores = task.scores(np.zeros_like(task.wanted))

    def total(values: Array, scores: Array) -> float:
        return task.total(scores) + l2 * float((values**2).sum())

    # The bound of a squared loss is the loss, and solved once; others are solved again and again.
    left = (TO_THE_END, 0.0) if task.loss.is_quadratic else (0.0, IN_A_ROUND)
    best, ahead, momentum = total(values, scores), scores, 1.0
    n_counted = 0
    for _ in range(n_rounds):
        new_values = system.solve(task.aim(ahead), values, *left, MOST_ITERATIONS)
        new_scores = task.scores(system.add_up(new_values))
        found = total(new_values, new_scores)
        if found > best and ahead is not scores:
            ahead, momentum = scores, 1.0
            continue
        is_done = not found < (1 - LEAST_PROGRESS) * best
        # Nesterov's a' = (1 + sqrt(1 + 4 a**2)) / 2, and a point (a - 1) / a' of the last step
        # further on. Scores are linear in the leaves, so they are moved in their place.
        next_momentum = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        ahead = new_scores + (momentum - 1.0) / next_momentum * (new_scores - scores)
        if found <= best:
            values, scores, best = new_values, new_scores, found
        momentum = next_momentum
        n_counted += 1
        is_stopped = after_round is not None and after_round(n_counted, best, task.total(scores))
        if is_stopped or is_done or task.loss.is_quadratic:
            break
    return values, scores


def _lasso(
    task: LeafTask,
    leaves: LeafNumbers,
    n_leaves: int,
    l1: float,
    n_threads: int,
    first_leaf: NDArray[np.uint32] | None,
) -> _core.LeafLasso:
    """The Lasso regression that a round on the bound of the loss comes to."""
    limit = _gram_limit(leaves.size)
    penalty = l1 / task.bounded_loss.curvature  # c |aim - F|**2 + l1 |theta|, divided by c
    return _core.LeafLasso(leaves, task.weights, n_leaves, penalty, limit, n_threads, first_leaf)


def _gram_limit(n_reached: int) -> int:
    """Most leaves for which descent on their normal matrix is less work than on the rows."""
    return min(math.isqrt(ENTRIES_PER_PASS * n_reached), DIRECT_LIMITS[1])


def _system(
    task: LeafTask,
    leaves: LeafNumbers,
    n_leaves: int,
    l2: float,
    n_threads: int,
    first_leaf: NDArray[np.uint32] | None = None,
) -> _core.LeafSystem:
    """The ridge regression that a round on the bound of the loss comes to."""
    # c |aim - F|**2 + l2 theta**2, divided by c; and enough of it to make the solution unique.
    least = max(LEAST_PENALTY * float(task.weights.sum()), float(np.finfo(np.float64).tiny))
    penalty = max(l2 / task.bounded_loss.curvature, least)
    limit = _direct_limit(leaves.size * task.wanted.shape[1])
    return _core.LeafSystem(leaves, task.weights, n_leaves, penalty, limit, n_threads, first_leaf)


def _direct_limit(n_products: int) -> int:
    """Most leaves for which a factor is less work than conjugate gradients."""
    always, most = DIRECT_LIMITS
    # A factor of n leaves costs n**3 / 3, conjugate gradients PRODUCTS_OF_A_STEP * n_products.
    even = round(math.cbrt(3.0 * PRODUCTS_OF_A_STEP * n_products))
    return min(max(always, even), most)
