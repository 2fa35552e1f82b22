"""Sums over the rows that reach each leaf and each node of a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Matrix, as_rows
from spinney.tree.importance import node_reach
from spinney.tree.route import apply
from spinney.tree.structure import Tree


def leaf_totals(
    tree: Tree, rows: Matrix, values: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Sum of the values of the rows of each leaf; the number of rows by default."""
    leaves = tree.leaf_index[apply(tree, as_rows(rows))]
    each = np.ones(len(leaves)) if values is None else values
    totals = np.zeros((tree.n_leaves, *each.shape[1:]))
    np.add.at(totals, leaves, each)
    return totals


def node_totals(
    tree: Tree, rows: Matrix, values: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Sum of the values of the rows that reach each node; the number of rows by default."""
    return node_reach(tree, leaf_totals(tree, rows, values))
