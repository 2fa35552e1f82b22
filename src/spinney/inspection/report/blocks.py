"""Arrays as text inside a page: byte planes, deflated, in base64.

A block is a set of named arrays. The bytes of an array are put in planes, all first bytes, then
all second bytes, ..., because the high bytes of numbers are alike and deflate finds that out. The
browser inflates a block when it is first needed (`assets/blocks.js`).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Types of arrays that the page reads, all of them little endian.
TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8")


@dataclass(frozen=True)
class Block:
    """A block as it stands in the page.

    Attributes
    ----------
    arrays : str
        Name, type and length of each array: ``left:i4:7 bias:f8:7``.
    text : str
        The bytes of all arrays, deflated, in base64.
    """

    arrays: str
    text: str

    def __len__(self) -> int:
        return len(self.text) + len(self.arrays)


def pack(arrays: Mapping[str, NDArray[Any]]) -> Block:
    """Block of some arrays, flattened; names are words of the program, never of the data."""
    directory, planes = [], []
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array).ravel()
        kind = f"{flat.dtype.kind}{flat.dtype.itemsize}"
        if kind not in TYPES or not name.isidentifier():
            raise TypeError(f"array {name!r} of {flat.dtype}; give one of {TYPES}.")
        directory.append(f"{name}:{kind}:{len(flat)}")
        planes.append(_planes(flat))
    packed = zlib.compress(b"".join(planes), 6)
    return Block(" ".join(directory), base64.b64encode(packed).decode("ascii"))


def unpack(block: Block) -> dict[str, NDArray[Any]]:
    """The arrays of a block: what the page does, for those who read it with Python."""
    data = zlib.decompress(base64.b64decode(block.text))
    arrays, begin = {}, 0
    for entry in block.arrays.split():
        name, kind, length = entry.split(":")
        dtype = np.dtype(f"<{kind}")
        end = begin + int(length) * dtype.itemsize
        planes = np.frombuffer(data[begin:end], dtype=np.uint8).reshape(dtype.itemsize, -1)
        arrays[name] = np.ascontiguousarray(planes.T).view(dtype).ravel()
        begin = end
    return arrays


def smallest_unsigned(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers from 0 on, in the smallest type that holds them."""
    largest = int(values.max()) if values.size else 0
    return values.astype(np.min_scalar_type(largest) if largest < 2**32 else np.uint32)


def _planes(flat: NDArray[Any]) -> bytes:
    little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return little.view(np.uint8).reshape(-1, flat.dtype.itemsize).T.tobytes()
