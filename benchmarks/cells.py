"""Finished measurements on disk, one file a table, so that a stopped run can go on.

A cell is data x model x seed. It is found by a digest of all its settings: change a setting and
the cell is measured anew; change only the label and it is found again. Change our code and the
cell stays, but it is named as stale on the page until ``--force`` measures it anew. How cells lie
in the file is the matter of `cell_file.py`.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cell_file import CellFile
from environment import build_digest, load_average

Result = dict[str, Any]


@dataclass
class CellStore:
    """The cells of one table. `force` measures each cell anew once in this run."""

    path: Path
    force: bool = False
    run: str = field(default_factory=lambda: time.strftime("%Y%m%dT%H%M%S"))
    stale: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.file = CellFile(self.path)

    def get(self, label: str, settings: Result, compute: Callable[[], Result]) -> Result:
        """Result of the cell: read if it is there, else measured and saved at once."""
        saved = self.find(label, settings)
        if saved is not None:
            return saved
        print(f"[{time.strftime('%H:%M:%S')}] {label} ...", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        result = self.save(label, settings, compute())
        print(f"    {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
        return result

    def find(self, label: str, settings: Result) -> Result | None:
        """Result of the cell if it is on disk; None if it has to be measured."""
        cell = self.file.find(settings)
        if cell is None:
            return None
        result: Result = cell["result"]
        if self.force and result.get("run") != self.run:
            return None
        if settings.get("kind") == "spinney" and result.get("build") != build_digest():
            self.stale.append(label)
        return result

    def save(self, label: str, settings: Result, result: Result) -> Result:
        """Keep a new result, with the run, build and load it was measured in."""
        result = result | {
            "run": self.run,
            "build": build_digest(),
            "load_average": load_average(),
        }
        self.file.put({"label": label, "settings": settings, "result": result})
        return result

    def take_cautions(self) -> list[str]:
        """Notes on stale cells used since the last call."""
        stale, self.stale = set(self.stale), []
        if not stale:
            return []
        fits = sorted({re.sub(r"-s\d+$", "", label) for label in stale if "-search-" not in label})
        n_searches = sum("-search-" in label for label in stale)
        searches = f"; {n_searches} fits of searches" if n_searches else ""
        return [f"CAUTION: measured with another build of spinney: {', '.join(fits)}{searches}"]
