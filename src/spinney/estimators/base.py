"""What every estimator does around its optimiser: the transaction of ``fit`` and the checks.

One tree, a bagged, boosted or greedily grown forest differ in what they optimise and store, not in
how they read X, y and weights. No algorithm lives here; what estimators of TAO trees share beside
this is in :mod:`spinney.estimators.tao_base`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from spinney import _core
from spinney.data import Problem, as_rows, classification_problem, regression_problem
from spinney.data.checks import check_choice
from spinney.data.class_weight import check_some_weight, class_factors
from spinney.data.encoded import (
    check_same_categories,
    class_indicators,
    encoded_rows,
    learn_encoding,
    learn_typical,
)
from spinney.data.row_reader import RULES, row_reader
from spinney.data.tables import Table, TableEncoding, TypicalRow, check_categorical_features
from spinney.data.tables.table import label_of
from spinney.data.validation import (
    Rows,
    check_rows,
    check_rows_and_classes,
    check_rows_and_targets,
    check_sample_weight,
    check_total_weight,
    drop_zero_weight,
)
from spinney.estimators.parameters import IMPORTANCE_TYPES
from spinney.estimators.predictor import Compilable
from spinney.estimators.reported import Reported
from spinney.fitting.checkpoint import Checkpoint
from spinney.fitting.events import PASSING, fitted_attributes
from spinney.fitting.fingerprint import generator_state, identity_of
from spinney.fitting.progress import (
    Asked,
    FitEvent,
    Listener,
    Progress,
    check_callback,
    display_for,
)
from spinney.fitting.sklearn_callbacks import CallbackSupportMixin, Tasks, has_tasks
from spinney.tree.forest import Forest
from spinney.tree.gains import GainImportances, GainRule, SameForAll
from spinney.tree.importance import WeightImportances
from spinney.tree.readout import Readout
from spinney.tree.structure import Tree

#: Rows that the core gives to one thread in any case.
FEW_ROWS = 64


class Estimator(CallbackSupportMixin, Compilable, Reported):  # type: ignore[misc]  # no types
    """Transaction around ``fit``, and checked rows."""

    encoding_: TableEncoding | None
    typical_: TypicalRow
    stopped_by_callback_ = False  # a fit that a callback ends says otherwise
    importance_type = "weight"  # that of models of older releases, which do not know the word
    _is_kept: NDArray[np.bool_]  # which of the given rows have a weight
    _checkpoint = Checkpoint()  # that of a fit under way, if it has one
    _progress = Progress()  # those who listen to a fit under way, if there are any

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Fit the model to training rows.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
            Training rows. Numbers are read as float32; categories, text, dates and missing
            values become numbers as `encoding_` tells afterwards.
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs)
            Classes or numbers to predict.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight k counts a row k times in each tree that sees it, weight 0 leaves it out. None
            counts each row once.
        checkpoint : str, path or None, default=None
            File that the fit is saved to as it goes on. The same call after a crash, a kill or
            Ctrl-C goes on from there and ends in the same model, bit for bit. A file of other
            data or parameters is refused. See `docs/guide/checkpoints.md`.
        callback : callable or None, default=None
            Called with a :class:`spinney.FitEvent` after each tree, round, iteration or sweep, in
            order, in the thread that called ``fit``. If it returns True the fit ends there, with
            what is done, and `stopped_by_callback_` is True. See `docs/guide/progress.md`.

        Returns
        -------
        self
            An error or an interrupt leaves the estimator exactly as it was.
        """
        return self._transact(X, y, sample_weight, checkpoint=checkpoint, callback=callback)

    def _transact(
        self,
        *arguments: Any,
        checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Fit a copy and take its state over if all went well.

        A Checkpoint comes from another fit that this one is a part of.
        """
        check_callback(callback)
        fitted = copy.copy(self)
        fitted.__dict__.pop("stopped_by_callback_", None)
        if not self._is_continued():
            fitted._forget()
        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(checkpoint)
        fitted._checkpoint = checkpoint
        listeners = self._listeners(arguments, callback)
        fitted._progress = Progress(type(self).__name__, listeners)
        with closing(fitted._checkpoint), closing(fitted._progress):
            fitted._fit(*arguments)
            if fitted._progress.is_stopped:
                fitted.stopped_by_callback_ = True
            fitted._progress.end(lambda: fitted_attributes(fitted))
        for name in PASSING:
            del fitted.__dict__[name]
        # One assignment, so that Ctrl-C finds either the old state or the new one.
        self.__dict__ = fitted.__dict__
        return self

    def _listeners(
        self, arguments: tuple[Any, ...], callback: Callable[[FitEvent], bool | None] | None
    ) -> list[Listener]:
        """Those who hear of a fit: people, scikit-learn's callbacks, the user's function."""
        found: list[Listener] = []
        if (display := display_for(self.verbose)) is not None:
            found.append(display)
        if has_tasks(self):
            found.append(Tasks(self, *arguments[:3]))
        if callback is not None:
            found.append(Asked(callback))
        return found

    def _forget(self) -> None:
        """Drop what an earlier fit stored; a new one need not store all of it."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            del self.__dict__[name]

    def _fit(self, *arguments: Any) -> None:
        """Check, optimise and store, on a copy that ``fit`` may throw away."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Raise if a constructor value is of no use."""
        raise NotImplementedError

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        """Check the parameters and the data, store what they tell, and build the problem."""
        raise NotImplementedError

    def _is_continued(self) -> bool:
        """True if ``fit`` goes on from what the last fit stored."""
        raise NotImplementedError

    def _seed_of_fit(self, problem: Problem, validation: Iterable[Any] = ()) -> int:
        """Open the checkpoint, if there is one, and give the seed: a new one, or that of the file.

        `validation` holds the rows and targets that the fit is judged by.
        """
        return self._checkpoint.begin(
            lambda: identity_of(self, problem, validation, self._known_trees(), self._may_grow()),
            self._own_seed,
            lambda: generator_state(self.random_state),
            (problem.n_features, problem.n_outputs),
        )

    def _own_seed(self) -> int:
        return int(self._seed) if self._is_continued() else self._draw_seed()

    def _known_trees(self) -> Iterable[Tree]:
        """Trees of an earlier fit that this one goes on from."""
        raise NotImplementedError

    def _call(self) -> str:
        """Name of the method under way: others do something else with the same data."""
        return "fit"

    def _may_grow(self) -> tuple[str, ...]:
        """Parameters that a resumed fit may change: they say only how many parts there are."""
        return ()

    def get_coordinate_names(self) -> NDArray[np.object_]:
        """Names of the coordinates that the trees' hyperplanes are over.

        Returns
        -------
        ndarray of str of shape (n_coordinates,)
            Names of the columns (``x0``, ``x1``, ... if they have none), or, where `encoding_` is
            not None, such as ``age``, ``age is missing`` and ``workclass = Private``.
        """
        check_is_fitted(self)
        if self.encoding_ is not None:
            names = [coordinate.name for coordinate in self.encoding_.coordinates]
        else:
            unnamed = [f"x{column}" for column in range(self.n_features_in_)]
            names = list(getattr(self, "feature_names_in_", unnamed))
        return np.array(names, dtype=object)

    def _names_of_coordinates(self) -> list[str]:
        return [str(name) for name in self.get_coordinate_names()]

    def _coordinates_of(self, X: Any) -> Rows:
        return self._checked_rows(X)

    def _label_of_coordinate(self, coordinate: int) -> str:
        """How messages speak of what a hyperplane weighs: a column, or a part of one."""
        if self.encoding_ is None:
            return label_of(coordinate, getattr(self, "feature_names_in_", None))
        found = self.encoding_.coordinates[coordinate]
        return f"column {found.column} of X ({found.name})"

    def _encoded(
        self, rows: Rows | Table, targets: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> Rows:
        """Weighted training rows as numbers; learns how, unless an earlier fit has."""
        check_categorical_features(self.categorical_features)
        check_choice("missing", self.missing, RULES)
        if self._is_continued():
            check_same_categories(self, rows)
            row_reader(self).check(rows)
        else:
            self.encoding_ = learn_encoding(self, rows, targets, weights)
        return encoded_rows(row_reader(self), rows, targets, weights)

    def _noting_typical(self, problem: Problem, rows: Rows | Table) -> Problem:
        """The problem itself; stores what is typical of its rows, unless an earlier fit has."""
        if not (self._is_continued() and hasattr(self, "typical_")):
            self.typical_ = learn_typical(self.encoding_, rows, problem, self._n_threads())
        return problem

    def _importances(self, problem: Problem) -> GainImportances | WeightImportances:
        """What sums the importances of the coordinates over the trees."""
        if self.importance_type == "weight":
            return WeightImportances(problem.sample_weight, problem.scale)
        rule = self._gain_rule(problem)
        return GainImportances(problem.rows, problem.n_features, rule, self._n_threads())

    def _gain_rule(self, problem: Problem) -> GainRule:
        """What the splits of each tree are judged by."""
        return SameForAll(problem)

    def _importances_of_columns(self, importances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Importances of the given columns, from those of their coordinates."""
        if self.encoding_ is None:
            return importances
        columns = self.encoding_.columns
        sums = np.bincount(columns, importances, minlength=self.encoding_.n_columns)
        return sums.astype(np.float64, copy=False)

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _n_threads(self) -> int:
        """Threads for the native core; None means one, unless joblib's context says otherwise."""
        return int(effective_n_jobs(self.n_jobs))

    def _n_threads_for(self, rows: _core.Rows) -> int:
        """Threads to predict these rows: asking joblib takes longer than a few of them."""
        return self._n_threads() if rows.n_rows > FEW_ROWS else 1

    def _readout(self) -> Readout:
        """What the estimator does with the leaves of a row."""
        raise NotImplementedError

    def _forest(self) -> Forest:
        """The fitted trees."""
        raise NotImplementedError

    def _changeable(self) -> object:
        """Parameters that may be changed after ``fit`` and that the readout depends on."""
        return None

    def _kept_readout(self) -> Readout:
        """The readout, made once: that takes as long as a row does."""
        # In the forest's own dict, as its packed copy: pickles leave both behind.
        memory, changeable = self._forest().__dict__, self._changeable()
        kept: tuple[object, Readout] | None = memory.get("_readout")
        if kept is None or kept[0] != changeable:
            kept = memory["_readout"] = (changeable, self._readout())
        return kept[1]

    def _answers(self, X: ArrayLike) -> NDArray[Any]:
        """Labels or numbers of rows."""
        rows = as_rows(self._checked_rows(X))
        return self._kept_readout().predict(rows, self._n_threads_for(rows))

    def _totals(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the trees give each row together, (n_rows, n_outputs)."""
        rows = as_rows(self._checked_rows(X))
        return self._kept_readout().totals(rows, self._n_threads_for(rows))

    def _stages(self, X: ArrayLike) -> Iterator[tuple[Readout, NDArray[np.float64]]]:
        """Readout and totals of the first tree, the first two, and so on."""
        rows = as_rows(self._checked_rows(X))
        return self._readout().stages(rows, self._n_threads())

    def _checked_rows(self, X: ArrayLike) -> Rows:
        if not hasattr(self, "n_features_in_"):
            check_is_fitted(self)
        return check_rows(self, X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


class Classification(ClassifierMixin, Estimator):  # type: ignore[misc]
    """Reads y as classes."""

    classes_: NDArray[Any]

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

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        self._check_parameters()
        check_choice("importance_type", self.importance_type, IMPORTANCE_TYPES)
        is_continued = self._is_continued()
        rows, classes, codes = check_rows_and_classes(self, X, y, reset=not is_continued)
        if is_continued:
            classes, codes = self._known_classes(classes, codes)
        weights = check_sample_weight(sample_weight, len(codes))
        weights = weights * class_factors(self.class_weight, classes, codes, weights)[codes]
        check_some_weight(self.class_weight, weights)
        check_total_weight(weights)
        self._is_kept = weights > 0
        rows, codes, weights = drop_zero_weight(rows, codes, weights)
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.n_outputs_ = 1
        encoded = self._encoded(rows, class_indicators(codes, self.n_classes_), weights)
        problem = classification_problem(
            encoded,
            codes,
            self.n_classes_,
            weights,
            n_threads=self._n_threads(),
            label_of=self._label_of_coordinate,
        )
        return self._noting_typical(problem, rows)

    def _known_classes(
        self, classes: NDArray[Any], codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Classes of a fit that goes on, and the codes of its rows among them."""
        _check_same_classes(self.classes_, classes)
        return classes, codes


class Regression(RegressorMixin, Estimator):  # type: ignore[misc]
    """Reads y as numbers, one or several a row."""

    n_outputs_: int

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

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        self._check_parameters()
        check_choice("importance_type", self.importance_type, IMPORTANCE_TYPES)
        rows, targets = check_rows_and_targets(self, X, y, reset=not self._is_continued())
        weights = check_sample_weight(sample_weight, len(targets))
        self._is_kept = weights > 0
        rows, targets, weights = drop_zero_weight(rows, targets, weights)
        if self._is_continued() and targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"this goes on from trees of {self.n_outputs_} outputs but y has "
                f"{targets.shape[1]}; give as many; try fit with warm_start=False."
            )
        self.n_outputs_ = targets.shape[1]
        encoded = self._encoded(rows, targets, weights)
        problem = regression_problem(
            encoded,
            targets,
            weights,
            n_threads=self._n_threads(),
            label_of=self._label_of_coordinate,
        )
        return self._noting_typical(problem, rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _check_same_classes(known: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise if a warm start meets other classes than the trees it continues."""
    if not np.array_equal(known, classes):
        raise ValueError(
            f"warm_start=True goes on from trees of the classes {known.tolist()!r} but y holds "
            f"{classes.tolist()!r}; give the same classes; try warm_start=False."
        )
