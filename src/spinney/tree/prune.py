"""Pruning: the smaller tree that answers the same.

Three kinds of splits decide nothing: those without weights, those with a branch that no training
row reaches ("dead branches"), and those whose two branches answer alike ("pure subtrees", [1]_
section 3). Data come in only as a count of rows a node.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.tree.sparse_rows import take_rows
from spinney.tree.structure import Tree, breadth_first


def prune(tree: Tree, reach: NDArray[np.integer[Any]] | None = None) -> Tree:
    """Remove the splits that decide nothing.

    Parameters
    ----------
    tree : Tree
        A valid tree.
    reach : ndarray of integers, shape (n_nodes,), optional
        Training rows that reach each node. If given, a split with a branch that no row reaches
        is replaced by its other branch. Without it, such dead branches stay.

    Returns
    -------
    Tree
        A tree with the same answer for every row or, with `reach`, for every row that was
        counted. It is `tree` itself if there is nothing to remove, and pruning it again changes
        nothing.

    Notes
    -----
    A split without weights is replaced by the child that the sign of its bias chooses. A split
    above two equal leaves becomes that leaf. Children are settled before their parents, so one
    pass removes all that can be removed.
    """
    if reach is not None and np.shape(reach) != (tree.n_nodes,):
        raise ValueError(
            f"reach has shape {np.shape(reach)}; one number a node is needed, {(tree.n_nodes,)}."
        )
    order, left, right = _remaining(tree, reach)
    return tree if len(order) == tree.n_nodes else _rebuild(tree, order, left, right)


def is_kept(tree: Tree, reach: NDArray[np.integer[Any]] | None = None) -> NDArray[np.bool_]:
    """Which nodes `prune` keeps, shape (n_nodes,)."""
    kept = np.zeros(tree.n_nodes, dtype=np.bool_)
    kept[_remaining(tree, reach)[0]] = True
    return kept


def _remaining(
    tree: Tree, reach: NDArray[np.integer[Any]] | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Nodes that are left, breadth first, and their children in the new numbering."""
    stand_in = _stand_ins(tree, reach)
    is_split = tree.left >= 0
    left = np.where(is_split, stand_in[tree.left], -1)
    right = np.where(is_split, stand_in[tree.right], -1)
    return breadth_first(left, right, root=int(stand_in[0]))


def _stand_ins(tree: Tree, reach: NDArray[np.integer[Any]] | None) -> NDArray[np.int32]:
    """Node that takes the place of each node: itself, or one of its descendants."""
    n_weights = np.diff(tree.split_indptr)
    answer = _leaf_answers(tree)
    stand_in = np.arange(tree.n_nodes, dtype=np.int32)
    for node in tree.split_nodes[::-1]:  # children first
        left, right = tree.left[node], tree.right[node]
        if n_weights[node] == 0:
            # The score is the bias for every row: what an l1 penalty makes of a useless split.
            stand_in[node] = stand_in[right if tree.bias[node] >= 0 else left]
        elif reach is not None and reach[left] == 0:
            stand_in[node] = stand_in[right]  # dead branch
        elif (reach is not None and reach[right] == 0) or (
            # Two leaves of one answer; splits have the answer -1 and are never alike.
            answer[stand_in[left]] == answer[stand_in[right]] >= 0
        ):
            stand_in[node] = stand_in[left]
    return stand_in


def _leaf_answers(tree: Tree) -> NDArray[np.int32]:
    """Number of each node's answer: equal for leaves that answer alike, -1 at a split."""
    numbers: dict[bytes, int] = {}
    answers = np.full(tree.n_nodes, -1, dtype=np.int32)
    values = tree.leaf_values + 0.0  # -0.0 and 0.0 answer alike
    for leaf, node in enumerate(tree.leaf_nodes):
        key = values[leaf].tobytes() + _linear_part(tree, leaf)
        answers[node] = numbers.setdefault(key, len(numbers))
    return answers


def _linear_part(tree: Tree, leaf: int) -> bytes:
    """Weights of one linear leaf, as bytes that differ if the weights do."""
    rows = tree.leaf_indptr[leaf * tree.n_outputs : (leaf + 1) * tree.n_outputs + 1]
    used = slice(rows[0], rows[-1])
    parts = (rows - rows[0], tree.leaf_indices[used], tree.leaf_weights[used])
    return b"".join(part.tobytes() for part in parts)


def _rebuild(
    tree: Tree, order: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]
) -> Tree:
    """Copy the nodes `order` of `tree` into a new tree with the given children."""
    leaves = tree.leaf_index[order[left < 0]]
    leaf_rows = (leaves[:, None] * tree.n_outputs + np.arange(tree.n_outputs)).ravel()
    split_indptr, split_entries = take_rows(tree.split_indptr, order)
    leaf_indptr, leaf_entries = take_rows(tree.leaf_indptr, leaf_rows)
    return Tree(
        n_features=tree.n_features,
        left=left,
        right=right,
        bias=tree.bias[order],
        split_indptr=split_indptr,
        split_indices=tree.split_indices[split_entries],
        split_weights=tree.split_weights[split_entries],
        leaf_kind=tree.leaf_kind,
        leaf_values=tree.leaf_values[leaves],
        leaf_indptr=leaf_indptr,
        leaf_indices=tree.leaf_indices[leaf_entries],
        leaf_weights=tree.leaf_weights[leaf_entries],
    )
