"""Plots of a table, each declared in its TOML file and drawn as a small PNG.

``x = "trees"`` or ``"seconds"`` draws the curves of single fits (mean over the seeds), test error
solid and, with ``train = true``, train error dashed. ``x = "parameters"`` or ``"fit_seconds"``
marks each row once. Any other `x` is a parameter of the rows: rows that differ in nothing but `x`
make a line, ``trees = [1, 10, 30]`` draws a line for so many first trees, and rows that fit
`across` are dotted lines over the whole width.

``panels = "data"`` draws the data sets side by side, ``panels = "trees"`` the numbers of trees,
any other word the values of that parameter. A model has the same colour in all panels. The legend
is beside the panels, says what dashes and dots are, and names the rows that are not measured yet
if the plot chooses its `rows`. A table without plots gets two: error against size and against
training time, for each data set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from bench import mean
from runner import Outcome
from table import Content, Table
from verdicts import error_at, error_key, mean_error, results_of, select

WORDS = {
    "trees": "number of trees",
    "seconds": "training time, seconds",
    "fit_seconds": "training time, seconds",
    "parameters": "number of parameters",
    "max_iter": "sweeps",
    "max_samples": "share of the training rows",
}
MARKED = {"parameters": "n_parameters", "fit_seconds": "wall_seconds"}
ERRORS = {"test_error": "error, %", "test_rmse": "root mean squared error"}
SIGNS = {"max_depth": "Δ", "learning_rate": "η"}
DEFAULT_PLOTS = tuple({"name": x, "x": x, "panels": "data"} for x in MARKED)

N_COLORS = 10
LINES = ("-", "-.", ":")
MARKERS = {True: "osD^", False: "x+1*"}  # ours, theirs


@dataclass(frozen=True)
class Panel:
    """One pair of axes: what is drawn, of which rows, and the rows that are lines across."""

    title: str
    plot: Content
    outcomes: list[Outcome]
    across: list[Outcome]


@dataclass
class Styles:
    """Colours by order of appearance; line and marker change when the colours are used up."""

    numbers: dict[str, int] = field(default_factory=dict)

    def line(self, label: str) -> dict[str, Any]:
        """Colour and line of a label."""
        number = self._number(label)
        return {"color": f"C{number % N_COLORS}", "linestyle": _pick(LINES, number)}

    def mark(self, label: str, *, is_ours: bool) -> dict[str, Any]:
        """Colour and marker of a label."""
        number = self._number(label)
        marker = _pick(MARKERS[is_ours], number)
        return {"color": f"C{number % N_COLORS}", "marker": marker, "linestyle": "none"}

    def _number(self, label: str) -> int:
        return self.numbers.setdefault(label, len(self.numbers))


def _pick(choices: Sequence[str], number: int) -> str:
    return choices[number // N_COLORS % len(choices)]


def draw_all(folder: Path, table: Table, outcomes: Sequence[Outcome]) -> list[Path]:
    """Draw the plots that have something to show; their paths."""
    import matplotlib as mpl

    mpl.use("Agg")
    plots = table.plots or [{"title": table.title, **plot} for plot in DEFAULT_PLOTS]
    drawn = [_draw(folder, table.name, plot, outcomes) for plot in plots]
    return [path for path in drawn if path is not None]


def _draw(folder: Path, name: str, plot: Content, outcomes: Sequence[Outcome]) -> Path | None:
    import matplotlib.pyplot as plt

    panels = panels_of(plot, outcomes)
    if not panels:
        return None
    n_columns = 2 if len(panels) in (2, 4) else min(3, len(panels))
    n_rows = -(-len(panels) // n_columns)
    size = (7.5, 4) if len(panels) == 1 else (3.2 * n_columns + 1.8, 2.9 * n_rows + 0.3)
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False
    )
    styles, n_drawn = Styles(), 0
    for axes, panel in zip(grid.flat, panels, strict=False):
        n_drawn += KINDS.get(plot["x"], _lines)(axes, panel, styles)
        _dress(axes, panel)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    path = folder / f"{name}-{plot['name']}.png"
    if n_drawn:
        _legend(figure, plot)
        # On the left: in the middle of the figure, long titles would run into the legend.
        figure.suptitle(plot.get("title", ""), fontsize=10, x=0.01, horizontalalignment="left")
        figure.savefig(path, dpi=80)
    plt.close(figure)
    return path if n_drawn else None


def panels_of(plot: Content, outcomes: Sequence[Outcome]) -> list[Panel]:
    """Panels of a plot; none if no row is measured."""
    chosen = _choose(plot, "rows", "*", outcomes)
    across = _choose(plot, "across", [], outcomes)
    if not any(results_of(outcome) for outcome in chosen):
        return []
    by = plot.get("panels")
    if by is None:
        return [Panel("", plot, chosen, across)]
    if by == "trees":
        plots = [(f"T={trees}", plot | {"trees": [trees]}) for trees in plot["trees"]]
        return [Panel(title, part, chosen, across) for title, part in plots]
    values = dict.fromkeys(_value(o, by) for o in chosen if results_of(o))
    return [
        Panel(
            _panel_title(by, value),
            plot,
            *([o for o in group if _value(o, by) == value] for group in (chosen, across)),
        )
        for value in values
    ]


def _choose(
    plot: Content, key: str, default: str | list[str], outcomes: Sequence[Outcome]
) -> list[Outcome]:
    found = select(outcomes, plot.get(key, default), plot.get("data"))
    return [outcome for outcome in found if not outcome.row.is_quoted]


def _value(outcome: Outcome, by: str) -> Any:
    return outcome.row.data if by == "data" else _params(outcome).get(by)


def _params(outcome: Outcome) -> dict[str, Any]:
    params: dict[str, Any] = (outcome.row.settings or {})["params"]
    return params


def _panel_title(by: str, value: Any) -> str:
    return value.replace("_fold{seed}", "") if by == "data" else _named(by, value)


def _named(parameter: str, value: Any) -> str:
    sign = SIGNS.get(parameter)
    return f"{sign}={value}" if sign else f"{WORDS.get(parameter, parameter)} {value}"


def _dress(axes: Any, panel: Panel) -> None:
    plot = panel.plot
    measured = [outcome for outcome in panel.outcomes if results_of(outcome)]
    axes.set_xlabel(WORDS.get(plot["x"], plot["x"]), fontsize=8)
    axes.set_ylabel(ERRORS[error_key(measured[0])] if measured else "", fontsize=8)
    axes.set_title(panel.title, fontsize=9)
    axes.tick_params(labelsize=8)
    if plot.get("log_x", plot["x"] in KINDS):
        _log_axis(axes)
    if plot["x"] not in KINDS:
        values = sorted({x for outcome in measured if (x := _number(outcome, plot["x"]))})
        axes.set_xticks(values, labels=[f"{value:g}" for value in values])
        axes.minorticks_off()
    if "y_max" in plot or plot.get("train"):
        axes.set_ylim(plot.get("y_min", 0), plot.get("y_max"))
    for level in plot.get("levels", []):
        axes.axhline(level, color="grey", linewidth=0.8, linestyle=":")
    axes.grid(alpha=0.3)


def _log_axis(axes: Any) -> None:
    """More ticks than decades where these are few; minor ticks never have a number."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high < 300 * low:
        steps = (1.0, 2.0, 5.0) if high < 30 * low else (1.0, 3.0)
        axes.xaxis.set_major_locator(LogLocator(subs=steps))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: short(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def short(value: float) -> str:
    """A tick's number: thousands as k, millions as M."""
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{sign}"
    return f"{value:g}"


def _legend(figure: Any, plot: Content) -> None:
    """One legend for all panels, beside them: it covers nothing."""
    from matplotlib.lines import Line2D

    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if plot.get("train"):
        found["train error"] = Line2D([], [], color="grey", linestyle="--")
    if "across" in plot:
        found[plot["across_label"]] = Line2D([], [], color="grey", linestyle=":")
    figure.legend(found.values(), found, loc="outside right upper", fontsize=7)


def _curves(axes: Any, panel: Panel, styles: Styles) -> int:
    n_lines = 0
    for outcome in panel.outcomes:
        label, plot = outcome.row.label, panel.plot
        found = [r["curve"] for r in results_of(outcome) if r.get("curve")]
        # Boosting may stop early: only rounds that all seeds have are averaged.
        n_points = min((len(c["trees"]) for c in found), default=0)
        if n_points == 0:
            _reserve(axes, panel, outcome, styles)
            continue
        x, style = _average(found, plot["x"], n_points), styles.line(label)
        axes.plot(x, _average(found, "test_error", n_points), label=label, **style)
        if plot.get("train"):
            train = _average(found, "train_error", n_points)
            axes.plot(x, train, **style | {"linestyle": "--"})
        n_lines += 1
    return n_lines


def _reserve(axes: Any, panel: Panel, outcome: Outcome, styles: Styles) -> None:
    """Name a row that is still to be measured, so that the colours stay when it is there."""
    if "rows" in panel.plot and not results_of(outcome):
        label = outcome.row.label
        axes.plot([], [], label=f"{label} (not measured)", **styles.line(label))


def _average(curves: list[dict[str, Any]], key: str, n_points: int) -> Any:
    return np.mean([curve[key][:n_points] for curve in curves], axis=0)


def _scatter(axes: Any, panel: Panel, styles: Styles) -> int:
    n_marks = 0
    for outcome in panel.outcomes:
        label, results = outcome.row.label, results_of(outcome)
        x = mean(results, MARKED[panel.plot["x"]]) if results else np.nan
        if np.isfinite(x):
            style = styles.mark(label, is_ours=outcome.row.is_ours)
            axes.plot(x, mean_error(outcome), label=label, **style)
            n_marks += 1
    return n_marks


def _lines(axes: Any, panel: Panel, styles: Styles) -> int:
    """Rows as points over one of their parameters."""
    plot = panel.plot
    groups: dict[str, list[tuple[float, Outcome]]] = defaultdict(list)
    for outcome in panel.outcomes:
        x = _number(outcome, plot["x"])
        if x is not None and results_of(outcome):
            groups[_rest(panel, outcome)].append((x, outcome))
    for rest, points in groups.items():
        points.sort(key=lambda point: point[0])
        x = [value for value, _ in points]
        for trees in plot.get("trees", [None]):
            label = _line_label(panel, rest, trees)
            style = styles.line(label)
            y = [_error(outcome, trees) for _, outcome in points]
            axes.plot(x, y, marker="o", markersize=3, label=label, **style)
            if plot.get("train") and trees is not None:
                y = [error_at(outcome, trees, "train_error") for _, outcome in points]
                axes.plot(x, y, **style | {"linestyle": "--"})
            for outcome in panel.across:
                axes.axhline(_error(outcome, trees), **style | {"linestyle": ":"})
    return len(groups)


def _line_label(panel: Panel, rest: str, trees: int | None) -> str:
    is_told = trees is None or panel.plot.get("panels") == "trees"
    return ", ".join(filter(None, [rest, "" if is_told else f"T={trees}"]))


def _error(outcome: Outcome, trees: int | None) -> float:
    return mean_error(outcome) if trees is None else error_at(outcome, trees)


def _number(outcome: Outcome, parameter: str) -> float | None:
    value = _params(outcome).get(parameter)
    return value if isinstance(value, int | float) else None


def _rest(panel: Panel, outcome: Outcome) -> str:
    """Values of the other parameters in which the plotted rows differ."""
    parts = []
    for key, value in _params(outcome).items():
        values = {repr(_params(other).get(key)) for other in panel.outcomes}
        if key != panel.plot["x"] and len(values) > 1:
            parts.append(_named(key, value))
    return ", ".join(parts)


KINDS: dict[str, Callable[[Any, Panel, Styles], int]] = {
    "trees": _curves,
    "seconds": _curves,
    "parameters": _scatter,
    "fit_seconds": _scatter,
}
