"""The row that explanations start from: what is typical of each column.

A fit stores it. Other rows may stand in for those of training; and a model that was saved before
fits stored it, or that is made of trees alone, has none and is measured from zeros.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data.tables.columns import DATETIME, DURATION
from spinney.data.tables.encoding import TableEncoding
from spinney.data.tables.moments import moment
from spinney.data.warn_caller import warn_caller
from spinney.inspection.explanations.projection import Floats
from spinney.inspection.explanations.words import span
from spinney.inspection.fitted_model import FittedModel

Value = float | int | bool | str | None
"""A value of a column for people: dates as text, None where it is missing."""


@dataclass(frozen=True, eq=False)
class Origin:
    """What contributions are measured from.

    Attributes
    ----------
    coordinates : float32 ndarray of shape (n_coordinates,)
        The typical row as the trees read it.
    values : tuple
        Its values, one a column.
    spread : float64 ndarray of shape (n_coordinates,)
        Unit of distances: standard deviations of given rows, else 1.
    is_known : bool
        False if nothing typical is known, and zeros stand in for it.
    """

    coordinates: NDArray[np.float32]
    values: tuple[Value, ...]
    spread: Floats
    is_known: bool = True


def read_origin(fitted: FittedModel, data: ArrayLike | None = None) -> Origin:
    """The typical row of given rows, or else the one that the model stores."""
    if data is not None:
        rows = fitted.dense_coordinates(data).astype(np.float64)
        typical = typical_coordinates(fitted.encoding, rows)
        return Origin(typical, _values_of(fitted.encoding, typical), rows.std(axis=0))
    spread = np.ones(fitted.forest.n_features)
    if fitted.typical is not None:
        stored = fitted.typical.values(fitted.encoding)
        values = tuple(_shown(fitted.encoding, column, v) for column, v in enumerate(stored))
        return Origin(fitted.typical.coordinates, values, spread)
    warn_caller(
        f"this {fitted.model_name} knows no typical row, as it was made by an older "
        "version or from the trees of another library: columns are measured from 0, wherever that "
        "is; give rows to compare with; try data=X_train.",
    )
    zeros = np.zeros(fitted.forest.n_features, dtype=np.float32)
    return Origin(zeros, _values_of(fitted.encoding, zeros), spread, is_known=False)


def typical_coordinates(encoding: TableEncoding | None, rows: Floats) -> NDArray[np.float32]:
    """Mean of each number over the rows that have one; of a category what most rows hold."""
    if encoding is None:
        return np.asarray(rows.mean(axis=0), dtype=np.float32)
    typical = np.zeros(encoding.n_coordinates)
    for column, (first, width) in enumerate(zip(encoding.first, encoding.widths, strict=True)):
        block = rows[:, first : first + width]
        if column in encoding.levels:
            patterns, counts = np.unique(block, axis=0, return_counts=True)
            typical[first : first + width] = patterns[counts.argmax()]
            continue
        flag = block[:, -1] if encoding.has_missing[column] else np.zeros(len(block))
        is_there = flag == 0
        typical[first : first + width] = block[is_there if is_there.any() else slice(None)].mean(0)
        if encoding.has_missing[column]:
            typical[first + width - 1] = flag.mean() > 0.5
    return typical.astype(np.float32)


def plain_value(value: Any) -> Value:
    """A value out of any container: None if it is missing, dates and other kinds as text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return str(value.date()) if is_day else value.isoformat(" ", "seconds")
    if isinstance(value, datetime.timedelta):
        return span(value / datetime.timedelta(days=1))
    return str(value)


def _values_of(
    encoding: TableEncoding | None, coordinates: NDArray[np.float32]
) -> tuple[Value, ...]:
    """The values that a row as the trees read it stands for."""
    if encoding is None:
        return tuple(coordinates.tolist())
    return tuple(_value_of(encoding, column, coordinates) for column in range(encoding.n_columns))


def _value_of(encoding: TableEncoding, column: int, coordinates: NDArray[np.float32]) -> Value:
    first, width = int(encoding.first[column]), int(encoding.widths[column])
    own = list(zip(encoding.coordinates, coordinates, strict=True))[first : first + width]
    if any(part.kind == "is_missing" and value == 1 for part, value in own) or not own:
        return None
    part, value = own[0]
    if column not in encoding.levels:
        return _shown(encoding, column, float(value) + part.origin)
    for part, value in own:
        if part.kind == "is_level" and value == 1:
            return part.level
    return "another"


def _shown(encoding: TableEncoding | None, column: int, value: Any) -> Value:
    """A stored value, dates and durations as text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    kind = None if encoding is None else encoding.kind(column)
    if kind == DATETIME:
        return moment(value)
    if kind == DURATION:
        return span(value)
    return plain_value(value)
