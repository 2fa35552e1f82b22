"""Which rows and columns each tree of a forest sees, and what the others say of its rows.

Trees share the rows of one problem and differ in the weights, so no sample is ever copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.trace import Trace
from spinney.ensembles.seeds import COLUMNS, ROWS, stream, tree_seed
from spinney.tree.structure import Tree

Outputs: TypeAlias = Callable[[Tree], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A finished tree of a forest.

    Attributes
    ----------
    tree : Tree
    trace : Trace or None
        How it was optimised; None of a tree that was grown greedily.
    unpruned : Tree or None
        The same with all its nodes, if the next tree starts from it.
    """

    tree: Tree
    trace: Trace | None = None
    unpruned: Tree | None = None


@dataclass(frozen=True)
class SamplePlan:
    """Rows and columns of the trees of a forest.

    Attributes
    ----------
    seed : int
        Every random number follows from it and the number of the tree.
    n_samples : int
        Rows drawn for each tree.
    with_replacement : bool
        Whether a row can be drawn more than once, as in a bootstrap.
    n_columns : int
        Columns drawn; 0 for all.
    is_global : bool
        Columns are drawn once a tree ("global"), not once a split ("local").
    """

    seed: int
    n_samples: int
    with_replacement: bool
    n_columns: int
    is_global: bool

    def sees_all(self, n_rows: int) -> bool:
        """Whether every tree sees every row."""
        return self.n_samples == n_rows and not self.with_replacement

    def row_counts(self, tree: int, n_rows: int) -> NDArray[np.float64]:
        """How often each row was drawn for a tree."""
        if self.sees_all(n_rows):
            return np.ones(n_rows)
        rng = stream(self.seed, tree, ROWS)
        drawn = rng.choice(n_rows, self.n_samples, replace=self.with_replacement)
        return np.bincount(drawn, minlength=n_rows).astype(np.float64)

    def columns(self, tree: int, n_features: int) -> NDArray[np.intp]:
        """Columns that a whole tree may use, ascending."""
        rng = stream(self.seed, tree, COLUMNS)
        return np.sort(rng.choice(n_features, self.n_columns, replace=False))

    def subspaces(self, trees: range, n_features: int) -> list[NDArray[np.intp]]:
        """Columns that each tree may use."""
        return [self.columns(tree, n_features) for tree in trees]

    def tree_seed(self, tree: int) -> int:
        """Seed of a tree's solver and column draws."""
        return tree_seed(self.seed, tree)


def widen(tree: Tree, columns: NDArray[np.intp], n_features: int) -> Tree:
    """A tree on some columns as a tree on all of them."""
    numbers = columns.astype(np.int32)
    return replace(
        tree,
        n_features=n_features,
        split_indices=numbers[tree.split_indices],
        leaf_indices=numbers[tree.leaf_indices],
    )


def out_of_bag(
    trees: tuple[Tree, ...],
    plan: SamplePlan,
    n_rows: int,
    outputs: Outputs,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum of what the trees say of the rows they were not trained on, and how many they were.

    Parameters
    ----------
    trees : tuple of Tree
    plan : SamplePlan
        The plan they were grown by.
    n_rows : int
    outputs : callable
        Votes, probabilities or values of one tree for all rows, (n_rows, n_outputs).

    Returns
    -------
    sums : ndarray of float64, shape (n_rows, n_outputs)
    counts : ndarray of int64, shape (n_rows,)
    """
    sums = np.zeros((n_rows, trees[0].n_outputs))
    counts = np.zeros(n_rows, dtype=np.int64)
    for number, tree in enumerate(trees):
        is_out = plan.row_counts(number, n_rows) == 0
        sums[is_out] += outputs(tree)[is_out]
        counts += is_out
    return sums, counts
