"""Served: fitted models with every kind of answer, and rows to ask them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingRegressor

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
    RefinedForestClassifier,
    RefinedForestRegressor,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
)
from tests.contracts.cases import Case

N_SERVED = 3000
WIDTH = 5
WIDE = 70  # more columns than the core has lanes, twice over


def _served(n_columns: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    X = np.random.default_rng(0).normal(size=(240, n_columns)).astype(np.float32)
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def _classes(n_columns: int = WIDTH, labels: tuple[Any, ...] = ("ant", "bee", "cat")) -> Any:
    X, score = _served(n_columns)
    return X, np.array(labels)[np.digitize(score, [-0.5, 0.6])]


def _numbers(n_columns: int = WIDTH, n_outputs: int = 1) -> Any:
    X, score = _served(n_columns)
    targets = np.column_stack([score, score**2, -score][:n_outputs])
    return X, targets[:, 0] if n_outputs == 1 else targets


_SWEPT = {"max_iter": 3, "random_state": 0}
_ROUNDS = {"max_sweeps": 3, "random_state": 0}
_HARD = TAOForestClassifier(n_estimators=6, max_depth=3, voting="hard", **_SWEPT)

SERVED = {
    "tree": Case(TAOTreeClassifier(max_depth=3, **_SWEPT), _classes()),
    "tree of int labels": Case(
        TAOTreeClassifier(max_depth=3, **_SWEPT), _classes(labels=(7, -2, 40))
    ),
    "tree of bool labels": Case(
        TAOTreeClassifier(max_depth=2, **_SWEPT), _classes(labels=(True, False, True))
    ),
    "tree of float labels": Case(
        TAOTreeClassifier(max_depth=2, **_SWEPT), _classes(labels=(0.0, 1.0, 2.0))
    ),
    "tree of one leaf": Case(TAOTreeClassifier(max_depth=1, alpha=1e6, **_SWEPT), _classes()),
    "axis tree": Case(TAOTreeClassifier(max_depth=3, split="axis", **_SWEPT), _classes()),
    "linear tree": Case(TAOTreeClassifier(max_depth=2, leaf="linear", **_SWEPT), _classes()),
    "wide tree": Case(TAOTreeClassifier(max_depth=3, alpha=0.01, **_SWEPT), _classes(WIDE)),
    "wide linear tree": Case(
        TAOTreeClassifier(max_depth=2, leaf="linear", **_SWEPT), _classes(WIDE)
    ),
    "tree regressor": Case(TAOTreeRegressor(max_depth=3, **_SWEPT), _numbers()),
    "tree regressor of outputs": Case(
        TAOTreeRegressor(max_depth=3, **_SWEPT), _numbers(n_outputs=3)
    ),
    "axis tree regressor": Case(TAOTreeRegressor(max_depth=3, split="axis", **_SWEPT), _numbers()),
    "linear tree regressor": Case(
        TAOTreeRegressor(max_depth=2, leaf="linear", **_SWEPT), _numbers(n_outputs=2)
    ),
    "hard forest": Case(_HARD, _classes()),
    "soft forest": Case(
        TAOForestClassifier(n_estimators=6, max_depth=3, voting="soft", **_SWEPT), _classes()
    ),
    "hard linear forest": Case(
        TAOForestClassifier(n_estimators=3, max_depth=2, leaf="linear", voting="hard", **_SWEPT),
        _classes(),
    ),
    "soft linear forest": Case(
        TAOForestClassifier(n_estimators=3, max_depth=2, leaf="linear", voting="soft", **_SWEPT),
        _classes(),
    ),
    "axis forest": Case(
        TAOForestClassifier(n_estimators=4, max_depth=3, split="axis", **_SWEPT), _classes()
    ),
    "forest regressor": Case(TAOForestRegressor(n_estimators=4, max_depth=3, **_SWEPT), _numbers()),
    "forest regressor of outputs": Case(
        TAOForestRegressor(n_estimators=4, max_depth=3, split="axis", **_SWEPT),
        _numbers(n_outputs=2),
    ),
    "linear forest regressor": Case(
        TAOForestRegressor(n_estimators=3, max_depth=2, leaf="linear", **_SWEPT), _numbers()
    ),
    "samme": Case(TAOBoostClassifier(n_estimators=5, max_depth=2, **_ROUNDS), _classes()),
    "m1 of axis trees": Case(
        TAOBoostClassifier(n_estimators=5, max_depth=2, algorithm="m1", split="axis", **_ROUNDS),
        _classes(),
    ),
    "gradient boosting": Case(
        TAOGradientBoostingClassifier(n_estimators=4, max_depth=2, **_ROUNDS), _classes()
    ),
    "gradient boosting of hinges": Case(
        TAOGradientBoostingClassifier(n_estimators=4, max_depth=2, loss="squared_hinge", **_ROUNDS),
        _classes(),
    ),
    "gradient boosting regressor": Case(
        TAOGradientBoostingRegressor(n_estimators=4, max_depth=2, **_ROUNDS), _numbers()
    ),
    "fao": Case(FAOForestClassifier(n_forests=2, n_trees=3, max_depth=2, **_SWEPT), _classes()),
    "fao of log loss": Case(
        FAOForestClassifier(n_forests=1, n_trees=3, max_depth=2, loss="log_loss", **_SWEPT),
        _classes(),
    ),
    "fao regressor": Case(
        FAOForestRegressor(n_forests=2, n_trees=3, max_depth=2, **_SWEPT), _numbers()
    ),
    "axis fao regressor": Case(
        FAOForestRegressor(n_forests=2, n_trees=2, max_depth=2, split="axis", **_SWEPT),
        _numbers(n_outputs=2),
    ),
    "co2 tree": Case(CO2TreeClassifier(max_depth=4, random_state=0), _classes()),
    "co2 tree regressor": Case(CO2TreeRegressor(max_depth=4, random_state=0), _numbers()),
    "co2": Case(CO2ForestClassifier(n_estimators=4, max_depth=5, random_state=0), _classes()),
    "co2 regressor": Case(
        CO2ForestRegressor(n_estimators=4, max_depth=5, random_state=0), _numbers()
    ),
    "greedy": Case(GreedyForestClassifier(n_estimators=5, random_state=0), _classes()),
    "greedy regressor": Case(GreedyForestRegressor(n_estimators=5, random_state=0), _numbers()),
    "ho": Case(RandomDecisionForestClassifier(n_estimators=6, random_state=0), _classes()),
    "ho that rejects": Case(
        RandomDecisionForestClassifier(n_estimators=4, on_tie="reject", random_state=0), _classes()
    ),
    "ho that rejects numbers": Case(
        RandomDecisionForestClassifier(n_estimators=4, on_tie="reject", random_state=0),
        _classes(labels=(3, 4, 5)),
    ),
    "refined": Case(RefinedForestClassifier(clone(_HARD).fit(*_classes())), _classes()),
    "refined extra trees": Case(
        RefinedForestClassifier(
            ExtraTreesClassifier(5, max_depth=4, random_state=0).fit(*_classes())
        ),
        _classes(),
    ),
    "refined gradient boosting": Case(
        RefinedForestRegressor(
            GradientBoostingRegressor(n_estimators=5, random_state=0).fit(*_numbers())
        ),
        _numbers(),
    ),
}


@cache
def fitted(name: str) -> Any:
    """The served model of this name, fitted once; do not change it."""
    return SERVED[name].fit()


@cache
def rows_for(name: str) -> NDArray[np.float32]:
    """Rows of many sizes, among them those that the model was fitted to."""
    n_columns = fitted(name).n_features_in_
    rng = np.random.default_rng(1)
    scales = np.exp(rng.normal(scale=2.0, size=(N_SERVED, 1)))
    drawn = (scales * rng.normal(size=(N_SERVED, n_columns))).astype(np.float32)
    return np.concatenate([_served(n_columns)[0], drawn, np.round(drawn)])


def with_holes(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """A part of the rows, of which a fifth of the values is missing."""
    holed = X[:800].copy()
    holed[np.random.default_rng(2).random(holed.shape) < 0.2] = np.nan
    return holed
