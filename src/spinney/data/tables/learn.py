"""Learn from training rows how a table becomes coordinates."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.data.tables.columns import DATETIME, NUMBER, TEXT, Column
from spinney.data.tables.encoding import (
    EMPTY,
    KINDS,
    NUMBER_LEVELS,
    TEXT_LEVELS,
    Matrix,
    TableEncoding,
    as_float32,
    check_finite,
)
from spinney.data.tables.levels import (
    MOST_LEVELS,
    Levels,
    code_column,
    cross_fitted_means,
    learn_levels,
)
from spinney.data.tables.table import Table, label_of

#: Missing numbers get a coordinate if the targets of rows with and without a value differ by this
#: many deviations: what is called a small effect.
LEAST_EFFECT = 0.2

#: From here on float64 does not hold every integer.
FIRST_INEXACT = 2.0**53


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
        kind = _kind(column, bool(is_category[number]), is_missing)
        kinds[number] = KINDS.index(kind)
        if kind == NUMBER_LEVELS:
            _check_levels(column.numbers, label_of(number, table.names))
        if kind in (NUMBER_LEVELS, TEXT_LEVELS):
            levels[number] = learn_levels(
                code_column(column), targets, weights, most_levels=most_levels
            )
            # Missing is a level like others; where levels have means it has one, too.
            has_missing[number] = is_missing.any() and not levels[number].n_outputs
        elif kind == EMPTY:
            has_missing[number] = True
        else:
            has_missing[number] = tells_of_targets(is_missing, targets, weights)
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


def _check_levels(values: NDArray[np.float64], label: str) -> None:
    """Raise if numbers that are levels are so large that other integers may have become them."""
    check_finite(values, label)
    is_large = np.abs(values) >= FIRST_INEXACT
    if is_large.any():
        row = int(is_large.argmax())
        raise ValueError(
            f"{label} holds the category {values[row]:.0f} in row {row}; numbers are told apart "
            f"as categories between -{FIRST_INEXACT - 1:.0f} and {FIRST_INEXACT - 1:.0f}; try "
            'text, for instance with astype(str).astype("category").'
        )


def learn_matrix(
    X: Matrix,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    names: tuple[str, ...] | None = None,
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
        values, rows = _stored(by_column, number)
        is_missing = np.isnan(values)
        if np.count_nonzero(is_missing) == X.shape[0]:
            kinds[number], has_missing[number] = KINDS.index(EMPTY), True
            continue
        holes = rows[is_missing]
        left = math.fsum([total, *(-weights[holes]).tolist()])
        fill[number] = _mean(values[~is_missing], weights[rows[~is_missing]], left)
        if len(holes):
            is_hole = np.zeros(X.shape[0], dtype=np.bool_)
            is_hole[holes] = True
            has_missing[number] = tells_of_targets(is_hole, targets, weights)
    return TableEncoding(kinds, fill, np.zeros(n_columns), has_missing, {}, names)


def _stored(X: Matrix, number: int) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Values of a column that may differ from 0, and their rows."""
    if isinstance(X, np.ndarray):
        return X[:, number], np.arange(len(X))
    used = slice(X.indptr[number], X.indptr[number + 1])
    return X.data[used], X.indices[used]


def tells_of_targets(
    is_missing: NDArray[np.bool_], targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> bool:
    """Whether some target differs between rows with and without a value, by `LEAST_EFFECT`.

    Holes that tell nothing are not worth a coordinate: every one that is of no use makes trees
    worse. The difference is measured in deviations of the target, so that neither the unit of
    the weights nor rows repeated instead of weighted change the answer.
    """
    if not is_missing.any():
        return False
    weighted = weights[:, None] * targets
    with_hole, without = (
        weighted[rows].sum(axis=0) / weights[rows].sum() for rows in (is_missing, ~is_missing)
    )
    mean = weighted.sum(axis=0) / weights.sum()
    variance = (weights[:, None] * (targets - mean) ** 2).sum(axis=0) / weights.sum()
    return bool((np.abs(with_hole - without) > LEAST_EFFECT * np.sqrt(variance)).any())


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
