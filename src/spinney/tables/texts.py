"""What a column of text probably is: numbers or dates with a bad cell among them, or free text.

One bad cell makes a column of numbers text, and its numbers would become levels of a category
without a word. So such columns are refused, unless someone says that they are categories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.tables.columns import DATETIME, NUMBER, TEXT, Column, shown_cells
from spinney.tables.table import Table, label_of

FREE = "free text"

#: Texts are free if so many of them differ, and there are at least so many.
MOSTLY, LEAST_TEXTS = 0.9, 20

#: Texts that stand for a missing value: neither numbers nor anything else.
_MISSING = re.compile(
    r"-{0,3}|\.{1,2}|[?*\u2013\u2014]|#?n[./]?a\.?|nan|nat|nil|none|null|missing|unknown|"
    "not available",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_DIGITS = r"(\d{1,3}([,.'\u2019\s]\d{3})+([.,]\d+)?|\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?"
_UNIT = r"[%\u2030$\u20ac\u00a3\u00a5]"
#: Signs, currencies, percent, digits in groups and decimal commas; (1,234) is below 0 in accounts.
_NUMBER = re.compile(
    rf"\(?[+\u2212-]?\s?{_UNIT}?\s?[+\u2212-]?{_DIGITS}\s?{_UNIT}?\)?", re.ASCII | re.IGNORECASE
)

_DAY, _MONTH, _YEAR = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])", r"(1[5-9]|2[01])\d\d"
_NAME = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"([t,]?\s?\d{1,2}:\d\d(:\d\d([.,]\d+)?)?\s?([ap]m)?\s?(z|utc|gmt|[+-]\d\d:?\d\d)?)?"
_DATES = (
    rf"{_YEAR}[-/.]{_MONTH}([-/.]{_DAY})?",
    rf"{_DAY}[-/.]{_DAY}[-/.]{_YEAR}",
    rf"{_DAY}[-/]{_DAY}[-/]\d\d",
    r"\d\d\.\d\d\.\d\d",
    rf"{_DAY}(st|nd|rd|th|\.)?[-\s/]?{_NAME}[-\s,/]*(\d\d|{_YEAR})",
    rf"{_NAME}[-\s]({_DAY}(st|nd|rd|th)?,?\s)?{_YEAR}",
)
_DATE = re.compile(
    rf"((mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s)?({'|'.join(_DATES)}){_TIME}",
    re.ASCII | re.IGNORECASE,
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
        Those that look like a number or a date; of free text, how many differ.
    example : str
        One of those; of numbers one that needs more than a conversion, as "12%", if there is any.
    marks : str
        What stands in numbers beside digits, point and sign, each once: "%", "$", ",".
    """

    kind: str
    n_values: int
    n_like: int
    example: str = ""
    marks: str = ""


def look_at(texts: Sequence[str | None]) -> Look | None:
    """What a column of text is if it is probably no category, else None.

    More than half of the cells have to look like numbers or dates, and two of these have to
    differ; cells that say "missing", as "-" or "n/a", do not count.
    """
    counts = Counter(texts)
    counts.pop(None, None)  # what is missing looks like nothing
    n_values = counts.total()
    n_told = sum(n for text, n in counts.items() if not _says_missing(str(text)))
    for kind, is_like in _LIKE.items():
        like = [str(text) for text in counts if is_like(str(text))]
        n_like = sum(counts[text] for text in like)
        if len(like) > 1 and 2 * n_like > n_told:
            return _looks_like(kind, n_values, n_like, like)
    if n_values >= LEAST_TEXTS and len(counts) > MOSTLY * n_values:
        return Look(FREE, n_values, len(counts))
    return None


def other_texts(texts: Sequence[str | None], kind: str) -> list[tuple[int, str]]:
    """First row of each text that is not as most are, in the order of the rows."""
    is_like, first = _LIKE[kind], dict[str, int]()
    for row, text in enumerate(texts):
        if text is not None and text not in first and not is_like(text):
            first[text] = row
    return [(row, text) for text, row in first.items()]


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text.strip()) is not None


def _says_missing(text: str) -> bool:
    return _MISSING.fullmatch(text.strip()) is not None


_LIKE: dict[str, Callable[[str], bool]] = {NUMBER: _is_number, DATETIME: _is_date}


def _looks_like(kind: str, n_values: int, n_like: int, like: list[str]) -> Look:
    if kind != NUMBER:
        return Look(kind, n_values, n_like, min(like))
    marked = [text for text in like if not _PLAIN.fullmatch(text.strip())]
    marks = "".join(sorted(set("".join(marked)) - set("0123456789.+-eE \t")))
    return Look(kind, n_values, n_like, min(marked or like), marks)


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
            _refuse(column, look, label)
    if free and len(free) == len(table.columns):
        raise ValueError(f"nothing can be learned from X: {_free_text(free)}")
    return _free_text(free) if free else None


def _refuse(column: Column, look: Look, label: str) -> None:
    """Raise with the cells that make a column of numbers or dates text."""
    wanted = "numbers" if look.kind == NUMBER else "dates"
    bad = [f"{text!r} in row {row}" for row, text in other_texts(column.texts, look.kind)]
    found = f"{look.n_like:,} of its {look.n_values:,} values are {wanted}, as {look.example!r}"
    if bad:
        found += f"; not so {look.n_values - look.n_like:,}: {shown_cells(bad)}"
    raise ValueError(
        f"{label} is text, but {found}; give {wanted}, NaN or None where one is missing, or dtype "
        f'category for codes; try {how_to_convert(look)}, or astype("category"), or name the '
        "column in categorical_features."
    )


def how_to_convert(look: Look) -> str:
    """What makes numbers or dates of a column that looks like them."""
    if look.kind == DATETIME:
        return 'pd.to_datetime(column, errors="coerce")'
    comma = " (a decimal comma becomes a point)" if "," in look.marks else ""
    first = f"taking {' '.join(look.marks)} out of the texts{comma}, then " if look.marks else ""
    return f'{first}pd.to_numeric(column, errors="coerce")'


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
