"""Scikit-learn estimators for one tree optimised by TAO.

They validate, build a problem, call :func:`spinney.algorithms.tao.optimize_tree`, and store what
came back. No algorithm lives here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from spinney.algorithms.state import TreeRun
from spinney.algorithms.tao import AfterSweep, OptimizedTree, TAOOptions, optimize_tree
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.ensembles.tree_start import check_fits
from spinney.estimators.parameters import check_alpha
from spinney.estimators.tao_base import TAOClassification, TAOEstimator, TAORegression
from spinney.estimators.tree_base import TreeClassifier, TreeEstimator, TreeRegressor
from spinney.fitting.events import model_so_far, nothing_yet, tell_sweep
from spinney.tree.structure import Topology, Tree


class _TAOTree(TreeEstimator, TAOEstimator):
    """What both estimators share: one optimisation."""

    trace_: Trace

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_alpha(self.alpha)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        problem = self._problem(X, y, sample_weight)
        start, options = self._begin(problem)
        self._progress.begin("sweep", options.max_iter)
        resume = self._checkpoint.runs(TreeRun).get(0)
        last = None if resume is None else self._tell_again(resume.trace)
        found = optimize_tree(
            problem,
            start,
            options,
            resume=resume if last is None else None,
            save=self._checkpoint.saver(0) if last is None else None,
            after_sweep=self._asks(problem) if last is None else _stops_after(last),
        )
        self._store(found, problem)

    def _tell_again(self, trace: Trace) -> int | None:
        """Tell of the sweeps in a checkpoint; the number of the one to stop after, if any."""
        for number in range(1, len(trace) + 1):
            if tell_sweep(self._progress, trace, number, nothing_yet, restored=True):
                return number
        return None

    def _asks(self, problem: Problem) -> AfterSweep | None:
        """Tells of a sweep, and asks whether to go on; None if nobody listens."""
        if not self._progress.is_watched:
            return None

        def after_sweep(trace: Trace, so_far: Callable[[], OptimizedTree]) -> bool:
            def store(model: _TAOTree) -> None:
                model._store(so_far(), problem)

            return tell_sweep(self._progress, trace, len(trace), model_so_far(self, store))

        return after_sweep

    def _begin(self, problem: Problem) -> tuple[Topology | Tree, TAOOptions]:
        """Where the optimiser starts, and its options."""
        seed = self._seed_of_fit(problem)
        options = self._options(float(self.alpha), seed, self._n_threads())
        if self._is_continued():
            check_fits(self.tree_, problem, self.split, "the tree to continue")
            return self.tree_, options
        return self._start()(problem, seed), options

    def _store(self, result: OptimizedTree, problem: Problem) -> None:
        """Set the fitted attributes."""
        is_continued = self._is_continued()
        self._store_tree(result.tree, problem)
        self.trace_ = self.trace_.joined(result.trace) if is_continued else result.trace
        self.n_iter_ = len(self.trace_)

    def _is_continued(self) -> bool:
        """True if ``fit`` goes on from the tree of the last fit."""
        return bool(self.warm_start) and hasattr(self, "tree_")


def _stops_after(last: int) -> AfterSweep:
    """Ends a run after so many sweeps, without a word."""
    return lambda trace, _: len(trace) >= last


class TAOTreeClassifier(_TAOTree, TreeClassifier, TAOClassification):
    """A classification tree optimised as a whole by alternating over its nodes.

    Parameters
    ----------
    max_depth : int or None, default=8
        Depth of the start. The fitted tree is pruned, so it can be smaller. None is for
        ``init="cart"`` only. A given tree or RandomStructure has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of the rows; the
        papers' λ. More gives fewer weights and smaller trees.
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
        The start. "supervised": complete tree, hyperplanes halfway between the means of two
        random groups of classes. "balanced": complete tree, random hyperplanes that halve their
        rows. "random": random biases, too. "cart": scikit-learn's CART. "random_structure":
        random structure, see :class:`RandomStructure` for its parameters. In a grid search, wrap
        a fitted estimator in ``sklearn.frozen.FrozenEstimator``, because a clone is not fitted.
    max_iter : int, default=20
        Sweeps over the tree.
    strict_descent : bool or "sweep", default=False
        If True, accept a node only if it lowers the objective, as the papers do. If "sweep",
        accept a whole sweep only if it does, and guard each node only where it does not. If
        False, explore first and settle later, which finds better trees.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop settling when a sweep lowers the objective by less than this share, and exploring
        when five in a row have not.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` goes on from `tree_` with `max_iter` more sweeps and a longer `trace_`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the sweeps on stderr, 2 prints a line for each.
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
    trace_ : Trace
        Objective, loss, active splits and seconds of each sweep.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_, n_iter_ : int
        Number of classes, of targets (1), of columns, and of sweeps in `trace_`.
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
        Mean number of parameters a training row meets on its way to a leaf.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type` and Notes.

    Notes
    -----
    `feature_importances_` shares the gain of a split, which is the decrease of the Gini impurity
    (of the squared error for numbers) of its rows, among its features by
    ``max(w_j Cov(x_j, u), 0)``, ``u`` being the targets in the direction from the left side's mean
    to the right side's, and takes off what chance explains: a share with the squared correlation
    ``r`` is multiplied by ``max(0, 1 - 2 log(d) / ((n - 1) r))`` where n rows reach the split and
    d features vary. What linear leaves explain beyond a constant is shared in the same way. With
    ``importance_type="weight"`` feature j gets ``|w_j| s_j / sum_k |w_k| s_k`` of the rows that
    reach a split, ``s`` being the scales of the columns; leaves do not count. The sums over all
    splits are divided by their total; they are zero for a tree without splits.

    References
    ----------
    .. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently
       improve over random forests, AdaBoost and gradient boosting", FODS 2020, section 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney.estimators import TAOTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> bool(tree.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 8,
        alpha: float = 0.1,
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
        max_iter: int = 20,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        class_weight: object = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
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
        self.max_iter = max_iter
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type


class TAOTreeRegressor(_TAOTree, TreeRegressor, TAORegression):
    """A regression tree optimised as a whole by alternating over its nodes.

    Parameters
    ----------
    max_depth : int or None, default=8
        Depth of the start. The fitted tree is pruned, so it can be smaller. None is for
        ``init="cart"`` only. A given tree or RandomStructure has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of the rows; the
        papers' λ. More gives fewer weights and smaller trees.
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
        The start. "supervised": complete tree, hyperplanes halfway between the means of the rows
        with larger and with smaller targets than a random row. "balanced": complete tree, random
        hyperplanes that halve their rows. "random": random biases, too. "cart": scikit-learn's
        CART on squared errors. "random_structure": random structure, see
        :class:`RandomStructure` for its parameters. In a grid search, wrap a fitted estimator in
        ``sklearn.frozen.FrozenEstimator``, because a clone is not fitted.
    max_iter : int, default=20
        Sweeps over the tree.
    strict_descent : bool or "sweep", default=False
        If True, accept a node only if it lowers the objective, as the papers do. If "sweep",
        accept a whole sweep only if it does, and guard each node only where it does not. If
        False, explore first and settle later, which finds better trees.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop settling when a sweep lowers the objective by less than this share, and exploring
        when five in a row have not.
    warm_start : bool, default=False
        If True, ``fit`` goes on from `tree_` with `max_iter` more sweeps and a longer `trace_`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same tree, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the sweeps on stderr, 2 prints a line for each.
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
    trace_ : Trace
        Objective, loss, active splits and seconds of each sweep.
    n_outputs_, n_features_in_, n_iter_ : int
        Number of targets, of columns, and of sweeps in `trace_`.
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
        Mean number of parameters a training row meets on its way to a leaf.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.

    References
    ----------
    .. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently
       improve over random forests, AdaBoost and gradient boosting", FODS 2020, section 3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney.estimators import TAOTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = TAOTreeRegressor(max_depth=3, leaf="linear", random_state=0).fit(X, y)
    >>> bool(tree.score(X, y) > 0.4)
    True
    """

    def __init__(
        self,
        *,
        max_depth: int | None = 8,
        alpha: float = 0.1,
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
        max_iter: int = 20,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
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
        self.max_iter = max_iter
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type
