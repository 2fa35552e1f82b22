"""Dataclasses as a JSON header and arrays, and back, each field checked against its annotation.

Only the classes named here can come out of a file, and only with the fields, types and dimensions
they are declared with. A tree is checked in full. No code is stored.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from spinney.algorithms.state import ForestRun, MemberRun, NativeTree, NotedSplits
from spinney.algorithms.trace import Trace
from spinney.storage import DamagedFileError
from spinney.storage.layout import Arrays
from spinney.tree.structure import Tree

Kind = TypeVar("Kind")

#: Lists of numbers are stored as arrays, so that a long trace takes no JSON.
LISTS: dict[type, type[np.generic]] = {float: np.float64, int: np.int64}


#: Fields that are matrices, of classes whose other arrays are vectors.
DIMENSIONS: dict[type, tuple[str, ...]] = {
    NativeTree: (),
    NotedSplits: (),
    MemberRun: ("values",),
    ForestRun: ("scores",),
}


class _Source(NamedTuple):
    """Stored arrays, and the shape that trees must have."""

    arrays: Arrays
    n_features: int
    n_outputs: int


def encode(value: Any, kind: Any) -> tuple[Any, Arrays]:
    """JSON value and arrays of an instance of `kind`."""
    arrays: Arrays = {}
    return _encode(value, kind, arrays), arrays


def decode(header: Any, arrays: Arrays, kind: type[Kind], shape: tuple[int, int]) -> Kind:
    """The instance of `kind` that `encode` was given; raises DamagedFileError for anything else.

    Parameters
    ----------
    header : JSON value
    arrays : dict of str to ndarray
    kind : type
    shape : (n_features, n_outputs)
        That trees must have.
    """
    try:
        found: Kind = _decode(header, kind, _Source(arrays, *shape), kind.__name__)
    except DamagedFileError:
        raise
    except ValueError as error:  # of a tree that is none
        raise DamagedFileError(f"a stored {kind.__name__} cannot be used: {error}") from error
    return found


def _encode(value: Any, hint: Any, arrays: Arrays) -> Any:
    if value is None:
        return None
    hint = _not_none(hint)
    if is_dataclass(hint):
        hints: dict[str, Any] = _hints(hint)  # type: ignore[arg-type]  # a class, not an instance
        return {name: _encode(getattr(value, name), hints[name], arrays) for name in hints}
    if hint is float:
        return float(value).hex()  # exact, and infinity has a word
    if hint in (int, bool):
        return hint(value)  # numpy's own are no JSON
    if get_origin(hint) is tuple:
        return [_encode(item, get_args(hint)[0], arrays) for item in value]
    if isinstance(value, np.ndarray) or _item_of(hint) in LISTS:
        name = str(len(arrays))
        arrays[name] = np.asarray(value, dtype=_dtype(hint))
        return name
    return value


def _decode(stored: Any, hint: Any, source: _Source, where: str) -> Any:
    if stored is None and _not_none(hint) is not hint:
        return None
    hint = _not_none(hint)
    decoder = _decoder(hint)
    return decoder(stored, hint, source, where)


def _decoder(hint: Any) -> Callable[[Any, Any, _Source, str], Any]:
    if is_dataclass(hint):
        return _decode_dataclass
    origin = get_origin(hint)
    if origin is tuple:
        return _decode_tuple
    if origin is np.ndarray or _item_of(hint) in LISTS:
        return _decode_array
    return _decode_plain


def _decode_dataclass(stored: Any, hint: Any, source: _Source, where: str) -> Any:
    hints = _hints(hint)
    if not isinstance(stored, dict) or stored.keys() != hints.keys():
        raise DamagedFileError(f"{where} has not the fields of a {hint.__name__}.")
    values = {
        name: _decode(stored[name], of_field, source, f"{where}.{name}")
        for name, of_field in hints.items()
    }
    made = hint(**values)
    if isinstance(made, Tree):
        _check_tree(made, source, where)
    elif hint in DIMENSIONS:
        _check_dimensions(values, DIMENSIONS[hint], where)
    if isinstance(made, Trace) and len({len(column) for column in made.as_dict().values()}) != 1:
        raise DamagedFileError(f"the columns of {where} differ in length.")
    return made


def _check_tree(tree: Tree, source: _Source, where: str) -> None:
    tree.check()
    if (tree.n_features, tree.n_outputs) != (source.n_features, source.n_outputs):
        raise DamagedFileError(
            f"{where} has {tree.n_features} features and {tree.n_outputs} outputs; "
            f"{source.n_features} and {source.n_outputs} are needed."
        )


def _check_dimensions(values: dict[str, Any], matrices: tuple[str, ...], where: str) -> None:
    for name, value in values.items():
        wanted = 2 if name in matrices else 1
        if isinstance(value, np.ndarray) and value.ndim != wanted:
            raise DamagedFileError(f"{where}.{name} has shape {value.shape}.")


def _decode_tuple(stored: Any, hint: Any, source: _Source, where: str) -> Any:
    if not isinstance(stored, list):
        raise DamagedFileError(f"{where} is no list.")
    return tuple(
        _decode(item, get_args(hint)[0], source, f"{where}[{number}]")
        for number, item in enumerate(stored)
    )


def _decode_array(stored: Any, hint: Any, source: _Source, where: str) -> Any:
    if not isinstance(stored, str) or stored not in source.arrays:
        raise DamagedFileError(f"{where} has no array.")
    found = source.arrays[stored]
    if found.dtype != _dtype(hint):
        raise DamagedFileError(f"{where} has type {found.dtype}; {_dtype(hint)} is needed.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise DamagedFileError(f"{where} holds a number that is not finite.")
    if _item_of(hint) not in LISTS:
        return found
    if found.ndim != 1 or not found.size:
        raise DamagedFileError(f"{where} has shape {found.shape}; a list of numbers is needed.")
    return found.tolist()


def _decode_plain(stored: Any, hint: Any, source: _Source, where: str) -> Any:
    del source
    if hint is float:
        return _decode_float(stored, where)
    if get_origin(hint) is Literal:
        is_right = stored in get_args(hint)
    elif _item_of(hint) is str:
        is_right = isinstance(stored, list) and all(type(item) is str for item in stored)
    else:
        is_right = type(stored) is hint
    if not is_right:
        raise DamagedFileError(f"{where} is {stored!r:.40}; this is not of the kind it should be.")
    return stored


def _decode_float(stored: Any, where: str) -> float:
    try:
        number = float.fromhex(stored)
    except (TypeError, ValueError, OverflowError) as error:
        raise DamagedFileError(f"{where} is {stored!r:.40}; a number is needed.") from error
    if np.isnan(number):
        raise DamagedFileError(f"{where} is not a number.")
    return number


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Type of each field of a dataclass."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _not_none(hint: Any) -> Any:
    """The type beside None, or the type itself."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    return hint


@cache
def _item_of(hint: Any) -> Any:
    """Type of the items of a list; None if it is none."""
    return get_args(hint)[0] if get_origin(hint) is list else None


@cache
def _dtype(hint: Any) -> np.dtype[Any]:
    """Type of the array that a field is stored in."""
    if _item_of(hint) in LISTS:
        return np.dtype(LISTS[_item_of(hint)])
    (scalar,) = get_args(get_args(hint)[1])
    dtype: np.dtype[Any] = np.dtype(scalar)
    return dtype
