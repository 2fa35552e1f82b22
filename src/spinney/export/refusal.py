"""The one way to say that a stored model cannot be used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from spinney.storage import DamagedFileError


def refuse(what: str, cause: Exception | None = None) -> NoReturn:
    """Raise the documented error for a stored model with a fault.

    Parameters
    ----------
    what : str
        Place and fault, as ``"tree 3: bias holds nan"``.
    cause : Exception, optional
        What was raised where the fault was found.
    """
    raise DamagedFileError(
        f"the model cannot be used: {what}; it was damaged, or written by something else; try "
        "another copy, or save the model again."
    ) from cause


def checked_object(state: Any, where: str, keys: Iterable[str] | None = None) -> dict[str, Any]:
    """`state` if it is a JSON object of exactly these keys; of any keys if None."""
    if not isinstance(state, dict):
        refuse(f"{where} is a {type(state).__name__} instead of an object")
    if keys is not None and state.keys() != set(keys):
        refuse(f"{where} has the keys {sorted(state)[:20]} instead of {sorted(keys)}")
    return state


def checked_list(state: Any, where: str) -> list[Any]:
    """`state` if it is a JSON list."""
    if not isinstance(state, list):
        refuse(f"{where} is a {type(state).__name__} instead of a list")
    return state


def checked_text(state: Any, where: str) -> str:
    """`state` if it is a string."""
    if type(state) is not str:
        refuse(f"{where} is a {type(state).__name__} instead of a string")
    return state


def checked_index(state: Any, where: str, n_things: int) -> int:
    """`state` if it is a whole number from 0 to below `n_things`."""
    if type(state) is not int or not 0 <= state < n_things:
        refuse(f"{where} is {str(state)[:40]}; a whole number from 0 to {n_things - 1} is needed")
    return state
