"""The nearest point of a polyhedron if some coordinates move by whole steps, or few may move.

Branch and bound over the relaxation without these wishes: a coordinate between two steps is held
below or above them; of too many that moved, the largest is held at 0 or counted as one of the few.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from spinney.explain.projection import SOLVERS, Floats, Polyhedron, size

#: Relaxations solved for one polyhedron, at most.
MOST_NODES = 400

#: Part of a step by which a coordinate may miss it.
NEAR = 1e-6

#: Part of the largest coordinate below which another has not moved.
STILL = 1e-9


@dataclass(frozen=True, eq=False)
class Steps:
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
        """Whether nothing is asked."""
        return self.max_changes >= len(self.steps) and not self.steps.any()


@dataclass(frozen=True, eq=False)
class _Node:
    polyhedron: Polyhedron
    is_kept: NDArray[np.bool_]


def nearest_allowed(
    polyhedron: Polyhedron, asked: Steps, limit: float = np.inf
) -> tuple[Floats | None, bool]:
    """Point of least norm that has what is asked, if its norm is below `limit`.

    Returns
    -------
    u : ndarray of shape (n,) or None
    is_complete : bool
        False if the search was cut short: `u` is then a bound that lacks something of what is
        asked.
    """
    solve = SOLVERS[asked.norm]
    if asked.is_free:
        return solve(polyhedron), True
    numbers = count()
    waiting: list[tuple[float, int, _Node, Floats]] = []

    def put(node: _Node) -> None:
        u = solve(node.polyhedron)
        if u is not None and (length := size(u, asked.norm)) < limit:
            heapq.heappush(waiting, (length, next(numbers), node, u))

    put(_Node(polyhedron, np.zeros(len(asked.steps), dtype=np.bool_)))
    for _ in range(MOST_NODES):
        if not waiting:
            return None, True
        _, _, node, u = heapq.heappop(waiting)
        children = _children(node, u, asked)
        if not children:
            # Nodes come in the order of their bounds: the first that has all that is asked wins.
            return u, True
        for child in children:
            put(child)
    return (waiting[0][3], False) if waiting else (None, True)


def _children(node: _Node, u: Floats, asked: Steps) -> list[_Node]:
    """Halves of a node whose best point lacks something; none if it lacks nothing."""
    has_moved = np.abs(u) > STILL * np.abs(u).max(initial=0.0)
    if np.count_nonzero(has_moved) > asked.max_changes:
        return _few_or_fewer(node, u, asked, has_moved)
    whole = asked.steps > 0
    n_steps = np.divide(u, asked.steps, out=np.zeros_like(u), where=whole)
    missing = np.where(whole, np.abs(n_steps - np.rint(n_steps)), 0.0)
    if missing.max(initial=0.0) <= NEAR:
        return []
    place = int(missing.argmax())
    below = np.floor(n_steps[place]) * asked.steps[place]
    lower, upper = node.polyhedron.lower.copy(), node.polyhedron.upper.copy()
    upper[place], lower[place] = below, below + asked.steps[place]
    return [
        replace(node, polyhedron=replace(node.polyhedron, upper=upper)),
        replace(node, polyhedron=replace(node.polyhedron, lower=lower)),
    ]


def _few_or_fewer(
    node: _Node, u: Floats, asked: Steps, has_moved: NDArray[np.bool_]
) -> list[_Node]:
    """The largest coordinate that is not one of the few yet: held at 0, or one of them."""
    place = int(np.where(has_moved & ~node.is_kept, np.abs(u), -1.0).argmax())
    others = np.zeros(len(u), dtype=np.bool_)
    others[place] = True
    without = replace(node, polyhedron=_held(node.polyhedron, others))
    is_kept = node.is_kept | others
    if np.count_nonzero(is_kept) > asked.max_changes:
        return [without]
    within = node.polyhedron
    if np.count_nonzero(is_kept) == asked.max_changes:
        within = _held(within, ~is_kept)
    return [without, _Node(within, is_kept)]


def _held(polyhedron: Polyhedron, where: NDArray[np.bool_]) -> Polyhedron:
    """The polyhedron with some coordinates at 0; empty if a bound forbids it."""
    lower = np.where(where, np.maximum(polyhedron.lower, 0.0), polyhedron.lower)
    upper = np.where(where, np.minimum(polyhedron.upper, 0.0), polyhedron.upper)
    return replace(polyhedron, lower=lower, upper=upper)
