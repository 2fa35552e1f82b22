"""Numbers and names as C writes them; names may hold anything and break out of nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\?*/')
"""Bytes that mean themselves in strings and comments. A question mark may begin a trigraph."""


def escape(text: str) -> str:
    """`text` for a string or a comment, other bytes than plain ones in octal."""
    coded = text.encode("utf-8", "backslashreplace")
    return "".join(chr(byte) if byte in PLAIN else f"\\{byte:03o}" for byte in coded)


def string(text: str) -> str:
    """`text` as a string literal."""
    return f'"{escape(text)}"'


def check_name(name: object) -> str:
    """`name` if it can begin the names of a C program, else an error."""
    if not isinstance(name, str):
        raise TypeError(
            f'name={name!r} is of type {type(name).__name__}; give a string; try name="model".'
        )
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name):
        raise ValueError(
            f"name={name!r} cannot begin names in C; give a letter, then up to 30 letters, digits "
            'and underscores; try name="model".'
        )
    return name


def numbers(values: NDArray[np.generic]) -> Iterable[str]:
    """Literals that read back as the same values."""
    if values.dtype == np.float32:
        return [_short(value) for value in values.ravel().tolist()]
    if values.dtype == np.float64:
        return [_decimal(value, 17) for value in values.ravel().tolist()]
    return [str(value) for value in values.ravel().tolist()]


def _short(value: float) -> str:
    """A float32; infinite ones are limits that no sum of finite rows crosses."""
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return _decimal(value, 9) + "f"


def _decimal(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    return text if "." in text or "e" in text else text + ".0"


def smallest_type(largest: int, *, is_signed: bool) -> np.dtype[Any]:
    """Narrowest whole numbers that hold 0 to `largest`, or their negatives too."""
    kinds = (np.int8, np.int16, np.int32) if is_signed else (np.uint8, np.uint16, np.uint32)
    for kind in kinds:
        if largest <= np.iinfo(kind).max:
            return np.dtype(kind)
    raise ValueError(f"{largest} is too large a number for a table; give a smaller forest.")
