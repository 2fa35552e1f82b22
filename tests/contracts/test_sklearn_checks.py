"""Every estimator passes scikit-learn's own checks; drawn rows excuse forests from one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.estimator_checks import parametrize_with_checks

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
)
from spinney.estimators import RandomStructure, TAOTreeClassifier, TAOTreeRegressor
from tests.contracts.registry import REFINED, public_estimators

CLASSIFIERS = [
    TAOTreeClassifier(),
    TAOTreeClassifier(max_depth=3, max_iter=5, split="axis"),
    TAOTreeClassifier(max_depth=2, max_iter=5, leaf="linear"),
    TAOTreeClassifier(max_depth=3, max_iter=5, loss="log_loss"),
    TAOTreeClassifier(max_depth=3, max_iter=5, init="cart"),
    TAOTreeClassifier(max_depth=3, max_iter=5, init="random", strict_descent=True),
    TAOTreeClassifier(max_iter=5, init=RandomStructure(1, 4, 15), order="leaves_first"),
]
REGRESSORS = [
    TAOTreeRegressor(),
    TAOTreeRegressor(max_depth=3, max_iter=5, split="axis"),
    TAOTreeRegressor(max_depth=2, max_iter=5, leaf="linear"),
    TAOTreeRegressor(max_depth=3, max_iter=5, loss="absolute_error"),
    TAOTreeRegressor(max_depth=3, max_iter=5, loss="huber"),
    TAOTreeRegressor(max_depth=3, max_iter=5, init="cart"),
]
FORESTS = [
    TAOForestClassifier(n_estimators=3, max_depth=3),
    TAOForestRegressor(n_estimators=3, max_depth=3),
    TAOBoostClassifier(n_estimators=3, max_depth=3),
    FAOForestClassifier(n_forests=2, n_trees=3, max_depth=3, max_iter=5),
    FAOForestClassifier(n_forests=1, n_trees=3, max_depth=2, max_iter=5, loss="log_loss"),
    FAOForestRegressor(n_forests=2, n_trees=3, max_depth=3, max_iter=5),
    FAOForestRegressor(n_forests=1, n_trees=3, max_depth=2, max_iter=5, loss="absolute_error"),
    TAOGradientBoostingClassifier(n_estimators=10, max_depth=2, learning_rate=0.3),
    TAOGradientBoostingClassifier(n_estimators=10, max_depth=2, step="gradient", init="cart"),
    TAOGradientBoostingRegressor(n_estimators=10, max_depth=2, learning_rate=0.3),
    TAOGradientBoostingRegressor(n_estimators=10, max_depth=2, loss="absolute_error"),
]
GROWN = [
    GreedyForestRegressor(n_estimators=3, split="logistic"),
    GreedyForestClassifier(n_estimators=3, split="probes"),
    GreedyForestClassifier(n_estimators=3, split="ridge", criterion="gini"),
    GreedyForestClassifier(n_estimators=3, max_features=None, bootstrap=False, max_samples=1.0),
    GreedyForestRegressor(n_estimators=3, max_features=None, bootstrap=False, max_samples=1.0),
    CO2ForestClassifier(n_estimators=3, max_epochs=10),
    CO2ForestRegressor(n_estimators=3, max_epochs=10),
    CO2TreeClassifier(max_epochs=10),
    CO2TreeRegressor(max_epochs=10),
    RandomDecisionForestClassifier(n_estimators=1),
    RandomDecisionForestClassifier(n_estimators=1, split="perceptron"),
]
EQUIVALENCE = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
DRAWN_ROWS = dict.fromkeys(
    EQUIVALENCE, "trees draw rows, and a row of weight 2 is drawn once, two rows each by themselves"
)


def excused(estimator: BaseEstimator) -> dict[str, str]:
    """Checks that an estimator is expected to fail, and why: those of trees that draw rows."""
    values = estimator.get_params(deep=False)
    return DRAWN_ROWS if "max_samples" in values and values["max_samples"] is None else {}


ESTIMATORS = CLASSIFIERS + REGRESSORS + FORESTS + GROWN
ONE_OF_EACH = {type(estimator).__name__: estimator for estimator in reversed(ESTIMATORS)}
OTHERS = [estimator for estimator in ESTIMATORS if estimator not in ONE_OF_EACH.values()]


def test_every_public_estimator_is_checked() -> None:
    assert ONE_OF_EACH.keys() == public_estimators().keys() - REFINED


@parametrize_with_checks(list(ONE_OF_EACH.values()), expected_failed_checks=excused)
def test_estimator_keeps_the_rules_of_scikit_learn(
    estimator: BaseEstimator, check: Callable[[BaseEstimator], None]
) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=excused)
def test_other_ways_keep_the_rules_of_scikit_learn(
    estimator: BaseEstimator, check: Callable[[BaseEstimator], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tags_say_what_is_accepted(estimator: BaseEstimator) -> None:
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert tags.target_tags.multi_output == is_regressor(estimator)
    assert tags.target_tags.required
