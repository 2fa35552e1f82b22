"""Where plots are drawn: the one place that imports matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW_DECADES = 50.0
"""Ratio of the ends of a logarithmic axis below which more than its decades are labelled."""


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.4, 4.4)) -> Axes:
    """The given axes, or the axes of a new figure of this size in inches."""
    check_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    made: Axes = plt.subplots(figsize=size, layout="constrained")[1]
    return made


def check_matplotlib() -> None:
    """Raise unless matplotlib can be imported."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which cannot be imported; try pip install 'spinney[plot]'."
        ) from error


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to, also if they are in a part of it."""
    # The figure of a figure is itself, that of a part of one is the whole.
    return ax.figure.figure


def foreground(ax: Axes) -> str:
    """The colour of words, which styles change."""
    return str(ax.xaxis.label.get_color())


def hide_frame(ax: Axes) -> None:
    """Take away ticks and lines; unlike `set_axis_off` the labels of the axes stay."""
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)


def put_behind(back: Axes, front: Axes) -> None:
    """Draw the second axes of a `twinx` behind the first, whose lines and legend matter more."""
    front.set_zorder(back.get_zorder() + 1)
    front.patch.set_visible(False)


def log_scale(ax: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic axis with plain numbers: 0.1, 20, 5,000."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    axis = ax.xaxis if which == "x" else ax.yaxis

    def between(value: float, _: int) -> str:
        low, high = sorted(axis.get_view_interval())
        return f"{value:,g}" if high < FEW_DECADES * low else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axis.set_minor_formatter(FuncFormatter(between))


def whole_numbers(ax: Axes) -> None:
    """Ticks of the horizontal axis at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
