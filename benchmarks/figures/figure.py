"""The value a figure function gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bench import same_run
from cells import Result


@dataclass
class Figure:
    """One row of the target table, with the measurements behind it."""

    what: str
    target: str
    value: str
    passed: bool | None
    models: dict[str, list[Result]] = field(default_factory=dict)
    table: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run_note(*groups: list[Result]) -> list[str]:
    """Load while the compared seconds were measured, and a caution if not in one run."""
    loads = [result.get("load_average") or 0.0 for group in groups for result in group]
    notes = [f"highest load average after these fits: {max(loads)}"]
    if not same_run(*groups):
        notes.append("CAUTION: the seconds come from different runs")
    return notes
