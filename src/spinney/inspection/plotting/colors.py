"""Colours that people with any colour vision can tell apart.

Two palettes made for that, by Okabe and Ito for up to eight classes and by Tol for up to ten. More
classes than that are told by their place in a map of rising brightness, and by their names.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Okabe and Ito, the strongest first.
FEW = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#000000",
)

#: Tol's muted scheme.
MORE = (
    "#332288",
    "#DDCC77",
    "#117733",
    "#88CCEE",
    "#CC6677",
    "#44AA99",
    "#882255",
    "#999933",
    "#AA4499",
    "#DDDDDD",
)

#: Weights that send a row right if the feature is large, and those that send it left: the ends of
#: `DIVERGING`.
POSITIVE, NEGATIVE = "#B2182B", "#2166AC"
DIVERGING = "RdBu_r"

SEQUENTIAL = "cividis"

QUIET = "#666666"
"""Lines and words of second rank."""

PALE = "#D9D9D9"
"""Frames and lines of third rank."""


def class_colors(n_classes: int) -> list[str]:
    """One colour a class."""
    if n_classes <= len(FEW):
        return list(FEW[:n_classes])
    if n_classes <= len(MORE):
        return list(MORE[:n_classes])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in colormaps["viridis"](np.linspace(0, 1, n_classes))]


def line_colors(n_lines: int) -> list[str]:
    """One colour a line; they begin anew after the eighth."""
    return [FEW[number % len(FEW)] for number in range(n_lines)]


def weight_colors(weights: NDArray[np.float64]) -> list[str]:
    """Colours of bars by the sign of their weights."""
    return [POSITIVE if weight > 0 else NEGATIVE for weight in weights.tolist()]
