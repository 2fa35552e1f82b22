"""What is typical of each column in training: what explanations start from and holes are filled by.

A fit learns it once and stores it, so that nothing has to be known of the training rows later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import NUMBER, TEXT, Column
from spinney.data.tables.encoding import EMPTY, Matrix, TableEncoding, is_same_state
from spinney.data.tables.levels import MISSING, Level, code_column, level_coordinates
from spinney.data.tables.table import Table

_NO_NUMBERS = np.zeros(0)


@dataclass(frozen=True, eq=False)
class TypicalRow:
    """The typical row of a table.

    Attributes
    ----------
    coordinates : float32 ndarray of shape (n_coordinates,)
        The row as the trees read it: of numbers, dates and durations the weighted mean of training
        rows that have a value; of categories what their most frequent level becomes. The flag of
        missing values is 1 where more than half of the weight is missing.
    levels : mapping from int to str, float or None
        Most frequent level of each column of categories, the first in order if several are; None
        where missing is more frequent than any.
    had_missing : bool ndarray of shape (n_columns,)
        Which columns had missing values in training.
    """

    coordinates: NDArray[np.float32]
    levels: Mapping[int, Level | None] = field(default_factory=dict)
    had_missing: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypicalRow):
            return NotImplemented
        return is_same_state(self.to_state(), other.to_state())

    __hash__ = None  # type: ignore[assignment]  # holds arrays

    def values(self, encoding: TableEncoding | None) -> tuple[Level | None, ...]:
        """The typical value of each column: a number, days, a level, or None for missing.

        Parameters
        ----------
        encoding : TableEncoding or None
            That of the same model.
        """
        if encoding is None:
            return tuple(self.coordinates.tolist())
        return tuple(self._value(encoding, column) for column in range(encoding.n_columns))

    def _value(self, encoding: TableEncoding, column: int) -> Level | None:
        if column in self.levels:
            return self.levels[column]
        if encoding.kind(column) == EMPTY:
            return None
        number = float(self.coordinates[encoding.first[column]])
        return number + float(encoding.origin[column])

    def to_state(self) -> dict[str, Any]:
        """The row as numbers, texts, lists, dicts and arrays of numbers."""
        from spinney.data.tables.state import typical_to_state

        return typical_to_state(self)

    @classmethod
    def from_state(cls, state: object) -> TypicalRow:
        """The row that `to_state` told of; raises ValueError if it told of none."""
        from spinney.data.tables.state import typical_from_state

        return typical_from_state(state)


def typical_of_numbers(means: NDArray[np.float64]) -> TypicalRow:
    """Typical row of numbers without holes, given the mean of each column."""
    return TypicalRow(means.astype(np.float32), {}, np.zeros(len(means), dtype=np.bool_))


def typical_of_table(
    encoding: TableEncoding, rows: Table | Matrix, weights: NDArray[np.float64]
) -> TypicalRow:
    """Typical row of a table with an encoding.

    Parameters
    ----------
    encoding : TableEncoding
        Learned from the same rows.
    rows : Table, ndarray or CSR matrix
        Training rows.
    weights : float64 ndarray of shape (n_rows,)
        All above 0.
    """
    missing = _missing_weights(rows, weights)
    coordinates = np.zeros(encoding.n_coordinates, dtype=np.float32)
    last = encoding.first + encoding.widths - 1
    is_flag = encoding.has_missing
    coordinates[last[is_flag]] = missing[is_flag] > 0.5 * weights.sum()
    levels: dict[int, Level | None] = {}
    for column in range(encoding.n_columns):
        first = int(encoding.first[column])
        if column in encoding.levels:
            assert isinstance(rows, Table), "a matrix has no levels"
            level = _most_frequent(rows.columns[column], weights)
            known = encoding.levels[column]
            found = level_coordinates(known, _column_of(level, rows.columns[column].kind))
            coordinates[first : first + known.width] = found[0]
            if is_flag[column]:
                coordinates[last[column]] = level is None
            levels[column] = level
        elif encoding.kind(column) != EMPTY:
            coordinates[first] = encoding.fill[column]
    return TypicalRow(coordinates, levels, missing > 0)


def _missing_weights(rows: Table | Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of the missing values of each column."""
    if isinstance(rows, Table):
        return np.array([weights[column.is_missing].sum() for column in rows.columns])
    if isinstance(rows, np.ndarray):
        of_rows, columns = np.nonzero(np.isnan(rows))
    else:
        is_missing = np.isnan(rows.data)
        of_rows = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[is_missing]
        columns = rows.indices[is_missing]
    n_columns = rows.shape[1]
    return np.bincount(columns, weights[of_rows], minlength=n_columns).astype(np.float64)


def _most_frequent(column: Column, weights: NDArray[np.float64]) -> Level | None:
    coded = code_column(column)
    n_levels = len(coded.levels)
    place = np.where(coded.codes == MISSING, n_levels, coded.codes)
    best = int(np.bincount(place, weights, minlength=n_levels + 1).argmax())
    return coded.levels[best] if best < n_levels else None


def _column_of(level: Level | None, kind: str) -> Column:
    """A column of one value."""
    if kind == TEXT:
        return Column(TEXT, _NO_NUMBERS, [None if level is None else str(level)])
    return Column(NUMBER, np.array([np.nan if level is None else float(level)]))
