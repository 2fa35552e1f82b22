"""Copies of training rows in which values are left out.

A forest that is optimised jointly fits every row, and then only the few rows near the borders of
its regions tell a split where to lie. Copies with gaps are further rows near the given ones: a
split has to decide by many columns at once, and so has the sum of the trees. It is the dropout of
neural networks' inputs, with the copies drawn once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.data import Matrix, Problem, as_compact_rows

#: Rows that are drawn at a time; the mask of a block is all that is held beside the copies.
BLOCK = 4096


@dataclass(frozen=True)
class GappedCopies:
    """How rows are copied.

    Attributes
    ----------
    n_copies : int
        Copies of each row; 0 leaves the rows alone.
    dropout : float
        Share of the values of a copy that become 0, each by itself.
    """

    n_copies: int = 0
    dropout: float = 0.2

    def added_to(self, problem: Problem, random: np.random.Generator) -> Problem:
        """The task with the copies after its rows, all in the scaling of the rows.

        A row and its copies together weigh what the row weighs, so penalties keep their meaning.
        """
        if self.n_copies == 0:
            return problem
        n_parts = self.n_copies + 1
        matrix = self._stacked(problem.matrix, random)
        return replace(
            problem,
            matrix=matrix,
            rows=as_compact_rows(matrix),
            targets=np.concatenate([problem.targets] * n_parts),
            sample_weight=np.tile(problem.sample_weight / n_parts, n_parts),
        )

    def _stacked(self, matrix: Matrix, random: np.random.Generator) -> Matrix:
        if not isinstance(matrix, np.ndarray):
            copies = [_sparse_copy(matrix, self.dropout, random) for _ in range(self.n_copies)]
            return sp.csr_matrix(sp.vstack([matrix, *copies], format="csr"))
        stacked = np.tile(matrix, (self.n_copies + 1, 1))
        _drop(stacked[len(matrix) :], self.dropout, random)
        return stacked


def _drop(copies: NDArray[np.float32], share: float, random: np.random.Generator) -> None:
    """Set a share of the values to 0, in place."""
    for first in range(0, len(copies), BLOCK):
        block = copies[first : first + BLOCK]
        block[random.random(block.shape, dtype=np.float32) < share] = 0.0


def _sparse_copy(matrix: sp.csr_matrix, share: float, random: np.random.Generator) -> sp.csr_matrix:
    """A copy without a share of the stored values; the others are 0 as they are."""
    copy = matrix.copy()
    copy.data[random.random(copy.nnz, dtype=np.float32) < share] = 0.0
    copy.eliminate_zeros()
    return copy
