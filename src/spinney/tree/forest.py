"""Rows through many trees at once: leaves, labels, votes, sums and paths.

A `Forest` is a tuple of trees and a packed native copy of them, made when first needed and used by
every later prediction. It knows nothing of how the trees were learned or of what their votes mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.tree.size import count_parameters
from spinney.tree.sparse_rows import row_offsets
from spinney.tree.structure import Tree


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees that read the same columns and answer with the same outputs.

    What a row gets is summed in the order of the trees and depends on that row alone: the results
    have the same bits for any number of threads, for rows that come together or one by one, and
    for dense, byte or sparse rows.

    Parameters
    ----------
    trees : tuple of Tree
        At least one. Trees with constant and with linear leaves may stand side by side.

    Notes
    -----
    The packed copy is left behind when a forest is pickled or copied.
    """

    trees: tuple[Tree, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        if not self.trees:
            raise ValueError("trees is empty; a forest needs at least one tree.")
        for name in ("n_features", "n_outputs"):
            found = sorted({int(getattr(tree, name)) for tree in self.trees})
            if len(found) > 1:
                raise ValueError(
                    f"trees have {name} of {found}; all trees of a forest must have the same. "
                    "Train them on the same columns and targets."
                )

    @classmethod
    def of(cls, tree: Tree) -> Forest:
        """The forest of this tree alone, packed once and kept beside it."""
        # In the tree's own dict as a cached property would be: it is left behind by pickles too.
        forest: Forest | None = tree.__dict__.get("_forest")
        if forest is None:
            forest = tree.__dict__["_forest"] = cls((tree,))
        return forest

    def __getstate__(self) -> dict[str, Any]:
        return {"trees": self.trees}

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.trees)

    @property
    def n_features(self) -> int:
        """Number of columns of the rows that the trees read."""
        return int(self.trees[0].n_features)

    @property
    def n_outputs(self) -> int:
        """Numbers in the answer of a leaf: classes, or outputs of a regression."""
        return self.trees[0].n_outputs

    @property
    def n_parameters(self) -> int:
        """Number of parameters of all trees, counted as in `count_parameters`."""
        return sum(count_parameters(tree) for tree in self.trees)

    @cached_property
    def unit_weights(self) -> NDArray[np.float64]:
        """A weight of 1 for each tree."""
        weights = np.ones(self.n_trees)
        weights.flags.writeable = False
        return weights

    def apply(self, rows: _core.Rows, n_threads: int = 1) -> NDArray[np.int32]:
        """Node number of the leaf that each row reaches, int32 of shape (n_rows, n_trees)."""
        return self.native.apply(rows, n_threads)

    def labels(self, rows: _core.Rows, n_threads: int = 1) -> NDArray[np.int32]:
        """Output with the largest value in the leaf of each row, int32 of shape (n_rows, n_trees).

        The first of equal outputs counts. Linear leaves are asked for their scores.
        """
        return self.native.labels(rows, n_threads)

    def votes(
        self, rows: _core.Rows, tree_weights: ArrayLike, n_threads: int = 1
    ) -> NDArray[np.float64]:
        """Total weight of the trees that give each row each label.

        Parameters
        ----------
        rows : Rows
            Rows of `n_features` columns.
        tree_weights : array-like of float, shape (n_trees,)
            What the vote of each tree counts.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_outputs)
        """
        return self.native.votes(rows, _as_weights(tree_weights), n_threads)

    def sums(
        self,
        rows: _core.Rows,
        tree_weights: ArrayLike,
        *,
        is_softmax: bool = False,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Weighted sum over the trees of what their leaves say of each row.

        Parameters
        ----------
        rows : Rows
            Rows of `n_features` columns.
        tree_weights : array-like of float, shape (n_trees,)
            Factor of the outputs of each tree.
        is_softmax : bool, default=False
            Whether the scores of linear leaves become probabilities first. Constant leaves give
            their values in any case.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_outputs)
        """
        return self.native.sums(rows, _as_weights(tree_weights), is_softmax, n_threads)

    def decision_path(
        self, rows: _core.Rows, n_threads: int = 1
    ) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes in each tree.

        Returns
        -------
        path : csr_matrix of shape (n_rows, n_nodes of all trees)
            1 where a row passes a node. The columns of the trees follow each other.
        n_nodes_ptr : ndarray of int64, shape (n_trees + 1,)
            Columns ``n_nodes_ptr[i]`` to ``n_nodes_ptr[i + 1]`` belong to tree ``i``.
        """
        n_nodes_ptr = row_offsets([tree.n_nodes for tree in self.trees])
        leaves = (self.apply(rows, n_threads) + n_nodes_ptr[:-1]).ravel()
        begin, nodes = self._paths(n_nodes_ptr)
        lengths = (begin[1:] - begin[:-1])[leaves]
        walk_begin = row_offsets(lengths)
        # The k-th entry of a walk is the k-th node of the path to its leaf.
        entries = np.arange(walk_begin[-1]) + np.repeat(begin[leaves] - walk_begin[:-1], lengths)
        indptr = walk_begin[:: self.n_trees]
        data = np.ones(len(entries), dtype=np.int64)
        shape = (rows.n_rows, int(n_nodes_ptr[-1]))
        return sp.csr_matrix((data, nodes[entries], indptr), shape=shape), n_nodes_ptr

    def _paths(self, n_nodes_ptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nodes from the root of its tree to each node of the forest, as the rows of a CSR."""
        at = np.arange(n_nodes_ptr[-1])
        parent = self._of_nodes(lambda tree: tree.parent)
        parent = np.where(
            parent < 0, -1, parent + np.repeat(n_nodes_ptr[:-1], np.diff(n_nodes_ptr))
        )
        depth = self._of_nodes(lambda tree: tree.depth)
        begin = row_offsets(depth + 1)
        nodes = np.empty(begin[-1], dtype=np.int64)
        place = begin[1:] - 1  # from the end of each path up to the root, all paths together
        while at.size:
            nodes[place] = at
            is_below_root = parent[at] >= 0
            at, place = parent[at[is_below_root]], place[is_below_root] - 1
        return begin, nodes

    def _of_nodes(self, read: Callable[[Tree], NDArray[np.int32]]) -> NDArray[np.int64]:
        """One number a node, for the nodes of all trees."""
        return np.concatenate([read(tree) for tree in self.trees]).astype(np.int64)

    # Two threads may both build it; either copy does.
    @cached_property
    def native(self) -> _core.Forest:
        """The packed copy of the trees."""
        for tree in self.trees:
            tree.check()  # cheap beside packing; trees may come from anywhere
        arrays = [tree.as_arrays for tree in self.trees]
        return _core.Forest(arrays, self.n_features, self.n_outputs)


def _as_weights(tree_weights: ArrayLike) -> NDArray[np.float64]:
    return np.ascontiguousarray(tree_weights, dtype=np.float64)
