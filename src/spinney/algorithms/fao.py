"""Forest Alternating Optimization (FAO): one objective over all trees of a forest.

The forest is the sum of its trees. An iteration takes each tree in turn, the others fixed, which
is a tree to be optimised on what the others leave over; then all leaves of all trees together,
the splits fixed ([1]_ section 4).

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.lasting_splits import lasting_splits
from spinney.algorithms.leaves import LeafTask, improve_leaves
from spinney.algorithms.losses import Array, BoundedLoss, ForestLoss, Huber
from spinney.algorithms.mean_splits import MeanSplits
from spinney.algorithms.state import ForestRun, MemberRun, NativeTree, Save
from spinney.algorithms.tao import (
    AroundLevel,
    TAOOptions,
    lowers_objective,
    native_optimizer,
    set_tree_splits,
    solve_splits,
    start_length,
    tightened,
    tree_of,
)
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.tree.prune import prune
from spinney.tree.structure import Topology, Tree

#: Rounds over the trees in which leaves are refitted one tree after the other, where they have no
#: joint solution at hand.
BACKFITTING_ROUNDS = 10

#: Iterations without progress after which an exploring run ends; it may go up before it goes down.
PATIENCE = 5

#: Joint steps over all leaves after hyperplanes were averaged: no trees follow that would go on.
LAST_LEAF_STEPS = 3


@dataclass(frozen=True)
class FAOOptions:
    """How one forest is optimised; the estimators' docstrings explain each word.

    Attributes
    ----------
    tao : TAOOptions
        How each tree is: its splits, penalty, solver, order and guard. Loss and leaves are the
        forest's. Its `split` may also be "mixed", see `kind_of_split`.
    loss : ForestLoss
    leaf_alpha : float
        Weight of the penalty on leaf values; the paper's μ.
    leaf_penalty : {"l1", "l2"}
    max_iter : int
    tol : float
    n_threads : int
    keeps_iterations : bool
        Whether the forest after each iteration is part of the result.
    average_last : int
        Iterations at the end over which the hyperplanes of each split are averaged; 1 takes the
        last ones as they are.
    shrink_to : float
        Score of every class towards which the penalty shrinks leaves; numbers are shrunk towards
        their mean.
    """

    tao: TAOOptions
    loss: ForestLoss
    leaf_alpha: float = 0.01
    leaf_penalty: str = "l2"
    max_iter: int = 20
    tol: float = 1e-4
    n_threads: int = 1
    keeps_iterations: bool = False
    average_last: int = 1
    shrink_to: float = 0.0

    @property
    def l1(self) -> float:
        """Weight of the absolute leaf values."""
        return self.leaf_alpha if self.leaf_penalty == "l1" else 0.0

    @property
    def l2(self) -> float:
        """Weight of the squared leaf values."""
        return self.leaf_alpha if self.leaf_penalty == "l2" else 0.0


@dataclass(frozen=True)
class OptimizedForest:
    """Trees, whose outputs add up, and how they came about.

    `iterations` holds the trees after each iteration, where they were to be kept.
    """

    trees: tuple[Tree, ...]
    trace: Trace
    iterations: tuple[tuple[Tree, ...], ...] = ()


Callback = Callable[[Trace], None]

#: Is asked after each iteration, with the trace and a function that makes the trees as they are;
#: True ends the run there.
AfterIteration = Callable[[Trace, Callable[[], tuple[Tree, ...]]], bool]


def kind_of_split(split: str, number: int) -> str:
    """Kind of the splits of tree `number` of a forest: "mixed" takes turns, hyperplanes first."""
    if split != "mixed":
        return split
    return "axis" if number % 2 else "oblique"


def optimize_forest(
    problem: Problem,
    starts: Sequence[Topology | Tree],
    seeds: Sequence[int],
    options: FAOOptions,
    callback: Callback | None = None,
    *,
    keeps_leaves: bool = False,
    begins_with_leaves: bool = False,
    offset: Array | None = None,
    resume: ForestRun | None = None,
    save: Save[ForestRun] | None = None,
    after_iteration: AfterIteration | None = None,
) -> OptimizedForest:
    """Forest of low objective, found by alternating over the trees and over all leaves.

    With ``strict_descent`` no step raises the objective. Without it every solution of a split is
    accepted, which finds better forests; then single steps may go up.

    Parameters
    ----------
    problem : Problem
    starts : sequence of (left, right) or Tree
        One a tree: a shape, whose parameters are drawn at random, or a tree whose splits are to be
        improved.
    seeds : sequence of int
        One a tree.
    options : FAOOptions
    callback : callable, optional
        Called with the trace after each step over a tree or over all leaves.
    keeps_leaves : bool, default=False
        The given trees are a forest, whose outputs add up, and which goes on as it is: every node
        stays, with its old hyperplane or value where the rows do not need it, and `max_weights`
        holds from the first iteration on. Otherwise all leaves are fitted anew, and what rows do
        not need is pruned.
    begins_with_leaves : bool, default=False
        The outputs of the given trees add up to what the run begins with; all leaves are fitted
        anew at the end of the first iteration, not before it.
    offset : float64[n_rows, n_outputs], optional
        What rows have already, in the unit of `problem.values`; the forest is added to it. By
        default it is nothing, or for real targets their mean, which the trees then give, too.
    resume : ForestRun, optional
        Where an earlier run with the same arguments was; this one ends as that would have, to the
        bit. It needs no `starts`.
    save : callable, optional
        Offered the state after the start and after each iteration.
    after_iteration : callable, optional
        Asked after each iteration; True ends the run there, as if `max_iter` were reached. Where
        `max_weights` is not met yet, a last iteration meets it.
    """
    run = _Run(problem, len(seeds), options, callback, keeps_leaves=keeps_leaves, offset=offset)
    offer = save or _ignore
    if resume is None:
        run.begin(starts, seeds, has_leaves=keeps_leaves or begins_with_leaves)
        offer(run.state)  # grown starts may have taken long
    else:
        run.resume(resume, seeds)
    return run.result(offer, after_iteration or _go_on)


@dataclass
class _Member:
    """One tree: its native state, and what the forest knows of it."""

    native: _core.TreeOptimizer
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    first_leaf: int  # leaves are numbered through all trees
    values: Array = field(default_factory=lambda: np.zeros((0, 0)))
    split_penalty: float = 0.0
    late: MeanSplits | None = None  # splits of the last iterations, where they are averaged

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.left < 0))


def _centre(problem: Problem, options: FAOOptions) -> Array:
    """What all trees together are shrunk towards by the penalty on their leaves."""
    if problem.n_classes:
        return np.full(problem.n_outputs, options.shrink_to)
    # Towards the mean, not towards zero.
    return np.asarray(np.average(problem.values, axis=0, weights=problem.sample_weight))


class _Run:
    """One optimisation: the trees, the scores they give together, and the trace."""

    def __init__(
        self,
        problem: Problem,
        n_trees: int,
        options: FAOOptions,
        callback: Callback | None,
        *,
        keeps_leaves: bool,
        offset: Array | None,
    ) -> None:
        self.problem = problem
        self.options = options
        self.callback = callback
        self.trace = Trace()
        self.iterations: list[tuple[Tree, ...]] = []
        self.began = time.perf_counter()
        self.n_iterations = self.n_stalled = 0
        self.best = math.inf
        self.centre = np.zeros(problem.n_outputs)
        if offset is None:
            self.centre = _centre(problem, options)
        wanted = problem.values
        if problem.n_classes:
            wanted = options.loss.wanted(problem.classes, problem.n_classes)
        wanted = wanted - self.centre
        self.task = LeafTask(options.loss, wanted, problem.classes, problem.sample_weight, offset)
        self.scores = self.task.scores(np.zeros_like(wanted))
        # What is asked of the tree at hand; the core reads it in place, for all trees.
        self.left_over = wanted - self.scores
        self.leaf_of = np.zeros((n_trees, problem.n_rows), dtype=np.uint32)
        self.members: list[_Member] = []
        self.keeps_leaves = keeps_leaves
        self.around_level: AroundLevel = lasting_splits if keeps_leaves else nullcontext

    def begin(
        self, starts: Sequence[Topology | Tree], seeds: Sequence[int], *, has_leaves: bool
    ) -> None:
        """Take the starts of the trees, with their leaves or with all leaves fitted anew."""
        for start, seed in zip(starts, seeds, strict=True):
            self._add(start, seed)
        if has_leaves:
            for number, start in enumerate(starts):
                self._keep_leaves(number, start)
        else:
            self._step_over_leaves()
        self._record("start")

    def resume(self, run: ForestRun, seeds: Sequence[int]) -> None:
        """Take up the work of an earlier run."""
        if run.scores.shape != self.scores.shape or len(run.members) != len(seeds):
            raise ValueError(
                f"the given state is of {len(run.members)} trees and scores of shape "
                f"{run.scores.shape}; this task has {len(seeds)} and {self.scores.shape}."
            )
        for member, seed in zip(run.members, seeds, strict=True):
            self._restore(member, seed)
        self.scores = run.scores.copy()
        self.n_iterations, self.n_stalled = run.n_iterations, run.n_stalled
        self.best = run.best
        self.trace = run.trace.copied()
        self.iterations = list(run.iterations)
        self.began = time.perf_counter() - self.trace.seconds[-1]

    def state(self) -> ForestRun:
        """Where the run is now, between two iterations."""
        members = tuple(
            MemberRun(
                member.left,
                member.right,
                NativeTree.of(member.native),
                member.values.copy(),
                member.split_penalty,
                member.late.noted if member.late is not None else (),
            )
            for member in self.members
        )
        return ForestRun(
            members=members,
            scores=self.scores.copy(),
            n_iterations=self.n_iterations,
            best=self.best,
            n_stalled=self.n_stalled,
            trace=self.trace.copied(),
            iterations=tuple(self.iterations),
        )

    def result(self, offer: Save[ForestRun], is_enough: AfterIteration) -> OptimizedForest:
        is_tight, is_stopped = True, False
        while self.n_iterations < self.options.max_iter and not (self._is_over() or is_stopped):
            is_tight = self._iterate((self.n_iterations + 1) / self.options.max_iter)
            offer(self.state)
            is_stopped = is_enough(self.trace, self._trees)
        if is_stopped and not is_tight:
            self._iterate(1.0)
        self._average()
        return OptimizedForest(self._trees(), self.trace, tuple(self.iterations))

    def _iterate(self, progress: float) -> bool:
        """Each tree once, then all leaves; True if the limit on weights was the one wanted."""
        self.n_iterations += 1
        is_tight = self._tighten(progress)
        for number in range(len(self.members)):
            self._step_over_tree(number, self.n_iterations)
            self._record("tree")
        self._step_over_leaves()
        objective = self._record("leaves")
        self._note_splits()
        if self.options.keeps_iterations:
            self.iterations.append(self._trees())
        if is_tight:
            self._judge(objective)
        return is_tight

    def _is_over(self) -> bool:
        """Whether iterations have brought nothing for long enough."""
        patience = 1 if self.options.tao.strict_descent else PATIENCE
        return self.n_stalled >= patience and self.options.tol > 0

    def _judge(self, objective: float) -> None:
        """Note whether the last iteration brought anything."""
        # While everything is accepted, weights grow: the penalty rises as the loss falls.
        reached = objective if self.options.tao.strict_descent else self.trace.loss[-1]
        has_fallen = reached < (1 - self.options.tol) * self.best
        self.n_stalled = 0 if has_fallen else self.n_stalled + 1
        self.best = min(self.best, reached)

    def _note_splits(self) -> None:
        """Remember hyperplanes that are to be averaged."""
        for member in self.members:
            if member.late is not None:
                member.late.note(member.native)

    def _average(self) -> None:
        """Replace hyperplanes by their means over the last iterations, and refit all leaves."""
        if self.options.average_last == 1 or not self.trace.phase.count("leaves"):
            return
        for number, member in enumerate(self.members):
            if member.late is None:
                continue
            self._ask(number)
            with self.around_level(member.native):
                member.late.put_into(member.native, self.problem, self.options.tao.max_weights)
            self._put_back(number)
        for _ in range(LAST_LEAF_STEPS):
            self._step_over_leaves()
        self._record("average")
        if self.iterations:
            self.iterations[-1] = self._trees()

    def _native(
        self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int
    ) -> tuple[_core.TreeOptimizer, TAOOptions]:
        """State of the next tree in the core, still empty, and its own options."""
        options = self.options
        split = kind_of_split(options.tao.split, len(self.members))
        tao = replace(options.tao, split=split, seed=seed, n_threads=options.n_threads)
        return native_optimizer(self.problem, left, right, self._core_task(), tao), tao

    def _append(
        self, native: _core.TreeOptimizer, left: NDArray[np.int32], right: NDArray[np.int32]
    ) -> _Member:
        first_leaf = sum(member.n_leaves for member in self.members)
        member = _Member(native, left, right, first_leaf)
        # Means of splits by single columns would use several.
        is_oblique = kind_of_split(self.options.tao.split, len(self.members)) == "oblique"
        if self.options.average_last > 1 and is_oblique:
            member.late = MeanSplits(self.options.average_last)
        self.members.append(member)
        self._take(len(self.members) - 1)
        return member

    def _restore(self, run: MemberRun, seed: int) -> None:
        """Add a tree of an earlier run as it was."""
        native, _ = self._native(run.left, run.right, seed)
        run.tree.put_into(native)
        member = self._append(native, run.left, run.right)
        if run.values.shape != member.values.shape:
            raise ValueError(
                f"the given state has leaves of shape {run.values.shape}; this task has "
                f"{member.values.shape}."
            )
        member.values = run.values.copy()
        member.split_penalty = run.split_penalty
        if member.late is not None:
            member.late.resume(run.late, len(run.left), self.problem.n_features)

    def _add(self, start: Topology | Tree, seed: int) -> None:
        """Add a tree with given splits, or with splits drawn at random. It gives nothing yet."""
        left, right = (start.left, start.right) if isinstance(start, Tree) else start
        native, tao = self._native(left, right, seed)
        if isinstance(start, Tree):
            set_tree_splits(native, start)
            if self.keeps_leaves:
                self._narrow(native)
        else:
            is_axis = tao.split == "axis" and bool(tao.strict_descent)
            native.draw_splits(tao.init, start_length(tao), is_axis)
        member = self._append(native, left, right)
        # Its leaves were fitted to all that is wanted: all trees together would give far too much.
        member.values = np.zeros_like(member.values)

    def _narrow(self, native: _core.TreeOptimizer) -> None:
        """Bring hyperplanes to the limit on weights, since no iteration is to be beyond it."""
        limit = self.options.tao.max_weights
        _, (indptr, _, _) = native.splits()
        if 0 < limit < np.diff(indptr).max(initial=0):
            present = MeanSplits(1)
            present.note(native)
            present.put_into(native, self.problem, limit)

    def _keep_leaves(self, number: int, start: Topology | Tree) -> None:
        """Let a given tree give what its leaves say."""
        assert isinstance(start, Tree), "a shape has no leaves to keep"
        values = start.leaf_values / self.problem.target_scale - self.centre / len(self.members)
        self.members[number].values = values
        self.scores += self._outputs(number)

    def _core_task(self) -> _core.Task:
        options, problem = self.options, self.problem
        return _core.Task(
            classes=problem.classes,
            values=self.left_over,
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

    def _tighten(self, progress: float) -> bool:
        """Limit the weights of hyperplanes, the more the further the run is; True if for good."""
        wanted = self.options.tao.max_weights
        # A forest that goes on has adapted to the limit already.
        progress = 1.0 if self.keeps_leaves else progress
        limit = tightened(wanted, self.problem.n_features, progress)
        for member in self.members:
            member.native.limit_weights(limit, 0)
        return limit in (0, wanted)

    def _step_over_tree(self, number: int, iteration: int) -> None:
        """One sweep over a tree, on what the other trees leave over ([1]_ eq. 3)."""
        native = self._ask(number).native
        strict = self.options.tao.strict_descent

        def sweep(*, is_guarded: bool) -> None:
            order, around = self.options.tao.order, self.around_level
            solve_splits(native, iteration, order, is_guarded=is_guarded, around_level=around)

        if strict != "sweep" or not lowers_objective(native, lambda: sweep(is_guarded=False)):
            sweep(is_guarded=bool(strict))
        self._put_back(number)

    def _step_over_leaves(self) -> None:
        """All leaves of all trees, the splits fixed ([1]_ eq. 6)."""
        loss = self.options.loss
        if len(self.members) == 1:
            self._backfit(self._n_rounds_alone())
        elif not isinstance(loss, BoundedLoss):
            self._backfit(BACKFITTING_ROUNDS)
        else:
            self._solve_leaves()
            # Few rounds on its bound leave much of a loss; with an absolute penalty, whose rounds
            # take long, fits of single trees to the loss itself go further in less time.
            if self.options.l1 > 0 and not loss.is_quadratic:
                self._backfit(BACKFITTING_ROUNDS)

    def _solve_leaves(self) -> None:
        """All leaves together, on the loss or its bound."""
        options = self.options
        present = np.concatenate([member.values for member in self.members])
        values, self.scores = improve_leaves(
            self.task,
            self.leaf_of,
            present,
            self.scores,
            options.l2,
            options.n_threads,
            l1=options.l1,
        )
        # Leaves that no row reaches keep what they say: other rows may come.
        is_reached = np.zeros(len(values), dtype=np.bool_)
        is_reached[self.leaf_of] = True
        values[~is_reached] = present[~is_reached]
        for member in self.members:
            member.values = values[member.first_leaf : member.first_leaf + member.n_leaves]

    def _n_rounds_alone(self) -> int:
        """Fits of the leaves of a single tree, which all but solve them.

        Sweeps that follow go on from there; where none follow, it is solved to the end.
        """
        return 1 if self.options.max_iter > 0 else self.options.loss.n_rounds

    def _backfit(self, n_rounds: int) -> None:
        """Leaves of one tree after the other, each to its optimum given the others."""
        for _ in range(n_rounds):
            if self.callback is not None:
                self.callback(self.trace)
            for number in range(len(self.members)):
                member = self._ask(number)
                member.native.fit_leaves(0, bool(self.options.tao.strict_descent))
                self._put_back(number)

    def _ask(self, number: int) -> _Member:
        """Take a tree out of the scores, and ask it for what is then left over."""
        member = self.members[number]
        self.scores -= self._outputs(number)
        np.subtract(self.task.wanted, self.scores, out=self.left_over)
        member.native.set_leaves(np.ascontiguousarray(member.values))
        return member

    def _put_back(self, number: int) -> None:
        """Take a tree that was asked into the scores again, as it is now."""
        self._take(number)
        self.scores += self._outputs(number)

    def _take(self, number: int) -> None:
        """Note where rows and leaves of a tree are after a step."""
        member = self.members[number]
        member.values = member.native.leaves()[0]
        rank = np.cumsum(member.left < 0, dtype=np.int64) - 1
        # Rows of no weight are in no leaf; any will do, for they count nothing.
        reached = member.native.leaf_of()
        self.leaf_of[number] = member.first_leaf + np.where(reached < 0, 0, rank[reached])
        _, penalty = member.native.objective()
        member.split_penalty = float(penalty) - self._leaf_penalty(member)

    def _outputs(self, number: int) -> Array:
        """What a tree gives each row."""
        member = self.members[number]
        return np.asarray(member.values[self.leaf_of[number] - member.first_leaf])

    def _leaf_penalty(self, member: _Member) -> float:
        size = np.abs(member.values)
        return float(self.options.l1 * size.sum() + self.options.l2 * (size**2).sum())

    def _record(self, phase: str) -> float:
        loss = self.task.total(self.scores)
        penalty = sum(member.split_penalty + self._leaf_penalty(member) for member in self.members)
        n_active = sum(member.native.count_active() for member in self.members)
        self.trace.record(loss + penalty, loss, n_active, time.perf_counter() - self.began, phase)
        if self.callback is not None:
            self.callback(self.trace)
        return loss + penalty

    def _trees(self) -> tuple[Tree, ...]:
        """The forest as it is now."""
        return tuple(self._tree(member) for member in self.members)

    def _tree(self, member: _Member) -> Tree:
        """A tree as it is now, in the unit of the targets."""
        tree = tree_of(member.native, member.left, member.right, self.problem, self.options.tao)
        values = member.values + self.centre / len(self.members)
        tree = replace(tree, leaf_values=values * self.problem.target_scale)
        # A forest that goes on keeps what only earlier rows needed: later ones may need it again.
        return tree if self.keeps_leaves else prune(tree, member.native.reach())


def _go_on(trace: Trace, trees: Callable[[], tuple[Tree, ...]]) -> bool:
    """Nobody asks for the end."""
    del trace, trees
    return False


def _ignore(snapshot: Callable[[], ForestRun]) -> None:
    """Nobody wants the state."""
