"""Where an optimisation is between two steps, as plain values from which it goes on to the bit.

An optimiser hands such a state to whoever asks after each sweep or iteration, and can be started
from one. What becomes of a state, for instance a file, is not its concern.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.trace import Trace
from spinney.tree.structure import Tree

State = TypeVar("State")

_Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]

#: Is offered each state as a function that makes it: most are never asked for, and a state costs a
#: copy of all hyperplanes.
Save: TypeAlias = Callable[[Callable[[], State]], None]


@dataclass(frozen=True, eq=False)
class NativeTree:
    """What decides how the core goes on with one tree, in its own order and unit.

    Where rows are and what they lose follows from it.

    Attributes
    ----------
    bias : float64[n_splits]
    split_indptr, split_indices, split_weights : int64, int32, float32
        Hyperplanes as CSR, one row a split. A weight of -0.0 is kept.
    leaf_values : float64[n_leaves * n_outputs]
    leaf_indptr, leaf_indices, leaf_weights : int64, int32, float32
        Hyperplanes of linear leaves as CSR; no row for constant leaves.
    fitted : uint8[n_leaves]
        Which linear leaves have been fitted; empty for constant leaves.
    """

    bias: NDArray[np.float64]
    split_indptr: NDArray[np.int64]
    split_indices: NDArray[np.int32]
    split_weights: NDArray[np.float32]
    leaf_values: NDArray[np.float64]
    leaf_indptr: NDArray[np.int64]
    leaf_indices: NDArray[np.int32]
    leaf_weights: NDArray[np.float32]
    fitted: NDArray[np.uint8]

    @staticmethod
    def of(native: _core.TreeOptimizer) -> NativeTree:
        """The present tree of the core."""
        return _native_tree(*native.state())

    @staticmethod
    def kept_by(native: _core.TreeOptimizer) -> NativeTree:
        """The tree that the core was told to keep."""
        return _native_tree(*native.kept_state())

    def put_into(self, native: _core.TreeOptimizer) -> None:
        """Make it the present tree of the core; raises ValueError if it is one of another task."""
        splits = (self.split_indptr, self.split_indices, self.split_weights)
        weights = (self.leaf_indptr, self.leaf_indices, self.leaf_weights)
        native.set_state(self.bias, splits, self.leaf_values, weights, self.fitted)


def _native_tree(
    bias: NDArray[np.float64],
    splits: _Csr,
    values: NDArray[np.float64],
    weights: _Csr,
    fitted: NDArray[np.uint8],
) -> NativeTree:
    return NativeTree(bias, *splits, values, *weights, fitted)


@dataclass(frozen=True, eq=False)
class TreeRun:
    """Where the optimisation of one tree is after a sweep.

    Attributes
    ----------
    tree : NativeTree
    best_tree : NativeTree or None
        The best tree seen, while exploring; None once it settles.
    best : float
        Objective to compare the next one with.
    n_explored : int
        Exploring sweeps done.
    n_stalled : int
        Exploring sweeps since the last progress.
    is_settled : bool
        Whether settling has ended.
    trace : Trace
    """

    tree: NativeTree
    best_tree: NativeTree | None
    best: float
    n_explored: int
    n_stalled: int
    is_settled: bool
    trace: Trace


@dataclass(frozen=True, eq=False)
class NotedSplits:
    """Hyperplanes of a tree after an iteration.

    Attributes
    ----------
    bias : float64[n_nodes]
    indptr, indices, weights : int64, int32, float32
        Weights as CSR, one row a node.
    """

    bias: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]

    def check(self, n_nodes: int, n_features: int) -> None:
        """Raise ValueError unless they are those of a tree of this size."""
        n_weights = len(self.weights)
        fits = len(self.bias) == n_nodes and len(self.indptr) == n_nodes + 1
        if not fits or self.indptr[0] != 0 or self.indptr[-1] != n_weights:
            raise ValueError("the given state has noted splits of another tree.")
        if len(self.indices) != n_weights or (np.diff(self.indptr) < 0).any():
            raise ValueError("the given state has noted splits whose weights are out of place.")
        if n_weights and not 0 <= self.indices.min() <= self.indices.max() < n_features:
            raise ValueError("the given state has noted splits with a feature out of range.")


@dataclass(frozen=True, eq=False)
class MemberRun:
    """One tree of a forest under optimisation.

    Attributes
    ----------
    left, right : int32[n_nodes]
        Its shape.
    tree : NativeTree
        Its leaves are those of the last step over this tree.
    values : float64[n_leaves, n_outputs]
        What its leaves give now, after the last step over all leaves.
    split_penalty : float
    late : tuple of NotedSplits
        Splits after the last iterations, oldest first, where they are to be averaged.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    tree: NativeTree
    values: NDArray[np.float64]
    split_penalty: float
    late: tuple[NotedSplits, ...] = ()


@dataclass(frozen=True, eq=False)
class ForestRun:
    """Where the joint optimisation of a forest is after an iteration.

    Attributes
    ----------
    members : tuple of MemberRun
    scores : float64[n_rows, n_outputs]
        What the trees give together, with the rounding of all sums so far.
    n_iterations : int
        Iterations done.
    best : float
        Least loss or objective so far.
    n_stalled : int
        Iterations since the last progress.
    trace : Trace
    iterations : tuple of tuple of Tree
        The trees after each iteration, where they are to be kept.
    """

    members: tuple[MemberRun, ...]
    scores: NDArray[np.float64]
    n_iterations: int
    best: float
    n_stalled: int
    trace: Trace
    iterations: tuple[tuple[Tree, ...], ...] = ()
