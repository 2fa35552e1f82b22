"""A forest in the middle of its optimisation: trees in the core, and what they give each row.

The scores of all rows are kept up to date, so that a tree can be taken out of the sum and asked for
what the others leave over without walking through any of them ([1]_ eq. 3).

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.fao_options import FAOOptions, kind_of_split
from spinney.algorithms.lasting_splits import lasting_splits
from spinney.algorithms.leaves import LeafNumbers, LeafTask
from spinney.algorithms.losses import Array, Huber
from spinney.algorithms.mean_splits import MeanSplits
from spinney.algorithms.tao_options import TAOOptions
from spinney.algorithms.tao_sweep import AroundLevel
from spinney.algorithms.tree_optimizer import native_optimizer, tree_of
from spinney.data import Problem
from spinney.tree.prune import prune
from spinney.tree.structure import Tree


@dataclass(frozen=True, eq=False)
class ForestTask:
    """What a forest is optimised for.

    Attributes
    ----------
    problem : Problem
    options : FAOOptions
    centre : float64[n_outputs]
        What all trees together are shrunk towards by the penalty on their leaves. Targets and
        scores are measured from it.
    sums : LeafTask
        The loss of the sum of the trees, and what is wanted of it.
    goes_on : bool
        Whether the trees are a forest that goes on with other rows: every node stays.
    """

    problem: Problem
    options: FAOOptions
    centre: Array
    sums: LeafTask
    goes_on: bool

    @staticmethod
    def of(
        problem: Problem, options: FAOOptions, offset: Array | None, *, goes_on: bool
    ) -> ForestTask:
        """The task of a forest that is added to `offset`, or to nothing."""
        loss = options.loss
        centre = np.zeros(problem.n_outputs)
        if offset is None:
            centre = _centre(problem, options)
        wanted = problem.values
        if problem.n_classes:
            wanted = loss.wanted(problem.classes, problem.n_classes)
        sums = LeafTask(loss, wanted - centre, problem.classes, problem.sample_weight, offset)
        return ForestTask(problem, options, centre, sums, goes_on)

    @property
    def around_level(self) -> AroundLevel:
        """Context in which the splits of a level are solved."""
        return lasting_splits if self.goes_on else nullcontext

    def leaf_penalty(self, values: Array) -> float:
        """The term of the leaves of a tree in [1]_ eq. (2): mu sum_j psi(theta_j)."""
        size = np.abs(values)
        return float(self.options.l1 * size.sum() + self.options.l2 * (size**2).sum())


def _centre(problem: Problem, options: FAOOptions) -> Array:
    """Score of the classes, or mean of the targets: not towards zero, wherever that may lie."""
    if problem.n_classes:
        return np.full(problem.n_outputs, options.shrink_to)
    return np.asarray(np.average(problem.values, axis=0, weights=problem.sample_weight))


@dataclass(frozen=True, eq=False)
class Member:
    """One tree of the forest, as it was left by the last step over it.

    Attributes
    ----------
    native : TreeOptimizer
        Its splits, and its leaves as of the last step over this tree.
    left, right : int32[n_nodes]
    first_leaf : int
        Number of its first leaf, where leaves are numbered through all trees.
    values : float64[n_leaves, n_outputs]
        What its leaves give now, after the last step over all leaves.
    reach : int64[n_nodes]
        Rows that reach each node.
    split_penalty : float
        The term of its splits in [1]_ eq. (2): lambda sum_i phi(theta_i).
    late : MeanSplits or None
        Splits of the last iterations, where they are to be averaged.
    """

    native: _core.TreeOptimizer
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    first_leaf: int
    values: Array
    reach: NDArray[np.int64]
    split_penalty: float = 0.0
    late: MeanSplits | None = None

    @property
    def n_leaves(self) -> int:
        """Leaves of its shape, whether rows reach them or not."""
        return count_leaves(self.left)


def count_leaves(left: NDArray[np.int32]) -> int:
    """Leaves of a shape."""
    return int(np.count_nonzero(left < 0))


class JointForest:
    """Trees whose outputs add up, while they are optimised.

    They take turns. What the core knows of each row, and what the other trees leave over, is that
    of one tree at a time; of the others there is no more than the numbers of the leaves.

    Parameters
    ----------
    task : ForestTask
    n_trees : int
        Trees that will be added.
    most_leaves : int
        Most leaves of one of them.

    Attributes
    ----------
    members : list of Member
    scores : float64[n_rows, n_outputs]
        What the trees give each row together, with the offset, if there is any.
    leaf_of : uint8, uint16 or uint32[n_trees, n_rows]
        Number of the leaf of each row among those of each tree: where phi_tj of [1]_ eq. (5) is 1.
    """

    def __init__(self, task: ForestTask, n_trees: int, most_leaves: int) -> None:
        self.task = task
        self.members: list[Member] = []
        wanted = task.sums.wanted
        self.scores = task.sums.scores(np.zeros_like(wanted))
        narrow = np.min_scalar_type(max(most_leaves - 1, 0))
        self.leaf_of: LeafNumbers = np.zeros((n_trees, task.problem.n_rows), dtype=narrow)
        # y'_n of eq. (3) for the tree at hand. The cores of all trees read this array in place.
        self._left_over = wanted - self.scores
        self._row_state = _core.RowState(task.problem.sample_weight)

    def new_tree(
        self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int
    ) -> tuple[_core.TreeOptimizer, TAOOptions]:
        """The next tree in the core, still without splits, and its own options."""
        options, problem = self.task.options, self.task.problem
        split = kind_of_split(options.tao.split, len(self.members))
        tao = replace(options.tao, split=split, seed=seed, n_threads=options.n_threads)
        task = _core.Task(
            classes=problem.classes,
            values=self._left_over,
            weights=problem.sample_weight,
            n_outputs=problem.n_outputs,
            loss=options.loss.name,
            leaf="constant",
            huber_delta=options.loss.delta if isinstance(options.loss, Huber) else 1.0,
            leaf_alpha=0.0,
            leaf_ridge=0.0,
            leaf_epochs=1,
            constant_l1=options.l1,
            constant_l2=options.l2,
        )
        return native_optimizer(problem, left, right, task, tao, self._row_state), tao

    def add(
        self, native: _core.TreeOptimizer, left: NDArray[np.int32], right: NDArray[np.int32]
    ) -> None:
        """Add a tree that has its splits. What it gives is not yet in the scores."""
        options, number = self.task.options, len(self.members)
        first_leaf = sum(member.n_leaves for member in self.members)
        # Means of splits by single columns would use several.
        is_oblique = kind_of_split(options.tao.split, number) == "oblique"
        is_averaged = options.average_last > 1 and is_oblique
        late = MeanSplits(options.average_last) if is_averaged else None
        nothing, nowhere = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
        self.members.append(Member(native, left, right, first_leaf, nothing, nowhere, late=late))
        self._read_back(number)

    def change(self, number: int, values: Array) -> None:
        """Let the leaves of a tree give other values, without a word to the scores."""
        self.members[number] = replace(self.members[number], values=values)

    def add_outputs(self, number: int, factor: float) -> None:
        """Add what a tree gives each row to the scores: sum_j theta_j phi_j(x_n) of [1]_ eq. (5).

        A `factor` of -1 takes it out of them.
        """
        values = np.ascontiguousarray(self.members[number].values)
        n_threads = self.task.options.n_threads
        _core.add_leaf_values(self.scores, self.leaf_of[number], values, factor, n_threads)

    @contextmanager
    def taken_out(self, number: int) -> Iterator[_core.TreeOptimizer]:
        """A tree asked for what the others leave over; back in the sum, as it is then, at the end.

        Whatever is done to it in between is a step on [1]_ eq. (4).
        """
        native = self.members[number].native
        self.add_outputs(number, -1.0)
        # y'_n = y_n - sum_{u != t} T_u(x_n), eq. (3). The log loss, which wants zeros and is no
        # function of y - F, finds the scores of the other trees here, with their signs changed.
        np.subtract(self.task.sums.wanted, self.scores, out=self._left_over)
        values = np.ascontiguousarray(self.members[number].values)
        native.take_turn(self.leaf_of[number], values)
        yield native
        self._read_back(number)
        self.add_outputs(number, 1.0)

    def _read_back(self, number: int) -> None:
        """Note where rows and leaves of a tree are after a step."""
        member = self.members[number]
        values = member.native.leaves()[0]
        # Rows of no weight are in no leaf; any will do, for they count nothing.
        member.native.leaf_numbers(self.leaf_of[number])
        _, penalty = member.native.objective()
        split_penalty = float(penalty) - self.task.leaf_penalty(values)
        reach = member.native.reach()
        self.members[number] = replace(
            member, values=values, reach=reach, split_penalty=split_penalty
        )

    def objective(self) -> tuple[float, float]:
        """Loss and penalty of the forest: the terms of [1]_ eq. (2)."""
        penalty = sum(
            member.split_penalty + self.task.leaf_penalty(member.values) for member in self.members
        )
        return self.task.sums.total(self.scores), penalty

    def count_active(self) -> int:
        """Splits of all trees whose weights are not all zero."""
        return sum(member.native.count_active() for member in self.members)

    def trees(self) -> tuple[Tree, ...]:
        """The forest as it is now, in the unit of the targets."""
        return tuple(self._tree(member) for member in self.members)

    def _tree(self, member: Member) -> Tree:
        task = self.task
        tree = tree_of(member.native, member.left, member.right, task.problem, task.options.tao)
        values = member.values + task.centre / len(self.members)  # a share of the centre each
        tree = replace(tree, leaf_values=values * task.problem.target_scale)
        # A forest that goes on keeps what only earlier rows needed: later ones may need it again.
        return tree if task.goes_on else prune(tree, member.reach)
