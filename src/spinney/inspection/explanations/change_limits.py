"""What a person may change and by how much, as numbers that move and levels to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.data.tables.columns import (
    DATETIME,
    DURATION,
    TEXT,
    Column,
    number_column,
    object_column,
)
from spinney.data.tables.encoding import EMPTY
from spinney.data.tables.levels import Level, level_coordinates
from spinney.inspection.explanations.moves import Choice, Move, Moves, dtype_limits
from spinney.inspection.explanations.row import OneRow
from spinney.inspection.fitted_model import FittedModel

TIMES = (DATETIME, DURATION)


@dataclass(frozen=True, eq=False)
class ChangeLimits:
    """What may change, by column; made by `read_limits`.

    Attributes
    ----------
    fitted : FittedModel
    row : OneRow
    features : list of int
        Columns that may change.
    is_named : bool
        Whether a person named them; else they are all.
    bounds, directions, scale : dict
        Where something is said about a column.
    integer : set of int or None
        Columns that change by whole numbers; None leaves it to the dtypes.
    """

    fitted: FittedModel
    row: OneRow
    features: list[int]
    is_named: bool
    bounds: dict[int, Any]
    directions: dict[int, str]
    integer: set[int] | None
    scale: dict[int, float]

    def moves(self) -> Moves:
        """The numbers among the columns that may change."""
        movable = [column for column in self.features if self._is_movable(column)]
        return Moves.of([self._move(column) for column in movable])

    def choices(self) -> list[Choice]:
        """The categories among the columns that may change."""
        return [self._choice(column) for column in self.features if self._has_levels(column)]

    def _has_levels(self, column: int) -> bool:
        return self.fitted.encoding is not None and column in self.fitted.encoding.levels

    def _is_movable(self, column: int) -> bool:
        """Whether a column holds a number that can be moved: a hole cannot."""
        encoding = self.fitted.encoding
        if self._has_levels(column) or self.scale.get(column, 1.0) == 0:
            return False
        if encoding is not None and encoding.kind(column) == EMPTY:
            return False
        given = self.row.table.columns[column]
        if given.kind != TEXT and not np.isnan(given.numbers[0]):
            return True
        if self.is_named:
            raise ValueError(
                f"features names {self.fitted.column_names[column]!r}, which is missing in x: "
                "there is nothing to change it from; give a value first, or leave it out."
            )
        return False

    def _move(self, column: int) -> Move:
        encoding, given = self.fitted.encoding, self.row.table.columns[column]
        start, dtype = float(given.numbers[0]), self.row.dtype(column)
        lower, upper = self._limits(column, start, dtype)
        whole = self.row.is_whole(column) if self.integer is None else column in self.integer
        return Move(
            column=column,
            coordinate=column if encoding is None else int(encoding.first[column]),
            start=start,
            origin=0.0 if encoding is None else float(encoding.origin[column]),
            scale=self.scale.get(column, 1.0),
            lower=lower,
            upper=upper,
            is_whole=whole,
            is_time=given.kind in TIMES,
            dtype=dtype,
        )

    def _limits(self, column: int, start: float, dtype: np.dtype[Any]) -> tuple[float, float]:
        """Least and largest number allowed by bounds, direction and dtype."""
        lower, upper = dtype_limits(dtype)
        if column in self.bounds:
            low, high = self._interval(column)
            lower, upper = max(lower, low), min(upper, high)
        direction = self.directions.get(column, "both")
        if direction == "up":
            lower = max(lower, start)
        elif direction == "down":
            upper = min(upper, start)
        return lower, upper

    def _interval(self, column: int) -> tuple[float, float]:
        """Bounds of a number as numbers, also those of dates."""
        name, given = self.fitted.column_names[column], self.bounds[column]
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
            raise ValueError(
                f"bounds[{name!r}]={given!r}; give (low, high), with None where there is no bound."
            )
        kind = self.row.table.columns[column].kind
        ends = [np.nan if end is None else _as_number(end, kind, name) for end in given]
        low = -np.inf if np.isnan(ends[0]) else ends[0]
        high = np.inf if np.isnan(ends[1]) else ends[1]
        if low > high:
            raise ValueError(f"bounds[{name!r}]={given!r}; the first must not be above the second.")
        return low, high

    def _choice(self, column: int) -> Choice:
        encoding = self.fitted.encoding
        assert encoding is not None
        levels = encoding.levels[column]
        known = sorted({*levels.own, *levels.known}, key=lambda level: (str(type(level)), level))
        if column in self.bounds:
            known = self._allowed_levels(column, known)
        given = self.row.table.columns[column]
        present = given.texts[0] if given.kind == TEXT else float(given.numbers[0])
        options = tuple(level for level in known if level != present)
        first, width = int(encoding.first[column]), int(encoding.widths[column])
        codes = np.zeros((len(options), width), dtype=np.float32)
        if options:
            codes[:, : levels.width] = level_coordinates(levels, _level_column(options))
        cost = 1.0 / self.scale[column] if self.scale.get(column) else 1.0
        return Choice(column, options, slice(first, first + width), codes, cost)

    def _allowed_levels(self, column: int, known: list[Level]) -> list[Level]:
        name, given = self.fitted.column_names[column], self.bounds[column]
        if isinstance(given, str) or not isinstance(given, Sequence | set | frozenset):
            raise ValueError(f"bounds[{name!r}]={given!r}; give a list of levels.")
        unknown = [level for level in given if level not in known]
        if unknown:
            raise ValueError(
                f"bounds[{name!r}] names the level {unknown[0]!r}; the model knows "
                f"{known[:5]!r}{' …' if len(known) > 5 else ''}."
            )
        return [level for level in known if level in given]


def _as_number(value: Any, kind: str, name: str) -> float:
    """A bound as a number, a date as days."""
    if kind in TIMES:
        found = object_column([value], f"bounds[{name!r}]")
        return float(found.numbers[0])
    return float(value)


def _level_column(levels: Sequence[Level]) -> Column:
    if isinstance(levels[0], str):
        return Column(TEXT, np.zeros(0), list(levels))  # type: ignore[arg-type]
    return number_column(np.array(levels, dtype=np.float64))
