"""The cells of one table as a file of JSON lines, one cell a line, in the order of their labels.

A new cell takes its place in a copy of the file, which is then renamed over it. A run that is
killed so loses the cell under way and nothing else; two runs of one table wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Stamp = tuple[int, int, int]


class CellFile:
    """Cells by the digest of their settings, read again whenever another run has written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cells: dict[str, Cell] = {}
        self._stamp: Stamp | None = None

    def find(self, settings: Cell) -> Cell | None:
        """The cell of these settings, whatever its label; None if there is none."""
        return self._read().get(digest(settings))

    def put(self, cell: Cell) -> None:
        """Add a cell, or put it in the place of the one with the same settings."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(self.path.parent):
            cells = self._read() | {digest(cell["settings"]): cell}
            ordered = sorted(cells.items(), key=lambda item: (item[1]["label"], item[0]))
            write_text(self.path, "".join(json.dumps(cell) + "\n" for _, cell in ordered))

    def _read(self) -> dict[str, Cell]:
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._cells = {digest(cell["settings"]): cell for cell in read_cells(self.path)}
            self._stamp = stamp
        return self._cells


def read_cells(path: Path) -> list[Cell]:
    """All cells of a file; none if it is not there. Half a last line is passed over with a note."""
    if not path.exists():
        return []
    *lines, rest = path.read_text(encoding="utf-8").split("\n")
    if rest:
        print(f"{path}: the last line has no end and is passed over", file=sys.stderr)
    return [_parsed(path, number, line) for number, line in enumerate(lines, start=1)]


def _parsed(path: Path, number: int, line: str) -> Cell:
    try:
        cell: Cell = json.loads(line)
    except ValueError as error:
        raise ValueError(
            f"{path}, line {number}, is no cell: {line[:40]!r} ({error}); each line has to be a "
            f"JSON object; restore the file, or delete the line to measure its cell anew"
        ) from error
    return cell


def digest(settings: Cell) -> str:
    """What tells cells apart: equal for equal settings in any order of their keys."""
    text = json.dumps(settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def write_whole(path: Path, content: Any) -> None:
    """Write JSON and rename it into place: a run killed while writing leaves no half file."""
    write_text(path, json.dumps(content, indent=1))


def write_text(path: Path, text: str) -> None:
    """Write a text and rename it into place; it is on the disk before it gets its name."""
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _stamp(path: Path) -> Stamp | None:
    if not path.exists():
        return None
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Lock on a folder, not on a file that is about to be replaced; it ends with the process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
