"""Scikit-learn estimators for gradient boosting of TAO trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.data import Problem
from spinney.data.checks import check_choice, check_real
from spinney.ensembles.gradient import (
    AddedTree,
    AddedTrees,
    GradientRule,
    Residuals,
    first_scores,
)
from spinney.estimators.additive import (
    calibrate,
    check_same_loss,
    fao_options,
    loss_of,
    sum_of_trees,
)
from spinney.estimators.construction import estimator
from spinney.estimators.parameter_checks import REGRESSION_LOSSES, SCORE_LOSSES
from spinney.estimators.tao_parameters import TAOParameters, tree_start
from spinney.estimators.tasks import Classifier, Regressor
from spinney.estimators.validated import BoostedForest
from spinney.fitting.fitted_record import fitted, is_curve, is_own_loss, numbers_of
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Session
from spinney.fitting.validation_curve import Judged, LossWatch
from spinney.tree.forest import Forest
from spinney.tree.gains import GainRule
from spinney.tree.readout import Readout

STEPS = ("newton", "gradient")

are_first_scores = numbers_of(lambda model: model.forest_.n_outputs)


def _check_steps(model: TAOGradientBoostingClassifier | TAOGradientBoostingRegressor) -> None:
    check_choice("step", model.step, STEPS)
    check_real("subsample", model.subsample, minimum=0.0, is_open=True, example="0.5")
    if float(model.subsample) > 1:
        raise ValueError(
            f"subsample={model.subsample!r} is too large; give a share of the rows, at most 1; "
            "try subsample=1.0 for all rows."
        )
    if model._goes_on():
        check_same_loss(model)


def _recipe(
    model: TAOGradientBoostingClassifier | TAOGradientBoostingRegressor,
    problem: Problem,
    first: NDArray[np.float64] | None = None,
) -> AddedTrees:
    """Which trees there are to be; `first` are the scores before any tree, if they are known."""
    options = fao_options(model, problem, model._n_threads())
    rule = GradientRule(float(model.learning_rate), model.step, float(model.subsample))
    # The trees of boosting are regression trees, whatever y holds.
    start = tree_start(model, None)
    if first is None:
        first = first_scores(problem, options.loss)
    return AddedTrees(start, options, rule, model._seed, int(model.n_estimators), first)


def _add_trees(
    model: TAOGradientBoostingClassifier | TAOGradientBoostingRegressor,
    session: Session,
    problem: Problem,
    judged: Judged | None,
) -> None:
    """Add trees one after the other, judging their sum, and store them."""
    known = (
        [AddedTree(*pair) for pair in zip(model.trees_, model.traces_, strict=True)]
        if session.goes_on
        else []
    )
    recipe = _recipe(model, problem, model.first_scores_ if known else None)
    model.first_scores_ = recipe.first
    n_threads, patience = model._n_threads(), model._patience()
    watch = LossWatch(judged, problem.n_classes, loss_of(model), recipe.first, patience, n_threads)

    def store(
        model: TAOGradientBoostingClassifier | TAOGradientBoostingRegressor,
        members: list[AddedTree],
    ) -> None:
        model._store(members, problem, np.ones(len(members)))
        model._fitted_loss = model.loss

    store(model, fit_parts(recipe, problem, session, model, store, known, watch))
    model._store_curve("validation_losses_", watch.errors)

    def scores_apart(part: Problem, rows: _core.Rows) -> NDArray[np.float64]:
        apart = _recipe(model, part)
        trees = tuple(added.tree for added in islice(apart.parts(part), len(model)))
        return Forest(trees).sums(rows, np.ones(len(trees)), n_threads=n_threads) + apart.first

    calibrate(model, problem, judged, scores_apart)


def _residuals(
    model: TAOGradientBoostingClassifier | TAOGradientBoostingRegressor, problem: Problem
) -> GainRule:
    """Each tree is judged by what those before it leave."""
    loss = loss_of(model, problem.target_scale)
    return Residuals(problem, loss, model.first_scores_, model._n_threads())


def _sum_and_first(
    model: TAOGradientBoostingClassifier | TAOGradientBoostingRegressor,
) -> Readout:
    return sum_of_trees(model, model.forest_.unit_weights, model.first_scores_)


@estimator
class TAOGradientBoostingClassifier(Classifier, BoostedForest, TAOParameters):
    """Gradient boosting of oblique trees that are optimised one after the other.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees, unless boosting stops before. Each tree scores all classes.
    learning_rate : float, default=0.1
        Share of what a tree says that is taken.
    max_depth : int or None, default=5
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of the rows.
    leaf_alpha : float, default=1.0
        Weight of the penalty on the leaves.
    leaf_penalty : {"l1", "l2"}, default="l2"
        Absolute or squared leaf values.
    ridge : float, default=0.05
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective.
    max_weights : int or None, default=None
        Most features a split may use. None leaves sparsity to `alpha`.
    split : {"oblique", "axis", "mixed"}, default="mixed"
        Hyperplanes over all features; one column a split, with a threshold or a set of levels; or
        trees of both kinds in turn.
    loss : {"log_loss", "squared_hinge", "squared_error"}, default="log_loss"
        Loss of the class scores that all trees give together.
    step : {"newton", "gradient"}, default="newton"
        Optimise each tree on the loss itself, its leaves by Newton's method; or its splits on the
        negative gradient by least squares, and only its leaves on the loss.
    calibrate : bool, default=True
        Whether probabilities come from a factor of the scores that is fitted to rows which trees
        have not seen: validation rows, or else a fifth of the rows, held out of as many trees
        for that purpose; where rows are few, each fifth in turn. `predict` answers the same, and no
        probability is 0. False gives the probabilities nearest to the scores.
        It is of no account for "log_loss", whose scores are logarithms of probabilities.
    subsample : float, default=1.0
        Share of the rows, drawn anew for each tree, that it is optimised on.
    init : str, RandomStructure, Tree or fitted regression tree, default="supervised"
        The start of each tree, as in :class:`TAOTreeRegressor`; the trees of boosting are
        regression trees.
    max_sweeps : int, default=5
        Sweeps over each tree.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-3
        Stop a tree when sweeps lower the loss (with `strict_descent` the objective) by less than
        this share.
    early_stopping : bool or None, default=None
        Whether to stop when the loss on validation rows no longer falls, and to keep the trees up
        to the best number. Validation rows are those given to ``fit``, or else a part of the
        training rows. None does so if `n_iter_no_change` is given.
    n_iter_no_change : int or None, default=None
        Trees without a lower loss after which to stop. None is 10.
    validation_fraction : float, default=0.1
        Part of the training rows set aside to stop by if no validation rows are given.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and boosts on to `n_estimators`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads inside each tree and of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the rounds on stderr, 2 prints a line for each.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories: those that the frame or their text says; none; or names or
        numbers of columns, or one truth value a column.
    missing : {"fill", "error"}, default="fill"
        Of values to predict that are missing in columns that had none missing in training: fill
        them by the rule of the column, with a :class:`MissingValuesWarning`, or raise an error.
    importance_type : {"gain", "weight"}, default="gain"
        What `feature_importances_` sums: how much the splits on a column lower the loss of the
        training rows beyond chance, or its share in the weights of the splits.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees as plain arrays. Leaves hold what they add to the class scores.
    forest_ : Forest
        The trees together, ready to predict.
    first_scores_ : ndarray of shape (n_classes,)
        Class scores before the first tree.
    traces_ : list of Trace
        How each tree was optimised.
    validation_losses_ : ndarray
        Mean loss on the validation rows after each tree, also of trees not kept; if there were
        any.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_, n_iter_ : int
        Number of classes, of targets (1), of columns, and of trees.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    encoding_ : TableEncoding or None
        How columns became the coordinates that splits are over; None if X held numbers alone,
        none of them missing.
    typical_ : TypicalRow
        What is typical of each column in training: means and most frequent levels.
    stopped_by_callback_ : bool
        Whether a callback ended the fit.
    n_parameters_ : int
        Numbers the forest holds.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the splits, averaged over the trees.
    probability_slope_ : float
        The map to probabilities, if `calibrate`: they are proportional to
        ``exp(probability_slope_ * s)`` for scores s. `probability_votes_` is 0.
        Share of each feature in what the splits are good for, see `importance_type`.

    References
    ----------
    .. [1] Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
       Statistics 29, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOGradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = TAOGradientBoostingClassifier(20, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    """

    n_estimators: int = field(default=100, kw_only=False)
    max_depth: int | None = 5
    leaf_alpha: float = 1.0
    leaf_penalty: str = "l2"
    ridge: float = 0.05
    split: str = "mixed"
    loss: str = "log_loss"
    step: str = "newton"
    subsample: float = 1.0
    max_sweeps: int = 5
    tol: float = 1e-3
    leaf: str = field(default="constant", init=False)
    max_leaf_weights: int | None = field(default=None, init=False)
    relax_leaves: bool = field(default=False, init=False)

    first_scores_: NDArray[np.float64] = fitted("a finite number an output", are_first_scores)
    validation_losses_: NDArray[np.float64] = fitted(
        "a finite number a round", is_curve, is_required=False
    )
    _fitted_loss: str = fitted("a loss of these forests", is_own_loss)
    _losses: ClassVar[tuple[str, ...]] = SCORE_LOSSES
    _is_additive: ClassVar[bool] = True
    _check_own, _grow, _gain_rule, _readout = _check_steps, _add_trees, _residuals, _sum_and_first

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

    def staged_decision_function(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Scores of the first tree, the first two, and so on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Yields
        ------
        float64 ndarray as of `decision_function`
        """
        for readout, totals in self._stages(X):
            yield readout.decisions(totals)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Class probabilities of the first tree, the first two, and so on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Yields
        ------
        float64 ndarray of shape (n_rows, n_classes)
        """
        for readout, totals in self._stages(X):
            yield readout.finished(totals)


@estimator
class TAOGradientBoostingRegressor(Regressor, BoostedForest, TAOParameters):
    """Gradient boosting of oblique trees that are optimised one after the other, for numbers.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees, unless boosting stops before.
    learning_rate : float, default=0.1
        Share of what a tree says that is taken.
    max_depth : int or None, default=5
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of the rows.
    leaf_alpha : float, default=1.0
        Weight of the penalty on the leaves, in units of the deviation of the targets.
    leaf_penalty : {"l1", "l2"}, default="l2"
        Absolute or squared leaf values.
    ridge : float, default=0.05
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective.
    max_weights : int or None, default=None
        Most features a split may use. None leaves sparsity to `alpha`.
    split : {"oblique", "axis", "mixed"}, default="mixed"
        Hyperplanes over all features; one column a split, with a threshold or a set of levels; or
        trees of both kinds in turn.
    loss : {"squared_error", "absolute_error", "huber"}, default="squared_error"
        Loss of what all trees give together.
    huber_delta : float, default=1.0
        Where Huber's loss becomes linear, in the unit of the targets.
    step : {"newton", "gradient"}, default="newton"
        Optimise each tree on the loss of what the trees before it leave over; or its splits on
        the negative gradient by least squares, and only its leaves on the loss. With the squared
        loss the two are the same but for rounding.
    subsample : float, default=1.0
        Share of the rows, drawn anew for each tree, that it is optimised on.
    init : str, RandomStructure, Tree or fitted regression tree, default="supervised"
        The start of each tree, as in :class:`TAOTreeRegressor`.
    max_sweeps : int, default=5
        Sweeps over each tree.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-3
        Stop a tree when sweeps lower the loss (with `strict_descent` the objective) by less than
        this share.
    early_stopping : bool or None, default=None
        Whether to stop when the loss on validation rows no longer falls, and to keep the trees up
        to the best number. Validation rows are those given to ``fit``, or else a part of the
        training rows. None does so if `n_iter_no_change` is given.
    n_iter_no_change : int or None, default=None
        Trees without a lower loss after which to stop. None is 10.
    validation_fraction : float, default=0.1
        Part of the training rows set aside to stop by if no validation rows are given.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and boosts on to `n_estimators`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads inside each tree and of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the rounds on stderr, 2 prints a line for each.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories: those that the frame or their text says; none; or names or
        numbers of columns, or one truth value a column.
    missing : {"fill", "error"}, default="fill"
        Of values to predict that are missing in columns that had none missing in training: fill
        them by the rule of the column, with a :class:`MissingValuesWarning`, or raise an error.
    importance_type : {"gain", "weight"}, default="gain"
        What `feature_importances_` sums: how much the splits on a column lower the loss of the
        training rows beyond chance, or its share in the weights of the splits.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees as plain arrays. Leaves hold what they add.
    forest_ : Forest
        The trees together, ready to predict.
    first_scores_ : ndarray of shape (n_outputs_,)
        The prediction before the first tree.
    traces_ : list of Trace
        How each tree was optimised.
    validation_losses_ : ndarray
        Mean loss on the validation rows after each tree, also of trees not kept; if there were
        any.
    n_outputs_, n_features_in_, n_iter_ : int
        Number of targets, of columns, and of trees.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    encoding_ : TableEncoding or None
        How columns became the coordinates that splits are over; None if X held numbers alone,
        none of them missing.
    typical_ : TypicalRow
        What is typical of each column in training: means and most frequent levels.
    stopped_by_callback_ : bool
        Whether a callback ended the fit.
    n_parameters_ : int
        Numbers the forest holds.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.

    References
    ----------
    .. [1] Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
       Statistics 29, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import TAOGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = TAOGradientBoostingRegressor(20, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.5)
    True
    """

    n_estimators: int = field(default=100, kw_only=False)
    max_depth: int | None = 5
    leaf_alpha: float = 1.0
    leaf_penalty: str = "l2"
    ridge: float = 0.05
    split: str = "mixed"
    loss: str = "squared_error"
    huber_delta: float = 1.0
    step: str = "newton"
    subsample: float = 1.0
    max_sweeps: int = 5
    tol: float = 1e-3
    leaf: str = field(default="constant", init=False)
    max_leaf_weights: int | None = field(default=None, init=False)
    relax_leaves: bool = field(default=False, init=False)

    first_scores_: NDArray[np.float64] = fitted("a finite number an output", are_first_scores)
    validation_losses_: NDArray[np.float64] = fitted(
        "a finite number a round", is_curve, is_required=False
    )
    _fitted_loss: str = fitted("a loss of these forests", is_own_loss)
    _losses: ClassVar[tuple[str, ...]] = REGRESSION_LOSSES
    _is_additive: ClassVar[bool] = True
    _check_own, _grow, _gain_rule, _readout = _check_steps, _add_trees, _residuals, _sum_and_first
