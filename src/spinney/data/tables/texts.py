"""What a column of text probably is: numbers or dates with a bad cell among them, or free text.

One bad cell makes a column of numbers text, and its numbers would become levels of a category
without a word. So such columns are refused, unless someone says that they are categories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables import date_texts, number_texts
from spinney.data.tables.columns import DATETIME, NUMBER, TEXT, Column, shown_cells
from spinney.data.tables.date_texts import is_date
from spinney.data.tables.number_texts import common_unit, is_number, is_plain, read_numbers
from spinney.data.tables.table import Table, label_of

FREE = "free text"

#: Texts are free if so many of them differ, and there are at least so many.
MOSTLY, LEAST_TEXTS = 0.9, 20

#: Many different numbers beside few words are numbers, however often these words come: so many
#: have to differ, and there have to be so many times as many of them as of the words.
MANY, TIMES = 20, 10

#: Texts that stand for a missing value: neither numbers nor anything else.
_MISSING = re.compile(
    r"-{0,3}|\.{1,2}|[?*\u2013\u2014]|#?n[./]?a\.?|nan|nat|nil|none|null|missing|unknown|"
    "not available",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Look:
    """What most cells of a column of text look like.

    Attributes
    ----------
    kind : {"number", "datetime", "free text"}
    n_values : int
        Cells that are not missing.
    n_like : int
        Those that look like most do; of free text, how many differ.
    example : str
        One of those.
    unit : str
        A word that stands beside most numbers.
    is_plain : bool
        Whether most numbers are written as programs write them; then only these count as alike.
    decimal : str
        Decimal point of plain numbers.
    """

    kind: str
    n_values: int
    n_like: int
    example: str = ""
    unit: str = ""
    is_plain: bool = False
    decimal: str = "."

    def is_like(self, text: str) -> bool:
        """Whether a text is written as most are."""
        if self.kind == DATETIME:
            return is_date(text)
        return is_plain(text, self.decimal) if self.is_plain else is_number(text, self.unit)

    def is_of_kind(self, text: str) -> bool:
        """Whether a text is a number or date, however it is written."""
        return self.is_like(text) or (self.kind == NUMBER and is_number(text, self.unit))


@dataclass(frozen=True)
class Odd:
    """A text that is not as most are: its first row, and how many rows have it."""

    text: str
    row: int
    n_rows: int

    def told(self, place: str) -> str:
        """The cell for a message, where `place` says how to find its first row."""
        n_others = self.n_rows - 1
        rows = f" and {n_others:,} other row{'s' * (n_others > 1)}" if n_others else ""
        return f"{self.text!r} in {place}{rows}"


def look_at(texts: Sequence[str | None], decimal: str = ".") -> Look | None:
    """What a column of text is if it is probably no category, else None.

    More than half of the cells have to look like numbers or dates, and two of these have to
    differ; or many of these differ, and few others do. Cells that say "missing", as "-" or
    "n/a", do not count.
    """
    counts = Counter(text for text in texts if text is not None)
    told = {text: n for text, n in counts.items() if not says_missing(text)}
    numbers = read_numbers(told)
    unit = common_unit(numbers, told)
    like = {text: told[text] for text, written in numbers.items() if written.is_in(unit)}
    if _is_mostly(like, told):
        return _looks_like(NUMBER, counts.total(), like, unit, decimal)
    like = {text: n for text, n in told.items() if is_date(text)}
    if _is_mostly(like, told):
        return _looks_like(DATETIME, counts.total(), like)
    if counts.total() >= LEAST_TEXTS and len(counts) > MOSTLY * counts.total():
        return Look(FREE, counts.total(), len(counts))
    return None


def odd_texts(texts: Sequence[str | None], is_like: Callable[[str], bool]) -> list[Odd]:
    """Each text that is not as most are, in the order of its first rows."""
    first, counts = dict[str, int](), Counter[str]()
    for row, text in enumerate(texts):
        if text is not None and (text in first or not is_like(text)):
            first.setdefault(text, row)
            counts[text] += 1
    return [Odd(text, row, counts[text]) for text, row in first.items()]


def says_missing(text: str) -> bool:
    """Whether a text stands for a missing value."""
    return _MISSING.fullmatch(text.strip()) is not None


def _is_mostly(like: dict[str, int], told: dict[str, int]) -> bool:
    is_many = len(like) > MANY and len(like) >= TIMES * (len(told) - len(like))
    return len(like) > 1 and (2 * sum(like.values()) > sum(told.values()) or is_many)


def _looks_like(
    kind: str, n_values: int, like: dict[str, int], unit: str = "", decimal: str = "."
) -> Look:
    n_like = sum(like.values())
    if kind == NUMBER:
        plain = {text: n for text, n in like.items() if is_plain(text, decimal)}
        if 2 * sum(plain.values()) > n_like:
            n_plain = sum(plain.values())
            return Look(kind, n_values, n_plain, min(plain), unit, True, decimal)
        like = {text: n for text, n in like.items() if text not in plain}
    return Look(kind, n_values, n_like, min(like), unit, decimal=decimal)


def check_texts(table: Table, is_declared: NDArray[np.bool_]) -> str | None:
    """Refuse text that is mostly numbers or dates; tell of free text, refuse it if all is free.

    Parameters
    ----------
    table : Table
        Training rows.
    is_declared : bool ndarray of shape (n_columns,)
        Columns that someone said are categories: these are taken as they are.

    Returns
    -------
    str or None
        What to warn of.
    """
    free: dict[str, Look] = {}
    for number, column in enumerate(table.columns):
        if column.kind != TEXT or is_declared[number]:
            continue
        label, look = label_of(number, table.names), look_at(column.texts)
        if look is not None and look.kind == FREE:
            free[label] = look
        elif look is not None:
            _refuse(column, look, label, table.row_name)
    if free and len(free) == len(table.columns):
        raise ValueError(f"nothing can be learned from X: {_free_text(free)}")
    return _free_text(free) if free else None


def _refuse(column: Column, look: Look, label: str, row_name: Callable[[int], str]) -> None:
    """Raise with the cells that make a column of numbers or dates text."""
    wanted = "numbers" if look.kind == NUMBER else "dates"
    odd = odd_texts(column.texts, look.is_like)
    is_mixed = look.is_plain and any(look.is_of_kind(cell.text) for cell in odd)
    found = (
        f"{look.n_like:,} of its {look.n_values:,} values are {'plain ' if is_mixed else ''}"
        f"{wanted}, as {look.example!r}"
    )
    if odd:
        cells = shown_cells([cell.told(row_name(cell.row)) for cell in odd])
        found += f"; not so {sum(cell.n_rows for cell in odd):,}: {cells}"
    raise ValueError(
        f"{label} is text, but {found}; give {wanted}, NaN or None where one is missing, or dtype "
        f"category for codes; try {how_to_convert(column.texts, look.kind)}, or "
        'astype("category"), or name the column in categorical_features.'
    )


def how_to_convert(texts: Collection[str | None], kind: str) -> str:
    """Code that makes numbers or dates of a column of text, right for all of its cells."""
    given = [text for text in dict.fromkeys(texts) if text is not None]
    if kind == DATETIME:
        return date_texts.how_to_read(given)
    numbers = read_numbers(given)
    unit = common_unit(numbers, dict.fromkeys(given, 1))
    return number_texts.how_to_read([t for t, written in numbers.items() if written.is_in(unit)])


def _free_text(free: dict[str, Look]) -> str:
    told = [
        f"{label} holds {look.n_like:,} different texts in {look.n_values:,} rows"
        for label, look in free.items()
    ]
    return (
        f"{shown_cells(told)}; levels of a category have to come again in other rows; leave the "
        "column out, or make features of it, as TfidfVectorizer does of text; try "
        'astype("category") if it is meant as it is.'
    )
