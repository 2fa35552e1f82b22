"""The Python blocks of a Markdown page, as a reader would run them: one after the other.

Comments, which readers do not see, say what a block needs besides:

- ``<!-- setup ... -->``: code that is run where the comment stands.
- ``<!-- needs: onnx, onnxruntime -->``: the next block is left out if one of them is missing.
- ``<!-- not run: reason -->``: the next block is left out.

A ``text`` block right after a Python block is what that must print.
"""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

PARTS = re.compile(
    r"<!-- setup\n(?P<setup>.*?)-->"
    r"|<!-- needs: (?P<needs>[\w, ]+) -->"
    r"|<!-- not run: (?P<reason>.*?) -->"
    r"|^```python\n(?P<code>.*?)^```\n(?:\s*^```text\n(?P<printed>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """Code, the line it begins at, and what it should print (None: anything)."""

    code: str
    line: int
    printed: str | None


def blocks_of(text: str) -> Iterator[Block]:
    """Blocks to run, in order; those that cannot be run here are left out."""
    is_left_out = False
    for part in PARTS.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        if part["needs"]:
            packages = re.split(r"[ ,]+", part["needs"].strip())
            is_left_out = not all(map(importlib.util.find_spec, packages))
        elif part["reason"]:
            is_left_out = True
        elif part["setup"]:
            yield Block(part["setup"], line, None)
        else:
            if not is_left_out:
                yield Block(part["code"], line, part["printed"])
            is_left_out = False


def run(page: Path) -> int:
    """Run all blocks of a page in one namespace; return how many there were."""
    names: dict[str, object] = {"__name__": "page"}
    blocks = list(blocks_of(page.read_text(encoding="utf-8")))
    for block in blocks:
        # Empty lines before the code, so that a traceback has the line of the page.
        code = compile("\n" * block.line + block.code, str(page), "exec")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(code, names)
        if block.printed is not None:
            assert printed.getvalue().rstrip() == block.printed.rstrip(), f"line {block.line}"
    return len(blocks)
