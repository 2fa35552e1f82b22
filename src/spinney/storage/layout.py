"""The bytes of a container: what a writer puts down and a reader trusts only after a check.

The layout is that of safetensors: eight bytes with the length of a JSON header, the header, and the
values of all arrays one after the other. Two things are added in the ways safetensors leaves open.
The caller's own header is a text in ``__metadata__``, and the last array, ``checksum``, holds the
CRC-32 of every byte before it. ``docs/model_format/index.md`` has every field.

A reader takes nothing for granted. Each check relies on those before it, and no size that a file
claims is used before it was compared with the number of bytes there are.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from spinney.storage.errors import DamagedFileError

Arrays = dict[str, NDArray[Any]]

FORMAT = "spinney"
VERSION = 1
"""Version of the container; what its header means has a version of its own."""

METADATA = "__metadata__"
CHECKSUM = "checksum"
RESERVED = (METADATA, CHECKSUM)

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype("bool"),
    "I8": np.dtype("int8"),
    "U8": np.dtype("uint8"),
    "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
"""Types of arrays by their names in safetensors."""

NAMES = {dtype: name for name, dtype in DTYPES.items()}

LENGTH_BYTES = 8
CHECKSUM_BYTES = 4
ALIGNMENT = 64
"""The first array begins at a multiple of this: a cache line, and the widest vector."""

LARGEST_HEADER = 100_000_000
"""Bytes of the header that safetensors' own reader accepts at most."""

MOST_DIMENSIONS = 8
LARGEST_EMPTY = 2**48
"""Product of the sides of an empty array that are not zero; numpy counts it in 63 bits."""


#: How files begin that are mistaken for containers.
OTHER_FILES = {
    b"SPJ1": "a checkpoint, which fit(..., checkpoint=...) reads",
    b"\x80": "a pickle, which pickle or joblib reads",
    b"PK\x03\x04": "a zip archive, as of skops or numpy",
    b"\x1f\x8b": "a gzip file",
}


def pack(header: Mapping[str, object], arrays: Mapping[str, NDArray[Any]]) -> list[memoryview]:
    """Bytes of a container, as pieces to be written one after the other.

    Parameters
    ----------
    header : mapping of str to JSON values
        Finite numbers, strings, booleans, None, lists and mappings of these.
    arrays : mapping of str to ndarray
        Arrays of a type in `DTYPES`, of any memory order.

    Returns
    -------
    list of memoryview
    """
    stored = {name: _plain(name, array) for name, array in arrays.items()}
    # Wide items first: each array then begins at a multiple of its item size, without gaps.
    names = sorted(stored, key=lambda name: (-stored[name].itemsize, name))
    entries: dict[str, object] = {
        METADATA: {
            "format": FORMAT,
            "version": str(VERSION),
            "header": json.dumps(header, allow_nan=False, separators=(",", ":")),
        }
    }
    end = 0
    for name in names:
        begin, end = end, end + stored[name].nbytes
        entries[name] = _entry(stored[name].dtype, stored[name].shape, begin, end)
    entries[CHECKSUM] = _entry(np.dtype("uint8"), (CHECKSUM_BYTES,), end, end + CHECKSUM_BYTES)
    pieces = [memoryview(_with_length(json.dumps(entries, separators=(",", ":")).encode()))]
    pieces += [stored[name].reshape(-1).view(np.uint8).data for name in names]
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return [*pieces, memoryview(checksum.to_bytes(CHECKSUM_BYTES, "little"))]


def unpack(content: NDArray[np.uint8]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a container, checked.

    Parameters
    ----------
    content : ndarray of uint8
        All bytes of a file; the arrays are views into them, read-only if `content` is.

    Returns
    -------
    header : dict
        What `pack` was given, as JSON tells it.
    arrays : dict of str to ndarray

    Raises
    ------
    DamagedFileError
        If a byte is not where it should be.
    """
    entries, first = _read_header(content)
    metadata = _metadata(entries)
    # Before the checksum, whose place another version may choose anew.
    _check_version(metadata)
    _check_checksum(content)
    arrays = _read_arrays(entries, content[first:])
    return _parse(metadata["header"], "the inner header"), arrays


def _plain(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The same values in C order and little-endian; raise if they cannot be stored."""
    if name in RESERVED:
        raise ValueError(f"an array is named {name!r}; choose a name other than {RESERVED}.")
    dtype = np.dtype(array.dtype).newbyteorder("<")
    if dtype not in NAMES:
        raise ValueError(f"array {name!r} has type {array.dtype}; accepted are {sorted(DTYPES)}.")
    return np.asarray(array, dtype=dtype, order="C")


def _entry(dtype: np.dtype[Any], shape: tuple[int, ...], begin: int, end: int) -> dict[str, object]:
    return {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [begin, end]}


def _with_length(text: bytes) -> bytes:
    """The header behind its length, filled up with spaces so that the data are aligned."""
    text += b" " * (-(LENGTH_BYTES + len(text)) % ALIGNMENT)
    if len(text) > LARGEST_HEADER:
        raise ValueError(
            f"the header takes {len(text)} bytes; at most {LARGEST_HEADER} can be stored; keep "
            "large things in arrays."
        )
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def _read_header(content: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """Entries of the outer header, and where the data begin."""
    least = LENGTH_BYTES + len("{}") + CHECKSUM_BYTES
    if len(content) < least:
        _refuse(f"it has {len(content)} bytes and the shortest container has {least}")
    begin = content[:LENGTH_BYTES].tobytes()
    length = int.from_bytes(begin, "little")
    most = min(len(content) - LENGTH_BYTES - CHECKSUM_BYTES, LARGEST_HEADER)
    if length > most:
        for signature, kind in OTHER_FILES.items():
            if begin.startswith(signature):
                _refuse(f"it looks like {kind}")
        _refuse(f"its header claims {length} bytes and at most {most} are possible")
    first = LENGTH_BYTES + length
    text = content[LENGTH_BYTES:first].tobytes()
    if not text.startswith(b"{"):
        _refuse("its header does not begin with a brace")
    return _parse(text, "the header"), first


def _parse(text: bytes | str, what: str) -> dict[str, Any]:
    """A JSON object, of which no key comes twice and no number is nan or infinite."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        parsed = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except DamagedFileError:
        raise
    # What comes from json for broken text; too deep a nesting is a RecursionError.
    except (ValueError, RecursionError) as error:
        _refuse(f"{what} is no JSON text ({error})", error)
    if not isinstance(parsed, dict):
        _refuse(f"{what} is a JSON {type(parsed).__name__}, not an object")
    return parsed


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        _refuse("its header gives a name twice")
    return found


def _no_constant(word: str) -> NoReturn:
    _refuse(f"its header holds {word}, which is no JSON number")


def _metadata(entries: dict[str, Any]) -> dict[str, str]:
    found = entries.get(METADATA)
    metadata = found if isinstance(found, dict) else {}
    is_text = all(isinstance(value, str) for value in metadata.values())
    if not is_text or metadata.keys() != {"format", "version", "header"}:
        _refuse("its header is not that of a spinney file")
    if metadata["format"] != FORMAT:
        _refuse(f"its format is {metadata['format'][:20]!r} instead of {FORMAT!r}")
    return metadata


def _check_version(metadata: dict[str, str]) -> None:
    if metadata["version"] != str(VERSION):
        raise DamagedFileError(
            f"the file has container version {metadata['version'][:20]!r}; this release reads "
            f"version {VERSION}; try a newer release of spinney."
        )


def _check_checksum(content: NDArray[np.uint8]) -> None:
    found = zlib.crc32(content[:-CHECKSUM_BYTES].data)
    stored = int.from_bytes(content[-CHECKSUM_BYTES:].tobytes(), "little")
    if found != stored:
        _refuse(f"its checksum is {found:08x} but {stored:08x} was written")


def _read_arrays(entries: dict[str, Any], data: NDArray[np.uint8]) -> Arrays:
    """Views of all arrays, which must fill `data` without a gap, the checksum last."""
    layout = {name: entry for name, entry in entries.items() if name != METADATA}
    for name, entry in layout.items():
        _check_entry(name, entry, len(data))
    end = 0
    for name, entry in sorted(layout.items(), key=lambda item: item[1]["data_offsets"]):
        if entry["data_offsets"][0] != end:
            _refuse(f"array {name!r} begins at {entry['data_offsets'][0]} instead of {end}")
        end = entry["data_offsets"][1]
    if end != len(data):
        _refuse(f"its arrays end at {end} but there are {len(data)} bytes of data")
    last = _entry(np.dtype("uint8"), (CHECKSUM_BYTES,), end - CHECKSUM_BYTES, end)
    if layout.pop(CHECKSUM, None) != last:
        _refuse("its last array is not the checksum")
    return {name: _view(name, entry, data) for name, entry in layout.items()}


def _check_entry(name: str, entry: Any, n_bytes: int) -> None:
    """Type, shape and place of one array, each within what the file can hold."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        _refuse(f"array {name!r} lacks its type, shape or place, or has more than these")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        _refuse(f"array {name!r} has the unknown type {dtype!r}")
    _check_sizes(f"the shape of array {name!r}", shape, LARGEST_EMPTY)
    _check_sizes(f"the place of array {name!r}", place, n_bytes)
    if len(shape) > MOST_DIMENSIONS or len(place) != 2:
        _refuse(f"array {name!r} has {len(shape)} dimensions and {len(place)} offsets")
    if math.prod(max(side, 1) for side in shape) > (n_bytes if all(shape) else LARGEST_EMPTY):
        _refuse(f"array {name!r} of shape {shape} is larger than the {n_bytes} bytes there are")
    if math.prod(shape) * DTYPES[dtype].itemsize != place[1] - place[0]:
        _refuse(f"array {name!r} of shape {shape} does not take bytes {place[0]} to {place[1]}")


def _check_sizes(what: str, sizes: Any, largest: int) -> None:
    if not isinstance(sizes, list) or not all(type(size) is int for size in sizes):
        _refuse(f"{what} is no list of whole numbers")
    if not all(0 <= size <= largest for size in sizes):
        _refuse(f"{what} is {sizes[:MOST_DIMENSIONS]}; numbers from 0 to {largest} are accepted")


def _view(name: str, entry: dict[str, Any], data: NDArray[np.uint8]) -> NDArray[Any]:
    begin, end = entry["data_offsets"]
    dtype = DTYPES[entry["dtype"]]
    if dtype == np.bool_ and data[begin:end].max(initial=0) > 1:
        _refuse(f"array {name!r} holds a truth value other than 0 and 1")
    view = np.ndarray(tuple(entry["shape"]), dtype, data, begin)
    if not view.flags.aligned:
        _refuse(f"array {name!r} begins at {begin}, which is no multiple of its item size")
    view.flags.writeable = False
    return view


def _refuse(what: str, cause: Exception | None = None) -> NoReturn:
    raise DamagedFileError(
        f"the file cannot be used: {what}; it is damaged, cut short, or not a spinney file; try "
        "another copy, or write it again."
    ) from cause
