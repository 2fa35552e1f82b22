"""How much each feature takes part in the splits of a tree.

Only the splits count, not the weights of linear leaves.
"""

from __future__ import annotations

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
