"""Learn from training rows how a table becomes coordinates."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.tables.columns import DATETIME, NUMBER, TEXT, Column
from spinney.tables.encoding import (
    EMPTY,
    KINDS,
    NUMBER_LEVELS,
    TEXT_LEVELS,
    Matrix,
    TableEncoding,
    as_float32,
)
from spinney.tables.levels import (
    MOST_LEVELS,
    Levels,
    code_column,
    cross_fitted_means,
    learn_levels,
)
from spinney.tables.table import Table, label_of


def learn_table(
    table: Table,
    is_category: NDArray[np.bool_],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    most_levels: int = MOST_LEVELS,
) -> TableEncoding:
    """Encoding of a table of columns of any kind.

    Parameters
    ----------
    table : Table
        Training rows.
    is_category : bool ndarray of shape (n_columns,)
    targets : float64 ndarray of shape (n_rows, n_outputs)
        Numbers to predict, or 0/1 of classes; only columns of many levels are learned from them.
    weights : float64 ndarray of shape (n_rows,)
        All above 0.
    most_levels : int
        Most levels of a category with a coordinate each.
    """
    n_columns = len(table.columns)
    kinds = np.zeros(n_columns, dtype=np.uint8)
    fill, origin = np.zeros(n_columns, dtype=np.float32), np.zeros(n_columns)
    has_missing = np.zeros(n_columns, dtype=np.bool_)
    levels: dict[int, Levels] = {}
    for number, column in enumerate(table.columns):
        is_missing = column.is_missing
        has_missing[number] = is_missing.any()
        kind = _kind(column, bool(is_category[number]), is_missing)
        kinds[number] = KINDS.index(kind)
        if kind in (NUMBER_LEVELS, TEXT_LEVELS):
            levels[number] = learn_levels(
                code_column(column), targets, weights, most_levels=most_levels
            )
        elif kind != EMPTY:
            present = column.numbers[~is_missing]
            if kind == DATETIME:  # days since the first one: float32 has few digits for 1970
                origin[number] = math.floor(present.min())
            values = as_float32(present - origin[number], label_of(number, table.names))
            fill[number] = exact_mean(values, weights[~is_missing])
    return TableEncoding(kinds, fill, origin, has_missing, levels, table.names)


def _kind(column: Column, is_category: bool, is_missing: NDArray[np.bool_]) -> str:
    if is_missing.all():
        return EMPTY
    if column.kind == TEXT:
        return TEXT_LEVELS
    return NUMBER_LEVELS if is_category and column.kind == NUMBER else column.kind


def learn_matrix(
    X: Matrix, weights: NDArray[np.float64], names: tuple[str, ...] | None = None
) -> TableEncoding:
    """Encoding of a matrix of numbers, some of which are missing.

    Dense and sparse rows of the same values have the same encoding, bit for bit.
    """
    n_columns = X.shape[1]
    total = math.fsum(weights.tolist())
    fill = np.zeros(n_columns, dtype=np.float32)
    kinds = np.zeros(n_columns, dtype=np.uint8)
    has_missing = np.zeros(n_columns, dtype=np.bool_)
    by_column = sp.csc_matrix(X) if sp.issparse(X) else X
    for number in range(n_columns):
        values, of_rows = _stored(by_column, number, weights)
        is_missing = np.isnan(values)
        if not is_missing.any():
            fill[number] = _mean(values, of_rows, total)
            continue
        has_missing[number] = True
        if np.count_nonzero(is_missing) == X.shape[0]:
            kinds[number] = KINDS.index(EMPTY)
            continue
        left = math.fsum([total, *(-of_rows[is_missing]).tolist()])
        fill[number] = _mean(values[~is_missing], of_rows[~is_missing], left)
    return TableEncoding(kinds, fill, np.zeros(n_columns), has_missing, {}, names)


def _stored(
    X: Matrix, number: int, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Values of a column that may differ from 0, and the weights of their rows."""
    if isinstance(X, np.ndarray):
        return X[:, number], weights
    used = slice(X.indptr[number], X.indptr[number + 1])
    return X.data[used], weights[X.indices[used]]


def exact_mean(values: NDArray[np.float32], weights: NDArray[np.float64]) -> float:
    """Weighted mean whose bits do not depend on the order of the rows, nor on zeros."""
    return _mean(values, weights, math.fsum(weights.tolist()))


def _mean(values: NDArray[np.float32], weights: NDArray[np.float64], total: float) -> float:
    return math.fsum((values * weights).tolist()) / total


def encode_training(
    encoding: TableEncoding,
    rows: Table | Matrix,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Matrix:
    """Coordinates of training rows: as of any rows, but means are those of other folds."""
    encoded = encoding.encode(rows)
    if not isinstance(rows, Table):
        return encoded
    for number, levels in encoding.levels.items():
        if levels.n_outputs:
            stop = int(encoding.first[number]) + levels.width
            found = cross_fitted_means(rows.columns[number], targets, weights)
            encoded[:, stop - levels.n_outputs : stop] = found
    return encoded
