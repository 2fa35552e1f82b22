"""Forest Alternating Optimization (FAO): one objective over all trees of a forest.

The forest is the sum of its trees ([1]_ section 4). An iteration takes each tree in turn, the
others fixed, which is a tree to be optimised on what the others leave over; then all leaves of all
trees together, the splits fixed ([1]_ section 4.1). This module decides what comes when;
:mod:`~spinney.algorithms.fao_steps` has the two kinds of steps.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from spinney.algorithms.descent import PATIENCE, Descent
from spinney.algorithms.fao_forest import ForestTask, JointForest
from spinney.algorithms.fao_options import FAOOptions, kind_of_split
from spinney.algorithms.fao_start import keep_leaves, resumed_forest, saved_members, start_forest
from spinney.algorithms.fao_steps import (
    average_splits,
    note_splits,
    step_over_leaves,
    step_over_tree,
    tighten_splits,
)
from spinney.algorithms.losses import Array
from spinney.algorithms.recorder import Callback, Recorder
from spinney.algorithms.state import ForestRun, Save
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.tree.structure import Topology, Tree

__all__ = [
    "AfterIteration",
    "FAOOptions",
    "OptimizedForest",
    "kind_of_split",
    "optimize_forest",
]

#: Is asked after each iteration, with the trace and a function that makes the trees as they are;
#: True ends the run there.
AfterIteration: TypeAlias = Callable[[Trace, Callable[[], tuple[Tree, ...]]], bool]


@dataclass(frozen=True)
class OptimizedForest:
    """Trees, whose outputs add up, and how they came about.

    `iterations` holds the trees after each iteration, where they were to be kept.
    """

    trees: tuple[Tree, ...]
    trace: Trace
    iterations: tuple[tuple[Tree, ...], ...] = ()


def optimize_forest(
    problem: Problem,
    starts: Sequence[Topology | Tree],
    seeds: Sequence[int],
    options: FAOOptions,
    callback: Callback | None = None,
    *,
    keeps_leaves: bool = False,
    begins_with_leaves: bool = False,
    offset: Array | None = None,
    resume: ForestRun | None = None,
    save: Save[ForestRun] | None = None,
    after_iteration: AfterIteration | None = None,
) -> OptimizedForest:
    """Forest of low objective, found by alternating over the trees and over all leaves.

    With ``strict_descent`` no step raises the objective. Without it every solution of a split is
    accepted, which finds better forests; then single steps may go up.

    Parameters
    ----------
    problem : Problem
    starts : sequence of (left, right) or Tree
        One a tree: a shape, whose parameters are drawn at random, or a tree whose splits are to be
        improved.
    seeds : sequence of int
        One a tree.
    options : FAOOptions
    callback : callable, optional
        Called with the trace after each step over a tree or over all leaves.
    keeps_leaves : bool, default=False
        The given trees are a forest, whose outputs add up, and which goes on as it is: every node
        stays, with its old hyperplane or value where the rows do not need it, and `max_weights`
        holds from the first iteration on. Otherwise all leaves are fitted anew, and what rows do
        not need is pruned.
    begins_with_leaves : bool, default=False
        The outputs of the given trees add up to what the run begins with; all leaves are fitted
        anew at the end of the first iteration, not before it.
    offset : float64[n_rows, n_outputs], optional
        What rows have already, in the unit of `problem.values`; the forest is added to it. By
        default it is nothing, or for real targets their mean, which the trees then give, too.
    resume : ForestRun, optional
        Where an earlier run with the same arguments was; this one ends as that would have, to the
        bit. It needs no `starts`.
    save : callable, optional
        Offered the state after the start and after each iteration.
    after_iteration : callable, optional
        Asked after each iteration, and first of all where an earlier run is taken up; True ends
        the run there, as if `max_iter` were reached. Where `max_weights` is not met yet, a last
        iteration meets it.
    """
    task = ForestTask.of(problem, options, offset, goes_on=keeps_leaves)
    recorder = Recorder(callback, None if resume is None else resume.trace)

    def offer() -> None:
        if save is not None:
            save(lambda: position.saved(forest, recorder.trace))

    def is_enough() -> bool:
        return after_iteration is not None and after_iteration(recorder.trace, forest.trees)

    is_tight, is_stopped = True, False
    if resume is None:
        has_leaves = keeps_leaves or begins_with_leaves
        forest = _begin(task, starts, seeds, recorder, has_leaves=has_leaves)
        position = _Position()
        offer()  # grown starts may have taken long
    else:
        forest = resumed_forest(task, resume, seeds)
        position = _Position.of(resume)
        if position.n_iterations and is_enough():
            share = position.n_iterations / options.max_iter
            is_tight, is_stopped = tighten_splits(forest, share), True
    while not (is_stopped or position.is_over(options)):
        share = (position.n_iterations + 1) / options.max_iter
        position, is_tight = _iterate(forest, position, recorder, share)
        offer()
        is_stopped = is_enough()
    if is_stopped and not is_tight:
        position, _ = _iterate(forest, position, recorder, 1.0)
    if options.average_last > 1 and position.n_iterations:
        position = _average(forest, position, recorder)
    return OptimizedForest(forest.trees(), recorder.trace, position.iterations)


@dataclass(frozen=True)
class _Position:
    """How far the alternation is, between two iterations.

    Attributes
    ----------
    n_iterations : int
        Iterations done.
    progress : Descent
        Counts the iterations that kept to the limit on weights.
    iterations : tuple of tuple of Tree
        The trees after each of them, where they are to be kept.
    """

    n_iterations: int = 0
    progress: Descent = field(default_factory=Descent)
    iterations: tuple[tuple[Tree, ...], ...] = ()

    @staticmethod
    def of(run: ForestRun) -> _Position:
        """That of an earlier run."""
        return _Position(run.n_iterations, Descent(run.best, run.n_stalled), run.iterations)

    def saved(self, forest: JointForest, trace: Trace) -> ForestRun:
        """The state of the run as plain values."""
        return ForestRun(
            members=saved_members(forest),
            scores=forest.scores.copy(),
            n_iterations=self.n_iterations,
            best=self.progress.best,
            n_stalled=self.progress.n_stalled,
            trace=trace.copied(),
            iterations=self.iterations,
        )

    def is_over(self, options: FAOOptions) -> bool:
        """Whether iterations are used up, or have brought nothing for long enough."""
        patience = 1 if options.tao.strict_descent else PATIENCE
        is_used_up = self.n_iterations >= options.max_iter
        return is_used_up or self.progress.is_over(patience, options.tol)


def _begin(
    task: ForestTask,
    starts: Sequence[Topology | Tree],
    seeds: Sequence[int],
    recorder: Recorder,
    *,
    has_leaves: bool,
) -> JointForest:
    """The forest before the first iteration, its leaves given or fitted together."""
    forest = start_forest(task, starts, seeds)
    if has_leaves:
        keep_leaves(forest, starts)
    else:
        step_over_leaves(forest, recorder.tell)
    _record(forest, recorder, "start")
    return forest


def _iterate(
    forest: JointForest, position: _Position, recorder: Recorder, share: float
) -> tuple[_Position, bool]:
    """One iteration of [1]_ section 4.1; True if the limit on weights was the one wanted."""
    options, number = forest.task.options, position.n_iterations + 1
    is_tight = tighten_splits(forest, share)
    for tree in range(len(forest.members)):
        step_over_tree(forest, tree, number)  # eqs. (3) and (4) of [1]
        _record(forest, recorder, "tree")
    step_over_leaves(forest, recorder.tell)  # eq. (6) of [1]
    objective = _record(forest, recorder, "leaves")
    note_splits(forest)
    position = replace(position, n_iterations=number)
    if options.keeps_iterations:
        position = replace(position, iterations=(*position.iterations, forest.trees()))
    if is_tight:
        # While everything is accepted, weights grow: the penalty rises as the loss falls.
        reached = objective if options.tao.strict_descent else recorder.trace.loss[-1]
        position = replace(position, progress=position.progress.after(reached, options.tol))
    return position, is_tight


def _average(forest: JointForest, position: _Position, recorder: Recorder) -> _Position:
    """Take the means of the last splits; they are what the last iteration ends with."""
    average_splits(forest, recorder.tell)
    _record(forest, recorder, "average")
    if not position.iterations:
        return position
    return replace(position, iterations=(*position.iterations[:-1], forest.trees()))


def _record(forest: JointForest, recorder: Recorder, phase: str) -> float:
    """Note where the forest is; returns its objective, [1]_ eq. (2)."""
    return recorder.record(*forest.objective(), forest.count_active(), phase)
