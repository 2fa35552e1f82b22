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

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from joblib import effective_n_jobs

from spinney.algorithms.fao import AfterIteration, FAOOptions, OptimizedForest, optimize_forest
from spinney.algorithms.state import ForestRun, Save
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.ensembles.copies import GappedCopies
from spinney.ensembles.forest_starts import WITH_LEAVES, forest_start
from spinney.ensembles.iteration_order import IterationOrder, StopBehindError, Trees
from spinney.ensembles.recipe import NO_STEPS, Outline, Steps
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
class AveragedForests:
    """Recipe of forests that are optimised independently, each jointly over all its trees."""

    start: StartRule
    options: FAOOptions
    plan: AveragingPlan
    n_jobs: int | None = None
    kind: ClassVar[type[OptimizedForest]] = OptimizedForest
    is_saved_by_part: ClassVar[bool] = True

    @property
    def n_parts(self) -> int:
        """Number of forests."""
        return self.plan.n_forests

    def outline(self, n_known: int) -> Outline:
        """Iterations are counted, anew in each forest."""
        n_forests = self.plan.n_forests
        return Outline(
            "iteration", self.options.max_iter, n_forests=n_forests, first_forest=n_known
        )

    def few(self, n_forests: int) -> AveragedForests:
        """So many forests of the same kind that start anew: given trees may know any row."""
        plan = replace(self.plan, n_forests=n_forests, given=(), grown=())
        options = replace(self.options, keeps_iterations=False, average_last=1)
        return replace(self, plan=plan, options=options)

    def parts(
        self,
        problem: Problem,
        known: Sequence[OptimizedForest] = (),
        saved: Sequence[OptimizedForest] = (),
        steps: Steps = NO_STEPS,
    ) -> Generator[OptimizedForest, None, None]:
        """Saved forests, then those that follow, as they are done.

        A forest after one of whose iterations the fit is to end ends there, and is the last.
        """
        first = len(known)
        work = _Work(self, problem, first, steps)
        if not steps.has_listeners:
            yield from saved
            yield from work.grown(first + len(saved), None)
            return
        order = IterationOrder(steps, first)
        try:
            with closing(_in_order(work, saved, order)) as forests:
                yield from forests
        except StopBehindError as stop:
            yield work.grown_until(order.forest, stop)


def _in_order(
    work: _Work, saved: Sequence[OptimizedForest], order: IterationOrder
) -> Generator[OptimizedForest, None, None]:
    """Forests while their iterations are reported, up to the one at which the fit is to end."""
    for forest in saved:
        order.restore_forest(forest)
        yield forest
        if order.is_stopped:
            return
        order.next_forest()
    with closing(work.grown(order.forest, order)) as grown:
        for forest in grown:
            order.end_forest(forest)
            yield forest
            if order.is_stopped:
                return
            order.next_forest()


@dataclass(frozen=True)
class _Work:
    """Growing the forests of a recipe for one task."""

    recipe: AveragedForests
    problem: Problem
    first: int
    steps: Steps

    def grown(
        self, first: int, order: IterationOrder | None
    ) -> Generator[OptimizedForest, None, None]:
        """Forests from number `first` on."""
        n_jobs = self.recipe.n_jobs
        arguments = self._arguments(range(first, self.recipe.n_parts), order)
        if order is None or not is_in_threads(n_jobs):
            return work_in_order(grow_forest, arguments, n_jobs)
        order.open()
        stop = StopSignal()
        return order.listen(start_work(grow_forest, arguments, n_jobs, stop), stop)

    def grown_until(self, forest: int, stop: StopBehindError) -> OptimizedForest:
        """One forest that ends after an iteration; those after it do not change it."""

        def is_enough(trace: Trace, trees: Trees) -> bool:
            del trees
            return trace.phase.count("leaves") >= stop.number

        n_threads = int(effective_n_jobs(self.recipe.n_jobs))
        options = replace(self.recipe.options, n_threads=n_threads)
        start, plan = self.recipe.start, self.recipe.plan
        return grow_forest(
            StopSignal(), self.problem, start, options, plan, forest, stop.run, None, is_enough
        )

    def _arguments(self, forests: range, order: IterationOrder | None) -> Iterator[tuple[Any, ...]]:
        recipe, n_workers = self.recipe, int(effective_n_jobs(self.recipe.n_jobs))
        options = replace(recipe.options, n_threads=max(1, n_workers // max(1, len(forests))))
        runs = self.steps.runs(ForestRun)
        for forest in forests:
            run, save = runs.get(forest - self.first), self.steps.saver(forest - self.first)
            reporter = None
            if order is not None:
                # It is given each state to save before it is called, and so knows it then.
                reporter = order.reporter(forest, run, save)
                save = reporter.save
            yield self.problem, recipe.start, options, recipe.plan, forest, run, save, reporter


def grow_forest(
    stop: StopSignal,
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    plan: AveragingPlan,
    forest: int,
    resume: ForestRun | None = None,
    save: Save[ForestRun] | None = None,
    after_iteration: AfterIteration | None = None,
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
        after_iteration=after_iteration,
    )
