"""The point of a polyhedron that is nearest to the origin, in the l2 or the l1 norm.

The polyhedra are small: a few half-spaces on the way to a leaf, and bounds on each coordinate. In
the l2 norm this is least distance programming. Its dual is a non-negative least squares problem,
which an active-set method solves in finitely many steps, and whose residual tells an empty
polyhedron from a distant one [1]_. In the l1 norm it is a linear programme.

References
----------
.. [1] Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23, algorithm LDP.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

Floats = NDArray[np.float64]
Solver = Callable[["Polyhedron"], "Floats | None"]

#: Part of its own size by which a half-space may be missed.
TOLERANCE = 1e-9

#: Half-spaces that are taken up at first; later as many as there are, so that few rounds do.
N_TAKEN = 8


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """Points with ``normals @ u >= offsets`` and ``lower <= u <= upper``.

    Attributes
    ----------
    normals : float64 ndarray of shape (n_halfspaces, n)
    offsets : float64 ndarray of shape (n_halfspaces,)
    lower, upper : float64 ndarray of shape (n,)
        Infinite where there is no bound.
    """

    normals: Floats
    offsets: Floats
    lower: Floats
    upper: Floats


def nearest_l2(polyhedron: Polyhedron) -> Floats | None:
    """Point of least Euclidean norm, None if there is no point.

    Half-spaces are taken up as they turn out to be violated. Each step solves a relaxation, so the
    first point that violates none is the answer.
    """
    if (polyhedron.lower > polyhedron.upper).any():
        return None
    rows = _unit_rows(polyhedron)
    if rows is None:
        return None
    u = np.zeros(len(polyhedron.lower))
    normals, offsets = np.empty((0, len(u))), np.empty(0)
    taken: set[int] = set()
    while True:
        violated = _most_violated(rows, polyhedron, u, taken)
        if not violated:
            return np.clip(u, polyhedron.lower, polyhedron.upper)
        taken.update(violated)
        more = [_half_space(rows, polyhedron, row) for row in violated]
        normals = np.vstack([normals, *(normal for normal, _ in more)])
        offsets = np.append(offsets, [offset for _, offset in more])
        found = _least_distance(normals, offsets)
        if found is None:
            return None
        u = found


def nearest_l1(polyhedron: Polyhedron) -> Floats | None:
    """Point of least sum of absolute values, None if there is no point."""
    if (polyhedron.lower > polyhedron.upper).any():
        return None
    rows = _unit_rows(polyhedron)
    if rows is None:
        return None
    normals, offsets = rows
    n = len(polyhedron.lower)
    if n == 0:
        return np.zeros(0)
    # u = up - down, both at least 0.
    ups = np.column_stack([np.maximum(polyhedron.lower, 0), np.maximum(polyhedron.upper, 0)])
    downs = np.column_stack([np.maximum(-polyhedron.upper, 0), np.maximum(-polyhedron.lower, 0)])
    # HiGHS knows tolerances of an absolute size: the most violated half-space is put at 1.
    unit = float(offsets.max(initial=0)) or 1.0
    solved = linprog(
        np.ones(2 * n),
        A_ub=np.hstack([-normals, normals]),
        b_ub=-offsets / unit,
        bounds=np.vstack([ups, downs]) / unit,
        method="highs",
    )
    if solved.status != 0:
        return None
    u = (solved.x[:n] - solved.x[n:]) * unit
    return np.asarray(np.clip(u, polyhedron.lower, polyhedron.upper))


SOLVERS: dict[str, Solver] = {"l2": nearest_l2, "l1": nearest_l1}


def size(u: Floats, norm: str) -> float:
    """Norm of a vector."""
    return float(np.linalg.norm(u)) if norm == "l2" else float(np.abs(u).sum())


def _unit_rows(polyhedron: Polyhedron) -> tuple[Floats, Floats] | None:
    """Half-spaces with unit normals; None if one of them has no point."""
    sizes = np.linalg.norm(polyhedron.normals, axis=1)
    is_flat = sizes == 0
    if (polyhedron.offsets[is_flat] > 0).any():
        return None
    sizes = sizes[~is_flat]
    return polyhedron.normals[~is_flat] / sizes[:, None], polyhedron.offsets[~is_flat] / sizes


def _most_violated(
    rows: tuple[Floats, Floats], polyhedron: Polyhedron, u: Floats, taken: set[int]
) -> list[int]:
    """Half-spaces and bounds that `u` misses by most: numbers as of `_half_space`."""
    normals, offsets = rows
    misses = np.concatenate([offsets - normals @ u, polyhedron.lower - u, u - polyhedron.upper])
    allowed = TOLERANCE * (np.linalg.norm(u) + np.abs(np.concatenate([offsets, u, u])))
    violated = np.flatnonzero(misses > allowed)
    order = violated[np.argsort(-misses[violated], kind="stable")]
    found = [row for row in order.tolist() if row not in taken]
    return found[: N_TAKEN + len(taken)]


def _half_space(
    rows: tuple[Floats, Floats], polyhedron: Polyhedron, row: int
) -> tuple[Floats, float]:
    """Normal and offset of a half-space, of a lower bound or of an upper one."""
    normals, offsets = rows
    if row < len(offsets):
        return normals[row], float(offsets[row])
    n = len(polyhedron.lower)
    place = row - len(offsets)
    normal = np.zeros(n)
    if place < n:
        normal[place] = 1.0
        return normal, float(polyhedron.lower[place])
    normal[place - n] = -1.0
    return normal, -float(polyhedron.upper[place - n])


def _least_distance(normals: Floats, offsets: Floats) -> Floats | None:
    """Least u with ``normals @ u >= offsets``, for unit normals; None if there is none."""
    # The most violated half-space is put at distance 1, so that the answer is of that order.
    unit = float(offsets.max())
    if unit <= 0:
        return np.zeros(normals.shape[1])
    scaled = offsets / unit
    wanted = np.zeros(normals.shape[1] + 1)
    wanted[-1] = 1.0
    factors, _ = nnls(np.column_stack([normals, scaled]).T, wanted, maxiter=50 * len(offsets))
    residual = wanted - np.column_stack([normals, scaled]).T @ factors
    # The last entry is 1 / (1 + |u|**2): no residual, no point.
    if residual[-1] < 1e-13:
        return None
    return _polished(normals, scaled, factors, -residual[:-1] / residual[-1]) * unit


def _polished(normals: Floats, offsets: Floats, factors: Floats, u: Floats) -> Floats:
    """Point of least norm on the half-spaces that hold `u`, if it is one of the polyhedron.

    It has full accuracy also where the residual of the dual is small.
    """
    holds = factors > 0
    exact = np.linalg.lstsq(normals[holds], offsets[holds], rcond=None)[0]
    worst = [float((offsets - normals @ point).max()) for point in (exact, u)]
    return np.asarray(exact if worst[0] <= max(worst[1], TOLERANCE) else u)
