"""Forests that are judged on validation rows while they grow, and boosting, which stops by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score

from spinney.algorithms.trace import Trace
from spinney.data import Problem, reweight
from spinney.data.checks import check_boolean, check_integer, check_share
from spinney.ensembles.boosting import BoostedTree
from spinney.ensembles.gradient import AddedTree
from spinney.estimators.construction import parameters
from spinney.estimators.model import Model
from spinney.estimators.parameter_checks import (
    check_alpha,
    check_learning_rate,
    check_n_estimators,
)
from spinney.fitting.fingerprint import digest_of_rows
from spinney.fitting.fitted_record import (
    are_traces,
    fitted,
    is_digest,
    is_forest,
    is_seed,
    is_share,
    whole,
)
from spinney.fitting.session import Callback, CheckpointPath, Session
from spinney.fitting.validation_curve import Judged, set_aside
from spinney.tree.forest import Forest

#: Trees without progress after which boosting stops, if it is to stop and nobody says when.
PATIENCE = 10


@parameters
class ValidatedForest(Model):
    """A forest with validation rows, given to ``fit`` or set aside from the training rows.

    Parameters
    ----------
    early_stopping : bool or None, default=None
    validation_fraction : float, default=0.1
        Part of the training rows set aside
    """

    early_stopping: bool | None = None
    validation_fraction: float = 0.1

    forest_: Forest = fitted("a forest of these columns and outputs", is_forest)
    traces_: list[Trace] = fitted("a Trace a tree, or a forest of FAO", are_traces)
    n_iter_: int = fitted("an integer >= 0", whole(0))
    _seed: int = fitted("a seed", is_seed)
    # Of the rows, which no tree has seen, and of the rows they are from; older models lack that.
    _fraction_aside: float = fitted("a share of the rows", is_share)
    _row_digest: str | None = fitted(
        "None or a digest of rows", is_digest, is_required=False, default=None
    )

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        checkpoint: CheckpointPath | None = None,
        callback: Callback | None = None,
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
        data = X, y, sample_weight, X_val, y_val
        return self._transact(data, type(self)._fit, checkpoint=checkpoint, callback=callback)

    def _check_own(self) -> None:
        check_share("validation_fraction", self.validation_fraction, example="0.1")

    def _forest(self) -> Forest:
        return self.forest_

    def _fit(
        self,
        session: Session,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *validation: Any,
    ) -> None:
        problem, judged = self._read_with_validation(session, X, y, sample_weight, *validation)
        self._grow(session, problem, judged)

    def _read_with_validation(
        self,
        session: Session,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        weights_val: NDArray[np.float64] | None = None,
    ) -> tuple[Problem, Judged | None]:
        """Rows to train on and rows to judge by, none of which are the same; begins the session."""
        _check_pair(X_val, y_val)
        problem = self._read(session, X, y, sample_weight)
        judged: Judged | None = None
        if X_val is not None and y_val is not None:
            judged = self._judged_by(X_val, y_val)
            if weights_val is not None:
                judged = judged._replace(weights=weights_val)
        is_cut = judged is None and self._stops_early()
        fraction = float(self.validation_fraction) if is_cut else 0.0
        self._note_rows_aside(session, problem, fraction)
        self._seed = self._begin(session, problem, () if judged is None else judged.values)
        if judged is None and not is_cut:  # else there are trees to judge
            self._warn_if_complete(self._n_known(session))
        if is_cut:
            judged, weights = set_aside(problem, self._fraction_aside, self._seed)
            n_threads, label_of = self._n_threads(), self._label_of_coordinate
            problem = reweight(problem, weights, n_threads=n_threads, label_of=label_of)
        return problem, judged

    def _judged_by(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        """Validation rows that the user gave."""
        raise NotImplementedError

    def _grow(self, session: Session, problem: Problem, judged: Judged | None) -> None:
        """Grow the trees, judging them, and store them."""
        raise NotImplementedError

    def _n_known(self, session: Session) -> int:
        """How many parts the fit goes on from."""
        return len(self) if session.goes_on else 0

    def _stops_early(self) -> bool:
        """Whether validation rows decide when to stop, so that some are needed."""
        return bool(self.early_stopping)

    def _store_curve(self, name: str, errors: list[float]) -> None:
        """Keep what was seen on validation rows under this name, if there were any."""
        self.__dict__.pop(name, None)
        if errors:
            setattr(self, name, np.array(errors))

    def _note_rows_aside(self, session: Session, problem: Problem, fraction: float) -> None:
        """Store which rows are set aside; raise if trees of an earlier fit may know them."""
        if not fraction:
            self._fraction_aside, self._row_digest = 0.0, None
            return
        rows = digest_of_rows(problem)
        if session.goes_on:
            self._check_unseen(session, fraction, rows)
        else:
            self._fraction_aside, self._row_digest = fraction, rows

    def _check_unseen(self, session: Session, fraction: float, rows: str) -> None:
        """Raise if trees of an earlier fit were trained on the rows to validate by."""
        is_refit = session.call == "refit"
        instead = "early_stopping=False, or a new fit" if is_refit else "warm_start=False"
        wanted = f"validation_fraction={fraction} of the rows is to be set aside, but"
        if fraction != self._fraction_aside:
            raise ValueError(
                f"{wanted} the last fit had {self._fraction_aside} aside, and its trees know some "
                "of these rows; give X_val and y_val, or set the same share aside in all fits; "
                f"try {instead}."
            )
        if self._row_digest not in (None, rows):
            raise ValueError(
                f"{wanted} they or their order are not those of the last fit, and its trees may "
                "know some of these rows; give X_val and y_val, or the same rows in all fits; try "
                f"{instead}."
            )


@parameters
class BoostedForest(ValidatedForest):
    """Trees that follow each other, until validation rows say that there are enough.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees, unless boosting stops before.
    learning_rate : float, default=0.1
    max_sweeps : int, default=20
        Sweeps over each tree.
    n_iter_no_change : int or None, default=None
        Trees without a lower
    """

    n_estimators: int = field(default=30, kw_only=False)
    learning_rate: float = 0.1
    max_sweeps: int = 20
    n_iter_no_change: int | None = None

    _sweeps: ClassVar[str] = "max_sweeps"

    def _check_own(self) -> None:
        check_n_estimators(self.n_estimators, len(self) if self._goes_on() else 0)
        check_alpha(self.alpha)  # type: ignore[attr-defined]  # of an TAOParameters
        check_learning_rate(self.learning_rate)
        if self.early_stopping is not None:
            check_boolean("early_stopping", self.early_stopping)
        if self.n_iter_no_change is not None:
            check_integer("n_iter_no_change", self.n_iter_no_change, minimum=1, example="10")

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Predictions of the first tree, the first two, and so on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
            The last is what `predict` gives, bit for bit.
        """
        for readout, totals in self._stages(X):
            yield readout.answers(totals)

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

    def _stops_early(self) -> bool:
        if self.early_stopping is None:
            return self.n_iter_no_change is not None
        return bool(self.early_stopping)

    def _patience(self) -> int | None:
        """Trees without progress after which there are enough; None never stops early."""
        if not self._stops_early():
            return None
        return PATIENCE if self.n_iter_no_change is None else int(self.n_iter_no_change)

    def _store(
        self,
        members: Sequence[BoostedTree] | Sequence[AddedTree],
        problem: Problem,
        shares: NDArray[np.float64],
    ) -> None:
        """Set the attributes that describe the trees; `shares` weight their importances."""
        trees = [member.tree for member in members]
        self.forest_ = Forest(tuple(trees))
        self._describe(trees, problem, shares)
        self.traces_ = [member.trace for member in members]
        self.n_iter_ = len(trees)  # an iteration of boosting is a tree


def _check_pair(X_val: ArrayLike | None, y_val: ArrayLike | None) -> None:
    if (X_val is None) != (y_val is None):
        missing, given = ("X_val", "y_val") if X_val is None else ("y_val", "X_val")
        raise ValueError(
            f"{given} is given but {missing} is None; give both or neither; try "
            "early_stopping=True to set training rows aside."
        )
