"""How an optimisation went: objective, loss and active splits, sweep by sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spinney.data.wording import counted
from spinney.inspection.fitted_model import fitted_model
from spinney.inspection.plotting.canvas import (
    axes_or_new,
    check_matplotlib,
    figure_of,
    log_scale,
    put_behind,
    whole_numbers,
)
from spinney.inspection.plotting.colors import FEW, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OVER = ("step", "seconds")
#: What lines mean, and their colours.
LINES = {"objective": FEW[0], "loss": FEW[5]}


class TraceLike(Protocol):
    """The record of an optimisation, such as `spinney.Trace`."""

    objective: list[float]
    loss: list[float]
    n_active: list[int]
    seconds: list[float]
    phase: list[str]


@dataclass(eq=False, repr=False)
class TraceDisplay:
    """Objective, loss and active splits over the steps of an optimisation.

    With several optimisations, as of the trees of a forest, each is a faint line; the strong line
    is their median while at least half of them go on.

    Attributes
    ----------
    traces : list of Trace
        What is drawn.
    over : {"step", "seconds"}
        What is on the horizontal axis.
    ax_, figure_ : Axes, Figure
    ax_active_ : Axes
        The axis on the right, for the active splits.
    lines_ : dict from str to Line2D
        The strong lines "objective", "loss" and "n_active".
    """

    traces: list[TraceLike]
    over: str = "step"
    ax_: Axes = field(init=False)
    ax_active_: Axes = field(init=False)
    figure_: Figure = field(init=False)
    lines_: dict[str, Any] = field(init=False)

    @classmethod
    def from_estimator(
        cls, model: Any, *, over: str = "step", number: int | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw how a fitted model was optimised.

        Parameters
        ----------
        model : fitted estimator with `trace_` or `traces_`
            A TAO tree, a bagged or boosted forest of them, gradient boosting, or an FAO forest.
            Greedily grown trees have no trace.
        over : {"step", "seconds"}, default="step"
            Steps are sweeps over a tree, and in an FAO forest steps over one tree or all leaves.
        number : int, optional
            Take only this one of `traces_`. Default: all.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        TraceDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOTreeClassifier
        >>> from spinney.inspection.plotting import TraceDisplay
        >>> tree = TAOTreeClassifier(max_depth=3, random_state=0).fit(*load_iris(return_X_y=True))
        >>> display = TraceDisplay.from_estimator(tree)
        """
        traces = fitted_model(model).traces
        if not traces:
            raise TypeError(
                f"model={type(model).__name__} keeps no trace: its trees are not optimised in "
                "sweeps; give a fitted TAO tree, TAO forest, AdaBoost of TAO trees, gradient "
                "boosting or FAO forest."
            )
        if number is not None:
            if not 0 <= number < len(traces):
                raise ValueError(
                    f"number={number} of {len(traces)} traces; give one from 0 to "
                    f"{len(traces) - 1}."
                )
            traces = (traces[number],)
        return cls.from_traces(traces, over=over, ax=ax)

    @classmethod
    def from_traces(
        cls, traces: Sequence[TraceLike], *, over: str = "step", ax: Axes | None = None
    ) -> Self:
        """Draw traces.

        Parameters
        ----------
        traces : sequence of Trace
            At least one.
        over : {"step", "seconds"}, default="step"
            What is on the horizontal axis.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        TraceDisplay
        """
        check_matplotlib()
        if over not in OVER:
            raise ValueError(f"over={over!r}; give one of {OVER}; try 'step'.")
        if not traces:
            raise ValueError("traces is empty; give at least one; try from_estimator.")
        return cls(list(traces), over).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = figure_of(self.ax_)
        self.ax_active_ = self.ax_.twinx()
        self.lines_ = {name: self._draw(self.ax_, name, color) for name, color in LINES.items()}
        self.lines_["n_active"] = self._draw(
            self.ax_active_, "n_active", "#A0A0A0", drawstyle="steps-post", linestyle="--"
        )
        if all(min(trace.loss) > 0 and min(trace.objective) > 0 for trace in self.traces):
            log_scale(self.ax_, "y")
        else:
            self.ax_.set_ylim(bottom=0)
        self._mark_phase()
        self._label()
        return self

    def median(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Horizontal places and values of the strong line of a quantity."""
        longest = max(len(trace.objective) for trace in self.traces)
        values = np.full((len(self.traces), longest), np.nan)
        places = values.copy()
        for row, trace in enumerate(self.traces):
            values[row, : len(trace.objective)] = getattr(trace, name)
            places[row, : len(trace.objective)] = self._places(trace)
        is_drawn = 2 * np.count_nonzero(~np.isnan(values), axis=0) >= len(self.traces)
        middle = np.nanmedian(places[:, is_drawn], axis=0)
        return middle, np.nanmedian(values[:, is_drawn], axis=0)

    def _places(self, trace: TraceLike) -> NDArray[np.float64]:
        n_steps = len(trace.objective)
        return np.asarray(trace.seconds if self.over == "seconds" else range(n_steps), dtype=float)

    def _draw(self, ax: Axes, name: str, color: str, **options: Any) -> Any:
        """All lines of one quantity; the strong one is returned."""
        n_traces = len(self.traces)
        if n_traces > 1:
            faint = max(0.1, min(0.35, 4 / n_traces))
            for trace in self.traces:
                values = getattr(trace, name)
                ax.plot(self._places(trace), values, color=color, alpha=faint, lw=0.8, **options)
        places, values = self.median(name)
        style: dict[str, Any] = {"marker": "o", "markersize": 3} if len(places) <= 40 else {}
        return ax.plot(places, values, color=color, linewidth=1.8, **style, **options)[0]

    def _mark_phase(self) -> None:
        """Where a single tree stops exploring and settles."""
        if len(self.traces) > 1 or "settle" not in self.traces[0].phase:
            return
        first = self.traces[0].phase.index("settle")
        place = float(self._places(self.traces[0])[first])
        self.ax_.axvline(place, color=QUIET, linewidth=0.8, linestyle=":")
        self.ax_.annotate(
            "settles", (place, 1), (3, -3), ("data", "axes fraction"),
            textcoords="offset points", va="top", color=QUIET, fontsize=8,
        )  # fmt: skip

    def _label(self) -> None:
        is_forest = any(phase == "tree" for phase in self.traces[0].phase)
        step = "step (one tree, or all leaves)" if is_forest else "sweep"
        self.ax_.set_xlabel("time (s)" if self.over == "seconds" else step)
        self.ax_.set_ylabel("loss and objective (sum over rows)")
        self.ax_active_.set_ylabel("active splits", color=QUIET)
        self.ax_active_.set_ylim(0, 1.1 * max(max(trace.n_active) for trace in self.traces) + 0.5)
        put_behind(self.ax_active_, self.ax_)
        n_traces = len(self.traces)
        title = "Optimisation" if n_traces == 1 else f"{counted(n_traces, 'optimisation')}, median"
        self.ax_.set_title(title)
        if self.over == "step":
            whole_numbers(self.ax_)
        self.ax_.legend(
            [self.lines_[name] for name in ("objective", "loss", "n_active")],
            ["objective", "loss", "active splits"],
            framealpha=0.85,
            edgecolor="none",
        )
