"""What a report is about: a fitted model, how to ask it, and the rows that it is shown with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.data import Matrix, as_rows
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout


class Pushes(Protocol):
    """What columns add to the answers of rows, as explanations find it."""

    @property
    def of_rows(self) -> NDArray[np.float32]:
        """(n_rows, n_columns): to the probability of the predicted class or the first number."""

    @property
    def typical(self) -> NDArray[np.float64]:
        """What the model says of the typical row."""

    @property
    def error(self) -> float:
        """Largest standard error."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model and how to ask it.

    Attributes
    ----------
    model : estimator
        Gives `predict`, for classes `predict_proba`, and what it knows of itself.
    readout : Readout
        How its trees become a prediction.
    coordinates_of : callable
        Rows as the trees read them, checked: float32, dense or CSR.
    coordinate_names : list of str
        What the hyperplanes are over.
    encoding : TableEncoding or None
        How columns become coordinates; None if they are the coordinates.
    typical : float32 ndarray of shape (n_coordinates,) or None
        The typical row of training, as the trees read it; None if the model does not know it.
    pushes_of : callable or None
        What columns add to the answers of rows as the trees read them; it says None if that takes
        too long.
    """

    model: Any
    readout: Readout
    coordinates_of: Callable[[Any], Matrix]
    coordinate_names: list[str]
    encoding: Any = None
    typical: NDArray[np.float32] | None = None
    pushes_of: Callable[[Matrix], Pushes | None] | None = None

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.readout.forest

    @property
    def is_classifier(self) -> bool:
        """Whether classes are predicted."""
        return self.readout.classes is not None

    @cached_property
    def output_names(self) -> list[str]:
        """Names of the classes or of the numbers that are predicted."""
        if self.readout.classes is not None:
            return [str(label) for label in self.readout.classes.tolist()]
        n_outputs = self.forest.n_outputs
        return ["y"] if n_outputs == 1 else [f"y{output}" for output in range(n_outputs)]

    @cached_property
    def column_names(self) -> list[str]:
        """Names of the columns that were given to ``fit``."""
        n_columns = int(self.model.n_features_in_)
        unnamed = [f"x{column}" for column in range(n_columns)]
        return [str(name) for name in getattr(self.model, "feature_names_in_", unnamed)]


@dataclass(frozen=True, eq=False)
class Rows:
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


def matrix_of(rows: Rows, chosen: NDArray[np.int64]) -> Matrix:
    """Some of the rows."""
    matrix: Matrix = rows.matrix[chosen]
    return matrix
