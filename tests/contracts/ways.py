"""Ways: each parameter that changes a fit, on noisy tasks; the first of a kind is its plain one."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

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
    RandomStructure,
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
from tests.contracts.cases import NOISY_CLASSES, NOISY_NUMBER, NOISY_NUMBERS, Case, kind_of

TREE = {"max_depth": 3, "max_iter": 3, "random_state": 0}
BAGGED = {"n_estimators": 3, **TREE}
BOOSTED = {"n_estimators": 3, "max_depth": 3, "max_sweeps": 3, "random_state": 0}
FAO = {"n_forests": 2, "n_trees": 2, **TREE}
GREEDY = {"n_estimators": 3, "random_state": 0}
CO2 = {"max_epochs": 5, "random_state": 0}
CO2_FOREST = {"n_estimators": 3, **CO2}

# The first way of an estimator is the plain one.
_WAYS: dict[type, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    TAOTreeClassifier: (
        TREE,
        [
            {},
            {"split": "axis"},
            {"leaf": "linear", "max_depth": 2},
            {"loss": "log_loss"},
            {"strict_descent": True},
            {"order": "leaves_first"},
            {"init": "random"},
            {"init": "balanced"},
            {"init": "cart"},
            {"init": "random_structure", "max_depth": 5},
        ],
    ),
    TAOTreeRegressor: (
        TREE,
        [
            {},
            {"split": "axis"},
            {"leaf": "linear"},
            {"loss": "absolute_error"},
            {"loss": "huber", "huber_delta": 20.0},
            {"init": "balanced"},
            {"init": "cart"},
            {"init": "random_structure", "max_depth": 5},
            {"strict_descent": True},
        ],
    ),
    TAOForestClassifier: (
        BAGGED,
        [
            {},
            {"split": "axis"},
            {"leaf": "linear", "max_depth": 2},
            {"loss": "log_loss"},
            {"strict_descent": True},
            {"init": "balanced"},
            {"init": "cart"},
            {"init": "random_structure", "max_depth": 5},
            {"start": "same"},
            {"start": "previous"},
            {"alpha": (0.01, 1.0)},
            {"max_samples": 0.5},
            {"max_samples": 1.0},
            {"bootstrap": True},
            {"max_features": 3},
            {"max_features": "sqrt", "feature_sampling": "global"},
            {"voting": "soft"},
        ],
    ),
    TAOForestRegressor: (
        BAGGED,
        [
            {},
            {"split": "axis"},
            {"leaf": "linear", "max_depth": 2},
            {"leaf": "linear", "leaf_penalty": "l2", "max_depth": 2},
            {"loss": "absolute_error"},
            {"loss": "huber", "huber_delta": 20.0},
            {"init": "balanced"},
            {"init": "cart"},
            {"init": "random_structure", "max_depth": 5},
            {"start": "same"},
            {"start": "previous", "alpha": (1.0, 0.01)},
            {"max_samples": 1.0},
            {"bootstrap": True},
            {"max_features": "D**0.5"},
            {"max_features": 3, "feature_sampling": "global"},
        ],
    ),
    TAOBoostClassifier: (
        BOOSTED,
        [
            {},
            {"algorithm": "m1"},
            {"learning_rate": 1.0},
            {"resample": True},
            {"split": "axis"},
            {"leaf": "linear"},
            {"loss": "log_loss"},
            {"strict_descent": True},
            {"init": "balanced"},
            {"init": "cart"},
            {"init": RandomStructure(1, 4, 9)},
            {"class_weight": "balanced"},
        ],
    ),
    TAOGradientBoostingClassifier: (
        {**BOOSTED, "learning_rate": 0.5},
        [
            {},
            {"loss": "squared_hinge"},
            {"loss": "squared_error", "step": "gradient"},
            {"step": "gradient", "init": "cart"},
            {"subsample": 0.5},
        ],
    ),
    TAOGradientBoostingRegressor: (
        {**BOOSTED, "learning_rate": 0.5},
        [{}, {"loss": "absolute_error"}, {"loss": "huber", "step": "gradient"}, {"subsample": 0.5}],
    ),
    FAOForestClassifier: (
        FAO,
        [
            {},
            {"loss": "squared_error"},
            {"loss": "log_loss", "leaf_penalty": "l1"},
            {"split": "mixed", "init": "boosted"},
            {"strict_descent": True, "shrink_to": 0.3},
            {"n_forests": 1},
        ],
    ),
    FAOForestRegressor: (
        FAO,
        [
            {},
            {"loss": "absolute_error", "init": "bagged"},
            {"loss": "huber", "huber_delta": 20.0},
            {"split": "axis", "n_forests": 1},
        ],
    ),
    CO2TreeClassifier: (CO2, [{}, {"leaf_shrinkage": 4.0}]),
    CO2TreeRegressor: (CO2, [{}]),
    CO2ForestClassifier: (
        CO2_FOREST,
        [
            {},
            {"max_epochs": 10, "relabel_epochs": 5, "choice": "oob"},
            {"leaf_shrinkage": 4.0},
            {"scale_spread": 0.5},
            {"bootstrap": False, "max_samples": 1.0},
        ],
    ),
    CO2ForestRegressor: (CO2_FOREST, [{}, {"choice": "oob"}, {"scale_spread": 0.5}]),
    RandomDecisionForestClassifier: (GREEDY, [{}, {"split": "perceptron", "max_epochs": 5}]),
    GreedyForestClassifier: (
        {**GREEDY, "n_restarts": 1, "n_jumps": 1},
        [
            {},
            *({"split": split} for split in ("oc1", "ridge", "lda", "projections", "probes")),
            {"split": "logistic"},
            {"feature_sampling": "global", "max_features": 4},
            {"max_features": None, "bootstrap": False, "max_samples": 1.0},
            {"criterion": "gini", "bootstrap": False, "max_samples": 1.0},
        ],
    ),
    GreedyForestRegressor: (
        GREEDY,
        [
            {},
            {"split": "ridge", "bootstrap": False},
            {"split": "probes", "n_candidates": 5},
            {"leaf_shrinkage": 4.0},
            {"max_features": None, "bootstrap": False, "max_samples": 1.0},
        ],
    ),
}


def _way(kind: type, settings: dict[str, Any], way: dict[str, Any]) -> Case:
    estimator = kind(**settings | way)
    return Case(estimator, NOISY_CLASSES if is_classifier(estimator) else NOISY_NUMBERS)


def _name(kind: type, way: dict[str, Any]) -> str:
    values = ", ".join(f"{name}={value}" for name, value in way.items())
    return f"{kind.__name__} {values}".strip()


WAYS = {
    _name(kind, way): _way(kind, settings, way)
    for kind, (settings, ways) in _WAYS.items()
    for way in ways
}
WAYS |= {
    f"{name} of one number": case._replace(data=NOISY_NUMBER)
    for name, case in WAYS.items()
    if not is_classifier(case.estimator) and name == kind_of(case)
}
_GROWN = {
    True: GreedyForestClassifier(4, max_depth=3, random_state=0).fit(*NOISY_CLASSES),
    False: GreedyForestRegressor(4, max_depth=3, random_state=0).fit(*NOISY_NUMBERS),
}
WAYS |= {
    f"{type(refined).__name__} {refined.loss}": Case(
        refined, NOISY_CLASSES if is_classifier(refined) else NOISY_NUMBERS
    )
    for refined in (
        *(
            RefinedForestClassifier(_GROWN[True], loss=loss)
            for loss in ("squared_hinge", "squared_error", "log_loss")
        ),
        RefinedForestRegressor(_GROWN[False]),
    )
}

#: The plain way of every estimator.
EACH = {kind_of(case): case for case in reversed(WAYS.values())}
