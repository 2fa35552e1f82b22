"""What columns add to the answers of many rows, as far as a report has time for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.inspection.explanations.attribution import (
    MOST_ASKED,
    MOST_EXACT,
    Attribution,
    attribute,
)
from spinney.inspection.explanations.projection import Floats
from spinney.inspection.fitted_model import FittedModel, fitted_estimator

#: Trees that rows are sent through for all rows together, and how many coordinates of a row take as
#: long to write as a tree to ask: about two seconds.
MOST_WORK, COORDINATES_A_TREE = 20_000_000, 8

#: Orders below which it is not worth it.
FEWEST_ORDERS = 32


@dataclass(frozen=True, eq=False)
class Pushes:
    """What each column adds to the explained answer of each row.

    Attributes
    ----------
    of_rows : float32 ndarray of shape (n_rows, n_columns)
        To the probability of the predicted class, or to the first number.
    typical : float64 ndarray of shape (n_outputs,)
        What the model says of the typical row.
    error : float
        Largest standard error from the draw of orders; 0 if all orders were counted.
    """

    of_rows: NDArray[np.float32]
    typical: Floats
    error: float


def pushes_of(model: object, rows: Any) -> Pushes | None:
    """What columns add, as `explain` says it; None if it takes too long or nothing is typical.

    Parameters
    ----------
    model : fitted estimator
    rows : float32 ndarray or CSR matrix of shape (n_rows, n_coordinates)
        Rows as the trees read them.
    """
    fitted = fitted_estimator(model)
    n_columns = len(np.unique(fitted.columns[fitted.is_weighed]))
    work = rows.shape[0] * (fitted.forest.n_trees + rows.shape[1] // COORDINATES_A_TREE)
    n_asked = min(MOST_WORK // work, MOST_ASKED)
    is_enough = n_asked >= (n_columns + 1) * FEWEST_ORDERS
    is_exact = n_columns <= MOST_EXACT and n_asked >= 2**n_columns
    if fitted.typical is None or not (is_enough or is_exact):
        return None
    of_rows = np.zeros((rows.shape[0], len(fitted.column_names)), dtype=np.float32)
    error = 0.0
    for number in range(rows.shape[0]):
        row = rows[[number]]
        dense = np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float32)
        found = _attribution(fitted, dense, n_asked)
        best = int(fitted.totals(dense)[0].argmax()) if fitted.is_classifier else 0
        of_rows[number, : len(found.adds)] = found.adds[:, best]
        error = max(error, float(found.errors[:, best].max(initial=0.0)))
    return Pushes(of_rows, fitted.answers(fitted.typical.coordinates[None, :])[0], error)


def _attribution(fitted: FittedModel, row: NDArray[np.float32], n_asked: int) -> Attribution:
    assert fitted.typical is not None
    return attribute(
        fitted.answers,
        fitted.typical.coordinates,
        row[0],
        fitted.columns,
        fitted.is_weighed,
        most_asked=n_asked,
    )
