"""A small change for a forest: good, not proven the least.

The regions of a forest are cells, intersections of one leaf a tree, too many to try all. The search
begins at several changes that lead to a wanted prediction: along rays from the row, towards given
rows, and by moving into one promising leaf after the other. Each is then shortened until nothing
helps: towards the row, one number after the other put back, into the nearest point of its cell,
and out of the cell by letting go of the trees that hold it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spinney.data import as_rows
from spinney.inspection.explanations.candidate import Search, Setting
from spinney.inspection.explanations.goal import Goal
from spinney.inspection.explanations.projection import Floats, size
from spinney.inspection.explanations.space import HalfSpaces
from spinney.tree import Tree
from spinney.tree.hyperplanes import leaf_functions
from spinney.tree.route import outputs

#: Random directions of rays, and steps on each of them.
N_DIRECTIONS, N_RADII = 256, 20

#: Starts that are shortened.
N_STARTS = 8

#: Points on a segment that are looked at.
N_POINTS = 17

#: Classes that leaves are entered for, if any other will do.
MOST_LABELS = 4

#: Leaves that are tried for one step of the greedy start, and trees let go of two at a time.
N_TRIED, MOST_IN_PAIRS = 4, 7


def search_forest(setting: Setting, search: Search, hints: Floats) -> None:
    """Offer the best change that is found; `hints` are changes that may do, one a row."""
    starts = [*_on_rays(setting), *_met(setting, hints)]
    for label in _labels(setting):
        if search.is_late():
            break
        starts += _greedy(setting, search, label)
    # Changes that are nearly the same end at the same place: one of them is enough.
    starts = _apart(sorted(starts, key=setting.cost))[:N_STARTS]
    for u in starts[:1]:
        search.offer(setting, u)
    for u in starts:
        if search.is_late():
            break
        _descend(setting, search, u)


def _met(setting: Setting, changes: Floats) -> list[Floats]:
    """Those of the changes that lead to a wanted prediction, each at the first point on its way."""
    if not len(changes):
        return []
    changes = np.clip(changes, setting.space.moves.least, setting.space.moves.most)
    changes = changes[setting.is_met(changes)]
    order = np.argsort([size(u, setting.norm) for u in changes], kind="stable")
    return [_towards(setting, u, np.zeros_like(u)) for u in changes[order[: 2 * N_STARTS]]]


def _apart(starts: list[Floats]) -> list[Floats]:
    kept: list[Floats] = []
    for u in starts:
        near = 1e-3 * np.linalg.norm(u)
        if all(np.linalg.norm(u - other) > near for other in kept):
            kept.append(u)
    return kept


def _on_rays(setting: Setting) -> list[Floats]:
    """First wanted point on rays along columns, hyperplanes' normals and at random."""
    n = len(setting.space.moves)
    if n == 0:
        zero = np.zeros(0)
        return [zero] if setting.is_met(zero[None, :])[0] else []
    nearness = setting.space.nearness(setting.norm)
    is_crossed = np.isfinite(nearness) & (nearness > 0)
    if not is_crossed.any():
        return []
    nodes = np.flatnonzero(is_crossed)
    nodes = nodes[np.argsort(nearness[nodes], kind="stable")[:N_DIRECTIONS]]
    rng = np.random.default_rng(0)  # the same answer every time
    normals = setting.space.normals(nodes)
    directions = np.vstack(
        [np.eye(n), -np.eye(n), normals, -normals, rng.normal(size=(N_DIRECTIONS, n))]
    )
    directions = _few(directions, setting.limits.max_changes)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    near, far = nearness[is_crossed].min(), nearness[is_crossed].max()
    radii = np.geomspace(near, 4.0 * far + near, N_RADII)
    changes = (directions[:, None, :] * radii[:, None]).reshape(-1, n)
    return _met(setting, changes)


def _few(directions: Floats, n_kept: int) -> Floats:
    """Directions with all but their largest entries put to 0."""
    if n_kept >= directions.shape[1]:
        return directions
    order = np.argsort(-np.abs(directions), axis=1, kind="stable")
    few = directions.copy()
    np.put_along_axis(few, order[:, n_kept:], 0.0, axis=1)
    return np.asarray(few[np.abs(few).max(axis=1) > 0])


def _labels(setting: Setting) -> list[int]:
    """Outputs for which leaves are entered: wanted classes, those with most votes first."""
    if setting.goal.fitted.readout.classes is None:
        return [setting.goal.output]
    totals = setting.space.fitted.totals(setting.space.coordinates[None, :])[0]
    order = np.argsort(-totals, kind="stable")
    return [int(label) for label in order if setting.goal.is_wanted[label]][:MOST_LABELS]


def _greedy(setting: Setting, search: Search, label: int) -> list[Floats]:
    """Move into one leaf after the other that adds much to an output for a small change."""
    space = setting.space
    u = np.clip(np.zeros(len(space.moves)), space.moves.least, space.moves.most)
    kept: HalfSpaces | None = None
    is_open = np.ones(space.fitted.forest.n_trees, dtype=np.bool_)
    local = Search(search.deadline)
    while is_open.any() and not local.is_late():
        if setting.is_met(u[None, :])[0]:
            return [u]
        moved = _next_leaf(setting, local, (u, kept), is_open, label)
        if moved is None:
            return []
        u, kept, tree = moved
        is_open[tree] = False
    return [u] if setting.is_met(u[None, :])[0] else []


def _next_leaf(
    setting: Setting,
    local: Search,
    at: tuple[Floats, HalfSpaces | None],
    is_open: NDArray[np.bool_],
    label: int,
) -> tuple[Floats, HalfSpaces, int] | None:
    """The change into a leaf that gains most for its distance, and the half-spaces kept."""
    u, kept = at
    scores = setting.space.all_scores(u)
    offers: list[tuple[float, int, int]] = []
    row = setting.rows(u[None, :])
    for tree in np.flatnonzero(is_open).tolist():
        gains = _gains(setting, tree, row, label)
        distances = setting.space.leaf_distances(tree, setting.norm, scores)
        leaves = setting.space.fitted.trees[tree].leaf_nodes
        worth = np.where(gains > 0, gains / (distances[leaves] + 1e-12), 0.0)
        best = int(worth.argmax())
        if worth[best] > 0:
            offers.append((-float(worth[best]), tree, int(leaves[best])))
    for _, tree, leaf in sorted(offers)[:N_TRIED]:
        way = setting.space.on_way(tree, leaf)
        spaces = way if kept is None else kept + way
        moved = local.approach(setting, spaces, spaces.rounding(u))
        if moved is not None:
            return moved, spaces, tree
    return None


def _gains(setting: Setting, number: int, row: NDArray[np.float32], label: int) -> Floats:
    """How much more each leaf of a tree would add to an output, against its strongest rival."""
    fitted = setting.space.fitted
    tree = fitted.trees[number]
    values = tree.leaf_values
    if tree.is_linear:
        values = values + _linear_parts(tree, row[0].astype(np.float64))
    readout, weight = fitted.readout, float(fitted.readout.tree_weights[number])
    adds = weight * readout.said_for(tree, values)
    now = weight * readout.said_for(tree, outputs(tree, as_rows(row)))[0]
    totals = fitted.totals(row)
    if fitted.readout.classes is None:
        sign = _wanted_sign(setting.goal, totals)
        return np.asarray(sign * (adds[:, label] - now[label]))
    rivals = np.where(np.arange(len(now)) == label, -np.inf, totals[0])
    rival = int(rivals.argmax())
    return np.asarray((adds[:, label] - adds[:, rival]) - (now[label] - now[rival]))


def _linear_parts(tree: Tree, row: Floats) -> Floats:
    """What the weights of all linear leaves add to their intercepts for a row."""
    weights = leaf_functions(tree).astype(np.float64)
    return np.asarray(weights @ row).reshape(-1, tree.n_outputs)


def _wanted_sign(goal: Goal, totals: Floats) -> float:
    """Whether the number has to rise or to fall."""
    number = goal.fitted.readout.finished(totals)[0, goal.output]
    return 1.0 if number < goal.low else -1.0


def _descend(setting: Setting, search: Search, u: Floats) -> None:
    """Shorten a change until nothing helps, and offer what is left of it."""
    local = Search(search.deadline)
    local.offer(setting, u)
    while local.best is not None and not search.is_late():
        before = local.best.cost
        u = _put_back(setting, local.best.u)
        local.offer(setting, _towards(setting, u, np.zeros_like(u)))
        _leave_trees(setting, local)
        if local.best.cost > before * (1 - 1e-6):
            break
    search.n_solved += local.n_solved
    if local.best is not None and local.best.cost < search.limit:
        search.best = local.best


def _towards(setting: Setting, u: Floats, end: Floats) -> Floats:
    """The wanted point of the segment from `u` to `end` that is nearest to `end`, as seen.

    A segment may enter and leave wanted cells many times; it is looked at in steps, twice.
    """
    low, high = 0.0, 1.0
    for _ in range(3):
        shares = np.linspace(low, high, N_POINTS)
        is_met = setting.is_met(end + shares[:, None] * (u - end))
        if not is_met.any():
            break
        first = int(is_met.argmax())
        low, high = shares[max(first - 1, 0)], shares[first]
    return np.asarray(end + high * (u - end))


def _put_back(setting: Setting, u: Floats) -> Floats:
    """A change with every number put back that is not needed, those that moved least first."""
    u = u.copy()
    for place in np.argsort(np.abs(u), kind="stable"):
        if u[place] == 0:
            continue
        without = u.copy()
        without[place] = 0.0
        if setting.is_met(without[None, :])[0]:
            u = without
    return u


def _leave_trees(setting: Setting, local: Search) -> None:
    """The nearest point of the cell, then without the trees that hold it there, one or two."""
    assert local.best is not None
    u = local.best.u
    ways = _cell(setting, u)
    _try(setting, local, ways, ())
    u = local.best.u
    holding = _holding(ways, u)
    letting_go: list[tuple[int, ...]] = [(tree,) for tree in holding]
    if len(holding) <= MOST_IN_PAIRS:
        letting_go += list(combinations(holding, 2))
    for trees in letting_go:
        if local.is_late():
            return
        if _try(setting, local, ways, trees):
            return  # another cell, with other trees that hold


def _try(setting: Setting, local: Search, ways: list[HalfSpaces], without: tuple[int, ...]) -> bool:
    """Go to the nearest point of a cell without some trees; whether that was cheaper."""
    assert local.best is not None
    kept = [way for tree, way in enumerate(ways) if tree not in without]
    spaces = _all_of(kept, len(setting.space.moves))
    before = local.best
    u = local.approach(setting, spaces, spaces.rounding(before.u))
    if u is None:
        return False
    if not local.offer(setting, u):
        # Answers of linear leaves vary within a cell: go as far as they allow.
        local.offer(setting, _towards(setting, before.u, u))
    return local.best.cost < before.cost * (1 - 1e-9)


def _cell(setting: Setting, u: Floats) -> list[HalfSpaces]:
    """The half-spaces on the way of a changed row, tree by tree."""
    leaves = setting.space.fitted.forest.apply(as_rows(setting.rows(u[None, :])))[0]
    return [setting.space.on_way(tree, int(leaf)) for tree, leaf in enumerate(leaves)]


def _holding(ways: list[HalfSpaces], u: Floats) -> list[int]:
    """Trees with a hyperplane that `u` lies on, within a few times the rounding."""
    return [
        tree
        for tree, way in enumerate(ways)
        if len(way.scores) and (way.scores + way.normals @ u <= 8 * way.rounding(u)).any()
    ]


def _all_of(ways: list[HalfSpaces], n_moves: int) -> HalfSpaces:
    return HalfSpaces(
        np.vstack([np.empty((0, n_moves)), *(way.normals for way in ways)]),
        np.concatenate([np.empty(0), *(way.scores for way in ways)]),
        np.concatenate([np.empty(0), *(way.sizes for way in ways)]),
    )
