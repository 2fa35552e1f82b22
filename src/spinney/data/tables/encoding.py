"""The fitted way from a table to the matrix that trees read.

A :class:`TableEncoding` is learned from training rows (:mod:`spinney.data.tables.learn`) and never
changes. It is a plain value: numbers, texts and arrays, nothing that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.data.tables.columns import (
    CONVERSIONS,
    DATETIME,
    DURATION,
    NUMBER,
    TEXT,
    Column,
    missing_column,
    named_row,
    shown_cells,
)
from spinney.data.tables.date_texts import is_date
from spinney.data.tables.levels import Level, Levels, level_coordinates
from spinney.data.tables.number_texts import is_plain
from spinney.data.tables.table import Table, label_of
from spinney.data.tables.texts import how_to_convert, odd_texts

Matrix: TypeAlias = NDArray[np.float32] | sp.csr_matrix

NUMBER_LEVELS, TEXT_LEVELS, EMPTY = "number_levels", "text_levels", "empty"

#: What a column was in training, in the order of the codes of `TableEncoding.kinds`.
KINDS = (NUMBER, DATETIME, DURATION, NUMBER_LEVELS, TEXT_LEVELS, EMPTY)
_CODE = {kind: code for code, kind in enumerate(KINDS)}
_HAS_LEVELS = (NUMBER_LEVELS, TEXT_LEVELS)
#: What values of a column are in a table, by its kind.
GIVEN_AS = {
    NUMBER: NUMBER,
    DATETIME: DATETIME,
    DURATION: DURATION,
    NUMBER_LEVELS: NUMBER,
    TEXT_LEVELS: TEXT,
}

#: Texts that a conversion makes values of a kind without more ado.
_IS_READ: dict[str, Callable[[str], bool]] = {NUMBER: is_plain, DATETIME: is_date}

LARGEST = float(np.finfo(np.float32).max)


#: Stands for the flag of a column without one.
NO_FLAG = -1


class ReadColumn(NamedTuple):
    """Coordinates that an axis-aligned split may read together.

    Attributes
    ----------
    first : int
        A number, or the first of the indicators.
    n_levels : int
        How many indicators follow each other; 0 for a number.
    flag : int
        The coordinate that is 1 where the value is missing, or `NO_FLAG`.
    """

    first: int
    n_levels: int
    flag: int

    @property
    def coordinates(self) -> tuple[int, ...]:
        """All of them, in order."""
        own = tuple(range(self.first, self.first + max(self.n_levels, 1)))
        return own if self.flag == NO_FLAG else (*own, self.flag)


@dataclass(frozen=True)
class Coordinate:
    """One column of the encoded matrix.

    Attributes
    ----------
    column : int
        Column of the table that it comes from.
    kind : str
        "number", "datetime" or "duration": the value less `origin`, as float32; `fill` if it is
        missing. "is_level": 1 where the value is `level`. "is_rest": 1 where it is neither
        missing nor one of the levels with a coordinate. "is_missing": 1 where it is missing.
        "target_mean": the mean of target number `output` at the value's level.
    name : str
        For people; no two coordinates have the same.
    level : str, float or None
    fill, origin : float
        Dates are in days since 1970-01-01 UTC, durations in days.
    output : int
        Of "target_mean", else 0.
    """

    column: int
    kind: str
    name: str
    level: Level | None = None
    fill: float = 0.0
    origin: float = 0.0
    output: int = 0

    @property
    def is_indicator(self) -> bool:
        """Whether it is 0 or 1."""
        return self.kind.startswith("is_")


@dataclass(frozen=True, eq=False)
class TableEncoding:
    """How each column of a table becomes coordinates.

    Attributes
    ----------
    kinds : uint8 ndarray of shape (n_columns,)
        What each column was in training, as a place in ``spinney.data.tables.KINDS``.
    fill : float32 ndarray of shape (n_columns,)
        What a missing number is replaced by: the mean in training, after `origin` was taken off.
    origin : float64 ndarray of shape (n_columns,)
        Taken off before numbers become float32; not 0 for dates only.
    has_missing : bool ndarray of shape (n_columns,)
        Whether missing values of the column have a coordinate that tells them.
    levels : mapping from int to Levels
        The levels of each column of categories.
    names : tuple of str or None
        Names of the columns.

    Notes
    -----
    The coordinates of a column follow each other in this order: the number, or its levels, the
    rest and the means; then the flag of missing values. Columns are in the order of the table.
    """

    kinds: NDArray[np.uint8]
    fill: NDArray[np.float32]
    origin: NDArray[np.float64]
    has_missing: NDArray[np.bool_]
    levels: Mapping[int, Levels] = field(default_factory=dict)
    names: tuple[str, ...] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableEncoding):
            return NotImplemented
        return is_same_state(self.to_state(), other.to_state())

    __hash__ = None  # type: ignore[assignment]  # holds arrays

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return len(self.kinds)

    @property
    def n_coordinates(self) -> int:
        """Columns of the encoded matrix."""
        return int(self.widths.sum())

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Coordinates of each column."""
        widths = self.has_missing.astype(np.int64)
        widths += self.kinds < _CODE[NUMBER_LEVELS]
        for column, levels in self.levels.items():
            widths[column] += levels.width
        return widths

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """First coordinate of each column."""
        return np.cumsum(self.widths) - self.widths

    @property
    def columns(self) -> NDArray[np.int64]:
        """Column of each coordinate."""
        return np.repeat(np.arange(self.n_columns), self.widths)

    @cached_property
    def read_columns(self) -> tuple[ReadColumn, ...]:
        """What an axis-aligned split may read, in the order of the coordinates.

        The indicators of a column together, and each of its numbers, both with its flag.
        """
        return tuple(self._read_columns())

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all columns are numbers, so that rows can come as one matrix."""
        return bool(np.isin(self.kinds, (_CODE[NUMBER], _CODE[EMPTY])).all())

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Every coordinate, in order."""
        return tuple(_distinct(self._described()))

    def kind(self, column: int) -> str:
        """What a column was in training."""
        return KINDS[int(self.kinds[column])]

    def encode(self, rows: Table | Matrix) -> Matrix:
        """Coordinates of rows: a table, or numbers in a float32 array or CSR matrix.

        Parameters
        ----------
        rows : Table, ndarray or CSR matrix
            With the columns of training. NaN is missing; a CSR matrix must store it.

        Returns
        -------
        float32 ndarray of shape (n_rows, n_coordinates), or a CSR matrix if `rows` is one
        """
        if isinstance(rows, Table):
            return self._encode_table(rows)
        return _encode_sparse(self, rows) if sp.issparse(rows) else _encode_dense(self, rows)

    def to_state(self) -> dict[str, Any]:
        """The encoding as texts, numbers, lists, dicts and arrays of numbers."""
        from spinney.data.tables.state import to_state

        return to_state(self)

    @classmethod
    def from_state(cls, state: object) -> TableEncoding:
        """The encoding that `to_state` told of; raises ValueError if it told of none."""
        from spinney.data.tables.state import from_state

        return from_state(state)

    def _encode_table(self, table: Table) -> NDArray[np.float32]:
        out = np.empty((table.n_rows, self.n_coordinates), dtype=np.float32)
        for number, column in enumerate(table.columns):
            first, width = int(self.first[number]), int(self.widths[number])
            out[:, first : first + width] = self._encode_column(number, column, table.row_name)
        return out

    def encode_column(self, number: int, column: Column) -> NDArray[np.float32]:
        """Coordinates of values of one column, float32 of shape (n_rows, widths[number])."""
        return self._encode_column(number, column, named_row)

    def _encode_column(
        self, number: int, column: Column, row_name: Callable[[int], str]
    ) -> NDArray[np.float32]:
        kind, is_missing = self.kind(number), column.is_missing
        parts: list[NDArray[np.float32]] = []
        if kind != EMPTY:
            if column.kind != GIVEN_AS[kind]:
                if not is_missing.all():
                    _refuse_kind(self, number, column, row_name)
                column = missing_column(GIVEN_AS[kind], len(column))
            parts.append(self._values(number, column, is_missing))
        if self.has_missing[number]:
            parts.append(is_missing.astype(np.float32)[:, None])
        return np.hstack(parts)

    def _values(
        self, number: int, column: Column, is_missing: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        label = label_of(number, self.names)
        if self.kind(number) in _HAS_LEVELS:
            check_finite(column.numbers, label)
            return level_coordinates(self.levels[number], column)
        values = as_float32(column.numbers - self.origin[number], label)
        return np.where(is_missing, self.fill[number], values)[:, None]

    def _read_columns(self) -> Iterator[ReadColumn]:
        for column, (first, width) in enumerate(zip(self.first, self.widths, strict=True)):
            n_indicators = 0
            if (levels := self.levels.get(column)) is not None:
                n_indicators = levels.width - levels.n_outputs
            flag = int(first + width) - 1 if self.has_missing[column] else NO_FLAG
            n_others = int(width) - int(self.has_missing[column])
            if not n_others:  # an empty column
                yield ReadColumn(flag, 0, NO_FLAG)
            elif n_indicators:
                yield ReadColumn(int(first), n_indicators, flag)
            for number in range(n_indicators, n_others):
                yield ReadColumn(int(first) + number, 0, flag)

    def _described(self) -> Iterator[Coordinate]:
        for column in range(self.n_columns):
            name = f"x{column}" if self.names is None else self.names[column]
            kind = self.kind(column)
            if kind in _HAS_LEVELS:
                yield from _described_levels(column, name, self.levels[column])
            elif kind != EMPTY:
                yield Coordinate(
                    column,
                    kind,
                    name,
                    fill=float(self.fill[column]),
                    origin=float(self.origin[column]),
                )
            if self.has_missing[column]:
                yield Coordinate(column, "is_missing", f"{name} is missing")


def encoding_of_numbers(n_columns: int, names: tuple[str, ...] | None) -> TableEncoding:
    """Encoding of plain numbers: it changes none, leaves holes and refuses all other kinds."""
    return TableEncoding(
        np.full(n_columns, _CODE[NUMBER], dtype=np.uint8),
        np.full(n_columns, np.nan, dtype=np.float32),
        np.zeros(n_columns),
        np.zeros(n_columns, dtype=np.bool_),
        {},
        names,
    )


def is_same_state(one: object, other: object) -> bool:
    """Whether two states are equal, bit for bit."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same_state(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same_state, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other


def as_float32(values: NDArray[np.float64], label: str) -> NDArray[np.float32]:
    """Numbers of a column as float32, NaN as it is; infinite or too large ones are refused."""
    check_finite(values, label)
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float32)


def check_finite(values: NDArray[np.float64], label: str) -> None:
    """Raise if a number is infinite or too large for float32."""
    is_bad = np.abs(values) > LARGEST
    if is_bad.any():
        row = int(is_bad.argmax())
        raise ValueError(
            f"Input X contains infinity or a value too large: {label} holds {values[row]:.6g} in "
            f"row {row}; give values between -{LARGEST:.3g} and {LARGEST:.3g}, or leave it "
            "missing; try dividing the column by a constant."
        )


def _described_levels(column: int, name: str, levels: Levels) -> Iterator[Coordinate]:
    for level in levels.own:
        text = level if isinstance(level, str) else f"{level:.15g}"
        yield Coordinate(column, "is_level", f"{name} = {text}", level=level)
    if levels.has_rest:
        yield Coordinate(column, "is_rest", f"{name} is another")
    for output in range(levels.n_outputs):
        which = "" if levels.n_outputs == 1 else f" {output}"
        yield Coordinate(column, "target_mean", f"mean target{which} of {name}", output=output)


def _distinct(coordinates: Iterator[Coordinate]) -> Iterator[Coordinate]:
    """The coordinates, renamed where a name was used before."""
    used: set[str] = set()
    for found in coordinates:
        name, number = found.name, 1
        while name in used:
            number += 1
            name = f"{found.name} ({number})"
        used.add(name)
        yield found if name == found.name else Coordinate(**{**vars(found), "name": name})


def _refuse_kind(
    encoding: TableEncoding, number: int, column: Column, row_name: Callable[[int], str]
) -> None:
    held = GIVEN_AS[encoding.kind(number)]
    advice = CONVERSIONS.get(held, "converting the column")
    if column.kind == TEXT and held in _IS_READ:
        advice = how_to_convert(column.texts, held)
    raise ValueError(
        f"{label_of(number, encoding.names)} holds {column.kind} "
        f"({_cells(column, held, row_name)}) but held {held} in training; give values of the same "
        f"kind; try {advice}."
    )


def _cells(column: Column, held: str, row_name: Callable[[int], str]) -> str:
    """Cells of another kind than a column held: of text those that do not read as it plainly."""
    if column.kind == TEXT and held in _IS_READ:
        odd = odd_texts(column.texts, _IS_READ[held])
        if odd:
            return shown_cells([cell.told(row_name(cell.row)) for cell in odd])
    row = int((~column.is_missing).argmax())
    value = column.texts[row] if column.kind == TEXT else float(column.numbers[row])
    return f"{value!r} in {row_name(row)}"


def _encode_dense(encoding: TableEncoding, X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Coordinates of numbers in an array; all columns are numbers."""
    out = np.empty((X.shape[0], encoding.n_coordinates), dtype=np.float32)
    is_missing = np.isnan(X)
    is_number = encoding.kinds == _CODE[NUMBER]
    out[:, encoding.first[is_number]] = np.where(is_missing, encoding.fill, X)[:, is_number]
    flags = encoding.first + is_number
    out[:, flags[encoding.has_missing]] = is_missing[:, encoding.has_missing]
    return out


def _encode_sparse(encoding: TableEncoding, X: sp.csr_matrix) -> sp.csr_matrix:
    """Coordinates of numbers in a CSR matrix; all columns are numbers."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    columns, is_missing = X.indices, np.isnan(X.data)
    is_number = encoding.kinds == _CODE[NUMBER]
    values = np.where(is_missing, encoding.fill[columns], X.data)
    is_value = is_number[columns]
    is_flag = is_missing & encoding.has_missing[columns]
    flags = encoding.first + is_number
    data = np.concatenate([values[is_value], np.ones(np.count_nonzero(is_flag), np.float32)])
    places = np.concatenate([encoding.first[columns[is_value]], flags[columns[is_flag]]])
    of_rows = np.concatenate([rows[is_value], rows[is_flag]])
    encoded = sp.csr_matrix(
        (data.astype(np.float32), (of_rows, places)), shape=(X.shape[0], encoding.n_coordinates)
    )
    encoded.eliminate_zeros()
    return encoded
