"""From rows to the leaves they reach, as ONNX operators: three encodings of one walk.

All of them send every finite row where the core sends it, also rows on or near a hyperplane: sums
that decide are formed lane by lane in the core's order, from single multiplications and additions
whose results IEEE 754 fixes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.export.boundary import axis_thresholds
from spinney.export.export_forest import ExportForest
from spinney.export.lanes import LaneTable, full_table, full_width, lane_table
from spinney.export.onnx.graph import Graph

BRANCH_LEQ, BRANCH_GTE = 0, 2
UNIT = 2.0**-24
"""Relative error of one operation in float32."""

#: Splits a tree up to which one product with all hyperplanes beats fetching those on the way:
#: with 63 it is, with 511 it is not (benchmarks/onnx_encodings.py).
MOST_SPLITS = 128


@dataclass(frozen=True)
class PaddedRows:
    """The rows in the forms that the operators want.

    Parameters
    ----------
    x : str
        float32 rows of shape (n_rows, n_features).
    padded : str
        The same with zeros behind the last column, as many as a full lane table is wide.
    """

    x: str
    padded: str


def padded_rows(graph: Graph, x: str, n_features: int) -> PaddedRows:
    """Rows with zeros to the width of a full lane table."""
    n_missing = full_width(n_features) - n_features
    if n_missing == 0:
        return PaddedRows(x, x)
    zero = graph.constant(np.float32(0))
    return PaddedRows(x, graph.op("Pad", x, graph.axes(0, 0, 0, n_missing), zero))


def choose_encoding(forest: ExportForest) -> str:
    """The encoding that is likely to be fastest, from the shape of the forest."""
    if forest.is_axis_aligned:
        return "axis"
    return "gemm" if forest.n_splits <= MOST_SPLITS * forest.n_trees else "gather"


def walk_by_gather(graph: Graph, rows: PaddedRows, forest: ExportForest) -> str:
    """One level after the other: each row fetches the hyperplane of the node it is at."""
    # Splits come first and leaves behind them; a leaf is its own child.
    last_split = forest.n_splits - 1
    children = np.where(forest.children < 0, last_split - forest.children, forest.children)
    leaves = np.repeat(np.arange(forest.n_leaves) + forest.n_splits, 2)
    both = graph.constant(np.concatenate([children.ravel(), leaves]))
    roots = np.where(forest.roots < 0, last_split - forest.roots, forest.roots)
    table = lane_table(forest.weights)
    dot = gathered_dot(graph, rows, table)
    thresholds = graph.constant(forest.thresholds)
    node = graph.constant(roots[None, :])
    for _ in range(forest.depth):
        split = graph.op("Min", node, graph.axes(last_split))
        limit = graph.op("Gather", thresholds, split)
        is_right = graph.op("GreaterOrEqual", dot(split), limit)
        place = graph.op("Mul", node, graph.axes(2))
        place = graph.op("Add", place, graph.cast(is_right, np.int64))
        node = graph.op("Gather", both, place)
    return graph.op("Sub", node, graph.axes(forest.n_splits))


def gathered_dot(graph: Graph, rows: PaddedRows, table: LaneTable) -> Callable[[str], str]:
    """A function that sums ``w . x`` for row numbers of a table, one or several for each x."""
    weights = graph.constant(table.weights.reshape(len(table.weights), -1))
    x = graph.op("Unsqueeze", rows.padded, graph.axes(1))
    columns = None
    if table.columns is not None:
        columns = graph.constant(table.columns.reshape(len(table.columns), -1).astype(np.int64))

    def dot(numbers: str) -> str:
        w = graph.op("Gather", weights, numbers)
        if columns is None:
            return folded(graph, graph.op("Mul", w, x), table)
        read = graph.op("Gather", columns, numbers)
        return folded(graph, graph.op("Mul", w, _entries(graph, rows.x, read)), table)

    return dot


def _entries(graph: Graph, x: str, columns: str) -> str:
    """Entries of each row at the columns that are given for it, (n_rows, n, width)."""
    shape = graph.op("Shape", columns)
    n_rows = graph.op("Shape", x, start=0, end=1)
    rest = graph.op("Slice", shape, graph.axes(1), graph.axes(3))
    full = graph.op("Concat", n_rows, rest, axis=0)
    flat = graph.reshape(graph.op("Expand", columns, full), 0, -1)
    found = graph.op("GatherElements", x, flat, axis=1)
    return graph.op("Reshape", found, full)


def folded(graph: Graph, products: str, table: LaneTable) -> str:
    """Sums over the last axis in the order of the core."""
    lanes = products
    if table.n_slots > 1:
        slots = graph.op(
            "Reshape", products, _lane_shape(graph, products, table.n_slots, table.n_lanes)
        )
        lanes = graph.last_of_cumsum(slots, -2)
    for _ in range(table.n_lanes.bit_length() - 1):
        low, high = graph.ops("Split", 2, lanes, axis=-1, num_outputs=2)
        lanes = graph.op("Add", low, high)
    return graph.op("Squeeze", lanes, graph.axes(-1))


def _lane_shape(graph: Graph, value: str, n_slots: int, n_lanes: int) -> str:
    """Shape of `value` with its last axis cut into slots and lanes."""
    kept = graph.op("Shape", value, start=0, end=-1)
    return graph.op("Concat", kept, graph.axes(n_slots, n_lanes), axis=0)


def walk_by_product(graph: Graph, rows: PaddedRows, forest: ExportForest) -> str:
    """One matrix product for all hyperplanes, then trees that read their sums as columns."""
    table = full_table(forest.weights)
    flat = graph.constant(table.weights.reshape(forest.n_splits, -1))
    sums = graph.op("MatMul", rows.padded, graph.op("Transpose", flat))
    near = _is_near(graph, rows, sums, forest)
    pairs = graph.op("Transpose", graph.op("NonZero", near))
    row, split = graph.ops("Split", 2, pairs, axis=1, num_outputs=2)
    w = graph.op("Gather", flat, graph.reshape(split, -1))
    x = graph.op("Gather", rows.padded, graph.reshape(row, -1))
    exact = folded(graph, graph.op("Mul", w, x), table)
    sums = graph.op("ScatterND", sums, pairs, exact)
    modes = np.full(forest.n_splits, BRANCH_GTE)
    return _ensemble(graph, sums, forest, np.arange(forest.n_splits), forest.thresholds, modes)


def _is_near(graph: Graph, rows: PaddedRows, sums: str, forest: ExportForest) -> str:
    """Which sums are so near to their thresholds that the order of additions may decide.

    Two orders of d additions differ by at most the sum of their error bounds times
    ``sum |w_j x_j|``, which is at most ``max |x_j| s_j`` times ``sum |w_j| / s_j`` for any scale s.
    Sums that may overflow are near as well.
    """
    sizes = abs(forest.weights)
    scale = np.sqrt(sizes.power(2).mean(axis=0)).A1.astype(np.float32)
    scale[scale == 0] = np.finfo(np.float32).tiny
    lengths = np.asarray(sizes @ (1.0 / scale.astype(np.float64))).ravel()
    d = full_width(forest.n_features)
    factor = 1.01 * UNIT * (d + d / 32 + 8)
    least = d * 2.0**-149 + factor * lengths * 2.0**-126
    scaled = graph.op("Abs", graph.op("Mul", rows.x, graph.constant(scale)))
    size = graph.op("ReduceMax", scaled, graph.axes(1))
    limit = np.float32(1e38 / max(1.0, float(lengths.max())))
    infinite = graph.constant(np.float32(np.inf))
    is_huge = graph.op("Greater", size, graph.constant(limit))
    size = graph.op("Where", is_huge, infinite, size)
    bound = graph.op("Mul", size, graph.constant((factor * lengths), np.float32))
    bound = graph.op("Add", bound, graph.constant(_rounded_up(least)))
    distance = graph.op("Abs", graph.op("Sub", sums, graph.constant(forest.thresholds)))
    return graph.op("Not", graph.op("Greater", distance, bound))  # also where either is nan


def _rounded_up(values: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.nextafter(values.astype(np.float32), np.float32(np.inf))


def walk_by_columns(graph: Graph, rows: PaddedRows, forest: ExportForest) -> str:
    """Trees of one column a split, which ONNX has operators for."""
    columns, weights = forest.axis_splits
    cuts, is_right_above = axis_thresholds(weights, forest.bias)
    modes = np.where(is_right_above, BRANCH_GTE, BRANCH_LEQ)
    return _ensemble(graph, rows.x, forest, columns, cuts, modes)


def _ensemble(
    graph: Graph,
    values: str,
    forest: ExportForest,
    columns: NDArray[np.int64],
    limits: NDArray[np.float32],
    modes: NDArray[np.int64],
) -> str:
    """Leaf of each row in each tree by TreeEnsemble, int64 of shape (n_rows, n_trees)."""
    is_lone = forest.roots < 0  # a tree of one leaf: a split with that leaf on both sides
    lone = np.repeat(forest.roots[is_lone][:, None], 2, axis=1)
    children = np.concatenate([forest.children, lone])
    n_lone = len(lone)
    roots = forest.roots.copy()
    roots[is_lone] = forest.n_splits + np.arange(n_lone)
    is_leaf = children < 0
    numbers = np.where(is_leaf, ~children, children)
    of_leaf = np.repeat(np.arange(forest.n_trees), np.diff(forest.first_leaf))
    within_tree = np.arange(forest.n_leaves) - forest.first_leaf[of_leaf]
    found = graph.ml(
        "TreeEnsemble",
        values,
        n_targets=forest.n_trees,
        aggregate_function=1,
        post_transform=0,
        tree_roots=roots.tolist(),
        nodes_featureids=[*columns.tolist(), *[0] * n_lone],
        nodes_splits=graph.tensor(np.concatenate([limits, np.zeros(n_lone, dtype=np.float32)])),
        nodes_modes=graph.tensor(
            np.concatenate([modes, np.full(n_lone, BRANCH_GTE)]).astype(np.uint8)
        ),
        nodes_truenodeids=numbers[:, 1].tolist(),
        nodes_trueleafs=is_leaf[:, 1].astype(int).tolist(),
        nodes_falsenodeids=numbers[:, 0].tolist(),
        nodes_falseleafs=is_leaf[:, 0].astype(int).tolist(),
        leaf_targetids=of_leaf.tolist(),
        leaf_weights=graph.tensor(within_tree.astype(np.float32)),
    )
    first = graph.constant(forest.first_leaf[:-1])
    return graph.op("Add", graph.cast(found, np.int64), first)


WALKS: dict[str, Callable[[Graph, PaddedRows, ExportForest], str]] = {
    "axis": walk_by_columns,
    "gather": walk_by_gather,
    "gemm": walk_by_product,
}
