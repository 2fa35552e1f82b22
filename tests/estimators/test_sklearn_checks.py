"""Every estimator passes scikit-learn's own checks, none of them excused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney.estimators import RandomStructure, TAOTreeClassifier, TAOTreeRegressor

CLASSIFIERS = [
    TAOTreeClassifier(),
    TAOTreeClassifier(max_depth=3, max_iter=5, split="axis"),
    TAOTreeClassifier(max_depth=2, max_iter=5, leaf="linear"),
    TAOTreeClassifier(max_depth=3, max_iter=5, loss="log_loss"),
    TAOTreeClassifier(max_depth=3, max_iter=5, init="cart"),
    TAOTreeClassifier(max_depth=3, max_iter=5, init="random", monotone=True),
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


@parametrize_with_checks(CLASSIFIERS + REGRESSORS)
def test_estimator_keeps_the_rules_of_scikit_learn(
    estimator: BaseEstimator, check: Callable[[BaseEstimator], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", [TAOTreeClassifier(), TAOTreeRegressor()])
def test_tags_say_what_is_accepted(estimator: BaseEstimator) -> None:
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.target_tags.multi_output == isinstance(estimator, TAOTreeRegressor)
    assert tags.target_tags.required
