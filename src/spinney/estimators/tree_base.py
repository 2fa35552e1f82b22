"""Ways to read a fitted tree, shared by all estimators of one tree."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from spinney.data import Problem, as_rows
from spinney.estimators.base import Classification, Estimator, Regression
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout
from spinney.tree.route import apply, decision_path
from spinney.tree.size import count_flops, count_parameters
from spinney.tree.structure import Tree

#: Score of a class that never reached a linear leaf, as in the core (`linear_leaf.cpp`).
UNSEEN_SCORE = -1e200


class TreeEstimator(Estimator):
    """Leaves, paths and size of one tree."""

    tree_: Tree

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
        return Forest.of(self.tree_).apply(rows, self._n_threads_for(rows))[:, 0]

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

    def _known_trees(self) -> Iterable[Tree]:
        return (self.tree_,) if self._is_continued() else ()

    def _own_seed(self) -> int:
        return self._draw_seed()  # a new one also if the fit goes on from a tree

    def _store_tree(self, tree: Tree, problem: Problem) -> None:
        """Set the attributes that describe the tree."""
        leaf_nodes = apply(tree, problem.rows, n_threads=self._n_threads())
        leaf_rows = np.zeros(tree.n_leaves)
        np.add.at(leaf_rows, tree.leaf_index[leaf_nodes], problem.sample_weight)
        importances = self._importances(problem)
        importances.add(tree, leaf_nodes, 1.0)
        self.tree_ = tree
        self.n_parameters_ = count_parameters(tree)
        self.flops_ = count_flops(tree, leaf_rows)
        self.feature_importances_ = self._importances_of_columns(importances.shares())


class TreeClassifier(TreeEstimator, Classification):
    """Classes and probabilities from one tree."""

    def _readout(self) -> Readout:
        return Readout(
            Forest.of(self.tree_),
            "outputs",
            "softmax" if self.tree_.is_linear else "identity",
            np.ones(1),
            np.zeros(self.n_classes_),
            self.classes_,
        )

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
            return np.where(scores > UNSEEN_SCORE, log_softmax(scores, axis=1), -np.inf)
        with np.errstate(divide="ignore"):
            return np.log(scores)


class TreeRegressor(TreeEstimator, Regression):
    """Numbers from one tree."""

    def _readout(self) -> Readout:
        return Readout(
            Forest.of(self.tree_),
            "outputs",
            "identity",
            np.ones(1),
            np.zeros(self.n_outputs_),
            is_flat=self.n_outputs_ == 1,
        )
