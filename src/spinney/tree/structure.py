"""The tree: a frozen struct of numpy arrays shared by every algorithm of the library.

This file knows how a tree is laid out and nothing else: not how it is learned, routed, pruned or
drawn. Nodes are numbered breadth first, which makes the shape of a tree a function of one bit a
node: the children of the k-th split are the nodes ``2k + 1`` and ``2k + 2``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.tree.validity import check_tree

LeafKind = Literal["constant", "linear"]
Topology = tuple[NDArray[np.int32], NDArray[np.int32]]

DEEPEST_COMPLETE = 24
"""Largest depth of a complete tree: 2**25 - 1 nodes, far beyond any use, yet still in memory."""

Scalar = TypeVar("Scalar", bound=np.generic)

NativeArrays = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    bool,
]


@dataclass(frozen=True, eq=False)
class Tree:
    """An oblique decision tree as plain numpy arrays.

    A row ``x`` goes right at a split if ``w . x + bias >= 0``, else left. Weights read raw
    features. The arrays are kept as read-only views, so trees can share them.

    Parameters
    ----------
    n_features : int
        Number of columns of the rows that the tree reads.
    left, right : ndarray of int32, shape (n_nodes,)
        Children of each node, -1 at a leaf, numbered breadth first from the root 0.
    bias : ndarray of float64, shape (n_nodes,)
        Offset of each hyperplane, 0 at a leaf.
    split_indptr, split_indices, split_weights : ndarray of int64, int32, float32
        Hyperplanes as CSR rows, one a node: ascending features, finite non-zero weights.
    leaf_kind : {"constant", "linear"}
        Whether a leaf answers with a fixed row or with a linear function of ``x``.
    leaf_values : ndarray of float64, shape (n_leaves, n_outputs)
        Row ``r`` belongs to the r-th leaf in node order. Constant leaves: class fractions or the
        predicted value. Linear leaves: the intercepts.
    leaf_indptr, leaf_indices, leaf_weights : ndarray of int64, int32, float32
        Weights of linear leaves as CSR rows ``leaf * n_outputs + output``. Constant leaves: an
        all-zero ``leaf_indptr`` and no weights.

    Notes
    -----
    The constructor does not look at the values; `check` does.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=1, random_state=0).fit(X, y).tree_
    >>> tree.left.tolist(), tree.right.tolist(), tree.n_leaves
    ([1, -1, -1], [2, -1, -1], 2)
    """

    n_features: int
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    bias: NDArray[np.float64]
    split_indptr: NDArray[np.int64]
    split_indices: NDArray[np.int32]
    split_weights: NDArray[np.float32]
    leaf_kind: LeafKind
    leaf_values: NDArray[np.float64]
    leaf_indptr: NDArray[np.int64]
    leaf_indices: NDArray[np.int32]
    leaf_weights: NDArray[np.float32]

    def __post_init__(self) -> None:
        for name, value in self._fields().items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, _read_only(value))

    def __getstate__(self) -> dict[str, Any]:
        # Derived arrays stay behind: they cost bytes in a file and nothing to compute again.
        return self._fields()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # an array is writeable again after pickling

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_nodes(self) -> int:
        """Number of nodes, splits and leaves."""
        return len(self.left)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_values)

    @property
    def n_outputs(self) -> int:
        """Numbers in the answer of a leaf: classes, or outputs of a regression."""
        return int(self.leaf_values.shape[1])

    @property
    def is_linear(self) -> bool:
        """Whether the leaves are linear functions of the row."""
        return self.leaf_kind == "linear"

    @property
    def as_arrays(self) -> NativeArrays:
        """The tree as the native core reads it."""
        return (
            self.left,
            self.right,
            self.bias,
            self.split_indptr,
            self.split_indices,
            self.split_weights,
            self.leaf_values,
            self.leaf_indptr,
            self.leaf_indices,
            self.leaf_weights,
            self.is_linear,
        )

    @cached_property
    def split_nodes(self) -> NDArray[np.int32]:
        """Nodes with children, ascending."""
        return _read_only(np.flatnonzero(self.left >= 0).astype(np.int32))

    @cached_property
    def leaf_nodes(self) -> NDArray[np.int32]:
        """Nodes without children, ascending: the owners of the rows of `leaf_values`."""
        return _read_only(np.flatnonzero(self.left < 0).astype(np.int32))

    @cached_property
    def leaf_index(self) -> NDArray[np.int32]:
        """Row of each node in `leaf_values`, -1 at a split."""
        index = np.full(self.n_nodes, -1, dtype=np.int32)
        index[self.leaf_nodes] = np.arange(len(self.leaf_nodes))
        return _read_only(index)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """Parent of each node, -1 at the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[self.left[self.split_nodes]] = self.split_nodes
        parent[self.right[self.split_nodes]] = self.split_nodes
        return _read_only(parent)

    @cached_property
    def levels(self) -> list[NDArray[np.int32]]:
        """Nodes of each depth, root first; nodes of one level have disjoint rows."""
        levels = [np.zeros(1, dtype=np.int32)]
        while (splits := levels[-1][self.left[levels[-1]] >= 0]).size:
            levels.append(_interleave(self.left[splits], self.right[splits]))
        return [_read_only(level) for level in levels]

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Depth of each node; the root has depth 0."""
        depth = np.empty(self.n_nodes, dtype=np.int32)
        for level, nodes in enumerate(self.levels):
            depth[nodes] = level
        return _read_only(depth)

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf; 0 if the root is a leaf."""
        return len(self.levels) - 1

    def check(self) -> Tree:
        """Return the tree if it is valid, else raise.

        Returns
        -------
        Tree
            The tree itself, so that ``return tree.check()`` reads well.

        Raises
        ------
        ValueError
            If an array has the wrong type, shape or values: which, and what is accepted.
        """
        check_tree(self)
        return self

    def same_as(self, other: Tree) -> bool:
        """Whether both trees hold the same bits in every array."""
        theirs = other._fields()
        return all(_same_bits(value, theirs[name]) for name, value in self._fields().items())


def complete_topology(depth: int) -> Topology:
    """Children of the complete binary tree of a given depth.

    Parameters
    ----------
    depth : int
        Depth of all leaves, from 0 (a single leaf) to 24.

    Returns
    -------
    left, right : ndarray of int32, shape (2 ** (depth + 1) - 1,)
        Children of each node, -1 at a leaf.
    """
    if not 0 <= depth <= DEEPEST_COMPLETE:
        raise ValueError(f"depth={depth}; give an integer from 0 to {DEEPEST_COMPLETE}.")
    return children_of(np.arange(2 ** (depth + 1) - 1) < 2**depth - 1)


def children_of(is_split: NDArray[np.bool_]) -> Topology:
    """Children of each node of a breadth-first tree, from which nodes are splits."""
    left = np.full(len(is_split), -1, dtype=np.int32)
    right = left.copy()
    first = 2 * np.arange(np.count_nonzero(is_split)) + 1
    left[is_split] = first
    right[is_split] = first + 1
    return left, right


def breadth_first(
    left: NDArray[np.integer[Any]], right: NDArray[np.integer[Any]], root: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Number the nodes below `root` breadth first.

    Parameters
    ----------
    left, right : ndarray of integers, shape (n_nodes,)
        Children of each node in any numbering, negative at a leaf. Nodes that cannot be reached
        from `root` are left out.
    root : int, default=0
        The node that gets the number 0.

    Returns
    -------
    order : ndarray of int32
        Old number of each new node.
    left, right : ndarray of int32
        Children in the new numbering, -1 at a leaf.
    """
    levels = [np.array([root], dtype=np.int32)]
    n_seen = 1
    while (splits := levels[-1][left[levels[-1]] >= 0]).size:
        n_seen += 2 * splits.size
        if n_seen > len(left):
            raise ValueError(f"some of the {len(left)} nodes have two parents; give a tree.")
        levels.append(_interleave(left[splits], right[splits]))
    order = np.concatenate(levels)
    return (order, *children_of(left[order] >= 0))


def constant_leaves(values: NDArray[np.float64]) -> dict[str, Any]:
    """Fields of a tree with leaves that answer with these values, (n_leaves, n_outputs)."""
    return {
        "leaf_kind": "constant",
        "leaf_values": values,
        "leaf_indptr": np.zeros(values.size + 1, dtype=np.int64),
        "leaf_indices": np.empty(0, dtype=np.int32),
        "leaf_weights": np.empty(0, dtype=np.float32),
    }


def _interleave(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int32]:
    return np.column_stack([left, right]).ravel().astype(np.int32)


def _read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """View of `array` that cannot be written to; the caller's own array stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def _same_bits(one: object, two: object) -> bool:
    if not (isinstance(one, np.ndarray) and isinstance(two, np.ndarray)):
        return bool(one == two)
    same_form = one.dtype == two.dtype and one.shape == two.shape
    return same_form and one.tobytes() == two.tobytes()
