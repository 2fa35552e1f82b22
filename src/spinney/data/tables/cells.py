"""One value of a column as coordinates, in less than a microsecond.

A table is read column by column, which takes long for a single row. Here each column has a function
that knows what its usual values become: numbers, levels, dates and durations of Python's own types.
None stands for all that `TableEncoding.encode` had better look at; what is said here is what that
would say, bit for bit.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import (
    DATETIME,
    DURATION,
    MICROSECONDS_A_DAY,
    NUMBER,
    TEXT,
    Column,
    missing_column,
)
from spinney.data.tables.encoding import (
    EMPTY,
    GIVEN_AS,
    LARGEST,
    NUMBER_LEVELS,
    TEXT_LEVELS,
    TableEncoding,
)
from spinney.data.tables.levels import Level

#: Coordinates of a value.
Found: TypeAlias = tuple[float, ...]
CellReader: TypeAlias = Callable[[object], Found | None]

#: Types whose values are numbers and nothing else. Others may be, and are looked at elsewhere.
_NUMBERS = frozenset((float, int, bool, np.float64, np.float32, np.int64))
_EPOCH = datetime.datetime(1970, 1, 1)
_SECONDS_A_DAY, _MICROSECONDS = 86_400, 1_000_000


def cell_readers(encoding: TableEncoding, may_miss: NDArray[np.bool_]) -> tuple[CellReader, ...]:
    """A function for each column, from a value to its coordinates or None.

    Parameters
    ----------
    encoding : TableEncoding
    may_miss : bool ndarray of shape (n_columns,)
        Columns of which missing values are nothing to speak of; those of others give None.
    """
    return tuple(
        _READERS[encoding.kind(column)](
            encoding, column, _missing(encoding, column) if may_miss[column] else None
        )
        for column in range(encoding.n_columns)
    )


def _missing(encoding: TableEncoding, column: int) -> Found:
    kind = GIVEN_AS.get(encoding.kind(column), NUMBER)
    return tuple(encoding.encode_column(column, missing_column(kind, 1))[0].tolist())


def _is_nothing(value: object) -> bool:
    """None, or NaN of Python."""
    return value is None or (type(value) is float and value != value)


def _as_float(value: Any) -> float:
    """The number; infinity if it is an integer beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _numbers(encoding: TableEncoding, column: int, missing: Found | None) -> CellReader:
    flag = (0.0,) if encoding.has_missing[column] else ()

    def read(value: object) -> Found | None:
        if type(value) in _NUMBERS:
            number = _as_float(value)
            if -LARGEST <= number <= LARGEST:
                return (number, *flag)
            return missing if number != number else None
        return missing if value is None else None

    return read


def _times(encoding: TableEncoding, column: int, missing: Found | None) -> CellReader:
    """Of dates, or of durations: days less the origin."""
    flag = (0.0,) if encoding.has_missing[column] else ()
    origin = float(encoding.origin[column])
    count = _count_of_date if encoding.kind(column) == DATETIME else _count_of_duration

    def read(value: object) -> Found | None:
        microseconds = count(value)
        if microseconds is None:
            return missing if _is_nothing(value) else None
        return (float(microseconds) / MICROSECONDS_A_DAY - origin, *flag)

    return read


def _count_of_date(value: object) -> int | None:
    """Microseconds since 1970 of a date without a zone."""
    if type(value) is datetime.datetime and value.tzinfo is None:
        return _count_of_duration(value - _EPOCH)
    if type(value) is datetime.date:
        return (value.toordinal() - _EPOCH.toordinal()) * MICROSECONDS_A_DAY
    return None


def _count_of_duration(value: object) -> int | None:
    if type(value) is not datetime.timedelta:
        return None
    return (value.days * _SECONDS_A_DAY + value.seconds) * _MICROSECONDS + value.microseconds


def _number_levels(encoding: TableEncoding, column: int, missing: Found | None) -> CellReader:
    found, unknown = _of_levels(encoding, column)

    def read(value: object) -> Found | None:
        if type(value) in _NUMBERS:
            number = _as_float(value)
            if number != number:
                return missing
            return found.get(number, unknown if abs(number) <= LARGEST else None)
        return missing if value is None else None

    return read


def _text_levels(encoding: TableEncoding, column: int, missing: Found | None) -> CellReader:
    found, unknown = _of_levels(encoding, column)

    def read(value: object) -> Found | None:
        if type(value) is str:
            return found.get(value, unknown)
        return missing if _is_nothing(value) else None

    return read


def _of_levels(encoding: TableEncoding, column: int) -> tuple[dict[Level, Found], Found]:
    """Coordinates of each level that training had, and of all others."""
    levels = encoding.levels[column]
    known: Sequence[Level] = tuple(dict.fromkeys((*levels.own, *levels.known)))
    is_text = encoding.kind(column) == TEXT_LEVELS
    # Behind the last level in order, so that it is none of them.
    other: Level = f"{max(known)}?" if is_text else float(max(known)) + 1.0
    coordinates = encoding.encode_column(column, _column_of((*known, other)))
    *found, unknown = [tuple(row) for row in coordinates.tolist()]
    return dict(zip(known, found, strict=True)), unknown


def _column_of(values: Sequence[Level]) -> Column:
    if isinstance(values[0], str):
        return Column(TEXT, np.zeros(0), [str(value) for value in values])
    return Column(NUMBER, np.array(values, dtype=np.float64))


def _empty(encoding: TableEncoding, column: int, missing: Found | None) -> CellReader:
    """Of a column that had no value in training: only whether there is one."""
    del encoding, column

    def read(value: object) -> Found | None:
        if _is_nothing(value):
            return missing
        return (0.0,) if type(value) is str or type(value) in _NUMBERS else None

    return read


_READERS: dict[str, Callable[[TableEncoding, int, Found | None], CellReader]] = {
    NUMBER: _numbers,
    DATETIME: _times,
    DURATION: _times,
    NUMBER_LEVELS: _number_levels,
    TEXT_LEVELS: _text_levels,
    EMPTY: _empty,
}
