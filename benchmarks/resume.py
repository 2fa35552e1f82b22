"""Fits that take hours: the library's checkpoint, and the seconds of all runs it took.

A row with ``resume = "NAME"`` keeps its fit in a file of that name, so that a run that was stopped
goes on within the fit. Rows that differ only in the number of forests or trees may share a name if
the larger is measured after the smaller: it only adds what is missing.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from prepared import cache_folder

SECONDS_BETWEEN_NOTES = 10.0


class ResumedFit:
    """A fit with a checkpoint. `wall_seconds` and `cpu_seconds` count the runs before as well.

    A run that is killed loses what it took since the last note, as it loses the work since the
    last checkpoint.
    """

    def __init__(self, name: str, seed: int) -> None:
        folder = cache_folder() / "checkpoints"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}-s{seed}.checkpoint"
        self._notes = self.path.with_suffix(".seconds.json")
        self._before = json.loads(self._notes.read_text()) if self._is_begun() else {}

    def _is_begun(self) -> bool:
        return self.path.exists() and self._notes.exists()

    def fit(self, estimator: Any, X: Any, y: Any) -> None:
        """Fit to the end, from where an earlier run stopped."""
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        over = threading.Event()
        notes = threading.Thread(target=self._note_until, args=(over,), daemon=True)
        notes.start()
        try:
            estimator.fit(X, y, checkpoint=self.path)
        finally:
            over.set()
            notes.join()
            self._note()

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of all runs so far."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return {
            "wall_seconds": self._before.get("wall_seconds", 0.0) + wall,
            "cpu_seconds": self._before.get("cpu_seconds", 0.0) + cpu,
        }

    def _note_until(self, over: threading.Event) -> None:
        while not over.wait(SECONDS_BETWEEN_NOTES):
            self._note()

    def _note(self) -> None:
        new = self._notes.with_suffix(".new")
        new.write_text(json.dumps(self.seconds))
        new.replace(self._notes)
