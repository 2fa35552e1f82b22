"""A table encoding and its typical row as plain values for files, and back, all of it checked.

What is read may come from anyone. It is refused with a ValueError unless it is exactly what
:func:`to_state` or :func:`typical_to_state` writes.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import DATETIME
from spinney.data.tables.encoding import EMPTY, KINDS, NUMBER_LEVELS, TEXT_LEVELS, TableEncoding
from spinney.data.tables.levels import Level, Levels
from spinney.data.tables.typical import TypicalRow

VERSION = 1
_KEYS = ("version", "kinds", "fill", "origin", "has_missing", "names", "levels")
_LEVEL_KEYS = ("column", "own", "has_rest", "known", "means")
_TYPICAL_KEYS = ("coordinates", "levels", "had_missing")
_Number = TypeVar("_Number", bound=np.generic)


def to_state(encoding: TableEncoding) -> dict[str, Any]:
    """The encoding as texts, numbers, lists, dicts and arrays of numbers."""
    return {
        "version": VERSION,
        "kinds": encoding.kinds,
        "fill": encoding.fill,
        "origin": encoding.origin,
        "has_missing": encoding.has_missing.astype(np.uint8),
        "names": None if encoding.names is None else list(encoding.names),
        "levels": [
            {
                "column": column,
                "own": list(levels.own),
                "has_rest": levels.has_rest,
                "known": list(levels.known),
                "means": levels.means,
            }
            for column, levels in sorted(encoding.levels.items())
        ],
    }


def from_state(state: object) -> TableEncoding:
    """The encoding that :func:`to_state` told of.

    Raises
    ------
    ValueError
        Unless all of it is there, of the right kind, and agrees.
    """
    values = _fields(state, _KEYS, "the encoding of a table")
    if type(values["version"]) is not int or values["version"] != VERSION:
        _refuse("version", values["version"], f"{VERSION}")
    kinds = _array(values["kinds"], np.uint8, "kinds", None)
    if not len(kinds) or kinds.max() >= len(KINDS):
        _refuse("kinds", kinds, f"at least one, each below {len(KINDS)}")
    shape = kinds.shape
    has_missing = _array(values["has_missing"], np.uint8, "has_missing", shape)
    if has_missing.max() > 1:
        _refuse("has_missing", has_missing, "0 or 1")
    encoding = TableEncoding(
        kinds,
        _array(values["fill"], np.float32, "fill", shape),
        _array(values["origin"], np.float64, "origin", shape),
        has_missing.astype(np.bool_),
        _levels(values["levels"], kinds),
        _names(values["names"], len(kinds)),
    )
    if not encoding.has_missing[kinds == KINDS.index(EMPTY)].all():
        _refuse("has_missing", has_missing, "1 for columns without a value")
    if encoding.origin[kinds != KINDS.index(DATETIME)].any():
        _refuse("origin", encoding.origin, "0 for columns other than dates")
    return encoding


def typical_to_state(typical: TypicalRow) -> dict[str, Any]:
    """The typical row as texts, numbers, lists, dicts and arrays of numbers."""
    return {
        "coordinates": typical.coordinates,
        "levels": [
            {"column": column, "level": level} for column, level in sorted(typical.levels.items())
        ],
        "had_missing": typical.had_missing.astype(np.uint8),
    }


def typical_from_state(state: object) -> TypicalRow:
    """The typical row that :func:`typical_to_state` told of.

    Raises
    ------
    ValueError
        Unless all of it is there and of the right kind. Whether it suits an encoding is for those
        to check who have one.
    """
    values = _fields(state, _TYPICAL_KEYS, "the typical row")
    had_missing = _array(values["had_missing"], np.uint8, "had_missing", None)
    if had_missing.size and had_missing.max() > 1:
        _refuse("had_missing", had_missing, "0 or 1")
    levels: dict[int, Level | None] = {}
    for entry in _list(values["levels"], "levels"):
        fields = _fields(entry, ("column", "level"), "a typical level")
        column, level = fields["column"], fields["level"]
        is_level = type(level) in (str, type(None)) or _is_finite_float(level)
        if type(column) is not int or not 0 <= column < len(had_missing) or column in levels:
            _refuse("column", column, "a column, each once,")
        if not is_level:
            _refuse("level", level, "a text, a finite number or null")
        levels[column] = level
    coordinates = _array(values["coordinates"], np.float32, "coordinates", None)
    return TypicalRow(coordinates, levels, had_missing.astype(np.bool_))


def _is_finite_float(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _names(names: object, n_columns: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = _list(names, "names")
    if len(found) != n_columns or not all(type(name) is str for name in found):
        _refuse("names", names, f"null, or {n_columns} texts")
    return tuple(found)


def _levels(values: object, kinds: NDArray[np.uint8]) -> dict[int, Levels]:
    """Levels of the columns that have some, and of no others."""
    levels: dict[int, Levels] = {}
    wanted = [number for number, kind in enumerate(kinds) if KINDS[kind] in _TYPE_OF_LEVELS]
    found = _list(values, "levels")
    if len(found) != len(wanted):
        _refuse("levels", f"{len(found)} entries", f"one for each of {len(wanted)} columns")
    for column, entry in zip(wanted, found, strict=True):
        fields = _fields(entry, _LEVEL_KEYS, f"the levels of column {column}")
        if type(fields["column"]) is not int or fields["column"] != column:
            _refuse("column", fields["column"], f"{column}")
        levels[column] = _levels_of_column(fields, KINDS[kinds[column]])
    return levels


_TYPE_OF_LEVELS: dict[str, type] = {NUMBER_LEVELS: float, TEXT_LEVELS: str}


def _levels_of_column(fields: dict[str, Any], kind: str) -> Levels:
    own, known = (_sorted_levels(fields[name], kind, name) for name in ("own", "known"))
    if type(fields["has_rest"]) is not bool:
        _refuse("has_rest", fields["has_rest"], "true or false")
    means = _array(fields["means"], np.float32, "means", None, n_dimensions=2)
    if known:
        if means.shape[0] != len(known) + 2 or not means.shape[1] or not set(own) <= set(known):
            _refuse("means", means.shape, f"{len(known) + 2} rows for {len(known)} known levels")
    elif means.size or not (own or fields["has_rest"]):
        _refuse("own", own, "at least one level, or a rest, and means for known levels only")
    return Levels(own, fields["has_rest"], known, means)


def _sorted_levels(values: object, kind: str, name: str) -> tuple[Level, ...]:
    found = _list(values, name)
    wanted = _TYPE_OF_LEVELS[kind]
    if not all(type(level) is wanted for level in found):
        _refuse(name, found[:3], f"levels of type {wanted.__name__}")
    if wanted is float and not all(math.isfinite(level) for level in found):
        _refuse(name, found[:3], "finite levels")
    if any(not low < high for low, high in pairwise(found)):
        _refuse(name, found[:3], "levels in ascending order, each once")
    return tuple(found)


def _fields(values: object, keys: tuple[str, ...], what: str) -> dict[str, Any]:
    if type(values) is not dict or set(values) != set(keys):
        found = sorted(map(str, values)) if isinstance(values, dict) else type(values).__name__
        _refuse(what, found, f"a dict with the keys {list(keys)}")
    return values


def _list(values: object, name: str) -> list[Any]:
    if type(values) is not list:
        _refuse(name, type(values).__name__, "a list")
    return values


def _array(
    values: object,
    dtype: type[_Number],
    name: str,
    shape: tuple[int, ...] | None,
    n_dimensions: int = 1,
) -> NDArray[_Number]:
    """Finite numbers of a dtype, from an array of it or from lists of numbers."""
    try:
        given = np.asarray(values)
    except ValueError:
        _refuse(name, "lists of different lengths", "an array of numbers")
    if given.size == 0 and given.ndim == 1 and n_dimensions == 2:
        given = given.reshape(0, 0)  # of means that are not used, as lists
    if given.dtype.kind not in "fiu" and given.size:
        _refuse(name, given.dtype, "numbers")
    if given.ndim != n_dimensions or (shape is not None and given.shape != shape):
        _refuse(name, given.shape, f"shape {shape}" if shape else f"{n_dimensions} dimensions")
    if given.size and not np.isfinite(given).all():
        _refuse(name, "numbers that are not finite", "finite numbers")
    with np.errstate(all="ignore"):
        array = np.array(given, dtype=dtype)
        is_same = np.array_equal(array, given)
    if not is_same:
        _refuse(name, "numbers beyond it", f"numbers that fit {np.dtype(dtype)}")
    return array


def _refuse(name: str, found: object, wanted: str) -> NoReturn:
    text = " ".join(repr(found)[:100].split())  # of hostile size, maybe
    raise ValueError(
        f"{name} of a table encoding is {text}; {wanted} is needed; the file is broken or of "
        "another version."
    )
