"""The models of ``spinney demo`` and what is measured of each."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

from numpy.typing import NDArray
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    FAOForestClassifier,
    FAOForestRegressor,
    RandomDecisionForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    Tree,
)
from spinney.tree import count_parameters, from_sklearn

SEED = 0
N_CALLS = 20


def classifiers() -> dict[str, Any]:
    """Models for classes, not fitted yet."""
    return {
        "TAO tree, constant leaves": TAOTreeClassifier(max_depth=6, random_state=SEED),
        "TAO tree, linear leaves": TAOTreeClassifier(max_depth=3, leaf="linear", random_state=SEED),
        "TAO forest": TAOForestClassifier(max_depth=6, random_state=SEED),
        "TAO boosting": TAOBoostClassifier(max_depth=6, random_state=SEED),
        "TAO gradient boosting": TAOGradientBoostingClassifier(
            n_estimators=50, max_depth=4, random_state=SEED
        ),
        "FAO forests": FAOForestClassifier(n_trees=6, max_depth=4, random_state=SEED),
        "CO2 forest": CO2ForestClassifier(random_state=SEED),
        "Ho's random decision forest": RandomDecisionForestClassifier(random_state=SEED),
        "CART of the same depth": DecisionTreeClassifier(max_depth=6, random_state=SEED),
        "random forest": RandomForestClassifier(random_state=SEED),
        "AdaBoost of CART, depth 8": AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=8), n_estimators=100, random_state=SEED
        ),
        "gradient boosting": HistGradientBoostingClassifier(random_state=SEED),
    }


def regressors() -> dict[str, Any]:
    """Models for numbers, not fitted yet."""
    return {
        "TAO tree, constant leaves": TAOTreeRegressor(max_depth=6, random_state=SEED),
        "TAO tree, linear leaves": TAOTreeRegressor(max_depth=4, leaf="linear", random_state=SEED),
        "TAO forest, linear leaves": TAOForestRegressor(
            n_estimators=10, max_depth=4, leaf="linear", random_state=SEED
        ),
        "TAO gradient boosting": TAOGradientBoostingRegressor(random_state=SEED),
        "FAO forests": FAOForestRegressor(max_depth=4, random_state=SEED),
        "CO2 forest": CO2ForestRegressor(random_state=SEED),
        "CART of the same depth": DecisionTreeRegressor(max_depth=6, random_state=SEED),
        "random forest": RandomForestRegressor(random_state=SEED),
        "gradient boosting": HistGradientBoostingRegressor(random_state=SEED),
    }


def microseconds_of_a_row(model: Any, row: NDArray[Any]) -> float:
    """Time of one prediction, the median of some."""
    seconds = []
    for _ in range(N_CALLS):
        start = perf_counter()
        model.predict(row)
        seconds.append(perf_counter() - start)
    return 1e6 * median(seconds)


def size_of(model: Any) -> tuple[int, int, int]:
    """Number of trees, depth of the deepest leaf, and parameters, counted alike for all models."""
    if hasattr(model, "_predictors"):  # gradient boosting: a split has a feature and a threshold
        trees = [tree.nodes for round_ in model._predictors for tree in round_]
        sizes = [2 * len(nodes) - nodes["is_leaf"].sum() for nodes in trees]
        return len(trees), max(int(nodes["depth"].max()) for nodes in trees), int(sum(sizes))
    trees = list(trees_of(model))
    return len(trees), max(tree.max_depth for tree in trees), sum(map(count_parameters, trees))


def trees_of(model: Any) -> Iterator[Tree]:
    """All trees of a model in the form of this library."""
    if hasattr(model, "trees_"):
        yield from model.trees_
        return
    for member in getattr(model, "estimators_", [model]):
        yield member.tree_ if isinstance(member.tree_, Tree) else from_sklearn(member)
