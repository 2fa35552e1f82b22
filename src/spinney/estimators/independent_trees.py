"""Forests of independent trees on drawn rows and columns, judged by rows that trees did not see."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score

from spinney import _core
from spinney.data import Problem
from spinney.data.checks import check_boolean, check_choice
from spinney.data.warn_caller import warn_caller
from spinney.ensembles.bagging import BaggedTrees
from spinney.ensembles.calibration import FEW_TREES, Unseen, cross_fitted, map_of_votes
from spinney.ensembles.greedy import GreedyTrees
from spinney.ensembles.plan import GrownTree, SamplePlan, out_of_bag
from spinney.estimators.construction import parameters
from spinney.estimators.model import Model
from spinney.estimators.parameter_checks import check_n_estimators, count_features, count_samples
from spinney.estimators.tasks import Classifier
from spinney.fitting.fingerprint import digest_of_rows
from spinney.fitting.fitted_record import (
    fitted,
    is_digest,
    is_forest,
    is_number_or_nan,
    is_sampling,
    is_seed,
    is_table,
)
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Session
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout, Says
from spinney.tree.structure import Tree

FEATURE_SAMPLINGS = ("local", "global")

#: What a fit stores of the rows that trees did not see.
OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_")


@parameters
class IndependentTrees(Model):
    """Parameters of the draws, the fit of independent trees, and their vote or average.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_features : int, float, str or None, default=None
    feature_sampling : {"local", "global"}, default="local"
    bootstrap : bool, default=True
        Draw the rows of each tree with replacement.
    max_samples : int, float or None, default=None
    oob_score : bool, default=False
        Whether to judge the forest by the rows that each tree did not see.
    """

    n_estimators: int = field(default=30, kw_only=False)
    max_features: int | float | str | None = None
    feature_sampling: str = "local"
    bootstrap: bool = True
    max_samples: int | float | None = None
    oob_score: bool = False

    forest_: Forest = fitted("a forest of these columns and outputs", is_forest)
    oob_score_: float = fitted("a number or nan", is_number_or_nan, is_required=False)
    oob_decision_function_: NDArray[np.float64] = fitted(
        "a number or nan a row and class",
        lambda value, model: np.ndim(value) == 2 and is_table(value, model.n_classes_),
        is_required=False,
    )
    oob_prediction_: NDArray[np.float64] = fitted(
        "a number or nan a row and output",
        lambda value, model: not hasattr(model, "n_classes_") and is_table(value, model.n_outputs_),
        is_required=False,
    )
    _seed: int = fitted("a seed", is_seed)
    # None once the samples differ between trees.
    _sampling: tuple[int, int, bool] | None = fitted(
        "None or (rows, drawn, bootstrap)", is_sampling
    )
    # Of the rows drawn from; models of older releases have none.
    _row_digest: str | None = fitted(
        "None or a digest of rows", is_digest, is_required=False, default=None
    )

    def _check_own(self) -> None:
        check_n_estimators(self.n_estimators, len(self) if self._goes_on() else 0)
        check_choice("feature_sampling", self.feature_sampling, FEATURE_SAMPLINGS)
        check_boolean("bootstrap", self.bootstrap)
        check_boolean("oob_score", self.oob_score)
        # Shares and words can be judged before any data is seen, counts only with it.
        if isinstance(self.max_features, (str, float)):
            count_features(self.max_features, 1)
        if isinstance(self.max_samples, float):
            count_samples(self.max_samples, 1, bootstrap=False)

    def _forest(self) -> Forest:
        return self.forest_

    def _recipe(self, problem: Problem) -> BaggedTrees | GreedyTrees:
        """Which trees there are to be."""
        raise NotImplementedError

    def _fit(
        self, session: Session, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> None:
        problem = self._read(session, X, y, sample_weight)
        self._seed = self._begin(session, problem)
        recipe = self._recipe(problem)
        if self.oob_score and recipe.plan.sees_all(problem.n_rows):
            raise ValueError(
                f"oob_score=True but every tree sees all {problem.n_rows} rows; leave some out; "
                "try max_samples=0.9 or bootstrap=True."
            )
        self._note_sampling(recipe.plan, problem, goes_on=session.goes_on)
        known = self._known_parts() if session.goes_on else []
        if not self.oob_score or hasattr(self, "oob_score_"):  # else there is that to do
            self._warn_if_complete(len(known))

        def store(model: IndependentTrees, parts: list[GrownTree]) -> None:
            model._store(parts, problem)

        self._store(fit_parts(recipe, problem, session, self, store, known), problem)
        for name in OUT_OF_BAG:
            self.__dict__.pop(name, None)  # a warm start may find those of fewer trees
        _judge(self, recipe, problem, session)

    def _resumable_parameters(self) -> tuple[str, ...]:
        # A path of penalties depends on how many trees share it; else a tree follows from the seed
        # and its number.
        is_path = isinstance(getattr(self, "alpha", None), (tuple, list))
        return () if is_path else super()._resumable_parameters()

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

    def _known_parts(self) -> list[GrownTree]:
        """Trees of the last fit."""
        traces = getattr(self, "traces_", [None] * len(self))
        parts = [GrownTree(*of_tree) for of_tree in zip(self.trees_, traces, strict=True)]
        parts[-1] = GrownTree(parts[-1].tree, parts[-1].trace, getattr(self, "_last_tree", None))
        return parts

    def _store(self, parts: list[GrownTree], problem: Problem) -> None:
        """Set the attributes that describe the trees."""
        trees = [part.tree for part in parts]
        self.forest_ = Forest(tuple(trees))
        self._describe(trees, problem, np.ones(len(trees)))

    def _note_sampling(self, plan: SamplePlan, problem: Problem, *, goes_on: bool) -> None:
        """Note which rows trees see; raise if a warm start cannot know what its first have seen."""
        sampling = (problem.n_rows, plan.n_samples, plan.with_replacement)
        rows = digest_of_rows(problem)  # always: any fit may be the first part of a forest
        if not goes_on:
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

    def _is_hard(self) -> bool:
        """Whether trees vote; else what they say is averaged."""
        return False

    def _readout(self) -> Readout:
        readout = _vote_or_mean(self, self.forest_)
        return self._calibrated(readout) if isinstance(self, Classifier) else readout


def _vote_or_mean(model: IndependentTrees, forest: Forest) -> Readout:
    """What becomes of the trees of a forest like that of a model, without a map."""
    if isinstance(model, Classifier):
        says: Says = "label" if model._is_hard() else "probabilities"
        offsets = np.zeros(model.n_classes_)
        return Readout(forest, says, "mean", forest.unit_weights, offsets, model.classes_)
    offsets, is_flat = np.zeros(model.n_outputs_), model.n_outputs_ == 1
    return Readout(forest, "outputs", "mean", forest.unit_weights, offsets, is_flat=is_flat)


def _judge(
    model: IndependentTrees, recipe: BaggedTrees | GreedyTrees, problem: Problem, session: Session
) -> None:
    """Fit the map to probabilities and judge the forest, by rows that trees did not see."""
    wants_map = isinstance(model, Classifier) and bool(model.calibrate)
    if isinstance(model, Classifier):
        model._store_map(None)
        if recipe.plan.sees_all(problem.n_rows):
            if wants_map:
                _map_by_other_trees(model, recipe, problem)
            return
        if wants_map and model._sampling is None:  # a warm start has mixed the samples
            warn_caller(
                "the rows or the samples have changed since the first trees, so that nobody knows "
                "which rows a tree has not seen; probabilities are shares of the votes as they "
                "are, and may be 0; try warm_start=False, or the same rows in all fits."
            )
            wants_map = False
    if not (wants_map or model.oob_score):
        return
    readout = model._readout()

    def said_by(tree: Tree) -> NDArray[np.float64]:
        return readout.said_by(tree, problem.rows, model._n_threads())

    sums, counts = out_of_bag(model.trees_, recipe.plan, problem.n_rows, said_by)
    if wants_map and isinstance(model, Classifier):
        unseen = Unseen(sums, problem.classes, problem.sample_weight)
        model._store_map(map_of_votes(unseen, counts.astype(np.float64)))
    if model.oob_score:
        _store_out_of_bag(model, sums, counts, problem, session.is_kept)


def _map_by_other_trees(model: Any, recipe: BaggedTrees | GreedyTrees, problem: Problem) -> None:
    """Fit the map to what a few trees say of rows that they are grown without."""
    few = recipe.few(min(len(model), FEW_TREES))

    def votes_of(part: Problem, rows: _core.Rows) -> NDArray[np.float64]:
        forest = Forest(tuple(grown.tree for grown in few.parts(part)))
        return _vote_or_mean(model, forest).totals(rows, model._n_threads())

    model._store_map(map_of_votes(cross_fitted(problem, votes_of), few.n_parts))


def _store_out_of_bag(
    model: Any,
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    problem: Problem,
    is_kept: NDArray[np.bool_],
) -> None:
    """Set what is known of rows by the trees that did not see them: sums, and how many these are.

    Rows without a weight, or seen by all trees, have nan.
    """
    if n_missing := int(np.count_nonzero(counts == 0)):
        warn_caller(
            f"{n_missing} of {len(counts)} rows were seen by every tree and have no "
            "out-of-bag prediction; theirs is nan; try more trees or a smaller max_samples.",
        )
    is_judged = counts > 0
    means = np.full_like(sums, np.nan)
    np.divide(sums, counts[:, None], out=means, where=is_judged[:, None])
    given = np.full((len(is_kept), sums.shape[1]), np.nan)
    given[is_kept] = means
    weights = np.where(is_judged, problem.sample_weight, 0.0)
    model.oob_score_ = np.nan
    if problem.n_classes:
        model.oob_decision_function_ = given
        is_right = sums.argmax(axis=1) == problem.classes
        if weights.any():
            model.oob_score_ = float(np.average(is_right, weights=weights))
        return
    model.oob_prediction_ = given[:, 0] if model.n_outputs_ == 1 else given
    if np.count_nonzero(is_judged) > 1:  # R² needs two rows
        found, truth = means[is_judged], problem.targets[is_judged]
        model.oob_score_ = float(r2_score(truth, found, sample_weight=weights[is_judged]))
