"""Scikit-learn estimators for bagged TAO trees."""

from __future__ import annotations

from typing import ClassVar

from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.data.checks import check_choice
from spinney.ensembles.bagging import BaggedTrees, BaggingPlan
from spinney.ensembles.plan import GrownTree
from spinney.ensembles.tree_start import check_starts_apart
from spinney.estimators.construction import estimator
from spinney.estimators.independent_trees import IndependentTrees
from spinney.estimators.parameter_checks import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    alpha_of_trees,
)
from spinney.estimators.tao_parameters import TAOParameters, tao_options, tree_start
from spinney.estimators.tasks import Classifier, Regressor
from spinney.fitting.fitted_record import are_traces, fitted, is_tree_or_none, whole
from spinney.tree.structure import Tree

STARTS = ("own", "same", "previous")
VOTINGS = ("auto", "hard", "soft")


def _bagged_trees(model: TAOForestClassifier | TAOForestRegressor, problem: Problem) -> BaggedTrees:
    """Independent trees, or each from the one before it."""
    sample = model._sample_plan(problem)
    if sample.n_columns and sample.is_global:
        check_starts_apart(model.init, model.start)
    alphas = alpha_of_trees(model.alpha, int(model.n_estimators))
    plan = BaggingPlan(**vars(sample), start=model.start, alphas=alphas)
    start = tree_start(model, getattr(model, "classes_", None))
    options = tao_options(model, alphas[0])  # each tree gets its own alpha from the plan
    return BaggedTrees(start, options, plan, model.n_jobs)


def _store_trees(
    model: TAOForestClassifier | TAOForestRegressor, parts: list[GrownTree], problem: Problem
) -> None:
    """Set the attributes that describe the trees, and how they were optimised."""
    IndependentTrees._store(model, parts, problem)
    model.traces_ = [part.trace for part in parts if part.trace is not None]
    model.n_iter_ = max(len(trace) for trace in model.traces_)
    model._last_tree = parts[-1].unpruned


# What both estimators share and no others is a function, which both name in their bodies.


@estimator
class TAOForestClassifier(Classifier, IndependentTrees, TAOParameters):
    """A small forest of independently optimised trees, combined by vote or average.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_depth : int or None, default=8
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float or (float, float), default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of a tree's rows; the
        papers' λ. A pair is a path, evenly spaced in logarithms: the first tree gets the first
        end, the last tree the second ("forest over λ"). The path depends on `n_estimators`, also
        in a warm start.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective. More gives smoother and weaker trees.
    max_weights : int or None, default=None
        Most features a split may use. The optimiser begins with all and drops the least step by
        step. None leaves sparsity to `alpha`.
    max_leaf_weights : int or None, default=None
        The same for each class score or value of a linear leaf.
    split : {"oblique", "axis"}, default="oblique"
        Hyperplanes over all features; or one column a split, with a threshold or a set of levels,
        and a side for missing values.
    leaf : {"constant", "linear"}, default="constant"
        Class fractions in each leaf, or a sparse softmax model.
    leaf_alpha : float or None, default=None
        Weight of the penalty on linear leaves; the FAO paper's μ. None takes `alpha` for them,
        too. Constant leaves are labels and have none.
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves: `leaf_alpha` times the sum of absolute weights, or half of it
        times the sum of squares.
    relax_leaves : bool, default=False
        Refit linear leaves at the end on the features they use, without the penalty. It makes
        weights sparse, but also too short; forests of wide rows gain by undoing that.
    loss : {"zero_one", "log_loss"}, default="zero_one"
        Loss of a row.
    init : str, RandomStructure, Tree or fitted tree estimator, default="supervised"
        The start of each tree, as in :class:`TAOTreeClassifier`. Random structures differ from
        tree to tree.
    start : {"own", "same", "previous"}, default="own"
        Each tree has its own start; all have the same hyperplanes, made once of all rows; or each
        goes on from the tree before it, which with a path of `alpha` is the regularisation path.
        Trees on different columns (``feature_sampling="global"``) share the seed of "same" alone.
    max_iter : int, default=20
        Sweeps over each tree.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop a tree when sweeps lower its objective by less than this share.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a count, or a share; 1.0 is all rows. None is 0.9 of the rows,
        or with ``bootstrap=True`` as many as there are.
    bootstrap : bool, default=False
        Draw the rows with replacement.
    max_features : int, float, str or None, default=None
        Columns that may be used: a count, a share, "sqrt", or a power of the number of columns
        such as "D**0.9". None is all. TAO trees are best with all.
    feature_sampling : {"local", "global"}, default="local"
        Draw the columns anew for each split, or once for each tree. Linear leaves use all columns
        if the draw is local. A tree given as `init` keeps the columns of splits that are not
        improved.
    voting : {"soft", "hard", "auto"}, default="soft"
        Combine the trees by averaging class probabilities ("soft") or by majority vote ("hard").
        "auto" is as in the paper: hard for constant and soft for linear leaves. It may be changed
        after ``fit``; the map to probabilities stays that of the fit.
    calibrate : bool, default=True
        Whether probabilities come from a map that is fitted to what trees say of rows they have
        not seen; it costs next to nothing, `predict` answers the same, and no probability is 0.
        False gives the means or the shares of the votes as they are.
    oob_score : bool, default=False
        Whether to judge the forest by the rows that each tree did not see.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and grows the missing ones.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs` and joblib backend.
    n_jobs : int or None, default=None
        Trees grown at once, and threads of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the trees on stderr, 2 prints a line for each.
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
        The trees as plain arrays.
    forest_ : Forest
        The trees together, ready to predict.
    traces_ : list of Trace
        How each tree was optimised.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_, n_iter_ : int
        Number of classes, of targets (1), of columns, and of sweeps of the longest optimisation.
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
    oob_score_ : float
        Accuracy on the rows that trees did not see, if `oob_score`.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Means over these trees; nan for a row that every tree saw or that has no weight.
    probability_slope_, probability_votes_ : float
        The map to probabilities, if `calibrate`: those of v votes, or summed class fractions, are
        proportional to ``(v + probability_votes_ / n_classes_) ** probability_slope_``.

    Notes
    -----
    A weight counts in the loss of a row that was drawn, not in the draw: a row of weight 3 is in
    the sample of a tree or not, while three copies of it are drawn one by one. Rows of weight 0
    are left out before the draw.

    References
    ----------
    .. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently
       improve over random forests, AdaBoost and gradient boosting", FODS 2020, sections 4 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = TAOForestClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    """

    alpha: float | tuple[float, float] = 0.1  # type: ignore[assignment]  # here it may be a path
    start: str = "own"
    max_iter: int = 20
    bootstrap: bool = False
    voting: str = "soft"

    traces_: list[Trace] = fitted("a Trace a tree, or a forest of FAO", are_traces)
    n_iter_: int = fitted("an integer >= 0", whole(0))
    _last_tree: Tree | None = fitted(
        "None or a tree of these columns and outputs", is_tree_or_none
    )  # unpruned, if the next tree starts from it
    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION_LOSSES
    _recipe, _store = _bagged_trees, _store_trees

    def _check_own(self) -> None:
        alpha_of_trees(self.alpha, 2)
        check_choice("start", self.start, STARTS)
        check_choice("voting", self.voting, VOTINGS)

    def _readout_key(self) -> object:
        return self.voting, self.calibrate

    def _is_hard(self) -> bool:
        check_choice("voting", self.voting, VOTINGS)  # it may be changed after ``fit``
        is_auto = self.voting == "auto"
        return self.voting == "hard" or (is_auto and not self.forest_.trees[0].is_linear)


@estimator
class TAOForestRegressor(Regressor, IndependentTrees, TAOParameters):
    """A small forest of independently optimised regression trees, averaged.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_depth : int or None, default=8
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float or (float, float), default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of a tree's rows; the
        papers' λ. A pair is a path over the trees, as in :class:`TAOForestClassifier`.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective. More gives smoother and weaker trees.
    max_weights : int or None, default=None
        Most features a split may use. The optimiser begins with all and drops the least step by
        step. None leaves sparsity to `alpha`.
    max_leaf_weights : int or None, default=None
        The same for each class score or value of a linear leaf.
    split : {"oblique", "axis"}, default="oblique"
        Hyperplanes over all features; or one column a split, with a threshold or a set of levels,
        and a side for missing values.
    leaf : {"constant", "linear"}, default="constant"
        One value in each leaf, or a sparse linear regression.
    leaf_alpha : float or None, default=None
        Weight of the penalty on the leaves; the FAO paper's μ. None takes `alpha` for linear
        leaves and no penalty for constant ones.
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves: `leaf_alpha` times the sum of absolute weights, or half of it
        times the sum of squares. Of constant leaves with a `leaf_alpha`: `leaf_alpha` times the
        sum of ``|v|`` or of ``v ** 2``, v being a leaf's value less the mean of y, in deviations
        of y.
    relax_leaves : bool, default=False
        Refit linear leaves at the end on the features they use, without the penalty. It makes
        weights sparse, but also too short; forests of wide rows gain by undoing that.
    loss : {"squared_error", "absolute_error", "huber"}, default="squared_error"
        Loss of a row, summed over the outputs.
    huber_delta : float, default=1.0
        Residual at which the Huber loss turns from squared to absolute.
    init : str, RandomStructure, Tree or fitted tree estimator, default="supervised"
        The start of each tree, as in :class:`TAOTreeRegressor`.
    start : {"own", "same", "previous"}, default="own"
        Each tree has its own start; all have the same hyperplanes, made once of all rows; or each
        goes on from the tree before it. Trees on different columns
        (``feature_sampling="global"``) share the seed of "same" alone.
    max_iter : int, default=20
        Sweeps over each tree.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop a tree when sweeps lower its objective by less than this share.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, as in :class:`TAOForestClassifier`.
    bootstrap : bool, default=False
        Draw the rows with replacement.
    max_features : int, float, str or None, default=None
        Columns that may be used, as in :class:`TAOForestClassifier`.
    feature_sampling : {"local", "global"}, default="local"
        Draw the columns anew for each split, or once for each tree.
    oob_score : bool, default=False
        Whether to judge the forest by the rows that each tree did not see.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and grows the missing ones.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs` and joblib backend.
    n_jobs : int or None, default=None
        Trees grown at once, and threads of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the trees on stderr, 2 prints a line for each.
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
        The trees as plain arrays.
    forest_ : Forest
        The trees together, ready to predict.
    traces_ : list of Trace
        How each tree was optimised.
    n_outputs_, n_features_in_, n_iter_ : int
        Number of targets, of columns, and of sweeps of the longest optimisation.
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
    oob_score_ : float
        R² on the rows that trees did not see, if `oob_score`.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Their predictions; nan for a row that every tree saw or that has no weight.

    Notes
    -----
    A weight counts in the loss of a row that was drawn, not in the draw: a row of weight 3 is in
    the sample of a tree or not, while three copies of it are drawn one by one. Rows of weight 0
    are left out before the draw.

    References
    ----------
    .. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently
       improve over random forests, AdaBoost and gradient boosting", FODS 2020, sections 4 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import TAOForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = TAOForestRegressor(n_estimators=5, max_depth=3, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.4)
    True
    """

    loss: str = "squared_error"
    huber_delta: float = 1.0
    alpha: float | tuple[float, float] = 0.1  # type: ignore[assignment]  # here it may be a path
    start: str = "own"
    max_iter: int = 20
    bootstrap: bool = False

    traces_: list[Trace] = fitted("a Trace a tree, or a forest of FAO", are_traces)
    n_iter_: int = fitted("an integer >= 0", whole(0))
    _last_tree: Tree | None = fitted("None or a tree of these columns and outputs", is_tree_or_none)
    _losses: ClassVar[tuple[str, ...]] = REGRESSION_LOSSES
    _recipe, _store = _bagged_trees, _store_trees

    def _check_own(self) -> None:
        alpha_of_trees(self.alpha, 2)
        check_choice("start", self.start, STARTS)
