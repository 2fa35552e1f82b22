"""All trees of a forest as one set of arrays, as exported programs walk them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.export.boundary import sum_thresholds
from spinney.tree.forest import Forest
from spinney.tree.hyperplanes import hyperplanes, leaf_functions
from spinney.tree.sparse_rows import row_offsets
from spinney.tree.structure import Tree


@dataclass(frozen=True, eq=False)
class ExportForest:
    """Splits and leaves numbered through all trees.

    Parameters
    ----------
    children : int64 ndarray of shape (n_splits, 2)
        Left and right child of each split: the number of a split, or ``~leaf``.
    roots : int64 ndarray of shape (n_trees,)
        Root of each tree, coded like a child.
    weights : CSR of shape (n_splits, n_features), float32
        Hyperplanes.
    bias : float64 ndarray of shape (n_splits,)
    thresholds : float32 ndarray of shape (n_splits,)
        A row goes right if ``w . x >= threshold``.
    first_leaf : int64 ndarray of shape (n_trees + 1,)
        Leaves ``first_leaf[t]`` to ``first_leaf[t + 1]`` belong to tree t.
    leaf_values : float64 ndarray of shape (n_leaves, n_outputs)
        Answers of constant leaves, intercepts of linear ones.
    leaf_weights : CSR of shape (n_leaves * n_outputs, n_features), float32
        Weights of linear leaves.
    is_linear : bool ndarray of shape (n_trees,)
    depth : int
        Splits that a row meets at most in a tree.
    """

    children: NDArray[np.int64]
    roots: NDArray[np.int64]
    weights: sp.csr_matrix
    bias: NDArray[np.float64]
    thresholds: NDArray[np.float32]
    first_leaf: NDArray[np.int64]
    leaf_values: NDArray[np.float64]
    leaf_weights: sp.csr_matrix
    is_linear: NDArray[np.bool_]
    depth: int

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_splits(self) -> int:
        """Splits of all trees."""
        return len(self.children)

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees."""
        return len(self.leaf_values)

    @property
    def n_outputs(self) -> int:
        """Numbers in the answer of a leaf."""
        return int(self.leaf_values.shape[1])

    @property
    def n_features(self) -> int:
        """Columns of a row."""
        return int(self.weights.shape[1])

    @property
    def weights_a_split(self) -> NDArray[np.int64]:
        """Number of weights of each split."""
        counts: NDArray[np.int64] = np.diff(self.weights.indptr).astype(np.int64)
        return counts

    @property
    def is_axis_aligned(self) -> bool:
        """Whether every split has at most one weight; a set of levels has several."""
        return bool((self.weights_a_split <= 1).all())

    @property
    def axis_splits(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Column and weight of each split where all are axis-aligned; zeros if it has none."""
        columns = np.zeros(self.n_splits, dtype=np.int64)
        weights = np.zeros(self.n_splits, dtype=np.float32)
        has_weight = self.weights_a_split == 1
        columns[has_weight], weights[has_weight] = self.weights.indices, self.weights.data
        return columns, weights

    @property
    def leaf_labels(self) -> NDArray[np.int64]:
        """Largest output of each leaf, the first of equals."""
        labels: NDArray[np.int64] = self.leaf_values.argmax(axis=1).astype(np.int64)
        return labels


def export_forest(forest: Forest) -> ExportForest:
    """The trees of a forest in one set of arrays."""
    trees = forest.trees
    first_split = row_offsets([len(tree.split_nodes) for tree in trees])
    first_leaf = row_offsets([tree.n_leaves for tree in trees])
    codes = [_codes(*each) for each in zip(trees, first_split, first_leaf, strict=False)]
    bias = np.concatenate([tree.bias[tree.split_nodes] for tree in trees])
    return ExportForest(
        children=np.concatenate(
            [
                np.column_stack([of[tree.left[tree.split_nodes]], of[tree.right[tree.split_nodes]]])
                for tree, of in zip(trees, codes, strict=True)
            ]
        ),
        roots=np.array([of[0] for of in codes], dtype=np.int64),
        weights=sp.vstack([hyperplanes(tree)[tree.split_nodes] for tree in trees], format="csr"),
        bias=bias,
        thresholds=sum_thresholds(bias),
        first_leaf=first_leaf,
        leaf_values=np.concatenate([tree.leaf_values for tree in trees]),
        leaf_weights=sp.vstack([leaf_functions(tree) for tree in trees], format="csr"),
        is_linear=np.array([tree.is_linear for tree in trees]),
        depth=max(tree.max_depth for tree in trees),
    )


def _codes(tree: Tree, first_split: int, first_leaf: int) -> NDArray[np.int64]:
    """What each node of a tree is called among those of the forest."""
    codes = np.empty(tree.n_nodes, dtype=np.int64)
    codes[tree.split_nodes] = first_split + np.arange(len(tree.split_nodes))
    codes[tree.leaf_nodes] = ~(first_leaf + np.arange(tree.n_leaves))
    return codes
