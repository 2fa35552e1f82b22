"""Names and numbers as they are written into plots.

Names come from data and may hold anything. matplotlib reads a pair of dollar signs as mathematics
and leaves a line out of a legend whose name begins with an underscore; neither happens to a name
that went through `plain`.
"""

from __future__ import annotations

LONGEST = 28
"""Letters of a name beside an axis."""


def plain(name: object, longest: int = LONGEST) -> str:
    """`name` in one line of at most `longest` letters that matplotlib draws letter by letter."""
    text = shortened(" ".join(str(name).split()), longest).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def shortened(text: str, longest: int) -> str:
    """`text`, without its middle if it is too long: names often differ at their ends."""
    if len(text) <= longest:
        return text
    n_kept = max(longest - 1, 1)
    n_last = n_kept // 2
    return f"{text[: n_kept - n_last]}…{text[len(text) - n_last :]}"


def number(value: float, digits: int = 3) -> str:
    """`value` with a few digits and a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """A number of rows, nodes or trees, in groups of three digits."""
    return f"{round(value):,}"


def plural(value: int, what: str) -> str:
    """``1 leaf``, ``2 leaves``: as people say it, for the few words that plots need."""
    many = {"leaf": "leaves"}.get(what, f"{what}s")
    return f"{count(value)} {what if value == 1 else many}"
