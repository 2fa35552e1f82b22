"""How dates are written as text, and the format that reads most of them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

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
_ISO = re.compile(rf"{_YEAR}-\d\d(-\d\d([t ]\d.*)?)?", re.ASCII | re.IGNORECASE)

#: The day comes first in the first of these; where both read all, the cells do not show it.
_BY_DAY = [f"%d{mark}%m{mark}{year}" for year in ("%Y", "%y") for mark in "/.-"]
_BY_MONTH = [f"%m{mark}%d{mark}{year}" for year in ("%Y", "%y") for mark in "/.-"]
_BY_YEAR = ["%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d"]
_BY_NAME = [
    f"{pattern}"
    for month in ("%b", "%B")
    for pattern in (
        f"%d {month} %Y",
        f"%d-{month}-%Y",
        f"%d-{month}-%y",
        f"{month} %d, %Y",
        f"{month} %d %Y",
        f"{month} %Y",
    )
]
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p", ", %H:%M")
_FORMATS = [
    f"{date}{time}" for date in (*_BY_DAY, *_BY_MONTH, *_BY_YEAR, *_BY_NAME) for time in _TIMES
]
#: Texts by which formats are chosen before all texts are read.
_LOOKED_AT = 100


def is_date(text: str) -> bool:
    """Whether a text is a date, with or without a time."""
    return _DATE.fullmatch(text.strip()) is not None


def how_to_read(texts: Sequence[str]) -> str:
    """Code that makes dates of the texts of a column, most of which are dates."""
    dates = [text.strip() for text in texts if is_date(text)]
    if 2 * sum(_ISO.fullmatch(text) is not None for text in dates) > len(dates):
        zone = (
            ", utc=True" if any(re.search(r":.*([+-]\d|z)", text, re.I) for text in dates) else ""
        )
        return _code("ISO8601", zone)
    n_read = _formats(dates)
    if not n_read:
        return _code("mixed")
    most = max(n_read.values())
    best = [pattern for pattern, n in n_read.items() if n == most]
    code = _code(best[0])
    if len(best) > 1 and best[0].startswith("%d") and best[1].startswith("%m"):
        code = f"{code} if the day comes first, {_code(best[1])} if the month does"
    return code if most == len(dates) else f"{code}, which leaves dates of other forms missing"


def _code(pattern: str, more: str = "") -> str:
    return f'pd.to_datetime(column, format="{pattern}"{more}, errors="coerce")'


def _formats(dates: Sequence[str]) -> dict[str, int]:
    """How many of the texts each format reads, of formats that read most of the first ones."""
    first = dates[:_LOOKED_AT]
    able = [pattern for pattern in _FORMATS if 2 * _n_read(first, pattern) > len(first)]
    # pandas knows month names by %b and %B: the same texts as "May 2021" fit both.
    return {pattern: _n_read(dates, pattern) for pattern in able}


def _n_read(texts: Sequence[str], pattern: str) -> int:
    return sum(_reads(text, pattern) for text in texts)


def _reads(text: str, pattern: str) -> bool:
    try:
        datetime.datetime.strptime(text, pattern)
    except ValueError:
        return False
    return True
