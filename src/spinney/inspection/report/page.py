"""One HTML file from the parts in `assets`, a document of names and numbers, and blocks of arrays.

Nothing that comes from data is ever markup: names and texts stand in a JSON block in which the
characters ``< > &`` are written as escapes, arrays in base64, and the program shows both as text
only. The page forbids the browser everything but its own program and style by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from spinney.inspection.report.blocks import Block

#: Parts of the program, in the order in which they stand in the page.
SCRIPTS = (
    "blocks.js",
    "document.js",
    "dom.js",
    "charts.js",
    "forest.js",
    "overview.js",
    "drawing.js",
    "node.js",
    "trees.js",
    "votes.js",
    "rows.js",
    "explorer.js",
)

#: Characters that could end a script block or a line of a script, as JSON escapes.
_ESCAPES = str.maketrans(
    {character: f"\\u{ord(character):04x}" for character in ("<", ">", "&", "\u2028", "\u2029")}
)


def page_parts(document: Mapping[str, Any], blocks: Mapping[str, Block]) -> Iterator[bytes]:
    """The page, part by part.

    Parameters
    ----------
    document : mapping
        Names, texts and numbers, as JSON can hold them.
    blocks : mapping of str to Block
        Arrays by the ids that the program asks for.
    """
    style, program = asset("explorer.css"), "\n".join(asset(name) for name in SCRIPTS)
    program = f'"use strict";\n(() => {{\n{program}\n}})();\n'
    head, tail = _template().split("{data}")
    head = head.replace("{policy}", _policy(style, program)).replace("{style}", style)
    yield head.encode()
    opening = '<script type="application/json" id="document">'
    yield f"{opening}{escaped_json(document)}</script>\n".encode()
    for name, block in blocks.items():
        opening = f'<script type="text/plain" id="{name}" data-arrays="{block.arrays}">'
        yield f"{opening}{block.text}</script>\n".encode()
    yield tail.replace("{program}", program).encode()


def escaped_json(value: object) -> str:
    """JSON that can stand in a script block; NaN and infinity become null."""
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")


def asset(name: str) -> str:
    """A part of the page."""
    return (files("spinney.inspection.report") / "assets" / name).read_text(encoding="utf-8")


def _template() -> str:
    return asset("page.html")


def _policy(style: str, program: str) -> str:
    """What the browser may do with this page: run and style it, and show pictures it draws."""
    return (
        f"default-src 'none'; script-src {_hash(program)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _finite(value: object) -> object:
    """The same value with None in place of numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
