"""Wrong values of the forests' own parameters are refused by ``fit`` before any tree is grown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import spinney.ensembles.bagging as bagging
import spinney.ensembles.boosting as boosting
from spinney import TAOBoostClassifier, TAOForestClassifier, TAOForestRegressor

X, Y = load_iris(return_X_y=True)
ALL = [TAOForestClassifier, TAOForestRegressor, TAOBoostClassifier]
BAGGED = ALL[:2]

ENSEMBLE = [
    ({"n_estimators": 0}, ValueError),
    ({"n_estimators": -3}, ValueError),
    ({"n_estimators": 2.0}, TypeError),
    ({"n_estimators": "many"}, TypeError),
    ({"n_estimators": None}, TypeError),
    ({"n_estimators": True}, TypeError),
    ({"alpha": -1}, ValueError),
    ({"alpha": np.nan}, ValueError),
    ({"alpha": np.inf}, ValueError),
    ({"alpha": "much"}, TypeError),
    ({"alpha": None}, TypeError),
    ({"max_depth": 0}, ValueError),
    ({"max_depth": None}, ValueError),
    ({"max_depth": 2.5}, TypeError),
    ({"split": "diagonal"}, ValueError),
    ({"leaf": "quadratic"}, ValueError),
    ({"leaf_penalty": "l3"}, ValueError),
    ({"loss": "hinge"}, ValueError),
    ({"init": "middle"}, ValueError),
    ({"init": 5}, TypeError),
    ({"order": "sideways"}, ValueError),
    ({"tol": -1.0}, ValueError),
    ({"strict_descent": 1}, TypeError),
    ({"warm_start": "no"}, TypeError),
    ({"n_jobs": 0}, ValueError),
    ({"n_jobs": 1.5}, TypeError),
    ({"verbose": -1}, ValueError),
]
BAGGING = [
    ({"alpha": (0.1,)}, ValueError),
    ({"alpha": (0.1, 1.0, 2.0)}, ValueError),
    ({"alpha": (0.0, 1.0)}, ValueError),
    ({"alpha": (0.1, -1.0)}, ValueError),
    ({"alpha": ("a", "b")}, TypeError),
    ({"start": "other"}, ValueError),
    ({"start": None}, TypeError),
    ({"max_samples": 0}, ValueError),
    ({"max_samples": 151}, ValueError),
    ({"max_samples": 0.0}, ValueError),
    ({"max_samples": 1.5}, ValueError),
    ({"max_samples": np.nan}, ValueError),
    ({"max_samples": np.float32(1.5)}, ValueError),
    ({"max_samples": "half"}, TypeError),
    ({"max_samples": True}, TypeError),
    ({"bootstrap": 1}, TypeError),
    ({"bootstrap": None}, TypeError),
    ({"max_features": 0}, ValueError),
    ({"max_features": 5}, ValueError),
    ({"max_features": 0.0}, ValueError),
    ({"max_features": 2.0}, ValueError),
    ({"max_features": "log2"}, ValueError),
    ({"max_features": "D**2"}, ValueError),
    ({"max_features": True}, TypeError),
    ({"max_features": [1, 2]}, TypeError),
    ({"feature_sampling": "regional"}, ValueError),
    ({"feature_sampling": 3}, TypeError),
    ({"oob_score": "yes"}, TypeError),
    ({"oob_score": 1}, TypeError),
]
BOOSTING = [
    ({"max_sweeps": 0}, ValueError),
    ({"alpha": (0.1, 1.0)}, TypeError),
    ({"algorithm": "samme.r"}, ValueError),
    ({"algorithm": None}, TypeError),
    ({"learning_rate": 0}, ValueError),
    ({"learning_rate": -0.1}, ValueError),
    ({"learning_rate": np.inf}, ValueError),
    ({"learning_rate": 200.0}, ValueError),
    ({"learning_rate": 1e-300}, ValueError),
    ({"learning_rate": "slow"}, TypeError),
    ({"learning_rate": True}, TypeError),
    ({"resample": 1}, TypeError),
    ({"n_iter_no_change": 0}, ValueError),
    ({"n_iter_no_change": -1}, ValueError),
    ({"n_iter_no_change": 2.5}, TypeError),
    ({"n_iter_no_change": True}, TypeError),
    ({"n_iter_no_change": 5, "validation_fraction": 0.0}, ValueError),
    ({"n_iter_no_change": 5, "validation_fraction": 1.0}, ValueError),
    ({"n_iter_no_change": 5, "validation_fraction": -0.5}, ValueError),
    ({"n_iter_no_change": 5, "validation_fraction": np.nan}, ValueError),
    ({"n_iter_no_change": 5, "validation_fraction": "some"}, TypeError),
]
CASES = (
    [(kind, *case) for kind in ALL for case in ENSEMBLE]
    + [(kind, {"max_iter": 0}, ValueError) for kind in BAGGED]
    + [(kind, *case) for kind in BAGGED for case in BAGGING]
    + [(TAOBoostClassifier, *case) for case in BOOSTING]
    + [
        (TAOForestClassifier, {"voting": "loud"}, ValueError),
        (TAOForestClassifier, {"voting": None}, TypeError),
        (TAOForestClassifier, {"class_weight": "even"}, ValueError),
        (TAOForestClassifier, {"class_weight": 3}, TypeError),
        (TAOBoostClassifier, {"class_weight": {0: -1.0}}, ValueError),
        (TAOForestRegressor, {"huber_delta": 0}, ValueError),
        (TAOForestRegressor, {"huber_delta": "wide"}, TypeError),
    ]
)


def case_id(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


@pytest.fixture
def _no_optimiser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the test fail if ``fit`` starts to work before it has checked."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the optimiser was called")

    for module in (bagging, boosting):
        monkeypatch.setattr(module, "optimize_tree", refuse)


@pytest.mark.usefixtures("_no_optimiser")
@pytest.mark.parametrize(("kind", "values", "error"), CASES, ids=case_id)
def test_bad_value_is_refused_in_three_parts(
    kind: Any, values: dict[str, Any], error: type[Exception]
) -> None:
    estimator = kind(**values)
    before = dict(vars(estimator))
    name, value = list(values.items())[-1]
    with pytest.raises(error) as caught:
        estimator.fit(X, Y)
    wrong, accepted, advice = str(caught.value).split("; ", 2)
    assert wrong.startswith(name)
    assert isinstance(value, dict | tuple | list) or str(value) in wrong
    assert accepted.startswith("give ")
    assert advice.startswith("try ")
    assert vars(estimator) == before


@pytest.mark.usefixtures("_no_optimiser")
@pytest.mark.parametrize("kind", ALL)
def test_refused_value_leaves_the_estimator_unfitted(kind: Any) -> None:
    estimator = kind(n_estimators=0)
    with pytest.raises(ValueError, match="n_estimators=0"):
        estimator.fit(X, Y)
    assert not [name for name in vars(estimator) if name.endswith("_") or name.startswith("_")]


@pytest.mark.usefixtures("_no_optimiser")
@pytest.mark.parametrize("kind", ALL)
def test_values_are_checked_before_the_data(kind: Any) -> None:
    with pytest.raises(ValueError, match="n_estimators=0"):
        kind(n_estimators=0).fit(np.full((3, 2), np.nan), None)


@pytest.mark.usefixtures("_no_optimiser")
def test_loss_of_the_other_task_gets_its_own_hint() -> None:
    with pytest.raises(ValueError, match=r"is for numbers, .* try TAO\w+Regressor"):
        TAOForestClassifier(loss="huber").fit(X, Y)
    with pytest.raises(ValueError, match=r"is for classes, .* try TAO\w+Classifier"):
        TAOForestRegressor(loss="log_loss").fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TAOForestClassifier, {"max_samples": np.float32(0.5), "max_features": np.int16(2)}),
        (TAOForestClassifier, {"alpha": [np.float64(0.1), 1], "bootstrap": np.bool_(True)}),
        (TAOForestRegressor, {"max_samples": np.int64(50), "max_features": np.float32(0.5)}),
        (TAOBoostClassifier, {"learning_rate": np.float32(0.5), "resample": np.bool_(True)}),
        (TAOBoostClassifier, {"n_iter_no_change": np.int8(3), "learning_rate": 1}),
    ],
    ids=case_id,
)
def test_numpy_scalars_are_as_good_as_python_numbers(kind: Any, values: dict[str, Any]) -> None:
    estimator = kind(n_estimators=np.int32(2), max_depth=np.int64(2), **values)
    assert 1 <= len(estimator.fit(X, Y)) <= 2
