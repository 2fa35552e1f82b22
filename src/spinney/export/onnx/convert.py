"""A fitted model as an ONNX graph of standard operators."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from spinney.data.checks import check_choice
from spinney.data.tables import TypicalRow
from spinney.export.export_forest import ExportForest, export_forest
from spinney.export.onnx import answer
from spinney.export.onnx.columns import encoded_columns, encoded_matrix, input_columns
from spinney.export.onnx.graph import Graph
from spinney.export.onnx.leaves import WALKS, PaddedRows, choose_encoding, padded_rows
from spinney.inspection.fitted_model import FittedModel, fitted_estimator, value_names
from spinney.tree.readout import Readout

DTYPES = ("float32", "float64")
ENCODINGS = ("auto", "axis", "gather", "gemm")


def to_onnx(model: object, *, dtype: str = "float32", encoding: str = "auto") -> Any:
    """Write a fitted model as an ONNX graph that predicts the same.

    Parameters
    ----------
    model : fitted estimator
        Any tree or forest of this library.
    dtype : {"float32", "float64"}, default="float32"
        Type of the input and of probabilities and numbers. Rows are read as float32 in any case,
        as by the estimator, and totals are float64 inside the graph: both types give the same
        labels.
    encoding : {"auto", "axis", "gather", "gemm"}, default="auto"
        How rows find their leaves. "gemm" multiplies them with all hyperplanes and lets a
        TreeEnsemble read the sums: fastest for batches and small forests. "gather" goes down level
        by level and fetches one hyperplane a tree: for deep or wide forests and single rows.
        "axis" is a TreeEnsemble for trees of one weight a split. "auto" chooses by shape.

    Returns
    -------
    onnx.ModelProto
        Input ``X`` of shape (n_rows, n_features). A model of a table with other columns than
        numbers has one input of shape (n_rows, 1) for each column, by its name: numbers, dates as
        days since 1970-01-01 UTC, durations in days, or strings. NaN is missing, and so is the
        empty string. Classifiers have the outputs ``label`` and ``probabilities``, regressors
        ``value``, shaped as by ``predict``.

    Notes
    -----
    Every finite row reaches the same leaves as in the library, also rows on a hyperplane or within
    rounding of one. NaN is filled as by ``predict``, whatever `missing` says, and without a word; a
    model of an older release does not know what with. Values that the estimator refuses, as
    infinite ones, are not checked by the graph. See docs/guide/export.md.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> [output.name for output in to_onnx(tree).graph.output]
    ['label', 'probabilities']
    """
    check_choice("dtype", dtype, DTYPES)
    check_choice("encoding", encoding, ENCODINGS)
    onnx = _import_onnx()
    fitted = fitted_estimator(model)
    readout = fitted.readout
    forest = export_forest(readout.forest)
    _check_encoding(encoding, forest)
    graph = Graph(onnx)
    given, x = _inputs(graph, fitted, dtype)
    rows = padded_rows(graph, x, forest.n_features)
    leaves = _walk(graph, rows, forest, encoding)
    sums = answer.totals(graph, rows, leaves, readout, forest)
    inputs = [
        onnx.helper.make_tensor_value_info(name, graph.type_of(kind), ["n_rows", width])
        for name, kind, width in given
    ]
    outputs = [
        (name, value, onnx.helper.make_tensor_value_info(name, kind, ["n_rows", *shape]))
        for name, value, kind, shape in _outputs(graph, sums, readout, dtype)
    ]
    about = f"{fitted.model_name} of {forest.n_trees} trees, exported by spinney"
    return graph.model(inputs, outputs, about)


def _inputs(
    graph: Graph, fitted: FittedModel, dtype: str
) -> tuple[list[tuple[str, Any, int]], str]:
    """Name, type and width of each input, and the float32 rows that the trees read."""
    encoding = fitted.encoding
    if encoding is None:
        x = _filled(graph, graph.cast("X", np.float32), fitted.typical)
        return [("X", dtype, fitted.n_columns)], x
    if encoding.is_numeric:
        x = encoded_matrix(graph, graph.cast("X", np.float32), encoding)
        return [("X", dtype, encoding.n_columns)], x
    columns = input_columns(encoding, dtype)
    x = encoded_columns(graph, [name for name, _ in columns], encoding)
    return [(name, kind, 1) for name, kind in columns], x


def _filled(graph: Graph, x: str, typical: TypicalRow | None) -> str:
    """Plain numbers with what is typical in place of NaN, if the model knows it."""
    if typical is None:
        return x
    return graph.op("Where", graph.op("IsNaN", x), graph.constant(typical.coordinates[None, :]), x)


def _walk(graph: Graph, rows: PaddedRows, forest: ExportForest, encoding: str) -> str:
    """Leaf of each row in each tree, int64 of shape (n_rows, n_trees)."""
    if forest.n_splits == 0:
        n_rows = graph.op("Shape", rows.x, start=0, end=1)
        shape = graph.op("Concat", n_rows, graph.axes(1), axis=0)
        return graph.op("Expand", graph.constant(~forest.roots[None, :]), shape)
    name = choose_encoding(forest) if encoding == "auto" else encoding
    return WALKS[name](graph, rows, forest)


def _outputs(
    graph: Graph, sums: str, readout: Readout, dtype: str
) -> list[tuple[str, str, int, list[int]]]:
    """Name, value, type and shape behind the rows of each output."""
    values = graph.cast(answer.finished(graph, sums, readout), dtype)
    number = graph.type_of(dtype)
    n_outputs = readout.forest.n_outputs
    if readout.classes is not None:
        kind = graph.type_of(answer.label_table(readout).dtype)
        label = answer.labels(graph, sums, readout)
        return [("label", label, kind, []), ("probabilities", values, number, [n_outputs])]
    name = value_names(1)[0]
    if readout.is_flat:
        return [(name, graph.op("Squeeze", values, graph.axes(1)), number, [])]
    return [(name, values, number, [n_outputs])]


def _check_encoding(encoding: str, forest: ExportForest) -> None:
    """Raise if trees of several weights a split shall be written as others."""
    if encoding == "axis" and not forest.is_axis_aligned:
        raise ValueError(
            'encoding="axis" but some splits have several weights; give "gather" or "gemm"; try '
            'encoding="auto".'
        )


def _import_onnx() -> Any:
    try:
        onnx = importlib.import_module("onnx")
        importlib.import_module("onnx.numpy_helper")
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx, which is not installed; try pip install spinney[onnx]."
        ) from error
    return onnx
