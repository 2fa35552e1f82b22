"""The arrays of an exported program and how large they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.export.c.literals import numbers, smallest_type

LINE_WIDTH = 110
LARGEST_CODE = 127
"""Of weights in eight bits: symmetric, so that a negated hyperplane has negated codes."""

TYPES = {
    "f4": "float",
    "f8": "double",
    "i1": "int8_t",
    "i2": "int16_t",
    "i4": "int32_t",
    "u1": "uint8_t",
    "u2": "uint16_t",
    "u4": "uint32_t",
}


@dataclass
class Tables:
    """Constant arrays by name, in the order they were added."""

    prefix: str
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, name: str, values: NDArray[Any]) -> None:
        """Add an array in the type it has."""
        self.arrays[name] = values

    def add_counts(self, name: str, values: NDArray[Any], *, is_signed: bool = False) -> None:
        """Add whole numbers in the narrowest type that holds them."""
        largest = int(np.abs(values).max(initial=0)) + is_signed
        self.add(name, values.astype(smallest_type(largest, is_signed=is_signed)))

    def add_values(self, name: str, values: NDArray[np.float64], *, is_rounded: bool) -> None:
        """Add numbers, as float if it holds them exactly or if they may be rounded."""
        with np.errstate(over="ignore", under="ignore"):
            short = values.astype(np.float32)
        is_short = bool((short == values).all()) or (is_rounded and bool(np.isfinite(short).all()))
        self.add(name, short if is_short else values)

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each array."""
        return {name: int(array.nbytes) for name, array in self.arrays.items()}

    def text(self) -> str:
        """The arrays as C."""
        return "\n".join(self._declaration(name) for name in self.arrays)

    def _declaration(self, name: str) -> str:
        array = self.arrays[name]
        kind = TYPES[array.dtype.str[1:]]
        lines, line = [], "   "
        for number in numbers(array):
            if len(line) + len(number) > LINE_WIDTH:
                lines.append(line)
                line = "   "
            line += f" {number},"
        body = "\n".join([*lines, line])
        return f"static const {kind} {self.prefix}_{name}[{array.size}] = {{\n{body}\n}};"


def add_hyperplanes(tables: Tables, name: str, rows: sp.csr_matrix) -> bool:
    """Add hyperplanes as full rows or as their non-zeros, whichever is smaller.

    Parameters
    ----------
    tables : Tables
        Where to add them.
    name : str
        Begin of the names of the arrays.
    rows : CSR of shape (n_rows, n_features), float32 or int8

    Returns
    -------
    bool
        Whether they are sparse.
    """
    n_rows, n_features = rows.shape
    width = rows.dtype.itemsize
    column = smallest_type(n_features - 1, is_signed=False)
    begin = smallest_type(rows.nnz, is_signed=False)
    sparse_size = rows.nnz * (width + column.itemsize) + (n_rows + 1) * begin.itemsize
    if n_rows * n_features * width <= sparse_size:
        tables.add(f"{name}_w", rows.toarray())
        return False
    tables.add(f"{name}_w", rows.data if rows.nnz else np.zeros(1, dtype=rows.dtype))
    tables.add(f"{name}_column", (rows.indices if rows.nnz else np.zeros(1)).astype(column))
    tables.add(f"{name}_begin", rows.indptr.astype(begin))
    return True


def quantised(rows: sp.csr_matrix) -> tuple[sp.csr_matrix, NDArray[np.float32]]:
    """Rows as int8 codes times a scale each; weights that round to zero are left out."""
    largest = np.asarray(abs(rows).max(axis=1).todense()).ravel().astype(np.float64)
    scales = np.where(largest > 0, largest / LARGEST_CODE, 1.0).astype(np.float32)
    scales = np.maximum(scales, np.finfo(np.float32).tiny)
    each = np.repeat(scales.astype(np.float64), np.diff(rows.indptr))
    codes = np.clip(np.rint(rows.data / each), -LARGEST_CODE, LARGEST_CODE).astype(np.int8)
    coded = sp.csr_matrix((codes, rows.indices, rows.indptr), shape=rows.shape, copy=True)
    coded.eliminate_zeros()
    return coded, scales
