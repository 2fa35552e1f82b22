"""Forests of greedily grown trees: CO2, Ho's random decision forests and the baselines.

Trees differ in the rows and columns that are drawn for them and in their random numbers. Ho's are
grown on all rows, each in a subspace that no other tree has [1]_.

References
----------
.. [1] Ho, "Random Decision Forests", ICDAR 1995, section 3.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from spinney.algorithms.grow import STEPPING_SPLITS, GrowOptions, grow_tree
from spinney.data import Problem
from spinney.data.distinct import distinct_rows
from spinney.ensembles.plan import GrownTree, SamplePlan
from spinney.ensembles.recipe import NO_STEPS, Outline, Steps
from spinney.ensembles.seeds import COLUMNS, stream
from spinney.ensembles.stop import StopSignal
from spinney.ensembles.workers import work_in_order
from spinney.tree.structure import Tree


@dataclass(frozen=True)
class SubspacePlan(SamplePlan):
    """A plan whose trees never share a subspace."""

    def subspaces(self, trees: range, n_features: int) -> list[NDArray[np.intp]]:
        """Columns of each tree, ascending; no tree before it has the same."""
        rng = stream(self.seed, 0, COLUMNS)
        drawn: dict[bytes, NDArray[np.intp]] = {}
        while len(drawn) < trees.stop:
            columns = np.sort(rng.choice(n_features, self.n_columns, replace=False))
            drawn.setdefault(columns.tobytes(), columns)
        return list(drawn.values())[trees.start :]

    def columns(self, tree: int, n_features: int) -> NDArray[np.intp]:
        """Columns of one tree, ascending."""
        return self.subspaces(range(tree, tree + 1), n_features)[0]


def count_subspaces(n_features: int, n_columns: int) -> int:
    """How many subspaces of some columns there are; 1 if `n_columns` is 0, for all columns."""
    return comb(n_features, n_columns) if n_columns else 1


@dataclass(frozen=True)
class GreedyTrees:
    """Recipe of trees that are grown greedily and independently."""

    options: GrowOptions
    plan: SamplePlan
    n_trees: int
    n_jobs: int | None
    kind: ClassVar[type[GrownTree]] = GrownTree
    is_saved_by_part: ClassVar[bool] = True

    @property
    def n_parts(self) -> int:
        """Number of trees."""
        return self.n_trees

    def outline(self, n_known: int) -> Outline:
        """Trees are counted."""
        return Outline("tree", self.n_trees, first=n_known)

    def few(self, n_trees: int) -> GreedyTrees:
        """The first so many of these trees."""
        return replace(self, n_trees=n_trees)

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
        missing, plan = range(len(known) + len(saved), self.n_trees), self.plan
        if plan.sees_all(problem.n_rows):
            problem = grown_on(problem, self.options, int(effective_n_jobs(self.n_jobs)))
            plan = replace(plan, n_samples=problem.n_rows)
        grown = grow_forest(problem, self.options, plan, missing, n_jobs=self.n_jobs)
        # Closed also if a listener fails or Ctrl-C comes between two trees: no worker goes on.
        with closing(grown):
            for tree in grown:
                yield GrownTree(tree)


@dataclass(frozen=True)
class GreedyTree:
    """Recipe of one tree, grown on all rows."""

    options: GrowOptions
    kind: ClassVar[type[GrownTree]] = GrownTree
    is_saved_by_part: ClassVar[bool] = True
    n_parts: ClassVar[int] = 1

    def outline(self, n_known: int) -> Outline:
        """The tree is counted."""
        return Outline("tree", 1, first=n_known)

    def parts(
        self,
        problem: Problem,
        known: Sequence[GrownTree] = (),
        saved: Sequence[GrownTree] = (),
        steps: Steps = NO_STEPS,
    ) -> Generator[GrownTree, None, None]:
        """The tree, grown unless it was saved."""
        del known, steps
        yield from saved
        if not saved:
            rows = grown_on(problem, self.options, self.options.n_threads)
            yield GrownTree(grow_tree(rows, self.options))


def grown_on(problem: Problem, options: GrowOptions, n_threads: int) -> Problem:
    """What trees that see all rows are grown on: alike rows are one where they mean steps."""
    if options.split not in STEPPING_SPLITS:
        return problem
    return distinct_rows(problem, n_threads=n_threads)


def grow_forest(
    problem: Problem,
    options: GrowOptions,
    plan: SamplePlan,
    trees: range,
    n_jobs: int | None = None,
) -> Generator[Tree, None, None]:
    """Trees of a plan, in order, as they are done.

    Parameters
    ----------
    problem : Problem
    options : GrowOptions
        Its `seed` and `n_threads` are set for each tree.
    plan : SamplePlan
    trees : range
        Their numbers.
    n_jobs : int or None, default=None
        Trees grown at once, in threads unless a joblib context says otherwise. Where there are
        more jobs than trees, a tree uses several threads.
    """
    n_workers = int(effective_n_jobs(n_jobs))
    options = replace(options, n_threads=max(1, n_workers // max(1, len(trees))))
    columns: list[NDArray[np.intp] | None] = [None] * len(trees)
    if plan.n_columns and plan.is_global:
        columns = list(plan.subspaces(trees, problem.n_features))
    arguments = (
        (problem, options, plan, tree, of_tree)
        for tree, of_tree in zip(trees, columns, strict=True)
    )
    yield from work_in_order(_grow, arguments, n_jobs)


def _grow(
    stop: StopSignal,
    problem: Problem,
    options: GrowOptions,
    plan: SamplePlan,
    tree: int,
    columns: NDArray[np.intp] | None,
) -> Tree:
    """One tree, grown by a worker."""
    counts = plan.row_counts(tree, problem.n_rows)
    sample = replace(problem, sample_weight=problem.sample_weight * counts)
    options = replace(options, seed=plan.tree_seed(tree))
    judges = None
    if options.choice == "oob":
        judges = np.where(counts == 0, problem.sample_weight, 0.0)
    return grow_tree(sample, options, stop.look, columns, judges)
