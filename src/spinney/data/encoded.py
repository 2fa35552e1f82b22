"""Learn how the columns of training rows become coordinates, and encode the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.problem import Problem, column_means
from spinney.data.row_reader import RowReader
from spinney.data.tables import (
    Matrix,
    Table,
    TableEncoding,
    TypicalRow,
    category_mask,
    check_texts,
    declared_mask,
    encode_training,
    learn_matrix,
    learn_table,
    typical_of_numbers,
    typical_of_table,
)
from spinney.data.tables.columns import NUMBER
from spinney.data.tables.encoding import EMPTY
from spinney.data.tables.table import label_of
from spinney.data.validation import column_names, has_missing
from spinney.data.warn_caller import warn_caller

_BY_DTYPE = ", since a column is a category if it holds text or its dtype is category"


def learn_encoding(
    estimator: Any,
    rows: Matrix | Table,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> TableEncoding | None:
    """Encoding of training rows, all of them weighted; None if they are numbers without holes."""
    if not isinstance(rows, Table):
        if not has_missing(rows):
            return None
        return learn_matrix(rows, targets, weights, column_names(estimator))
    chosen = estimator.categorical_features
    if (doubt := check_texts(rows, declared_mask(chosen, rows))) is not None:
        warn_caller(doubt)
    is_category = category_mask(chosen, rows)
    encoding = learn_table(rows, is_category, targets, weights)
    is_complete = not any(column.is_missing.any() for column in rows.columns)
    return None if encoding.is_numeric and is_complete else encoding


def learn_typical(
    encoding: TableEncoding | None, rows: Matrix | Table, problem: Problem, n_threads: int
) -> TypicalRow:
    """What is typical of training rows, given before and after they became a problem."""
    if encoding is None:
        return typical_of_numbers(column_means(problem, n_threads=n_threads))
    return typical_of_table(encoding, rows, problem.sample_weight)


def check_same_categories(estimator: Any, rows: Matrix | Table) -> None:
    """Raise if other numbers are categories than in the fit that this one goes on from.

    By name or by dtype: the trees would go on with the part that columns had, against what the
    call says. Text is a category in any case.
    """
    chosen = estimator.categorical_features
    if not isinstance(rows, Table):
        return
    encoding = estimator.encoding_
    known: set[int] = set() if encoding is None else set(encoding.levels)
    for number, is_category in enumerate(category_mask(chosen, rows).tolist()):
        column = rows.columns[number]
        is_empty = encoding is not None and encoding.kind(number) == EMPTY
        if column.kind == NUMBER and not is_empty and is_category != (number in known):
            raise ValueError(
                f"{label_of(number, rows.names)} was {'a category' if number in known else NUMBER} "
                f"in the fit that this one goes on from, but categorical_features={chosen!r} says "
                f"otherwise{_BY_DTYPE if isinstance(chosen, str) else ''}; give the same "
                "categories; try warm_start=False."
            )


def encoded_rows(
    reader: RowReader,
    rows: Matrix | Table,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Matrix:
    """Training rows as the core reads them."""
    if reader.encoding is not None:
        return encode_training(reader.encoding, rows, targets, weights)
    return reader.filled(rows)


def class_indicators(codes: NDArray[np.int32], n_classes: int) -> NDArray[np.float64]:
    """0/1 of each class but, of two, only of the second: what means of levels are learned of."""
    first = 1 if n_classes == 2 else 0
    return np.equal(codes[:, None], np.arange(first, n_classes)).astype(np.float64)
