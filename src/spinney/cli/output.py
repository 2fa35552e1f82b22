"""Files that commands write: whole or not at all, checked before the work starts."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from spinney.cli.console import Console
from spinney.cli.errors import CommandError
from spinney.storage.atomic import replace_file

STANDARD_OUTPUT = "-"


def check_output(path: str) -> None:
    """Raise if a file cannot be written there, before hours of work are lost."""
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if target.exists() and not target.is_file():  # a device would be replaced, not written to
        raise CommandError(f"{path} is no regular file; - stands for standard output")
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(folder))
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def write_output(path: str, data: bytes, console: Console) -> None:
    """Put `data` at `path`, in place of what was there."""
    was_there = Path(path).exists()
    replace_file(path, [data])
    say_written(path, was_there, console)


def write_with(path: str, write: Callable[[Path], None], suffix: str, console: Console) -> None:
    """Let a function write a file of its own, and put that at `path` when it is whole."""
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        draft = Path(folder) / f"draft{suffix}"
        write(draft)
        data = draft.read_bytes()
    write_output(path, data, console)


def say_written(path: str, was_there: bool, console: Console) -> None:
    """Say that a file is there, and whether it replaced another."""
    console.say(f"{'replaced' if was_there else 'wrote'} {path}")
