"""The forests of an FAO fit while it goes on: which there are, how good they are, who hears it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.ensembles.iteration_order import Iteration
from spinney.fitting.events import model_so_far, nothing_yet
from spinney.fitting.progress import Progress
from spinney.fitting.progress.listener import Snapshot
from spinney.fitting.validation_curve import LossWatch
from spinney.tree.structure import Tree


@dataclass(frozen=True)
class FittedForests:
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

    def trees_at(self, iteration: int | None) -> list[Tree]:
        """All trees after an iteration of this fit; None is the last."""
        return [tree for forest in self.all for tree in _trees_at(forest, iteration)]

    def judge(self, watch: LossWatch, n_threads: int) -> None:
        """Judge the average of all forests on validation rows, after each iteration."""
        longest = max((len(forest.iterations) for forest in self.found), default=0)
        fixed = watch.sum_of([tree for forest in self.known for tree in forest.trees], n_threads)
        moving = replace(self, known=[])
        for iteration in range(longest):
            sums = watch.sum_of(moving.trees_at(iteration), n_threads)
            watch.judge((fixed + sums) / len(self.all))

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

    def joined_by(self, forest: OptimizedForest) -> FittedForests:
        """These forests and one more of this fit."""
        return replace(self, found=[*self.found, forest])


def _trees_at(forest: OptimizedForest, iteration: int | None) -> tuple[Tree, ...]:
    """Trees after an iteration, or after the last one if the forest had ended before."""
    if iteration is None or iteration >= len(forest.iterations):
        return forest.trees
    return forest.iterations[iteration]


class Iterations:
    """Tells those who listen to a fit of the iterations of its forests.

    Parameters
    ----------
    estimator : FAO forest
        The copy that is fitted.
    forests : FittedForests
        Those that are done; a forest is added when it is.
    watch : LossWatch
        Judges on validation rows, if there are any.
    problem : Problem
    """

    def __init__(
        self, estimator: Any, forests: FittedForests, watch: LossWatch, problem: Problem
    ) -> None:
        self._estimator = estimator
        self._progress: Progress = estimator._progress
        self._forests = forests
        self._watch = watch
        self._problem = problem

    @property
    def wants_forests(self) -> bool:
        """Whether the model of each iteration may be asked for."""
        return self._watch.judged is not None or self._progress.wants_models

    def notice(self, forest: int, number: int) -> None:
        """An iteration is done, in any order."""
        self._progress.notice(forest + 1, number)

    def hear(self, forest: int, iteration: Iteration) -> bool:
        """An iteration is done, in order; True ends the fit."""
        event = replace(
            self._progress.event(iteration.number),
            objective=iteration.objective,
            loss=iteration.loss,
            n_active=iteration.n_active,
            validation=self._validation(iteration),
            forest=forest + 1,
            restored=iteration.is_restored,
        )
        return self._progress.tell(event, self._model(iteration))

    def _model(self, iteration: Iteration) -> Snapshot:
        """The average of the forests that are done and of the one at work."""
        make_forest = iteration.forest
        if make_forest is None:
            return nothing_yet

        def store(model: Any) -> None:
            model._store_forests(self._forests.joined_by(make_forest()), self._problem)

        return model_so_far(self._estimator, store)

    def _validation(self, iteration: Iteration) -> float | None:
        """Mean loss on validation rows of that average."""
        if self._watch.judged is None or iteration.forest is None:
            return None
        present = self._forests.joined_by(iteration.forest())
        sums = self._watch.sum_of(present.trees_at(None), self._estimator._n_threads())
        return self._watch.loss_of(sums / len(present.all))
