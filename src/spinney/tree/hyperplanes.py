"""The weights of a tree as matrices: of its splits, and of its linear leaves."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.tree.structure import Tree


def hyperplanes(tree: Tree) -> sp.csr_matrix:
    """Weights of the splits, float32 of shape (n_nodes, n_features); rows of leaves are empty."""
    parts = (tree.split_weights, tree.split_indices, tree.split_indptr)
    return sp.csr_matrix(parts, shape=(tree.n_nodes, tree.n_features))


def hyperplane(tree: Tree, node: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Features with a weight at a split, ascending, and their weights."""
    used = slice(*tree.split_indptr[node : node + 2])
    return tree.split_indices[used], tree.split_weights[used].astype(np.float64)


def leaf_functions(tree: Tree) -> sp.csr_matrix:
    """Weights of linear leaves, float32 of shape (n_leaves * n_outputs, n_features)."""
    parts = (tree.leaf_weights, tree.leaf_indices, tree.leaf_indptr)
    return sp.csr_matrix(parts, shape=(tree.n_leaves * tree.n_outputs, tree.n_features))


def leaf_function(
    tree: Tree, leaf: int, output: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Features with a weight in an output of a linear leaf, ascending, and their weights."""
    row = leaf * tree.n_outputs + output
    used = slice(*tree.leaf_indptr[row : row + 2])
    return tree.leaf_indices[used], tree.leaf_weights[used].astype(np.float64)
