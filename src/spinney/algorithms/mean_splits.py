"""Hyperplanes of a tree, averaged over the last iterations of a run.

Each split is solved again in every iteration, from where it was and against other trees that have
moved meanwhile. So the hyperplanes of one split in late iterations are noisy copies of one another,
and their mean is a better one: the tail average of stochastic approximation ([1]_).

References
----------
.. [1] Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM Journal on
   Control and Optimization 30, 1992.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.state import NotedSplits
from spinney.data import Problem
from spinney.tree.sparse_rows import row_offsets

#: Share of the iterations in which a weight has to be non-zero for its mean to be kept: a mean of
#: all would have every weight that any of them had.
LEAST_PRESENCE = 0.5


@dataclass(frozen=True)
class _Splits:
    """Hyperplanes of a tree: the bias of each node, and the weights with their places."""

    bias: NDArray[np.float64]
    nodes: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]


class MeanSplits:
    """The splits of one tree in its last iterations, and their mean.

    Parameters
    ----------
    n_kept : int
        Iterations that count.
    """

    def __init__(self, n_kept: int) -> None:
        self._noted: deque[NotedSplits] = deque(maxlen=n_kept)

    @property
    def noted(self) -> tuple[NotedSplits, ...]:
        """What was taken down, oldest first."""
        return tuple(self._noted)

    def note(self, native: _core.TreeOptimizer) -> None:
        """Take down the splits as they are after an iteration."""
        bias, rows = native.splits()
        self._noted.append(NotedSplits(bias, *rows))

    def resume(self, noted: Sequence[NotedSplits], n_nodes: int, n_features: int) -> None:
        """Go on from what an earlier run took down; raises ValueError if it is of another tree."""
        for splits in noted:
            splits.check(n_nodes, n_features)
        self._noted.extend(noted)

    def put_into(self, native: _core.TreeOptimizer, problem: Problem, max_weights: int) -> None:
        """Give a tree the mean splits; its leaves are fitted to them.

        Parameters
        ----------
        native : TreeOptimizer
        problem : Problem
        max_weights : int
            Most weights of a split; 0 for any number.
        """
        mean, is_kept = self._mean(problem.n_features)
        if 0 < max_weights < problem.n_features:
            is_kept &= _is_large(mean, is_kept, problem.deviation, max_weights)
        # What is left out adds its mean to the score of every row: w_j x_j is w_j mean_j + noise.
        left_out = mean.weights * problem.mean[mean.columns] * ~is_kept
        bias = mean.bias + np.bincount(mean.nodes, left_out, len(mean.bias))
        counts = np.bincount(mean.nodes[is_kept], minlength=len(bias))
        native.set_tree(
            bias,
            row_offsets(counts),
            mean.columns[is_kept].astype(np.int32),
            mean.weights[is_kept].astype(np.float32),
            np.zeros((0, 1)),
            np.zeros((0, 1), dtype=np.float32),
        )

    def _mean(self, n_features: int) -> tuple[_Splits, NDArray[np.bool_]]:
        """Mean hyperplanes, and which of their weights are there often enough."""
        # The tail average of [1]: the sum over the last iterations by their number, also for a
        # weight that was zero, and so is not written down, in some of them.
        n_noted = len(self._noted)
        bias = np.mean([noted.bias for noted in self._noted], axis=0)
        places = [
            np.repeat(np.arange(len(bias)), np.diff(noted.indptr)) * n_features + noted.indices
            for noted in self._noted
        ]
        place, of = np.unique(np.concatenate(places), return_inverse=True)
        # Summed in the order of the iterations: the same bits everywhere.
        weights = np.concatenate([noted.weights for noted in self._noted])
        mean = np.bincount(of, weights.astype(np.float64), len(place)) / n_noted
        is_often = np.bincount(of, minlength=len(place)) >= LEAST_PRESENCE * n_noted
        splits = _Splits(bias, place // n_features, place % n_features, mean)
        return splits, is_often & (mean.astype(np.float32) != 0)


def _is_large(
    splits: _Splits, is_kept: NDArray[np.bool_], deviation: NDArray[np.float64], most: int
) -> NDArray[np.bool_]:
    """Which weights are among the `most` of their split that move the score of a row most."""
    size = np.where(is_kept, np.abs(splits.weights) * deviation[splits.columns], -1.0)
    # Split by split, the largest first, of equals the first column.
    order = np.lexsort((splits.columns, -size, splits.nodes))
    nodes = splits.nodes[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(nodes, nodes)
    return rank < most
