"""Resumed: each kind of ensemble, and each way in which the state of a run can differ."""

from __future__ import annotations

from typing import Any

from spinney import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    FAOForestClassifier,
    FAOForestRegressor,
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
from tests.contracts.cases import FRAME, IRIS, NUMBERS, TWO_NUMBERS, VALIDATION, Case

RESUMED = {
    "tree": Case(TAOTreeClassifier(max_depth=3, max_iter=9), IRIS),
    "tree stalls": Case(TAOTreeClassifier(max_depth=2, max_iter=15, tol=0.5), IRIS),
    "tree strict": Case(
        TAOTreeClassifier(max_depth=3, max_iter=5, strict_descent=True, tol=0.0, loss="log_loss"),
        IRIS,
    ),
    "tree with strict sweeps": Case(
        TAOTreeClassifier(max_depth=3, max_iter=5, strict_descent="sweep", tol=0.0), IRIS
    ),
    "tree linear": Case(
        TAOTreeClassifier(max_depth=4, max_iter=6, leaf="linear", init="random", relax_leaves=True),
        IRIS,
    ),
    "tree few weights": Case(
        TAOTreeRegressor(
            max_depth=3, max_iter=8, leaf="linear", max_weights=2, max_leaf_weights=3, tol=0.0
        ),
        NUMBERS,
    ),
    "tree from cart": Case(
        TAOTreeRegressor(max_depth=3, max_iter=5, init="cart", split="axis", loss="huber"),
        TWO_NUMBERS,
    ),
    "bagged": Case(TAOForestClassifier(3, max_depth=2, max_samples=0.3, oob_score=True), IRIS),
    "bagged path": Case(
        TAOForestRegressor(3, max_depth=2, max_iter=5, alpha=(1.0, 0.01), start="previous"), NUMBERS
    ),
    "boosted": Case(TAOBoostClassifier(3, max_depth=2, resample=True), IRIS),
    "boosted on copies": Case(TAOBoostClassifier(3, max_depth=2, n_copies=2), IRIS),
    "boosted early": Case(
        TAOBoostClassifier(9, max_depth=1, max_sweeps=4, n_iter_no_change=2), IRIS, VALIDATION
    ),
    "gradient": Case(TAOGradientBoostingClassifier(4, max_depth=2, subsample=0.5), IRIS),
    "gradient early": Case(
        TAOGradientBoostingRegressor(8, max_depth=3, n_iter_no_change=1, learning_rate=1.0), NUMBERS
    ),
    "fao": Case(FAOForestClassifier(2, 2, max_depth=2, max_iter=3), IRIS),
    "fao of mean hyperplanes": Case(
        FAOForestClassifier(1, 2, max_depth=2, max_iter=5, average_last=3, shrink_to=0.2, tol=0.0),
        IRIS,
    ),
    "fao of copies": Case(FAOForestClassifier(2, 2, max_depth=2, max_iter=3, n_copies=2), IRIS),
    "fao stalls": Case(
        FAOForestClassifier(
            1, 2, max_depth=2, max_iter=9, tol=0.5, strict_descent=True, loss="log_loss"
        ),
        IRIS,
    ),
    "fao few weights": Case(
        FAOForestRegressor(2, 2, max_depth=2, max_iter=4, max_weights=2, split="mixed"), TWO_NUMBERS
    ),
    "fao early": Case(
        FAOForestClassifier(2, 2, max_depth=2, max_iter=4, early_stopping=True, init="boosted"),
        IRIS,
        VALIDATION,
    ),
    "fao alone": Case(
        FAOForestRegressor(2, 1, max_depth=3, max_iter=3, loss="absolute_error", init="bagged"),
        NUMBERS,
    ),
    "co2": Case(CO2ForestClassifier(3, max_depth=3, scale_spread=0.5), IRIS),
    "co2 numbers": Case(CO2ForestRegressor(2, max_depth=3), NUMBERS),
    "co2 tree": Case(CO2TreeClassifier(max_depth=3), IRIS),
    "co2 tree numbers": Case(CO2TreeRegressor(max_depth=3), NUMBERS),
    "greedy": Case(GreedyForestClassifier(4, max_samples=0.3, oob_score=True), IRIS),
    "greedy numbers": Case(GreedyForestRegressor(3, split="oc1", max_depth=3), NUMBERS),
    "ho": Case(RandomDecisionForestClassifier(4, max_features=2), IRIS),
    "bagged frame": Case(
        TAOForestClassifier(2, max_depth=2, max_iter=4, oob_score=True, start="previous"), FRAME
    ),
    "fao frame": Case(
        FAOForestClassifier(2, 2, max_depth=2, max_iter=3, average_last=2, tol=0.0),
        FRAME,
        {"X_val": FRAME[0][::3], "y_val": FRAME[1][::3]},
    ),
}
RESUMED = {
    name: case._replace(estimator=case.new(random_state=0)) for name, case in RESUMED.items()
}


def fit(name: str, checkpoint: Any = None, callback: Any = None, **parameters: Any) -> Any:
    return RESUMED[name].fit(callback, checkpoint, **parameters)
