"""Read what users pass as X into columns of one kind each.

Frames are read through narwhals, which knows pandas, polars and Arrow, or, what is plain in them,
directly; arrays and lists column by column. Containers of numbers alone are better read as one
matrix: `holds_numbers` tells them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.data.tables.columns import (
    DATETIME,
    DURATION,
    Column,
    RowName,
    named_row,
    number_column,
    object_column,
    time_column,
)
from spinney.data.tables.direct import is_pandas

#: numpy has no such numbers, so they are read as float64.
_LONG = (nw.Int128, nw.UInt128)
_NESTED = (nw.List, nw.Array, nw.Struct, nw.Binary, nw.Time)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, their names if they have any, and the index of a pandas frame."""

    columns: tuple[Column, ...]
    names: tuple[str, ...] | None = None
    index: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    def take(self, is_kept: NDArray[np.bool_]) -> Table:
        """The table with some of its rows."""
        kept = None if self.index is None else self.index[is_kept]
        return Table(tuple(column.take(is_kept) for column in self.columns), self.names, kept)

    def row_name(self, row: int) -> str:
        """How messages speak of a row: with its label if that is not its number."""
        return named_row(row, self.index)


def label_of(column: int, names: Sequence[str] | None) -> str:
    """How messages speak of a column."""
    return f"column {column} of X" + ("" if names is None else f" ({names[column]})")


def unbatched(X: object) -> object:
    """X itself, but a record batch of Arrow as the table that it is a part of.

    Neither narwhals nor scikit-learn knows batches: they would be read as arrays without names.
    """
    pyarrow: Any = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    return X


def frame_names(X: object) -> tuple[str, ...] | None:
    """Names of the columns of a frame in memory, None for all else."""
    if is_pandas(X):
        return tuple(X.columns)  # type: ignore[attr-defined]
    frame = None if sp.issparse(X) or isinstance(X, dict) else _frame(X)
    return None if frame is None else tuple(frame.columns)


def holds_numbers(X: object) -> bool:
    """Whether X is a matrix of numbers or truth values, or nothing that a table could be read from.

    The latter is left to scikit-learn's checks, so that its usual messages appear.
    """
    if sp.issparse(X):
        return True
    frame = _frame(X)
    if frame is not None:
        return all(_is_numeric(dtype, frame, name) for name, dtype in frame.schema.items())
    array = _array(X)
    return array is None or array.dtype.kind in "fiubc" or array.ndim != 2 or 0 in array.shape


def check_is_table(X: object) -> None:
    """Raise unless X is a frame, sparse, or has two dimensions."""
    wanted = "give a frame, or rows of two dimensions; try pd.DataFrame([row]) for a single row"
    if isinstance(X, dict):
        raise TypeError(f"X is a dict; {wanted}, or compile(), whose models answer a dict.")
    if sp.issparse(X) or is_pandas(X) or _frame(X) is not None:
        return
    array = _array(X)
    if array is None or array.ndim != 2:
        found = f"is of type {type(X).__name__}"
        if array is not None and array.ndim:
            found += f" and has shape {array.shape}"
        raise ValueError(f"X {found}, which is no table; {wanted}.")


def read_table(X: object, names: Sequence[str] | None = None) -> Table:
    """Columns of a frame, or of an array or list of two dimensions."""
    if sp.issparse(X):
        raise TypeError(
            "X is sparse, but this model reads categories, text or dates; give a frame or an "
            "array; try X.toarray()."
        )
    kept = None if names is None else tuple(names)
    if is_pandas(X):
        return Table(_read_pandas(X, names), kept, X.index)  # type: ignore[attr-defined]
    frame = _frame(X)
    if frame is not None:
        _check_rows(frame)
        series = enumerate(frame.iter_columns())
        return Table(tuple(_read_series(s, label_of(j, names)) for j, s in series), kept)
    array = _array(X)
    if array is None:
        raise TypeError(f"X is of type {type(X).__name__}; give a frame, an array or a list.")
    return Table(tuple(_read_values(v, label_of(j, names)) for j, v in enumerate(array.T)), kept)


def _check_rows(frame: Any) -> None:
    """Raise if a frame has no rows, in the words of scikit-learn, as of arrays."""
    if not len(frame):
        raise ValueError(
            f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is "
            "required; give at least one row."
        )


def _frame(X: object) -> Any:
    """X for narwhals if it is a frame in memory, else None."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    found = nw.from_native(unbatched(X), pass_through=True)
    if isinstance(found, nw.LazyFrame):
        raise TypeError("X is a lazy frame, whose rows are not there yet; try X.collect().")
    return found if isinstance(found, nw.DataFrame) else None


def _array(X: object) -> NDArray[Any] | None:
    """X as an array whose strings are those of X, not numbers turned into text."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise TypeError(
            "X is a masked array that hides values; give NaN for missing ones; try "
            "X.astype(float).filled(np.nan)."
        )
    if isinstance(X, np.ndarray):
        return X
    if not isinstance(X, list | tuple) and not hasattr(X, "__array__"):
        return None
    try:
        array = np.asarray(X)
        return np.array(X, dtype=object) if array.dtype.kind in "USO" else array
    except (ValueError, TypeError):  # ragged rows; scikit-learn says so
        return None


def _is_numeric(dtype: Any, frame: Any, name: str) -> bool:
    if dtype == nw.Boolean:  # numpy has no missing truth value
        return not frame[name].null_count()
    if dtype in (*_LONG, nw.Decimal):
        return False
    if dtype == nw.Unknown:
        return _is_matrix_of_pandas(getattr(frame[name].to_native(), "dtype", None))
    return bool(dtype.is_numeric())


def _is_matrix_of_pandas(dtype: Any) -> bool:
    """Whether scikit-learn reads a pandas dtype that narwhals does not know as numbers.

    Such are long floats, and sparse columns if what they do not store is 0.
    """
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiubc"
    kind = getattr(getattr(dtype, "subtype", None), "kind", "O")
    return kind in "fiub" and bool(getattr(dtype, "fill_value", None) == 0)


def _read_pandas(X: Any, names: Sequence[str] | None) -> tuple[Column, ...]:
    """Columns of a frame of pandas, which takes half the time without narwhals."""
    _check_rows(X)
    series = enumerate(column for _, column in X.items())
    row_name = partial(named_row, index=X.index)
    return tuple(_read_pandas_series(s, label_of(j, names), row_name) for j, s in series)


def _read_pandas_series(series: Any, label: str, row_name: RowName) -> Column:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _read_values(series.to_numpy(), label, row_name)
    if dtype.kind in "fiub":  # with missing values of its own
        return number_column(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.name in ("str", "string"):
        return object_column(series.tolist(), label)
    return _read_series(nw.from_native(series, series_only=True), label)


def _read_series(series: Any, label: str) -> Column:
    dtype = series.dtype
    if dtype in (*_LONG, nw.Boolean):
        return number_column(series.cast(nw.Float64).to_numpy())
    if dtype == nw.Decimal:
        return object_column(series.to_list(), label)
    if dtype.is_numeric():
        return number_column(series.to_numpy())
    if dtype in (nw.Datetime, nw.Date):
        return time_column(DATETIME, series.dt.timestamp("us").to_numpy())
    if dtype == nw.Duration:
        return _read_times(series.to_numpy())
    if dtype in _NESTED:
        raise TypeError(
            f"{label} holds {dtype}, but an argument must be a string or a number, a date, a "
            "duration or missing; try one column for each part of it, or leave the column out."
        )
    if dtype in (nw.Categorical, nw.Enum):
        return object_column(_categories(series), label, is_category=True)
    if dtype == nw.Unknown:
        return _read_unknown(series, label)
    return object_column(series.to_list(), label)


def _read_unknown(series: Any, label: str) -> Column:
    """Column of a dtype that narwhals does not know, as numpy or Python reads it."""
    native = series.to_native()
    if getattr(getattr(native, "dtype", None), "tz", None) is not None:
        return _read_times(np.asarray(native, dtype="M8[us]"))  # in UTC
    values = series.to_numpy()
    if values.dtype.kind in "fiubmM":
        return _read_values(values, label)
    return object_column(series.to_list(), label)


def _categories(series: Any) -> list[Any]:
    """Values of a column of categories, None for missing ones.

    pandas is asked for its categories themselves: where values are missing it gives intervals of
    whole numbers other bounds, and so another text. Its Arrow dictionaries have none to ask for.
    """
    native = series.to_native()
    if not series.implementation.is_pandas_like() or not hasattr(native.dtype, "categories"):
        return list(series.to_list())
    native = native.cat
    levels = [*native.categories.tolist(), None]  # the code of a missing value is -1
    return [levels[code] for code in native.codes.to_numpy().tolist()]


def _read_values(values: NDArray[Any], label: str, row_name: RowName = named_row) -> Column:
    kind = values.dtype.kind
    if kind in "fiub":
        return number_column(values)
    if kind in "mM":
        return _read_times(values)
    return object_column(values.tolist(), label, row_name=row_name)


def _read_times(values: NDArray[Any]) -> Column:
    is_moment = values.dtype.kind == "M"
    counts = values.astype("M8[us]" if is_moment else "m8[us]").astype(np.int64)
    present = np.where(np.isnat(values), np.nan, counts.astype(np.float64))
    return time_column(DATETIME if is_moment else DURATION, present)
