"""Numbers and HTML for people. Text becomes HTML here alone, and is escaped on the way."""

from __future__ import annotations

import html
import math

DIGITS = 4


def number(value: float, digits: int = DIGITS) -> str:
    """`value` rounded to some significant digits, without needless zeros."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    magnitude = math.floor(math.log10(abs(value)))
    if not -5 <= magnitude < 7:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - magnitude)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def signed(value: float, digits: int = DIGITS) -> str:
    """`value` rounded, with its sign."""
    return number(value, digits) if value < 0 else f"+{number(value, digits)}"


def value_text(value: float | str | bool | None, digits: int = DIGITS) -> str:
    """A value of a column; None is missing."""
    if value is None:
        return "missing"
    return number(value, digits) if isinstance(value, float) else str(value)


def span(days: float) -> str:
    """A duration."""
    return f"{number(days)} days"


def plural(count: int, noun: str) -> str:
    """``1 tree``, ``2 trees``; nouns in -f take -ves."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ves" if noun.endswith("f") else f"{count} {noun}s"


class Markup(str):
    """HTML that is already safe: made by `element` alone."""

    __slots__ = ()


def element(tag: str, *children: str) -> Markup:
    """An HTML element. Children that are not `Markup` are text, and are escaped."""
    inside = "".join(
        child if isinstance(child, Markup) else html.escape(str(child)) for child in children
    )
    return Markup(f"<{tag}>{inside}</{tag}>")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Markup:
    """A table of texts."""
    cells = element("tr", *(element("th", title) for title in head))
    lines = (element("tr", *(element("td", text) for text in row)) for row in rows)
    return element("table", element("thead", cells), element("tbody", *lines))
