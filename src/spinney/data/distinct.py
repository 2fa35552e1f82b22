"""Rows that are alike as one row of their joint weight, in an order of their own.

Solvers that step from row to row depend on how often a row comes and when. On distinct rows a row
of weight k is the same as k rows, and the order in which rows were given is of no account.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data.problem import (
    Problem,
    classification_problem,
    regression_problem,
    take_rows,
)
from spinney.data.tables import Matrix

#: Numbers that are mixed at once.
CHUNK = 1 << 20


def distinct_rows(problem: Problem, *, n_threads: int = 1) -> Problem:
    """The same task with each pair of row and target once, whatever the order they came in.

    Parameters
    ----------
    problem : Problem
        Its rows all have a weight.
    n_threads : int, default=1
    """
    targets = problem.targets.reshape(problem.n_rows, -1).astype(np.float64)
    spread = np.ptp(targets, axis=0)
    inverse_spread = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    keys = row_keys(problem.matrix, problem.inverse_scale)
    keys += _mixed(targets * inverse_spread) @ _factors(len(spread), 1)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(_differs_from_last(problem.matrix, targets, keys, order))
    weights = np.add.reduceat(problem.sample_weight[order], starts)
    chosen = order[starts]
    X = take_rows(problem.matrix, chosen)
    if problem.n_classes:
        codes = problem.classes[chosen]
        return classification_problem(
            X, codes, problem.n_classes, weights, columns=problem.columns, n_threads=n_threads
        )
    values = problem.targets[chosen].astype(np.float64, copy=False)
    return regression_problem(X, values, weights, columns=problem.columns, n_threads=n_threads)


def row_keys(X: Matrix, inverse_scale: NDArray[np.float64]) -> NDArray[np.uint64]:
    """A number for each row that depends on its values alone; other rows hardly ever share it.

    Values are measured in units of their columns: the order that follows from the keys is to be
    the same for metres and for miles.
    """
    factors = _factors(X.shape[1], 0)
    if not isinstance(X, np.ndarray):
        # Sums wrap around, and differences of them wrap back.
        sums = np.zeros(X.nnz + 1, dtype=np.uint64)
        mixed = _mixed(X.data * inverse_scale[X.indices])
        np.cumsum(mixed * factors[X.indices], out=sums[1:])
        of_rows: NDArray[np.uint64] = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        return of_rows
    n_at_once = max(1, CHUNK // max(1, X.shape[1]))
    parts = [
        _mixed(X[first : first + n_at_once] * inverse_scale) @ factors
        for first in range(0, len(X), n_at_once)
    ]
    return np.concatenate(parts)


def _factors(count: int, purpose: int) -> NDArray[np.uint64]:
    return np.random.default_rng([count, purpose]).integers(2**64, size=count, dtype=np.uint64)


def _mixed(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Bits of numbers, spread over all 64; those of 0 are 0, as of what is not stored."""
    bits = (values + 0.0).view(np.uint64)  # -0 is 0
    for shift, factor in ((32, 0xD6E8FEB86659FD93), (29, 0xA0761D6478BD642F)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    return bits ^ (bits >> np.uint64(32))


def _differs_from_last(
    X: Matrix, targets: NDArray[np.generic], keys: NDArray[np.uint64], order: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether each row, in this order, is another than the one before it."""
    differs = np.ones(len(order), dtype=np.bool_)
    differs[1:] = keys[order[1:]] != keys[order[:-1]]
    places = np.flatnonzero(~differs)
    here, last = order[places], order[places - 1]
    if isinstance(X, np.ndarray):
        is_other = (X[here] != X[last]).any(axis=1)
    else:
        is_other = np.diff((X[here] != X[last]).indptr) > 0
    differs[places] = is_other | (targets[here] != targets[last]).any(axis=1)
    return differs
