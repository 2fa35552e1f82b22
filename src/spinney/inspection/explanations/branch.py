"""The nearest point of a polyhedron if some coordinates move by whole steps, or few may move.

Branch and bound over the relaxation without these wishes: a coordinate between two steps is held
below or above them; of too many that moved, the largest is held at 0 or counted as one of the few.
It begins with a point that has what is limits, found by leaving out small coordinates and rounding.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.explanations.projection import SOLVERS, Floats, Polyhedron, size

#: Relaxations solved for one polyhedron, at most.
MOST_NODES = 200

#: Part of a step by which a coordinate may miss it.
NEAR = 1e-6

#: Part of the largest coordinate below which another has not moved.
STILL = 1e-9


@dataclass(frozen=True, eq=False)
class PointLimits:
    """What is asked of a point beside lying in a polyhedron.

    Attributes
    ----------
    norm : {"l2", "l1"}
    steps : float64 ndarray of shape (n,)
        Length of a whole step, 0 where any length will do.
    max_changes : int
        Coordinates that may differ from 0.
    """

    norm: str
    steps: Floats
    max_changes: int

    @property
    def is_free(self) -> bool:
        """Whether nothing is limits."""
        return self.max_changes >= len(self.steps) and not self.steps.any()


@dataclass(frozen=True, eq=False)
class _Node:
    polyhedron: Polyhedron
    is_kept: NDArray[np.bool_]


def nearest_allowed(
    polyhedron: Polyhedron,
    limits: PointLimits,
    limit: float = np.inf,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[Floats | None, bool]:
    """Point of least norm that has what is limits, if its norm is below `limit`.

    Parameters
    ----------
    polyhedron : Polyhedron
    limits : PointLimits
    limit : float
        Points of this norm and more are of no use.
    is_late : callable
        Called before each relaxation; whether the time is over.

    Returns
    -------
    u : ndarray of shape (n,) or None
    is_complete : bool
        False if the search was cut short, so that a nearer point may exist.
    """
    is_late()
    if limits.is_free:
        return SOLVERS[limits.norm](polyhedron), True
    best = near_allowed(polyhedron, limits)
    if best is not None and size(best, limits.norm) >= limit:
        best = None
    return _branch(polyhedron, limits, best, limit, is_late)


def near_allowed(polyhedron: Polyhedron, limits: PointLimits) -> Floats | None:
    """A point that has what is limits, near the least one; None if none was found."""
    u = SOLVERS[limits.norm](polyhedron)
    while u is not None and (n_moved := _n_moved(u)) > limits.max_changes:
        n_left = max(limits.max_changes, n_moved // 2)
        is_small = np.argsort(np.argsort(-np.abs(u), kind="stable"), kind="stable") >= n_left
        polyhedron = _held(polyhedron, is_small)
        u = SOLVERS[limits.norm](polyhedron)
    if u is None or not limits.steps.any():
        return u
    if limits.max_changes < len(u):
        polyhedron = _held(polyhedron, np.abs(u) <= STILL * np.abs(u).max())
    return _rounded(polyhedron, u, limits)


def _rounded(polyhedron: Polyhedron, u: Floats, limits: PointLimits) -> Floats | None:
    """A point on whole steps, the nearest of some, moved back step by step."""
    # A point that is half a step of each coordinate inside stays inside when it is rounded.
    room = np.abs(polyhedron.normals) @ (limits.steps / 2)
    inner = SOLVERS[limits.norm](replace(polyhedron, offsets=polyhedron.offsets + room))
    points = [u, inner, _fixed_one_by_one(polyhedron, u, limits)]
    wholes = [_on_steps(point, limits.steps) for point in points if point is not None]
    found = [_stepped_back(polyhedron, w, limits) for w in wholes if _contains(polyhedron, w)]
    return min(found, key=lambda point: size(point, limits.norm), default=None)


def _fixed_one_by_one(polyhedron: Polyhedron, u: Floats, limits: PointLimits) -> Floats | None:
    """A point whose coordinates were fixed on steps, the nearest to one first, half at a time.

    Those that have not moved stay free as long as they can make up for others that are rounded.
    """
    while True:
        whole = _on_steps(u, limits.steps)
        apart = np.abs(u - whole)
        is_open = apart > NEAR * limits.steps
        if not is_open.any():
            return u
        order = np.argsort(np.where(is_open, apart, np.inf), kind="stable")
        other = whole + np.sign(u - whole) * limits.steps
        half = order[: (np.count_nonzero(is_open) + 1) // 2]
        # Where rounding to the nearest step leads out of the polyhedron, the other side may not.
        for chosen, values in ((half, whole), (order[:1], whole), (order[:1], other)):
            fixed = _fixed(polyhedron, chosen, values)
            moved = SOLVERS[limits.norm](fixed)
            if moved is not None:
                break
        if moved is None:
            return None
        polyhedron, u = fixed, moved


def _fixed(polyhedron: Polyhedron, chosen: NDArray[np.intp], values: Floats) -> Polyhedron:
    lower, upper = polyhedron.lower.copy(), polyhedron.upper.copy()
    lower[chosen] = upper[chosen] = values[chosen]
    return replace(polyhedron, lower=lower, upper=upper)


def _on_steps(u: Floats, steps: Floats) -> Floats:
    counts = np.divide(u, steps, out=np.zeros_like(u), where=steps > 0)
    return np.where(steps > 0, np.rint(counts) * steps, u)


def _contains(polyhedron: Polyhedron, u: Floats) -> bool:
    room = 1e-9 * (np.abs(polyhedron.normals) @ np.abs(u) + np.abs(polyhedron.offsets))
    is_inside = bool((polyhedron.normals @ u >= polyhedron.offsets - room).all())
    slack = NEAR * (1 + np.abs(u))
    is_bounded = (u >= polyhedron.lower - slack) & (u <= polyhedron.upper + slack)
    return is_inside and bool(is_bounded.all())


def _stepped_back(polyhedron: Polyhedron, u: Floats, limits: PointLimits) -> Floats:
    """A point from which no coordinate can go a step towards 0."""
    has_moved = True
    while has_moved:
        has_moved = False
        for place in np.argsort(-np.abs(u), kind="stable"):
            back = u.copy()
            back[place] -= np.sign(u[place]) * min(limits.steps[place], abs(u[place]))
            if limits.steps[place] > 0 and u[place] != 0 and _contains(polyhedron, back):
                u, has_moved = back, True
    return u


def _branch(
    polyhedron: Polyhedron,
    limits: PointLimits,
    best: Floats | None,
    limit: float,
    is_late: Callable[[], bool],
) -> tuple[Floats | None, bool]:
    solve, numbers = SOLVERS[limits.norm], count()
    waiting: list[tuple[float, int, _Node, Floats]] = []
    limit = limit if best is None else size(best, limits.norm)

    def put(node: _Node) -> None:
        u = solve(node.polyhedron)
        if u is not None and (length := size(u, limits.norm)) < limit:
            heapq.heappush(waiting, (length, next(numbers), node, u))

    put(_Node(polyhedron, np.zeros(len(limits.steps), dtype=np.bool_)))
    for _ in range(MOST_NODES):
        if not waiting:
            return best, True
        if is_late():
            return best, False
        _, _, node, u = heapq.heappop(waiting)
        children = _children(node, u, limits)
        if not children:
            # Nodes come in the order of their bounds: the first that has all that is asked wins.
            return u, True
        for child in children:
            put(child)
    return best, not waiting


def _n_moved(u: Floats) -> int:
    return int(np.count_nonzero(np.abs(u) > STILL * np.abs(u).max(initial=0.0)))


def _children(node: _Node, u: Floats, limits: PointLimits) -> list[_Node]:
    """Halves of a node whose best point lacks something; none if it lacks nothing."""
    if _n_moved(u) > limits.max_changes:
        return _few_or_fewer(node, u, limits)
    whole = limits.steps > 0
    n_steps = np.divide(u, limits.steps, out=np.zeros_like(u), where=whole)
    missing = np.where(whole, np.abs(n_steps - np.rint(n_steps)), 0.0)
    if missing.max(initial=0.0) <= NEAR:
        return []
    place = int(missing.argmax())
    below = np.floor(n_steps[place]) * limits.steps[place]
    lower, upper = node.polyhedron.lower.copy(), node.polyhedron.upper.copy()
    upper[place], lower[place] = below, below + limits.steps[place]
    return [
        replace(node, polyhedron=replace(node.polyhedron, upper=upper)),
        replace(node, polyhedron=replace(node.polyhedron, lower=lower)),
    ]


def _few_or_fewer(node: _Node, u: Floats, limits: PointLimits) -> list[_Node]:
    """The largest coordinate that is not one of the few yet: held at 0, or one of them."""
    place = int(np.where(node.is_kept, -1.0, np.abs(u)).argmax())
    others = np.zeros(len(u), dtype=np.bool_)
    others[place] = True
    without = replace(node, polyhedron=_held(node.polyhedron, others))
    is_kept = node.is_kept | others
    if np.count_nonzero(is_kept) > limits.max_changes:
        return [without]
    within = node.polyhedron
    if np.count_nonzero(is_kept) == limits.max_changes:
        within = _held(within, ~is_kept)
    return [without, _Node(within, is_kept)]


def _held(polyhedron: Polyhedron, where: NDArray[np.bool_]) -> Polyhedron:
    """The polyhedron with some coordinates at 0; empty if a bound forbids it."""
    lower = np.where(where, np.maximum(polyhedron.lower, 0.0), polyhedron.lower)
    upper = np.where(where, np.minimum(polyhedron.upper, 0.0), polyhedron.upper)
    return replace(polyhedron, lower=lower, upper=upper)
