"""Put a spy in the place of a function, wherever the library has imported it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest


def replace_everywhere(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], spy: Callable[..., Any]
) -> None:
    """Every module of the library that holds the function holds the spy, until the test ends."""
    holders = [
        (module, name)
        for path, module in list(sys.modules.items())
        if path.partition(".")[0] == "spinney"
        for name, value in list(vars(module).items())
        if value is function
    ]
    assert holders, f"{function.__name__} is imported nowhere"
    for module, name in holders:
        monkeypatch.setattr(module, name, spy)
