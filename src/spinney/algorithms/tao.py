"""Tree Alternating Optimization (TAO) of one tree.

Starts from a tree of fixed shape and sweeps over its nodes, each optimised given all others, until
the objective ([1]_ eq. 1) no longer falls ([1]_ section 3). This module decides when a sweep comes
and which tree is kept; :mod:`~spinney.algorithms.tao_sweep` is the sweep, and what loops over rows
is native.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from spinney.algorithms.descent import PATIENCE, Descent
from spinney.algorithms.recorder import Callback, Recorder
from spinney.algorithms.state import NativeTree, Save, TreeRun
from spinney.algorithms.tao_options import TAOOptions
from spinney.algorithms.tao_sweep import sweep_tree
from spinney.algorithms.tao_task import DrawnSplits, OptimizedTree, TreeTask
from spinney.algorithms.trace import Trace
from spinney.algorithms.tree_optimizer import (
    core_task,
    draw_into,
    native_optimizer,
    set_tree,
    set_tree_splits,
    tree_of,
)
from spinney.data import Problem
from spinney.tree.structure import Topology, Tree

__all__ = [
    "AfterSweep",
    "DrawnSplits",
    "OptimizedTree",
    "TAOOptions",
    "draw_splits",
    "optimize_tree",
]

#: Is asked after each sweep, with the trace and a function that makes what the run would end with
#: if it ended now; True ends it there.
AfterSweep: TypeAlias = Callable[[Trace, Callable[[], OptimizedTree]], bool]


def draw_splits(problem: Problem, topology: Topology, options: TAOOptions) -> DrawnSplits:
    """The hyperplanes that a tree of this shape would start from, drawn with `problem` in view."""
    native = native_optimizer(problem, *topology, core_task(problem, options), options)
    draw_into(native, options)
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
    task = TreeTask.of(problem, start, options)
    recorder = Recorder(callback, None if resume is None else resume.trace)
    run = _Run(task, recorder, save, after_sweep)
    if resume is None:
        run.begin(start)
    else:
        run.resume(resume)
    if run.is_exploring:
        run.explore()
    run.settle()
    return task.present(recorder.trace, run.progress.best)


class _Run:
    """One optimisation: how far it has come, and who is asked after each sweep."""

    def __init__(
        self,
        task: TreeTask,
        recorder: Recorder,
        save: Save[TreeRun] | None,
        after_sweep: AfterSweep | None,
    ) -> None:
        self.task = task
        self.recorder = recorder
        self.save = save
        self.after_sweep = after_sweep
        self.progress = Descent()
        self.n_explored = 0
        self.is_exploring = not task.options.strict_descent
        self.is_settled = self.is_stopped = False

    def begin(self, start: Topology | Tree | DrawnSplits) -> None:
        """Give the tree its first splits and leaves."""
        task, native = self.task, self.task.native
        if isinstance(start, Tree):
            set_tree(native, start, task.problem, task.options)
        elif isinstance(start, DrawnSplits):
            set_tree_splits(native, start.tree)
        else:
            draw_into(native, task.options)
        objective = self._record("start")
        # A random tree pays next to no penalty, and must not win for that alone. A given one
        # that is not allowed has too many weights.
        if task.has_tree or not (task.limits.is_limited or self.is_exploring):
            self.progress = Descent(objective)
        native.keep()

    def resume(self, run: TreeRun) -> None:
        """Take up the work of an earlier run."""
        native, n_exploring = self.task.native, self.task.n_exploring
        if not 0 <= run.n_explored <= n_exploring:
            raise ValueError(
                f"the given state is after {run.n_explored} exploring sweeps; this task has "
                f"{n_exploring}."
            )
        self.progress = Descent(run.best, run.n_stalled)
        self.n_explored = run.n_explored
        self.is_exploring = run.best_tree is not None
        self.is_settled = run.is_settled
        if run.best_tree is not None:
            run.best_tree.put_into(native)
            native.keep()
        run.tree.put_into(native)
        if run.n_explored:
            self.task.limits.tighten(native, run.n_explored / n_exploring)

    def explore(self) -> None:
        """Sweeps that accept every solution, then back to the best tree that they met."""
        task, tol = self.task, self.task.options.tol
        while self.n_explored < task.n_exploring and not (
            self.progress.is_over(PATIENCE, tol) or self.is_stopped
        ):
            self.n_explored += 1
            self._explore_once(self.n_explored / task.n_exploring)
            self._offer()
        if self.is_stopped and task.limits.is_limited and math.isinf(self.progress.best):
            self._explore_once(1.0)  # stopped before any tree kept to the limits on weights
        task.native.restore()
        self.is_exploring = False

    def _explore_once(self, share: float) -> None:
        """A sweep when this share of exploring is done; the tree is kept if it is the best."""
        task = self.task
        is_tight = task.limits.tighten(task.native, share)
        sweep_tree(task.native, self._next_sweep, task.options, is_guarded=False)
        objective = self._record("explore")
        if is_tight:
            if objective < self.progress.best:
                task.native.keep()
            self.progress = self.progress.after(objective, task.options.tol)

    def settle(self) -> None:
        """Guarded sweeps until the sweeps are used up or the objective stops falling."""
        task, options = self.task, self.task.options
        task.limits.tighten(task.native, 1.0)  # a given tree may settle without having explored
        while self._next_sweep <= options.max_iter and not (self.is_settled or self.is_stopped):
            sweep_tree(task.native, self._next_sweep, options, is_guarded=True)
            objective = self._record("settle")
            has_fallen = self.progress.has_fallen(objective, options.tol)
            self.is_settled = not has_fallen and options.tol > 0
            self.progress = replace(self.progress, best=objective)
            self._offer()

    @property
    def _next_sweep(self) -> int:
        """Number of the next sweep, the first being 1: random numbers follow from it."""
        return len(self.recorder.trace) + 1

    def _record(self, phase: str) -> float:
        native = self.task.native
        loss, penalty = native.objective()  # the two terms of eq. (1) of [1]
        return self.recorder.record(loss, penalty, native.count_active(), phase)

    def _offer(self) -> None:
        """Let the caller have the state after a sweep, and ask whether to go on."""
        if self.save is not None:
            self.save(self._state)
        if self.after_sweep is not None:
            self.is_stopped = self.after_sweep(self.recorder.trace, self._so_far)

    def _state(self) -> TreeRun:
        """Where the run is now, between two sweeps."""
        native = self.task.native
        return TreeRun(
            tree=NativeTree.of(native),
            best_tree=NativeTree.kept_by(native) if self.is_exploring else None,
            best=self.progress.best,
            n_explored=self.n_explored,
            n_stalled=self.progress.n_stalled,
            is_settled=self.is_settled,
            trace=self.recorder.trace.copied(),
        )

    def _so_far(self) -> OptimizedTree:
        """What the run would end with if it ended now; it goes on unchanged."""
        native, best = self.task.native, self.progress.best
        present = NativeTree.of(native)
        if self.is_exploring and not math.isinf(best):
            native.restore()
        found = self.task.present(self.recorder.trace, best)
        present.put_into(native)
        return found
