"""The least change for a small forest of constant leaves, proven by branch and bound.

A node fixes the leaf of some trees; its bound is the least change into these leaves. If the model
says what is wanted at that change, nothing below the node is cheaper. Else the node is divided by
the leaves of one more tree. Nodes are taken in the order of their bounds, so the first wanted
change is the least. Leaves that are farther than the best change so far are left out, and so are
nodes whose trees cannot give enough to a wanted answer whatever the rest of them says.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from spinney.explain.candidate import Search, Setting
from spinney.explain.projection import Floats, size
from spinney.explain.space import HalfSpaces

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
    """Leaves of one tree: how far they are and what they add to the totals."""

    nodes: NDArray[np.int32]
    distances: Floats
    adds: Floats


def prove(setting: Setting, search: Search) -> bool:
    """Offer the least change; whether the search was finished, so that it is proven to be.

    The best change so far is where it begins: the better it is, the less is left to look at.
    """
    trees = setting.space.reading.forest.trees
    if any(tree.is_linear for tree in trees):
        return False
    of_trees = [_leaves(setting, number) for number in range(len(trees))]
    numbers = count()
    waiting: list[tuple[float, int, _Part]] = []
    begin = search.n_solved

    def put(leaves: dict[int, int], spaces: HalfSpaces) -> None:
        u = search.solve(setting, spaces, 0.0)
        if u is not None:
            bound = size(u, setting.norm)
            heapq.heappush(waiting, (bound, next(numbers), _Part(leaves, spaces, u)))

    put({}, setting.space.no_half_spaces())
    while waiting:
        if search.n_solved - begin > MOST_PROGRAMMES or search.is_late():
            return False
        bound, _, part = heapq.heappop(waiting)
        if bound >= search.left(setting):
            return True
        if _is_best_below(setting, search, part):
            continue
        tree = _next_tree(setting, search, of_trees, part)
        if tree is None or not _can_be_met(setting, search, of_trees, part):
            continue
        for leaf in _near(setting, search, of_trees[tree]):
            way = setting.space.on_way(tree, leaf)
            put({**part.leaves, tree: leaf}, part.spaces + way)
    return True


def _leaves(setting: Setting, number: int) -> _Leaves:
    reading = setting.space.reading
    tree = reading.forest.trees[number]
    adds = float(reading.readout.tree_weights[number]) * reading.adds(tree, tree.leaf_values)
    distances = setting.space.leaf_distances(number, setting.norm)
    return _Leaves(tree.leaf_nodes, distances[tree.leaf_nodes], adds)


def _is_near(setting: Setting, search: Search, of_tree: _Leaves) -> NDArray[np.bool_]:
    """Leaves that are not too far to be of use."""
    return np.asarray(of_tree.distances < search.left(setting))


def _near(setting: Setting, search: Search, of_tree: _Leaves) -> list[int]:
    return [int(leaf) for leaf in of_tree.nodes[_is_near(setting, search, of_tree)]]


def _is_best_below(setting: Setting, search: Search, part: _Part) -> bool:
    """Whether the least change into a part leads to a wanted prediction; offers it if so."""
    if search.offer(setting, part.u):
        return True
    u = search.solve(setting, part.spaces, part.spaces.rounding(part.u))
    return u is not None and search.offer(setting, u)


def _next_tree(
    setting: Setting, search: Search, of_trees: list[_Leaves], part: _Part
) -> int | None:
    """The undecided tree with the fewest leaves in reach, if one has more than one of them."""
    n_near = {
        tree: int(_is_near(setting, search, of_tree).sum())
        for tree, of_tree in enumerate(of_trees)
        if tree not in part.leaves
    }
    undecided = [tree for tree, n_leaves in n_near.items() if n_leaves > 1]
    return min(undecided, key=lambda tree: n_near[tree], default=None)


def _can_be_met(setting: Setting, search: Search, of_trees: list[_Leaves], part: _Part) -> bool:
    """Whether the leaves in reach could add up to a wanted answer, each output by itself."""
    readout = setting.space.reading.readout
    reach = [
        _in_reach(setting, search, of_tree, part.leaves.get(tree))
        for tree, of_tree in enumerate(of_trees)
    ]
    if readout.classes is None:
        most = np.sum([adds.max(axis=0) for adds in reach], axis=0) + readout.offsets
        least = np.sum([adds.min(axis=0) for adds in reach], axis=0) + readout.offsets
        ends = readout.finished(np.vstack([least, most]))[:, setting.goal.output]
        return bool(ends[0] <= setting.goal.high + ROOM and ends[1] >= setting.goal.low - ROOM)
    unwanted = np.flatnonzero(~setting.goal.is_wanted)
    for label in np.flatnonzero(setting.goal.is_wanted):
        lead = readout.offsets[label] - readout.offsets[unwanted]
        for adds in reach:
            lead = lead + (adds[:, [label]] - adds[:, unwanted]).max(axis=0)
        if (lead >= -ROOM).all():
            return True
    return False


def _in_reach(setting: Setting, search: Search, of_tree: _Leaves, leaf: int | None) -> Floats:
    """What a tree may add: of its decided leaf, or of those in reach."""
    if leaf is not None:
        return np.asarray(of_tree.adds[of_tree.nodes == leaf])
    return np.asarray(of_tree.adds[_is_near(setting, search, of_tree)])
