"""Averages of FAO forests.

One forest that is optimised jointly fits its training rows so well that it has islands of error
between them. Forests from other random starts have theirs elsewhere, and the average of a few is
smooth ([1]_ section 5). All see all rows.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from joblib import effective_n_jobs

from spinney.algorithms.fao import AfterIteration, FAOOptions, OptimizedForest, optimize_forest
from spinney.algorithms.state import ForestRun, Save
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.ensembles.copies import GappedCopies
from spinney.ensembles.forest_starts import WITH_LEAVES, forest_start
from spinney.ensembles.iteration_order import Hearing, IterationListener, PassedError, Trees
from spinney.ensembles.seeds import COPIES, stream, tree_seed
from spinney.ensembles.starts import StartRule
from spinney.ensembles.stop import StopSignal
from spinney.ensembles.workers import is_in_threads, start_work, work_in_order
from spinney.tree.structure import Topology, Tree


@dataclass(frozen=True)
class AveragingPlan:
    """Which forests are optimised, and from where.

    Attributes
    ----------
    seed : int
        Every random number follows from it, the number of the forest and that of the tree.
    n_forests : int
    n_trees : int
        Trees of each forest.
    given : tuple of tuple of Tree
        Forests that exist already and are optimised further, in order; those after them start
        anew. The outputs of the trees of a forest add up.
    start : {"own", "bagged", "boosted", "bagged_with_leaves", "boosted_with_leaves"}
        How the trees of a new forest start, see `forest_start`.
    grown : tuple of tuple of Tree
        Trees from which new forests start, by forest; only their splits count. Empty leaves it to
        `start`.
    copies : GappedCopies
        Copies of the rows that each forest sees beside them; every forest draws its own.
    """

    seed: int
    n_forests: int
    n_trees: int
    given: tuple[tuple[Tree, ...], ...] = ()
    start: str = "own"
    grown: tuple[tuple[Tree, ...], ...] = ()
    copies: GappedCopies = field(default_factory=GappedCopies)

    def seeds(self, forest: int) -> tuple[int, ...]:
        """Seeds of the trees of a forest."""
        own = tree_seed(self.seed, forest)
        return tuple(tree_seed(own, tree) for tree in range(self.n_trees))


@dataclass(frozen=True)
class ForestSaving:
    """Where forests were when an earlier run ended, and who takes their states in this one.

    Attributes
    ----------
    runs : mapping of int to ForestRun
        States by the number of the forest; others begin anew.
    savers : mapping of int to callable
        Each is offered the states of its forest.
    """

    runs: Mapping[int, ForestRun] = field(default_factory=dict)
    savers: Mapping[int, Save[ForestRun]] = field(default_factory=dict)


def average_forests(
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    plan: AveragingPlan,
    first: int = 0,
    n_jobs: int | None = None,
    saving: ForestSaving | None = None,
    listener: IterationListener | None = None,
    saved: Sequence[OptimizedForest] = (),
) -> Generator[OptimizedForest, None, None]:
    """Forests number `first`, `first` + 1, ... of a plan, in order, as they are done.

    Parameters
    ----------
    problem : Problem
    start : StartRule
        Of each tree of a forest that is not given.
    options : FAOOptions
        Its `n_threads` is set here.
    plan : AveragingPlan
    first : int, default=0
        Forests before it are left as they are.
    n_jobs : int or None, default=None
        Forests at once, in threads unless a joblib context says otherwise. Where there are more
        jobs than forests, a forest uses several threads.
    saving : ForestSaving, optional
    listener : IterationListener, optional
        Hears of every iteration, in order, in the thread of the caller. Where it says stop, the
        forest of that iteration is the last, and ends with it.
    saved : sequence of OptimizedForest
        The first of these forests, which an earlier run has finished.
    """
    task = _Task(problem, start, options, plan, n_jobs, saving or ForestSaving())
    if listener is None:
        yield from saved
        yield from task.grown(first + len(saved), None)
        return
    hearing = Hearing(listener, first)
    try:
        with closing(_heard(task, first, saved, hearing)) as heard:
            yield from heard
    except PassedError as passed:
        yield task.grown_until(hearing.forest, passed.number)


def _heard(
    task: _Task, first: int, saved: Sequence[OptimizedForest], hearing: Hearing
) -> Generator[OptimizedForest, None, None]:
    """Forests while a listener hears of them, up to the one that it stops at."""
    for forest in saved:
        hearing.restore_forest(forest)
        yield forest
        if hearing.is_stopped:
            return
        hearing.next_forest()
    with closing(task.grown(first + len(saved), hearing)) as grown:
        for forest in grown:
            hearing.end_forest(forest)
            yield forest
            if hearing.is_stopped:
                return
            hearing.next_forest()


@dataclass(frozen=True)
class _Task:
    """How forests are grown."""

    problem: Problem
    start: StartRule
    options: FAOOptions
    plan: AveragingPlan
    n_jobs: int | None
    saving: ForestSaving

    def grown(self, first: int, hearing: Hearing | None) -> Generator[OptimizedForest, None, None]:
        """Forests from number `first` on."""
        arguments = self._arguments(range(first, self.plan.n_forests), hearing)
        if hearing is None or not is_in_threads(self.n_jobs):
            return work_in_order(grow_forest, arguments, self.n_jobs)
        hearing.open()
        stop = StopSignal()
        parts = start_work(grow_forest, arguments, self.n_jobs, stop)
        return hearing.listen(parts, stop)

    def grown_until(self, forest: int, n_iterations: int) -> OptimizedForest:
        """One forest that ends after so many iterations; those after it do not change it."""

        def is_enough(trace: Trace, trees: Trees) -> bool:
            del trees
            return trace.phase.count("leaves") >= n_iterations

        options = replace(self.options, n_threads=int(effective_n_jobs(self.n_jobs)))
        return grow_forest(
            StopSignal(), self.problem, self.start, options, self.plan, forest, tell=is_enough
        )

    def _arguments(self, forests: range, hearing: Hearing | None) -> Iterator[tuple[Any, ...]]:
        n_workers = int(effective_n_jobs(self.n_jobs))
        options = replace(self.options, n_threads=max(1, n_workers // max(1, len(forests))))
        for forest in forests:
            run = self.saving.runs.get(forest)
            tell = None if hearing is None else hearing.speaker(forest, run)
            saver = self.saving.savers.get(forest)
            yield self.problem, self.start, options, self.plan, forest, run, saver, tell


def grow_forest(
    stop: StopSignal,
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    plan: AveragingPlan,
    forest: int,
    resume: ForestRun | None = None,
    save: Save[ForestRun] | None = None,
    tell: AfterIteration | None = None,
) -> OptimizedForest:
    """One forest of a plan; a function of its arguments alone, whoever calls it."""
    seeds = plan.seeds(forest)
    problem = plan.copies.added_to(problem, stream(plan.seed, forest, COPIES))
    is_given = forest < len(plan.given)
    starts: Sequence[Topology | Tree] = ()
    if is_given:
        starts = plan.given[forest]
    elif plan.grown:
        starts = plan.grown[forest]
    elif resume is None:
        starts = forest_start(plan.start, problem, start, options, seeds, stop)
    return optimize_forest(
        problem,
        starts,
        seeds,
        options,
        stop.look,
        keeps_leaves=is_given,
        begins_with_leaves=plan.start.endswith(WITH_LEAVES),
        resume=resume,
        save=save,
        after_iteration=tell,
    )
