"""Scikit-learn estimators for gradient boosting of TAO trees.

They validate, build a problem, take trees from :func:`spinney.ensembles.gradient.gradient_boost`
as long as they are wanted, and store them. No algorithm lives here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.algorithms.fao import FAOOptions
from spinney.data import Problem
from spinney.data.checks import check_choice, check_real
from spinney.ensembles.gradient import (
    AddedTree,
    GradientRule,
    Residuals,
    first_scores,
    gradient_boost,
)
from spinney.ensembles.tree_start import Start, check_same_encoding
from spinney.estimators.additive import SummedClassifier, SummedForest, SummedRegressor
from spinney.estimators.early_stopping import BoostedForest
from spinney.fitting.events import model_so_far, tell_tree
from spinney.fitting.validation_curve import Judged, LossWatch
from spinney.tree.forest import Forest
from spinney.tree.gains import GainRule
from spinney.tree.structure import Tree

STEPS = ("newton", "gradient")


class _GradientBoosting(SummedForest, BoostedForest):
    """What both estimators share: the rounds, and sums of the trees."""

    first_scores_: NDArray[np.float64]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("step", self.step, STEPS)
        check_real("subsample", self.subsample, minimum=0.0, is_open=True, example="0.5")
        if float(self.subsample) > 1:
            raise ValueError(
                f"subsample={self.subsample!r} is too large; give a share of the rows, at most 1; "
                "try subsample=1.0 for all rows."
            )
        if self._is_continued():
            self._check_same_loss()

    def _start(self) -> Start:
        check_same_encoding(self.init, self.encoding_)
        # The trees of boosting are regression trees, whatever y holds.
        return Start(self.init, self.max_depth, self.split, None)

    def _grow_watched(self, problem: Problem, judged: Judged | None) -> None:
        members = self._members()
        options = self._forest_options(problem, self._n_threads())
        if not members:
            self.first_scores_ = first_scores(problem, options.loss)
        watch = LossWatch(
            judged, problem.n_classes, self._loss(), self.first_scores_, self._patience()
        )
        self._progress.begin(
            "round", int(self.n_estimators), first=len(members), validation=watch.word
        )
        self._grow(members, problem, options, watch)
        self._store_members(members[: watch.best], problem)
        self._store_watched("validation_losses_", watch.errors)
        self._calibrate_by(problem, judged)

    def _scores_apart(self, problem: Problem, rows: _core.Rows) -> NDArray[np.float64]:
        options = self._forest_options(problem, self._n_threads())
        first = first_scores(problem, options.loss)
        added = islice(self._added(problem, options, [], first), self.forest_.n_trees)
        trees = tuple(one.tree for one in added)
        weights = np.ones(len(trees))
        return Forest(trees).sums(rows, weights, n_threads=self._n_threads()) + first

    def _store_members(self, members: list[AddedTree], problem: Problem) -> None:
        """Set the attributes that describe the trees."""
        self._store_forest(
            [member.tree for member in members],
            [member.trace for member in members],
            problem,
            np.ones(len(members)),
        )
        self._fitted_loss = self.loss

    def _gain_rule(self, problem: Problem) -> GainRule:
        loss = self._loss(problem.target_scale)
        return Residuals(problem, loss, self.first_scores_, self._n_threads())

    def _members(self) -> list[AddedTree]:
        """Trees of the last fit, if this one goes on from it."""
        if not self._is_continued():
            return []
        return [AddedTree(*of_tree) for of_tree in zip(self.trees_, self.traces_, strict=True)]

    def _grow(
        self, members: list[AddedTree], problem: Problem, options: FAOOptions, watch: LossWatch
    ) -> None:
        """Add trees to `members` until there are enough."""
        n_trees, n_threads = int(self.n_estimators), self._n_threads()
        for member in members:
            watch.see(member.tree, n_threads)
        watch.begin()
        if len(members) >= n_trees:
            return
        snapshot = model_so_far(
            self, lambda model: model._store_members(members[: watch.best], problem)
        )
        for added, is_restored in self._following(members, problem, options):
            members.append(added)
            watch.see(added.tree, n_threads)
            is_stopped = tell_tree(
                self._progress,
                len(members),
                added.tree,
                added.trace,
                snapshot,
                validation=watch.last,
                restored=is_restored,
            )
            if is_stopped or watch.is_over or len(members) == n_trees:
                break

    def _following(
        self, members: list[AddedTree], problem: Problem, options: FAOOptions
    ) -> Iterator[tuple[AddedTree, bool]]:
        """The trees that follow `members`, and whether they come from the checkpoint."""
        for saved in self._checkpoint.parts(AddedTree):
            yield saved, True
        given = [member.tree for member in members]
        for added in self._added(problem, options, given, self.first_scores_):
            self._checkpoint.add(added)
            yield added, False

    def _added(
        self,
        problem: Problem,
        options: FAOOptions,
        given: Sequence[Tree],
        first: NDArray[np.float64],
    ) -> Iterator[AddedTree]:
        """The trees that follow the given ones, without end."""
        rule = GradientRule(float(self.learning_rate), self.step, float(self.subsample))
        return gradient_boost(problem, self._start(), options, rule, self._seed, given, first)

    def _tree_weights(self) -> NDArray[np.float64]:
        return self.forest_.unit_weights

    def _offsets(self) -> NDArray[np.float64]:
        return self.first_scores_


class TAOGradientBoostingClassifier(_GradientBoosting, SummedClassifier):
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
        Hyperplanes over all features; one feature a split; or trees of both kinds in turn.
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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_depth: int | None = 5,
        alpha: float = 0.1,
        leaf_alpha: float = 1.0,
        leaf_penalty: str = "l2",
        ridge: float = 0.05,
        max_weights: int | None = None,
        split: str = "mixed",
        loss: str = "log_loss",
        step: str = "newton",
        calibrate: bool = True,
        subsample: float = 1.0,
        init: object = "supervised",
        max_sweeps: int = 5,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-3,
        early_stopping: bool | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        class_weight: object = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.alpha = alpha
        self.leaf_alpha = leaf_alpha
        self.leaf_penalty = leaf_penalty
        self.ridge = ridge
        self.max_weights = max_weights
        self.split = split
        self.loss = loss
        self.step = step
        self.calibrate = calibrate
        self.subsample = subsample
        self.init = init
        self.max_sweeps = max_sweeps
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type

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


class TAOGradientBoostingRegressor(_GradientBoosting, SummedRegressor):
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
        Hyperplanes over all features; one feature a split; or trees of both kinds in turn.
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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_depth: int | None = 5,
        alpha: float = 0.1,
        leaf_alpha: float = 1.0,
        leaf_penalty: str = "l2",
        ridge: float = 0.05,
        max_weights: int | None = None,
        split: str = "mixed",
        loss: str = "squared_error",
        huber_delta: float = 1.0,
        step: str = "newton",
        subsample: float = 1.0,
        init: object = "supervised",
        max_sweeps: int = 5,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-3,
        early_stopping: bool | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.alpha = alpha
        self.leaf_alpha = leaf_alpha
        self.leaf_penalty = leaf_penalty
        self.ridge = ridge
        self.max_weights = max_weights
        self.split = split
        self.loss = loss
        self.huber_delta = huber_delta
        self.step = step
        self.subsample = subsample
        self.init = init
        self.max_sweeps = max_sweeps
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Predictions of the first tree, the first two, and so on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Yields
        ------
        float64 ndarray as of `predict`
            The last is what `predict` gives, bit for bit.
        """
        for readout, totals in self._stages(X):
            yield readout.answers(totals)
