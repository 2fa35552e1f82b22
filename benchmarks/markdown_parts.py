"""Pieces of a Markdown page: tables, numbers with their spread, the line on the machine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def spread(values: Any) -> str:
    """Mean ± standard deviation; the mean alone of one value."""
    n_decimals = decimals(float(values.mean()))
    deviation = f" ± {values.std(ddof=1):.{n_decimals}f}" if len(values) > 1 else ""
    return f"{values.mean():.{n_decimals}f}{deviation}"


def decimals(value: float) -> int:
    """Decimals to show: two of per cents, three digits of what is far smaller, else none."""
    size = abs(value)
    if size >= 1000:
        return 0
    if size >= 0.3 or size == 0 or not math.isfinite(size):
        return 2
    return 2 - math.floor(math.log10(size))


def show(value: Any) -> str:
    """A value of any kind as the text of a cell."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    if value != value:  # NaN: this model has no such number
        return "–"
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"


def measured_with(found: dict[str, Any]) -> str:
    """One line on versions and machine."""
    return f"measured with {environment_line(found)}"


def environment_line(found: dict[str, Any]) -> str:
    """Versions and machine, one after the other."""
    return ", ".join(f"{key} {value}" for key, value in found.items())
