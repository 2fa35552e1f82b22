"""Greedy growth: its parameters, and the scikit-learn estimators for forests of such trees."""

from __future__ import annotations

from typing import Any

from spinney.algorithms.grow import (
    COLUMN_SPLITS,
    CRITERIA,
    DIRECTION_SPLITS,
    SQUARING_SPLITS,
    GrowOptions,
)
from spinney.data import Problem, check_scales
from spinney.data.checks import check_choice, check_integer, check_real
from spinney.ensembles.greedy import GreedyTrees
from spinney.ensembles.plan import SamplePlan
from spinney.estimators.construction import estimator, parameters
from spinney.estimators.independent_trees import IndependentTrees
from spinney.estimators.tasks import Classifier, Regressor


@parameters
class Growth:
    """Limits of greedy growth.

    Parameters
    ----------
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_weight_fraction_leaf: float = 0.0
    leaf_shrinkage: float = 0.0

    def _check_own(self) -> None:
        if hasattr(self, "criterion"):
            check_choice("criterion", self.criterion, CRITERIA)
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, minimum=1, example="None for no limit")
        check_integer("min_samples_split", self.min_samples_split, minimum=2, example="2")
        check_real(
            "min_weight_fraction_leaf", self.min_weight_fraction_leaf, minimum=0.0, example="0"
        )
        if float(self.min_weight_fraction_leaf) > 0.5:
            raise ValueError(
                f"min_weight_fraction_leaf={self.min_weight_fraction_leaf!r} leaves no split, as "
                "two sides cannot both have more than half; give a number from 0 to 0.5; try 0.01."
            )
        check_real("leaf_shrinkage", self.leaf_shrinkage, minimum=0.0, example="10.0")

    def _check_own_task(self, problem: Problem) -> None:
        model: Any = self
        if self._kind_of_split() in SQUARING_SPLITS:
            why = f"{type(self).__name__} squares it, so"
            check_scales(problem.scale, why, model._label_of_coordinate)

    def _kind_of_split(self) -> str:
        """Name of the split for the grower."""
        return str(self.split)  # type: ignore[attr-defined]  # of those who choose one

    def _grow_options(self, n_candidates: int, **others: Any) -> GrowOptions:
        """The grower's options from the constructor's values, and some others."""
        return GrowOptions(
            split=self._kind_of_split(),
            criterion=getattr(self, "criterion", "entropy"),
            max_depth=int(self.max_depth or 0),
            min_samples_split=int(self.min_samples_split),
            min_leaf_share=float(self.min_weight_fraction_leaf),
            leaf_shrinkage=float(self.leaf_shrinkage),
            n_candidates=n_candidates,
            **others,
        )


def columns_to_try(plan: SamplePlan) -> int:
    """Columns that each split tries; 0 for as many as the tree has."""
    return 0 if plan.is_global else plan.n_columns


def _check_split(model: GreedyForestClassifier | GreedyForestRegressor) -> None:
    check_choice("split", model.split, (*COLUMN_SPLITS, *DIRECTION_SPLITS))
    if model.n_candidates is not None:
        check_integer("n_candidates", model.n_candidates, minimum=1, example="100")
        if model.split in COLUMN_SPLITS:
            raise ValueError(
                f'n_candidates={model.n_candidates} with split="{model.split}", which tries '
                'columns; give n_candidates=None; try max_features, or split="probes".'
            )
    check_integer("n_restarts", model.n_restarts, minimum=0, example="4")
    check_integer("n_jumps", model.n_jumps, minimum=0, example="5")
    check_integer("max_columns", model.max_columns, minimum=1, example="3")
    check_real("ridge", model.ridge, minimum=0.0, example="0.01")


def _greedy_trees(
    model: GreedyForestClassifier | GreedyForestRegressor, problem: Problem
) -> GreedyTrees:
    """Trees on samples of rows and columns."""
    plan = model._sample_plan(problem)
    options = model._grow_options(
        int(model.n_candidates or 0) or columns_to_try(plan),
        n_restarts=int(model.n_restarts),
        n_jumps=int(model.n_jumps),
        most_columns=int(model.max_columns),
        ridge=float(model.ridge),
    )
    return GreedyTrees(options, plan, int(model.n_estimators), model.n_jobs)


@estimator
class GreedyForestClassifier(Classifier, IndependentTrees, Growth):
    """A forest of greedily grown trees with one of several kinds of split.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    split : str, default="axis"
        How a node is split:

        - "axis": the best of the drawn columns, as in CART and random forests: a threshold or a
          set of levels, and a side for missing values,
        - "oc1": from there one weight after the other, with random jumps and restarts [1]_,
        - "probes": the best of random differences of two columns [2]_,
        - "projections": the best of random signed sums of a few columns,
        - "ridge", "lda", "logistic": a linear model of two groups of classes on the drawn
          columns, then the best cut along it [3]_.
    criterion : {"entropy", "gini"}, default="entropy"
        Impurity that a cut has to lower.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    max_features : int, float, str or None, default="sqrt"
        Columns that a split draws: a count, a share, "sqrt", or a power of the number of columns
        such as "D**0.7". None is all. "oc1" starts at the best of them and goes on with all;
        "probes" and "projections" try as many directions, over all columns.
    feature_sampling : {"local", "global"}, default="local"
        Draw the columns anew for each split, or once for each tree, which then reads no others.
    n_candidates : int or None, default=None
        Differences or sums that "probes" and "projections" try. None tries as many as there are
        drawn columns.
    n_restarts, n_jumps : int, default=0, 5
        Random starts, and random steps out of each local minimum, of "oc1". Restarts make single
        trees fit better and forests worse.
    max_columns : int, default=3
        Most columns of a sum of "projections".
    ridge : float, default=0.01
        Penalty of "ridge" and "logistic", as a share of the mean variance of the drawn columns.
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

    References
    ----------
    .. [1] Murthy, Kasif and Salzberg, "A System for Induction of Oblique Decision Trees", 1994.
    .. [2] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
       Optimization of Oblique Splits", 2015, section 6.2.
    .. [3] Menze, Kelm, Splitthoff, Koethe and Hamprecht, "On Oblique Random Forests", 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import GreedyForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = GreedyForestClassifier(n_estimators=10, split="probes", random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    """

    split: str = "axis"
    criterion: str = "entropy"
    max_features: int | float | str | None = "sqrt"
    n_candidates: int | None = None
    n_restarts: int = 0
    n_jumps: int = 5
    max_columns: int = 3
    ridge: float = 0.01

    _check_own, _recipe = _check_split, _greedy_trees


@estimator
class GreedyForestRegressor(Regressor, IndependentTrees, Growth):
    """A forest of greedily grown regression trees with one of several kinds of split.

    "lda" and "logistic" part the rows of a node at the mean of their targets into two groups;
    with several outputs at the mean of their sum, which "ridge" regresses then.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    split : str, default="axis"
        How a node is split:

        - "axis": the best of the drawn columns, as in CART and random forests: a threshold or a
          set of levels, and a side for missing values,
        - "oc1": from there one weight after the other, with random jumps and restarts [1]_,
        - "probes": the best of random differences of two columns [2]_,
        - "projections": the best of random signed sums of a few columns,
        - "ridge", "lda", "logistic": a linear model of two groups of classes on the drawn
          columns, then the best cut along it [3]_.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    leaf_shrinkage : float, default=0.0
        How far leaves are drawn towards the means of the nodes above them, in rows of weight 1: a
        step out of a node of so many rows counts half. Try 3 to 30 where classes overlap or there
        are few trees. 0 leaves them as they are.
    max_features : int, float, str or None, default=0.33
        Columns that a split draws: a count, a share, "sqrt", or a power of the number of columns
        such as "D**0.7". None is all. "oc1" starts at the best of them and goes on with all;
        "probes" and "projections" try as many directions, over all columns.
    feature_sampling : {"local", "global"}, default="local"
        Draw the columns anew for each split, or once for each tree, which then reads no others.
    n_candidates : int or None, default=None
        Differences or sums that "probes" and "projections" try. None tries as many as there are
        drawn columns.
    n_restarts, n_jumps : int, default=0, 5
        Random starts, and random steps out of each local minimum, of "oc1". Restarts make single
        trees fit better and forests worse.
    max_columns : int, default=3
        Most columns of a sum of "projections".
    ridge : float, default=0.01
        Penalty of "ridge" and "logistic", as a share of the mean variance of the drawn columns.
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
    .. [1] Murthy, Kasif and Salzberg, "A System for Induction of Oblique Decision Trees", 1994.
    .. [2] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
       Optimization of Oblique Splits", 2015, section 6.2.
    .. [3] Menze, Kelm, Splitthoff, Koethe and Hamprecht, "On Oblique Random Forests", 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import GreedyForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = GreedyForestRegressor(n_estimators=10, split="ridge", random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.7)
    True
    """

    split: str = "axis"
    max_features: int | float | str | None = 0.33
    n_candidates: int | None = None
    n_restarts: int = 0
    n_jumps: int = 5
    max_columns: int = 3
    ridge: float = 0.01

    _check_own, _recipe = _check_split, _greedy_trees
