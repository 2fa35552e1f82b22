"""How much each feature lowers the loss of the training rows, by the splits of a tree.

The gain of a split is the squared loss of its rows answered by one constant, less their loss with
one constant a side: for classes it is the decrease of the Gini impurity, for numbers that of the
squared error. It is shared among the columns of the hyperplane by what each explains of it, and
what chance alone would explain is taken off. The native core looks at the rows; this module says
what a tree is judged by. `docs/decisions/0018-importances.md` has the formulas and why they are so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.data import Problem, counted_rows
from spinney.tree.structure import Tree

_NO_CLASSES = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class GainTask:
    """What a tree is judged by.

    Attributes
    ----------
    classes : int32[n]
        Class codes; empty if the targets are numbers.
    values : float64[n, n_outputs]
        Numbers, about their means; empty if the targets are classes.
    n_outputs : int
    weights : float64[n]
        Shares of the rows in the loss, which sum to 1; rows of share 0 are left out.
    counts : float64[n]
        Rows that a row stands for. A loss may weigh it more, but it is no evidence of more.
    n_columns : int
        Columns that vary: so many a split could choose among.
    """

    classes: NDArray[np.int32]
    values: NDArray[np.float64]
    n_outputs: int
    weights: NDArray[np.float64]
    counts: NDArray[np.float64]
    n_columns: int

    def with_values(self, values: NDArray[np.float64]) -> GainTask:
        """The same rows, judged by other numbers."""
        means = np.average(values, axis=0, weights=self.weights)
        centred = np.ascontiguousarray(values - means)
        return replace(self, classes=_NO_CLASSES, values=centred, n_outputs=values.shape[1])

    def with_weights(self, weights: NDArray[np.float64]) -> GainTask:
        """The same rows and evidence, weighted otherwise."""
        return replace(self, weights=np.ascontiguousarray(weights / weights.sum()))


def gain_task(problem: Problem) -> GainTask:
    """The targets and weights that were given."""
    shares = problem.sample_weight / problem.sample_weight.sum()
    task = GainTask(
        classes=problem.classes,
        values=np.zeros((0, problem.n_outputs)),
        n_outputs=problem.n_outputs,
        weights=shares,
        # Decision 0018 takes n for the number of rows, however they are weighted.
        counts=shares * counted_rows(problem.sample_weight),
        # Its d: a split of noise has as many columns to choose the best of.
        n_columns=int(np.count_nonzero(problem.scale)),
    )
    return task if problem.n_classes else task.with_values(problem.values)


class GainRule(Protocol):
    """What the trees of an ensemble are judged by, one after the other."""

    def task(self) -> GainTask:
        """What the next tree is judged by."""
        ...

    def follow(self, tree: Tree, leaf_nodes: NDArray[np.int32], share: float) -> None:
        """Go on to the tree after this one, whose rows end in these leaves."""
        ...


class SameForAll:
    """Every tree is judged by the given targets and weights.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self._task = gain_task(problem)

    def task(self) -> GainTask:
        """The targets and weights that were given."""
        return self._task

    def follow(self, tree: Tree, leaf_nodes: NDArray[np.int32], share: float) -> None:
        """Nothing changes."""


def column_gains(
    tree: Tree,
    rows: _core.Rows,
    leaf_nodes: NDArray[np.int32],
    task: GainTask,
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each column lowers the loss by: beyond chance, and in all.

    Parameters
    ----------
    tree : Tree
    rows : native rows
    leaf_nodes : int32 ndarray of shape (n_rows,)
        Node number of the leaf of each row.
    task : GainTask
    n_threads : int, default=1

    Returns
    -------
    beyond_chance, in_all : float64 ndarrays of shape (n_features,)
    """
    return _core.column_gains(
        rows,
        tree.as_arrays,
        leaf_nodes,
        task.classes,
        task.values,
        task.n_outputs,
        task.weights,
        task.counts,
        task.n_columns,
        n_threads,
    )


@dataclass(eq=False)
class GainImportances:
    """Sums gains over trees.

    Parameters
    ----------
    rows : native rows
    n_features : int
    rule : GainRule
    n_threads : int
    """

    rows: _core.Rows
    n_features: int
    rule: GainRule
    n_threads: int = 1
    _beyond_chance: NDArray[np.float64] = field(init=False)
    _in_all: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self._beyond_chance = np.zeros(self.n_features)
        self._in_all = np.zeros(self.n_features)

    def add(self, tree: Tree, leaf_nodes: NDArray[np.int32], share: float) -> None:
        """Add the gains of the next tree, which counts `share` in the ensemble."""
        gains = column_gains(tree, self.rows, leaf_nodes, self.rule.task(), self.n_threads)
        self._beyond_chance += share * gains[0]
        self._in_all += share * gains[1]
        self.rule.follow(tree, leaf_nodes, share)

    def shares(self) -> NDArray[np.float64]:
        """Share of each feature in the sum, float64 of shape (n_features,); zeros if it is 0.

        Where nothing goes beyond chance, as with a handful of rows, chance is left in: that there
        is a split is then all that is known.
        """
        gains = self._beyond_chance if self._beyond_chance.any() else self._in_all
        total = gains.sum()
        return gains / total if total > 0 else gains
