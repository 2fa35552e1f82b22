"""Records that are added to one file, each of them there as a whole or not at all.

A record is a container behind a frame of 16 bytes, and has a key; a later record takes the place of
an earlier one of the same key. Adding a record costs its own bytes alone, however long the file is.
When more than half of a file is records that others have replaced, it is written anew without them.

A writer that is killed leaves part of its last record. A reader recognises that and goes by the
records before it. Damage anywhere else is an error.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spinney.storage.atomic import replace_file
from spinney.storage.errors import DamagedFileError
from spinney.storage.layout import Arrays, pack, unpack
from spinney.storage.lock import lock_file

MAGIC = b"SPJ1"
FRAME_BYTES = 16
"""Magic word, length of the record in eight bytes, CRC-32 of these two."""

LEAST_GARBAGE = 1 << 20
"""Bytes of replaced records for which it is not worth to write a file anew."""


CHUNK_BYTES = 1 << 24
"""Bytes that are read at once."""

SMALL_RECORD = 1 << 20
"""Bytes up to which a record is written at once."""


class Record(NamedTuple):
    """What is stored under a key: a JSON header and arrays."""

    key: str
    header: Mapping[str, object]
    arrays: Mapping[str, NDArray[Any]]


class _Place(NamedTuple):
    begin: int
    size: int


class Journal:
    """An open file of records, which no other journal has open.

    Made by `create` or `open`; to be closed by `close`.
    """

    def __init__(self, path: str | os.PathLike[str], descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._places: dict[str, _Place] = {}
        self._end = 0
        self._is_cut = False  # whether bytes of a failed write may lie behind the end

    @classmethod
    def create(cls, path: str | os.PathLike[str], first: Record) -> Self:
        """A new file with one record; a file that exists is replaced."""
        replace_file(path, _framed(first))
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """A file that exists, each record of it checked.

        Raises
        ------
        DamagedFileError
            If it is no journal, or damaged in other ways than by a writer that was killed.
        BlockingIOError
            If another journal has it open.
        OSError
            If it cannot be read or written.
        """
        journal = cls(path, _open_locked(path))
        try:
            journal._scan()
        except DamagedFileError as error:
            journal.close()
            raise DamagedFileError(f"{os.fspath(path)}: {error}") from error.__cause__
        except BaseException:
            journal.close()
            raise
        return journal

    def __contains__(self, key: object) -> bool:
        return key in self._places

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the records that count, in the order they were first written."""
        return tuple(self._places)

    def read(self, key: str) -> tuple[dict[str, Any], Arrays]:
        """Header and arrays of a record."""
        header, arrays = unpack(self._bytes(self._places[key])[FRAME_BYTES:])
        return header["value"], arrays

    def drop(self, key: str) -> None:
        """Leave a record out when the file is written anew; until then it stays in the file."""
        self._places.pop(key, None)

    def write(self, records: Iterable[Record]) -> None:
        """Add records and wait until they are on the disk.

        Raises
        ------
        OSError
            If they cannot be written. None of them counts then, and all others still do.
        """
        if not self._is_in_place():
            self._renew()  # somebody has moved or removed the file
        if self._is_cut:
            os.ftruncate(self._descriptor, self._end)
        end, added = self._end, {}
        self._is_cut = True
        for record in records:
            begin = end
            for piece in _joined(_framed(record)):
                end = _write_at(self._descriptor, piece, end)
            added[record.key] = _Place(begin, end - begin)
        os.fsync(self._descriptor)
        self._is_cut = False
        self._places.update(added)
        self._end = end
        self._tidy()

    def close(self) -> None:
        """Let others open the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _scan(self) -> None:
        """Find all records; those that a killed writer has not finished are cut off."""
        size = os.fstat(self._descriptor).st_size
        while self._end < size:
            place = self._next_place(size)
            if place is None or not self._take(place, is_last=place.begin + place.size == size):
                break
        if not self._places:
            raise DamagedFileError(
                f"the file of {size} bytes holds no record; it is cut short or no journal."
            )
        self._is_cut = self._end < size

    def _next_place(self, size: int) -> _Place | None:
        """Place of the record at the end of those known; None if it was not finished."""
        left = size - self._end
        frame = os.pread(self._descriptor, FRAME_BYTES, self._end)
        if len(frame) < FRAME_BYTES:
            return None
        if frame != _frame(length := int.from_bytes(frame[4:12], "little")):
            # A file that had grown when the power failed ends in zeros.
            rest = self._chunks(_Place(self._end, left))
            if self._end and all(chunk.count(0) == len(chunk) for chunk in rest):
                return None
            if not self._end:
                raise DamagedFileError(_said_of(frame))
            raise DamagedFileError(f"byte {self._end} begins no record; the file is damaged.")
        return _Place(self._end, FRAME_BYTES + length) if length <= left - FRAME_BYTES else None

    def _take(self, place: _Place, *, is_last: bool) -> bool:
        """Check a record and note its place; False if it is the last one and not whole."""
        try:
            header, _ = unpack(self._bytes(place)[FRAME_BYTES:])
        except DamagedFileError:
            if is_last and self._places:
                return False
            raise
        if set(header) != {"key", "value"} or not isinstance(header["key"], str):
            raise DamagedFileError(f"the record at byte {place.begin} has no key.")
        self._places[header["key"]] = place
        self._end = place.begin + place.size
        return True

    def _bytes(self, place: _Place) -> NDArray[np.uint8]:
        content = np.empty(place.size, dtype=np.uint8)
        n_read = 0
        for chunk in self._chunks(place):
            content[n_read : n_read + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
            n_read += len(chunk)
        if n_read < place.size:
            raise DamagedFileError("the file was cut short while it was read.")
        return content

    def _chunks(self, place: _Place) -> Iterator[bytes]:
        """The bytes at a place, as far as there are any."""
        begin, end = place.begin, place.begin + place.size
        while begin < end:
            chunk = os.pread(self._descriptor, min(end - begin, CHUNK_BYTES), begin)
            if not chunk:
                return
            yield chunk
            begin += len(chunk)

    def _is_in_place(self) -> bool:
        """Whether the path still leads to the file that is open."""
        try:
            return os.path.samestat(Path(self._path).stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def _tidy(self) -> None:
        """Write the file anew if most of it was replaced."""
        n_live = sum(place.size for place in self._places.values())
        if self._end - n_live > max(n_live, LEAST_GARBAGE):
            try:
                self._renew()
            except OSError:
                return  # no room for two files at once; the long one will do

    def _renew(self) -> None:
        """Write the records that count to a new file in the place of the old one."""
        replace_file(self._path, self._live_bytes())
        descriptor = _open_locked(self._path)
        begin = 0
        for key, place in self._places.items():
            self._places[key] = _Place(begin, place.size)
            begin += place.size
        self._end, self._is_cut = begin, False
        os.close(self._descriptor)
        self._descriptor = descriptor

    def _live_bytes(self) -> Iterator[memoryview]:
        for place in self._places.values():
            yield self._bytes(place).data


def _open_locked(path: str | os.PathLike[str]) -> int:
    descriptor = os.open(Path(path), os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    try:
        lock_file(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _frame(length: int) -> bytes:
    start = MAGIC + length.to_bytes(8, "little")
    return start + zlib.crc32(start).to_bytes(4, "little")


def _said_of(beginning: bytes) -> str:
    """What a file is that begins in another way than a journal."""
    if beginning.endswith(b'{"__meta'):
        return "the file is a container, such as a model file, no journal."
    if beginning[0] == 0x80 and 2 <= beginning[1] <= 5:  # the mark and the protocols of pickle
        return "the file is a pickle, no journal."
    return f"the file begins with {beginning[:8]!r}, which begins no journal, or it is damaged."


def _framed(record: Record) -> list[memoryview]:
    pieces = pack({"key": record.key, "value": record.header}, record.arrays)
    return [memoryview(_frame(sum(piece.nbytes for piece in pieces))), *pieces]


def _joined(pieces: list[memoryview]) -> list[memoryview]:
    """The pieces of a small record as one: a call of the system costs more than a copy."""
    if sum(piece.nbytes for piece in pieces) > SMALL_RECORD:
        return pieces
    return [memoryview(b"".join(pieces))]


def _write_at(descriptor: int, piece: memoryview, offset: int) -> int:
    """Write all of a piece; returns where the next one begins."""
    while piece.nbytes:
        n_written = os.pwrite(descriptor, piece, offset)
        piece, offset = piece[n_written:], offset + n_written
    return offset
