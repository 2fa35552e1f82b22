"""A few rows for every estimator that reads them itself, to spoil in one way or another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from tests.contracts.registry import REFINED
from tests.contracts.ways import EACH as PLAIN

N_ROWS, N_COLUMNS = 40, 4
EACH = {
    name: clone(case.estimator)
    for name, case in PLAIN.items()
    if name not in REFINED  # they take what their forest takes
}


def parametrized(estimators: dict[str, Any]) -> Any:
    return pytest.mark.parametrize("estimator", estimators.values(), ids=estimators)


every = parametrized(EACH)


def rows() -> NDArray[np.float64]:
    drawn = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    return drawn.astype(np.float32).astype(np.float64)


def labels() -> NDArray[np.int64]:
    return (rows() @ [1.0, -1.0, 0.5, 0.0] > 0).astype(np.int64)


def with_value(value: float) -> NDArray[np.float64]:
    """The rows with another value in the third column of the fourth row."""
    X = rows()
    X[3, 2] = value
    return X
