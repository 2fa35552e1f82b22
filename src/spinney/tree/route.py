"""Rows through a finished tree: leaves, outputs and paths.

The native kernels do the walking; this module hands them the tree's arrays. A row meets the same
arithmetic here as during training, so predictions on training rows agree with the trace.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney import _core
from spinney.tree.forest import Forest
from spinney.tree.structure import Tree


def apply(tree: Tree, rows: _core.Rows, n_threads: int = 1) -> NDArray[np.int32]:
    """Node number of the leaf that each row reaches, int32 of shape (n_rows,)."""
    return _core.apply(
        rows,
        tree.left,
        tree.right,
        tree.bias,
        tree.split_indptr,
        tree.split_indices,
        tree.split_weights,
        n_threads,
    )


def outputs(tree: Tree, rows: _core.Rows, n_threads: int = 1) -> NDArray[np.float64]:
    """What the leaves say of each row, float64 of shape (n_rows, n_outputs).

    Constant leaves give their values, linear leaves intercept + weights . x, before any softmax.
    """
    return outputs_at(tree, apply(tree, rows, n_threads), rows, n_threads)


def outputs_at(
    tree: Tree, leaf_nodes: NDArray[np.int32], rows: _core.Rows, n_threads: int = 1
) -> NDArray[np.float64]:
    """What the leaves say of each row, given the node numbers of these leaves."""
    leaves = tree.leaf_index[leaf_nodes]
    if not tree.is_linear:
        values: NDArray[np.float64] = tree.leaf_values[leaves]
        return values
    return _core.linear_outputs(
        rows,
        leaves,
        tree.leaf_values,
        tree.leaf_indptr,
        tree.leaf_indices,
        tree.leaf_weights,
        n_threads,
    )


def decision_path(tree: Tree, rows: _core.Rows, n_threads: int = 1) -> sp.csr_matrix:
    """Nodes that each row passes, as a CSR 0/1 matrix of shape (n_rows, n_nodes)."""
    return Forest((tree,)).decision_path(rows, n_threads)[0]
