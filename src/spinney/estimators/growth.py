"""What estimators of greedily grown trees share: limits of growth, and the growing of forests."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from spinney.algorithms.grow import CRITERIA, SQUARING_SPLITS, STEPPING_SPLITS, GrowOptions
from spinney.data import Problem, check_scales
from spinney.data.checks import check_boolean, check_choice, check_integer, check_n_jobs, check_real
from spinney.data.distinct import distinct_rows
from spinney.ensembles.greedy import grow_forest
from spinney.ensembles.plan import SamplePlan
from spinney.estimators.base import Estimator
from spinney.estimators.independent_trees import SampledForest
from spinney.fitting.events import model_so_far, tell_tree
from spinney.tree.structure import Tree


class GrownEstimator(Estimator):
    """Checks and options of greedy growth."""

    def _check_growth(self) -> None:
        """Raise if a constructor value of the growth is of no use."""
        if is_classifier(self):
            check_choice("criterion", self.criterion, CRITERIA)
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, minimum=1, example="None for no limit")
        check_integer("min_samples_split", self.min_samples_split, minimum=2, example="2")
        check_real(
            "min_weight_fraction_leaf", self.min_weight_fraction_leaf, minimum=0.0, example="0"
        )
        if float(self.min_weight_fraction_leaf) > 0.5:
            raise ValueError(
                f"min_weight_fraction_leaf={self.min_weight_fraction_leaf!r} leaves no split, as "
                "two sides cannot both have more than half; give a number from 0 to 0.5; try 0.01."
            )
        check_real("leaf_shrinkage", self.leaf_shrinkage, minimum=0.0, example="10.0")
        check_n_jobs(self.n_jobs)
        if not isinstance(self.verbose, (bool, np.bool_)):
            check_integer("verbose", self.verbose, minimum=0, example="1 for a live bar")

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        problem = super()._problem(X, y, sample_weight)
        if self._split() in SQUARING_SPLITS:
            why = f"{type(self).__name__} squares it, so"
            check_scales(problem.scale, why, self._label_of_coordinate)
        return problem

    def _grown_on(self, problem: Problem) -> Problem:
        """What trees that see all rows are grown on: alike rows are one where they mean steps."""
        if self._split() not in STEPPING_SPLITS:
            return problem
        return distinct_rows(problem, n_threads=self._n_threads())

    def _split(self) -> str:
        """Name of the split for the grower."""
        return str(self.split)

    def _grow_options(self, n_candidates: int) -> GrowOptions:
        """The grower's options from the constructor's values."""
        return GrowOptions(
            split=self._split(),
            criterion=self.criterion if is_classifier(self) else "entropy",
            max_depth=int(self.max_depth or 0),
            min_rows=int(self.min_samples_split),
            min_leaf_share=float(self.min_weight_fraction_leaf),
            leaf_shrinkage=float(self.leaf_shrinkage),
            n_candidates=n_candidates,
        )


class GrownForest(SampledForest, GrownEstimator):
    """A forest of greedily grown trees."""

    def _check_parameters(self) -> None:
        self._check_sampled()
        self._check_growth()
        check_boolean("warm_start", self.warm_start)

    def _n_candidates(self, plan: SamplePlan) -> int:
        """Columns or directions a split tries; 0 for as many as it has columns."""
        return 0 if plan.is_global else plan.n_columns

    def _n_trees(self, problem: Problem, plan: SamplePlan) -> int:
        """How many trees there are to be."""
        del problem, plan
        return int(self.n_estimators)

    def _grow(self, problem: Problem, plan: SamplePlan) -> None:
        trees: list[Tree] = list(self.trees_) if self._is_continued() else []
        n_trees = self._n_trees(problem, plan)
        self._progress.begin("tree", n_trees, first=len(trees))
        snapshot = model_so_far(
            self, lambda model: model._store_trees(list(trees), problem, np.ones(len(trees)))
        )
        grown = self._trees_to_add(range(len(trees), n_trees), problem, plan)
        # Closed also if a callback fails or Ctrl-C comes between two trees: no worker goes on.
        with closing(grown):
            for tree, is_restored in grown:
                trees.append(tree)
                if tell_tree(
                    self._progress, len(trees), tree, None, snapshot, restored=is_restored
                ):
                    break
        self._store_trees(trees, problem, np.ones(len(trees)))

    def _grown_apart(self, problem: Problem, plan: SamplePlan, n_trees: int) -> Iterable[Tree]:
        options = self._grow_options(self._n_candidates(plan))
        problem = self._grown_on(problem)
        plan = replace(plan, n_samples=problem.n_rows)
        return list(grow_forest(problem, options, plan, range(n_trees), n_jobs=self.n_jobs))

    def _trees_to_add(
        self, numbers: range, problem: Problem, plan: SamplePlan
    ) -> Generator[tuple[Tree, bool], None, None]:
        """Trees of these numbers, and whether they come from the checkpoint."""
        saved = self._checkpoint.parts(Tree)[: len(numbers)]
        for tree in saved:
            yield tree, True
        options = self._grow_options(self._n_candidates(plan))
        missing = numbers[len(saved) :]
        if plan.sees_all(problem.n_rows):
            problem = self._grown_on(problem)
            plan = replace(plan, n_samples=problem.n_rows)
        grown = grow_forest(problem, options, plan, missing, n_jobs=self.n_jobs)
        with closing(grown):
            for tree in grown:
                self._checkpoint.add(tree)
                yield tree, False
