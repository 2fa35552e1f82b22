"""The two tasks: y is read as classes, or as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from spinney.data import Problem, classification_problem, regression_problem
from spinney.data.checks import check_boolean
from spinney.data.class_weight import check_some_weight, class_factors
from spinney.data.encoded import class_indicators
from spinney.data.validation import (
    check_rows_and_classes,
    check_rows_and_targets,
    check_sample_weight,
    check_total_weight,
    drop_zero_weight,
)
from spinney.ensembles.calibration import ProbabilityMap
from spinney.estimators.construction import parameters
from spinney.estimators.model import Model
from spinney.fitting.fitted_record import are_labels, fitted, is_number, whole
from spinney.fitting.session import Session
from spinney.fitting.validation_curve import Judged, given_classes, given_numbers
from spinney.tree.readout import Readout


@parameters
class Classifier(ClassifierMixin, Model):
    """Reads y as classes.

    Parameters
    ----------
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    calibrate : bool, default=True
    """

    class_weight: object = None
    calibrate: bool = True

    n_outputs_: int = fitted("1", lambda value, _: type(value) is int and value == 1)
    n_classes_: int = fitted("an integer >= 1", whole(1))
    classes_: NDArray[Any] = fitted("a distinct label a class", are_labels)
    probability_votes_: float = fitted(
        "a finite number >= 0",
        lambda value, model: is_number(value, model) and value >= 0,
        is_required=False,
    )
    probability_slope_: float = fitted(
        "a finite number above 0, beside probability_votes_",
        lambda value, model: (
            is_number(value, model) and value > 0 and hasattr(model, "probability_votes_")
        ),
        is_required=False,
    )

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class that the trees speak for most; the first of `classes_` if several tie.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._answers(X)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities of each row; the most probable class is what `predict` answers.

        Where they come from: `docs/guide/probabilities.md`.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes), columns in the order of `classes_`
        """
        totals = self._totals(X)
        return self._kept_readout().finished(totals)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`; -inf where it is 0.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _check_own(self) -> None:
        check_boolean("calibrate", self.calibrate)

    def _read(
        self, session: Session, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Problem:
        self._check_parameters()
        if session.goes_on:
            self._check_goes_on(session)
        rows, classes, codes = check_rows_and_classes(self, X, y, reset=not session.goes_on)
        if session.goes_on:
            classes, codes = self._known_classes(session, classes, codes)
        weights = check_sample_weight(sample_weight, len(codes))
        weights = weights * class_factors(self.class_weight, classes, codes, weights)[codes]
        check_some_weight(self.class_weight, weights)
        check_total_weight(weights)
        session.is_kept = weights > 0
        rows, codes, weights = drop_zero_weight(rows, codes, weights)
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.n_outputs_ = 1
        indicators = class_indicators(codes, self.n_classes_)
        encoded = self._encoded(rows, indicators, weights, goes_on=session.goes_on)
        n_threads, label_of = self._n_threads(), self._label_of_coordinate
        problem = classification_problem(
            encoded,
            codes,
            self.n_classes_,
            weights,
            columns=self._read_columns(),
            n_threads=n_threads,
            label_of=label_of,
        )
        self._note(problem, rows, session)
        return problem

    def _known_classes(
        self, session: Session, classes: NDArray[Any], codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Classes of a fit that goes on, and the codes of its rows among them."""
        del session
        if not np.array_equal(self.classes_, classes):
            raise ValueError(
                f"warm_start=True goes on from trees of the classes {self.classes_.tolist()!r} but "
                f"y holds {classes.tolist()!r}; give the same classes; try warm_start=False."
            )
        return classes, codes

    def _judged_by(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        """Validation rows that the user gave."""
        return given_classes(self, X_val, y_val)

    def _readout_key(self) -> object:
        return self.calibrate

    def _store_map(self, found: ProbabilityMap | None) -> None:
        """Keep a map to probabilities, in place of that of an earlier fit; None is no map."""
        for name in ("probability_slope_", "probability_votes_"):
            self.__dict__.pop(name, None)
        if found is not None:
            self.probability_slope_ = found.slope
            self.probability_votes_ = found.shared

    def _calibrated(self, readout: Readout) -> Readout:
        """The readout with the map to probabilities, if there is one and it is wanted."""
        check_boolean("calibrate", self.calibrate)  # it may be changed after ``fit``
        if not (self.calibrate and hasattr(self, "probability_slope_")):
            return readout
        return readout.calibrated(self.probability_slope_, self.probability_votes_)


@parameters
class Regressor(RegressorMixin, Model):
    """Reads y as numbers, one or several a row."""

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Numbers that the trees give each row together.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows,), or (n_rows, n_outputs) with several outputs
        """
        return self._answers(X)

    def _read(
        self, session: Session, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Problem:
        self._check_parameters()
        if session.goes_on:
            self._check_goes_on(session)
        rows, targets = check_rows_and_targets(self, X, y, reset=not session.goes_on)
        weights = check_sample_weight(sample_weight, len(targets))
        session.is_kept = weights > 0
        rows, targets, weights = drop_zero_weight(rows, targets, weights)
        if session.goes_on and targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"this goes on from trees of {self.n_outputs_} outputs but y has "
                f"{targets.shape[1]}; give as many; try fit with warm_start=False."
            )
        self.n_outputs_ = targets.shape[1]
        encoded = self._encoded(rows, targets, weights, goes_on=session.goes_on)
        n_threads, label_of = self._n_threads(), self._label_of_coordinate
        problem = regression_problem(
            encoded,
            targets,
            weights,
            columns=self._read_columns(),
            n_threads=n_threads,
            label_of=label_of,
        )
        self._note(problem, rows, session)
        return problem

    def _judged_by(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        """Validation rows that the user gave."""
        return given_numbers(self, X_val, y_val)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
