"""Global refinement: all leaves of a fitted forest, whoever grew it, optimised together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from spinney.algorithms.leaves import LeafTask, solve_leaves
from spinney.algorithms.losses import forest_loss
from spinney.data.checks import check_n_jobs, check_real
from spinney.data.class_weight import class_factors
from spinney.data.encoded import class_indicators
from spinney.data.tables import one_warning
from spinney.data.validation import (
    Rows,
    check_sample_weight,
    check_targets,
    check_total_weight,
)
from spinney.ensembles.fitted_leaves import (
    check_has_leaves,
    leaf_numbers,
    leaf_reader,
    training_leaves,
    warn_of_linear_leaves,
)
from spinney.ensembles.fitted_trees import trees_with_values
from spinney.estimators.base import Estimator
from spinney.estimators.parameters import SCORE_LOSSES, check_loss
from spinney.estimators.predictor import Compilable
from spinney.estimators.reported import Reported
from spinney.fitting.events import nothing_yet
from spinney.fitting.progress import Asked, FitEvent, Progress, check_callback
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout, finish_of

#: Rounds on the bound of a loss, at most; most forests need fewer.
MOST_ROUNDS = 300

VALUE_LOSSES = ("squared_error",)


def refine_leaves(
    forest: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: str | None = None,
    leaf_alpha: float = 1.0,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    callback: Callable[[FitEvent], bool | None] | None = None,
) -> RefinedForestClassifier | RefinedForestRegressor:
    """Optimise all leaves of a fitted forest together, its splits as they are.

    Greedy forests fit each tree by itself and average. Here the forest is the sum of its trees,
    and the values of all their leaves minimise one loss with a squared penalty: the leaf step of
    FAO, known as global refinement. All new leaves are constants; where those of the forest are
    linear models, a warning says so.

    Parameters
    ----------
    forest : fitted forest
        Of spinney, best with constant leaves; scikit-learn's random forests, extra trees, gradient
        boosting and bagged trees; XGBoost's and LightGBM's scikit-learn estimators, not their
        native boosters; CatBoost. It is not changed.
    X : array-like of shape (n_rows, n_features)
        Training rows, as the forest takes them.
    y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs)
        Classes that the forest knows, or numbers.
    loss : str or None, default=None
        "squared_hinge" (None), "squared_error" or "log_loss" of class scores; "squared_error" of
        numbers. For probabilities take "log_loss": those of the others are often exactly 0.
    leaf_alpha : float, default=1.0
        Weight of the squared leaf values. More is smoother; deep trees want more.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weight k counts a row k times. None counts each row once.
    n_jobs : int or None, default=None
        Threads of the step. None is one, -1 is all cores.
    callback : callable or None, default=None
        Called with a :class:`spinney.FitEvent` after each iteration over all leaves; a squared
        error takes one. If it returns True the step ends there.

    Returns
    -------
    RefinedForestClassifier or RefinedForestRegressor
        Predicts with the forest's splits and the new leaves; it holds the forest itself, which
        must not be fitted again. `score_before_` and `score_after_` are the accuracy or R² on X of
        the forest and of the refined one.

    References
    ----------
    .. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests:
       Forest Alternating Optimization", CVPR 2023, eq. (6).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from spinney import refine_leaves
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = RandomForestClassifier(20, max_depth=6, random_state=0).fit(X[:1000], y[:1000])
    >>> refined = refine_leaves(forest, X[:1000], y[:1000])
    >>> bool(refined.score(X[1000:], y[1000:]) > forest.score(X[1000:], y[1000:]))
    True
    """
    check_has_leaves(forest)
    kind = _kind_of(forest)
    if kind == "classifier":
        loss = "squared_hinge" if loss is None else loss
        classifier = RefinedForestClassifier(forest, loss, leaf_alpha, n_jobs)
        return classifier.fit(X, y, sample_weight, callback=callback)
    if kind == "regressor":
        loss = "squared_error" if loss is None else loss
        regressor = RefinedForestRegressor(forest, loss, leaf_alpha, n_jobs)
        return regressor.fit(X, y, sample_weight, callback=callback)
    raise TypeError(
        f"forest={type(forest).__name__} is neither a classifier nor a regressor; give a fitted "
        "forest; try RandomForestClassifier or FAOForestClassifier."
    )


def _kind_of(forest: Any) -> str | None:
    """What a forest predicts; some libraries still say it in scikit-learn's old way."""
    if hasattr(forest, "__sklearn_tags__"):
        kind: str | None = get_tags(forest).estimator_type
        return kind
    return getattr(forest, "_estimator_type", None)


class _RefinedForest(Compilable, Reported):
    """Leaves of a forest, numbered through all trees, and their values."""

    leaf_values_: NDArray[np.float64]
    stopped_by_callback_ = False  # a fit that a callback ends says otherwise
    _leaf_ids: list[NDArray[np.int64]]  # leaves of each tree that training rows reach, ascending

    def __sklearn_clone__(self) -> Self:
        # A clone is unfitted, its forest is not: without it there would be nothing to refine.
        return type(self)(**self.get_params(deep=False))

    def _check(self, losses: tuple[str, ...]) -> None:
        """Raise if there is nothing to refine, or no way to do it; warn of what is lost."""
        check_loss(self.loss, losses, type(self).__name__)
        check_real("leaf_alpha", self.leaf_alpha, minimum=0.0, example="1.0")
        check_n_jobs(self.n_jobs)
        check_has_leaves(self.forest)
        check_is_fitted(self.forest)
        leaf_reader(self.forest)
        warn_of_linear_leaves(self.forest)

    def _refine(
        self,
        X: ArrayLike,
        task: LeafTask,
        outputs: NDArray[np.float64],
        weights: NDArray[np.float64],
        callback: Callable[[FitEvent], bool | None] | None,
    ) -> dict[str, Any]:
        """What a fit learns, by the names of attributes.

        `outputs` and `weights` are what the fit of the forest learned means of levels from.
        """
        n_threads = int(effective_n_jobs(self.n_jobs))
        reached = training_leaves(self.forest, X, outputs, weights, n_threads)
        ids = [np.unique(of_tree) for of_tree in reached.T]
        n_leaves = sum(len(of_tree) for of_tree in ids)
        leaves = np.empty(reached.T.shape, dtype=np.uint32)
        for tree, numbers in enumerate(leaf_numbers(reached, ids)):
            leaves[tree] = numbers
        del reached
        progress = Progress(type(self).__name__, [] if callback is None else [Asked(callback)])
        progress.begin("iteration", 1 if task.loss.is_quadratic else MOST_ROUNDS)
        values, _ = solve_leaves(
            task,
            leaves,
            n_leaves,
            float(self.leaf_alpha),
            MOST_ROUNDS,
            n_threads,
            _asks(progress),
        )
        learned = {"_leaf_ids": ids, "leaf_values_": values, "n_leaves_": n_leaves}
        self.__dict__.pop("stopped_by_callback_", None)
        if progress.is_stopped:
            learned["stopped_by_callback_"] = True
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.forest, name):
                learned[name] = getattr(self.forest, name)
        return {**learned, "_fitted_loss": self.loss}

    def _refined_forest(self) -> Forest:
        """The forest with constant leaves that hold the values found."""
        return Forest(tuple(trees_with_values(self.forest, self._leaf_ids, self.leaf_values_)))

    def _names_of_coordinates(self) -> list[str]:
        if isinstance(self.forest, Estimator):
            return [str(name) for name in self.forest.get_coordinate_names()]
        unnamed = [f"x{column}" for column in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", unnamed)]

    def _coordinates_of(self, X: Any) -> Rows:
        if isinstance(self.forest, Estimator):
            return self.forest._coordinates_of(X)
        rows: Rows = validate_data(
            self.forest, X, reset=False, accept_sparse="csr", dtype=np.float32, order="C"
        )
        return rows

    def _sums(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self, "leaf_values_")
        reached = leaf_reader(self.forest)(X)
        sums = np.zeros((len(reached), self.leaf_values_.shape[1]))
        for numbers in leaf_numbers(reached, self._leaf_ids):
            # A leaf that no training row reached has nothing to say.
            sums += np.where((numbers >= 0)[:, None], self.leaf_values_[numbers], 0.0)
        return sums


def _asks(progress: Progress) -> Callable[[int, float, float], bool] | None:
    """Tells of an iteration over the leaves, and asks whether to go on; None if nobody listens."""
    if not progress.is_watched:
        return None

    def after_round(number: int, objective: float, loss: float) -> bool:
        event = replace(progress.event(number), objective=objective, loss=loss)
        return progress.tell(event, nothing_yet)

    return after_round


class RefinedForestClassifier(ClassifierMixin, _RefinedForest):  # type: ignore[misc]
    """A fitted forest with other leaves; made by :func:`refine_leaves`.

    Parameters
    ----------
    forest : fitted classifier
        Kept as it is, also by ``clone``.
    loss : {"squared_hinge", "squared_error", "log_loss"}, default="squared_hinge"
        Loss of the class scores.
    leaf_alpha : float, default=1.0
        Weight of the squared leaf values.
    n_jobs : int or None, default=None
        Threads of the fit.

    Attributes
    ----------
    leaf_values_ : float64 ndarray of shape (n_leaves_, n_classes)
        Class scores of the leaves of all trees, one tree after the other.
    n_leaves_ : int
        Leaves that training rows reach.
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the order of the forest.
    stopped_by_callback_ : bool
        Whether a callback ended the fit.
    score_before_, score_after_ : float
        Accuracy on the training rows of the given forest and of this one.
    """

    def __init__(
        self,
        forest: Any,
        loss: str = "squared_hinge",
        leaf_alpha: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.forest = forest
        self.loss = loss
        self.leaf_alpha = leaf_alpha
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Fit the leaves, as :func:`refine_leaves` does; the forest has to be fitted.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
            Rows, as the forest takes them.
        y : array-like of shape (n_rows,)
            Class labels, those of the forest.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows; None is 1 for each.
        callback : callable or None, default=None
            As in the fits of forests.

        Returns
        -------
        self
        """
        check_callback(callback)
        self._check(SCORE_LOSSES)
        labels: NDArray[Any] = column_or_1d(y)
        check_consistent_length(X, labels)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        classes = _classes_of(self.forest)
        codes = _codes_of(labels, classes)
        weights = check_sample_weight(sample_weight, len(labels))
        check_total_weight(weights)
        loss = forest_loss(self.loss)
        with one_warning():
            before = np.asarray(self.forest.predict(X)).reshape(len(labels))
            task = LeafTask(loss, loss.wanted(codes, len(classes)), codes, weights)
            outputs = class_indicators(codes, len(classes))
            seen = weights
            if isinstance(self.forest, Estimator):
                factors = class_factors(self.forest.class_weight, classes, codes, weights)
                seen = weights * factors[codes]
            learned = self._refine(X, task, outputs, seen, callback)
            self.__dict__.update(learned, classes_=classes)
            self.score_before_ = float(accuracy_score(labels, before, sample_weight=weights))
            self.score_after_ = float(self.score(X, labels, weights))
        return self

    def _readout(self) -> Readout:
        forest = self._refined_forest()
        finish = finish_of(self._fitted_loss)
        offsets = np.zeros(len(self.classes_))
        return Readout(forest, "outputs", finish, forest.unit_weights, offsets, self.classes_)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of the classes; with two classes that of the second less that of the first.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes), or (n_rows,) with two classes
        """
        scores = self._sums(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities that go with the scores.

        With ``loss="log_loss"`` their softmax, else the nearest probabilities, which are often
        exactly 0: no rows are known that the forest has not seen, to fit a map to.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
        """
        return self._readout().finished(self._sums(X))

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

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class with the largest score.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        best = self._sums(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels


class RefinedForestRegressor(RegressorMixin, _RefinedForest):  # type: ignore[misc]
    """A fitted forest with other leaves; made by :func:`refine_leaves`.

    Parameters
    ----------
    forest : fitted regressor
        Kept as it is, also by ``clone``.
    loss : {"squared_error"}, default="squared_error"
        Loss of the predictions.
    leaf_alpha : float, default=1.0
        Weight of the squared leaf values.
    n_jobs : int or None, default=None
        Threads of the fit.

    Attributes
    ----------
    leaf_values_ : float64 ndarray of shape (n_leaves_, n_outputs)
        Values of the leaves of all trees, one tree after the other.
    n_leaves_ : int
        Leaves that training rows reach.
    mean_ : float64 ndarray of shape (n_outputs,)
        Mean of the targets, to which the leaves of a row are added.
    stopped_by_callback_ : bool
        Whether a callback ended the fit.
    score_before_, score_after_ : float
        R² on the training rows of the given forest and of this one.
    """

    def __init__(
        self,
        forest: Any,
        loss: str = "squared_error",
        leaf_alpha: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.forest = forest
        self.loss = loss
        self.leaf_alpha = leaf_alpha
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Fit the leaves, as :func:`refine_leaves` does; the forest has to be fitted.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
            Rows, as the forest takes them.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows; None is 1 for each.
        callback : callable or None, default=None
            As in the fits of forests.

        Returns
        -------
        self
        """
        check_callback(callback)
        self._check(VALUE_LOSSES)
        targets = check_targets(y)
        assert_all_finite(targets, input_name="y")
        check_consistent_length(X, targets)
        weights = check_sample_weight(sample_weight, len(targets))
        check_total_weight(weights)
        with one_warning():
            before = np.asarray(self.forest.predict(X), dtype=np.float64)
            if before.size != targets.size:
                raise ValueError(
                    f"y has {targets.shape[1]} outputs but the forest gives "
                    f"{before.size // len(targets)}; give as many; try fitting the forest to "
                    "this y."
                )
            mean = np.average(targets, axis=0, weights=weights)
            no_codes = np.zeros(0, dtype=np.int32)
            task = LeafTask(forest_loss(self.loss), targets - mean, no_codes, weights)
            learned = self._refine(X, task, targets, weights, callback)
            self.__dict__.update(learned, mean_=mean, _is_flat=before.ndim == 1)
            before = before.reshape(targets.shape)
            self.score_before_ = float(r2_score(targets, before, sample_weight=weights))
            self.score_after_ = float(self.score(X, targets, weights))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Mean of the targets and the values of the leaves that a row reaches, added up.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        values: NDArray[np.float64] = self._sums(X) + self.mean_
        return values[:, 0] if self._is_flat else values

    def _readout(self) -> Readout:
        forest = self._refined_forest()
        weights, is_flat = forest.unit_weights, self._is_flat
        return Readout(forest, "outputs", "identity", weights, self.mean_, is_flat=is_flat)


def _classes_of(forest: Any) -> NDArray[Any]:
    """Class labels of a forest of one target."""
    classes = forest.classes_
    if isinstance(classes, list) and any(np.ndim(of_target) > 0 for of_target in classes):
        raise ValueError(
            f"forest={type(forest).__name__} predicts {len(classes)} targets; give a forest of "
            "one target; try a forest for each."
        )
    return np.asarray(classes)


def _codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Position of each label among the classes, which may be in any order."""
    if len(labels) == 0:
        raise ValueError("y is empty; give at least one row.")
    is_known = np.isin(labels, classes)
    if not is_known.all():
        raise ValueError(
            f"y holds {labels[~is_known][0]!r}, which the forest does not know; give its classes, "
            f"{classes.tolist()!r}; try fitting the forest to this y."
        )
    order = np.argsort(classes, kind="stable")
    return order[np.searchsorted(classes, labels, sorter=order)].astype(np.int32)
