"""One word for early stopping, and one meaning, in every estimator that stops early."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification

import spinney
from tests.bits import differences

X, Y = make_classification(220, 6, n_informative=3, flip_y=0.3, random_state=0)
VALIDATION = {"X_val": X[150:], "y_val": Y[150:]}
BOOSTED = [
    spinney.TAOBoostClassifier(40, max_depth=3, max_sweeps=2, random_state=0),
    spinney.TAOGradientBoostingClassifier(
        40, max_depth=2, max_sweeps=1, learning_rate=1.0, random_state=0
    ),
    spinney.TAOGradientBoostingRegressor(
        40, max_depth=2, max_sweeps=1, learning_rate=1.0, random_state=0
    ),
]
of_boosting = pytest.mark.parametrize("model", BOOSTED, ids=lambda of: type(of).__name__)


def fitted(model: BaseEstimator, **parameters: object) -> BaseEstimator:
    values = model.get_params() | parameters
    return type(model)(**values).fit(X[:150], Y[:150], **VALIDATION)


def test_whoever_is_judged_while_it_is_fitted_knows_the_same_words() -> None:
    words = {"early_stopping", "validation_fraction"}
    judged = [
        kind
        for name in spinney.estimators.__all__
        if isinstance(kind := getattr(spinney.estimators, name), type)
        and issubclass(kind, BaseEstimator)
        and "X_val" in inspect.signature(kind.fit).parameters
    ]
    assert len(judged) == 5
    for kind in judged:
        assert words <= set(kind._get_param_names()), kind
        assert "y_val" in inspect.signature(kind.fit).parameters
        assert not {"tol_validation", "patience", "eval_set"} & set(kind._get_param_names())


@of_boosting
def test_early_stopping_alone_waits_for_ten_trees(model: BaseEstimator) -> None:
    plain = fitted(model, early_stopping=True)
    ten = fitted(model, early_stopping=True, n_iter_no_change=10)
    assert [name for name in differences(plain, ten) if name != "n_iter_no_change"] == []
    assert len(plain) < 40


@of_boosting
def test_a_number_alone_stops_early_as_it_always_did(model: BaseEstimator) -> None:
    alone = fitted(model, n_iter_no_change=3)
    both = fitted(model, early_stopping=True, n_iter_no_change=3)
    assert differences(alone, both) == ["early_stopping"]
    assert len(alone) < 40


@of_boosting
@pytest.mark.parametrize("parameters", [{}, {"early_stopping": False, "n_iter_no_change": 3}])
def test_without_early_stopping_all_trees_are_kept(
    model: BaseEstimator, parameters: dict[str, object]
) -> None:
    assert len(fitted(model, **parameters)) == 40


@of_boosting
def test_rows_are_set_aside_to_stop_by(model: BaseEstimator) -> None:
    values = model.get_params() | {"early_stopping": True}
    stopped = type(model)(**values).fit(X, Y)
    assert stopped._fraction_aside == 0.1
    assert not hasattr(type(model)(**model.get_params()).fit(X, Y), "validation_losses_")


@of_boosting
@pytest.mark.parametrize("value", ["auto", 1, "yes"])
def test_early_stopping_is_a_truth_value(model: BaseEstimator, value: object) -> None:
    with pytest.raises(TypeError, match=r"early_stopping=.* is of type .*; give True or False"):
        fitted(model, early_stopping=value)


@of_boosting
def test_numpy_truth_values_are_taken(model: BaseEstimator) -> None:
    assert len(fitted(model, early_stopping=np.True_)) < 40
