"""One column of a table, whatever it came in: numbers with NaN for missing, or texts with None.

Dates and durations are numbers of days, truth is 0 or 1. What cannot be read as one of these is
refused here, by the name of its column.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.number_texts import how_to_read, read_numbers
from spinney.data.wording import listed

NUMBER, DATETIME, DURATION, TEXT = "number", "datetime", "duration", "text"

MICROSECONDS_A_DAY = 86_400_000_000

#: Bad cells that a message shows.
SHOWN = 3

#: How messages speak of a row.
RowName: TypeAlias = Callable[[int], str]

_NO_NUMBERS = np.zeros(0)
#: Types of values that say "missing" and nothing else, by name: pandas is not a dependency.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
#: What to try instead of types of pandas that could be read in more than one way.
_ADVICE = {"Period": ".dt.to_timestamp()", "Interval": 'astype("category")'}
#: What makes values of a kind of whatever reads as such, and the others missing.
CONVERSIONS = {
    NUMBER: 'pd.to_numeric(column, errors="coerce")',
    DATETIME: 'pd.to_datetime(column, errors="coerce")',
    DURATION: 'pd.to_timedelta(column, errors="coerce")',
}
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    (TEXT, (str,)),
    (DATETIME, (datetime.date, np.datetime64)),
    (DURATION, (datetime.timedelta, np.timedelta64)),
    # Last, because numpy counts its durations among the whole numbers.
    (NUMBER, (numbers.Real, np.number, np.bool_, Decimal)),
)


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one column.

    Attributes
    ----------
    kind : {"number", "datetime", "duration", "text"}
    numbers : float64 ndarray of shape (n_rows,)
        Numbers, or days since 1970-01-01, or days; NaN is missing. Empty for text.
    texts : list of str or None
        None is missing. Empty for all but text.
    is_category : bool
        Whether the container says that the values are categories.
    """

    kind: str
    numbers: NDArray[np.float64]
    texts: Sequence[str | None] = ()
    is_category: bool = False

    def __len__(self) -> int:
        return len(self.texts) if self.kind == TEXT else len(self.numbers)

    @cached_property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.kind == TEXT:
            return np.array([text is None for text in self.texts], dtype=np.bool_)
        return np.isnan(self.numbers)

    def take(self, is_kept: NDArray[np.bool_]) -> Column:
        """The column with some of its rows."""
        if self.kind == TEXT:
            rows = np.flatnonzero(is_kept).tolist()
            return replace(self, texts=[self.texts[row] for row in rows])
        return replace(self, numbers=self.numbers[is_kept])


def named_row(row: int, index: Any = None) -> str:
    """How messages speak of a row: with its label in a pandas index if that is another."""
    label = row if index is None else _plain(index[row])
    return f"row {row}" if label == row else f"row {row} (index {label!r})"


def number_column(values: NDArray[np.generic], *, is_category: bool = False) -> Column:
    """Column of numbers; NaN is missing."""
    with np.errstate(over="ignore"):
        return Column(NUMBER, np.asarray(values, dtype=np.float64), is_category=is_category)


def missing_column(kind: str, n_rows: int) -> Column:
    """Column of some kind without a value."""
    if kind == TEXT:
        return Column(TEXT, _NO_NUMBERS, [None] * n_rows)
    return Column(kind, np.full(n_rows, np.nan))


def time_column(kind: str, microseconds: NDArray[np.generic]) -> Column:
    """Column of dates since 1970 or of durations."""
    return Column(kind, np.asarray(microseconds, dtype=np.float64) / MICROSECONDS_A_DAY)


def object_column(
    values: Sequence[object],
    label: str,
    *,
    is_category: bool = False,
    row_name: RowName = named_row,
) -> Column:
    """Column of Python values of one kind, some of which may be missing.

    Categories that are no numbers, as intervals and dates, are told apart by their text.
    """
    types = set(map(type, values))
    missing = {kind for kind in types if kind.__name__ in _MISSING_TYPES}
    if types <= missing | {str}:
        texts = [value if type(value) is str else None for value in values]
        return Column(TEXT, _NO_NUMBERS, texts, is_category)
    kind_of = {kind: _kind(kind) for kind in types - missing}
    if len(set(kind_of.values())) > 1:
        # NaN is missing among texts, dates and intervals, too.
        values = [None if _is_nan(value) else value for value in values]
        missing = missing | {type(None)}
        kind_of = {kind: _kind(kind) for kind in set(map(type, values)) - missing}
    if is_category and not {NUMBER, TEXT}.issuperset(kind_of.values()):
        kind_of = dict.fromkeys(kind_of, TEXT)
    kinds = set(kind_of.values())
    if len(kinds) != 1 or None in kinds:
        _refuse(values, kind_of, label, row_name)
    kind = next(iter(kinds))
    if kind == TEXT:
        return _text_column(values, missing, is_category)
    if kind == NUMBER:
        read = [np.nan if type(value) in missing else _float(value) for value in values]
        return Column(NUMBER, np.array(read), is_category=is_category)
    return _time_column(values, missing, str(kind))


def _float(value: object) -> float:
    """A number; infinite, which is refused later, if it is too large."""
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def _text_column(values: Sequence[object], missing: set[type], is_category: bool) -> Column:
    texts = [None if type(value) in missing else str(value) for value in values]
    return Column(TEXT, _NO_NUMBERS, texts, is_category)


def _time_column(values: Sequence[object], missing: set[type], kind: str) -> Column:
    unit = "datetime64[us]" if kind == DATETIME else "timedelta64[us]"
    read = [None if type(value) in missing else _naive(value) for value in values]
    times = np.array(read, dtype=unit)
    counts = times.astype(np.int64).astype(np.float64)
    counts[np.isnat(times)] = np.nan
    return time_column(kind, counts)


def _naive(value: object) -> object:
    """The same moment without its zone, in UTC; numpy knows no zones."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _is_nan(value: object) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _kind(kind: type) -> str | None:
    return next((name for name, known in _KINDS if issubclass(kind, known)), None)


def _refuse(
    values: Sequence[object], kind_of: dict[type, str | None], label: str, row_name: RowName
) -> None:
    """Say which value cannot be read, or that two cannot be read together."""
    unknown = [kind for kind, name in kind_of.items() if name is None]
    if unknown:
        row = next(row for row, value in enumerate(values) if type(value) in unknown)
        name = type(values[row]).__name__
        if issubclass(type(values[row]), complex | np.complexfloating):
            raise ValueError(f"Complex data not supported: {label} holds {_plain(values[row])!r}.")
        advice = _ADVICE.get(name, "one column for each part of it, or leave the column out")
        raise TypeError(
            f"{label} holds a value of type {name} in {row_name(row)}, but an argument must be a "
            f"string or a number, a date, a duration or missing; try {advice}."
        )
    rows_of: dict[str | None, list[int]] = {}
    for row, value in enumerate(values):
        if type(value) in kind_of:
            rows_of.setdefault(kind_of[type(value)], []).append(row)
    main, *rare = sorted(rows_of, key=lambda kind: -len(rows_of[kind]))
    parts = [f"{main} ({_cells(values, rows_of[main], row_name, 1)})"]
    parts += [f"{kind} ({_cells(values, rows_of[kind], row_name)})" for kind in rare]
    raise ValueError(
        f"{label} mixes {' and '.join(parts)}; give values of one kind, None where one is "
        f"missing; try {_conversion(values, rows_of, str(main))}"
        'astype(str).astype("category") if they are codes.'
    )


def _conversion(values: Sequence[object], rows_of: dict[str | None, list[int]], main: str) -> str:
    """Code that makes all values one kind; numbers among them that are text are read, too."""
    if main not in CONVERSIONS:
        return ""
    texts = read_numbers(str(values[row]) for row in rows_of.get(TEXT, ()))
    if main != NUMBER or not texts:
        return f"{CONVERSIONS[main]}, or "
    # pandas changes no number by its methods for text: they make it missing.
    first = str(_plain(values[rows_of[main][0]]))
    return f"{how_to_read([first, *texts]).replace('(column', '(column.astype(str)')}, or "


def _cells(
    values: Sequence[object], rows: list[int], row_name: RowName, n_shown: int = SHOWN
) -> str:
    cells = [f"{_plain(values[row])!r} in {row_name(row)}" for row in rows]
    return shown_cells(cells, n_shown)


def _plain(value: object) -> object:
    """A number of numpy as one of Python, which is shown as a number only."""
    is_number = isinstance(value, np.number | np.bool_)
    return value.item() if is_number else value  # type: ignore[attr-defined]


def shown_cells(cells: Sequence[str], n_shown: int = SHOWN) -> str:
    """The first few of several cells, and how many there are besides."""
    return listed(cells, n_shown)
