"""Broken files, each a function of a whole file and of a number.

Four kinds. Bytes at random, with the checksum left wrong; bytes at random with the checksum set
right again, so that what lies behind it is met; arrays with other values, types, shapes, names or
places; and headers with other JSON. One to three changes a mutant.
"""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from spinney.storage.layout import DTYPES, unpack

Random = np.random.Generator

INTERESTING = [
    None, True, False, 0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63 - 1, 2**63,
    -(2**63), 2**64, 10**40, 0.5, -0.0, 1e308, -1e-308, "", "a", "nan", "inf", "I32", "trees.left",
    "tree", [], {}, [[]], [0, 0], [-8, 0], [2**63], {"type": "tree", "index": 0},
    {"type": "float", "value": "nan"}, {"type": "array", "array": "trees.bias"},
    {"type": "tuple", "items": []}, {"type": "dict", "items": [[1, 2]]},
]  # fmt: skip
DEEP = 3000


def mutant(content: bytes, number: int, seed: int = 0) -> bytes:
    """The mutant of this number of a whole file."""
    rng = np.random.default_rng([seed, number])
    kind = rng.choice(len(KINDS), p=[weight for weight, _ in KINDS])
    return KINDS[kind][1](content, rng)


def kind_of(number: int, seed: int = 0) -> str:
    """What kind of mutant a number stands for."""
    rng = np.random.default_rng([seed, number])
    return KINDS[rng.choice(len(KINDS), p=[weight for weight, _ in KINDS])][1].__name__


def with_checksum(body: bytes) -> bytes:
    """A file whose last four bytes are right."""
    return body + zlib.crc32(body).to_bytes(4, "little")


def assemble(entries: dict[str, Any] | bytes, data: bytes) -> bytes:
    """A file of any outer header and any data, padded, and with a right checksum."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return with_checksum(len(text).to_bytes(8, "little") + text + data)


def disassemble(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Outer header and data of a whole file; the checksum is left out."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length : -4]


# Bytes.


def raw_bytes(content: bytes, rng: Random) -> bytes:
    for _ in range(rng.integers(1, 4)):
        content = BYTE_CHANGES[rng.integers(len(BYTE_CHANGES))](content, rng)
    return content


def checked_bytes(content: bytes, rng: Random) -> bytes:
    return with_checksum(raw_bytes(content[:-4], rng))


def _place(content: bytes, rng: Random) -> int:
    """A place to change; half of them in the first bytes, where sizes and names are."""
    end = min(len(content), 64) if rng.random() < 0.3 else len(content)
    return int(rng.integers(max(end, 1)))


def _flip(content: bytes, rng: Random) -> bytes:
    changed, place = bytearray(content), _place(content, rng)
    if changed:
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _overwrite(content: bytes, rng: Random) -> bytes:
    place, length = _place(content, rng), int(rng.integers(1, 9))
    fill = [rng.bytes(length), bytes(length), b"\xff" * length][rng.integers(3)]
    return content[:place] + fill + content[place + length :]


def _insert(content: bytes, rng: Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + rng.bytes(int(rng.integers(1, 17))) + content[place:]


def _cut_out(content: bytes, rng: Random) -> bytes:
    place = _place(content, rng)
    return content[:place] + content[place + int(rng.integers(1, 65)) :]


def _truncate(content: bytes, rng: Random) -> bytes:
    return content[: _place(content, rng)]


def _repeat(content: bytes, rng: Random) -> bytes:
    place, length = _place(content, rng), int(rng.integers(1, 257))
    return content[:place] + content[place : place + length] * 2 + content[place + length :]


def _oversize(content: bytes, rng: Random) -> bytes:
    lengths = [0, 1, 2**16, 2**31, 2**63 - 1, 2**63, 2**64 - 1, len(content)]
    length = lengths[rng.integers(len(lengths))]
    return length.to_bytes(8, "little") + content[8:]


BYTE_CHANGES = [_flip, _flip, _overwrite, _insert, _cut_out, _truncate, _repeat, _oversize]


# Arrays, in a container that is whole.


def changed_arrays(content: bytes, rng: Random) -> bytes:
    entries, _ = disassemble(content)
    whole = np.frombuffer(content, dtype=np.uint8)
    arrays = {name: array.copy() for name, array in unpack(whole)[1].items()}
    for _ in range(rng.integers(1, 4)):
        ARRAY_CHANGES[rng.integers(len(ARRAY_CHANGES))](arrays, rng)
    return _packed(entries["__metadata__"], arrays)


def _packed(metadata: dict[str, str], arrays: dict[str, np.ndarray]) -> bytes:
    """A whole file of any arrays, wide items first."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    entries: dict[str, Any] = {"__metadata__": metadata}
    data = b""
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        place = [len(data), len(data) + array.nbytes]
        shape = list(array.shape)
        entries[name] = {"dtype": names[array.dtype], "shape": shape, "data_offsets": place}
        data += array.tobytes()
    end = len(data)
    entries["checksum"] = {"dtype": "U8", "shape": [4], "data_offsets": [end, end + 4]}
    return assemble(entries, data)


def _any_name(arrays: dict[str, np.ndarray], rng: Random) -> str:
    names = sorted(arrays)
    return names[rng.integers(len(names))] if names else ""


def _set_value(arrays: dict[str, np.ndarray], rng: Random) -> None:
    name = _any_name(arrays, rng)
    if not name or not arrays[name].size:
        return
    flat = arrays[name].reshape(-1)
    place = rng.integers(flat.size)
    if flat.dtype.kind == "f":
        values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38, 5e-324, float(rng.normal())]
    elif flat.dtype.kind == "b":
        values = [not flat[place]]
    else:
        limits = np.iinfo(flat.dtype)
        near = int(flat[place]) + int(rng.integers(-2, 3))
        values = [0, limits.min, limits.max, near, int(rng.integers(-3, 40))]
        values = [min(max(value, limits.min), limits.max) for value in values]
    with np.errstate(over="ignore"):
        flat[place] = values[rng.integers(len(values))]
    arrays[name] = flat.reshape(arrays[name].shape)


def _swap_values(arrays: dict[str, np.ndarray], rng: Random) -> None:
    name = _any_name(arrays, rng)
    if name and arrays[name].size:
        flat = arrays[name].reshape(-1)
        first, second = rng.integers(flat.size, size=2)
        flat[[first, second]] = flat[[second, first]]


def _retype(arrays: dict[str, np.ndarray], rng: Random) -> None:
    name = _any_name(arrays, rng)
    if name:
        dtypes = list(DTYPES.values())
        with np.errstate(invalid="ignore", over="ignore"):
            arrays[name] = arrays[name].astype(dtypes[rng.integers(len(dtypes))])


def _reshape(arrays: dict[str, np.ndarray], rng: Random) -> None:
    name = _any_name(arrays, rng)
    if not name:
        return
    array = arrays[name]
    ways = [
        lambda: array.reshape(-1),
        lambda: array.reshape(1, *array.shape),
        lambda: array.reshape(-1)[:-1],
        lambda: array.reshape(-1)[1:],
        lambda: array[:0],
        lambda: np.concatenate([array.reshape(-1), array.reshape(-1)]),
        lambda: np.append(array.reshape(-1), array.reshape(-1)[-1:]),
        array.T.copy,
    ]
    arrays[name] = np.ascontiguousarray(ways[rng.integers(len(ways))]())


def _rename(arrays: dict[str, np.ndarray], rng: Random) -> None:
    name = _any_name(arrays, rng)
    if name:
        arrays[["x", name[:-1], name + "_", "trees." + name][rng.integers(4)]] = arrays.pop(name)


def _drop(arrays: dict[str, np.ndarray], rng: Random) -> None:
    arrays.pop(_any_name(arrays, rng), None)


def _exchange(arrays: dict[str, np.ndarray], rng: Random) -> None:
    first, second = _any_name(arrays, rng), _any_name(arrays, rng)
    if first and second:
        arrays[first], arrays[second] = arrays[second], arrays[first]


ARRAY_CHANGES: list[Callable[[dict[str, np.ndarray], Random], None]] = [
    _set_value, _set_value, _set_value, _swap_values, _retype, _reshape, _rename, _drop, _exchange,
]  # fmt: skip


# JSON, of the inner and of the outer header.


def changed_header(content: bytes, rng: Random) -> bytes:
    entries, data = disassemble(content)
    if rng.random() < 0.7:
        header = json.loads(entries["__metadata__"]["header"])
        for _ in range(rng.integers(1, 4)):
            header = _changed_json(header, rng)
        entries["__metadata__"]["header"] = _text(header, rng)
        return assemble(entries, data)
    for _ in range(rng.integers(1, 4)):
        entries = _changed_json(entries, rng)
    return assemble(_text(entries, rng).encode(), data)


def _text(value: Any, rng: Random) -> str:
    """JSON of a value; now and then broken in a way that a value cannot be."""
    text = json.dumps(value)
    draw = rng.random()
    if draw < 0.02:
        return "[" * DEEP + text + "]" * DEEP
    if draw < 0.04:
        return text.replace("{", '{"kind": 1, "kind": 2, ', 1)
    if draw < 0.06:
        place = int(rng.integers(len(text)))
        return text[:place] + chr(int(rng.integers(128))) + text[place + 1 :]
    if draw < 0.07:
        return text.replace("1", "NaN", 1)
    return text


def _changed_json(value: Any, rng: Random) -> Any:
    """A copy with one place exchanged, dropped, added or moved."""
    value = copy.deepcopy(value)
    holder = _any_holder(value, rng)
    if holder is None:
        return _interesting(rng)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = keys[rng.integers(len(keys))]
    change = rng.integers(6)
    if change <= 2:
        holder[key] = _interesting(rng)
    elif change == 3:
        del holder[key]
    elif change == 4:
        holder[key] = holder[keys[rng.integers(len(keys))]]
    elif isinstance(holder, dict):
        holder[str(_interesting(rng))[:8]] = holder.pop(key)
    else:
        holder.append(_interesting(rng))
    return value


def _interesting(rng: Random) -> Any:
    return copy.deepcopy(INTERESTING[rng.integers(len(INTERESTING))])


def _any_holder(value: Any, rng: Random) -> dict[str, Any] | list[Any] | None:
    """A list or object that is not empty, somewhere inside."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list) and item:
            found.append(item)
            waiting += item.values() if isinstance(item, dict) else item
    return found[rng.integers(len(found))] if found else None


KINDS = [
    (0.2, raw_bytes),
    (0.15, checked_bytes),
    (0.35, changed_arrays),
    (0.3, changed_header),
]
