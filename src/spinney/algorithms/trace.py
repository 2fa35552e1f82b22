"""The record of an optimisation, one entry a sweep or a step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Trace:
    """Objective, loss, active splits and time after each sweep of TAO or step of FAO.

    The first entry is the start, before any sweep, with phase "start". Where the last entry is
    of the tree that is returned, its objective counts the nodes that are left after pruning.

    Attributes
    ----------
    objective : list of float
        Weighted loss plus penalties.
    loss : list of float
        Weighted loss alone.
    n_active : list of int
        Splits whose weights are not all zero.
    seconds : list of float
        Wall time since the start of the optimisation.
    phase : list of str
        What the entry comes after. Of one tree: "start", "explore" (a sweep that accepts every
        solution) or "settle" (a guarded one). Of a forest: "start", "tree" (a sweep over one of
        its trees), "leaves" (the step over all leaves) or "average" (of the last splits).
    """

    objective: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    n_active: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    phase: list[str] = field(default_factory=list)

    def record(
        self, objective: float, loss: float, n_active: int, seconds: float, phase: str
    ) -> None:
        """Append one sweep."""
        self.objective.append(objective)
        self.loss.append(loss)
        self.n_active.append(n_active)
        self.seconds.append(seconds)
        self.phase.append(phase)

    def joined(self, later: Trace) -> Trace:
        """Trace of two optimisations one after the other; the second's start is left out."""
        offset = self.seconds[-1] if self.seconds else 0.0
        return Trace(
            self.objective + later.objective[1:],
            self.loss + later.loss[1:],
            self.n_active + later.n_active[1:],
            self.seconds + [offset + seconds for seconds in later.seconds[1:]],
            self.phase + later.phase[1:],
        )

    def copied(self) -> Trace:
        """A trace that does not grow with this one."""
        return self._picked(range(len(self.phase)))

    def until(self, entry: int) -> Trace:
        """The trace as it was after an entry, 0 being the start."""
        return self._picked(range(len(self.phase))[: entry + 1])

    def at(self, phase: str) -> Trace:
        """The start and the entries of one phase."""
        return self._picked(
            number for number, of in enumerate(self.phase) if of in ("start", phase)
        )

    def _picked(self, entries: Iterable[int]) -> Trace:
        """A trace of these entries alone."""
        kept = list(entries)
        columns: dict[str, Any] = self.as_dict()
        return Trace(
            **{name: [column[number] for number in kept] for name, column in columns.items()}
        )

    def as_dict(self) -> dict[str, list[float] | list[int] | list[str]]:
        """Columns by name, ready for a data frame."""
        return {
            "objective": self.objective,
            "loss": self.loss,
            "n_active": self.n_active,
            "seconds": self.seconds,
            "phase": self.phase,
        }

    def __len__(self) -> int:
        """Sweeps recorded, the start not counted."""
        return max(len(self.objective) - 1, 0)
