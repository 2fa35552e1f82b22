"""The least change for a small forest of constant leaves, proven by branch and bound.

A node fixes the leaf of some trees; its bound is the least change into these leaves. If the model
says what is wanted at that change, nothing below the node is cheaper. Else the node is divided by
the leaves of one more tree. Nodes are taken in the order of their bounds, so the first wanted
change is the least. Leaves that are farther than the best change so far are left out, and so are
nodes whose trees cannot give enough to a wanted answer whatever the rest of them says.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.explanations.candidate import Search, Setting
from spinney.inspection.explanations.goal import Goal
from spinney.inspection.explanations.projection import Floats, size
from spinney.inspection.explanations.space import HalfSpaces

#: Programmes that a proof may take. More rarely end it, because cells multiply with the trees.
MOST_PROGRAMMES = 1500

#: Sums over trees are rounded.
ROOM = 1e-9


@dataclass(frozen=True, eq=False)
class _Part:
    """Leaves of some trees, the half-spaces on the way to them, and the least change into them."""

    leaves: dict[int, int]
    spaces: HalfSpaces
    u: Floats


@dataclass(frozen=True, eq=False)
class _Leaves:
    """Leaves of one tree: how far they are, and the leads they give to wanted answers.

    Attributes
    ----------
    nodes : int32 ndarray of shape (n_leaves,)
    distances : float64 ndarray of shape (n_leaves,)
    leads : float64 ndarray of shape (n_leaves, n_wanted, n_unwanted)
        What a leaf adds to a wanted class more than to an unwanted one. Of a regression: what it
        adds to the number and to its negative.
    """

    nodes: NDArray[np.int32]
    distances: Floats
    leads: Floats


@dataclass(eq=False)
class _Reach:
    """Leaves that are nearer than the best change so far, tree by tree."""

    limit: float
    near: list[NDArray[np.int64]] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)

    @classmethod
    def of(cls, of_trees: list[_Leaves], limit: float) -> _Reach:
        """Which leaves are in reach, and the largest leads among them."""
        near = [np.flatnonzero(of_tree.distances < limit) for of_tree in of_trees]
        most = [
            of_tree.leads[inside].max(axis=0, initial=-np.inf)
            for of_tree, inside in zip(of_trees, near, strict=True)
        ]
        return cls(limit, near, most)


def prove(setting: Setting, search: Search) -> bool:
    """Offer the least change; whether the search was finished, so that it is proven to be.

    The best change so far is where it begins: the better it is, the less is left to look at.
    """
    trees = setting.space.fitted.trees
    if any(tree.is_linear for tree in trees):
        return False
    of_trees = [_leaves(setting, number) for number in range(len(trees))]
    begin, reach = search.n_solved, _Reach.of(of_trees, search.left(setting))
    waiting = _Waiting(setting, search)
    waiting.put({}, setting.space.no_half_spaces())
    while (part := waiting.pop()) is not None:
        if search.n_solved - begin > MOST_PROGRAMMES or search.is_late():
            return False
        if _is_best_below(setting, search, part):
            continue
        if search.left(setting) < reach.limit:
            reach = _Reach.of(of_trees, search.left(setting))
        tree = _next_tree(reach, part)
        if tree is None or not _can_be_met(setting.goal, of_trees, reach, part):
            continue
        for leaf in of_trees[tree].nodes[reach.near[tree]].tolist():
            way = setting.space.on_way(tree, leaf)
            waiting.put({**part.leaves, tree: leaf}, part.spaces + way)
    return True


class _Waiting:
    """Parts in the order of their bounds; those that cannot be cheaper than the best are left."""

    def __init__(self, setting: Setting, search: Search) -> None:
        self._setting, self._search = setting, search
        self._parts: list[tuple[float, int, _Part]] = []
        self._numbers = count()

    def put(self, leaves: dict[int, int], spaces: HalfSpaces) -> None:
        """Add a part if there is a change into it."""
        u = self._search.solve(self._setting, spaces, 0.0)
        if u is not None:
            bound = size(u, self._setting.norm)
            heapq.heappush(self._parts, (bound, next(self._numbers), _Part(leaves, spaces, u)))

    def pop(self) -> _Part | None:
        """The part with the least bound; None if nothing can be cheaper than the best."""
        if not self._parts:
            return None
        bound, _, part = heapq.heappop(self._parts)
        return None if bound >= self._search.left(self._setting) else part


def _leaves(setting: Setting, number: int) -> _Leaves:
    fitted, goal = setting.space.fitted, setting.goal
    tree = fitted.trees[number]
    readout = fitted.readout
    adds = float(readout.tree_weights[number]) * readout.said_for(tree, tree.leaf_values)
    distances = setting.space.leaf_distances(number, setting.norm)[tree.leaf_nodes]
    return _Leaves(tree.leaf_nodes, distances, _leads(goal, adds))


def _leads(goal: Goal, adds: Floats) -> Floats:
    """Leads that numbers added to the outputs, (n_rows, n_outputs), give; see `_Leaves`."""
    if goal.fitted.is_classifier:
        wanted, unwanted = adds[:, goal.is_wanted], adds[:, ~goal.is_wanted]
        return np.asarray(wanted[:, :, None] - unwanted[:, None, :])
    number = adds[:, [goal.output]]
    return np.stack([number, -number], axis=1)


def _is_best_below(setting: Setting, search: Search, part: _Part) -> bool:
    """Whether the least change into a part leads to a wanted prediction; offers it if so."""
    if search.offer(setting, part.u):
        return True
    u = search.solve(setting, part.spaces, part.spaces.rounding(part.u))
    return u is not None and search.offer(setting, u)


def _next_tree(reach: _Reach, part: _Part) -> int | None:
    """The undecided tree with the fewest leaves in reach, if one has more than one of them."""
    undecided = [
        tree for tree, near in enumerate(reach.near) if tree not in part.leaves and len(near) > 1
    ]
    return min(undecided, key=lambda tree: len(reach.near[tree]), default=None)


def _can_be_met(goal: Goal, of_trees: list[_Leaves], reach: _Reach, part: _Part) -> bool:
    """Whether the leaves in reach could add up to a wanted answer, each lead by itself."""
    readout = goal.fitted.readout
    leads = _leads(goal, readout.offsets[None, :])[0]
    for tree, of_tree in enumerate(of_trees):
        leaf = part.leaves.get(tree)
        at_leaf = None if leaf is None else int(np.searchsorted(of_tree.nodes, leaf))
        leads = leads + (reach.most[tree] if at_leaf is None else of_tree.leads[at_leaf])
    if goal.fitted.is_classifier:
        return bool((leads >= -ROOM).all(axis=1).any())
    n_outputs = goal.fitted.forest.n_outputs
    ends = readout.finished(np.repeat([[leads[0, 0]], [-leads[1, 0]]], n_outputs, axis=1))[:, 0]
    return bool(ends[0] >= goal.low - ROOM and ends[1] <= goal.high + ROOM)
