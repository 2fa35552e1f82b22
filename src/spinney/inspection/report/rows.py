"""Rows and targets that came with a report: checked, and answered by the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from spinney import _core
from spinney.data import Matrix, as_rows
from spinney.data.wording import counted
from spinney.inspection.fitted_model import FittedModel


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Rows that a report shows the model with, and what the model says of them.

    Attributes
    ----------
    given : object
        X as it came.
    matrix : float32 ndarray or CSR matrix of shape (n_rows, n_coordinates)
    predicted : int64 ndarray of codes, -1 for a rejected row; or float64 (n_rows, n_outputs)
    probabilities : float64 ndarray of shape (n_rows, n_classes) or None
    truth : as `predicted`, or None if no y was given
    """

    given: Any
    matrix: Matrix
    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    truth: NDArray[Any] | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @cached_property
    def native(self) -> _core.Rows:
        """The rows as the core reads them."""
        return as_rows(self.matrix)

    def error_of_rows(self) -> NDArray[np.float64] | None:
        """1 where a class is wrong, or the length of the residual; None without truth."""
        if self.truth is None:
            return None
        if self.predicted.ndim == 1:
            return np.asarray(self.predicted != self.truth, dtype=np.float64)
        return np.asarray(np.linalg.norm(self.predicted - self.truth, axis=1))

    def matrix_of(self, chosen: NDArray[np.int64]) -> Matrix:
        """Some of the rows."""
        matrix: Matrix = self.matrix[chosen]
        return matrix


def answered_rows(fitted: FittedModel, X: Any, y: ArrayLike | None) -> AnsweredRows | None:
    """Rows with the model's own answers; None if none were given."""
    if X is None:
        if y is not None:
            raise ValueError(
                "y is given but X is None; a report shows rows with their targets; give both, or "
                "neither."
            )
        return None
    matrix = fitted.coordinates(X)
    n_rows = int(matrix.shape[0])
    said = fitted.model.predict(X)
    if fitted.is_classifier:
        predicted: NDArray[Any] = codes_of(fitted, said)
        shares = np.asarray(fitted.model.predict_proba(X), dtype=np.float64)
        truth = None if y is None else _known_codes(fitted, y, n_rows)
        return AnsweredRows(X, matrix, predicted, shares, truth)
    numbers = np.asarray(said, dtype=np.float64).reshape(n_rows, -1)
    return AnsweredRows(
        X, matrix, numbers, None, None if y is None else _numbers(y, n_rows, numbers.shape[1])
    )


def codes_of(fitted: FittedModel, labels: Any) -> NDArray[np.int64]:
    """Place of each label among the classes, -1 if it is none of them."""
    assert fitted.readout.classes is not None
    code = {label: number for number, label in enumerate(fitted.readout.classes.tolist())}
    given = np.asarray(labels).ravel().tolist()
    return np.array([code.get(label, -1) for label in given], dtype=np.int64)


def _known_codes(fitted: FittedModel, y: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    labels = column_or_1d(y)
    _check_length(len(labels), n_rows)
    codes = codes_of(fitted, labels)
    if (codes < 0).any():
        unknown = labels.tolist()[int(np.flatnonzero(codes < 0)[0])]
        raise ValueError(
            f"y holds {unknown!r}, which is no class of the model; give some of "
            f"{fitted.output_names[:10]}; try the rows of these classes alone."
        )
    return codes


def _numbers(y: ArrayLike, n_rows: int, n_outputs: int) -> NDArray[np.float64]:
    values = np.asarray(y, dtype=np.float64)
    _check_length(len(values), n_rows)
    if values.size != n_rows * n_outputs:
        raise ValueError(
            f"y has shape {values.shape}, but the model predicts {counted(n_outputs, 'number')} a "
            "row; give as many."
        )
    if not np.isfinite(values).all():
        raise ValueError("y holds NaN or infinity; give finite numbers; try leaving rows out.")
    return values.reshape(n_rows, n_outputs)


def _check_length(n_targets: int, n_rows: int) -> None:
    if n_targets != n_rows:
        raise ValueError(f"y has {n_targets} values for {n_rows} rows of X; give one a row.")
