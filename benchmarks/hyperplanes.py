"""The hyperplanes of a complete tree, and the balanced random start both optimisers can share.

Nodes are in breadth-first (heap) order: the children of `i` are `2i + 1` (score < 0) and
`2i + 2` (score >= 0). Weights and biases act on standardised features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """Mean and standard deviation of each column; constant columns get deviation 1."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, X: NDArray[Any]) -> Scaling:
        """Scaling that standardises the rows of `X`."""
        deviation = X.std(axis=0, dtype=np.float64)
        return cls(X.mean(axis=0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0))

    def apply(self, X: NDArray[Any]) -> Floats:
        """Rows of `X`, standardised, as float64 (what LIBLINEAR works on)."""
        return np.ascontiguousarray((X - self.mean) / self.deviation)


@dataclass(frozen=True)
class Hyperplanes:
    """One hyperplane per split of a complete tree of depth `depth`."""

    weights: Floats
    biases: Floats

    @property
    def n_splits(self) -> int:
        """Number of splits, 2**depth - 1."""
        return len(self.biases)

    @property
    def depth(self) -> int:
        """Number of levels of splits."""
        return int(self.n_splits).bit_length()

    def copy(self) -> Hyperplanes:
        """Hyperplanes that can be changed without touching these."""
        return Hyperplanes(self.weights.copy(), self.biases.copy())


def level_nodes(level: int) -> slice:
    """Heap indices of the nodes at depth `level`."""
    return slice(2**level - 1, 2 ** (level + 1) - 1)


def balanced_start(Z: Floats, depth: int, seed: int) -> Hyperplanes:
    """Random directions whose biases cut each reduced set at its median.

    `Z` holds standardised rows. A node that no row reaches gets bias 0.
    """
    rng = np.random.default_rng(seed)
    planes = Hyperplanes(rng.standard_normal((2**depth - 1, Z.shape[1])), np.zeros(2**depth - 1))
    node = np.zeros(len(Z), dtype=np.int64)
    for level in range(depth):
        order, bounds = _rows_by_node(node, level)
        goes_right = np.zeros(len(Z), dtype=bool)
        for i, start, stop in zip(
            range(2**level - 1, 2 ** (level + 1) - 1), bounds[:-1], bounds[1:], strict=True
        ):
            if start < stop:
                rows = order[start:stop]
                score = Z[rows] @ planes.weights[i]
                planes.biases[i] = -_middle(score)
                goes_right[rows] = score + planes.biases[i] >= 0
        node = 2 * node + 1 + goes_right
    return planes


def _middle(score: Floats) -> float:
    """Value in the gap between two distinct scores that is nearest to the median.

    No row may lie on the hyperplane: rounding would decide where it goes, and the two
    optimisers, which round differently, would not start from the same tree.
    """
    ordered = np.sort(score)
    gaps = np.flatnonzero(np.diff(ordered) > 1e-6 * max(1.0, np.abs(ordered).max())) + 1
    if len(gaps) == 0:
        return float(ordered[0]) - 1.0  # equal rows cannot be parted: all go right
    cut = gaps[np.argmin(np.abs(gaps - len(ordered) / 2))]
    return float(ordered[cut - 1] + ordered[cut]) / 2


def _rows_by_node(node: NDArray[np.int64], level: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rows sorted by node, and where each node of the level starts and stops among them."""
    order = np.argsort(node, kind="stable")
    edges = np.arange(2**level - 1, 2 ** (level + 1))
    return order, np.searchsorted(node[order], edges)


def decisions(Z: Floats, planes: Hyperplanes, chunk_bytes: int = 2**20) -> NDArray[np.bool_]:
    """Whether each split sends each row right, `bool[n_rows, n_splits]`.

    One matrix product for the whole tree is the fastest routing numpy offers: every later
    walk is a table look-up. Chunks fit the cache.
    """
    table = np.empty((len(Z), planes.n_splits), dtype=bool)
    step = max(1, chunk_bytes // (8 * max(1, planes.n_splits)))
    for start in range(0, len(Z), step):
        score = Z[start : start + step] @ planes.weights.T
        score += planes.biases
        np.greater_equal(score, 0, out=table[start : start + step])
    return table


def walk(
    table: NDArray[np.bool_], rows: NDArray[np.int64], node: NDArray[np.int64], n_levels: int
) -> NDArray[np.int64]:
    """Node that each of `rows` reaches `n_levels` below `node`, by the table of `decisions`."""
    for _ in range(n_levels):
        node = 2 * node + 1 + table[rows, node]
    return node


def spinney_start(
    planes: Hyperplanes, scaling: Scaling, X: NDArray[np.float32], y: NDArray[np.int64]
) -> Any:
    """The same start as a `spinney` tree over raw features, leaves set to class fractions."""
    from spinney.tree.structure import Tree, constant_leaves

    n_splits, n_features = planes.weights.shape
    n_leaves = n_splits + 1
    weights = (planes.weights / scaling.deviation).astype(np.float32)
    # The bias follows the rounded weights, so that rounding moves no median.
    shift = weights.astype(np.float64) @ scaling.mean
    split = np.arange(n_splits + n_leaves) < n_splits
    heap = np.arange(n_splits + n_leaves)
    n_classes = int(y.max()) + 1
    indptr = np.minimum(np.arange(n_splits + n_leaves + 1), n_splits) * n_features
    return Tree(
        n_features=n_features,
        left=np.where(split, 2 * heap + 1, -1).astype(np.int32),
        right=np.where(split, 2 * heap + 2, -1).astype(np.int32),
        bias=np.concatenate([planes.biases - shift, np.zeros(n_leaves)]),
        split_indptr=indptr.astype(np.int64),
        split_indices=np.tile(np.arange(n_features, dtype=np.int32), n_splits),
        split_weights=weights.ravel(),
        **constant_leaves(_class_fractions(planes, scaling.apply(X), y, n_classes)),
    )


def _class_fractions(
    planes: Hyperplanes, Z: Floats, y: NDArray[np.int64], n_classes: int
) -> Floats:
    """Class fractions of the rows in each leaf; those of all rows where a leaf is empty."""
    rows = np.arange(len(Z))
    leaf = walk(decisions(Z, planes), rows, np.zeros_like(rows), planes.depth) - planes.n_splits
    n_leaves = planes.n_splits + 1
    counts = np.bincount(leaf * n_classes + y, minlength=n_leaves * n_classes)
    counts = counts.reshape(n_leaves, n_classes).astype(np.float64)
    counts[counts.sum(axis=1) == 0] = np.bincount(y, minlength=n_classes)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
