"""Changes that a row can hold, judged by the model itself: the best one so far.

Polyhedra are closed sets of real numbers. Rows are float32, and one side of a hyperplane is open.
A point on the boundary is therefore tried as it is, then some way beyond the boundary, further if
need be, until the model says what is wanted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.explanations.branch import STILL, PointLimits, near_allowed, nearest_allowed
from spinney.inspection.explanations.goal import Goal
from spinney.inspection.explanations.moves import Choice
from spinney.inspection.explanations.projection import Floats, size
from spinney.inspection.explanations.space import HalfSpaces, Space

#: How far beyond a boundary a point is put, in units of the rounding there, one after the other.
NUDGES = (1.0, 4.0, 16.0, 256.0)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A change that leads to a wanted prediction.

    Attributes
    ----------
    cost : float
        Norm of the change, categories included.
    numbers : float64 ndarray
        The numbers that may move, after the change.
    levels : tuple of int
        Level that each category changes to, -1 if it stays.
    u : float64 ndarray
        The change of the numbers, divided by the scale.
    """

    cost: float
    numbers: Floats
    levels: tuple[int, ...]
    u: Floats


@dataclass(frozen=True, eq=False)
class Setting:
    """One choice of categories, and what is left to move."""

    space: Space
    goal: Goal
    limits: PointLimits
    levels: tuple[int, ...]
    level_cost: float

    @property
    def norm(self) -> str:
        """Name of the norm."""
        return self.limits.norm

    def cost(self, u: Floats) -> float:
        """Cost of a change of numbers beside that of the categories."""
        return total_cost(self.level_cost, size(u, self.norm), self.norm)

    def rows(self, changes: Floats) -> NDArray[np.float32]:
        """What the trees read after each of several changes, (n_changes, n_coordinates)."""
        return self._rows(self.space.moves.numbers(changes))

    def is_met(self, changes: Floats) -> NDArray[np.bool_]:
        """Whether the model says what is wanted after each change, of no more than may change."""
        moves = self.space.moves
        after = moves.numbers(changes)
        is_met = self.goal.is_met(self.space.fitted.totals(self._rows(after)))
        n_moved = np.count_nonzero(after != moves.start, axis=1)
        return np.asarray(is_met & (n_moved <= self.limits.max_changes) & moves.are_within(after))

    def _rows(self, after: Floats) -> NDArray[np.float32]:
        moves = self.space.moves
        rows = np.repeat(self.space.coordinates[None, :], len(after), axis=0)
        rounded = (after - moves.origin).astype(np.float32)
        present = rows[:, moves.coordinates]
        rows[:, moves.coordinates] = np.where(after != moves.start, rounded, present)
        return rows

    def candidate(self, u: Floats) -> Candidate:
        """A change with the numbers that a row holds."""
        moves = self.space.moves
        after = moves.numbers(u)
        exact = (after - moves.start) / moves.scale
        return Candidate(self.cost(exact), after, self.levels, exact)


@dataclass(eq=False)
class Search:
    """The best candidate so far, and what is left of the time."""

    deadline: float
    best: Candidate | None = None
    is_cut: bool = False
    n_solved: int = 0

    @property
    def limit(self) -> float:
        """Cost to beat."""
        return np.inf if self.best is None else self.best.cost

    def is_late(self) -> bool:
        """Whether the time is over; then the search is not complete."""
        late = time.monotonic() > self.deadline
        self.is_cut = self.is_cut or late
        return late

    def offer(self, setting: Setting, u: Floats) -> bool:
        """Take a change if the model says what is wanted and it is the cheapest so far."""
        if not setting.is_met(u[None, :])[0]:
            return False
        found = setting.candidate(u)
        if found.cost < self.limit:
            self.best = found
        return True

    def solve(self, setting: Setting, spaces: HalfSpaces, margins: Floats | float) -> Floats | None:
        """Least change into half-spaces, if it can be cheaper than the best so far."""
        polyhedron = spaces.polyhedron(setting.space.moves, margins)
        u, is_complete = nearest_allowed(
            polyhedron, setting.limits, self.left(setting), self._is_late_for_one_more
        )
        self.is_cut = self.is_cut or not is_complete
        return self._useful(setting, u)

    def approach(
        self, setting: Setting, spaces: HalfSpaces, margins: Floats | float
    ) -> Floats | None:
        """A small change into half-spaces, if it is cheaper than the best so far."""
        self.n_solved += 1
        polyhedron = spaces.polyhedron(setting.space.moves, margins)
        return self._useful(setting, near_allowed(polyhedron, setting.limits))

    def _useful(self, setting: Setting, u: Floats | None) -> Floats | None:
        if u is None or setting.cost(u) >= self.limit:
            return None
        return np.where(np.abs(u) > STILL * np.abs(u).max(initial=0.0), u, 0.0)

    def _is_late_for_one_more(self) -> bool:
        self.n_solved += 1
        return self.is_late()

    def enter(self, setting: Setting, spaces: HalfSpaces) -> Floats | None:
        """Least change into half-spaces that the model confirms; offers it.

        Returns
        -------
        ndarray or None
            The change; None if it is no cheaper than the best so far, or if there is none.
        """
        u = self.solve(setting, spaces, 0.0)
        if u is None or self.offer(setting, u):
            return u
        rounding = spaces.rounding(u)
        for nudge in NUDGES:
            u = self.solve(setting, spaces, nudge * rounding)
            if u is None or self.offer(setting, u):
                return u
        return None

    def left(self, setting: Setting) -> float:
        """Norm that the numbers may have if the whole is to be cheaper than the best so far."""
        if setting.norm == "l1":
            return self.limit - setting.level_cost
        return float(np.sqrt(max(self.limit**2 - setting.level_cost**2, 0.0)))


def total_cost(level_cost: float, number_cost: float, norm: str) -> float:
    """Norm of changes of categories and numbers together."""
    return level_cost + number_cost if norm == "l1" else float(np.hypot(level_cost, number_cost))


def level_costs(choices: list[Choice], levels: tuple[int, ...], norm: str) -> float:
    """What the changed categories cost together."""
    costs = [choice.cost for choice, level in zip(choices, levels, strict=True) if level >= 0]
    return size(np.array(costs), norm)
