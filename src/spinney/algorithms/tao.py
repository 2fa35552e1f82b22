"""Tree Alternating Optimization (TAO) of one tree.

Decides which step comes when; the steps themselves, which loop over rows, are native. A sweep
visits the levels of the tree one after the other; the nodes of a level are independent given the
rest (separability condition, [1]_ section 3) and are solved in parallel.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020.
.. [2] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.state import NativeTree, Save, TreeRun
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.tree.hyperplanes import leaf_functions
from spinney.tree.prune import is_kept, prune
from spinney.tree.sparse_rows import nonzero_rows
from spinney.tree.structure import Topology, Tree

Callback: TypeAlias = Callable[[Trace], None]

#: Is asked after each sweep, with the trace and a function that makes what the run would end with
#: if it ended now; True ends it there.
AfterSweep: TypeAlias = Callable[[Trace, Callable[[], "OptimizedTree"]], bool]

#: Context in which a level is solved.
AroundLevel: TypeAlias = Callable[[_core.TreeOptimizer], AbstractContextManager[object]]

#: What may not raise the objective: nothing that is asked for, each step, or each sweep.
StrictDescent: TypeAlias = bool | Literal["sweep"]

#: Most columns for which nodes are solved by Newton steps (`benchmarks/solvers.py`).
NEWTON_LIMIT = 64

#: Effort of a node solve. A few steps from a warm start are not only faster than a converged
#: solution, they also find trees of lower objective and error: nodes move together instead of
#: overfitting to subtrees that are still bad.
SOLVER = {"max_newton": 1, "epochs": 4, "step": 1.0, "newton_limit": NEWTON_LIMIT}

#: Exploring sweeps without progress after which it ends; it may go up before it goes down.
PATIENCE = 5

#: Share of the sweeps that are guarded in the default schedule.
SETTLE_SHARE = 0.2

#: Shares of the exploring sweeps between which the limit on the weights of a hyperplane falls to
#: `max_weights`. Which weights matter is known only after a while, and the tree has to adapt.
TIGHTENING = (0.4, 0.8)

#: Squared penalty of relaxed leaves, as a share of the mean squared length of a row: just enough to
#: keep weights finite where the classes of a leaf can be separated.
RELAXED_RIDGE = 1e-3


@dataclass(frozen=True)
class TAOOptions:
    """How one tree is optimised; the estimators' docstrings explain each word."""

    loss: str = "zero_one"
    split: str = "oblique"
    leaf: str = "constant"
    alpha: float = 0.1
    ridge: float = 0.01
    max_weights: int = 0
    max_leaf_weights: int = 0
    max_iter: int = 20
    strict_descent: StrictDescent = False
    order: str = "leaves_first"
    tol: float = 1e-4
    huber_delta: float = 1.0
    n_threads: int = 1
    seed: int = 0
    init: str = "supervised"
    leaf_alpha: float | None = None
    leaf_penalty: str = "l1"
    relax_leaves: bool = False
    leaf_epochs: int = 4
    max_features: int = 0
    start_seed: int | None = None
    solver: dict[str, float] = field(default_factory=lambda: dict(SOLVER))

    @property
    def constant_alpha(self) -> float:
        """Weight of the penalty on constant leaves; they have none of their own accord."""
        return self.leaf_alpha or 0.0 if self.leaf == "constant" else 0.0

    @property
    def linear_alpha(self) -> float:
        """Weight of the penalty on linear leaves."""
        return self.alpha if self.leaf_alpha is None else self.leaf_alpha


@dataclass(frozen=True)
class DrawnSplits:
    """Hyperplanes drawn beforehand, from which several trees start.

    What starts from them ends as if it had drawn them itself. A tree to improve is another thing:
    it is the best so far, and its leaves are kept.
    """

    tree: Tree


@dataclass(frozen=True)
class OptimizedTree:
    """The pruned tree, the same tree before pruning, and how it came about.

    Nodes that pruning removes cost nothing: where the trace ends with this tree, and not with a
    sweep that went up again, its last objective is that of the pruned tree.
    """

    tree: Tree
    unpruned: Tree
    trace: Trace


def draw_splits(problem: Problem, topology: Topology, options: TAOOptions) -> DrawnSplits:
    """The hyperplanes that a tree of this shape would start from, drawn with `problem` in view."""
    native = native_optimizer(problem, *topology, _task(problem, options), options)
    _draw_into(native, options)
    return DrawnSplits(tree_of(native, *topology, problem, options))


def optimize_tree(
    problem: Problem,
    start: Topology | Tree | DrawnSplits,
    options: TAOOptions,
    callback: Callback | None = None,
    *,
    resume: TreeRun | None = None,
    save: Save[TreeRun] | None = None,
    after_sweep: AfterSweep | None = None,
) -> OptimizedTree:
    """Tree of least objective met while alternating over the nodes of `start`.

    Default schedule: explore, that is accept every surrogate solution, since a strict guard
    freezes the tree in a poor optimum; keep the best tree; settle with guarded sweeps from there.
    Under a limit on weights only trees that keep to it count: those of the sweeps that had come
    down to it, and a given start.
    With ``strict_descent=True`` every step is guarded (footnote 2 of [1]_), with ``"sweep"`` every
    sweep: the objective never rises.

    Parameters
    ----------
    problem : Problem
    start : (left, right), Tree or DrawnSplits
        A shape, whose parameters are drawn at random, a tree to improve, or what was drawn before.
    options : TAOOptions
    callback : callable, optional
        Called with the trace after each sweep.
    resume : TreeRun, optional
        Where an earlier run with the same arguments was; this one ends as that would have, to the
        bit.
    save : callable, optional
        Offered the state after each sweep.
    after_sweep : callable, optional
        Asked after each sweep; True ends the run with the best tree so far.
    """
    return _Run(problem, start, options, callback, resume, save, after_sweep).result()


class _Run:
    """One optimisation: the native state, the trace, and the best objective so far."""

    def __init__(
        self,
        problem: Problem,
        start: Topology | Tree | DrawnSplits,
        options: TAOOptions,
        callback: Callback | None,
        resume: TreeRun | None,
        save: Save[TreeRun] | None,
        after_sweep: AfterSweep | None,
    ) -> None:
        self.problem = problem
        self.options = options
        self.callback = callback
        self.save = save
        self.after_sweep = after_sweep
        self.is_stopped = False
        self.left, self.right = _topology_of(start)
        task = _task(problem, options)
        self.native = native_optimizer(problem, self.left, self.right, task, options)
        self.has_tree = isinstance(start, Tree) and self._is_allowed(start)
        if resume is None:
            self._begin(start)
        else:
            self._resume(resume)

    def _begin(self, start: Topology | Tree | DrawnSplits) -> None:
        options, problem = self.options, self.problem
        self.trace = Trace()
        self.began = time.perf_counter()
        self.is_exploring = not options.strict_descent
        self.is_settled = False
        self.n_explored = self.n_stalled = 0
        if isinstance(start, Tree):
            _set_tree(self.native, start, problem, options)
        elif isinstance(start, DrawnSplits):
            set_tree_splits(self.native, start.tree)
        else:
            _draw_into(self.native, options)
        self.best = self._record("start")
        if not self.has_tree and (self._has_limit() or not options.strict_descent):
            # A random tree pays next to no penalty, and must not win for that alone. A given one
            # has too many weights.
            self.best = math.inf
        self.native.keep()

    def _resume(self, run: TreeRun) -> None:
        """Take up the work of an earlier run."""
        if not 0 <= run.n_explored <= max(self._n_exploring(), 0):
            raise ValueError(
                f"the given state is after {run.n_explored} exploring sweeps; this task has "
                f"{self._n_exploring()}."
            )
        self.trace = run.trace.copied()
        self.began = time.perf_counter() - self.trace.seconds[-1]
        self.is_exploring = run.best_tree is not None
        self.is_settled = run.is_settled
        self.n_explored, self.n_stalled = run.n_explored, run.n_stalled
        self.best = run.best
        if run.best_tree is not None:
            run.best_tree.put_into(self.native)
            self.native.keep()
        run.tree.put_into(self.native)
        if run.n_explored:
            self._tighten(run.n_explored / self._n_exploring())

    def _state(self) -> TreeRun:
        """Where the run is now, between two sweeps."""
        return TreeRun(
            tree=NativeTree.of(self.native),
            best_tree=NativeTree.kept_by(self.native) if self.is_exploring else None,
            best=self.best,
            n_explored=self.n_explored,
            n_stalled=self.n_stalled,
            is_settled=self.is_settled,
            trace=self.trace.copied(),
        )

    def result(self) -> OptimizedTree:
        if self.is_exploring:
            self._explore(self._n_exploring())
            if self.is_stopped and self._has_limit() and math.isinf(self.best):
                self._limit_at_once()
            self.native.restore()
            self.is_exploring = False
        self._settle()
        return self._present()

    def _present(self) -> OptimizedTree:
        """The tree of the core, for good: its leaves are relaxed, if they are to be."""
        reach = self.native.reach()
        trace = self._closed_trace(reach)
        if self.options.relax_leaves:
            self.native.relax_leaves(RELAXED_RIDGE * self.problem.squared_length)
        tree = self._tree()
        return OptimizedTree(prune(tree, reach), tree, trace)

    def _tree(self) -> Tree:
        return tree_of(self.native, self.left, self.right, self.problem, self.options)

    def _closed_trace(self, reach: NDArray[np.int64]) -> Trace:
        """The trace, which ends without the penalties of nodes that pruning removes."""
        trace = self.trace.copied()
        if trace.objective[-1] == self.best:  # else the last sweep went up, and is not kept
            counts = is_kept(self._tree(), reach).astype(np.uint8)
            trace.objective[-1] = sum(self.native.objective(counts))
        return trace

    def _so_far(self) -> OptimizedTree:
        """What the run would end with if it ended now; it goes on unchanged."""
        present = NativeTree.of(self.native)
        if self.is_exploring and not math.isinf(self.best):
            self.native.restore()
        found = self._present()
        present.put_into(self.native)
        return found

    def _n_settling(self) -> int:
        """At least one, so that the trace ends with the tree: the best one may be an earlier one.

        A single sweep settles only where there is a tree to improve.
        """
        least = 1 if self.has_tree or self.options.max_iter > 1 else 0
        return max(least, round(SETTLE_SHARE * self.options.max_iter))

    def _n_exploring(self) -> int:
        return self.options.max_iter - self._n_settling()

    def _explore(self, n_sweeps: int) -> None:
        """Sweeps that accept every solution, until they are used up or have long found nothing."""
        while self.n_explored < n_sweeps and not (self._is_out_of_patience() or self.is_stopped):
            self.n_explored += 1
            is_tight = self._tighten(self.n_explored / n_sweeps)
            self._sweep(is_guarded=False)
            objective = self._record("explore")
            if is_tight:
                self._judge(objective)
            self._offer()

    def _limit_at_once(self) -> None:
        """One more sweep, under the limit on the weights that the run was stopped before."""
        self._tighten(1.0)
        self._sweep(is_guarded=False)
        self._judge(self._record("explore"))

    def _is_out_of_patience(self) -> bool:
        return self.n_stalled >= PATIENCE and self.options.tol > 0

    def _judge(self, objective: float) -> None:
        """Keep the tree if it is the best so far."""
        self.n_stalled = self.n_stalled + 1 if self._has_stalled(objective) else 0
        if objective < self.best:
            self.best = objective
            self.native.keep()

    def _tighten(self, progress: float) -> bool:
        """Limit the weights of hyperplanes, the more the further exploring is; True if for good."""
        if not self._has_limit():
            return True
        options, n_features = self.options, self.problem.n_features
        self.native.limit_weights(
            tightened(options.max_weights, n_features, progress),
            tightened(options.max_leaf_weights, n_features, progress),
        )
        return progress >= TIGHTENING[1]

    def _has_limit(self) -> bool:
        options = self.options
        return self._is_limit(options.max_weights) or self._is_limit(options.max_leaf_weights)

    def _is_allowed(self, tree: Tree) -> bool:
        """Whether a given tree, with the leaves it starts with, keeps to the limits."""
        options = self.options
        if self._is_limit(options.max_weights):
            widest = int(np.diff(tree.split_indptr).max(initial=0))
            if widest > options.max_weights:
                return False
        if self._is_limit(options.max_leaf_weights):
            # Leaves of another kind are fitted anew, with all columns.
            widest = int(np.diff(tree.leaf_indptr).max(initial=0))
            return tree.leaf_kind == options.leaf and widest <= options.max_leaf_weights
        return True

    def _is_limit(self, limit: int) -> bool:
        """Whether hyperplanes can have more weights than this; 0 stands for any number."""
        return 0 < limit < self.problem.n_features

    def _settle(self) -> None:
        """Guarded sweeps until the sweeps are used up or the objective stops falling."""
        self._tighten(1.0)  # a given tree that keeps to the limits may settle at once
        while len(self.trace) < self.options.max_iter and not (self.is_settled or self.is_stopped):
            self._sweep(is_guarded=True)
            objective = self._record("settle")
            self.is_settled = self._has_stalled(objective) and self.options.tol > 0
            self.best = objective
            self._offer()

    def _offer(self) -> None:
        """Let the caller have the state after a sweep, and ask whether to go on."""
        if self.save is not None:
            self.save(self._state)
        if self.after_sweep is not None:
            self.is_stopped = self.after_sweep(self.trace, self._so_far)

    def _has_stalled(self, objective: float) -> bool:
        """True if the objective is not below the best one by a share of `tol`."""
        return not objective < (1 - self.options.tol) * self.best

    def _sweep(self, *, is_guarded: bool) -> None:
        """Every level once, then the leaves; or the leaves, then the levels from the bottom up."""
        if self.options.strict_descent == "sweep" and lowers_objective(
            self.native, lambda: self._sweep_once(is_guarded=False)
        ):
            return
        self._sweep_once(is_guarded=is_guarded)

    def _sweep_once(self, *, is_guarded: bool) -> None:
        number = len(self.trace) + 1
        if self.options.order == "leaves_first":
            self.native.fit_leaves(number, is_guarded)
        solve_splits(self.native, number, self.options.order, is_guarded=is_guarded)
        if is_guarded:
            # The least penalty of leaves without rows, as of splits. Exploring keeps what they say,
            # for rows may come back.
            self.native.clear_empty_leaves()

    def _record(self, phase: str) -> float:
        loss, penalty = self.native.objective()
        seconds = time.perf_counter() - self.began
        self.trace.record(loss + penalty, loss, self.native.count_active(), seconds, phase)
        if self.callback is not None:
            self.callback(self.trace)
        return float(loss + penalty)


def lowers_objective(native: _core.TreeOptimizer, step: Callable[[], None]) -> bool:
    """Whether a step lowers the objective of the tree; one that does not is undone."""
    before = sum(native.objective())
    native.keep()
    step()
    if sum(native.objective()) < before:
        return True
    native.restore()
    return False


def solve_splits(
    native: _core.TreeOptimizer,
    sweep: int,
    order: str,
    *,
    is_guarded: bool,
    around_level: AroundLevel = nullcontext,
) -> None:
    """Every level once, in the given order, then the leaves.

    After the splits moved the leaves are always refitted: a sweep ends consistent.
    """
    is_root_first = order == "root_first"
    levels = range(native.n_levels)
    for level in levels if is_root_first else reversed(levels):
        with around_level(native):
            native.solve_level(level, sweep, is_guarded, is_root_first)
    native.fit_leaves(sweep, is_guarded)


def tightened(limit: int, n_features: int, progress: float) -> int:
    """Weights that a hyperplane may have when a share of exploring is done; 0 for any number."""
    if not 0 < limit < n_features:
        return 0
    first, last = TIGHTENING
    share = min(max((progress - first) / (last - first), 0.0), 1.0)
    kept: float = n_features * (limit / n_features) ** share
    return round(kept)


def _topology_of(start: Topology | Tree | DrawnSplits) -> Topology:
    if isinstance(start, DrawnSplits):
        start = start.tree
    return (start.left, start.right) if isinstance(start, Tree) else start


def _draw_into(native: _core.TreeOptimizer, options: TAOOptions) -> None:
    """Draw the hyperplanes of a shape.

    A guard may keep what was drawn, so there it has to be what was asked for. Exploring replaces
    it, and a partition by hyperplanes is the better one to start from.
    """
    is_axis = options.split == "axis" and bool(options.strict_descent)
    native.draw_splits(options.init, start_length(options), is_axis)


def start_length(options: TAOOptions) -> float:
    """Deviation of the weights of random hyperplanes, of which only the direction matters.

    While exploring, short ones keep nodes that no row reaches from adding much to the penalty.
    Guards compare penalties, so a strict run starts with hyperplanes of ordinary length.
    """
    return 1.0 if options.strict_descent else 1e-3


def _task(problem: Problem, options: TAOOptions) -> _core.Task:
    l1, l2 = (1.0, 0.0) if options.leaf_penalty == "l1" else (0.0, 1.0)
    centre = _centre(problem, options)
    return _core.Task(
        classes=problem.classes,
        values=problem.values if centre is None else problem.values - centre,
        weights=problem.sample_weight,
        n_outputs=problem.n_outputs,
        loss=options.loss,
        leaf=options.leaf,
        huber_delta=options.huber_delta / problem.target_scale,
        # mu psi(theta_j) of eq. (1) of [2]: |w|_1 or |w|^2 / 2 of the weights of a linear leaf,
        # |theta| or theta^2 of a constant one, measured from the mean of the targets.
        leaf_alpha=l1 * options.linear_alpha,
        leaf_ridge=l2 * options.linear_alpha,
        leaf_epochs=options.leaf_epochs,
        constant_l1=l1 * options.constant_alpha,
        constant_l2=l2 * options.constant_alpha,
    )


def _centre(problem: Problem, options: TAOOptions) -> NDArray[np.float64] | None:
    """What a penalty draws constant leaves towards: the mean, wherever the zero of y may lie.

    None where they have no penalty.
    """
    if problem.n_classes or not options.constant_alpha:
        return None
    return np.asarray(np.average(problem.values, axis=0, weights=problem.sample_weight))


def native_optimizer(
    problem: Problem,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    task: _core.Task,
    options: TAOOptions,
) -> _core.TreeOptimizer:
    """State of one tree in the core."""
    return _core.TreeOptimizer(
        rows=problem.rows,
        mean=problem.mean,
        inverse_scale=problem.inverse_scale,
        left=left,
        right=right,
        task=task,
        solver={
            **options.solver,
            "alpha": options.alpha,
            "ridge": options.ridge * problem.squared_length,
        },
        split=options.split,
        n_threads=options.n_threads,
        seed=options.seed,
        max_features=options.max_features,
        start_seed=options.start_seed,
        deviation=problem.deviation,
    )


def _set_tree(
    native: _core.TreeOptimizer, tree: Tree, problem: Problem, options: TAOOptions
) -> None:
    """Start from a tree; its leaves are kept if they are of the wanted kind, else refitted."""
    keeps_leaves = tree.leaf_kind == options.leaf
    values = tree.leaf_values / problem.target_scale if keeps_leaves else np.zeros((0, 1))
    centre = _centre(problem, options)
    if keeps_leaves and centre is not None:
        values = values - centre
    weights = np.zeros((0, 1), dtype=np.float32)
    if keeps_leaves and tree.is_linear:
        dense = leaf_functions(tree).toarray()
        weights = (dense / problem.target_scale).astype(np.float32)
    native.set_tree(
        tree.bias, tree.split_indptr, tree.split_indices, tree.split_weights, values, weights
    )


def set_tree_splits(native: _core.TreeOptimizer, tree: Tree) -> None:
    """Start from the splits of a tree; the leaves are fitted to them."""
    no_values, no_weights = np.zeros((0, 1)), np.zeros((0, 1), dtype=np.float32)
    native.set_tree(
        tree.bias, tree.split_indptr, tree.split_indices, tree.split_weights, no_values, no_weights
    )


def tree_of(
    native: _core.TreeOptimizer,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    problem: Problem,
    options: TAOOptions,
) -> Tree:
    """The tree that the core holds, in the unit of the targets."""
    bias, (indptr, indices, weights) = native.splits()
    values, (leaf_indptr, leaf_indices, leaf_weights) = native.leaves()
    centre = _centre(problem, options)
    if centre is not None:
        values = values + centre
    leaf_rows = nonzero_rows(leaf_indptr, leaf_indices, leaf_weights * problem.target_scale)
    return Tree(
        n_features=problem.n_features,
        left=left,
        right=right,
        bias=bias,
        split_indptr=indptr,
        split_indices=indices,
        split_weights=weights,
        leaf_kind="linear" if options.leaf == "linear" else "constant",
        leaf_values=values * problem.target_scale,
        leaf_indptr=leaf_rows[0],
        leaf_indices=leaf_rows[1],
        leaf_weights=leaf_rows[2],
    )
