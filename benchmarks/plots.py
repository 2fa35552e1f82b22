"""Plots of a table, each declared in its TOML file and drawn as a small PNG.

``x = "trees"`` or ``"seconds"`` draws the curves of single fits (mean over the seeds), test error
solid and, with ``train = true``, train error dashed. ``x = "parameters"`` marks each row once. Any
other `x` is a parameter of the rows: rows that differ in nothing but `x` make a line, and
``trees = [1, 10, 30]`` draws a line for so many first trees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench import mean
from runner import Outcome
from table import Content, Table
from verdicts import error_at, mean_error, results_of, select

WORDS = {
    "trees": "number of trees",
    "seconds": "training time, seconds",
    "parameters": "number of parameters",
}


def draw_all(folder: Path, table: Table, outcomes: Sequence[Outcome]) -> list[Path]:
    """Draw the plots that have something to show; their paths."""
    if not table.plots:
        return []
    import matplotlib as mpl

    mpl.use("Agg")
    drawn = [_draw(folder, table.name, plot, outcomes) for plot in table.plots]
    return [path for path in drawn if path is not None]


def _draw(folder: Path, name: str, plot: Content, outcomes: Sequence[Outcome]) -> Path | None:
    import matplotlib.pyplot as plt

    data = plot.get("data")
    chosen = [o for o in select(outcomes, plot.get("rows", "*"), data) if results_of(o)]
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    kinds = {"trees": _curves, "seconds": _curves, "parameters": _scatter}
    n_lines = kinds.get(plot["x"], _lines)(axes, plot, chosen)
    path = folder / f"{name}-{plot['name']}.png"
    if n_lines:
        _dress(axes, plot, n_lines)
        figure.savefig(path, dpi=80)
    plt.close(figure)
    return path if n_lines else None


def _dress(axes: Any, plot: Content, n_lines: int) -> None:
    axes.set_xlabel(WORDS.get(plot["x"], plot["x"]))
    axes.set_ylabel("error, %")
    axes.set_title(plot.get("title", ""), fontsize=10)
    if plot.get("log_x", plot["x"] in WORDS):
        axes.set_xscale("log")
    if "y_max" in plot:
        axes.set_ylim(plot.get("y_min", 0), plot["y_max"])
    for level in plot.get("levels", []):
        axes.axhline(level, color="grey", linewidth=0.8, linestyle=":")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6, ncols=2 if n_lines > 8 else 1)


def _curves(axes: Any, plot: Content, outcomes: Sequence[Outcome]) -> int:
    n_lines = 0
    for outcome in outcomes:
        found = [r["curve"] for r in results_of(outcome) if r.get("curve")]
        # Boosting may stop early: only rounds that all seeds have are averaged.
        n_points = min((len(c["trees"]) for c in found), default=0)
        if n_points == 0:
            continue
        x = _average(found, plot["x"], n_points)
        (line,) = axes.plot(x, _average(found, "test_error", n_points), label=outcome.row.label)
        if plot.get("train"):
            axes.plot(x, _average(found, "train_error", n_points), "--", color=line.get_color())
        n_lines += 1
    return n_lines


def _average(curves: list[dict[str, Any]], key: str, n_points: int) -> Any:
    return np.mean([curve[key][:n_points] for curve in curves], axis=0)


def _scatter(axes: Any, _plot: Content, outcomes: Sequence[Outcome]) -> int:
    n_marks = 0
    for outcome in outcomes:
        x = mean(results_of(outcome), "n_parameters")
        if np.isfinite(x):
            marker = "o" if outcome.row.is_ours else "x"
            axes.plot(x, mean_error(outcome), marker, label=outcome.row.label)
            n_marks += 1
    return n_marks


def _lines(axes: Any, plot: Content, outcomes: Sequence[Outcome]) -> int:
    """Rows as points over one of their parameters."""
    groups: dict[str, list[tuple[float, Outcome]]] = defaultdict(list)
    for outcome in outcomes:
        params = (outcome.row.settings or {})["params"]
        if isinstance(params.get(plot["x"]), int | float):
            groups[_rest(params, plot, outcomes)].append((params[plot["x"]], outcome))
    counts = plot.get("trees", [None])
    for rest, points in groups.items():
        points.sort(key=lambda point: point[0])
        for trees in counts:
            y = [mean_error(o) if trees is None else error_at(o, trees) for _, o in points]
            label = ", ".join(filter(None, [rest, f"T={trees}" if trees else ""]))
            (line,) = axes.plot([x for x, _ in points], y, "o-", markersize=3, label=label)
            if plot.get("train") and trees is not None:
                y = [error_at(o, trees, "train_error") for _, o in points]
                axes.plot([x for x, _ in points], y, "--", color=line.get_color())
    return len(groups) * len(counts)


def _rest(params: dict[str, Any], plot: Content, outcomes: Sequence[Outcome]) -> str:
    """Values of the other parameters in which the plotted rows differ."""
    parts = []
    for key, value in params.items():
        values = {repr((o.row.settings or {})["params"].get(key)) for o in outcomes}
        if key != plot["x"] and len(values) > 1:
            parts.append(f"{key}={value}")
    return ", ".join(parts)
