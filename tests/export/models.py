"""Small fitted models of every estimator, and rows to ask them."""

from __future__ import annotations

from functools import cache

import numpy as np
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
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    refine_leaves,
)

N_ROWS = 3000
WIDTH = 5
WIDE = 70  # more columns than the core has lanes, twice over


def _data(n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(240, n_columns)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2]
    return X, score


def _classes(n_columns=WIDTH, labels=("ant", "bee", "cat")):
    X, score = _data(n_columns)
    return X, np.array(labels)[np.digitize(score, [-0.5, 0.6])]


def _numbers(n_columns=WIDTH, n_outputs=1):
    X, score = _data(n_columns)
    targets = np.column_stack([score, score**2, -score][:n_outputs])
    return X, targets[:, 0] if n_outputs == 1 else targets


TREE = {"max_iter": 3, "random_state": 0}
BOOSTED = {"max_sweeps": 3, "random_state": 0}

BUILDERS = {
    "tree": lambda: TAOTreeClassifier(max_depth=3, **TREE).fit(*_classes()),
    "tree of int labels": lambda: TAOTreeClassifier(max_depth=3, **TREE).fit(
        *_classes(labels=(7, -2, 40))
    ),
    "tree of bool labels": lambda: TAOTreeClassifier(max_depth=2, **TREE).fit(
        *_classes(labels=(True, False, True))
    ),
    "tree of float labels": lambda: TAOTreeClassifier(max_depth=2, **TREE).fit(
        *_classes(labels=(0.0, 1.0, 2.0))
    ),
    "tree of one leaf": lambda: TAOTreeClassifier(max_depth=1, alpha=1e6, **TREE).fit(*_classes()),
    "axis tree": lambda: TAOTreeClassifier(max_depth=3, split="axis", **TREE).fit(*_classes()),
    "linear tree": lambda: TAOTreeClassifier(max_depth=2, leaf="linear", **TREE).fit(*_classes()),
    "wide tree": lambda: TAOTreeClassifier(max_depth=3, alpha=0.01, **TREE).fit(*_classes(WIDE)),
    "wide linear tree": lambda: TAOTreeClassifier(max_depth=2, leaf="linear", **TREE).fit(
        *_classes(WIDE)
    ),
    "tree regressor": lambda: TAOTreeRegressor(max_depth=3, **TREE).fit(*_numbers()),
    "tree regressor of outputs": lambda: TAOTreeRegressor(max_depth=3, **TREE).fit(
        *_numbers(n_outputs=3)
    ),
    "axis tree regressor": lambda: TAOTreeRegressor(max_depth=3, split="axis", **TREE).fit(
        *_numbers()
    ),
    "linear tree regressor": lambda: TAOTreeRegressor(max_depth=2, leaf="linear", **TREE).fit(
        *_numbers(n_outputs=2)
    ),
    "hard forest": lambda: TAOForestClassifier(
        n_estimators=6, max_depth=3, voting="hard", **TREE
    ).fit(*_classes()),
    "soft forest": lambda: TAOForestClassifier(
        n_estimators=6, max_depth=3, voting="soft", **TREE
    ).fit(*_classes()),
    "hard linear forest": lambda: TAOForestClassifier(
        n_estimators=3, max_depth=2, leaf="linear", voting="hard", **TREE
    ).fit(*_classes()),
    "soft linear forest": lambda: TAOForestClassifier(
        n_estimators=3, max_depth=2, leaf="linear", voting="soft", **TREE
    ).fit(*_classes()),
    "axis forest": lambda: TAOForestClassifier(
        n_estimators=4, max_depth=3, split="axis", **TREE
    ).fit(*_classes()),
    "forest regressor": lambda: TAOForestRegressor(n_estimators=4, max_depth=3, **TREE).fit(
        *_numbers()
    ),
    "forest regressor of outputs": lambda: TAOForestRegressor(
        n_estimators=4, max_depth=3, split="axis", **TREE
    ).fit(*_numbers(n_outputs=2)),
    "linear forest regressor": lambda: TAOForestRegressor(
        n_estimators=3, max_depth=2, leaf="linear", **TREE
    ).fit(*_numbers()),
    "samme": lambda: TAOBoostClassifier(n_estimators=5, max_depth=2, **BOOSTED).fit(*_classes()),
    "m1 of axis trees": lambda: TAOBoostClassifier(
        n_estimators=5, max_depth=2, algorithm="m1", split="axis", **BOOSTED
    ).fit(*_classes()),
    "gradient boosting": lambda: TAOGradientBoostingClassifier(
        n_estimators=4, max_depth=2, **BOOSTED
    ).fit(*_classes()),
    "gradient boosting of hinges": lambda: TAOGradientBoostingClassifier(
        n_estimators=4, max_depth=2, loss="squared_hinge", **BOOSTED
    ).fit(*_classes()),
    "gradient boosting regressor": lambda: TAOGradientBoostingRegressor(
        n_estimators=4, max_depth=2, **BOOSTED
    ).fit(*_numbers()),
    "fao": lambda: FAOForestClassifier(n_forests=2, n_trees=3, max_depth=2, **TREE).fit(
        *_classes()
    ),
    "fao of log loss": lambda: FAOForestClassifier(
        n_forests=1, n_trees=3, max_depth=2, loss="log_loss", **TREE
    ).fit(*_classes()),
    "fao regressor": lambda: FAOForestRegressor(n_forests=2, n_trees=3, max_depth=2, **TREE).fit(
        *_numbers()
    ),
    "axis fao regressor": lambda: FAOForestRegressor(
        n_forests=2, n_trees=2, max_depth=2, split="axis", **TREE
    ).fit(*_numbers(n_outputs=2)),
    "co2 tree": lambda: CO2TreeClassifier(max_depth=4, random_state=0).fit(*_classes()),
    "co2 tree regressor": lambda: CO2TreeRegressor(max_depth=4, random_state=0).fit(*_numbers()),
    "co2": lambda: CO2ForestClassifier(n_estimators=4, max_depth=5, random_state=0).fit(
        *_classes()
    ),
    "co2 regressor": lambda: CO2ForestRegressor(n_estimators=4, max_depth=5, random_state=0).fit(
        *_numbers()
    ),
    "greedy": lambda: GreedyForestClassifier(n_estimators=5, random_state=0).fit(*_classes()),
    "greedy regressor": lambda: GreedyForestRegressor(n_estimators=5, random_state=0).fit(
        *_numbers()
    ),
    "ho": lambda: RandomDecisionForestClassifier(n_estimators=6, random_state=0).fit(*_classes()),
    "ho that rejects": lambda: RandomDecisionForestClassifier(
        n_estimators=4, on_tie="reject", random_state=0
    ).fit(*_classes()),
    "ho that rejects numbers": lambda: RandomDecisionForestClassifier(
        n_estimators=4, on_tie="reject", random_state=0
    ).fit(*_classes(labels=(3, 4, 5))),
    "refined": lambda: refine_leaves(fitted("hard forest"), *_classes()),
    "refined extra trees": lambda: refine_leaves(
        ExtraTreesClassifier(5, max_depth=4, random_state=0).fit(*_classes()), *_classes()
    ),
    "refined gradient boosting": lambda: refine_leaves(
        GradientBoostingRegressor(n_estimators=5, random_state=0).fit(*_numbers()), *_numbers()
    ),
}


@cache
def fitted(name):
    """The model of this name, fitted once."""
    return BUILDERS[name]()


@cache
def rows_for(name):
    """Rows of many sizes, among them those that the model was fitted to."""
    n_columns = fitted(name).n_features_in_
    rng = np.random.default_rng(1)
    scales = np.exp(rng.normal(scale=2.0, size=(N_ROWS, 1)))
    drawn = (scales * rng.normal(size=(N_ROWS, n_columns))).astype(np.float32)
    return np.concatenate([_data(n_columns)[0], drawn, np.round(drawn)])


def with_holes(X):
    """A part of the rows, of which a fifth of the values is missing."""
    holed = X[:800].copy()
    holed[np.random.default_rng(2).random(holed.shape) < 0.2] = np.nan
    return holed
