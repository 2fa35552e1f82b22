"""From leaves to totals, probabilities, labels and numbers, as ONNX operators.

Totals are float64 and summed in the order of the trees, as in the library, whatever the type of
the inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.export.export_forest import ExportForest
from spinney.export.lanes import LaneTable, lane_table
from spinney.export.onnx.graph import Graph
from spinney.export.onnx.leaves import PaddedRows, folded
from spinney.tree.readout import Readout
from spinney.tree.ties import TIE_MARGIN, with_rejects

LARGEST = np.finfo(np.float32).max


def totals(
    graph: Graph, rows: PaddedRows, leaves: str, readout: Readout, forest: ExportForest
) -> str:
    """What the trees give each row together, float64 of shape (n_rows, n_outputs)."""
    if readout.says == "label":
        said = _votes(graph, _labels(graph, rows, leaves, forest), forest.n_outputs)
    else:
        said = _outputs(graph, rows, leaves, forest)
        if readout.says == "probabilities" and forest.is_linear.any():
            said = _linear_softmax(graph, said, forest)
    if (readout.tree_weights != 1).any():
        said = graph.op("Mul", said, graph.constant(readout.tree_weights[:, None]))
    sums = graph.last_of_cumsum(said, 1)
    if readout.offsets.any():
        sums = graph.op("Add", sums, graph.constant(readout.offsets))
    return sums


def _labels(graph: Graph, rows: PaddedRows, leaves: str, forest: ExportForest) -> str:
    """Largest output in the leaf of each tree, (n_rows, n_trees)."""
    if forest.is_linear.any():
        return graph.op("ArgMax", _outputs(graph, rows, leaves, forest), axis=2, keepdims=0)
    labels = graph.constant(forest.leaf_labels.astype(np.int32))
    return graph.cast(graph.op("Gather", labels, leaves), np.int64)


def _votes(graph: Graph, labels: str, n_classes: int) -> str:
    """1 for the label of each tree and 0 for the others, (n_rows, n_trees, n_classes)."""
    numbers = graph.op("Unsqueeze", labels, graph.axes(2))
    is_label = graph.op("Equal", numbers, graph.constant(np.arange(n_classes)))
    return graph.cast(is_label, np.float64)


def _outputs(graph: Graph, rows: PaddedRows, leaves: str, forest: ExportForest) -> str:
    """What the leaves say, float64 of shape (n_rows, n_trees, n_outputs)."""
    constants = graph.op("Gather", _table(graph, forest.leaf_values), leaves)
    if not forest.is_linear.any():
        return constants
    table = lane_table(forest.leaf_weights)
    shape = (forest.n_leaves, forest.n_outputs * table.width)
    w = _by_output(graph, graph.constant(table.weights.reshape(shape)), leaves, forest, table)
    x = _leaf_entries(graph, rows, leaves, forest, table)
    sums = folded(graph, graph.op("Mul", w, x), table)
    sums = _without_overflow(graph, graph.cast(sums, np.float64), w, x, table)
    return graph.op("Add", sums, constants)


def _table(graph: Graph, values: NDArray[np.float64]) -> str:
    """Leaf values; in half the space where float32 holds them exactly."""
    with np.errstate(over="ignore", under="ignore"):
        short = values.astype(np.float32)
    if (short == values).all():
        return graph.cast(graph.constant(short), np.float64)
    return graph.constant(values)


def _by_output(
    graph: Graph, table: str, leaves: str, forest: ExportForest, lanes: LaneTable
) -> str:
    """Rows of a table of leaves, as (n_rows, n_trees, n_outputs, width)."""
    found = graph.op("Gather", table, leaves)
    return graph.reshape(found, 0, 0, forest.n_outputs, lanes.width)


def _leaf_entries(
    graph: Graph, rows: PaddedRows, leaves: str, forest: ExportForest, table: LaneTable
) -> str:
    """Entries of x beside the weights of the leaves, in a shape that broadcasts with them."""
    if table.columns is None:
        return graph.op("Unsqueeze", rows.padded, graph.axes(1, 2))
    shape = (forest.n_leaves, forest.n_outputs * table.width)
    columns = graph.constant(table.columns.reshape(shape).astype(np.int64))
    read = graph.reshape(graph.op("Gather", columns, leaves), 0, -1)
    found = graph.op("GatherElements", rows.x, read, axis=1)
    return graph.reshape(found, 0, forest.n_trees, forest.n_outputs, table.width)


def _without_overflow(graph: Graph, sums: str, w: str, x: str, table: LaneTable) -> str:
    """Sums with those that overflow float32 formed again in float64, as the core does."""
    is_finite = graph.op("LessOrEqual", graph.op("Abs", sums), graph.constant(np.float64(LARGEST)))
    wrong = graph.op("Transpose", graph.op("NonZero", graph.op("Not", is_finite)))
    weights = graph.op("GatherND", w, wrong)
    place = wrong
    if table.columns is None:  # x has one row for all trees and outputs
        place = graph.op("Mul", wrong, graph.axes(1, 0, 0))
    entries = graph.op("GatherND", x, place)
    products = graph.op("Mul", graph.cast(weights, np.float64), graph.cast(entries, np.float64))
    return graph.op("ScatterND", sums, wrong, graph.last_of_cumsum(products, 1))


def _linear_softmax(graph: Graph, said: str, forest: ExportForest) -> str:
    """Scores of linear trees as probabilities; what constant leaves say stays."""
    shares = graph.op("Softmax", said, axis=2)
    if forest.is_linear.all():
        return shares
    return graph.op("Where", graph.constant(forest.is_linear[:, None]), shares, said)


def finished(graph: Graph, sums: str, readout: Readout) -> str:
    """Probabilities, or the numbers to predict, float64 of shape (n_rows, n_outputs)."""
    if readout.finish == "mean":
        return graph.op("Div", sums, graph.constant(np.float64(readout.forest.n_trees)))
    if readout.finish == "powers":
        sums = graph.op("Log", graph.op("Add", sums, graph.constant(np.float64(readout.shift))))
    if readout.slope != 1:
        sums = graph.op("Mul", sums, graph.constant(np.float64(readout.slope)))
    return _FINISHES[readout.finish](graph, sums, readout.forest.n_outputs)


def _as_they_are(_graph: Graph, sums: str, _n_outputs: int) -> str:
    return sums


def _shares(graph: Graph, sums: str, _n_outputs: int) -> str:
    whole = graph.op("Unsqueeze", graph.last_of_cumsum(sums, 1), graph.axes(1))
    return graph.op("Div", sums, whole)


def _softmax(graph: Graph, sums: str, _n_outputs: int) -> str:
    return graph.op("Softmax", sums, axis=1)


def _nearest(graph: Graph, sums: str, n_outputs: int) -> str:
    """As `spinney.tree.shares.nearest_shares`, step by step."""
    scores = graph.op("Sub", sums, graph.op("ReduceMax", sums, graph.axes(1)))
    ordered = graph.ops("TopK", 2, scores, graph.axes(n_outputs), axis=1)[0]
    one = graph.constant(np.float64(1))
    excess = graph.op("Sub", graph.op("CumSum", ordered, graph.constant(np.int64(1))), one)
    counts = graph.constant(np.arange(1.0, n_outputs + 1))
    is_positive = graph.op("Greater", graph.op("Mul", ordered, counts), excess)
    n_positive = graph.op("ReduceSum", graph.cast(is_positive, np.int64), graph.axes(1))
    last = graph.op("Sub", n_positive, graph.axes(1))
    threshold = graph.op("GatherElements", excess, last, axis=1)
    threshold = graph.op("Div", threshold, graph.cast(n_positive, np.float64))
    shares = graph.op("Max", graph.op("Sub", scores, threshold), graph.constant(np.float64(0)))
    return _shares(graph, shares, n_outputs)


_FINISHES: dict[str, Callable[[Graph, str, int], str]] = {
    "identity": _as_they_are,
    "shares": _shares,
    "powers": _softmax,  # of logarithms
    "softmax": _softmax,
    "nearest": _nearest,
}


def label_table(readout: Readout) -> NDArray[Any]:
    """Class labels, and behind them that of rejected rows if there is one, in a type of ONNX."""
    assert readout.classes is not None
    classes = readout.classes
    if readout.reject_label is not None:
        padded = np.concatenate([classes, classes[:1]])
        is_last = np.arange(len(padded)) == len(classes)
        classes = with_rejects(padded, is_last, readout.reject_label)
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes):
        return classes.astype(np.str_)
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "bfU":
        return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
    raise ValueError(
        f"classes are of several kinds, {classes.tolist()!r}; ONNX has strings or numbers; give "
        "labels of one kind; try strings."
    )


def labels(graph: Graph, sums: str, readout: Readout) -> str:
    """Class of each row, (n_rows,)."""
    best = graph.op("ArgMax", sums, axis=1, keepdims=0)
    if readout.reject_label is not None:
        n_classes = graph.constant(np.int64(readout.forest.n_outputs))
        best = graph.op("Where", _is_tied(graph, sums), n_classes, best)
    return graph.op("Gather", graph.constant(label_table(readout)), best)


def _is_tied(graph: Graph, sums: str) -> str:
    """As `spinney.tree.ties.is_tied`."""
    most = graph.op("ReduceMax", sums, graph.axes(1))
    least = graph.op("Mul", most, graph.constant(np.float64(1 - TIE_MARGIN)))
    is_best = graph.cast(graph.op("GreaterOrEqual", sums, least), np.int64)
    n_best = graph.op("ReduceSum", is_best, graph.axes(1), keepdims=0)
    return graph.op("Greater", n_best, graph.constant(np.int64(1)))
