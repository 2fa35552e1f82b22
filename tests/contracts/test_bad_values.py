"""Wrong values of parameters are refused in three parts by whoever has them, before any work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris

from tests.contracts.cases import Case, named
from tests.contracts.registry import REFINED
from tests.contracts.ways import EACH

X, Y = load_iris(return_X_y=True)
NO_INTEGER = [2.5, "many", None, True]
NO_NUMBER = ["much", None, True]
NO_TRUTH = [1, "yes", None]

VALUE_ERRORS: dict[str, list[Any]] = {
    "n_estimators": [0, -3],
    "n_forests": [0, -1],
    "n_trees": [0],
    "max_iter": [0, -2],
    "max_sweeps": [0],
    "max_depth": [0, -1],
    "max_epochs": [0],
    "alpha": [-1, np.nan, np.inf],
    "leaf_alpha": [-1.0, np.nan],
    "ridge": [-1.0, np.nan, np.inf],
    "tol": [-1.0, np.inf],
    "learning_rate": [0, -0.1, np.inf, np.nan],
    "subsample": [0.0, 1.5],
    "momentum": [1.0, -0.1],
    "max_norm": [0, -1.0, np.inf],
    "batch_size": [0],
    "refresh_epochs": [0],
    "relabel_epochs": [-1],
    "min_samples_split": [1],
    "min_weight_fraction_leaf": [-0.1, 0.6],
    "max_features": [0, 5, 0.0, 1.5, -1, "log2", "D**2"],
    "max_samples": [0, 1000, 0.0, 1.5, np.nan, np.float32(1.5)],
    "max_columns": [0],
    "max_weights": [0],
    "n_restarts": [-1],
    "n_jumps": [-1],
    "n_copies": [-1],
    "n_iter_no_change": [0, -1],
    "n_jobs": [0],
    "verbose": [-1],
    "huber_delta": [0, np.inf],
    "split": ["diagonal", "central_plane"],
    "leaf": ["quadratic"],
    "leaf_penalty": ["l3"],
    "loss": ["hinge_of_fate"],
    "init": ["middle"],
    "order": ["sideways"],
    "start": ["other"],
    "step": ["leap"],
    "algorithm": ["samme.r"],
    "voting": ["loud"],
    "criterion": ["chance"],
    "choice": ["luck"],
    "scale": ["unit"],
    "on_tie": ["last"],
    "feature_sampling": ["everywhere"],
    "importance_type": ["cover"],
    "missing": ["guess"],
    "class_weight": ["even", {0: -1.0}],
    "n_steps": [1, 10**9],
}
TYPE_ERRORS: dict[str, list[Any]] = {
    "n_estimators": [2.0, *NO_INTEGER],
    "n_forests": [2.0, *NO_INTEGER],
    "n_trees": [2.0, *NO_INTEGER],
    "max_iter": NO_INTEGER,
    "max_sweeps": NO_INTEGER,
    "max_depth": [2.5, "deep", True],
    "max_epochs": NO_INTEGER,
    "alpha": NO_NUMBER,
    "leaf_alpha": ["x"],
    "ridge": NO_NUMBER,
    "tol": NO_NUMBER,
    "learning_rate": ["slow", True],
    "subsample": ["half", True],
    "momentum": NO_NUMBER,
    "max_norm": NO_NUMBER,
    "batch_size": [10.0],
    "refresh_epochs": [2.0],
    "relabel_epochs": [0.5],
    "min_samples_split": [0.1, None],
    "min_weight_fraction_leaf": ["some"],
    "max_features": [True, [1]],
    "max_samples": ["half", True],
    "max_columns": ["few"],
    "max_weights": [0.5],
    "n_restarts": [1.0],
    "n_jumps": [None],
    "n_iter_no_change": [2.5, True],
    "n_jobs": [1.5, "all"],
    "verbose": ["loud"],
    "huber_delta": ["wide"],
    "split": [3, None],
    "leaf": [None],
    "loss": [None],
    "init": [5],
    "start": [None],
    "algorithm": [None],
    "voting": [None],
    "criterion": [None],
    "choice": [None],
    "scale": [None],
    "on_tie": [False],
    "feature_sampling": [None],
    "class_weight": [3],
    "strict_descent": [1],
    "warm_start": NO_TRUTH,
    "bootstrap": NO_TRUTH,
    "oob_score": NO_TRUTH,
    "resample": NO_TRUTH,
    "early_stopping": [1, "auto"],
    "n_steps": [10.0],
}
# A value that is wrong beside another one only, and of whom.
TOGETHER: list[tuple[dict[str, Any], type[Exception], tuple[str, ...]]] = [
    *(
        ({"alpha": alpha}, ValueError, ("TAOForestClassifier", "TAOForestRegressor"))
        for alpha in [(0.1,), (0.1, 1.0, 2.0), (0.0, 1.0), (0.1, -1.0)]
    ),
    ({"alpha": ("a", "b")}, TypeError, ("TAOForestClassifier", "TAOForestRegressor")),
    ({"alpha": (0.1, 1.0)}, TypeError, ("TAOBoostClassifier",)),
    ({"max_depth": None}, ValueError, ("TAOForestClassifier", "TAOForestRegressor")),
    ({"max_depth": None}, ValueError, ("TAOBoostClassifier", "TAOTreeClassifier")),
    ({"learning_rate": 200.0}, ValueError, ("TAOBoostClassifier",)),
    ({"learning_rate": 1e-300}, ValueError, ("TAOBoostClassifier",)),
    ({"learning_rate": 1e-9}, ValueError, ("CO2TreeClassifier", "CO2ForestRegressor")),
    *(
        (
            {"n_iter_no_change": 5, "validation_fraction": fraction},
            TypeError if isinstance(fraction, str) else ValueError,
            ("TAOBoostClassifier", "TAOGradientBoostingClassifier"),
        )
        for fraction in (0.0, 1.0, -0.5, np.nan, "some")
    ),
    *(
        (values, error, ("GreedyForestClassifier", "GreedyForestRegressor"))
        for values, error in [
            ({"split": "co2"}, ValueError),
            ({"split": "central_axis"}, ValueError),
            ({"split": "probes", "n_candidates": 0}, ValueError),
            ({"split": "probes", "n_candidates": 2.0}, TypeError),
            ({"split": "axis", "n_candidates": 7}, ValueError),
            ({"split": "ridge", "n_candidates": 7}, ValueError),
        ]
    ),
    *(
        ({"validation_fraction": 1.0}, ValueError, (name,))
        for name in ("TAOGradientBoostingClassifier", "TAOGradientBoostingRegressor")
    ),
    (
        {"max_weights": 3, "strict_descent": True},
        ValueError,
        ("FAOForestClassifier", "FAOForestRegressor"),
    ),
    ({"split": "axis"}, ValueError, ("RandomDecisionForestClassifier",)),
    (
        {"reject_label": 1, "on_tie": "reject", "n_estimators": 2},
        ValueError,
        ("RandomDecisionForestClassifier",),
    ),
]
TREES = {name: case for name, case in EACH.items() if name not in REFINED}


def bad_values() -> Iterator[Any]:
    for errors, error in ((VALUE_ERRORS, ValueError), (TYPE_ERRORS, TypeError)):
        for name, case in EACH.items():
            for word in sorted(errors.keys() & case.estimator.get_params(deep=False).keys()):
                for value in errors[word]:
                    yield pytest.param(name, {word: value}, error, id=f"{name} {word}={value!r}")
    for values, error, names in TOGETHER:
        for name in names:
            yield pytest.param(name, values, error, id=f"{name} {values}")


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize(("name", "values", "error"), list(bad_values()))
def test_a_bad_value_is_refused_in_three_parts(
    name: str, values: dict[str, Any], error: type[Exception]
) -> None:
    estimator = clone(EACH[name].estimator).set_params(**values)
    before = dict(vars(estimator))
    with pytest.raises(error) as caught:
        estimator.fit(X, Y)
    wrong, accepted, advice = str(caught.value).split("; ", 2)
    named_ones = [word for word in values if wrong.startswith(word)]
    assert len(named_ones) == 1
    value = values[named_ones[0]]
    assert isinstance(value, dict | tuple | list) or str(value) in wrong
    assert accepted.startswith("give ")
    assert advice.startswith("try ") or "; try " in advice
    assert vars(estimator) == before


@pytest.mark.usefixtures("_no_work")
@named(TREES)
def test_values_are_checked_before_the_data(case: Case) -> None:
    with pytest.raises(ValueError, match="max_depth=0"):
        case.new(max_depth=0).fit(np.full((3, 2), np.nan), None)


@pytest.mark.usefixtures("_no_work")
@named({name: case for name, case in TREES.items() if hasattr(case.estimator, "loss")})
def test_the_loss_of_the_other_task_gets_its_own_hint(case: Case) -> None:
    loss, hint = ("huber", r"is for numbers, .* try \w+Regressor")
    if not is_classifier(case.estimator):
        loss, hint = ("log_loss", r"is for classes, .* try \w+Classifier")
    with pytest.raises(ValueError, match=hint):
        case.new(loss=loss).fit(X, Y)
