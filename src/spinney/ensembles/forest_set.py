"""The forests of an FAO model while it is fitted: which there are, and their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.trace import Trace
from spinney.tree.structure import Tree


@dataclass(frozen=True)
class ForestSet:
    """Forests that stay as they are, and those of this fit so far.

    Attributes
    ----------
    known : list of OptimizedForest
        Of an earlier fit that this one adds to.
    given : list of OptimizedForest
        Those that this fit goes on from, in order; what it does not come to stays as it is.
    found : list of OptimizedForest
        Of this fit.
    """

    known: list[OptimizedForest]
    given: list[OptimizedForest]
    found: list[OptimizedForest] = field(default_factory=list)

    @property
    def all(self) -> list[OptimizedForest]:
        """All forests as they are now."""
        return [*self.known, *self.found, *self.given[len(self.found) :]]

    @property
    def traces(self) -> list[Trace]:
        """How each forest was optimised."""
        return [forest.trace for forest in self.all]

    def with_found(self, found: Sequence[OptimizedForest]) -> ForestSet:
        """The same with these forests of this fit."""
        return replace(self, found=list(found))

    def trees_at(self, iteration: int | None) -> list[Tree]:
        """All trees after an iteration of this fit; None is the last."""
        return [tree for forest in self.all for tree in _trees_at(forest, iteration)]

    def best(self, losses: Sequence[float], max_weights: int) -> int | None:
        """Iteration of least loss among those whose splits have so many weights; None is the last.

        The limit is tightened along a run, so early iterations may be beyond it. 0 is no limit.
        """
        allowed = [
            iteration
            for iteration in range(len(losses))
            if max_weights == 0 or self._widest_split(iteration) <= max_weights
        ]
        return min(allowed, key=lambda iteration: losses[iteration], default=None)

    def _widest_split(self, iteration: int) -> int:
        """Most weights of a split of this fit after an iteration."""
        trees = [tree for forest in self.found for tree in _trees_at(forest, iteration)]
        return max(int(np.diff(tree.split_indptr).max(initial=0)) for tree in trees)


def _trees_at(forest: OptimizedForest, iteration: int | None) -> tuple[Tree, ...]:
    """Trees after an iteration, or after the last one if the forest had ended before."""
    if iteration is None or iteration >= len(forest.iterations):
        return forest.trees
    return forest.iterations[iteration]
