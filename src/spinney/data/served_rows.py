"""What a compiled model is asked with, as rows that the native core reads.

A row is a dict by the names of the columns, a sequence in their order or an array; several are a
list of such rows, a matrix or a frame. Single rows of Python's own values take a few microseconds,
because each column has its answer ready (:mod:`spinney.data.tables.cells`); all else is read as by
the estimator. The coordinates are those of the estimator, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.data.row_reader import RowReader
from spinney.data.tables import (
    CellReader,
    Matrix,
    Table,
    cell_readers,
    encoding_of_numbers,
    frame_names,
    label_of,
    object_column,
    plain_numbers,
    read_table,
    unbatched,
)
from spinney.data.tables.columns import shown_cells

PLAIN = (np.dtype(np.float32), np.dtype(np.float64))

Values = Sequence[object]


class ServedRows:
    """Reader of what a compiled model is asked with.

    Parameters
    ----------
    reader : RowReader
        How the estimator reads rows.
    """

    def __init__(self, reader: RowReader) -> None:
        self.reader = reader
        self._names = None if reader.names is None else tuple(reader.names)
        self._n_columns = reader.n_columns
        self.is_plain = reader.encoding is None
        self._is_numeric = reader.encoding is None or reader.encoding.is_numeric

    def read(self, x: Any) -> NDArray[Any]:
        """A row of shape (n_coordinates,) or several, of floats; plain arrays are not looked at."""
        if type(x) is dict:
            return self._row(self._values_by_name(x))
        if isinstance(x, list | tuple):
            return self._of_list(x)
        if isinstance(x, np.ndarray):
            return self._of_array(x)
        if isinstance(x, Mapping):
            return self._row(self._values_by_name(x))
        if hasattr(x, "to_frame") and hasattr(x, "index"):
            return self._of_series(x)
        x = unbatched(x)
        names = frame_names(x)
        return self._of_array(_as_array(x)) if names is None else self._of_frame(x, names)

    def filled(self, rows: NDArray[Any], error: ValueError) -> NDArray[np.float32]:
        """Plain rows that the core has refused, without holes; raises `error` if it is not that."""
        if rows.ndim not in (1, 2) or rows.shape[-1] != self._n_columns or not _has_nan(rows):
            raise error
        return self._coordinates(rows)

    def _row(self, values: Values) -> NDArray[np.float32]:
        """Coordinates of one row."""
        found = self._found(values)
        if found is None:
            row: NDArray[np.float32] = _dense(self._rows_of_table([values]))[0]
            return row
        return np.array(found, dtype=np.float32)

    def _rows(self, rows: Sequence[Values]) -> NDArray[np.float32]:
        """Coordinates of several rows."""
        found = [self._found(values) for values in rows]
        if any(of_row is None for of_row in found):
            return _dense(self._rows_of_table(rows))
        return np.array(found, dtype=np.float32)

    def _found(self, values: Values) -> list[float] | None:
        """Coordinates of one row if there is nothing to say of it."""
        found: list[float] = []
        for read, value in zip(self._cells, values, strict=True):
            coordinates = read(value)
            if coordinates is None:
                return None
            found += coordinates
        return found

    def _rows_of_table(self, rows: Sequence[Values]) -> Matrix:
        """Coordinates of several rows by the general way, column by column."""
        columns = (
            object_column([values[column] for values in rows], label_of(column, self._names))
            for column in range(self._n_columns)
        )
        return self.reader.coordinates(Table(tuple(columns), self._names))

    @cached_property
    def _cells(self) -> tuple[CellReader, ...]:
        encoding = self.reader.encoding or encoding_of_numbers(self._n_columns, self._names)
        return cell_readers(encoding, self.reader.had_missing())

    @cached_property
    def _fetch(self) -> Callable[[Mapping[Any, object]], Values]:
        if self._names is None:
            raise ValueError(
                "x is a dict, but the model was fitted to columns without names; give the values "
                "in the order of the columns; try a list, or fit to a frame."
            )
        if len(self._names) == 1:
            name = self._names[0]
            return lambda row: (row[name],)
        return itemgetter(*self._names)

    def _values_by_name(self, row: Mapping[Any, object]) -> Values:
        """The values in the order of the columns; other keys than their names are refused."""
        fetch = self._fetch
        if len(row) == self._n_columns:
            try:
                return fetch(row)
            except KeyError:
                pass
        names = self._names or ()
        absent = [repr(name) for name in names if name not in row]
        unknown = [repr(key) for key in row if key not in names]
        told = [f"lacks {shown_cells(absent)}"] if absent else []
        told += [f"holds {shown_cells(unknown)}, which is no column"] if unknown else []
        if unknown:
            advice = "leaving such keys out"
        else:
            advice = "{**dict.fromkeys(model.feature_names_in_), **x}, which adds None"
        raise ValueError(
            f"x {' and '.join(told)}; give a value for each of {self._n_columns} columns and no "
            f"other, None where it is missing; try {advice}."
        )

    def _of_list(self, x: Sequence[Any]) -> NDArray[Any]:
        """One row in the order of the columns, or several rows."""
        is_several = len(x) > 0 and isinstance(x[0], list | tuple | np.ndarray | Mapping)
        if is_several and isinstance(x[0], Mapping):
            return self._rows([self._values_by_name(_mapping(row, n)) for n, row in enumerate(x)])
        if self._is_numeric and (array := _numbers(x)) is not None:
            return self._of_array(array)
        rows = list(x) if is_several else [x]
        for values in rows:
            shape = _shape(values)
            self._check_width(shape if len(shape) < 2 else (len(rows), *shape))
        return self._rows(rows) if is_several else self._row(x)

    def _of_array(self, x: NDArray[Any]) -> NDArray[Any]:
        """A vector, or a matrix."""
        if self._is_numeric and x.dtype.kind in "fiub":
            if self.is_plain:
                return x if x.dtype in PLAIN else x.astype(np.float64)
            self._check_width(x.shape)
            return self._coordinates(x)
        self._check_width(x.shape)
        if x.ndim == 1 and x.dtype.kind not in "mM":
            return self._row(x.tolist())
        rows = _dense(self.reader.coordinates(read_table(np.atleast_2d(x), self._names)))
        return rows[0] if x.ndim == 1 else rows

    def _of_series(self, x: Any) -> NDArray[Any]:
        """One row of a frame of pandas."""
        self._check_names(tuple(x.index))
        values = x.to_numpy()
        return self._of_array(values) if values.dtype.kind in "fiub" else self._of_list(x.tolist())

    def _of_frame(self, x: Any, names: tuple[str, ...]) -> NDArray[Any]:
        self._check_names(names)
        numbers = plain_numbers(x) if self._is_numeric else None
        if numbers is not None:
            return self._of_array(numbers)
        return _dense(self.reader.coordinates(read_table(x, self._names or names)))

    def _coordinates(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Coordinates of numbers of the right shape, some of which may be missing."""
        with np.errstate(over="ignore"):
            matrix = np.atleast_2d(rows).astype(np.float32)
        if np.isinf(matrix).any():
            raise ValueError(
                "x holds a number that is infinite or too large for float32; give finite numbers, "
                "or NaN where one is missing."
            )
        found = _dense(self.reader.coordinates(matrix))
        return found[0] if rows.ndim == 1 else found

    def _check_width(self, shape: tuple[int, ...]) -> None:
        if len(shape) not in (1, 2) or shape[-1] != self._n_columns:
            raise ValueError(
                f"x has shape {shape}; give a row of {self._n_columns} values, in the order of the "
                "columns, or several such rows."
            )

    def _check_names(self, given: tuple[Any, ...]) -> None:
        """Raise if a frame or a Series has other columns than the model, or in another order."""
        if self._names is None:
            self._check_width((len(given),))
        elif given != self._names:
            raise ValueError(_other_columns(given, self._names))


def _other_columns(given: tuple[Any, ...], names: tuple[str, ...]) -> str:
    """What is wrong with the columns of a frame, and what to try."""
    lacking = [repr(name) for name in names if name not in given]
    unknown = [repr(name) for name in given if name not in names]
    told = [f"lacks the columns {shown_cells(lacking)}"] if lacking else []
    told += [f"has {shown_cells(unknown)}, which the model does not know"] if unknown else []
    what = " and ".join(told) or "has the columns of the model in another order, or twice"
    return (
        f"x {what}; give those of the training in the same order; try "
        "x[list(model.feature_names_in_)]."
    )


def _mapping(row: object, number: int) -> Mapping[Any, object]:
    if not isinstance(row, Mapping):
        raise TypeError(
            f"x[{number}] is of type {type(row).__name__} among dicts; give rows of one kind."
        )
    return row


def _shape(values: object) -> tuple[int, ...]:
    """Shape of what should be one row."""
    if isinstance(values, np.ndarray):
        shape: tuple[int, ...] = values.shape
        return shape
    return (len(values),) if isinstance(values, list | tuple) else ()


def _numbers(x: Sequence[Any]) -> NDArray[Any] | None:
    """A list of numbers, or of rows of numbers, as an array; None if it holds anything else."""
    try:
        array = np.asarray(x)
    except (ValueError, TypeError):  # ragged
        return None
    return array if array.dtype.kind in "fiub" else None


def _as_array(x: Any) -> NDArray[Any]:
    if sp.issparse(x) or not hasattr(x, "__array__"):
        raise TypeError(
            f"x is of type {type(x).__name__}; give a dict, a list, an array or a frame; try "
            "predict of the estimator."
        )
    return np.asarray(x)


def _dense(rows: Matrix) -> NDArray[np.float32]:
    dense: NDArray[np.float32] = np.asarray(rows)
    return dense


def _has_nan(rows: NDArray[Any]) -> bool:
    return bool(np.isnan(rows).any())
