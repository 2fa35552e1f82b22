"""What estimators share whose trees add up to scores or numbers: FAO forests, gradient boosting."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.algorithms.fao import FAOOptions
from spinney.algorithms.losses import ForestLoss, forest_loss
from spinney.data import Problem
from spinney.data.checks import check_choice, check_real
from spinney.ensembles.calibration import Unseen, cross_fitted, map_of_scores
from spinney.estimators.early_stopping import WatchedForest
from spinney.estimators.forest_base import VotingForest
from spinney.estimators.parameters import LEAF_PENALTIES, SCORE_LOSSES, SPLITS_OF_SUMS
from spinney.estimators.tao_base import TAOClassification, TAORegression
from spinney.fitting.validation_curve import Judged, given_classes, given_numbers
from spinney.tree.readout import Readout, finish_of


class SummedForest(WatchedForest):
    """Constant leaves that add up, found by the loss of the sums."""

    leaf = "constant"
    max_leaf_weights = None
    relax_leaves = False
    _splits = SPLITS_OF_SUMS

    _fitted_loss: str

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("leaf_penalty", self.leaf_penalty, LEAF_PENALTIES)

    def _check_leaf_alpha(self) -> None:
        check_real("leaf_alpha", self.leaf_alpha, minimum=0.0, example="1.0")

    def _leaf_alpha_of_trees(self) -> None:
        """Leaves are the matter of the sum."""

    def _check_same_loss(self) -> None:
        """Raise if a warm start would add trees of another loss to those there are."""
        if self.loss != self._fitted_loss:
            raise ValueError(
                f"loss={self.loss!r} with warm_start=True, but the trees there are were fitted "
                f"with loss={self._fitted_loss!r}, and sums of the two mean nothing; give the "
                "same; try warm_start=False."
            )

    def _loss(self, unit: float = 1.0) -> ForestLoss:
        """The loss of sums that are measured in this unit."""
        return forest_loss(self.loss, float(getattr(self, "huber_delta", 1.0)) / unit)

    def _forest_options(self, problem: Problem, n_threads: int = 1) -> FAOOptions:
        return FAOOptions(
            tao=self._options(float(self.alpha), n_threads=n_threads),
            loss=self._loss(problem.target_scale),
            leaf_alpha=float(self.leaf_alpha),
            leaf_penalty=self.leaf_penalty,
            max_iter=self._n_sweeps(),
            tol=float(self.tol),
            n_threads=n_threads,
        )

    def _calibrate_by(self, problem: Problem, judged: Judged | None) -> None:
        """Fit the map to probabilities; numbers have none."""

    def _tree_weights(self) -> NDArray[np.float64]:
        """What each tree counts in the scores."""
        raise NotImplementedError

    def _offsets(self) -> NDArray[np.float64]:
        """What is added to the sums of the trees."""
        return np.zeros(self.forest_.n_outputs)


class SummedClassifier(SummedForest, VotingForest, TAOClassification):
    """Sums are scores of classes."""

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of the classes.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
            With two classes of shape (n_rows,): the score of the second less that of the first.
        """
        scores = self._totals(X)
        return self._kept_readout().decisions(scores)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_calibrate()

    def _calibrate_by(self, problem: Problem, judged: Judged | None) -> None:
        """Fit the map to probabilities to validation rows, or to rows that are held out."""
        if not self.calibrate or self._fitted_loss == "log_loss":
            self._store_map(None)
            return
        if judged is not None:
            scores = self._readout().totals(judged.rows, self._n_threads())
            unseen = Unseen(scores, judged.targets.astype(np.int32, copy=False), judged.weights)
        else:
            unseen = cross_fitted(problem, self._scores_apart)
        self._store_map(map_of_scores(unseen))

    def _scores_apart(self, problem: Problem, rows: _core.Rows) -> NDArray[np.float64]:
        """Scores of rows by trees that are fitted to another task, as those of the forest."""
        raise NotImplementedError

    def _losses(self) -> tuple[str, ...]:
        return SCORE_LOSSES

    def _judged(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        return given_classes(self, X_val, y_val)

    def _readout(self) -> Readout:
        finish = finish_of(self._fitted_loss)
        weights, offsets = self._tree_weights(), self._offsets()
        readout = Readout(self.forest_, "outputs", finish, weights, offsets, self.classes_)
        return self._calibrated(readout)


class SummedRegressor(SummedForest, TAORegression):
    """Sums are the numbers to predict."""

    def _judged(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        return given_numbers(self, X_val, y_val)

    def _readout(self) -> Readout:
        weights, offsets = self._tree_weights(), self._offsets()
        is_flat = self.n_outputs_ == 1
        return Readout(self.forest_, "outputs", "identity", weights, offsets, is_flat=is_flat)
