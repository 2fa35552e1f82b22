"""Pieces of a Markdown page: tables, numbers with their spread, the line on the machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def spread(values: Any) -> str:
    """Mean ± standard deviation; the mean alone of one value."""
    deviation = f" ± {values.std(ddof=1):.2f}" if len(values) > 1 else ""
    return f"{values.mean():.2f}{deviation}"


def show(value: Any) -> str:
    """A value of any kind as the text of a cell."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    if value != value:  # NaN: this model has no such number
        return "–"
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"


def measured_with(found: dict[str, Any]) -> str:
    """One line on versions and machine."""
    return "measured with " + ", ".join(f"{key} {value}" for key, value in found.items())
