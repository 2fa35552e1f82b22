"""Single trees: what is asked of one, and the scikit-learn estimators for TAO trees.

They read the data, build a recipe, and store the tree that came back. No algorithm lives here.
"""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from spinney.algorithms.tao import OptimizedTree
from spinney.algorithms.trace import Trace
from spinney.data import Problem, as_rows
from spinney.ensembles.one_tree import OneTree
from spinney.ensembles.tree_start import check_fits
from spinney.estimators.construction import estimator, parameters
from spinney.estimators.model import Model
from spinney.estimators.parameter_checks import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    check_alpha,
)
from spinney.estimators.tao_parameters import TAOParameters, tao_options, tree_start
from spinney.estimators.tasks import Classifier, Regressor
from spinney.fitting.fitted_record import fitted, is_trace, is_tree, whole
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Session
from spinney.tree.forest import Forest
from spinney.tree.readout import UNSEEN, Readout
from spinney.tree.route import decision_path
from spinney.tree.structure import Tree


@parameters
class SingleTree(Model):
    """A model of one tree: what is asked of each tree of a forest has one answer."""

    tree_: Tree = fitted("a tree of these columns and outputs", is_tree)
    _trees_in: ClassVar[str] = "tree_"

    def _forest(self) -> Forest:
        return Forest.of(self.tree_)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Node number of the leaf that each row reaches.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        int32 ndarray of shape (n_rows,)
        """
        rows = as_rows(self._checked_rows(X))
        return self._forest().apply(rows, self._n_threads_for(rows))[:, 0]

    def decision_path(self, X: ArrayLike) -> sp.csr_matrix:
        """Nodes that each row passes, as a sparse 0/1 matrix.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

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

    def _store_tree(self, tree: Tree, problem: Problem) -> None:
        """Set the attributes that describe the tree."""
        self.tree_ = tree
        self._describe([tree], problem, np.ones(1))

    def _readout(self) -> Readout:
        classes = getattr(self, "classes_", None)
        return Readout(
            self._forest(),
            "outputs",
            "softmax" if self.tree_.is_linear and classes is not None else "identity",
            np.ones(1),
            np.zeros(self.tree_.n_outputs),
            classes,
            is_flat=self.n_outputs_ == 1,
        )


def _fit_tree(
    model: TAOTreeClassifier | TAOTreeRegressor,
    session: Session,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
) -> None:
    """Optimise a tree and store it."""
    problem = model._read(session, X, y, sample_weight)
    recipe = tree_recipe(model, session, problem)
    before = model.trace_ if session.goes_on else None

    def store(model: TAOTreeClassifier | TAOTreeRegressor, found: list[OptimizedTree]) -> None:
        store_tree(model, found[-1], problem, before)

    store(model, fit_parts(recipe, problem, session, model, store))


def tree_recipe(
    model: TAOTreeClassifier | TAOTreeRegressor, session: Session, problem: Problem
) -> OneTree:
    """Where the optimiser starts, and its options."""
    seed = model._begin(session, problem)
    options = tao_options(model, float(model.alpha), seed, model._n_threads())
    if session.goes_on:
        columns = model._coordinate_columns
        check_fits(model.tree_, problem, model.split, "the tree to continue", columns)
        return OneTree(model.tree_, options)
    start = tree_start(model, getattr(model, "classes_", None))
    return OneTree(start(problem, seed), options)


def store_tree(
    model: TAOTreeClassifier | TAOTreeRegressor,
    found: OptimizedTree,
    problem: Problem,
    before: Trace | None = None,
) -> None:
    """Set the fitted attributes; `before` is the trace of the fit that this one goes on from."""
    model._store_tree(found.tree, problem)
    model.trace_ = found.trace if before is None else before.joined(found.trace)
    model.n_iter_ = len(model.trace_)


@estimator
class TAOTreeClassifier(Classifier, SingleTree, TAOParameters):
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

    max_iter: int = 20
    calibrate: bool = field(default=False, init=False)  # leaf fractions are answered as they are

    trace_: Trace = fitted("a Trace", is_trace)
    n_iter_: int = fitted("an integer >= 0", whole(0))
    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION_LOSSES
    _fit = _fit_tree

    def _check_own(self) -> None:
        check_alpha(self.alpha)

    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`; -inf where a leaf has no row of the class.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
        """
        scores = self._totals(X)
        if self.tree_.is_linear:
            return np.where(scores > UNSEEN, log_softmax(scores, axis=1), -np.inf)
        with np.errstate(divide="ignore"):
            return np.log(scores)


@estimator
class TAOTreeRegressor(Regressor, SingleTree, TAOParameters):
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

    loss: str = "squared_error"
    huber_delta: float = 1.0
    max_iter: int = 20

    trace_: Trace = fitted("a Trace", is_trace)
    n_iter_: int = fitted("an integer >= 0", whole(0))
    _losses: ClassVar[tuple[str, ...]] = REGRESSION_LOSSES
    _fit = _fit_tree

    def _check_own(self) -> None:
        check_alpha(self.alpha)
