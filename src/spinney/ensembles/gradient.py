"""Gradient boosting of TAO trees.

Trees are added one after the other, and none is touched again. With ``step="newton"`` each is
optimised on the loss itself, given what the trees before it say: one tree of Forest Alternating
Optimization whose forest is fixed but for it, with leaves at their optimum by Newton's method.
With ``step="gradient"`` its splits are optimised for the least squares fit to the negative
gradient of the loss, and its leaves then for the loss ([1]_ section 4).

References
----------
.. [1] Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29, 2001.
.. [2] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023; its rival "GB-TAO".
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.fao import (
    FAOOptions,
    OptimizedForest,
    kind_of_split,
    optimize_forest,
)
from spinney.algorithms.losses import Array, ForestLoss, SquaredError
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.ensembles.recipe import NO_STEPS, Outline, Steps
from spinney.ensembles.rows import draw_rows
from spinney.ensembles.seeds import tree_seed
from spinney.ensembles.starts import StartRule
from spinney.tree.gains import GainTask, gain_task
from spinney.tree.route import outputs, outputs_at
from spinney.tree.structure import Topology, Tree


@dataclass(frozen=True)
class GradientRule:
    """How trees follow each other.

    Attributes
    ----------
    learning_rate : float
        Share of what a tree says that is taken.
    step : {"newton", "gradient"}
    subsample : float
        Share of the rows, drawn anew for each tree, that it is optimised on.
    """

    learning_rate: float
    step: str = "newton"
    subsample: float = 1.0


@dataclass(frozen=True)
class AddedTree:
    """A tree whose leaves hold what is added, in the unit of the targets, and how it came about."""

    tree: Tree
    trace: Trace


@dataclass(frozen=True, eq=False)
class AddedTrees:
    """Recipe of trees that are added one after the other.

    `first` is what is said before any tree is asked, in the unit of the targets.
    """

    start: StartRule
    options: FAOOptions
    rule: GradientRule
    seed: int
    n_trees: int
    first: Array
    kind: ClassVar[type[AddedTree]] = AddedTree
    is_saved_by_part: ClassVar[bool] = True

    @property
    def n_parts(self) -> int:
        """Number of trees."""
        return self.n_trees

    def outline(self, n_known: int) -> Outline:
        """Rounds are counted."""
        return Outline("round", self.n_trees, first=n_known)

    def parts(
        self,
        problem: Problem,
        known: Sequence[AddedTree] = (),
        saved: Sequence[AddedTree] = (),
        steps: Steps = NO_STEPS,
    ) -> Generator[AddedTree, None, None]:
        """Saved trees, then those that follow, without end."""
        del steps
        yield from saved
        given = [member.tree for member in (*known, *saved)]
        yield from gradient_boost(
            problem, self.start, self.options, self.rule, self.seed, given, self.first
        )


def gradient_boost(
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    rule: GradientRule,
    seed: int,
    given: Sequence[Tree] = (),
    first: Array | None = None,
) -> Iterator[AddedTree]:
    """Trees, one after the other, without end.

    Parameters
    ----------
    problem : Problem
    start : StartRule
    options : FAOOptions
        How each tree is optimised; `max_iter` counts sweeps.
    rule : GradientRule
    seed : int
        Every random number follows from it and the number of the tree.
    given : sequence of Tree
        Trees that exist already; boosting goes on after them.
    first : float64[n_outputs], optional
        What is said before any tree is asked, in the unit of the targets. By default
        `first_scores`.
    """
    unit = problem.target_scale
    wanted = wanted_scores(problem, options.loss)
    if first is None:
        first = first_scores(problem, options.loss)
    # In the unit of the targets, so that going on after some trees gives the same bits.
    sums = np.tile(first, (problem.n_rows, 1))
    for tree in given:
        sums += outputs(tree, problem.rows, options.n_threads)
    number = len(given)
    while True:
        own_seed = tree_seed(seed, number)
        drawn = draw_rows(problem, rule.subsample, seed, number)
        grow = _on_gradient if rule.step == "gradient" else _on_loss
        split = kind_of_split(options.tao.split, number)
        own_options = replace(options, tao=replace(options.tao, split=split))
        found = grow(drawn, wanted, sums / unit, start, own_seed, own_options)
        tree = _shrunk(found.trees[0], rule.learning_rate)
        yield AddedTree(tree, found.trace.at("leaves"))
        sums += outputs(tree, problem.rows, options.n_threads)
        number += 1


class Residuals:
    """Each tree is judged by the negative gradient of the loss that the trees before it leave.

    Parameters
    ----------
    problem : Problem
    loss : ForestLoss
        In units of the targets' scale, as trees are fitted to it.
    first : float64[n_outputs]
        What is said before any tree is asked, in the unit of the targets.
    n_threads : int, default=1
    """

    def __init__(
        self, problem: Problem, loss: ForestLoss, first: Array, n_threads: int = 1
    ) -> None:
        self._problem, self._loss, self._n_threads = problem, loss, n_threads
        self._wanted = wanted_scores(problem, loss)
        self._sums = np.tile(first, (problem.n_rows, 1))
        self._given = gain_task(problem)

    def task(self) -> GainTask:
        """The gradient at the present sums."""
        scores = self._sums / self._problem.target_scale
        downhill = self._loss.downhill(self._wanted, scores, self._problem.classes)
        return self._given.with_values(downhill)

    def follow(self, tree: Tree, leaf_nodes: NDArray[np.int32], share: float) -> None:
        """Add what a tree says; its leaves hold its share in the sum already."""
        del share
        self._sums += outputs_at(tree, leaf_nodes, self._problem.rows, self._n_threads)


def first_scores(problem: Problem, loss: ForestLoss) -> Array:
    """What is said before any tree is asked, in the unit of the targets."""
    wanted = wanted_scores(problem, loss)
    best = loss.best_constant(wanted, problem.classes, problem.sample_weight)
    return best * problem.target_scale


def wanted_scores(problem: Problem, loss: ForestLoss) -> Array:
    """What is wanted of the sum of all trees, in the unit of `problem.values`."""
    if problem.n_classes:
        return loss.wanted(problem.classes, problem.n_classes)
    return problem.values


def _on_loss(
    problem: Problem,
    wanted: Array,
    scores: Array,
    start: StartRule,
    seed: int,
    options: FAOOptions,
) -> OptimizedForest:
    """A tree optimised on the loss of what it adds."""
    downhill = _downhill(problem, wanted, scores, options.loss)
    first = _first_tree(downhill, start, seed, options)
    return optimize_forest(problem, [first], [seed], options, offset=scores)


def _first_tree(
    problem: Problem, start: StartRule, seed: int, options: FAOOptions
) -> Topology | Tree:
    """Start that is drawn with what is left over in view, not the classes themselves."""
    given = start(problem, seed)
    if isinstance(given, Tree):
        return given
    as_drawn = replace(options, loss=SquaredError(), max_iter=0)
    nothing = np.zeros_like(problem.values)
    return optimize_forest(problem, [given], [seed], as_drawn, offset=nothing).trees[0]


def _on_gradient(
    problem: Problem,
    wanted: Array,
    scores: Array,
    start: StartRule,
    seed: int,
    options: FAOOptions,
) -> OptimizedForest:
    """A tree whose splits fit the negative gradient, and whose leaves are best for the loss."""
    downhill = _downhill(problem, wanted, scores, options.loss)
    squared = replace(options, loss=SquaredError())
    nothing = np.zeros_like(downhill.values)
    first = start(downhill, seed)
    found = optimize_forest(downhill, [first], [seed], squared, offset=nothing)
    only_leaves = replace(options, max_iter=0)
    refitted = optimize_forest(problem, found.trees, [seed], only_leaves, offset=scores)
    return OptimizedForest(refitted.trees, found.trace)


def _downhill(problem: Problem, wanted: Array, scores: Array, loss: ForestLoss) -> Problem:
    """Regression on the negative gradient at the present scores."""
    targets = loss.downhill(wanted, scores, problem.classes)
    return replace(
        problem,
        targets=np.ascontiguousarray(targets),
        sample_weight=problem.sample_weight * loss.curvature,
        n_classes=0,
        target_scale=1.0,
    )


def _shrunk(tree: Tree, share: float) -> Tree:
    return replace(tree, leaf_values=tree.leaf_values * share)
