"""Arguments of `nearest_change` by column: each may name columns by name or number."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney.inspection.explanations.change_limits import TIMES, ChangeLimits
from spinney.inspection.explanations.row import OneRow
from spinney.inspection.fitted_model import FittedModel

DIRECTIONS = ("up", "down", "both")


def read_limits(
    fitted: FittedModel,
    row: OneRow,
    features: Any,
    bounds: Any,
    directions: Any,
    integer: Any,
    scale: Any,
    data: Any,
) -> ChangeLimits:
    """Arguments of `nearest_change` by column."""
    chosen = None if features is None else chosen_columns(fitted, features, "features")
    return ChangeLimits(
        fitted,
        row,
        list(range(fitted.n_columns)) if chosen is None else chosen,
        chosen is not None,
        read_bounds(fitted, row, bounds, data),
        read_directions(fitted, directions),
        None if integer is None else set(chosen_columns(fitted, integer, "integer")),
        read_scale(fitted, scale, data) or {},
    )


def read_scale(fitted: FittedModel, scale: object, data: Any) -> dict[int, float] | None:
    """What a change of 1 is in each column; None if nobody said."""
    if scale is None and data is None:
        return None
    spread: dict[int, float] = {}
    if data is not None:
        spread = _spread(fitted, data)
    if scale is None:
        return spread
    n_columns = len(fitted.column_names)
    if isinstance(scale, Mapping):
        chosen = by_column(fitted, scale, "scale")
    elif np.ndim(scale) == 0:  # type: ignore[arg-type]
        chosen = dict.fromkeys(range(n_columns), scale)
    else:
        values = np.asarray(scale)
        if values.shape != (n_columns,):
            raise ValueError(
                f"scale has shape {values.shape}; give a number, one a column ({n_columns}), or a "
                "dict from columns; try data=X_train for their standard deviations."
            )
        chosen = dict(enumerate(values.tolist()))
    for column, value in chosen.items():
        spread[column] = _positive(value, fitted.column_names[column])
    return spread


def _spread(fitted: FittedModel, data: Any) -> dict[int, float]:
    """Standard deviation of each column of numbers in some rows."""
    deviations = fitted.dense_coordinates(data).astype(np.float64).std(axis=0)
    places = _number_coordinates(fitted).items()
    return {column: float(deviations[coordinate]) for column, coordinate in places}


def _positive(value: Any, name: str) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) < math.inf:
        raise ValueError(f"scale of {name!r} is {value!r}; give a number above 0.")
    return float(value)


def read_bounds(fitted: FittedModel, row: OneRow, given: object, data: Any) -> dict[int, Any]:
    """Bounds by column; "data" is the range that each number has there, or in the row itself."""
    if not isinstance(given, str):
        return by_column(fitted, given, "bounds")
    if given != "data" or data is None:
        raise ValueError(
            f"bounds={given!r}{'' if data is not None else ' without data'}; give a dict from "
            'columns to (low, high), or "data" together with data=X_train.'
        )
    rows = fitted.dense_coordinates(data).astype(np.float64)
    bounds: dict[int, Any] = {}
    for column, coordinate in _number_coordinates(fitted).items():
        origin = 0.0 if fitted.encoding is None else float(fitted.encoding.origin[column])
        own = row.table.columns[column].numbers
        values = np.append(rows[:, coordinate] + origin, own[~np.isnan(own)])
        bounds[column] = (float(values.min()), float(values.max()))
    return bounds


def _number_coordinates(fitted: FittedModel) -> dict[int, int]:
    """Coordinate of each column that is a number, a date or a duration."""
    if fitted.encoding is None:
        return {column: column for column in range(len(fitted.column_names))}
    kinds = [coordinate.kind for coordinate in fitted.encoding.coordinates]
    places = enumerate(fitted.columns.tolist())
    return {column: place for place, column in places if kinds[place] in ("number", *TIMES)}


def read_directions(fitted: FittedModel, given: object) -> dict[int, str]:
    """Which way columns may go."""
    directions = by_column(fitted, given, "directions")
    for column, direction in directions.items():
        if direction not in DIRECTIONS:
            name = fitted.column_names[column]
            raise ValueError(f'directions[{name!r}]={direction!r}; give "up", "down" or "both".')
    return directions


def column_number(fitted: FittedModel, key: object, argument: str) -> int:
    """Column that a name or number means."""
    names = fitted.column_names
    if isinstance(key, str) and key in names:
        return names.index(key)
    is_number = isinstance(key, numbers.Integral) and not isinstance(key, bool)
    if is_number and -len(names) <= int(key) < len(names):  # type: ignore[call-overload]
        return int(key) % len(names)  # type: ignore[call-overload,no-any-return]
    raise ValueError(
        f"{argument} names the column {key!r}; give one of {list(names[:5])!r}"
        f"{' …' if len(names) > 5 else ''}, or its number from 0 to {len(names) - 1}."
    )


def by_column(fitted: FittedModel, given: object, argument: str) -> dict[int, Any]:
    """A mapping from columns by their numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{argument} is of type {type(given).__name__}; give a dict from columns; try "
            f"{{{fitted.column_names[0]!r}: ...}}."
        )
    return {column_number(fitted, key, argument): value for key, value in given.items()}


def chosen_columns(fitted: FittedModel, given: object, argument: str) -> list[int]:
    """Columns by their numbers, ascending."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray | set | frozenset):
        raise TypeError(f"{argument}={given!r}; give a list of columns, by name or number.")
    return sorted({column_number(fitted, key, argument) for key in given})
