"""Scikit-learn estimators for one tree optimised by TAO.

They validate, build a problem, call :func:`spinney.optimize.tao.optimize_tree`, and store what
came back. No algorithm lives here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax
from sklearn.utils.validation import check_is_fitted

from spinney.data import Problem, as_rows
from spinney.estimators.base import TAOClassification, TAOEstimator, TAORegression
from spinney.estimators.importance import split_importances
from spinney.estimators.parameters import check_alpha
from spinney.estimators.progress import sweep_reporter
from spinney.estimators.start import check_fits
from spinney.optimize.tao import OptimizedTree, TAOOptions, optimize_tree
from spinney.optimize.trace import Trace
from spinney.tree.route import apply, decision_path, outputs
from spinney.tree.size import count_flops, count_parameters
from spinney.tree.structure import Topology, Tree

#: Score of a class that never reached a linear leaf, as in the core (`linear_leaf.cpp`).
UNSEEN_SCORE = -1e200


class _TAOTree(TAOEstimator):
    """What both estimators share: one optimisation, and ways to read the tree."""

    tree_: Tree
    trace_: Trace

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Node number of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        int32 ndarray of shape (n_rows,)
        """
        rows = self._checked_rows(X)
        return apply(self.tree_, as_rows(rows), n_threads=self._n_threads())

    def decision_path(self, X: ArrayLike) -> sp.csr_matrix:
        """Nodes that each row passes, as a sparse 0/1 matrix.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        CSR matrix of shape (n_rows, n_nodes)
        """
        rows = self._checked_rows(X)
        return decision_path(self.tree_, as_rows(rows))

    def get_depth(self) -> int:
        """Depth of the deepest leaf; a tree of one leaf has depth 0."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_alpha(self.alpha)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        problem = self._problem(X, y, sample_weight)
        start, options = self._begin(problem)
        report = sweep_reporter(self.verbose)
        self._store(optimize_tree(problem, start, options, callback=report), problem)

    def _begin(self, problem: Problem) -> tuple[Topology | Tree, TAOOptions]:
        """Where the optimiser starts, and its options."""
        seed = self._draw_seed()
        options = self._options(float(self.alpha), seed, self._n_threads())
        if self._is_continued():
            check_fits(self.tree_, problem, self.split, "the tree to continue")
            return self.tree_, options
        return self._start()(problem, seed), options

    def _store(self, result: OptimizedTree, problem: Problem) -> None:
        """Set the fitted attributes."""
        tree = result.tree
        is_continued = self._is_continued()
        leaves = tree.leaf_index[apply(tree, problem.rows, n_threads=self._n_threads())]
        leaf_rows = np.zeros(tree.n_leaves)
        np.add.at(leaf_rows, leaves, problem.sample_weight)
        self.tree_ = tree
        self.trace_ = self.trace_.joined(result.trace) if is_continued else result.trace
        self.n_iter_ = len(self.trace_)
        self.n_parameters_ = count_parameters(tree)
        self.flops_ = count_flops(tree, leaf_rows)
        self.feature_importances_ = split_importances(tree, leaf_rows, problem.scale)

    def _is_continued(self) -> bool:
        """True if ``fit`` goes on from the tree of the last fit."""
        return bool(self.warm_start) and hasattr(self, "tree_")

    def _outputs(self, X: ArrayLike) -> NDArray[np.float64]:
        """What the leaves say of each row: fractions, scores or values."""
        rows = self._checked_rows(X)
        return outputs(self.tree_, as_rows(rows), n_threads=self._n_threads())


class TAOTreeClassifier(_TAOTree, TAOClassification):
    """A classification tree optimised as a whole by alternating over its nodes.

    Parameters
    ----------
    max_depth : int or None, default=8
        Depth of the start. The fitted tree is pruned, so it can be smaller. None is for
        ``init="cart"`` only. A given tree keeps its own depth.
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
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves: `alpha` times the sum of absolute weights, or `alpha` / 2 times
        the sum of squares.
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
    monotone : bool, default=False
        If True, accept a node only if it lowers the objective, as the papers do. If False,
        explore first and settle later, which finds better trees.
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
        1 prints a line a sweep.

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
    n_parameters_ : int
        Numbers the tree holds.
    flops_ : float
        Mean number of parameters a training row meets on its way to a leaf.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean share of each feature in the splits, see Notes.

    Notes
    -----
    `feature_importances_` gives feature j at split i the share
    ``|w_ij| s_j / sum_k |w_ik| s_k`` with ``s`` the scales of the columns in training, sums the
    shares over the splits with the weight of the rows that reach them, and divides by the total.
    It is zero for a tree without splits. Weights of linear leaves do not count.

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
        leaf_penalty: str = "l1",
        relax_leaves: bool = False,
        loss: str = "zero_one",
        init: object = "supervised",
        max_iter: int = 20,
        monotone: bool = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        class_weight: object = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.alpha = alpha
        self.ridge = ridge
        self.max_weights = max_weights
        self.max_leaf_weights = max_leaf_weights
        self.split = split
        self.leaf = leaf
        self.leaf_penalty = leaf_penalty
        self.relax_leaves = relax_leaves
        self.loss = loss
        self.init = init
        self.max_iter = max_iter
        self.monotone = monotone
        self.order = order
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most likely class of each row; the first of `classes_` if several tie.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        if self.tree_.is_linear:
            best = self._outputs(X).argmax(axis=1)  # softmax keeps the order of the scores
        else:
            # One label a leaf: far less to look at than class fractions for every row.
            label_of_node = np.zeros(self.tree_.n_nodes, dtype=np.intp)
            label_of_node[self.tree_.leaf_nodes] = self.tree_.leaf_values.argmax(axis=1)
            best = label_of_node[self.apply(X)]
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities of each row: leaf fractions, or the leaf's softmax.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes), columns in the order of `classes_`
        """
        scores = self._outputs(X)
        return softmax(scores, axis=1) if self.tree_.is_linear else scores

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`; -inf where a leaf has no row of the class.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
        """
        scores = self._outputs(X)
        if self.tree_.is_linear:
            return np.where(scores > UNSEEN_SCORE, log_softmax(scores, axis=1), -np.inf)
        with np.errstate(divide="ignore"):
            return np.log(scores)


class TAOTreeRegressor(_TAOTree, TAORegression):
    """A regression tree optimised as a whole by alternating over its nodes.

    Parameters
    ----------
    max_depth : int or None, default=8
        Depth of the start. The fitted tree is pruned, so it can be smaller. None is for
        ``init="cart"`` only. A given tree keeps its own depth.
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
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves: `alpha` times the sum of absolute weights, or `alpha` / 2 times
        the sum of squares.
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
    monotone : bool, default=False
        If True, accept a node only if it lowers the objective, as the papers do. If False,
        explore first and settle later, which finds better trees.
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
        1 prints a line a sweep.

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
    n_parameters_ : int
        Numbers the tree holds.
    flops_ : float
        Mean number of parameters a training row meets on its way to a leaf.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean share of each feature in the splits, as in :class:`TAOTreeClassifier`.

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
        leaf_penalty: str = "l1",
        relax_leaves: bool = False,
        loss: str = "squared_error",
        huber_delta: float = 1.0,
        init: object = "supervised",
        max_iter: int = 20,
        monotone: bool = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.alpha = alpha
        self.ridge = ridge
        self.max_weights = max_weights
        self.max_leaf_weights = max_leaf_weights
        self.split = split
        self.leaf = leaf
        self.leaf_penalty = leaf_penalty
        self.relax_leaves = relax_leaves
        self.loss = loss
        self.huber_delta = huber_delta
        self.init = init
        self.max_iter = max_iter
        self.monotone = monotone
        self.order = order
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predicted numbers of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows,), or (n_rows, n_outputs) with several outputs
        """
        values = self._outputs(X)
        return values[:, 0] if self.n_outputs_ == 1 else values
