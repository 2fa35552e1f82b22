"""Global refinement: all leaves of a fitted forest, whoever grew it, optimised together."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
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
from spinney.data import Matrix, as_rows
from spinney.data.checks import check_real
from spinney.data.class_weight import class_factors
from spinney.data.encoded import class_indicators
from spinney.data.tables import one_warning
from spinney.data.validation import (
    check_sample_weight,
    check_targets,
    check_total_weight,
    has_missing,
)
from spinney.ensembles.fitted_leaves import (
    check_has_leaves,
    leaf_numbers,
    leaf_reader,
    training_leaves,
    warn_of_linear_leaves,
)
from spinney.ensembles.fitted_trees import UnreadableTreesError, trees_with_values
from spinney.ensembles.recipe import Outline, Step, Steps
from spinney.estimators.construction import estimator, parameters
from spinney.estimators.model import Model
from spinney.estimators.parameter_checks import SCORE_LOSSES, check_loss
from spinney.estimators.tasks import Classifier, Regressor
from spinney.fitting.fitted_record import (
    are_distinct,
    fitted,
    is_ascending,
    is_bool,
    is_curve,
    is_finite,
    is_number_or_nan,
    is_own_loss,
)
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Callback, Session
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
    callback: Callback | None = None,
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


@dataclass(frozen=True, eq=False)
class _NewLeaves:
    """Recipe of the values of all leaves; the rounds on the bound of a loss are told of."""

    task: LeafTask
    leaves: NDArray[np.uint32]
    n_leaves: int
    leaf_alpha: float
    n_threads: int
    kind: ClassVar[type[Any]] = np.ndarray
    is_saved_by_part: ClassVar[bool] = False
    n_parts: ClassVar[int] = 1

    def outline(self, n_known: int) -> Outline:
        """Rounds over all leaves are counted; a squared error takes one."""
        del n_known
        return Outline("iteration", 1 if self.task.loss.is_quadratic else MOST_ROUNDS)

    def parts(
        self, problem: object, known: object, saved: object, steps: Steps
    ) -> Generator[NDArray[np.float64], None, None]:
        """The values, once."""
        del problem, known, saved

        def after_round(number: int, objective: float, loss: float) -> bool:
            return steps.report(0, Step(number, objective, loss))

        values, _ = solve_leaves(
            self.task,
            self.leaves,
            self.n_leaves,
            self.leaf_alpha,
            MOST_ROUNDS,
            self.n_threads,
            after_round if steps.has_listeners else None,
        )
        yield values


def _suits_forest(value: Any, model: Any) -> bool:
    """Number of columns of a refined forest, which is that of a fitted forest of this library."""
    of_model = isinstance(model.forest, Model) and not isinstance(model.forest, RefinedForest)
    return of_model and value == model.forest.n_features_in_


def _are_leaf_ids(value: Any, model: Any) -> bool:
    """Ascending node numbers for each tree of the forest that was refined."""
    if not isinstance(value, list) or len(value) != len(model.forest):
        return False
    return all(is_ascending(ids) and ids[0] >= 0 for ids in value)


def _are_leaf_values(value: Any, model: Any) -> bool:
    n_outputs = len(model.classes_) if hasattr(model, "classes_") else len(model.mean_)
    return is_finite(value, model.n_leaves_, n_outputs)


#: Readouts of refined forests, with the leaf values and the forest that they were made of: no part
#: of a model.
_READOUTS: WeakKeyDictionary[RefinedForest, tuple[Any, Any, Readout]] = WeakKeyDictionary()


@parameters
class RefinedForest(Model):
    """Leaves of a forest, numbered through all trees, and their values."""

    forest: Any
    loss: str
    leaf_alpha: float
    n_features_in_: int = fitted("that of a fitted forest", _suits_forest)
    # Of each tree, those that training rows reach.
    _leaf_ids: list[NDArray[np.int64]] = fitted("ascending node numbers a tree", _are_leaf_ids)
    n_leaves_: int = fitted(
        "the number of leaf ids",
        lambda value, model: value == sum(len(ids) for ids in model._leaf_ids),
    )
    leaf_values_: NDArray[np.float64] = fitted(
        "a finite number a leaf and output", _are_leaf_values
    )
    _fitted_loss: str = fitted("a loss of refined forests", is_own_loss)
    score_before_: float = fitted("a number or nan", is_number_or_nan)
    score_after_: float = fitted("a number or nan", is_number_or_nan)
    importance_type: str = field(default="weight", init=False)  # it has none
    _trees_in: ClassVar[str] = "leaf_values_"
    _not_stored: ClassVar[tuple[str, ...]] = (
        *("n_outputs_", "n_classes_", "encoding_", "typical_"),
        *("n_parameters_", "flops_", "feature_importances_"),
    )
    _losses: ClassVar[tuple[str, ...]] = ()

    def __sklearn_clone__(self) -> Self:
        # A clone is unfitted, its forest is not: without it there would be nothing to refine.
        return type(self)(**self.get_params(deep=False))

    def __len__(self) -> int:
        """Number of trees; 0 before ``fit``."""
        return len(self._leaf_ids) if hasattr(self, "_leaf_ids") else 0

    def _forest(self) -> Forest:
        """The trees with constant leaves that hold the values found; raises if none can be read."""
        known: Forest | None = self._kept_readout().forest
        return self._readout().forest if known is None else known

    def get_coordinate_names(self) -> NDArray[np.object_]:
        """Names of the coordinates that the trees' hyperplanes are over.

        Returns
        -------
        ndarray of str of shape (n_coordinates,)
            Names of the columns (``x0``, ``x1``, ... if they have none), or, where the forest
            inside reads tables, such as ``age``, ``age is missing`` and ``workclass = Private``.
        """
        if isinstance(self.forest, Model):
            return self.forest.get_coordinate_names()
        unnamed = [f"x{column}" for column in range(self.n_features_in_)]
        return np.array(getattr(self, "feature_names_in_", unnamed), dtype=object)

    def _checked_rows(self, X: Any) -> Matrix:
        if isinstance(self.forest, Model):
            return self.forest._checked_rows(X)
        rows = _checked_by(self.forest, X, ensure_all_finite="allow-nan")
        if has_missing(rows):
            raise ValueError(
                f"X holds missing values, for which {type(self.forest).__name__} may have ways "
                "that are no hyperplanes, so that only predictions answer them; give complete "
                "rows; try predict, or apply of the forest that was refined."
            )
        return rows

    def _check_own(self) -> None:
        check_loss(self.loss, self._losses, type(self).__name__)
        check_real("leaf_alpha", self.leaf_alpha, minimum=0.0, example="1.0")
        check_has_leaves(self.forest)
        check_is_fitted(self.forest)
        leaf_reader(self.forest)
        warn_of_linear_leaves(self.forest)

    def _refine(
        self,
        session: Session,
        X: ArrayLike,
        task: LeafTask,
        outputs: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> None:
        """Find the values of the leaves and store them.

        `outputs` and `weights` are what the fit of the forest learned means of levels from.
        """
        n_threads = self._n_threads()
        reached = training_leaves(self.forest, X, outputs, weights, n_threads)
        ids = [np.unique(of_tree) for of_tree in reached.T]
        n_leaves = sum(len(of_tree) for of_tree in ids)
        leaves = np.empty(reached.T.shape, dtype=np.uint32)
        for tree, numbers in enumerate(leaf_numbers(reached, ids)):
            leaves[tree] = numbers
        del reached
        recipe = _NewLeaves(task, leaves, n_leaves, float(self.leaf_alpha), n_threads)
        (values,) = fit_parts(recipe, None, session, self, _store_nothing)
        self._leaf_ids, self.leaf_values_, self.n_leaves_ = ids, values, n_leaves
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.forest, name):
                setattr(self, name, getattr(self.forest, name))
        self._fitted_loss = self.loss

    def _readout(self) -> Readout:
        trees = trees_with_values(self.forest, self._leaf_ids, self.leaf_values_)
        return self._readout_of(Forest(tuple(trees)))

    def _readout_of(self, forest: Forest | None) -> Readout:
        """How totals become an answer; without a forest they are summed elsewhere."""
        classes = getattr(self, "classes_", None)
        return Readout(
            cast(Forest, forest),
            "outputs",
            "identity" if classes is None else finish_of(self._fitted_loss),
            np.ones(len(self)),
            getattr(self, "mean_", np.zeros(self.leaf_values_.shape[1])),
            classes,
            is_flat=getattr(self, "_is_flat", True),
        )

    def _kept_readout(self) -> Readout:
        """The readout, made once; without a forest if its trees cannot be read."""
        check_is_fitted(self, "leaf_values_")
        kept = _READOUTS.get(self)
        if kept is None or kept[0] is not self.leaf_values_ or kept[1] is not self.forest:
            kept = _READOUTS[self] = (self.leaf_values_, self.forest, self._readout_if_read())
        return kept[2]

    def _readout_if_read(self) -> Readout:
        try:
            return self._readout()
        except UnreadableTreesError:
            return self._readout_of(None)

    def _answers(self, X: ArrayLike) -> NDArray[Any]:
        return self._kept_readout().answers(self._totals(X))

    def _totals(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the leaves give each row together.

        Trees that can be read are walked by the core. Of others, and for rows with holes, the
        forest's own library tells the leaves.
        """
        readout = self._kept_readout()
        rows = None if readout.forest is None else self._rows_to_walk(X)
        if rows is not None:
            native = as_rows(rows)
            return readout.totals(native, self._n_threads_for(native))
        reached = leaf_reader(self.forest)(X)
        sums = np.zeros((len(reached), self.leaf_values_.shape[1]))
        for numbers in leaf_numbers(reached, self._leaf_ids):
            # A leaf that no training row reached has nothing to say.
            sums += np.where((numbers >= 0)[:, None], self.leaf_values_[numbers], 0.0)
        return sums + readout.offsets if readout.is_moved else sums

    def _rows_to_walk(self, X: ArrayLike) -> Matrix | None:
        """Rows as the trees read them; None if other libraries may know ways for their holes."""
        if isinstance(self.forest, Model):
            return self.forest._checked_rows(X)
        rows = _checked_by(self.forest, X, ensure_all_finite="allow-nan")
        return None if has_missing(rows) else rows


def _is_mean(value: Any, model: Any) -> bool:
    return is_curve(value, model) and len(value) >= 1


def _checked_by(forest: Any, X: ArrayLike, **how: Any) -> Matrix:
    rows: Matrix = validate_data(
        forest, X, reset=False, accept_sparse="csr", dtype=np.float32, order="C", **how
    )
    return rows


def _store_nothing(model: object, parts: list[Any]) -> None:
    """Rounds have no model to show."""


@estimator
class RefinedForestClassifier(Classifier, RefinedForest):
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

    classes_: NDArray[Any] = fitted("distinct labels", are_distinct)
    _losses: ClassVar[tuple[str, ...]] = SCORE_LOSSES

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

    def fit(  # type: ignore[override]  # nothing is saved on the way
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
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
        return self._transact((X, y, sample_weight), type(self)._fit, callback=callback)

    def _fit(
        self, session: Session, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> None:
        self._check_parameters()
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
            if isinstance(self.forest, Classifier):
                factors = class_factors(self.forest.class_weight, classes, codes, weights)
                seen = weights * factors[codes]
            self._refine(session, X, task, outputs, seen)
            self.classes_ = classes
            self.score_before_ = float(accuracy_score(labels, before, sample_weight=weights))
            self.score_after_ = float(self.score(X, labels, weights))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of the classes; with two classes that of the second less that of the first.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes), or (n_rows,) with two classes
        """
        return self._kept_readout().decisions(self._totals(X))

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
        return super().predict_proba(X)


@estimator
class RefinedForestRegressor(Regressor, RefinedForest):
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

    mean_: NDArray[np.float64] = fitted("a finite number an output", _is_mean)
    _is_flat: bool = fitted("true or false", is_bool)
    _losses: ClassVar[tuple[str, ...]] = VALUE_LOSSES

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

    def fit(  # type: ignore[override]  # nothing is saved on the way
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
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
        return self._transact((X, y, sample_weight), type(self)._fit, callback=callback)

    def _fit(
        self, session: Session, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> None:
        self._check_parameters()
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
            self._refine(session, X, task, targets, weights)
            self.mean_, self._is_flat = mean, before.ndim == 1
            before = before.reshape(targets.shape)
            self.score_before_ = float(r2_score(targets, before, sample_weight=weights))
            self.score_after_ = float(self.score(X, targets, weights))


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
