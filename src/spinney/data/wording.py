"""Numbers, counts and lists as people write them, for messages, reports and the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence

IRREGULAR = {"class": "classes", "leaf": "leaves"}


def counted(count: int, noun: str) -> str:
    """A count and its noun: ``1 row``, ``2,000 rows``, ``2 leaves``."""
    if count == 1:
        return f"1 {noun}"
    *before, last = noun.split(" ")
    return " ".join([f"{count:,}", *before, IRREGULAR.get(last, f"{last}s")])


def listed(items: Sequence[object], most: int = 8) -> str:
    """The first few of several items, and how many there are besides: ``a, b and 3 more``."""
    shown = ", ".join(str(item) for item in items[:most])
    n_left = len(items) - most
    return f"{shown} and {n_left:,} more" if n_left > 0 else shown


def rounded(value: float, digits: int) -> str:
    """`value` to some significant digits, without needless zeros."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    magnitude = math.floor(math.log10(abs(value)))
    if not -5 <= magnitude < 7:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - magnitude)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text
