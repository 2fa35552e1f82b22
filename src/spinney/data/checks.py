"""Check single values that users give: words, numbers, shares, truth values."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

import numpy as np


def plain_value(value: object) -> object:
    """An array-like of one dimension as a list, any other constructor value as it is.

    An array, an index, a series or a range means the same to ``fit`` as the list of its values.
    """
    is_scalar = isinstance(value, np.generic)
    if is_scalar or not (isinstance(value, range) or hasattr(value, "__array__")):
        return value
    array = np.asarray(value)
    return array.tolist() if array.ndim == 1 and array.dtype.kind in "biufUO" else value


def check_choice(name: str, value: object, accepted: Sequence[str]) -> None:
    """Raise unless `value` is one of the accepted words."""
    words = " or ".join(f'"{word}"' for word in accepted)
    if not isinstance(value, str):
        raise TypeError(
            f"{name}={value!r} is of type {type(value).__name__}; give a string, {words}; "
            f'try {name}="{accepted[0]}".'
        )
    if value not in accepted:
        raise ValueError(
            f'{name}={value!r} is not known; give {words}; try {name}="{accepted[0]}".'
        )


def check_real(
    name: str, value: object, *, minimum: float, example: str, is_open: bool = False
) -> None:
    """Raise unless `value` is a finite number >= `minimum` (> if `is_open`)."""
    bound = f"{'>' if is_open else '>='} {minimum:g}"
    accepted = f"give a finite number {bound}; try {name}={example}."
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; {accepted}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name}={value!r} is not finite; {accepted}")
    if number < minimum or (is_open and number == minimum):
        raise ValueError(f"{name}={value!r} is too small; {accepted}")


def check_share(name: str, value: object, *, example: str) -> None:
    """Raise unless `value` lies strictly between 0 and 1."""
    check_real(name, value, minimum=0.0, is_open=True, example=example)
    if float(value) >= 1:  # type: ignore[arg-type]
        raise ValueError(
            f"{name}={value!r} is too large; give a share between 0 and 1; try {name}={example}."
        )


def check_integer(name: str, value: object, *, minimum: int, example: str) -> None:
    """Raise unless `value` is an integer >= `minimum`."""
    accepted = f"give an integer >= {minimum}; try {name}={example}."
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; {accepted}")
    if int(value) < minimum:
        raise ValueError(f"{name}={value!r} is too small; {accepted}")


def check_boolean(name: str, value: object) -> None:
    """Raise unless `value` is a Python or numpy bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{name}={value!r} is of type {type(value).__name__}; give True or False; "
            f"try {name}={bool(value)}."
        )


def check_n_jobs(n_jobs: object) -> None:
    """Raise unless `n_jobs` is None or an integer other than 0."""
    accepted = "give None, a positive integer, or -1 for all cores; try n_jobs=1."
    if n_jobs is None:
        return
    if isinstance(n_jobs, (bool, np.bool_)) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(f"n_jobs={n_jobs!r} is of type {type(n_jobs).__name__}; {accepted}")
    if int(n_jobs) == 0:
        raise ValueError(f"n_jobs=0 leaves no thread to work; {accepted}")
