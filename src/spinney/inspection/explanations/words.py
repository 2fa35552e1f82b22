"""Numbers and HTML for people. Text becomes HTML here alone, and is escaped on the way."""

from __future__ import annotations

import html

from spinney.data.wording import rounded

DIGITS = 4


def number(value: float, digits: int = DIGITS) -> str:
    """`value` with few digits."""
    return rounded(value, digits)


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
