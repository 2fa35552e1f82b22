"""Where results and talk go: the only file of the command line that writes to the terminal."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO


@dataclass(frozen=True)
class Console:
    """Results on one stream, talk on another.

    Attributes
    ----------
    out, err : text streams
        Results, and everything else.
    is_quiet : bool
        Whether only results and errors are written.
    is_json : bool
        Whether results are for machines.
    """

    out: TextIO
    err: TextIO
    is_quiet: bool = False
    is_json: bool = False

    def result(self, text: str) -> None:
        """Write a line, or several, of the result."""
        self.out.write(text + "\n")

    def json(self, value: Any) -> None:
        """Write a result for machines; numbers that JSON does not know become null."""
        self.result(json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False))

    def answer(self, value: Any, text: str) -> None:
        """Write the result for machines or, if they did not ask, for people."""
        if self.is_json:
            self.json(value)
        else:
            self.result(text)

    def say(self, text: str, end: str = "\n") -> None:
        """Tell people what is going on."""
        if not self.is_quiet:
            self.err.write(text + end)
            self.err.flush()

    def complain(self, text: str) -> None:
        """Write an error; not even `--quiet` hides it."""
        self.err.write(f"spinney: error: {one_line(text)}\n")
        self.err.flush()

    @contextlib.contextmanager
    def only_talk(self) -> Iterator[None]:
        """Send what code inside writes to standard output to where talk goes."""
        with contextlib.redirect_stdout(self.err):
            yield


def one_line(text: str) -> str:
    """A message without line breaks."""
    return " ".join(text.split())


def standard_console(*, is_quiet: bool = False, is_json: bool = False) -> Console:
    """The console of a process, of its present streams; results are UTF-8 wherever they go."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")
    return Console(sys.stdout, sys.stderr, is_quiet, is_json)


def plain(value: Any) -> Any:
    """Values as JSON knows them; what it does not know becomes text, NaN becomes None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, float) and value - value != 0:  # NaN or infinite
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
