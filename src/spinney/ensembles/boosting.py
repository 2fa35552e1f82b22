"""AdaBoost with TAO trees: SAMME and AdaBoost.M1.

Each tree is optimised on the exact row weights, which TAO can do where greedy trees only
approximate ([1]_ section VI.E); drawing rows by their weights instead is an option.

References
----------
.. [1] Gabidolla, Zharmagambetov and Carreira-Perpiñán, "Improved multiclass AdaBoost using sparse
   oblique decision trees", IJCNN 2022, algorithms 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from spinney.algorithms.tao import OptimizedTree, TAOOptions, optimize_tree
from spinney.algorithms.trace import Trace
from spinney.data import Problem, counted_rows
from spinney.data.warn_caller import warn_caller
from spinney.ensembles.copies import GappedCopies
from spinney.ensembles.recipe import NO_STEPS, Outline, Steps
from spinney.ensembles.seeds import COPIES, ROWS, stream, tree_seed
from spinney.ensembles.starts import StartRule
from spinney.tree.gains import GainTask, gain_task
from spinney.tree.route import outputs, outputs_at
from spinney.tree.structure import Tree


@dataclass(frozen=True)
class BoostingRule:
    """How the errors of a tree become its say and the next weights.

    Attributes
    ----------
    algorithm : {"samme", "m1"}
    learning_rate : float
        The shrinkage η.
    n_classes : int
    resample : bool
        Draw as many rows as there are by their weights, instead of weighting them.
    copies : GappedCopies
        Further rows that each tree is optimised on, new ones for every tree. Errors are counted
        on the rows alone: copies make a tree smoother, they are not what boosting has to get right.
    """

    algorithm: str
    learning_rate: float
    n_classes: int
    resample: bool = False
    copies: GappedCopies = field(default_factory=GappedCopies)

    @property
    def worst_error(self) -> float:
        """Weighted error at which a tree is no better than chance and boosting stops."""
        if self.n_classes == 1:
            return 0.0  # one tree says all there is to say
        # The weak learning conditions of [1], section III.
        return 0.5 if self.algorithm == "m1" else 1.0 - 1.0 / self.n_classes

    def is_weak(self, error: float) -> bool:
        """Whether boosting has to stop at a tree of this error.

        The error is a sum of many weights; chance itself must not pass by a rounding error.
        """
        return error >= self.worst_error - 1e-10

    def tree_weight(self, error: float, n_rows: float) -> float:
        """α of algorithm 1.

        A tree without errors would get infinite weight, and the paper leaves it open. Here an
        error counts as at least that of half a row, one more row among `n_rows` (see
        `counted_rows`). Such a tree does not change the weights, so the next one is optimised on
        the same task from another start, and boosting goes on.
        """
        least = 0.5 / (n_rows + 1.0)
        error = min(max(error, least), 1.0 - least)
        # algorithm 1 of [1]: α_t = η (log((1 - E) / E) + log(K - 1)), M1 without the last term
        chance = 0.0 if self.algorithm == "m1" else math.log(self.n_classes - 1)
        return self.learning_rate * (math.log((1.0 - error) / error) + chance)


@dataclass(frozen=True)
class BoostedTree:
    """A tree, its weighted training error and its weight in the vote."""

    tree: Tree
    trace: Trace
    error: float
    weight: float


@dataclass(frozen=True)
class BoostedTrees:
    """Recipe of trees that are boosted one after the other."""

    start: StartRule
    options: TAOOptions
    rule: BoostingRule
    seed: int
    n_trees: int
    kind: ClassVar[type[BoostedTree]] = BoostedTree
    is_saved_by_part: ClassVar[bool] = True

    @property
    def n_parts(self) -> int:
        """Number of trees, unless boosting comes to its end before."""
        return self.n_trees

    def outline(self, n_known: int) -> Outline:
        """Rounds are counted."""
        return Outline("round", self.n_trees, first=n_known)

    def few(self, problem: Problem, n_trees: int) -> list[BoostedTree]:
        """So many trees of the same kind, of another task; the last may be weak."""
        grown = boost_trees(problem, self.start, self.options, self.rule, self.seed)
        return list(islice(grown, n_trees))

    def parts(
        self,
        problem: Problem,
        known: Sequence[BoostedTree] = (),
        saved: Sequence[BoostedTree] = (),
        steps: Steps = NO_STEPS,
    ) -> Generator[BoostedTree, None, None]:
        """Saved trees, then those that follow; warns where boosting comes to its end.

        If the first tree is no better than chance it is the whole forest.
        """
        del steps
        yield from saved
        before = [*known, *saved]
        if len(before) == 1 and self.rule.is_weak(before[0].error):
            return
        given = [(member.tree, member.weight) for member in before]
        n_trees = len(before)
        for member in boost_trees(problem, self.start, self.options, self.rule, self.seed, given):
            if self.rule.is_weak(member.error):
                if self.rule.n_classes > 1:
                    _warn_of_end(n_trees, member.error, self.rule)
                if not n_trees:
                    yield replace(member, weight=1.0)
                return
            yield member
            n_trees += 1


def _warn_of_end(n_trees: int, error: float, rule: BoostingRule) -> None:
    """Say why there are fewer trees than were asked for."""
    kept = f"the {n_trees} trees before it" if n_trees else "this tree alone"
    warn_caller(
        f"tree {n_trees + 1} has a weighted error of {error:.3g}, and boosting needs less than "
        f"{rule.worst_error:.3g}; the forest is {kept}; try a larger max_depth or a smaller alpha"
        + (', or algorithm="samme".' if rule.algorithm == "m1" else "."),
        ConvergenceWarning,
    )


def boost_trees(
    problem: Problem,
    start: StartRule,
    options: TAOOptions,
    rule: BoostingRule,
    seed: int,
    given: Sequence[tuple[Tree, float]] = (),
) -> Iterator[BoostedTree]:
    """Boosted trees, one after the other, until one is no better than chance.

    Parameters
    ----------
    problem : Problem
        Its sample weights are the initial weights.
    start : StartRule
    options : TAOOptions
        Its `seed` is set for each tree.
    rule : BoostingRule
    seed : int
        Every random number follows from it and the number of the tree.
    given : sequence of (tree, weight)
        Trees that exist already. The row weights they lead to are computed anew, so boosting can
        go on where it stopped.

    Yields
    ------
    BoostedTree
        Without end, unless a tree is no better than chance: it is the last, with weight 0.
    """
    codes = problem.classes
    total = float(problem.sample_weight.sum())
    n_rows = counted_rows(problem.sample_weight)
    weights = problem.sample_weight / total
    for tree, weight in given:
        weights = reweighted(weights, labels_of(tree, problem, options.n_threads) != codes, weight)
    number = len(given)
    while True:
        sample = replace(problem, sample_weight=total * _shares(weights, rule, seed, number))
        found = _optimized_tree(sample, start, options, rule.copies, seed, number)
        is_wrong = labels_of(found.tree, problem, options.n_threads) != codes
        error = float(weights[is_wrong].sum())  # E, eq. (1) of [1]
        if rule.is_weak(error):
            yield BoostedTree(found.tree, found.trace, error, 0.0)
            return
        weight = rule.tree_weight(error, n_rows)
        yield BoostedTree(found.tree, found.trace, error, weight)
        weights = reweighted(weights, is_wrong, weight)
        number += 1


def _optimized_tree(
    sample: Problem,
    start: StartRule,
    options: TAOOptions,
    copies: GappedCopies,
    seed: int,
    number: int,
) -> OptimizedTree:
    """Tree `number` of boosting, on a task and copies of its rows.

    The copies end with it: they must not wait beside those of the next tree for someone to ask.
    """
    own_seed = tree_seed(seed, number)
    grown = start(sample, own_seed)
    more = copies.added_to(sample, stream(seed, number, COPIES))
    return optimize_tree(more, grown, replace(options, seed=own_seed))


class RoundWeights:
    """Each tree is judged by the row weights of its round, which follow from the trees before it.

    With `resample` too: what is drawn stands for these weights.

    Parameters
    ----------
    problem : Problem
    n_threads : int, default=1
    """

    def __init__(self, problem: Problem, n_threads: int = 1) -> None:
        self._problem, self._n_threads = problem, n_threads
        self._weights = problem.sample_weight / problem.sample_weight.sum()
        self._given = gain_task(problem)

    def task(self) -> GainTask:
        """The classes, with the weights of the round."""
        return self._given.with_weights(self._weights)

    def follow(self, tree: Tree, leaf_nodes: NDArray[np.int32], share: float) -> None:
        """Raise the weights of the rows that a tree of this say gets wrong."""
        said = outputs_at(tree, leaf_nodes, self._problem.rows, self._n_threads)
        is_wrong = said.argmax(axis=1) != self._problem.classes
        self._weights = reweighted(self._weights, is_wrong, share)


def labels_of(tree: Tree, problem: Problem, n_threads: int = 1) -> NDArray[np.intp]:
    """Class that a tree gives to each training row."""
    labels: NDArray[np.intp] = outputs(tree, problem.rows, n_threads).argmax(axis=1)
    return labels


def reweighted(
    weights: NDArray[np.float64], is_wrong: NDArray[np.bool_], tree_weight: float
) -> NDArray[np.float64]:
    """Weights for the next tree: those of wrong rows times exp(α), made to sum to 1.

    Dividing the others is the same after the sum, and cannot overflow.
    """
    lowered = np.where(is_wrong, weights, weights * math.exp(-tree_weight))
    return np.asarray(lowered / lowered.sum())


def _shares(
    weights: NDArray[np.float64], rule: BoostingRule, seed: int, number: int
) -> NDArray[np.float64]:
    """Share of each row in the next task, by its weight or by how often it was drawn."""
    if not rule.resample:
        return weights
    n_rows = len(weights)
    drawn = stream(seed, number, ROWS).choice(n_rows, n_rows, p=weights)
    return np.asarray(np.bincount(drawn, minlength=n_rows) / n_rows)
