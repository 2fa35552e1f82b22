"""What may change in a row, as a search sees it: numbers that move, and levels to choose from."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import MICROSECONDS_A_DAY
from spinney.data.tables.levels import Level
from spinney.inspection.explanations.projection import Floats
from spinney.inspection.explanations.row import Value


@dataclass(frozen=True)
class Move:
    """One number that may change; see `Moves`."""

    column: int
    coordinate: int
    start: float
    origin: float
    scale: float
    lower: float
    upper: float
    is_whole: bool
    is_time: bool
    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False)
class Moves:
    """Numbers that may change, one entry each.

    Attributes
    ----------
    columns, coordinates : int64 ndarray
        Where they are in the table, and in what the trees read.
    start, origin : float64 ndarray
        The given number, in days for times, and what is taken off it to make the coordinate.
    scale : float64 ndarray
        What a change of 1 is.
    lower, upper : float64 ndarray
        Least and largest number allowed, on the scale of `start`.
    is_whole, is_time : bool ndarray
        Whether changes are whole numbers, and whether it is a date or a duration.
    dtypes : tuple of numpy dtypes
        What the container can hold.
    """

    columns: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    start: Floats
    origin: Floats
    scale: Floats
    lower: Floats
    upper: Floats
    is_whole: NDArray[np.bool_]
    is_time: NDArray[np.bool_]
    dtypes: tuple[np.dtype[Any], ...]

    @classmethod
    def of(cls, moves: list[Move]) -> Moves:
        """The same numbers as arrays."""
        parts = {part.name: [getattr(move, part.name) for move in moves] for part in fields(Move)}
        return cls(
            columns=np.array(parts["column"], dtype=np.int64),
            coordinates=np.array(parts["coordinate"], dtype=np.int64),
            start=np.array(parts["start"], dtype=np.float64),
            origin=np.array(parts["origin"], dtype=np.float64),
            scale=np.array(parts["scale"], dtype=np.float64),
            lower=np.array(parts["lower"], dtype=np.float64),
            upper=np.array(parts["upper"], dtype=np.float64),
            is_whole=np.array(parts["is_whole"], dtype=np.bool_),
            is_time=np.array(parts["is_time"], dtype=np.bool_),
            dtypes=tuple(parts["dtype"]),
        )

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def least(self) -> Floats:
        """Lower bounds of the changes, divided by the scale."""
        least = self.lower - self.start
        return np.where(self.is_whole, np.ceil(least), least) / self.scale

    @property
    def most(self) -> Floats:
        """Upper bounds of the changes, divided by the scale."""
        most = self.upper - self.start
        return np.where(self.is_whole, np.floor(most), most) / self.scale

    def numbers(self, u: Floats) -> Floats:
        """Numbers after changes `u`, divided by the scale, of shape (..., n): such as rows hold."""
        change = np.where(self.is_whole, np.rint(u * self.scale), u * self.scale)
        ticks = np.rint(change * MICROSECONDS_A_DAY) / MICROSECONDS_A_DAY
        wanted = self.start + np.where(self.is_time, ticks, change)
        wanted = np.clip(wanted, self.lower, self.upper)
        for narrow in (np.float16, np.float32):
            places = [place for place, dtype in enumerate(self.dtypes) if dtype == narrow]
            if places:
                wanted[..., places] = self._narrowed(wanted[..., places], places, narrow)
        return np.where(change == 0, self.start, wanted)

    def _narrowed(self, values: Floats, places: list[int], dtype: Any) -> Floats:
        """Numbers of some columns as a narrow dtype holds them, within the bounds."""
        held = values.astype(dtype)
        wide = held.astype(np.float64)
        is_out = (wide < self.lower[places]) | (wide > self.upper[places])
        inwards = np.nextafter(held, self.start[places].astype(dtype)).astype(np.float64)
        return np.where(is_out, inwards, wide)

    def are_within(self, after: Floats) -> NDArray[np.bool_]:
        """Whether numbers after changes, (n_changes, n), are within the bounds."""
        return np.asarray(((after >= self.lower) & (after <= self.upper)).all(axis=1))

    def values(self, after: Floats) -> dict[int, Value]:
        """New values of the columns that changed, as a row takes them."""
        changed: dict[int, Value] = {}
        for place in np.flatnonzero(after != self.start):
            value: Value = float(after[place])
            if self.is_time[place]:
                value = datetime.timedelta(days=float(after[place] - self.start[place]))
            changed[int(self.columns[place])] = value
        return changed


@dataclass(frozen=True, eq=False)
class Choice:
    """A column of categories that may change.

    Attributes
    ----------
    column : int
    levels : tuple of str or float
        Levels to change to; the present one is not among them.
    coordinates : slice
        Where the column is in what the trees read.
    codes : float32 ndarray of shape (n_levels, n_coordinates of the column)
        What each level becomes there.
    cost : float
        What a change counts.
    """

    column: int
    levels: tuple[Level, ...]
    coordinates: slice
    codes: NDArray[np.float32]
    cost: float


def dtype_limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Least and largest number that a dtype holds and a model reads."""
    largest = float(np.finfo(np.float32).max)  # all that a model reads
    if dtype.kind == "b":
        return 0.0, 1.0
    if dtype.kind in "iu":
        return float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
    if dtype == np.dtype(np.float16):
        largest = float(np.finfo(np.float16).max)
    return -largest, largest
