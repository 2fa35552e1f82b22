"""Listened to: fits of every kind of estimator and table, with the number of events of each."""

from __future__ import annotations

from typing import Any

import pytest

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
from tests.contracts.cases import (
    FRAME,
    IRIS,
    NUMBERS,
    SPARSE,
    TWO_CLASSES,
    TWO_NUMBERS,
    VALIDATION,
    Case,
)

LISTENED = {
    "tree": Case(TAOTreeClassifier(max_depth=3, max_iter=9, tol=0.0), IRIS, {}, 9),
    "tree linear": Case(
        TAOTreeRegressor(max_depth=3, max_iter=5, leaf="linear", relax_leaves=True, tol=0.0),
        NUMBERS,
        {},
        5,
    ),
    "tree strict": Case(
        TAOTreeClassifier(max_depth=3, max_iter=4, strict_descent=True, tol=0.0, loss="log_loss"),
        SPARSE,
        {},
        4,
    ),
    "co2 tree": Case(CO2TreeClassifier(max_depth=2, max_epochs=5), IRIS, {}, 1),
    "co2 tree of numbers": Case(CO2TreeRegressor(max_depth=2, max_epochs=5), TWO_NUMBERS, {}, 1),
    "bagged": Case(TAOForestClassifier(4, max_depth=2, max_iter=4), FRAME, {}, 4),
    "bagged path": Case(
        TAOForestRegressor(4, max_depth=2, max_iter=3, alpha=(1.0, 0.01), start="previous"),
        NUMBERS,
        {},
        4,
    ),
    "boosted": Case(TAOBoostClassifier(4, max_depth=2, max_sweeps=3), IRIS, VALIDATION, 4),
    "gradient": Case(
        TAOGradientBoostingClassifier(4, max_depth=2, max_sweeps=2), TWO_CLASSES, {}, 4
    ),
    "gradient of numbers": Case(
        TAOGradientBoostingRegressor(4, max_depth=2, max_sweeps=2),
        TWO_NUMBERS,
        {"X_val": TWO_NUMBERS[0][:9], "y_val": TWO_NUMBERS[1][:9]},
        4,
    ),
    "fao": Case(FAOForestClassifier(2, 2, max_depth=2, max_iter=3, tol=0.0), IRIS, {}, 6),
    "fao judged": Case(
        FAOForestClassifier(2, 2, max_depth=2, max_iter=3, tol=0.0, average_last=2),
        IRIS,
        VALIDATION,
        6,
    ),
    "fao of numbers": Case(
        FAOForestRegressor(2, 2, max_depth=2, max_iter=3, tol=0.0, init="boosted"),
        TWO_NUMBERS,
        {},
        6,
    ),
    "co2": Case(CO2ForestClassifier(3, max_depth=2, max_epochs=5), IRIS, {}, 3),
    "co2 of numbers": Case(CO2ForestRegressor(3, max_depth=2, max_epochs=5), NUMBERS, {}, 3),
    "ho": Case(RandomDecisionForestClassifier(3, max_features=2), IRIS, {}, 3),
    "greedy": Case(GreedyForestClassifier(4, max_depth=3), SPARSE, {}, 4),
    "greedy of numbers": Case(GreedyForestRegressor(4, max_depth=3), TWO_NUMBERS, {}, 4),
}
LISTENED = {
    name: case._replace(estimator=case.new(random_state=3)) for name, case in LISTENED.items()
}
every = pytest.mark.parametrize("name", LISTENED)


def part_of(name: str) -> str:
    """What the events of a fit that is listened to are about."""
    parts = {"tree": "sweep", "boosted": "round", "gradient": "round", "fao": "iteration"}
    return parts.get(name.split()[0], "tree")


def fit(name: str, callback: Any = None, checkpoint: Any = None, **parameters: Any) -> Any:
    return LISTENED[name].fit(callback, checkpoint, **parameters)


class StopAt:
    """Stops at the event of a number, counted through."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.told: list[FitEvent] = []

    def __call__(self, event: FitEvent) -> bool:
        self.told.append(event)
        return len(self.told) == self.last
