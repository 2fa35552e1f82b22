"""What was measured, fold by fold, and the table that is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any

from spinney.cli.contestants import title_of
from spinney.cli.layout import align, bytes_text
from spinney.cli.target import CLASSIFICATION
from spinney.data.wording import counted, listed


@dataclass(frozen=True)
class Cell:
    """One model on one fold."""

    error: float
    fit_seconds: float
    fit_cpu_seconds: float
    microseconds_a_row: float
    n_bytes: int


@dataclass
class Leaderboard:
    """Cells of each model, and why some are missing.

    Attributes
    ----------
    task : str
    n_folds : int
        Folds that were asked for.
    cells : dict of str to dict of int to Cell
        By model and fold, from 0.
    failures : dict of str to str
        What went wrong with a model.
    """

    task: str
    n_folds: int
    cells: dict[str, dict[int, Cell]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """What error means here."""
        return "error" if self.task == CLASSIFICATION else "rmse"

    @property
    def ranked(self) -> list[str]:
        """Models that take part in the ranking: measured, and without a failure."""
        return [name for name in self.cells if name not in self.failures]

    @property
    def common_folds(self) -> list[int]:
        """Folds that all ranked models have finished: errors on other rows are no comparison."""
        finished = [self.cells[name].keys() for name in self.ranked]
        return [fold for fold in range(self.n_folds) if all(fold in of for of in finished)]

    def add(self, name: str, fold: int, cell: Cell) -> None:
        """Note a fold of a model."""
        self.cells.setdefault(name, {})[fold] = cell

    def expected_seconds(self, name: str) -> float:
        """How long a fit of a model may take: as its slowest so far, or as the slowest of all."""
        own = self.cells.get(name)
        known = [own] if own else self.cells.values()
        return max((cell.fit_seconds for of in known for cell in of.values()), default=0.0)

    def rows(self) -> list[dict[str, Any]]:
        """One entry a model, best first."""
        folds = self.common_folds
        compared = {name: [self.cells[name][fold] for fold in folds] for name in self.ranked}
        found = [self._row(name, cells) for name, cells in compared.items()]
        return sorted(found, key=lambda row: float(row[self.measure]))

    def _row(self, name: str, cells: list[Cell]) -> dict[str, Any]:
        """Means over the folds that are compared, and how many the model has finished in all."""
        errors = [cell.error for cell in cells]
        return {
            "name": name,
            "model": title_of(name, self.task),
            self.measure: mean(errors),
            "deviation": stdev(errors) if len(errors) > 1 else None,
            "folds": len(self.cells[name]),
            "bytes": round(mean(cell.n_bytes for cell in cells)),
            "fit_seconds": mean(cell.fit_seconds for cell in cells),
            "fit_cpu_seconds": mean(cell.fit_cpu_seconds for cell in cells),
            "microseconds_a_row": mean(cell.microseconds_a_row for cell in cells),
        }

    def to_json(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "task": self.task,
            "measure": self.measure,
            "folds": self.n_folds,
            "compared_folds": [fold + 1 for fold in self.common_folds] if self.ranked else [],
            "leaderboard": self.rows(),
            "failures": self.failures,
        }

    def to_text(self) -> str:
        """The table, for people."""
        lines = [self._table(), self._said_of_folds()] if self.ranked else ["nothing was measured"]
        models: dict[str, list[str]] = {}
        for name, failure in self.failures.items():
            models.setdefault(failure, []).append(title_of(name, self.task))
        lines += [f"{listed(titles)} failed: {failure}" for failure, titles in models.items()]
        return "\n".join(line for line in lines if line)

    def _table(self) -> str:
        rows = self.rows()
        is_short = any(row["folds"] < self.n_folds for row in rows)
        error = "error %" if self.task == CLASSIFICATION else "RMSE"
        header = ["", "model", error, "size", "fit s", "CPU s", "predict µs/row"]
        lines = [
            [
                f"{place}",
                row["model"],
                self.error_text(row[self.measure], row["deviation"]),
                bytes_text(row["bytes"]),
                f"{row['fit_seconds']:.2f}",
                f"{row['fit_cpu_seconds']:.2f}",
                f"{row['microseconds_a_row']:.3g}",
            ]
            for place, row in enumerate(rows, start=1)
        ]
        if is_short:
            header.append("folds")
            for line, row in zip(lines, rows, strict=True):
                line.append(f"{row['folds']} of {self.n_folds}")
        return align(header, lines, left=2)

    def _said_of_folds(self) -> str:
        """What the ranking leaves out, if models have finished different folds."""
        compared, rows = self.common_folds, self.rows()
        if all(row["folds"] == len(compared) for row in rows):
            return ""
        fewer = [row["model"] for row in rows if row["folds"] < max(of["folds"] for of in rows)]
        return (
            f"ranked on {counted(len(compared), 'fold')} that all have finished; fewer than the "
            f"others: {listed(fewer)}; for all {self.n_folds}: more --budget, or fewer --models"
        )

    def error_text(self, error: float, deviation: float | None = None) -> str:
        """An error with its deviation over folds."""
        if self.task == CLASSIFICATION:
            spread = "" if deviation is None else f" ± {100 * deviation:.2f}"
            return f"{100 * error:.2f}{spread}"
        return f"{error:.4g}" + ("" if deviation is None else f" ± {deviation:.2g}")
