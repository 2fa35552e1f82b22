"""How much each feature takes part in the splits of a tree, whatever the splits are good for.

Only the splits count, not the weights of linear leaves. What splits are good for is in
:mod:`spinney.tree.gains`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spinney.tree.structure import Tree


def node_reach(tree: Tree, leaf_rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of the rows that pass each node, from the weight that ends in each leaf.

    Parameters
    ----------
    tree : Tree
    leaf_rows : float64 ndarray of shape (n_leaves,) or (n_leaves, n_kinds)
        Total row weight in each leaf, or that of each kind of rows, for instance of each class.

    Returns
    -------
    float64 ndarray of shape (n_nodes,) or (n_nodes, n_kinds)
    """
    reach = np.zeros((tree.n_nodes, *leaf_rows.shape[1:]))
    reach[tree.leaf_nodes] = leaf_rows
    # Children are numbered after their parent, so going backwards meets them first.
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.left[node] >= 0:
            reach[node] = reach[tree.left[node]] + reach[tree.right[node]]
    return reach


def split_importances(
    tree: Tree, leaf_rows: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Share of each feature in the splits, weighted by the rows that pass them; sums to 1.

    At split i feature j has the share ``|w_ij| s_j / sum_k |w_ik| s_k``: the part of the score
    that moves with the feature when every feature moves by its scale ``s``. The
    shares are summed over the splits with the weight of the rows that reach the split, then
    divided by their total. A tree without splits gives zeros.

    Parameters
    ----------
    tree : Tree
    leaf_rows : float64 ndarray of shape (n_leaves,)
        Total row weight in each leaf.
    scale : float64 ndarray of shape (n_features,)
        Standard deviation of each column.

    Returns
    -------
    float64 ndarray of shape (n_features,)
    """
    nodes = np.repeat(np.arange(tree.n_nodes), np.diff(tree.split_indptr))
    # |w_ij| s_j of each weight, and their sum over the features of each split.
    parts = np.abs(tree.split_weights.astype(np.float64)) * scale[tree.split_indices]
    totals = np.bincount(nodes, weights=parts, minlength=tree.n_nodes)
    # A split on columns of no spread sends all rows one way: it has no share to give.
    reach = node_reach(tree, leaf_rows)
    per_part = np.divide(reach, totals, out=np.zeros(tree.n_nodes), where=totals > 0)
    shares = parts * per_part[nodes]
    importances = np.zeros(tree.n_features)
    np.add.at(importances, tree.split_indices, shares)
    total = importances.sum()
    return importances / total if total > 0 else importances


@dataclass(eq=False)
class WeightImportances:
    """Mean over trees of the shares of the features in their splits.

    Parameters
    ----------
    weights : float64 ndarray of shape (n_rows,)
        Of the rows.
    scale : float64 ndarray of shape (n_features,)
        Of the columns.
    """

    weights: NDArray[np.float64]
    scale: NDArray[np.float64]
    _sums: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self._sums = np.zeros(len(self.scale))

    def add(self, tree: Tree, leaf_nodes: NDArray[np.int32], share: float) -> None:
        """Add the shares in the next tree, which counts `share` in the ensemble."""
        leaves = tree.leaf_index[leaf_nodes]
        leaf_rows = np.bincount(leaves, weights=self.weights, minlength=tree.n_leaves)
        self._sums += share * split_importances(tree, leaf_rows.astype(np.float64), self.scale)

    def shares(self) -> NDArray[np.float64]:
        """The mean, float64 of shape (n_features,); zeros if no tree has a split."""
        total = self._sums.sum()
        return self._sums / total if total > 0 else self._sums
