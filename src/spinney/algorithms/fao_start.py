"""The forest that an optimisation begins with: new trees, given ones, or those of a saved run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spinney import _core
from spinney.algorithms.fao_forest import ForestTask, JointForest, count_leaves
from spinney.algorithms.mean_splits import MeanSplits
from spinney.algorithms.state import ForestRun, MemberRun, NativeTree
from spinney.algorithms.tree_optimizer import draw_into, set_tree_splits
from spinney.tree.structure import Topology, Tree


def start_forest(
    task: ForestTask, starts: Sequence[Topology | Tree], seeds: Sequence[int]
) -> JointForest:
    """Trees with given splits, or with splits drawn at random, that give nothing yet."""
    shapes = [(s.left, s.right) if isinstance(s, Tree) else s for s in starts]
    forest = JointForest(task, len(seeds), max(count_leaves(left) for left, _ in shapes))
    for number, (start, seed) in enumerate(zip(starts, seeds, strict=True)):
        left, right = shapes[number]
        native, tao = forest.new_tree(left, right, seed)
        if isinstance(start, Tree):
            set_tree_splits(native, start)
            if task.goes_on:
                _narrow(native, task)
        else:
            draw_into(native, tao)
        forest.add(native, left, right)
        # Its leaves were fitted to all that is wanted: all trees together would give far too much.
        forest.change(number, np.zeros_like(forest.members[number].values))
    return forest


def keep_leaves(forest: JointForest, starts: Sequence[Topology | Tree]) -> None:
    """Let given trees give what their leaves say."""
    task = forest.task
    for number, start in enumerate(starts):
        assert isinstance(start, Tree), "a shape has no leaves to keep"
        share = task.centre / len(forest.members)
        forest.change(number, start.leaf_values / task.problem.target_scale - share)
        forest.add_outputs(number, 1.0)


def _narrow(native: _core.TreeOptimizer, task: ForestTask) -> None:
    """Bring hyperplanes to the limit on weights, since no iteration is to be beyond it."""
    limit = task.options.tao.max_weights
    _, (indptr, _, _) = native.splits()
    if 0 < limit < np.diff(indptr).max(initial=0):
        present = MeanSplits(1)
        present.note(native)
        present.put_into(native, task.problem, limit)


def resumed_forest(task: ForestTask, run: ForestRun, seeds: Sequence[int]) -> JointForest:
    """The forest of an earlier run as it was."""
    most_leaves = max((count_leaves(member.left) for member in run.members), default=1)
    forest = JointForest(task, len(seeds), most_leaves)
    if run.scores.shape != forest.scores.shape or len(run.members) != len(seeds):
        raise ValueError(
            f"the given state is of {len(run.members)} trees and scores of shape "
            f"{run.scores.shape}; this task has {len(seeds)} and {forest.scores.shape}."
        )
    for member, seed in zip(run.members, seeds, strict=True):
        _restore(forest, member, seed)
    forest.scores = run.scores.copy()  # not added up anew: the rounding of all steps stays
    return forest


def _restore(forest: JointForest, run: MemberRun, seed: int) -> None:
    """Add a tree of an earlier run as it was."""
    native, _ = forest.new_tree(run.left, run.right, seed)
    run.tree.put_into(native)
    forest.add(native, run.left, run.right)
    member = forest.members[-1]
    if run.values.shape != member.values.shape:
        raise ValueError(
            f"the given state has leaves of shape {run.values.shape}; this task has "
            f"{member.values.shape}."
        )
    restored = replace(member, values=run.values.copy(), split_penalty=run.split_penalty)
    forest.members[-1] = restored
    if restored.late is not None:
        restored.late.resume(run.late, len(run.left), forest.task.problem.n_features)


def saved_members(forest: JointForest) -> tuple[MemberRun, ...]:
    """The trees as plain values, from which `resumed_forest` makes them again."""
    return tuple(
        MemberRun(
            left=member.left,
            right=member.right,
            tree=NativeTree.of(member.native),
            values=member.values.copy(),
            split_penalty=member.split_penalty,
            late=member.late.noted if member.late is not None else (),
        )
        for member in forest.members
    )
