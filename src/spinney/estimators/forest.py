"""Scikit-learn estimators for bagged TAO trees.

They validate, build a problem and a plan, call :func:`spinney.ensembles.bagging.bag_trees`, and
store what came back. No algorithm lives here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace

import numpy as np

from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.data.checks import check_choice
from spinney.ensembles.bagging import BaggingPlan, bag_trees
from spinney.ensembles.plan import SamplePlan
from spinney.ensembles.tree_start import check_starts_apart
from spinney.estimators.forest_base import TracedForest
from spinney.estimators.independent_trees import SampledClassifier, SampledForest, SampledRegressor
from spinney.estimators.sampling import alpha_of_trees
from spinney.estimators.tao_base import TAOClassification, TAORegression
from spinney.fitting.checkpoint import TracedTree
from spinney.fitting.events import model_so_far, tell_tree
from spinney.tree.structure import Tree

STARTS = ("own", "same", "previous")
VOTINGS = ("auto", "hard", "soft")


class _TAOForest(SampledForest, TracedForest):
    """What both estimators share: the plan, and the growing."""

    _last_tree: Tree | None  # unpruned; where the next tree starts if it goes on from this one

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_sampled()
        alpha_of_trees(self.alpha, 2)
        check_choice("start", self.start, STARTS)

    def _may_grow(self) -> tuple[str, ...]:
        # A path of penalties depends on how many trees share it.
        return () if isinstance(self.alpha, (tuple, list)) else super()._may_grow()

    def _plan(self, problem: Problem) -> BaggingPlan:
        sample = self._sample_plan(problem)
        if sample.n_columns and sample.is_global:
            check_starts_apart(self.init, self.start)
        alphas = alpha_of_trees(self.alpha, int(self.n_estimators))
        return BaggingPlan(**vars(sample), start=self.start, alphas=alphas)

    def _grow(self, problem: Problem, plan: SamplePlan) -> None:
        assert isinstance(plan, BaggingPlan)
        is_continued = self._is_continued()
        trees: list[Tree] = list(self.trees_) if is_continued else []
        traces: list[Trace] = list(self.traces_) if is_continued else []
        self._last_tree = self._last_tree if is_continued else None
        self._progress.begin("tree", len(plan.alphas), first=len(trees))

        def store(model: _TAOForest) -> None:
            model._store_forest(list(trees), list(traces), problem, np.ones(len(trees)))

        snapshot = model_so_far(self, store)
        grown = self._trees_to_add(range(len(trees), len(plan.alphas)), problem, plan)
        # Closed also if a callback fails or Ctrl-C comes between two trees: no worker goes on.
        with closing(grown):
            for found, is_restored in grown:
                trees.append(found.tree)
                traces.append(found.trace)
                self._last_tree = found.unpruned
                if tell_tree(
                    self._progress,
                    len(trees),
                    found.tree,
                    found.trace,
                    snapshot,
                    restored=is_restored,
                ):
                    break
        self._store_forest(trees, traces, problem, np.ones(len(trees)))

    def _grown_apart(self, problem: Problem, plan: SamplePlan, n_trees: int) -> Iterable[Tree]:
        assert isinstance(plan, BaggingPlan)
        evenly = np.linspace(0, len(plan.alphas) - 1, n_trees).round().astype(int)  # of a path
        few = replace(plan, alphas=tuple(plan.alphas[number] for number in evenly))
        options = self._options(few.alphas[0])
        grown = bag_trees(problem, self._start(), options, few, n_jobs=self.n_jobs)
        return [found.tree for found in grown]

    def _trees_to_add(
        self, numbers: range, problem: Problem, plan: BaggingPlan
    ) -> Generator[tuple[TracedTree, bool], None, None]:
        """Trees of these numbers, and whether they come from the checkpoint."""
        saved = self._checkpoint.parts(TracedTree)[: len(numbers)]
        for found in saved:
            yield found, True
        grown = bag_trees(
            problem,
            self._start(),
            self._options(plan.alphas[0]),
            plan,
            first=numbers.start + len(saved),
            last_tree=self._last_tree,
            n_jobs=self.n_jobs,
        )
        with closing(grown):
            for one in grown:
                unpruned = one.unpruned if self.start == "previous" else None
                found = TracedTree(one.tree, one.trace, unpruned)
                self._checkpoint.add(found)
                yield found, False


class TAOForestClassifier(_TAOForest, SampledClassifier, TAOClassification):
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
        Hyperplanes over all features, or one feature a split.
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

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        max_depth: int | None = 8,
        alpha: float | tuple[float, float] = 0.1,
        ridge: float = 0.01,
        max_weights: int | None = None,
        max_leaf_weights: int | None = None,
        split: str = "oblique",
        leaf: str = "constant",
        leaf_alpha: float | None = None,
        leaf_penalty: str = "l1",
        relax_leaves: bool = False,
        loss: str = "zero_one",
        init: object = "supervised",
        start: str = "own",
        max_iter: int = 20,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        max_samples: int | float | None = None,
        bootstrap: bool = False,
        max_features: int | float | str | None = None,
        feature_sampling: str = "local",
        voting: str = "soft",
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
        self.max_depth = max_depth
        self.alpha = alpha
        self.ridge = ridge
        self.max_weights = max_weights
        self.max_leaf_weights = max_leaf_weights
        self.split = split
        self.leaf = leaf
        self.leaf_alpha = leaf_alpha
        self.leaf_penalty = leaf_penalty
        self.relax_leaves = relax_leaves
        self.loss = loss
        self.init = init
        self.start = start
        self.max_iter = max_iter
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.voting = voting
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, VOTINGS)

    def _changeable(self) -> object:
        return self.voting, self.calibrate

    def _is_hard(self) -> bool:
        if self.voting not in VOTINGS:  # it may be changed after ``fit``
            check_choice("voting", self.voting, VOTINGS)
        return self.voting == "hard" or (
            self.voting == "auto" and not self.forest_.trees[0].is_linear
        )


class TAOForestRegressor(_TAOForest, SampledRegressor, TAORegression):
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
        Hyperplanes over all features, or one feature a split.
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

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        max_depth: int | None = 8,
        alpha: float | tuple[float, float] = 0.1,
        ridge: float = 0.01,
        max_weights: int | None = None,
        max_leaf_weights: int | None = None,
        split: str = "oblique",
        leaf: str = "constant",
        leaf_alpha: float | None = None,
        leaf_penalty: str = "l1",
        relax_leaves: bool = False,
        loss: str = "squared_error",
        huber_delta: float = 1.0,
        init: object = "supervised",
        start: str = "own",
        max_iter: int = 20,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        max_samples: int | float | None = None,
        bootstrap: bool = False,
        max_features: int | float | str | None = None,
        feature_sampling: str = "local",
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
        self.max_depth = max_depth
        self.alpha = alpha
        self.ridge = ridge
        self.max_weights = max_weights
        self.max_leaf_weights = max_leaf_weights
        self.split = split
        self.leaf = leaf
        self.leaf_alpha = leaf_alpha
        self.leaf_penalty = leaf_penalty
        self.relax_leaves = relax_leaves
        self.loss = loss
        self.huber_delta = huber_delta
        self.init = init
        self.start = start
        self.max_iter = max_iter
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type
