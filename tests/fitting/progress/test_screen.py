"""A terminal's line is written over, a notebook's output replaced, a file gets plain lines."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import sys
import termios
import types
from itertools import pairwise
from typing import Any

import pytest

from spinney.fitting.progress import screen
from spinney.fitting.progress.screen import Lines, Notebook, Terminal, is_notebook, screen_for


class FakeTerminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(screen, "time", clock)
    return clock


def test_a_stream_says_what_is_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(screen_for(FakeTerminal()), Terminal)
    assert isinstance(screen_for(io.StringIO()), Lines)
    closed = FakeTerminal()
    closed.close()
    closed.isatty = io.StringIO.isatty.__get__(closed)  # type: ignore[method-assign]
    assert isinstance(screen_for(closed), Lines)
    assert isinstance(screen_for(types.SimpleNamespace(write=None)), Lines)  # type: ignore[arg-type]
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(screen_for(FakeTerminal()), Lines)


def test_a_terminal_is_written_over(clock: Clock) -> None:
    stream = FakeTerminal()
    terminal = Terminal(stream)
    assert terminal.is_due()
    terminal.show("a longer text")
    assert not terminal.is_due()
    clock.now += 0.2
    assert terminal.is_due()
    terminal.show("short")
    terminal.finish("the end")
    assert stream.getvalue() == "\ra longer text\rshort        \rthe end\n"


def test_a_terminal_says_how_wide_it_is() -> None:
    parent, child = pty.openpty()
    try:
        with os.fdopen(child, "w") as stream:
            for columns, room in ((60, 59), (0, 79)):
                size = struct.pack("HHHH", 24, columns, 0, 0)
                fcntl.ioctl(stream.fileno(), termios.TIOCSWINSZ, size)
                assert Terminal(stream).n_columns == room
    finally:
        os.close(parent)
    assert Terminal(FakeTerminal()).n_columns == 79


def test_blocks_are_shown_where_they_can_be_written() -> None:
    stream = FakeTerminal()
    assert Terminal(stream).has_blocks
    for encoding in ("ascii", "latin-1", None, "no such encoding"):
        stream.encoding = encoding
        assert not Terminal(stream).has_blocks


def test_lines_come_ever_more_rarely(clock: Clock) -> None:
    stream = io.StringIO()
    lines = Lines(stream)
    for number in range(100_000):  # ten hours
        clock.now += 0.36
        if lines.is_due():
            lines.show(str(number))
    lines.finish("done")
    written = [int(line) for line in stream.getvalue().splitlines()[:-1]]
    assert 50 < len(written) < 150
    gaps = [second - first for first, second in pairwise(written)]
    assert gaps == sorted(gaps)
    assert gaps[0] * 0.36 >= 2
    assert stream.getvalue().endswith("\ndone\n")


@pytest.mark.parametrize("error", [BrokenPipeError, ValueError, OSError])
def test_a_stream_that_takes_nothing_ends_nothing(error: type[Exception]) -> None:
    class Broken(FakeTerminal):
        def write(self, text: str) -> int:
            del text
            raise error("gone")

    for kind in (Terminal, Lines):
        kind(Broken()).finish("text")


class Handle:
    def __init__(self, shown: list[Any]) -> None:
        self._shown = shown

    def update(self, content: Any, raw: bool) -> None:
        assert raw
        self._shown[-1] = content


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Outputs of the cell of a notebook that is none."""
    outputs: list[Any] = []

    def display(content: Any, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        outputs.append(content)
        return Handle(outputs)

    fake, inner = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    shell = types.SimpleNamespace(kernel=object())
    fake.get_ipython = lambda: shell  # type: ignore[attr-defined]
    inner.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    return outputs


def test_the_output_of_a_cell_is_replaced(shown: list[Any], clock: Clock) -> None:
    assert is_notebook()
    notebook = screen_for(FakeTerminal())
    assert isinstance(notebook, Notebook)
    assert notebook.is_due()
    notebook.show("one")
    assert not notebook.is_due()
    assert shown == [{"text/plain": "one"}]
    clock.now += 1
    assert notebook.is_due()
    notebook.show("two")
    assert shown == [{"text/plain": "two"}]
    notebook.finish("three")
    assert shown == [{"text/plain": "three"}]


def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("IPython")
    for shell in (None, types.SimpleNamespace()):
        fake.get_ipython = lambda shell=shell: shell  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", fake)
        assert not is_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not is_notebook()
