"""Names and numbers as they are written into plots.

Names come from data and may hold anything. matplotlib reads a pair of dollar signs as mathematics,
and before version 3.10 it left a line out of a legend whose name begins with an underscore. Neither
happens to a name that went through `plain`.
"""

from __future__ import annotations

from functools import lru_cache

LONGEST = 28
"""Letters of a name beside an axis."""

LEAST_LETTERS = 3
"""Letters of a name that is shortened as far as it goes."""

POINTS_OF_AN_INCH = 72.0
ON_SCREEN = 1.06
"""How much wider letters get where they are moved to whole pixels."""


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


def fitted_to(text: str, inches: float, points: float) -> str:
    """`text`, shortened if it is wider than this in letters of this size."""
    n_letters = len(text)
    while n_letters > LEAST_LETTERS and width_of(shortened(text, n_letters), points) > inches:
        n_letters -= 1
    return shortened(text, n_letters)


@lru_cache(maxsize=4096)
def width_of(text: str, points: float) -> float:
    """Width of a line of text in inches, in the font that figures are drawn with."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    letters = FontProperties(size=points)
    width = text_to_path.get_text_width_height_descent(text, letters, ismath=False)[0]
    return float(width) / POINTS_OF_AN_INCH * ON_SCREEN


def number(value: float, digits: int = 3) -> str:
    """`value` with a few digits and a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """A number of rows, nodes or trees, in groups of three digits."""
    return f"{round(value):,}"
