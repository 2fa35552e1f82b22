"""How the levels of one category become coordinates of a hyperplane.

Each of a few levels has a coordinate that is 1 for its rows and 0 for others; rare ones share one.
Where there are more levels, coordinates hold what the target is on average at the row's level:
they tell any number of levels apart, and a rare level is drawn to the mean of all rows. Training
rows get averages over rows of other folds, so that no row's own target is in its coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import TEXT, Column

Level: TypeAlias = str | float

#: Levels with less than this part of an equal share of the rows are pooled.
RARE_PART = 0.01

#: Most levels with a coordinate each; with more of them, means are learned
#: (`benchmarks/encodings.py`).
MOST_LEVELS = 4

#: A level's mean is taken as if this many rows of the overall mean were among its own.
SMOOTHING_ROWS = 10.0

#: Folds over which the means of training rows are learned.
N_FOLDS = 5

MISSING, UNKNOWN = -1, -2


class Places:
    """An index of sorted levels: it takes longer to make than to find the levels of a few rows."""

    def __init__(self, levels: Sequence[Level]) -> None:
        self._levels = levels

    def codes(self, column: Column) -> NDArray[np.intp]:
        """Place of each value of a column, MISSING or UNKNOWN."""
        if column.kind == TEXT:
            place = self._place
            return np.array([place.get(text, UNKNOWN) for text in column.texts], dtype=np.intp)
        values, known = column.numbers, self._numbers
        codes = np.full(len(values), UNKNOWN, dtype=np.intp)
        if len(known):
            nearest = np.minimum(np.searchsorted(known, values), len(known) - 1)
            codes = np.where(known[nearest] == values, nearest, UNKNOWN)
        codes[np.isnan(values)] = MISSING
        return codes

    @cached_property
    def _place(self) -> dict[Level | None, int]:
        return {**{level: code for code, level in enumerate(self._levels)}, None: MISSING}

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return np.array(self._levels, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Levels:
    """What is known of the levels of one column.

    Attributes
    ----------
    own : tuple of str, or of float
        Levels with a coordinate of their own, ascending.
    has_rest : bool
        Whether a coordinate stands for all other levels, seen in training or not.
    known : tuple of str, or of float
        Levels with a mean, ascending; empty if means are not used.
    means : float32 ndarray of shape (len(known) + 2, n_outputs)
        Smoothed mean of the target at each known level; then at missing values; then at levels
        that are not known. Of shape (0, 0) if means are not used.
    """

    own: tuple[Level, ...]
    has_rest: bool
    known: tuple[Level, ...] = ()
    means: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @cached_property
    def places_of_own(self) -> Places:
        """Index of the levels with a coordinate."""
        return Places(self.own)

    @cached_property
    def places_of_known(self) -> Places:
        """Index of the levels with a mean."""
        return Places(self.known)

    @property
    def n_outputs(self) -> int:
        """Coordinates with means."""
        return int(self.means.shape[1])

    @property
    def width(self) -> int:
        """Coordinates, without that of missing values."""
        return len(self.own) + int(self.has_rest) + self.n_outputs


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes: the place of each value among sorted levels, MISSING or UNKNOWN."""

    codes: NDArray[np.intp]
    levels: tuple[Level, ...]


def code_column(column: Column) -> Coded:
    """Codes of a column among the levels that it holds."""
    if column.kind == TEXT:
        levels = tuple(sorted({text for text in column.texts if text is not None}))
    else:
        present = column.numbers[~np.isnan(column.numbers)]
        levels = tuple((np.unique(present) + 0.0).tolist())  # -0.0 and 0.0 are one level
    return Coded(codes_among(column, levels), levels)


def codes_among(column: Column, levels: Sequence[Level]) -> NDArray[np.intp]:
    """Place of each value among given sorted levels, MISSING or UNKNOWN."""
    return Places(levels).codes(column)


def learn_levels(
    coded: Coded,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    most_levels: int = MOST_LEVELS,
) -> Levels:
    """Levels with a coordinate each and the rest, or means if there are too many levels.

    Parameters
    ----------
    coded : Coded
        The column in training.
    targets : float64 ndarray of shape (n_rows, n_outputs)
        Numbers to predict, or 0/1 of classes.
    weights : float64 ndarray of shape (n_rows,)
        All above 0.
    most_levels : int
        More levels than this, and than there are outputs, are told apart by means.
    """
    n_levels = len(coded.levels)
    if n_levels > max(most_levels, targets.shape[1]):
        means = _LevelSums.of(coded, targets, weights).means(_unit(weights))
        return Levels((), False, coded.levels, means.astype(np.float32))
    is_present = coded.codes >= 0
    counts = np.bincount(coded.codes[is_present], weights[is_present], minlength=n_levels)
    is_own = counts >= RARE_PART * counts.sum() / n_levels
    own = tuple(level for level, kept in zip(coded.levels, is_own, strict=True) if kept)
    return Levels(own, has_rest=len(own) < n_levels)


def level_coordinates(levels: Levels, column: Column) -> NDArray[np.float32]:
    """Coordinates of a column's values, (n_rows, levels.width)."""
    out = np.zeros((len(column), levels.width), dtype=np.float32)
    if levels.own or levels.has_rest:
        codes = levels.places_of_own.codes(column)
        rows = np.flatnonzero(codes >= 0)
        out[rows, codes[rows]] = 1.0
        out[codes == UNKNOWN, len(levels.own) : len(levels.own) + int(levels.has_rest)] = 1.0
    if levels.n_outputs:
        place = levels.places_of_known.codes(column)
        place = np.where(place == MISSING, len(levels.known), place)
        place = np.where(place == UNKNOWN, len(levels.known) + 1, place)
        out[:, levels.width - levels.n_outputs :] = levels.means[place]
    return out


def cross_fitted_means(
    column: Column, targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Means of training rows, each learned from the rows of other folds, (n_rows, n_outputs).

    Row i is in fold ``i % N_FOLDS``.
    """
    coded = code_column(column)
    total = _LevelSums.of(coded, targets, weights)
    place = np.where(coded.codes == MISSING, len(coded.levels), coded.codes)
    unit = _unit(weights)
    out = np.empty(targets.shape, dtype=np.float32)
    for fold in range(N_FOLDS):
        rows = slice(fold, None, N_FOLDS)
        inside = _LevelSums.of(Coded(coded.codes[rows], coded.levels), targets[rows], weights[rows])
        out[rows] = total.less(inside).means(unit)[place[rows]]
    return out


@dataclass(frozen=True, eq=False)
class _LevelSums:
    """Weights and weighted targets, summed at each level and at missing values."""

    weights: NDArray[np.float64]
    targets: NDArray[np.float64]

    @classmethod
    def of(
        cls, coded: Coded, targets: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> _LevelSums:
        size = len(coded.levels) + 1
        place = np.where(coded.codes == MISSING, size - 1, coded.codes)
        sums = [np.bincount(place, weights * output, minlength=size) for output in targets.T]
        counts = np.bincount(place, weights, minlength=size).astype(np.float64)
        return cls(counts, np.column_stack(sums))

    def less(self, other: _LevelSums) -> _LevelSums:
        """Sums over the rows that are here but not there."""
        return _LevelSums(
            np.maximum(self.weights - other.weights, 0.0), self.targets - other.targets
        )

    def means(self, unit: float) -> NDArray[np.float64]:
        """Smoothed means at each level, at missing values, and of all rows."""
        total = self.weights.sum()
        overall = self.targets.sum(axis=0) / total if total > 0 else self.targets.sum(axis=0) * 0
        added = SMOOTHING_ROWS * unit
        smoothed = (self.targets + added * overall) / (self.weights + added)[:, None]
        return np.vstack([smoothed, overall])


def _unit(weights: NDArray[np.float64]) -> float:
    """Weight of a row: the mean, so that the unit of the weights means nothing."""
    return float(weights.mean())
