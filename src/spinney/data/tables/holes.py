"""Missing values in columns that had none in training: where they are, and what fills numbers.

Holes in columns that had some in training are nothing special and none of this is about them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.data.tables.encoding import Matrix
from spinney.data.tables.table import Table

P = ParamSpec("P")
R = TypeVar("R")

#: Row numbers of the holes of each column that has some, ascending.
Holes: TypeAlias = dict[int, NDArray[np.intp]]

#: What the call under way has warned of; None outside of calls that read rows several times.
_told: ContextVar[set[str] | None] = ContextVar("told", default=None)


class MissingValuesWarning(UserWarning):
    """Values are missing in columns that had none missing in training, and have been filled."""


@contextmanager
def one_warning() -> Iterator[None]:
    """Warn once of the same holes, however often their rows are read inside."""
    if _told.get() is not None:
        yield
        return
    token = _told.set(set())
    try:
        yield
    finally:
        _told.reset(token)


def warned_once(function: Callable[P, R]) -> Callable[P, R]:
    """A function that reads the same rows several times and warns of their holes once."""

    # No context manager as a decorator: warnings point behind the frames of this library.
    @functools.wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> R:
        with one_warning():
            return function(*values, **named)

    return call


def is_news(text: str) -> bool:
    """Whether the call under way has not said this before; from now on it has."""
    told = _told.get()
    if told is None:
        return True
    is_new = text not in told
    told.add(text)
    return is_new


def new_holes(rows: Matrix | Table, had_missing: NDArray[np.bool_]) -> Holes:
    """Holes of the columns that had none in training.

    Parameters
    ----------
    rows : Table, float32 ndarray or CSR matrix
        A CSR matrix stores NaN.
    had_missing : bool ndarray of shape (n_columns,)
        Which columns had some.
    """
    if isinstance(rows, Table):
        return {
            number: np.flatnonzero(column.is_missing)
            for number, column in enumerate(rows.columns)
            if not had_missing[number] and np.count_nonzero(column.is_missing)
        }
    if not _may_have_new(rows, had_missing):
        return {}
    of_rows, columns = _places(rows)
    is_new = ~had_missing[columns]
    of_rows, columns = of_rows[is_new], columns[is_new]
    order = np.argsort(columns, kind="stable")
    found, firsts = np.unique(columns[order], return_index=True)
    return dict(zip(found.tolist(), np.split(of_rows[order], firsts)[1:], strict=True))


def with_typical(rows: Matrix, typical: NDArray[np.float32]) -> Matrix:
    """Numbers with the typical one of its column for each hole; of a CSR matrix no stored zeros."""
    if not has_nan(rows):
        return rows
    if isinstance(rows, np.ndarray):
        return np.where(np.isnan(rows), typical, rows)
    data = np.where(np.isnan(rows.data), typical[rows.indices], rows.data)
    filled = sp.csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape, copy=True)
    filled.eliminate_zeros()
    return filled


def has_nan(rows: Matrix) -> bool:
    """Whether a number is missing; allocates no mask."""
    values = rows if isinstance(rows, np.ndarray) else rows.data
    return values.size > 0 and bool(np.isnan(values.min()))


def _may_have_new(rows: Matrix, had_missing: NDArray[np.bool_]) -> bool:
    """Whether a look at each hole is needed: far most rows have none, or none that is new."""
    if isinstance(rows, np.ndarray) and had_missing.any():
        rows = rows.take(np.flatnonzero(~had_missing), axis=1)
    return has_nan(rows)


def _places(rows: Matrix) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column of each hole, row by row."""
    if isinstance(rows, np.ndarray):
        of_rows, columns = np.nonzero(np.isnan(rows))
        return of_rows, columns
    is_missing = np.isnan(rows.data)
    of_rows = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[is_missing]
    return of_rows, rows.indices[is_missing].astype(np.intp)
