"""Where a bar is shown: a terminal, a notebook, or a file that somebody reads later.

Each says when it is time for another text, so that texts need not be made which nobody sees.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Protocol, TextIO

#: Seconds between two writes to a terminal or a notebook, at least.
LIVE_PAUSE = 0.1

#: Seconds between two lines in a file, at least, and as a share of the time so far: a fit of ten
#: hours writes about a hundred lines.
FILE_PAUSE = 2.0
FILE_SHARE = 0.1

#: Columns of a terminal that does not tell.
COLUMNS = 80


class Screen(Protocol):
    """Shows a text in place of the last one."""

    @property
    def n_columns(self) -> int:
        """Characters that fit."""

    @property
    def has_blocks(self) -> bool:
        """Whether block characters can be shown."""

    def is_due(self) -> bool:
        """Whether enough time has passed since the last text."""

    def show(self, text: str) -> None:
        """Show a text."""

    def finish(self, text: str) -> None:
        """Show the last text, and leave it there."""


def screen_for(stream: TextIO) -> Screen:
    """The screen that is behind a stream."""
    if is_notebook():
        return Notebook()
    if is_terminal(stream):
        return Terminal(stream)
    return Lines(stream)


def is_terminal(stream: TextIO) -> bool:
    """Whether a line on the stream can be written over."""
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):  # no real file, or a closed one
        return False


def is_notebook() -> bool:
    """Whether the code runs in a kernel whose front end shows updating displays."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Terminal:
    """One line, which is written over."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._n_written = 0
        self._last = -LIVE_PAUSE

    @property
    def n_columns(self) -> int:
        """One less than the terminal has: a full line would be wrapped."""
        try:
            n_columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError, AttributeError):
            n_columns = 0
        return (n_columns or COLUMNS) - 1  # some terminals say 0

    @property
    def has_blocks(self) -> bool:
        """Whether the stream can encode them."""
        return _can_encode(self._stream)

    def is_due(self) -> bool:
        """Ten times a second at most."""
        return time.monotonic() - self._last >= LIVE_PAUSE

    def show(self, text: str) -> None:
        """Write over the last text."""
        self._last = time.monotonic()
        self._write(text)

    def finish(self, text: str) -> None:
        """Write over the last text, and go to the next line."""
        self._write(text, end="\n")

    def _write(self, text: str, end: str = "") -> None:
        # Blanks in place of an escape sequence: every terminal knows them.
        rest = " " * (min(self._n_written, self.n_columns) - len(text))
        _write(self._stream, f"\r{text}{rest}{end}")
        self._n_written = len(text)


class Notebook:
    """An output of the present cell, which is replaced."""

    n_columns = 160
    has_blocks = True

    def __init__(self) -> None:
        self._handle: Any = None
        self._last = -LIVE_PAUSE

    def is_due(self) -> bool:
        """Ten times a second at most."""
        return time.monotonic() - self._last >= LIVE_PAUSE

    def show(self, text: str) -> None:
        """Replace the output."""
        self._last = time.monotonic()
        self._put(text)

    def finish(self, text: str) -> None:
        """Replace the output for the last time."""
        self._put(text)

    def _put(self, text: str) -> None:
        content = {"text/plain": text}
        if self._handle is None:
            from IPython.display import display

            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


class Lines:
    """Plain lines, for files and pipes: the longer the fit the rarer, and one at the end."""

    n_columns = 1000
    has_blocks = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._began = self._last = time.monotonic()

    def is_due(self) -> bool:
        """The more rarely the longer it takes."""
        now = time.monotonic()
        return now - self._last >= max(FILE_PAUSE, FILE_SHARE * (now - self._began))

    def show(self, text: str) -> None:
        """Add a line."""
        self._last = time.monotonic()
        self.finish(text)

    def finish(self, text: str) -> None:
        """Add a line."""
        _write(self._stream, f"{text}\n")


def write_line(stream: TextIO, text: str) -> None:
    """Write a line of its own."""
    _write(stream, f"{text}\n")


def _write(stream: TextIO, text: str) -> None:
    """Write at once; a stream that takes nothing any more must not end a fit."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # a broken pipe, a full disk, a closed file
        return


def _can_encode(stream: TextIO) -> bool:
    try:
        "█░".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
