"""Writes the trace of a run while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from spinney.algorithms.trace import Trace

Callback: TypeAlias = Callable[[Trace], None]


class Recorder:
    """The trace of a run, its clock, and who is told of each entry.

    Parameters
    ----------
    callback : callable or None
        Called with the trace after each entry. What it raises ends the run.
    earlier : Trace, optional
        What an earlier run recorded; its entries stay, and its seconds count.
    """

    def __init__(self, callback: Callback | None, earlier: Trace | None = None) -> None:
        self.trace = Trace() if earlier is None else earlier.copied()
        self._callback = callback
        self._began = time.perf_counter() - (0.0 if earlier is None else earlier.seconds[-1])

    def record(self, loss: float, penalty: float, n_active: int, phase: str) -> float:
        """Add an entry, and return its objective."""
        objective = float(loss + penalty)
        seconds = time.perf_counter() - self._began
        self.trace.record(objective, loss, n_active, seconds, phase)
        self.tell()
        return objective

    def tell(self) -> None:
        """Call the callback within a long step, so that it can end the run there."""
        if self._callback is not None:
            self._callback(self.trace)
