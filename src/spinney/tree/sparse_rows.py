"""Sparse rows as three arrays, as trees hold their weights: where each row begins, columns, values.

They are the arrays of a CSR matrix. Here they are made of lengths, and of rows of others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def row_offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Where each of several rows begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def take_rows(
    indptr: NDArray[np.int64], rows: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets and old entry numbers of the matrix made of the given rows."""
    lengths = np.diff(indptr)[rows]
    taken = row_offsets(lengths)
    shift = np.repeat(indptr[:-1][rows] - taken[:-1], lengths)
    return taken, np.arange(taken[-1]) + shift


def nonzero_rows(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.floating[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The same rows in float32, without the weights that are zero there."""
    rounded = weights.astype(np.float32)
    kept = rounded != 0
    return row_offsets(kept)[indptr], indices[kept], rounded[kept]
