"""Small fits of every kind of estimator and table, with the number of events that each has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_regression

from spinney import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    FAOForestClassifier,
    FAOForestRegressor,
    FitEvent,
    GreedyForestClassifier,
    GreedyForestRegressor,
    RandomDecisionForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
)

IRIS = load_iris(return_X_y=True)
NUMBERS = tuple(part[:150] for part in load_diabetes(return_X_y=True))
TWO_NUMBERS = make_regression(100, 5, n_targets=2, noise=9.0, random_state=0)
SPARSE = sp.csr_matrix(np.where(IRIS[0] > 2, IRIS[0], 0)), IRIS[1]
TWO_CLASSES = IRIS[0][:100], IRIS[1][:100]
VALIDATION = {"X_val": IRIS[0][::3], "y_val": IRIS[1][::3]}


def frame() -> pd.DataFrame:
    """Numbers with holes, levels, text and dates."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(90) < 0.2, np.nan, rng.normal(size=90)),
            "few": pd.Categorical(rng.choice(["a", "b", None], size=90)),
            "many": rng.choice([f"level {place}" for place in range(30)], size=90),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, 90), unit="D"),
        }
    )


FRAME = frame(), np.random.default_rng(1).integers(0, 2, 90)

# Estimator, data, arguments of `fit`, number of events.
FITS: dict[str, tuple[Any, Any, dict[str, Any], int]] = {
    "tree": (TAOTreeClassifier(max_depth=3, max_iter=9, tol=0.0), IRIS, {}, 9),
    "tree linear": (
        TAOTreeRegressor(max_depth=3, max_iter=5, leaf="linear", relax_leaves=True, tol=0.0),
        NUMBERS,
        {},
        5,
    ),
    "tree strict": (
        TAOTreeClassifier(max_depth=3, max_iter=4, strict_descent=True, tol=0.0, loss="log_loss"),
        SPARSE,
        {},
        4,
    ),
    "co2 tree": (CO2TreeClassifier(max_depth=2, max_epochs=5), IRIS, {}, 1),
    "co2 tree of numbers": (CO2TreeRegressor(max_depth=2, max_epochs=5), TWO_NUMBERS, {}, 1),
    "bagged": (TAOForestClassifier(4, max_depth=2, max_iter=4), FRAME, {}, 4),
    "bagged path": (
        TAOForestRegressor(4, max_depth=2, max_iter=3, alpha=(1.0, 0.01), start="previous"),
        NUMBERS,
        {},
        4,
    ),
    "boosted": (TAOBoostClassifier(4, max_depth=2, max_sweeps=3), IRIS, VALIDATION, 4),
    "gradient": (TAOGradientBoostingClassifier(4, max_depth=2, max_sweeps=2), TWO_CLASSES, {}, 4),
    "gradient of numbers": (
        TAOGradientBoostingRegressor(4, max_depth=2, max_sweeps=2),
        TWO_NUMBERS,
        {"X_val": TWO_NUMBERS[0][:9], "y_val": TWO_NUMBERS[1][:9]},
        4,
    ),
    "fao": (FAOForestClassifier(2, 2, max_depth=2, max_iter=3, tol=0.0), IRIS, {}, 6),
    "fao judged": (
        FAOForestClassifier(2, 2, max_depth=2, max_iter=3, tol=0.0, average_last=2),
        IRIS,
        VALIDATION,
        6,
    ),
    "fao of numbers": (
        FAOForestRegressor(2, 2, max_depth=2, max_iter=3, tol=0.0, init="boosted"),
        TWO_NUMBERS,
        {},
        6,
    ),
    "co2": (CO2ForestClassifier(3, max_depth=2, max_epochs=5), IRIS, {}, 3),
    "co2 of numbers": (CO2ForestRegressor(3, max_depth=2, max_epochs=5), NUMBERS, {}, 3),
    "ho": (RandomDecisionForestClassifier(3, max_features=2), IRIS, {}, 3),
    "greedy": (GreedyForestClassifier(4, max_depth=3), SPARSE, {}, 4),
    "greedy of numbers": (GreedyForestRegressor(4, max_depth=3), TWO_NUMBERS, {}, 4),
}
every = pytest.mark.parametrize("name", FITS)


def part_of(name: str) -> str:
    """What the events of a fit are about."""
    parts = {"tree": "sweep", "boosted": "round", "gradient": "round", "fao": "iteration"}
    return parts.get(name.split()[0], "tree")


def fit(name: str, callback: Any = None, checkpoint: Any = None, **parameters: Any) -> Any:
    estimator, data, arguments, _ = FITS[name]
    model = clone(estimator).set_params(random_state=3, **parameters)
    return model.fit(*data, **arguments, callback=callback, checkpoint=checkpoint)


class StopAt:
    """Stops at the event of a number, counted through."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.told: list[FitEvent] = []

    def __call__(self, event: FitEvent) -> bool:
        self.told.append(event)
        return len(self.told) == self.last
