"""Finished measurements on disk, one JSON file a cell, so that a stopped run can go on.

A cell is data x model x seed. Its file name carries a digest of all its settings: change a
setting and the cell is measured anew. Change our code and the cell stays, but it is named as
stale on the page until ``--force`` measures it anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environment import build_digest, load_average

Result = dict[str, Any]


@dataclass
class CellStore:
    """Folder of cells. `force` measures each cell anew once in this run."""

    folder: Path
    force: bool = False
    run: str = field(default_factory=lambda: time.strftime("%Y%m%dT%H%M%S"))
    stale: list[str] = field(default_factory=list)

    def get(self, label: str, settings: Result, compute: Callable[[], Result]) -> Result:
        """Result of the cell: read if it is there, else measured and saved at once."""
        path = self.folder / f"{label}-{_digest(settings)}.json"
        saved = self._read(path)
        if saved is not None:
            if settings.get("kind") == "spinney" and saved.get("build") != build_digest():
                self.stale.append(label)
            return saved
        print(f"[{time.strftime('%H:%M:%S')}] {label} ...", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        result = compute() | {
            "run": self.run,
            "build": build_digest(),
            "load_average": load_average(),
        }
        self._write(path, {"label": label, "settings": settings, "result": result})
        print(f"    {time.perf_counter() - begin:.1f} s", file=sys.stderr, flush=True)
        return result

    def take_cautions(self) -> list[str]:
        """Notes on stale cells used since the last call."""
        stale, self.stale = sorted(set(self.stale)), []
        if not stale:
            return []
        return [f"CAUTION: measured with another build of spinney: {', '.join(stale)}"]

    def _read(self, path: Path) -> Result | None:
        if not path.is_file():
            return None
        result: Result = json.loads(path.read_text())["result"]
        if self.force and result.get("run") != self.run:
            return None
        return result

    def _write(self, path: Path, content: Result) -> None:
        # Renamed into place: a run killed while writing leaves no half file.
        self.folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(content, indent=1))
        part.replace(path)


def _digest(settings: Result) -> str:
    text = json.dumps(settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
