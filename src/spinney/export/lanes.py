"""Hyperplanes laid out so that a sum over lanes has the bits of the core.

The core adds the product of column j to lane ``j % 32`` and then folds the lanes in halves
(cpp/include/spinney/simd.hpp). A row of ``n_slots`` times ``n_lanes`` products, summed over the
slots in order and then folded, is the same sequence of additions. Rows of few columns need fewer
lanes, because adding zeros changes no bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.tree.sparse_rows import row_offsets

CORE_LANES = 32


@dataclass(frozen=True, eq=False)
class LaneTable:
    """Rows of products to be summed lane by lane.

    Parameters
    ----------
    weights : float32 ndarray of shape (n_rows, n_slots, n_lanes)
        Weights, zero where there is none.
    columns : int32 ndarray of the same shape, or None
        Column that each weight reads. None: place ``slot * n_lanes + lane`` reads that column.
    """

    weights: NDArray[np.float32]
    columns: NDArray[np.int32] | None

    @property
    def n_slots(self) -> int:
        """Products of a lane."""
        return int(self.weights.shape[1])

    @property
    def n_lanes(self) -> int:
        """Lanes of a sum."""
        return int(self.weights.shape[2])

    @property
    def width(self) -> int:
        """Products of a row."""
        return self.n_slots * self.n_lanes

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.weights.nbytes + (0 if self.columns is None else self.columns.nbytes)


def lane_table(hyperplanes: sp.csr_matrix) -> LaneTable:
    """The smaller of both layouts of some hyperplanes."""
    n_dense = full_width(hyperplanes.shape[1])
    sparse = sparse_table(hyperplanes)
    return full_table(hyperplanes) if 2 * sparse.width >= n_dense else sparse


def full_table(hyperplanes: sp.csr_matrix) -> LaneTable:
    """Every column at its own place, zeros behind the last."""
    n_rows, n_features = hyperplanes.shape
    n_lanes = lane_count(n_features)
    weights = np.zeros((n_rows, full_width(n_features)), dtype=np.float32)
    weights[:, :n_features] = hyperplanes.toarray()
    return LaneTable(weights.reshape(n_rows, -1, n_lanes), None)


def sparse_table(hyperplanes: sp.csr_matrix) -> LaneTable:
    """Only columns with weights: as many slots as the fullest lane needs."""
    n_rows, n_features = hyperplanes.shape
    n_lanes = lane_count(n_features)
    rows = np.repeat(np.arange(n_rows), np.diff(hyperplanes.indptr))
    columns = hyperplanes.indices.astype(np.int64)
    lanes = rows * n_lanes + columns % n_lanes
    order = np.argsort(lanes, kind="stable")  # columns stay ascending within a lane
    counts = np.bincount(lanes, minlength=n_rows * n_lanes)
    first = row_offsets(counts)
    slots = np.arange(len(lanes)) - first[lanes[order]]
    shape = (n_rows, int(max(1, counts.max(initial=1))), n_lanes)
    weights, read = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.int32)
    place = (rows[order], slots, columns[order] % n_lanes)
    weights[place] = hyperplanes.data[order]
    read[place] = columns[order]
    return LaneTable(weights, read)


def full_width(n_features: int) -> int:
    """Places of a row in which every column has its own."""
    n_lanes = lane_count(n_features)
    return -(-n_features // n_lanes) * n_lanes


def lane_count(n_features: int) -> int:
    """Lanes that can get a product: the next power of two, at least 4."""
    return int(min(CORE_LANES, max(4, 1 << (n_features - 1).bit_length())))
