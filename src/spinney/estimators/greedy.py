"""Scikit-learn estimators for forests of greedily grown trees: the baselines of the papers.

They validate, call :func:`spinney.ensembles.greedy.grow_forest`, and store what came back. No
algorithm lives here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spinney.algorithms.grow import COLUMN_SPLITS, DIRECTION_SPLITS, GrowOptions
from spinney.data.checks import check_choice, check_integer, check_real
from spinney.ensembles.plan import SamplePlan
from spinney.estimators.growth import GrownForest
from spinney.estimators.independent_trees import SampledClassifier, SampledRegressor


class _GreedyForest(GrownForest):
    """What both estimators share: the values of their splits."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("split", self.split, (*COLUMN_SPLITS, *DIRECTION_SPLITS))
        if self.n_candidates is not None:
            check_integer("n_candidates", self.n_candidates, minimum=1, example="100")
            if self.split in COLUMN_SPLITS:
                raise ValueError(
                    f'n_candidates={self.n_candidates} with split="{self.split}", which tries '
                    'columns; give n_candidates=None; try max_features, or split="probes".'
                )
        check_integer("n_restarts", self.n_restarts, minimum=0, example="4")
        check_integer("n_jumps", self.n_jumps, minimum=0, example="5")
        check_integer("max_columns", self.max_columns, minimum=1, example="3")
        check_real("ridge", self.ridge, minimum=0.0, example="0.01")

    def _n_candidates(self, plan: SamplePlan) -> int:
        return int(self.n_candidates or 0) or super()._n_candidates(plan)

    def _grow_options(self, n_candidates: int) -> GrowOptions:
        return replace(
            super()._grow_options(n_candidates),
            n_restarts=int(self.n_restarts),
            n_jumps=int(self.n_jumps),
            most_columns=int(self.max_columns),
            ridge=float(self.ridge),
        )


class GreedyForestClassifier(_GreedyForest, SampledClassifier):
    """A forest of greedily grown trees with one of several kinds of split.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    split : str, default="axis"
        How a node is split:

        - "axis": the best of the drawn columns, as in CART and random forests,
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

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        split: str = "axis",
        criterion: str = "entropy",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_weight_fraction_leaf: float = 0.0,
        leaf_shrinkage: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        feature_sampling: str = "local",
        n_candidates: int | None = None,
        n_restarts: int = 0,
        n_jumps: int = 5,
        max_columns: int = 3,
        ridge: float = 0.01,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        calibrate: bool = True,
        oob_score: bool = False,
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
        self.split = split
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.leaf_shrinkage = leaf_shrinkage
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.n_candidates = n_candidates
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.max_columns = max_columns
        self.ridge = ridge
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.calibrate = calibrate
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type


class GreedyForestRegressor(_GreedyForest, SampledRegressor):
    """A forest of greedily grown regression trees with one of several kinds of split.

    "lda" and "logistic" part the rows of a node at the mean of their targets into two groups;
    with several outputs at the mean of their sum, which "ridge" regresses then.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    split : str, default="axis"
        How a node is split:

        - "axis": the best of the drawn columns, as in CART and random forests,
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

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        split: str = "axis",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_weight_fraction_leaf: float = 0.0,
        leaf_shrinkage: float = 0.0,
        max_features: int | float | str | None = 0.33,
        feature_sampling: str = "local",
        n_candidates: int | None = None,
        n_restarts: int = 0,
        n_jumps: int = 5,
        max_columns: int = 3,
        ridge: float = 0.01,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
        self.n_estimators = n_estimators
        self.split = split
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.leaf_shrinkage = leaf_shrinkage
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.n_candidates = n_candidates
        self.n_restarts = n_restarts
        self.n_jumps = n_jumps
        self.max_columns = max_columns
        self.ridge = ridge
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type
