"""What estimators share that are judged on validation rows while they grow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from spinney.algorithms.trace import Trace
from spinney.data import Problem, reweight
from spinney.data.checks import check_boolean, check_integer, check_share
from spinney.estimators.forest_base import TracedForest
from spinney.estimators.parameters import check_alpha, check_learning_rate
from spinney.estimators.sampling import check_n_estimators
from spinney.fitting.fingerprint import digest_of_rows
from spinney.fitting.progress import FitEvent
from spinney.fitting.validation_curve import Judged, set_aside

#: Trees without progress after which boosting stops, if it is to stop and nobody says when.
PATIENCE = 10


class WatchedForest(TracedForest):
    """A forest with validation rows, given to ``fit`` or set aside from the training rows."""

    _seed: int
    _fraction_aside: float  # of the rows, which no tree has seen
    _row_digest: str | None = None  # of the rows they are from; older models have none

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Fit the forest to training rows.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
            Training rows. Numbers are read as float32; categories, text, dates and missing
            values become numbers as `encoding_` tells afterwards.
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs)
            Classes or numbers to predict.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight k counts a row k times, weight 0 leaves it out. None counts each row once.
        X_val, y_val : array-like or None, default=None
            Validation rows, on which the forest is judged as it grows. Whether it also stops by
            them is said by `early_stopping`.
        checkpoint : str, path or None, default=None
            File that the fit is saved to as it goes on. The same call after a crash, a kill or
            Ctrl-C goes on from there and ends in the same model, bit for bit. A file of other
            data or parameters is refused. See `docs/guide/checkpoints.md`.
        callback : callable or None, default=None
            Called with a :class:`spinney.FitEvent` after each round or iteration, in order, in the
            thread that called ``fit``. If it returns True the fit ends there, with what is done,
            and `stopped_by_callback_` is True. See `docs/guide/progress.md`.

        Returns
        -------
        self
            An error or an interrupt leaves the estimator exactly as it was.
        """
        return self._transact(
            X, y, sample_weight, X_val, y_val, checkpoint=checkpoint, callback=callback
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_share("validation_fraction", self.validation_fraction, example="0.1")

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> None:
        _check_pair(X_val, y_val)
        problem = self._problem(X, y, sample_weight)
        judged: Judged | None = None
        if X_val is not None and y_val is not None:
            judged = self._judged(X_val, y_val)
        is_cut = judged is None and self._stops_early()
        self._note_rows_aside(problem, float(self.validation_fraction) if is_cut else 0.0)
        self._seed = self._seed_of_fit(problem, () if judged is None else judged.values)
        if judged is None and not is_cut:  # else there are trees to judge
            self._warn_if_complete()
        if is_cut:
            judged, weights = set_aside(problem, self._fraction_aside, self._seed)
            problem = reweight(
                problem,
                weights,
                n_threads=self._n_threads(),
                label_of=self._label_of_coordinate,
            )
        self._grow_watched(problem, judged)

    def _note_rows_aside(self, problem: Problem, fraction: float) -> None:
        """Store which rows are set aside; raise if trees of an earlier fit may know them."""
        if not fraction:
            self._fraction_aside, self._row_digest = 0.0, None
            return
        rows = digest_of_rows(problem)
        if self._is_continued():
            self._check_unseen(fraction, rows)
        else:
            self._fraction_aside, self._row_digest = fraction, rows

    def _stops_early(self) -> bool:
        """Whether validation rows decide when to stop, so that some are needed."""
        raise NotImplementedError

    def _judged(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        """Validation rows that the user gave."""
        raise NotImplementedError

    def _grow_watched(self, problem: Problem, judged: Judged | None) -> None:
        """Grow the trees, judging them, and store them."""
        raise NotImplementedError

    def _store_watched(self, name: str, errors: list[float]) -> None:
        """Keep what was seen on validation rows under this name, if there were any."""
        self.__dict__.pop(name, None)
        if errors:
            setattr(self, name, np.array(errors))

    def _check_unseen(self, fraction: float, rows: str) -> None:
        """Raise if trees of an earlier fit were trained on the rows to validate by."""
        wanted = f"validation_fraction={fraction} of the rows is to be set aside, but"
        if fraction != self._fraction_aside:
            raise ValueError(
                f"{wanted} the last fit had {self._fraction_aside} aside, and its trees know some "
                "of these rows; give X_val and y_val, or set the same share aside in all fits; "
                f"try {self._fresh_start()}."
            )
        if self._row_digest not in (None, rows):
            raise ValueError(
                f"{wanted} they or their order are not those of the last fit, and its trees may "
                "know some of these rows; give X_val and y_val, or the same rows in all fits; try "
                f"{self._fresh_start()}."
            )

    def _fresh_start(self) -> str:
        """What to do where trees cannot go on from those of an earlier fit."""
        return "warm_start=False"


class BoostedForest(WatchedForest):
    """Trees that follow each other, until validation rows say that there are enough."""

    _sweeps = "max_sweeps"

    def _count_iterations(self, traces: list[Trace]) -> int:
        """Trees: an iteration of boosting is a tree."""
        return len(traces)

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Predictions of the first tree, the first two, and so on."""
        raise NotImplementedError

    def staged_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Accuracy or R² of the first tree, the first two, and so on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs)
        sample_weight : array-like of shape (n_rows,) or None, default=None

        Yields
        ------
        float
        """
        score = accuracy_score if is_classifier(self) else r2_score
        for predicted in self.staged_predict(X):
            yield float(score(y, predicted, sample_weight=sample_weight))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_n_estimators(self.n_estimators, len(self.trees_) if self._is_continued() else 0)
        check_alpha(self.alpha)
        check_learning_rate(self.learning_rate)
        if self.early_stopping is not None:
            check_boolean("early_stopping", self.early_stopping)
        if self.n_iter_no_change is not None:
            check_integer("n_iter_no_change", self.n_iter_no_change, minimum=1, example="10")

    def _stops_early(self) -> bool:
        if self.early_stopping is None:
            return self.n_iter_no_change is not None
        return bool(self.early_stopping)

    def _patience(self) -> int | None:
        """Trees without progress after which there are enough; None never stops early."""
        if not self._stops_early():
            return None
        return PATIENCE if self.n_iter_no_change is None else int(self.n_iter_no_change)

    def _may_grow(self) -> tuple[str, ...]:
        return ("n_estimators",)  # a tree follows from those before it


def _check_pair(X_val: ArrayLike | None, y_val: ArrayLike | None) -> None:
    if (X_val is None) != (y_val is None):
        missing, given = ("X_val", "y_val") if X_val is None else ("y_val", "X_val")
        raise ValueError(
            f"{given} is given but {missing} is None; give both or neither; try "
            "early_stopping=True to set training rows aside."
        )
