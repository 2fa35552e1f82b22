"""Boxes, bars and words on axes whose unit is an inch on paper.

In axes of another size than planned all is drawn smaller, the letters too, so that what fits at
the planned size fits at any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.plotting.canvas import figure_of, hide_frame
from spinney.inspection.plotting.colors import PALE, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT_SIZE = 7.5
"""Points."""


@dataclass(frozen=True)
class Pen:
    """Draws on `ax`, whose x goes right and whose y goes down, both in inches times `scale`.

    Shapes are added as artists, not as patches: a sheet has the limits that it is given, and
    matplotlib need not look at each shape for them.
    """

    ax: Axes
    scale: float

    @classmethod
    def on(cls, ax: Axes, scale: float) -> Pen:
        """A pen for axes of which nothing is left but the sheet."""
        hide_frame(ax)
        ax.set_aspect("equal")
        return cls(ax, scale)

    def frame(self, width: float, height: float) -> None:
        """Set the limits of the sheet, which pictures move, with room for the width of a line."""
        self.ax.set_xlim(-0.02, width + 0.02)
        self.ax.set_ylim(height + 0.02, -0.02)

    def text(self, x: float, y: float, words: str, **options: Any) -> None:
        """Words, letter by letter, with their middle at height `y`."""
        # Boxes are white whatever the style of the figure, so words are dark.
        options = {"va": "center_baseline", "fontsize": FONT_SIZE, "color": "black", **options}
        options["fontsize"] *= self.scale
        self.ax.text(x, y, words, parse_math=False, **options)

    def box(self, x: float, y: float, width: float, height: float, **options: Any) -> None:
        """A rounded frame with its upper left corner at (x, y)."""
        from matplotlib.patches import FancyBboxPatch

        options = {"facecolor": "white", "edgecolor": PALE, "linewidth": 1.0, **options}
        options["linewidth"] *= self.scale
        frame = FancyBboxPatch(
            (x, y), width, height, boxstyle="round,pad=0,rounding_size=0.05", **options
        )
        self.ax.add_artist(frame)

    def bars(
        self,
        x: float,
        y: NDArray[np.float64],
        lengths: NDArray[np.float64],
        colors: Sequence[str],
        thickness: float,
        gid: str,
    ) -> None:
        """Bars from `x` to the right, or to the left where lengths are negative."""
        for middle, length, color in zip(y.tolist(), lengths.tolist(), colors, strict=True):
            self.rectangle(x, middle - 0.5 * thickness, length, thickness, color, gid)

    def upright(self, x: float, top: float, bottom: float) -> None:
        """A thin upright line."""
        self.ax.plot([x, x], [top, bottom], color=QUIET, linewidth=0.6 * self.scale)

    def rectangle(
        self, x: float, y: float, width: float, height: float, color: str, gid: str | None = None
    ) -> None:
        """A filled rectangle with a corner at (x, y)."""
        from matplotlib.patches import Rectangle

        self.ax.add_artist(Rectangle((x, y), width, height, color=color, linewidth=0, gid=gid))

    def stack(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        shares: NDArray[np.float64],
        colors: Sequence[str],
        gid: str,
    ) -> None:
        """Shares of a whole as parts of one bar."""
        ends = width * np.cumsum(shares) / max(shares.sum(), 1e-300)
        starts = np.concatenate([[0.0], ends[:-1]])
        for start, end, color in zip(starts.tolist(), ends.tolist(), colors, strict=True):
            if end > start:
                self.rectangle(x + start, y, end - start, height, color, gid)

    def edge(self, start: tuple[float, float], end: tuple[float, float], width: float) -> None:
        """A curve that leaves and arrives horizontally."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        half = 0.5 * (start[0] + end[0])
        path = Path(
            [start, (half, start[1]), (half, end[1]), end],
            [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
        )
        self.ax.add_artist(
            PathPatch(path, facecolor="none", edgecolor="#A0A0A0", lw=width * self.scale, zorder=0)
        )


def scale_in(ax: Axes, width: float, height: float) -> float:
    """How much smaller a sheet of these inches is in the axes; 1 if it fits."""
    extent, dpi = ax.get_window_extent(), figure_of(ax).dpi
    return float(min(extent.width / dpi / width, extent.height / dpi / height, 1.0))
