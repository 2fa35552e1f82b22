"""Which columns are categories: scikit-learn's convention for ``categorical_features``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import DATETIME, DURATION, TEXT
from spinney.data.tables.table import Table, label_of

FROM_DTYPE = "from_dtype"

_ACCEPTED = (
    'give "from_dtype", None, names or numbers of columns, or one truth value a column; try '
    'categorical_features="from_dtype".'
)


def names_columns(categorical_features: object) -> bool:
    """Whether single columns are named as categories, so that numbers may be some."""
    if categorical_features is None or isinstance(categorical_features, str):
        return False
    return np.size(categorical_features) > 0  # type: ignore[arg-type]


def check_categorical_features(categorical_features: object) -> None:
    """Raise unless the value can mean columns, before any is known."""
    if categorical_features is None:
        return
    if isinstance(categorical_features, str):
        if categorical_features != FROM_DTYPE:
            raise ValueError(
                f"categorical_features={categorical_features!r} is not known; {_ACCEPTED}"
            )
        return
    array = np.asarray(categorical_features)
    is_named = array.dtype.kind == "O" and all(isinstance(name, str) for name in array.ravel())
    if array.ndim != 1 or (array.size and not is_named and array.dtype.kind not in "biuU"):
        raise TypeError(f"categorical_features={categorical_features!r} is of no use; {_ACCEPTED}")


def category_mask(categorical_features: object, table: Table) -> NDArray[np.bool_]:
    """Which columns of a table are categories; texts have to be among them."""
    is_category = declared_mask(categorical_features, table)
    is_text = np.array([column.kind == TEXT for column in table.columns], dtype=np.bool_)
    if isinstance(categorical_features, str):
        return is_category | is_text
    _check_times(table, is_category)
    _check_texts(table, is_text & ~is_category)
    return is_category


def declared_mask(categorical_features: object, table: Table) -> NDArray[np.bool_]:
    """Which columns are said to be categories, by their dtype or by name, number or mask."""
    check_categorical_features(categorical_features)
    if isinstance(categorical_features, str):
        return np.array([column.is_category for column in table.columns], dtype=np.bool_)
    is_category = np.zeros(len(table.columns), dtype=np.bool_)
    if names_columns(categorical_features):
        given = np.asarray(categorical_features)
        if given.dtype.kind == "b":
            is_category = _from_mask(given, len(is_category))
        elif given.dtype.kind in "iu":
            is_category[_from_numbers(given, len(is_category))] = True
        else:
            is_category[_from_names(given.tolist(), table.names)] = True
    return is_category


def _from_mask(given: NDArray[np.bool_], n_columns: int) -> NDArray[np.bool_]:
    if len(given) != n_columns:
        raise ValueError(
            f"categorical_features has {len(given)} truth values for {n_columns} columns; give "
            "one a column; try numbers or names of columns."
        )
    return given


def _from_numbers(given: NDArray[np.integer], n_columns: int) -> NDArray[np.integer]:
    for column in given.tolist():
        if not 0 <= column < n_columns:
            raise ValueError(
                f"categorical_features names column {column} of {n_columns}; give numbers from 0 "
                f"to {n_columns - 1}; try names of columns."
            )
    return given


def _from_names(given: list[str], names: Sequence[str] | None) -> list[int]:
    if names is None:
        raise ValueError(
            f"categorical_features={given!r} are names, but X has no column names; give numbers "
            "of columns; try a frame."
        )
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"categorical_features names {unknown[0]!r}, which is no column of X; give some of "
            f"{list(names)!r}; try checking the spelling."
        )
    return [list(names).index(name) for name in given]


def _check_times(table: Table, is_category: NDArray[np.bool_]) -> None:
    """Raise if dates or durations are named as categories: their text is not ours to choose."""
    for number in np.flatnonzero(is_category).tolist():
        kind = table.columns[number].kind
        if kind in (DATETIME, DURATION):
            raise ValueError(
                f"{label_of(number, table.names)} holds {kind}, but categorical_features names it; "
                "give text or numbers as categories; try astype(str), or do not name it."
            )


def _check_texts(table: Table, is_refused: NDArray[np.bool_]) -> None:
    """Raise if a column of text is no category, unless all of it is missing."""
    for column in np.flatnonzero(is_refused).tolist():
        texts = [text for text in table.columns[column].texts if text is not None]
        if texts:
            raise ValueError(
                f"{label_of(column, table.names)} holds text, as {texts[0]!r}, but "
                "categorical_features does not name it; name it or leave it out; try "
                'categorical_features="from_dtype".'
            )
