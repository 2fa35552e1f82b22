"""Figures as JSON and as a Markdown page; figures of earlier runs stay on the page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import column, mean
from figures import FIGURES, Figure
from markdown_parts import measured_with, show, spread, table

MEASURED = {
    "test error %": "test_error",
    "objective": "objective",
    "parameters": "n_parameters",
    "leaves": "n_leaves",
    "fit s": "wall_seconds",
    "cpu s": "cpu_seconds",
    "rows/s": "rows_per_second",
}


def save(folder: Path, name: str, figure: Figure, environment: dict[str, Any]) -> None:
    """Add one figure to ``tao_tree.json`` and write the page anew."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tao_tree.json"
    saved = json.loads(path.read_text()) if path.is_file() else {}
    saved[name] = asdict(figure) | {"environment": environment}
    ordered = {key: saved[key] for key in FIGURES if key in saved}
    path.write_text(json.dumps(ordered, indent=1))
    (folder / "tao_tree.md").write_text(page(ordered))


def page(figures: dict[str, dict[str, Any]]) -> str:
    """Markdown page: the target table, then each figure with its models."""
    lines = ["# TAO tree: measured figures", ""]
    lines += table(
        ["figure", "what", "target", "measured", "met"],
        ([name, f["what"], f["target"], f["value"], _met(f)] for name, f in figures.items()),
    )
    for name, figure in figures.items():
        lines += ["", f"## {name}", "", f"{figure['what']}: **{figure['value']}**", ""]
        if figure["models"]:
            lines += [*model_table(figure["models"]), ""]
        if figure["table"]:
            lines += [*plain_table(figure["table"]), ""]
        lines += [f"- {note}" for note in figure["notes"]]
        lines += [f"- {measured_with(figure['environment'])}"]
    return "\n".join(lines) + "\n"


def model_table(models: dict[str, list[dict[str, Any]]]) -> list[str]:
    """One row a model: mean ± deviation of the error, means of the rest, ratio of seconds."""
    first = next(iter(models.values()))
    rows = []
    for name, results in models.items():
        ratio = mean(results, "wall_seconds") / mean(first, "wall_seconds")
        cells = [show(mean(results, key)) for key in MEASURED.values()]
        cells[0] = spread(column(results, "test_error"))
        rows.append([name, *cells, f"{ratio:.2f}x", str(len(results))])
    return table(["model", *MEASURED, "fit s / first", "seeds"], rows)


def plain_table(rows: list[dict[str, Any]]) -> list[str]:
    """Dictionaries with the same keys as a Markdown table."""
    return table(list(rows[0]), ([show(value) for value in row.values()] for row in rows))


def _met(figure: dict[str, Any]) -> str:
    return {True: "yes", False: "**no**", None: "–"}[figure["passed"]]
