"""The two steps of FAO, over one tree and over all leaves, and the mean of splits at the end.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spinney.algorithms.fao_forest import JointForest
from spinney.algorithms.leaves import improve_leaves
from spinney.algorithms.losses import BoundedLoss
from spinney.algorithms.tao_sweep import guard_sweep, solve_splits
from spinney.algorithms.weight_limits import tightened

#: Rounds over the trees in which leaves are refitted one tree after the other, where they have no
#: joint solution at hand.
BACKFITTING_ROUNDS = 10

#: Joint steps over all leaves after hyperplanes were averaged: no trees follow that would go on.
LAST_LEAF_STEPS = 3


def step_over_tree(forest: JointForest, number: int, iteration: int) -> None:
    """One sweep of TAO over a tree, on what the other trees leave over ([1]_ eqs. 3 and 4)."""
    task = forest.task
    tao = task.options.tao
    with forest.taken_out(number) as native:

        def sweep(is_guarded: bool) -> None:
            around = task.around_level
            solve_splits(native, iteration, tao.order, is_guarded=is_guarded, around_level=around)

        guard_sweep(native, sweep, tao.strict_descent, is_guarded=bool(tao.strict_descent))


def step_over_leaves(forest: JointForest, tell: Callable[[], None]) -> None:
    """All leaves of all trees, the splits fixed ([1]_ eq. 6).

    Parameters
    ----------
    forest : JointForest
    tell : callable
        Called before each round over single trees; what it raises ends the run.
    """
    options = forest.task.options
    loss = options.loss
    if len(forest.members) == 1:
        # The leaves of one tree separate. Sweeps that follow go on from one fit, which all but
        # solves them; where none follow, they are solved to the end.
        _backfit(forest, 1 if options.max_iter > 0 else loss.n_rounds, tell)
    elif not isinstance(loss, BoundedLoss):
        _backfit(forest, BACKFITTING_ROUNDS, tell)
    else:
        _solve_leaves(forest)
        # Few rounds on its bound leave much of a loss; with an absolute penalty, whose rounds
        # take long, fits of single trees to the loss itself go further in less time.
        if options.l1 > 0 and not loss.is_quadratic:
            _backfit(forest, BACKFITTING_ROUNDS, tell)


def _solve_leaves(forest: JointForest) -> None:
    """All leaves together, on the loss or its bound: the regression of [1]_ eq. (6)."""
    task = forest.task
    options = task.options
    present = np.concatenate([member.values for member in forest.members])
    first_leaf = np.array([member.first_leaf for member in forest.members], dtype=np.uint32)
    values, forest.scores = improve_leaves(
        task.sums,
        forest.leaf_of,
        present,
        forest.scores,
        options.l2,
        options.n_threads,
        l1=options.l1,
        first_leaf=first_leaf,
    )
    # Leaves that no row reaches keep what they say: other rows may come.
    is_reached = np.concatenate([member.reach[member.left < 0] > 0 for member in forest.members])
    if not task.problem.sample_weight.all():
        is_reached[first_leaf] = True  # rows of no weight are noted there
    values[~is_reached] = present[~is_reached]
    for number, member in enumerate(forest.members):
        forest.change(number, values[member.first_leaf : member.first_leaf + member.n_leaves])


def _backfit(forest: JointForest, n_rounds: int, tell: Callable[[], None]) -> None:
    """Leaves of one tree after the other, each to its optimum given the others ([1]_ eq. 4)."""
    is_guarded = bool(forest.task.options.tao.strict_descent)
    for _ in range(n_rounds):
        tell()
        for number in range(len(forest.members)):
            with forest.taken_out(number) as native:
                native.fit_leaves(0, is_guarded)


def tighten_splits(forest: JointForest, share: float) -> bool:
    """Limit the weights of hyperplanes, the more the further the run is; True if for good."""
    task = forest.task
    wanted = task.options.tao.max_weights
    # A forest that goes on has adapted to the limit already.
    limit = tightened(wanted, task.problem.n_features, 1.0 if task.goes_on else share)
    for member in forest.members:
        member.native.limit_weights(limit, 0)
    return limit in (0, wanted)


def note_splits(forest: JointForest) -> None:
    """Remember hyperplanes that are to be averaged."""
    for member in forest.members:
        if member.late is not None:
            member.late.note(member.native)


def average_splits(forest: JointForest, tell: Callable[[], None]) -> None:
    """Replace hyperplanes by their means over the last iterations, and refit all leaves.

    Not in the paper; see :mod:`~spinney.algorithms.mean_splits`.
    """
    task = forest.task
    for number, member in enumerate(forest.members):
        if member.late is None:
            continue
        with forest.taken_out(number) as native, task.around_level(native):
            member.late.put_into(native, task.problem, task.options.tao.max_weights)
    for _ in range(LAST_LEAF_STEPS):
        step_over_leaves(forest, tell)
