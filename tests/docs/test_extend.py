"""The worked examples in C++ are those that the C++ tests run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTED = (ROOT / "cpp" / "tests" / "test_extend.cpp").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["split", "loss", "leaf"])
def test_the_page_shows_what_is_tested(name: str) -> None:
    page = (ROOT / "docs" / "extend" / f"{name}.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```cpp\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    [tested] = re.findall(
        rf"^// \[{name}\]\n(.*?)^// \[end of {name}\]", TESTED, re.MULTILINE | re.DOTALL
    )
    assert shown == tested


@pytest.mark.parametrize("name", ["split", "loss", "leaf"])
def test_names_that_the_page_sends_people_to_are_in_the_code(name: str) -> None:
    page = (ROOT / "docs" / "extend" / f"{name}.md").read_text(encoding="utf-8")
    named = re.findall(
        r"`(?:\w+::)?(\w+)`(?:,? \w+)? (?:in|of) `((?:src|cpp|bindings|tests)/[\w/.]+)`", page
    )
    assert len(named) >= 2
    missing = [
        (symbol, file)
        for symbol, file in named
        if symbol not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert missing == []
