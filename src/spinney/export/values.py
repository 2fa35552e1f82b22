"""Values as JSON: what a parameter or a fitted attribute may be, and how it is written.

JSON's own values stand for themselves. Everything else is an object with a ``type``, and each type
is one entry of a registry: a name for the file, a class, and a function for each direction. Arrays
are put aside under the path of their attribute, trees and traces in tables of their own. No entry
holds code, and none names a module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.trace import Trace
from spinney.data.tables import TableEncoding, TypicalRow
from spinney.export.refusal import (
    checked_index,
    checked_list,
    checked_object,
    checked_text,
    refuse,
)
from spinney.storage.layout import NAMES
from spinney.tree.structure import Tree

MOST_LEVELS = 32
"""Values within values; a model that starts from a fitted model takes three."""

LARGEST_STRINGS = 2**26
"""Bytes that an array of strings may take in memory."""

PLAIN = (bool, int, str, type(None))


class Writer:
    """Turns values into JSON and collects what JSON cannot hold.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Arrays by the path of what they belong to.
    trees : list of Tree
    traces : list of Trace
        Each object once, however often it is met.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.trees: list[Tree] = []
        self.traces: list[Trace] = []
        self._places: dict[int, int] = {}
        self._level = 0

    def state_of(self, value: Any, where: str) -> Any:
        """JSON that stands for `value`; `where` is its path, for arrays and for errors."""
        if type(value) in PLAIN:
            return value
        if type(value) is float and math.isfinite(value):
            return value
        if self._level == MOST_LEVELS:
            raise ValueError(
                f"{where[:80]} lies more than {MOST_LEVELS} values deep; does it hold itself?"
            )
        self._level += 1
        try:
            return self._state_of(value, where)
        finally:
            self._level -= 1

    def _state_of(self, value: Any, where: str) -> Any:
        if type(value) is list:
            return [self.state_of(item, f"{where}.{place}") for place, item in enumerate(value)]
        if isinstance(value, np.generic):
            return {"type": "scalar", **_scalar_state(value, self, where)}
        entry = next((entry for entry in TYPES.values() if type(value) in entry.kinds), None)
        if entry is None:
            _cannot_store(value, where)
        return {"type": entry.name, **entry.to_state(value, self, where)}

    def index_of(self, thing: Tree | Trace) -> int:
        """Place of a tree among all trees, or of a trace among all traces."""
        if id(thing) not in self._places:
            table: list[Any] = self.trees if isinstance(thing, Tree) else self.traces
            self._places[id(thing)] = len(table)
            table.append(thing)
        return self._places[id(thing)]


class Reader:
    """Turns JSON back into values, checked.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Arrays that are neither of trees nor of traces.
    trees : list of Tree
        All trees, checked.
    traces : list of Trace
    is_older : bool
        Whether an older release wrote the model, which may lack parameters added since.
    """

    def __init__(
        self,
        arrays: dict[str, NDArray[Any]],
        trees: list[Tree],
        traces: list[Trace],
        is_older: bool,
    ) -> None:
        self.trees = trees
        self.traces = traces
        self.is_older = is_older
        self._arrays = dict(arrays)
        self._level = 0

    def value_of(self, state: Any, where: str) -> Any:
        """The value that `state` stands for; raises DamagedFileError if it stands for none."""
        if type(state) in (*PLAIN, float):
            return state
        if self._level == MOST_LEVELS:
            refuse(f"{where[:80]} lies more than {MOST_LEVELS} values deep")
        self._level += 1
        try:
            return self._value_of(state, where)
        finally:
            self._level -= 1

    def _value_of(self, state: Any, where: str) -> Any:
        if type(state) is list:
            return [self.value_of(item, f"{where}.{place}") for place, item in enumerate(state)]
        given = dict(checked_object(state, where))
        name = given.pop("type", None)
        if name == "scalar":
            return _scalar_of(given, self, where)
        if not isinstance(name, str) or name not in TYPES:
            refuse(f"{where} has the unknown type {str(name)[:40]!r}")
        return TYPES[name].from_state(given, self, where)

    def take_array(self, name: Any, where: str) -> NDArray[Any]:
        """An array that nothing else has taken."""
        if checked_text(name, where) not in self._arrays:
            refuse(f"{where} wants the array {name[:80]!r}, which is not there, or was taken")
        return self._arrays.pop(name)

    def check_all_taken(self) -> None:
        """Raise if there is an array that belongs to nothing."""
        if self._arrays:
            refuse(f"nothing wants the array {next(iter(self._arrays))[:80]!r}")


@dataclass(frozen=True)
class ValueType:
    """One entry of the registry.

    Attributes
    ----------
    name : str
        What the file calls it.
    kinds : tuple of type
        Classes of the values; subclasses do not count.
    to_state : callable
        JSON object of a value, from the value, the writer and the path.
    from_state : callable
        Value of a JSON object, from the object, the reader and the path. It must check all it is
        given.
    """

    name: str
    kinds: tuple[type, ...]
    to_state: Callable[[Any, Writer, str], dict[str, Any]]
    from_state: Callable[[dict[str, Any], Reader, str], Any]


TYPES: dict[str, ValueType] = {}


def register(entry: ValueType) -> None:
    """Let models hold values of one more type."""
    TYPES[entry.name] = entry


def with_own_state(name: str, kind: Any) -> ValueType:
    """Entry of a class with ``to_state()`` and ``from_state(state)``.

    The state may be anything that can be stored, arrays included. ``from_state`` must raise
    ValueError for a state that it cannot use.
    """

    def to_state(value: Any, writer: Writer, where: str) -> dict[str, Any]:
        return {"state": writer.state_of(value.to_state(), where)}

    def from_state(given: dict[str, Any], reader: Reader, where: str) -> Any:
        state = reader.value_of(checked_object(given, where, ["state"])["state"], where)
        try:
            return kind.from_state(state)
        except (ValueError, TypeError, KeyError) as error:
            refuse(f"{where}: {error}", error)

    return ValueType(name, (kind,), to_state, from_state)


def _cannot_store(value: Any, where: str) -> NoReturn:
    kind = type(value).__name__
    if callable(value) and not isinstance(value, type):
        raise TypeError(
            f"{where} is a {kind}, and a model file holds no code; give a value that is no "
            "function; try pickle if you trust whoever will load it."
        )
    raise TypeError(
        f"{where} is a {kind} of {type(value).__module__}, which a model file cannot hold; "
        "accepted are numbers, strings, None, lists, tuples, dicts, arrays, RandomState, and trees "
        "and estimators of spinney; try pickle, or spinney.tree.from_sklearn for a tree of "
        "scikit-learn."
    )


# Scalars, of Python and of numpy.

SCALARS = tuple(dtype.name for dtype in NAMES)
WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON does not have, by the words that stand for them."""


def word_of(value: float) -> str:
    """What a number that is not finite is called."""
    return str(float(value))


def _float_state(value: float, writer: Writer, where: str) -> dict[str, Any]:
    del writer, where  # only numbers that are not finite come here
    return {"value": word_of(value)}


def _float_of(given: dict[str, Any], reader: Reader, where: str) -> float:
    del reader
    word = checked_text(checked_object(given, where, ["value"])["value"], where)
    if word not in WORDS:
        refuse(f"{where} is the number {word[:40]!r}; one of {sorted(WORDS)} is needed")
    return WORDS[word]


def _scalar_state(value: np.generic, writer: Writer, where: str) -> dict[str, Any]:
    name = "str" if isinstance(value, np.str_) else value.dtype.name
    if name not in (*SCALARS, "str"):
        _cannot_store(value, where)
    return {"dtype": name, "value": writer.state_of(value.item(), where)}


def _scalar_of(given: dict[str, Any], reader: Reader, where: str) -> np.generic:
    name = checked_text(checked_object(given, where, ["dtype", "value"])["dtype"], where)
    value = reader.value_of(given["value"], where)
    if name == "str":
        return np.str_(checked_text(value, where))
    if name not in SCALARS:
        refuse(f"{where} has the unknown type {name[:40]!r}")
    kind = np.dtype(name).type
    wanted = type(kind(0).item())
    if type(value) is not wanted:
        refuse(f"{where} is a {type(value).__name__} instead of a {wanted.__name__}")
    with np.errstate(over="ignore"):
        try:
            scalar: np.generic = kind(value)
        except OverflowError as error:
            refuse(f"{where} is {str(value)[:40]}, which is no {name}", error)
    if scalar.item() != value and not math.isnan(value):
        refuse(f"{where} is {value!r}, which is no {name}")
    return scalar


# Containers of Python.


def _tuple_state(value: tuple[Any, ...], writer: Writer, where: str) -> dict[str, Any]:
    return {"items": writer.state_of(list(value), where)}


def _tuple_of(given: dict[str, Any], reader: Reader, where: str) -> tuple[Any, ...]:
    items = checked_list(checked_object(given, where, ["items"])["items"], where)
    return tuple(reader.value_of(items, where))


def _dict_state(value: dict[Any, Any], writer: Writer, where: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, (*PLAIN, float, np.generic)):
            _cannot_store(key, f"a key of {where}")
    pairs = [[key, item] for key, item in value.items()]
    return {"items": writer.state_of(pairs, where)}


def _dict_of(given: dict[str, Any], reader: Reader, where: str) -> dict[Any, Any]:
    items = checked_list(checked_object(given, where, ["items"])["items"], where)
    for item in items:
        if not isinstance(item, list) or len(item) != 2:
            refuse(f"{where} is no list of pairs")
    pairs = reader.value_of(items, where)
    for key, _ in pairs:
        if not isinstance(key, (*PLAIN, float, np.generic)):
            refuse(f"{where} has a key of type {type(key).__name__}")
    found = dict(pairs)
    if len(found) < len(pairs):
        refuse(f"{where} has a key twice")
    return found


# Arrays: numbers go beside the JSON, strings and labels of mixed kinds into it.


def _array_state(value: NDArray[Any], writer: Writer, where: str) -> dict[str, Any]:
    if value.dtype.kind == "U" and value.ndim == 1:
        if value.nbytes > LARGEST_STRINGS:
            raise ValueError(
                f"{where} takes {value.nbytes} bytes of strings; at most {LARGEST_STRINGS} can be "
                "stored; try shorter labels."
            )
        return {"dtype": value.dtype.newbyteorder("<").str, "values": value.tolist()}
    if value.dtype.kind == "O" and value.ndim == 1:
        return {"dtype": "object", "values": [_label_state(v, writer, where) for v in value]}
    if value.dtype.newbyteorder("<") not in NAMES:
        raise TypeError(
            f"{where} is an array of {value.dtype} with {value.ndim} dimensions; numbers of any "
            f"shape and strings of one dimension can be stored; try {SCALARS}."
        )
    if where in writer.arrays:
        raise ValueError(f"two arrays are called {where!r}; rename one of their attributes.")
    writer.arrays[where] = value
    return {"array": where}


def _label_state(value: Any, writer: Writer, where: str) -> Any:
    if not isinstance(value, (*PLAIN, float, np.generic)):
        _cannot_store(value, f"an entry of {where}")
    return writer.state_of(value, where)


def _array_of(given: dict[str, Any], reader: Reader, where: str) -> NDArray[Any]:
    if given.keys() == {"array"}:
        return reader.take_array(given["array"], where)
    dtype = checked_text(checked_object(given, where, ["dtype", "values"])["dtype"], where)
    values = checked_list(given["values"], where)
    if dtype == "object":
        return _objects_of(values, reader, where)
    strings = [checked_text(value, where) for value in values]
    width = dtype.removeprefix("<U")
    if not width.isascii() or not width.isdigit() or len(width) > 9:
        refuse(f"{where} is an array of {dtype[:40]!r}")
    if max(map(len, strings), default=0) > int(width):
        refuse(f"{where} has a string longer than {width}")
    # Every string takes as much room as the longest, so a short file could ask for a lot.
    if 4 * int(width) * len(strings) > LARGEST_STRINGS:
        refuse(f"{where} would take more than {LARGEST_STRINGS} bytes")
    return np.array(strings, dtype=f"<U{int(width)}")


def _objects_of(values: list[Any], reader: Reader, where: str) -> NDArray[np.object_]:
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        item = reader.value_of(value, where)
        if not isinstance(item, (*PLAIN, float, np.generic)):
            refuse(f"{where} holds a {type(item).__name__}")
        found[place] = item
    return found


# Trees and traces lie in tables of their own; JSON holds their numbers.


def _index_state(value: Tree | Trace, writer: Writer, where: str) -> dict[str, Any]:
    del where
    return {"index": writer.index_of(value)}


def _tree_of(given: dict[str, Any], reader: Reader, where: str) -> Tree:
    index = checked_object(given, where, ["index"])["index"]
    return reader.trees[checked_index(index, where, len(reader.trees))]


def _trace_of(given: dict[str, Any], reader: Reader, where: str) -> Trace:
    index = checked_object(given, where, ["index"])["index"]
    return reader.traces[checked_index(index, where, len(reader.traces))]


for _entry in (
    ValueType("float", (float,), _float_state, _float_of),
    ValueType("tuple", (tuple,), _tuple_state, _tuple_of),
    ValueType("dict", (dict,), _dict_state, _dict_of),
    ValueType("array", (np.ndarray,), _array_state, _array_of),
    ValueType("tree", (Tree,), _index_state, _tree_of),
    ValueType("trace", (Trace,), _index_state, _trace_of),
    with_own_state("encoding", TableEncoding),
    with_own_state("typical_row", TypicalRow),
):
    register(_entry)
