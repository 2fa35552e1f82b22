"""Forests whose trees are grown apart, each on rows that are drawn for it.

Bagged TAO trees and greedily grown forests differ in how a tree is found, not in how rows are
drawn, votes are counted or rows out of the bag are used.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score

from spinney import _core
from spinney.data import Problem
from spinney.data.checks import check_boolean, check_choice
from spinney.data.warn_caller import warn_caller
from spinney.ensembles.calibration import (
    FEW_TREES,
    ProbabilityMap,
    Unseen,
    cross_fitted,
    map_of_votes,
)
from spinney.ensembles.plan import SamplePlan, out_of_bag
from spinney.estimators.base import Regression
from spinney.estimators.forest_base import ForestEstimator, VotingForest
from spinney.estimators.sampling import check_n_estimators, count_features, count_samples
from spinney.fitting.fingerprint import digest_of_rows
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout
from spinney.tree.structure import Tree

FEATURE_SAMPLINGS = ("local", "global")


class SampledForest(ForestEstimator):
    """Drawn rows, the frame of a fit, and the out-of-bag estimate."""

    _seed: int
    _sampling: tuple[int, int, bool] | None  # None once they differ between trees
    _row_digest: str | None = None  # of the rows drawn from; models of older releases have none

    def _check_sampled(self) -> None:
        """Raise if a constructor value of the draws is of no use."""
        check_n_estimators(self.n_estimators, len(self.trees_) if self._is_continued() else 0)
        check_choice("feature_sampling", self.feature_sampling, FEATURE_SAMPLINGS)
        check_boolean("bootstrap", self.bootstrap)
        check_boolean("oob_score", self.oob_score)
        # Shares and words can be judged before any data is seen, counts only with it.
        if isinstance(self.max_features, (str, float)):
            count_features(self.max_features, 1)
        if isinstance(self.max_samples, float):
            count_samples(self.max_samples, 1, bootstrap=False)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        problem = self._problem(X, y, sample_weight)
        self._seed = self._seed_of_fit(problem)
        plan = self._plan(problem)
        if self.oob_score and plan.sees_all(problem.n_rows):
            raise ValueError(
                f"oob_score=True but every tree sees all {problem.n_rows} rows; leave some out; "
                "try max_samples=0.9 or bootstrap=True."
            )
        self._check_sampling(plan, problem)
        if not self.oob_score or hasattr(self, "oob_score_"):  # else there is that to do
            self._warn_if_complete()
        self._grow(problem, plan)
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)  # a warm start may find those of fewer trees
        self._judge(plan, problem)

    def _judge(self, plan: SamplePlan, problem: Problem) -> None:
        """Judge the forest by the rows that trees did not see, if that is wanted."""
        if self.oob_score:
            sums, counts = self._out_of_bag_sums(plan, problem)
            self._warn_of_missing(counts)
            self._store_out_of_bag(sums, counts, problem)

    def _may_grow(self) -> tuple[str, ...]:
        return ("n_estimators",)  # a tree follows from the seed and its number

    def _sample_plan(self, problem: Problem) -> SamplePlan:
        """How rows and columns are drawn, checked against the data."""
        bootstrap = bool(self.bootstrap)
        return SamplePlan(
            seed=self._seed,
            n_samples=count_samples(self.max_samples, problem.n_rows, bootstrap=bootstrap),
            with_replacement=bootstrap,
            n_columns=count_features(self.max_features, problem.n_features),
            is_global=self.feature_sampling == "global",
        )

    def _plan(self, problem: Problem) -> SamplePlan:
        """What sets the trees apart."""
        return self._sample_plan(problem)

    def _grow(self, problem: Problem, plan: SamplePlan) -> None:
        """Grow the trees that are missing and store them all."""
        raise NotImplementedError

    def _check_sampling(self, plan: SamplePlan, problem: Problem) -> None:
        """Raise if a warm start cannot know which rows its first trees have seen."""
        sampling = (problem.n_rows, plan.n_samples, plan.with_replacement)
        rows = digest_of_rows(problem)  # always: any fit may be the first part of a forest
        if not self._is_continued():
            self._sampling, self._row_digest = sampling, rows
            return
        change = self._change_of_samples(sampling, rows)
        if change and self.oob_score:
            raise ValueError(
                f"oob_score=True with warm_start=True, but {change}; give the same rows in the "
                "same order, max_samples and bootstrap in all fits; try warm_start=False."
            )
        if change:
            self._sampling = None

    def _change_of_samples(self, sampling: tuple[int, int, bool], rows: str) -> str:
        """How the samples differ from those of the trees there are; empty if they do not."""
        if sampling != self._sampling:
            return f"the samples have changed to (rows, drawn, bootstrap)={sampling}"
        if self._row_digest not in (None, rows):
            return "the rows or their order have changed, and trees may know those out of their bag"
        return ""

    def _out_of_bag_sums(
        self, plan: SamplePlan, problem: Problem
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sums over the trees that did not see a row, and how many these are."""
        readout = self._readout()

        def said_by(tree: Tree) -> NDArray[np.float64]:
            return readout.said_by(tree, problem.rows, self._n_threads())

        return out_of_bag(self.trees_, plan, problem.n_rows, said_by)

    def _warn_of_missing(self, counts: NDArray[np.int64]) -> None:
        """Warn if some row has no tree that did not see it."""
        n_missing = int(np.count_nonzero(counts == 0))
        if n_missing:
            warn_caller(
                f"{n_missing} of {len(counts)} rows were seen by every tree and have no "
                "out-of-bag prediction; theirs is nan; try more trees or a smaller max_samples.",
            )

    def _for_given_rows(
        self, sums: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Means over the trees, nan for rows of no weight or seen by all trees."""
        means = np.full_like(sums, np.nan)
        np.divide(sums, counts[:, None], out=means, where=counts[:, None] > 0)
        given = np.full((len(self._is_kept), sums.shape[1]), np.nan)
        given[self._is_kept] = means
        return given

    def _store_out_of_bag(
        self, sums: NDArray[np.float64], counts: NDArray[np.int64], problem: Problem
    ) -> None:
        raise NotImplementedError


class SampledClassifier(SampledForest, VotingForest):
    """Trees that vote, or whose class probabilities are averaged."""

    def _check_sampled(self) -> None:
        super()._check_sampled()
        self._check_calibrate()

    def _judge(self, plan: SamplePlan, problem: Problem) -> None:
        """Fit the map to probabilities and judge the forest by rows that trees did not see."""
        self._store_map(None)
        if plan.sees_all(problem.n_rows):
            if self.calibrate:
                self._store_map(self._map_of_other_trees(plan, problem))
            return
        is_known = self._sampling is not None  # else a warm start has mixed the samples
        if self.calibrate and not is_known:
            warn_caller(
                "the rows or the samples have changed since the first trees, so that nobody knows "
                "which rows a tree has not seen; probabilities are shares of the votes as they "
                "are, and may be 0; try warm_start=False, or the same rows in all fits."
            )
        if not self.oob_score and not (self.calibrate and is_known):
            return
        sums, counts = self._out_of_bag_sums(plan, problem)
        if self.calibrate and is_known:
            unseen = Unseen(sums, problem.classes, problem.sample_weight)
            self._store_map(map_of_votes(unseen, counts.astype(np.float64)))
        if self.oob_score:
            self._warn_of_missing(counts)
            self._store_out_of_bag(sums, counts, problem)

    def _map_of_other_trees(self, plan: SamplePlan, problem: Problem) -> ProbabilityMap:
        """The map that suits a few trees grown without a part of the rows."""
        n_trees = min(self.forest_.n_trees, FEW_TREES)

        def votes_of(part: Problem, rows: _core.Rows) -> NDArray[np.float64]:
            trees = Forest(tuple(self._grown_apart(part, plan, n_trees)))
            return self._readout_of(trees).totals(rows, self._n_threads())

        return map_of_votes(cross_fitted(problem, votes_of), n_trees)

    def _grown_apart(self, problem: Problem, plan: SamplePlan, n_trees: int) -> Iterable[Tree]:
        """The first trees of the same plan on other rows, which are no part of the forest."""
        raise NotImplementedError

    def _is_hard(self) -> bool:
        """Whether trees vote; else their probabilities are averaged."""
        return False

    def _readout(self) -> Readout:
        return self._calibrated(self._readout_of(self.forest_))

    def _readout_of(self, forest: Forest) -> Readout:
        """What becomes of the trees of a forest like this one, without a map."""
        return Readout(
            forest,
            "label" if self._is_hard() else "probabilities",
            "mean",
            forest.unit_weights,
            np.zeros(self.n_classes_),
            self.classes_,
        )

    def _store_out_of_bag(
        self, sums: NDArray[np.float64], counts: NDArray[np.int64], problem: Problem
    ) -> None:
        self.oob_decision_function_ = self._for_given_rows(sums, counts)
        weights = np.where(counts > 0, problem.sample_weight, 0.0)
        is_right = sums.argmax(axis=1) == problem.classes
        self.oob_score_ = float(np.average(is_right, weights=weights)) if weights.any() else np.nan


class SampledRegressor(SampledForest, Regression):
    """Trees whose numbers are averaged."""

    def _readout(self) -> Readout:
        return Readout(
            self.forest_,
            "outputs",
            "mean",
            self.forest_.unit_weights,
            np.zeros(self.n_outputs_),
            is_flat=self.n_outputs_ == 1,
        )

    def _store_out_of_bag(
        self, sums: NDArray[np.float64], counts: NDArray[np.int64], problem: Problem
    ) -> None:
        given = self._for_given_rows(sums, counts)
        self.oob_prediction_ = given[:, 0] if self.n_outputs_ == 1 else given
        is_judged = counts > 0
        self.oob_score_ = np.nan  # R² needs two rows
        if np.count_nonzero(is_judged) > 1:
            self.oob_score_ = float(
                r2_score(
                    problem.targets[is_judged],
                    sums[is_judged] / counts[is_judged, None],
                    sample_weight=problem.sample_weight[is_judged],
                )
            )
