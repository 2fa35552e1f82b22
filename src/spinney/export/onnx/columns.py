"""From the columns of a table to the coordinates that trees read, as ONNX operators.

A model of numbers, of which some may be missing, reads one matrix. A model of other columns has an
input for each: numbers, dates as days since 1970-01-01 UTC and durations in days, or texts. NaN is
missing, and so is the empty text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.data.tables import Levels, TableEncoding
from spinney.export.onnx.graph import INNER, Graph

NUMBERS = ("number", "empty")
OUTPUTS = ("label", "probabilities", "value")
MISSING, UNKNOWN = -1, -2


def input_columns(encoding: TableEncoding, dtype: str) -> list[tuple[str, Any]]:
    """Name and numpy type of each input of a model that reads columns one by one."""
    given = encoding.names or tuple(f"x{j}" for j in range(encoding.n_columns))
    names: list[str] = []
    for name in given:
        free = name if name and not name.startswith(INNER) else f"_{name}"
        while free in OUTPUTS or free in names:
            free += "_"
        names.append(free)
    kinds = [encoding.kind(column) for column in range(encoding.n_columns)]
    return [(name, _input_type(kind, dtype)) for name, kind in zip(names, kinds, strict=True)]


def _input_type(kind: str, dtype: str) -> Any:
    if kind == "text_levels":
        return np.dtype(np.str_)
    # Days and levels are told apart in float64, as in the library.
    return np.dtype(dtype if kind in NUMBERS else np.float64)


def encoded_matrix(graph: Graph, x: str, encoding: TableEncoding) -> str:
    """Coordinates of a float32 matrix of numbers, NaN for missing ones."""
    columns = []
    for column in range(encoding.n_columns):
        one = graph.op("Gather", x, graph.axes(column), axis=1)
        columns += _coordinates(graph, one, column, encoding)
    return graph.op("Concat", *columns, axis=1)


def encoded_columns(graph: Graph, names: list[str], encoding: TableEncoding) -> str:
    """Coordinates of inputs of shape (n_rows, 1), one a column."""
    columns = []
    for column, name in enumerate(names):
        columns += _coordinates(graph, name, column, encoding)
    return graph.op("Concat", *columns, axis=1)


def _coordinates(graph: Graph, value: str, column: int, encoding: TableEncoding) -> list[str]:
    """Coordinates of one column, float32 of shape (n_rows, any)."""
    kind = encoding.kind(column)
    found = []
    if kind == "text_levels":
        levels = encoding.levels[column]
        _check_texts(levels, encoding, column)
        code = _text_code(graph, value, levels.own, MISSING, UNKNOWN)
        is_missing = graph.op("Equal", code, graph.axes(MISSING))
        found += _of_levels(graph, code, levels)
        if levels.n_outputs:
            n_known = len(levels.known)
            place = _text_code(graph, value, levels.known, n_known, n_known + 1)
            found.append(_means(graph, place, levels))
    else:
        is_missing = graph.op("IsNaN", value)
        if kind == "number_levels":
            found += _of_number_levels(graph, value, is_missing, encoding.levels[column])
        elif kind != "empty":
            found.append(_number(graph, value, is_missing, column, encoding))
    if encoding.has_missing[column]:
        found.append(graph.cast(is_missing, np.float32))
    return found


def _number(graph: Graph, value: str, is_missing: str, column: int, encoding: TableEncoding) -> str:
    """The number less its origin, as float32, or what stands for a missing one."""
    if encoding.origin[column] != 0:
        origin = graph.constant(np.float64(encoding.origin[column]))
        value = graph.op("Sub", graph.cast(value, np.float64), origin)
    fill = graph.constant(np.float32(encoding.fill[column]))
    return graph.op("Where", is_missing, fill, graph.cast(value, np.float32))


def _text_code(
    graph: Graph, value: str, levels: tuple[Any, ...], missing: int, unknown: int
) -> str:
    """Place of each text among levels, int64 of shape (n_rows, 1)."""
    return graph.ml(
        "LabelEncoder",
        value,
        keys_strings=["", *levels],
        values_int64s=[missing, *range(len(levels))],
        default_int64=unknown,
    )


def _of_levels(graph: Graph, code: str, levels: Levels) -> list[str]:
    """1 at the level of each row; and 1 for the rest."""
    found = []
    if levels.own:
        numbers = graph.constant(np.arange(len(levels.own)))
        found.append(graph.cast(graph.op("Equal", code, numbers), np.float32))
    if levels.has_rest:
        found.append(graph.cast(graph.op("Equal", code, graph.axes(UNKNOWN)), np.float32))
    return found


def _of_number_levels(graph: Graph, value: str, is_missing: str, levels: Levels) -> list[str]:
    """Coordinates of a category whose levels are numbers."""
    code = _number_code(graph, value, is_missing, levels.own, MISSING, UNKNOWN)
    found = _of_levels(graph, code, levels)
    if levels.n_outputs:
        n_known = len(levels.known)
        place = _number_code(graph, value, is_missing, levels.known, n_known, n_known + 1)
        found.append(_means(graph, place, levels))
    return found


def _number_code(
    graph: Graph,
    value: str,
    is_missing: str,
    levels: tuple[Any, ...],
    missing: int,
    unknown: int,
) -> str:
    """Place of each number among levels, int64 of shape (n_rows, 1)."""
    # Behind the levels a column that is always equal, so that the first equal one is the place.
    known = graph.constant(np.array(levels, dtype=np.float64)[None, :])
    is_level = graph.op("Equal", graph.cast(value, np.float64), known)
    every = graph.op("Or", graph.op("Not", is_missing), is_missing)
    either = graph.cast(graph.op("Concat", is_level, every, axis=1), np.int32)
    place = graph.op("ArgMax", either, axis=1, keepdims=1)
    is_known = graph.op("Less", place, graph.axes(len(levels)))
    code = graph.op("Where", is_known, place, graph.axes(unknown))
    return graph.op("Where", is_missing, graph.axes(missing), code)


def _means(graph: Graph, place: str, levels: Levels) -> str:
    """Mean targets of the level of each row."""
    found = graph.op("Gather", graph.constant(levels.means.astype(np.float32)), place)
    return graph.reshape(found, 0, levels.n_outputs)


def _check_texts(levels: Levels, encoding: TableEncoding, column: int) -> None:
    """Raise if the empty text is a level: in ONNX it stands for a missing one."""
    if "" in (*levels.own, *levels.known):
        name = f"x{column}" if encoding.names is None else encoding.names[column]
        raise ValueError(
            f"column {name!r} has the empty text as a level, but ONNX has no missing texts and "
            "empty ones stand for them; give another text for it; try replacing '' by None or "
            "'empty' before fit."
        )
