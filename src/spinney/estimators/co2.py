"""Scikit-learn estimators for CO2 trees and forests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from numpy.typing import ArrayLike

from spinney.algorithms.grow import CHOICES, SCALES, CO2Options, GrowOptions
from spinney.data import Problem
from spinney.data.checks import check_choice, check_integer, check_real
from spinney.ensembles.greedy import GreedyTree, GreedyTrees
from spinney.ensembles.plan import GrownTree
from spinney.estimators.construction import estimator, parameters
from spinney.estimators.greedy import Growth, columns_to_try
from spinney.estimators.independent_trees import IndependentTrees
from spinney.estimators.parameter_checks import check_learning_rate, count_features
from spinney.estimators.tasks import Classifier, Regressor
from spinney.estimators.tree import SingleTree
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Session

LEARNING_RATES_OF_STUMPS = (1e-8, 100.0)
"""Beyond these the steps leave the range of numbers."""

LARGEST_SCALE_SPREAD = 2.0
"""With it one column in six counts e² times as much as the middle one, or more."""


@parameters
class CO2Split(Growth):
    """Parameters of a CO2 split.

    Parameters
    ----------
    max_norm : float, default=10.0
        Largest squared length of a split's weights with its bias, in scaled columns; the paper's
        ν. More follows the training rows closer. The paper tries 0.1, 1, 4, 10, 43 and 100.
    learning_rate : float, default=0.03
        First step length; the paper's η. It is halved when the bound no longer falls. The paper
        tries 0.03, 0.01 and 0.003.
    scale : {"range", "deviation"}, default="range"
        Columns are measured about their means in units of their range or of their deviation.
    max_features : int, float, str or None, default="D**0.7"
        Columns among which the start of a split, the best single column, is looked for; the
        paper's q. A count, a share, "sqrt", or a power of the number of columns. None is all.
        The optimised split uses all columns.
    batch_size : int, default=100
        Rows of a step. Nodes of fewer than ten batches have smaller ones.
    momentum : float, default=0.9
        Share of the last step that the next one keeps.
    refresh_epochs : int, default=5
        Passes over the rows between two tangents of the concave part of the bound; the paper's τ.
    relabel_epochs : int, default=0
        First passes in which every row pulls towards the leaf that suits it, also from the wrong
        side; then the leaves are fitted anew at every tangent. The paper has none. Try half of
        `max_epochs` where columns are one-hot: a split that starts there cannot leave otherwise.
    max_epochs : int, default=50
        Most passes over the rows of a node.
    tol : float, default=1e-3
        The bound has to fall by this share; else the learning rate is halved, and at last the
        optimisation of the split ends.
    """

    max_norm: float = 10.0
    learning_rate: float = 0.03
    scale: str = "range"
    max_features: int | float | str | None = "D**0.7"
    batch_size: int = 100
    momentum: float = 0.9
    refresh_epochs: int = 5
    relabel_epochs: int = 0
    max_epochs: int = 50
    tol: float = 1e-3

    def _check_own(self) -> None:
        check_real("max_norm", self.max_norm, minimum=0.0, is_open=True, example="10.0")
        check_learning_rate(self.learning_rate, LEARNING_RATES_OF_STUMPS, example="0.03")
        check_choice("scale", self.scale, SCALES)
        check_integer("batch_size", self.batch_size, minimum=1, example="100")
        check_real("momentum", self.momentum, minimum=0.0, example="0.9")
        if float(self.momentum) >= 1:
            raise ValueError(
                f"momentum={self.momentum!r} never comes to rest; give a number from 0 to below "
                "1; try momentum=0.9."
            )
        check_integer("refresh_epochs", self.refresh_epochs, minimum=1, example="5")
        check_integer("relabel_epochs", self.relabel_epochs, minimum=0, example="0")
        check_integer("max_epochs", self.max_epochs, minimum=1, example="100")
        check_real("tol", self.tol, minimum=0.0, example="1e-3")
        if isinstance(self.max_features, (str, float)):
            count_features(self.max_features, 1)

    def _kind_of_split(self) -> str:
        return "co2"

    def _grow_options(self, n_candidates: int, **others: Any) -> GrowOptions:
        co2 = CO2Options(
            max_norm=float(self.max_norm),
            learning_rate=float(self.learning_rate),
            batch_size=int(self.batch_size),
            momentum=float(self.momentum),
            refresh_epochs=int(self.refresh_epochs),
            relabel_epochs=int(self.relabel_epochs),
            max_epochs=int(self.max_epochs),
            tol=float(self.tol),
        )
        return super()._grow_options(n_candidates, scale=self.scale, co2=co2, **others)


def _co2_trees(model: CO2ForestClassifier | CO2ForestRegressor, problem: Problem) -> GreedyTrees:
    """Trees on samples of the rows."""
    plan = model._sample_plan(problem)
    if model.choice == "oob" and plan.sees_all(problem.n_rows):
        raise ValueError(
            f"choice='oob' but every tree sees all {problem.n_rows} rows, so that none can "
            "judge its splits; leave some out; try bootstrap=True or choice='bound'."
        )
    options = model._grow_options(
        columns_to_try(plan), choice=model.choice, scale_spread=float(model.scale_spread)
    )
    return GreedyTrees(options, plan, int(model.n_estimators), model.n_jobs)


def _check_forest(model: CO2ForestClassifier | CO2ForestRegressor) -> None:
    check_choice("choice", model.choice, CHOICES)
    check_real("scale_spread", model.scale_spread, minimum=0.0, example="0.5")
    if float(model.scale_spread) > LARGEST_SCALE_SPREAD:
        raise ValueError(
            f"scale_spread={model.scale_spread!r} leaves a tree one column to look at; give "
            f"a number from 0 to {LARGEST_SCALE_SPREAD:g}; try scale_spread=0.5."
        )


def _fit_tree(
    model: CO2TreeClassifier | CO2TreeRegressor,
    session: Session,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
) -> None:
    """Grow one tree on all rows and store it."""
    problem = model._read(session, X, y, sample_weight)
    n_candidates = count_features(model.max_features, problem.n_features)
    seed, n_threads = model._begin(session, problem), model._n_threads()
    recipe = GreedyTree(model._grow_options(n_candidates, seed=seed, n_threads=n_threads))

    def store(model: CO2TreeClassifier | CO2TreeRegressor, parts: Sequence[GrownTree]) -> None:
        model._store_tree(parts[-1].tree, problem)

    store(model, fit_parts(recipe, problem, session, model, store))


@estimator
class CO2ForestClassifier(Classifier, CO2Split, IndependentTrees):
    """A random forest whose splits are continuously optimised hyperplanes.

    Trees are grown on bootstrap samples until their leaves are pure. A split starts at the best of
    a few random columns and is then optimised with its two leaves: a convex-concave bound on
    their log loss is lowered by stochastic gradients [1]_.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_norm : float, default=10.0
        Largest squared length of a split's weights with its bias, in scaled columns; the paper's
        ν. More follows the training rows closer. The paper tries 0.1, 1, 4, 10, 43 and 100.
    learning_rate : float, default=0.03
        First step length; the paper's η. It is halved when the bound no longer falls. The paper
        tries 0.03, 0.01 and 0.003.
    scale : {"range", "deviation"}, default="range"
        Columns are measured about their means in units of their range or of their deviation.
    scale_spread : float, default=0.0
        How much these units differ from tree to tree: each is divided by e to the power of
        `scale_spread` times a normal number. Trees then differ more, each being a little worse.
        The paper has none. Try 0.5 where trees are too much alike.
    max_features : int, float, str or None, default="D**0.7"
        Columns among which the start of a split, the best single column, is looked for; the
        paper's q. A count, a share, "sqrt", or a power of the number of columns. None is all.
        The optimised split uses all columns.
    batch_size : int, default=100
        Rows of a step. Nodes of fewer than ten batches have smaller ones.
    momentum : float, default=0.9
        Share of the last step that the next one keeps.
    refresh_epochs : int, default=5
        Passes over the rows between two tangents of the concave part of the bound; the paper's τ.
    relabel_epochs : int, default=0
        First passes in which every row pulls towards the leaf that suits it, also from the wrong
        side; then the leaves are fitted anew at every tangent. The paper has none. Try half of
        `max_epochs` where columns are one-hot: a split that starts there cannot leave otherwise.
    choice : {"bound", "oob"}, default="bound"
        Whether a split is always the optimised hyperplane, as in the paper, or the column that it
        started from where that one suits the rows better that were not drawn for the tree. Those
        rows then are no longer unseen: `oob_score_` flatters the forest a little.
    max_epochs : int, default=50
        Most passes over the rows of a node.
    tol : float, default=1e-3
        The bound has to fall by this share; else the learning rate is halved, and at last the
        optimisation of the split ends.
    criterion : {"entropy", "gini"}, default="entropy"
        Impurity by which the start of a split is chosen.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves. Where trees see all rows, alike ones count as one.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    bootstrap : bool, default=True
        Draw the rows of each tree with replacement.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a count, or a share; 1.0 is all rows. None is as many as there
        are with `bootstrap`, 0.9 of them without.
    calibrate : bool, default=True
        Whether probabilities come from a map that is fitted to what trees say of rows they have
        not seen, for next to no time; `predict` answers the same, and no probability is 0.
        False gives means over the trees as they are.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_ : int
        Number of classes, of targets (1), and of columns.
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
        Their class probabilities; nan for a row that every tree saw or that has no weight.
    probability_slope_, probability_votes_ : float
        The map to probabilities, if `calibrate`: those of v votes, or summed class fractions, are
        proportional to ``(v + probability_votes_ / n_classes_) ** probability_slope_``.

    See Also
    --------
    spinney.tune_co2 : its help shows how two grid searches choose `max_features`, `max_norm` and
        `learning_rate` on validation rows.

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
       Optimization of Oblique Splits", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spinney import CO2ForestClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = CO2ForestClassifier(n_estimators=5, max_epochs=20, random_state=0)
    >>> bool(forest.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.85)
    True
    """

    scale_spread: float = 0.0
    choice: str = "bound"
    criterion: str = "entropy"
    feature_sampling: str = field(default="local", init=False)

    _check_own, _recipe = _check_forest, _co2_trees


@estimator
class CO2ForestRegressor(Regressor, CO2Split, IndependentTrees):
    """A random forest of regression trees whose splits are continuously optimised hyperplanes.

    As :class:`CO2ForestClassifier`, with the squared loss of the two leaves of a split.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_norm : float, default=10.0
        Largest squared length of a split's weights with its bias, in scaled columns; the paper's
        ν. More follows the training rows closer. The paper tries 0.1, 1, 4, 10, 43 and 100.
    learning_rate : float, default=0.03
        First step length; the paper's η. It is halved when the bound no longer falls. The paper
        tries 0.03, 0.01 and 0.003.
    scale : {"range", "deviation"}, default="range"
        Columns are measured about their means in units of their range or of their deviation.
    scale_spread : float, default=0.0
        How much these units differ from tree to tree: each is divided by e to the power of
        `scale_spread` times a normal number. Trees then differ more, each being a little worse.
        The paper has none. Try 0.5 where trees are too much alike.
    max_features : int, float, str or None, default="D**0.7"
        Columns among which the start of a split, the best single column, is looked for; the
        paper's q. A count, a share, "sqrt", or a power of the number of columns. None is all.
        The optimised split uses all columns.
    batch_size : int, default=100
        Rows of a step. Nodes of fewer than ten batches have smaller ones.
    momentum : float, default=0.9
        Share of the last step that the next one keeps.
    refresh_epochs : int, default=5
        Passes over the rows between two tangents of the concave part of the bound; the paper's τ.
    relabel_epochs : int, default=0
        First passes in which every row pulls towards the leaf that suits it, also from the wrong
        side; then the leaves are fitted anew at every tangent. The paper has none. Try half of
        `max_epochs` where columns are one-hot: a split that starts there cannot leave otherwise.
    choice : {"bound", "oob"}, default="bound"
        Whether a split is always the optimised hyperplane, as in the paper, or the column that it
        started from where that one suits the rows better that were not drawn for the tree. Those
        rows then are no longer unseen: `oob_score_` flatters the forest a little.
    max_epochs : int, default=50
        Most passes over the rows of a node.
    tol : float, default=1e-3
        The bound has to fall by this share; else the learning rate is halved, and at last the
        optimisation of the split ends.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves. Where trees see all rows, alike ones count as one.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    bootstrap : bool, default=True
        Draw the rows of each tree with replacement.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a count, or a share; 1.0 is all rows. None is as many as there
        are with `bootstrap`, 0.9 of them without.
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
    n_outputs_, n_features_in_ : int
        Number of targets and of columns.
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

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
       Optimization of Oblique Splits", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import CO2ForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = CO2ForestRegressor(n_estimators=5, max_depth=4, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.4)
    True
    """

    scale_spread: float = 0.0
    choice: str = "bound"
    feature_sampling: str = field(default="local", init=False)

    _check_own, _recipe = _check_forest, _co2_trees


@estimator
class CO2TreeClassifier(Classifier, CO2Split, SingleTree):
    """One tree of continuously optimised hyperplanes, grown on all rows.

    Parameters
    ----------
    max_norm : float, default=10.0
        Largest squared length of a split's weights with its bias, in scaled columns; the paper's
        ν. More follows the training rows closer. The paper tries 0.1, 1, 4, 10, 43 and 100.
    learning_rate : float, default=0.03
        First step length; the paper's η. It is halved when the bound no longer falls. The paper
        tries 0.03, 0.01 and 0.003.
    scale : {"range", "deviation"}, default="range"
        Columns are measured about their means in units of their range or of their deviation.
    max_features : int, float, str or None, default="D**0.7"
        Columns among which the start of a split, the best single column, is looked for; the
        paper's q. A count, a share, "sqrt", or a power of the number of columns. None is all.
        The optimised split uses all columns.
    batch_size : int, default=100
        Rows of a step. Nodes of fewer than ten batches have smaller ones.
    momentum : float, default=0.9
        Share of the last step that the next one keeps.
    refresh_epochs : int, default=5
        Passes over the rows between two tangents of the concave part of the bound; the paper's τ.
    relabel_epochs : int, default=0
        First passes in which every row pulls towards the leaf that suits it, also from the wrong
        side; then the leaves are fitted anew at every tangent. The paper has none. Try half of
        `max_epochs` where columns are one-hot: a split that starts there cannot leave otherwise.
    max_epochs : int, default=50
        Most passes over the rows of a node.
    tol : float, default=1e-3
        The bound has to fall by this share; else the learning rate is halved, and at last the
        optimisation of the split ends.
    criterion : {"entropy", "gini"}, default="entropy"
        Impurity by which the start of a split is chosen.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves. Where trees see all rows, alike ones count as one.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the growth, which share the nodes of a level, and of predictions. None is one,
        -1 is all cores.
    verbose : int, default=0
        1 shows a bar on stderr, 2 prints a line at the end.
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
    tree_ : Tree
        The tree as plain arrays.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_ : int
        Number of classes, of targets (1), and of columns.
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
        Numbers the tree holds.
    flops_ : float
        Mean number of parameters a training row meets.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
       Optimization of Oblique Splits", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import CO2TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CO2TreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> bool(tree.score(X, y) > 0.9)
    True
    """

    criterion: str = "entropy"
    calibrate: bool = field(default=False, init=False)  # leaf fractions are answered as they are
    warm_start: bool = field(default=False, init=False)

    _fit = _fit_tree


@estimator
class CO2TreeRegressor(Regressor, CO2Split, SingleTree):
    """One regression tree of continuously optimised hyperplanes, grown on all rows.

    Parameters
    ----------
    max_norm : float, default=10.0
        Largest squared length of a split's weights with its bias, in scaled columns; the paper's
        ν. More follows the training rows closer. The paper tries 0.1, 1, 4, 10, 43 and 100.
    learning_rate : float, default=0.03
        First step length; the paper's η. It is halved when the bound no longer falls. The paper
        tries 0.03, 0.01 and 0.003.
    scale : {"range", "deviation"}, default="range"
        Columns are measured about their means in units of their range or of their deviation.
    max_features : int, float, str or None, default="D**0.7"
        Columns among which the start of a split, the best single column, is looked for; the
        paper's q. A count, a share, "sqrt", or a power of the number of columns. None is all.
        The optimised split uses all columns.
    batch_size : int, default=100
        Rows of a step. Nodes of fewer than ten batches have smaller ones.
    momentum : float, default=0.9
        Share of the last step that the next one keeps.
    refresh_epochs : int, default=5
        Passes over the rows between two tangents of the concave part of the bound; the paper's τ.
    relabel_epochs : int, default=0
        First passes in which every row pulls towards the leaf that suits it, also from the wrong
        side; then the leaves are fitted anew at every tangent. The paper has none. Try half of
        `max_epochs` where columns are one-hot: a split that starts there cannot leave otherwise.
    max_epochs : int, default=50
        Most passes over the rows of a node.
    tol : float, default=1e-3
        The bound has to fall by this share; else the learning rate is halved, and at last the
        optimisation of the split ends.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves. Where trees see all rows, alike ones count as one.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the growth, which share the nodes of a level, and of predictions. None is one,
        -1 is all cores.
    verbose : int, default=0
        1 shows a bar on stderr, 2 prints a line at the end.
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
    tree_ : Tree
        The tree as plain arrays.
    n_outputs_, n_features_in_ : int
        Number of targets and of columns.
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
        Numbers the tree holds.
    flops_ : float
        Mean number of parameters a training row meets.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
       Optimization of Oblique Splits", 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import CO2TreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = CO2TreeRegressor(max_depth=3, random_state=0).fit(X, y)
    >>> bool(tree.score(X, y) > 0.4)
    True
    """

    warm_start: bool = field(default=False, init=False)

    _fit = _fit_tree
