"""scikit-learn's own displays and inspections work on our estimators."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    permutation_importance,
)
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.model_selection import LearningCurveDisplay, learning_curve

import spinney
from tests.compat.models import FORESTS, rows, small_model
from tests.inspection.plotting.models import draw, rows_for, targets_for

FAST = {"max_iter": 2, "random_state": 0}
BOOSTED = {"max_sweeps": 2, "random_state": 0}
CLASSIFIERS = [name for name in FORESTS if hasattr(small_model(name), "classes_")]
TWO_CLASSES = {
    "tree": lambda: spinney.TAOTreeClassifier(max_depth=2, **FAST),
    "bagged": lambda: spinney.TAOForestClassifier(3, max_depth=2, **FAST),
    "boosted": lambda: spinney.TAOBoostClassifier(3, max_depth=1, **BOOSTED),
    "gradient": lambda: spinney.TAOGradientBoostingClassifier(2, max_depth=2, **BOOSTED),
    "fao": lambda: spinney.FAOForestClassifier(2, 2, max_depth=2, **FAST),
    "co2": lambda: spinney.CO2ForestClassifier(2, max_depth=2, random_state=0),
    "ho": lambda: spinney.RandomDecisionForestClassifier(2, max_features=1, random_state=0),
    "greedy": lambda: spinney.GreedyForestClassifier(2, max_depth=2, random_state=0),
}
each_kind = pytest.mark.parametrize("kind", TWO_CLASSES)


@cache
def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with holes, and categories."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=90),
            "age": rng.uniform(20, 60, 90),
            "job": pd.Categorical(rng.choice(["smith", "cook", "clerk"], 90)),
        }
    )
    frame.loc[::11, "age"] = np.nan
    y = np.where((frame["job"] == "cook") | (frame["size"] > 0.4), "yes", "no")
    return frame, y


@cache
def on_table(kind: str) -> Any:
    return TWO_CLASSES[kind]().fit(*table())


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_confusion_matrices_count_predictions(name: str) -> None:
    model = small_model(name)
    X, y = rows_for(model), targets_for(model)
    display = ConfusionMatrixDisplay.from_estimator(model, X, y)
    draw(display)
    expected = confusion_matrix(y, model.predict(X), labels=model.classes_)
    np.testing.assert_array_equal(display.confusion_matrix, expected)


@each_kind
def test_partial_dependence_of_a_frame_with_categories(kind: str) -> None:
    model, (X, _) = on_table(kind), table()
    display = PartialDependenceDisplay.from_estimator(
        model,
        X,
        ["size", "job"],
        categorical_features=["job"],
        grid_resolution=5,
        response_method="predict_proba",
        method="brute",
    )
    draw(display)
    found = display.pd_results[1]
    for level, value in zip(found["grid_values"][0], found["average"][0], strict=True):
        same = X.assign(job=pd.Categorical([level] * len(X), categories=X["job"].cat.categories))
        assert value == pytest.approx(model.predict_proba(same)[:, 1].mean())


def test_partial_dependence_of_numbers() -> None:
    for name in ("tao_forest_regressor", "co2_tree_regressor", "refined_forest_classifier"):
        model = small_model(name)
        options = {"target": 0} if name != "tao_forest_regressor" else {}
        display = PartialDependenceDisplay.from_estimator(
            model, rows(), [0, (1, 2)], grid_resolution=4, method="brute", **options
        )
        draw(display)
        assert np.isfinite(display.pd_results[0]["average"]).all()


@each_kind
def test_permutation_importance_of_a_frame_with_categories(kind: str) -> None:
    model, (X, y) = on_table(kind), table()
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    assert found.importances.shape == (3, 3)
    assert found.importances_mean[[0, 2]].max() > 0


@each_kind
def test_calibration_curves(kind: str) -> None:
    model, (X, y) = on_table(kind), table()
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=4, pos_label="yes")
    draw(display)
    share = model.predict_proba(X)[:, list(model.classes_).index("yes")]
    expected = calibration_curve(y, share, n_bins=4, pos_label="yes")
    np.testing.assert_array_equal(display.prob_true, expected[0])


@pytest.mark.parametrize("kind", ["tree", "fao", "greedy"])
def test_learning_curves_of_a_frame_with_categories(kind: str) -> None:
    X, y = table()
    options = {"cv": 2, "train_sizes": [0.5, 1.0]}
    display = LearningCurveDisplay.from_estimator(TWO_CLASSES[kind](), X, y, **options)
    draw(display)
    expected = learning_curve(TWO_CLASSES[kind](), X, y, **options)
    np.testing.assert_array_equal(display.test_scores, expected[2])


@each_kind
def test_decision_boundaries(kind: str) -> None:
    X, _ = table()
    numbers = X[["size", "age"]].fillna(40.0)
    y = (numbers["size"] > 0.4).astype(int)
    model = TWO_CLASSES[kind]().fit(numbers, y)
    display = DecisionBoundaryDisplay.from_estimator(
        model, numbers, grid_resolution=8, response_method="predict"
    )
    draw(display)
    grid = pd.DataFrame({"size": display.xx0.ravel(), "age": display.xx1.ravel()})
    np.testing.assert_array_equal(display.response.ravel(), model.predict(grid))
