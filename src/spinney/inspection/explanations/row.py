"""One row in whatever a person has it: what it holds, and the same kind of row with other values.

A row is a vector, a matrix or frame of one row, a sparse row, a list or a pandas Series. A changed
row is a copy; what was given is never written to.
"""

from __future__ import annotations

import copy
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp

from spinney.data.tables import Table, read_table

Value = float | str | datetime.timedelta
"""A new number or level, or what is added to a date or a duration."""


@dataclass(frozen=True, eq=False)
class OneRow:
    """A row as it was given, and as a container of one row that ``predict`` takes.

    Attributes
    ----------
    given : object
    matrix : array, frame or sparse matrix of one row
    """

    given: Any
    matrix: Any

    @cached_property
    def table(self) -> Table:
        """The values, column by column."""
        return read_table(self.matrix.toarray() if sp.issparse(self.matrix) else self.matrix)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    def dtype(self, column: int) -> np.dtype[Any]:
        """What the container holds in a column, in numpy's words; object if numpy has none."""
        frame = _frame(self.matrix)
        if frame is None:
            return _array_dtype(self.matrix, column)
        kind = frame.schema[frame.columns[column]]
        if kind == nw.Boolean:
            return np.dtype(bool)
        if kind == nw.Date:
            return np.dtype("M8[D]")
        try:
            return np.dtype(str(kind).lower()) if kind.is_numeric() else np.dtype(object)
        except TypeError:  # decimals and the like
            return np.dtype(object)

    def is_whole(self, column: int) -> bool:
        """Whether the dtype holds whole numbers, truth values or whole days alone."""
        return self.dtype(column).kind in "iub" or self.dtype(column) == np.dtype("M8[D]")

    def value(self, column: int) -> Any:
        """A value as the container gives it, of Python's own types where it can."""
        frame = _frame(self.matrix)
        found = self.matrix[0, column] if frame is None else frame.item(0, column)
        return found.item() if isinstance(found, np.generic) else found

    def with_values(self, changes: Mapping[int, Value]) -> Any:
        """The same kind of row with some columns changed."""
        if not changes:
            return copy.copy(self.given)
        if sp.issparse(self.matrix):
            changed = self.matrix.tolil(copy=True).astype(_wide(self.matrix.dtype, changes))
            for column, value in changes.items():
                changed[0, column] = value
            return type(self.given)(changed.asformat(self.given.format))
        frame = _frame(self.matrix)
        if frame is None:
            return self._changed_array(changes)
        if frame.implementation.is_pandas_like():
            pandas = _changed_pandas(self.matrix, changes)
            is_series = _is_series(self.given)
            return _as_series(pandas, self.given) if is_series else pandas
        return _changed_frame(frame, changes)

    def _changed_array(self, changes: Mapping[int, Value]) -> Any:
        array = self.matrix.astype(_wide(self.matrix.dtype, changes))
        for column, value in changes.items():
            is_time = isinstance(value, datetime.timedelta)
            array[0, column] = array[0, column] + value if is_time else value
        if isinstance(self.given, np.ndarray):
            return array.reshape(self.given.shape)
        is_flat = np.ndim(self.given[0]) == 0
        values = array[0].tolist() if is_flat else array.tolist()
        return tuple(values) if isinstance(self.given, tuple) else values


def read_row(x: Any, n_columns: int) -> OneRow:
    """One row, whatever it comes in.

    Parameters
    ----------
    x : array of shape (n_columns,) or (1, n_columns), sparse row, list, frame of one row or Series
    n_columns : int
        Columns of the model.

    Raises
    ------
    ValueError
        If there are several rows, or another number of columns.
    """
    matrix = _as_matrix(x)
    shape: tuple[int, ...] = matrix.shape
    if len(shape) != 2 or shape[0] != 1:
        n_rows = f"{shape[0]} rows" if len(shape) == 2 else f"shape {shape}"
        raise ValueError(
            f"x has {n_rows}; give one row, as a vector, or as a matrix or frame of one row; try "
            "X[:1], or X.iloc[:1] of a frame."
        )
    if shape[1] != n_columns:
        raise ValueError(
            f"x has {shape[1]} columns, the model was fitted to {n_columns}; give the same columns."
        )
    return OneRow(x, matrix)


def _as_matrix(x: Any) -> Any:
    if sp.issparse(x):
        return x if x.ndim == 2 else x.reshape(1, -1)
    if _is_series(x):
        return x.to_frame().T.infer_objects()
    if isinstance(x, list | tuple):
        array = np.asarray(x) if not _has_texts(x) else np.array(x, dtype=object)
        return array.reshape(1, -1) if array.ndim == 1 else array
    if isinstance(x, np.ndarray):
        return x.reshape(1, -1) if x.ndim == 1 else x
    if _frame(x) is not None:
        return x
    raise TypeError(
        f"x is of type {type(x).__name__}; give one row, as an array, a list or a frame."
    )


def _has_texts(x: Any) -> bool:
    flat = x[0] if len(x) and isinstance(x[0], list | tuple) else x
    return any(not isinstance(value, int | float | np.number | np.bool_) for value in flat)


def _frame(x: Any) -> Any:
    """X for narwhals if it is a frame in memory, else None."""
    if isinstance(x, np.ndarray | list | tuple) or sp.issparse(x):
        return None
    found = nw.from_native(x, pass_through=True)
    return found if isinstance(found, nw.DataFrame) else None


def _is_series(x: Any) -> bool:
    return hasattr(x, "to_frame") and hasattr(x, "index") and getattr(x, "ndim", 0) == 1


def _as_series(frame: Any, given: Any) -> Any:
    """The row of a frame as a Series that keeps the dtype of the one given, if it can."""
    row = frame.iloc[0]
    row.name = given.name
    return row


def _array_dtype(matrix: Any, column: int) -> np.dtype[Any]:
    if matrix.dtype != object:
        found: np.dtype[Any] = matrix.dtype
        return found
    value = matrix[0, column]
    if isinstance(value, bool | np.bool_):
        return np.dtype(bool)
    if isinstance(value, int | np.integer):
        return np.dtype(np.int64)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return np.dtype("M8[D]")
    return np.dtype(object)


def _wide(dtype: np.dtype[Any], changes: Mapping[int, Value]) -> np.dtype[Any]:
    """The dtype of an array of numbers, or float64 if it cannot hold the new ones."""
    if dtype.kind not in "iub":
        return dtype
    is_whole = all(isinstance(v, float) and v.is_integer() for v in changes.values())
    return dtype if is_whole else np.dtype(np.float64)


def _changed_pandas(frame: Any, changes: Mapping[int, Value]) -> Any:
    changed = frame.copy()
    for column, value in changes.items():
        old = changed.iloc[:, column]
        changed.isetitem(column, _changed_column(old, value))
    return changed


def _changed_column(old: Any, value: Value) -> Any:
    """A pandas column of one row with another value, of the same dtype if it can hold it."""
    if isinstance(value, datetime.timedelta):
        return old + value
    kind = getattr(old.dtype, "kind", "O")
    if hasattr(old, "cat"):
        is_known = value in list(old.cat.categories)
        old = old if is_known else old.cat.add_categories([value])
    elif kind in "iu" and not float(value).is_integer():
        old = old.astype("float64")
    elif kind in "iu":
        value = int(value)
    elif kind == "b":
        value = bool(value)
    new = old.copy()
    new.iloc[0] = value
    return new


def _changed_frame(frame: Any, changes: Mapping[int, Value]) -> Any:
    columns = []
    for column, value in changes.items():
        name = frame.columns[column]
        kind = frame.schema[name]
        if isinstance(value, datetime.timedelta):
            columns.append((nw.col(name) + value).cast(kind))
            continue
        fits = not kind.is_integer() or float(value).is_integer()
        held = bool(value) if kind == nw.Boolean else value
        columns.append(nw.lit(held).cast(kind if fits else nw.Float64).alias(name))
    return frame.with_columns(*columns).to_native()
