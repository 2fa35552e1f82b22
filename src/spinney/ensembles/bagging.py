"""Bagged TAO trees: each tree is optimised by itself on its own sample.

What sets the trees apart is written in one frozen :class:`BaggingPlan`: rows, columns, starts and
penalties, the mechanisms of [1]_ section 6. The trees share the rows of one problem and differ in
the weights, so no sample is ever copied.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020, sections 4 and 6.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs

from spinney.algorithms.tao import (
    DrawnSplits,
    OptimizedTree,
    TAOOptions,
    draw_splits,
    optimize_tree,
)
from spinney.data import Problem, take_columns
from spinney.ensembles.plan import GrownTree, SamplePlan, widen
from spinney.ensembles.recipe import NO_STEPS, Outline, Steps
from spinney.ensembles.seeds import tree_seed
from spinney.ensembles.starts import StartRule
from spinney.ensembles.stop import StopSignal
from spinney.ensembles.workers import work_in_order
from spinney.tree.structure import Tree


@dataclass(frozen=True)
class BaggingPlan(SamplePlan):
    """What sets the trees of a forest apart.

    Attributes
    ----------
    seed, n_samples, with_replacement, n_columns, is_global
        Rows and columns of each tree ([1]_ sections 6.1 and 6.3).
    start : {"own", "same", "previous"}
        Whose start a tree gets ([1]_ section 6.2). "same" is made once, of all rows; "previous"
        goes on from the tree before.
    alphas : tuple of float
        Penalty of each tree ([1]_ section 6.5); as many as there will be trees.
    """

    start: str
    alphas: tuple[float, ...]

    def start_seed(self, tree: int) -> int:
        """Seed of a tree's structure and first hyperplanes."""
        return tree_seed(self.seed, 0 if self.start == "same" else tree)


@dataclass(frozen=True)
class BaggedTrees:
    """Recipe of trees that are optimised independently, or each from the one before it."""

    start: StartRule
    options: TAOOptions
    plan: BaggingPlan
    n_jobs: int | None
    kind: ClassVar[type[GrownTree]] = GrownTree
    is_saved_by_part: ClassVar[bool] = True

    @property
    def n_parts(self) -> int:
        """Number of trees."""
        return len(self.plan.alphas)

    def outline(self, n_known: int) -> Outline:
        """Trees are counted."""
        return Outline("tree", self.n_parts, first=n_known)

    def few(self, n_trees: int) -> BaggedTrees:
        """So many trees of the same kind, evenly taken from a path of penalties."""
        evenly = np.linspace(0, self.n_parts - 1, n_trees).round().astype(int)
        alphas = tuple(self.plan.alphas[number] for number in evenly)
        return replace(self, plan=replace(self.plan, alphas=alphas))

    def parts(
        self,
        problem: Problem,
        known: Sequence[GrownTree] = (),
        saved: Sequence[GrownTree] = (),
        steps: Steps = NO_STEPS,
    ) -> Generator[GrownTree, None, None]:
        """Saved trees, then those that follow, as they are done."""
        del steps
        yield from saved
        before = [*known, *saved]
        last = before[-1].unpruned if before else None
        grown = bag_trees(
            problem, self.start, self.options, self.plan, len(before), last, self.n_jobs
        )
        # Closed also if a listener fails or Ctrl-C comes between two trees: no worker goes on.
        with closing(grown):
            for found in grown:
                goes_on = self.plan.start == "previous"
                yield GrownTree(found.tree, found.trace, found.unpruned if goes_on else None)


def bag_trees(
    problem: Problem,
    start: StartRule,
    options: TAOOptions,
    plan: BaggingPlan,
    first: int = 0,
    last_tree: Tree | None = None,
    n_jobs: int | None = None,
) -> Generator[OptimizedTree, None, None]:
    """Optimised trees number `first`, `first` + 1, ... of a plan, in order, as they are done.

    Parameters
    ----------
    problem : Problem
    start : StartRule
    options : TAOOptions
        Its `alpha`, `seed`, `max_features` and `n_threads` are set for each tree.
    plan : BaggingPlan
    first : int, default=0
        Trees before it exist already.
    last_tree : Tree or None, default=None
        The unpruned tree before `first`, for ``start="previous"``.
    n_jobs : int or None, default=None
        Trees grown at once, in threads unless a joblib context says otherwise. Where there are
        more jobs than trees, a tree uses several threads.
    """
    trees = range(first, len(plan.alphas))
    n_workers = int(effective_n_jobs(n_jobs))
    if plan.start == "previous":
        options = replace(options, n_threads=n_workers)
        yield from _chain(problem, start, options, plan, trees, last_tree)
        return
    options = replace(options, n_threads=max(1, n_workers // max(1, len(trees))))
    given = _shared_start(problem, start, options, plan) if trees else None
    arguments = ((problem, start, options, plan, tree, given) for tree in trees)
    yield from work_in_order(_grow, arguments, n_jobs)


def _shared_start(
    problem: Problem, start: StartRule, options: TAOOptions, plan: BaggingPlan
) -> Tree | DrawnSplits | None:
    """The start of all trees, made with all rows in view; None if each has its own.

    Trees on different columns cannot have the same hyperplanes; they share the seed.
    """
    if plan.start != "same" or (plan.n_columns and plan.is_global):
        return None
    seed = plan.start_seed(0)
    given = start(problem, seed)
    if isinstance(given, Tree):
        return given
    as_first = _options_of(options, plan, 0)
    return draw_splits(problem, given, replace(as_first, max_features=plan.n_columns))


def _options_of(options: TAOOptions, plan: BaggingPlan, tree: int) -> TAOOptions:
    """The optimiser's options for one tree."""
    return replace(
        options,
        seed=plan.tree_seed(tree),
        start_seed=plan.start_seed(tree),
        alpha=plan.alphas[tree],
    )


def _chain(
    problem: Problem,
    start: StartRule,
    options: TAOOptions,
    plan: BaggingPlan,
    trees: range,
    last_tree: Tree | None,
) -> Iterator[OptimizedTree]:
    """Trees that each start from the one before, unpruned, as along a regularisation path."""
    for tree in trees:
        found = bag_tree(problem, start, options, plan, tree, last_tree)
        last_tree = found.unpruned
        yield found


def bag_tree(
    problem: Problem,
    start: StartRule,
    options: TAOOptions,
    plan: BaggingPlan,
    tree: int,
    given: Tree | DrawnSplits | None = None,
    stop: StopSignal | None = None,
) -> OptimizedTree:
    """One tree of a plan; a function of its arguments alone, whoever calls it.

    It starts from what is `given`, or else where `start` says.
    """
    callback = None if stop is None else stop.look
    start_seed = plan.start_seed(tree)
    weights = problem.sample_weight * plan.row_counts(tree, problem.n_rows)
    sample = replace(problem, sample_weight=weights)
    options = _options_of(options, plan, tree)
    if not plan.n_columns or not plan.is_global:
        options = replace(options, max_features=plan.n_columns)
        return optimize_tree(sample, given or start(sample, start_seed), options, callback)
    columns = plan.columns(tree, problem.n_features)
    narrow = take_columns(sample, columns, n_threads=options.n_threads)
    found = optimize_tree(narrow, start(narrow, start_seed), options, callback)
    return OptimizedTree(
        widen(found.tree, columns, problem.n_features),
        widen(found.unpruned, columns, problem.n_features),
        found.trace,
    )


def _grow(
    stop: StopSignal,
    problem: Problem,
    start: StartRule,
    options: TAOOptions,
    plan: BaggingPlan,
    tree: int,
    given: Tree | DrawnSplits | None,
) -> OptimizedTree:
    """One tree, grown by a worker."""
    return bag_tree(problem, start, options, plan, tree, given, stop)
