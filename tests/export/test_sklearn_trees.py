"""to_sklearn: axis-aligned models as estimators of scikit-learn."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import export_text, plot_tree

from spinney import MissingValuesWarning, TAOTreeClassifier, to_sklearn
from spinney.export.boundary import axis_thresholds, sum_thresholds
from tests.contracts.served import fitted, rows_for, with_holes

SAME = [
    "axis tree",
    "axis tree regressor",
    "tree of one leaf",
    "axis forest",
    "forest regressor of outputs",
    "m1 of axis trees",
    "greedy",
    "greedy regressor",
]

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


def without_map(model):
    """The model with shares of the votes as probabilities, which scikit-learn's forests know."""
    model = copy.copy(model)
    return model.set_params(calibrate=False) if "calibrate" in model.get_params() else model


def test_a_map_to_probabilities_is_refused():
    with pytest.raises(ValueError, match=r"come from a map .* try .*calibrate=False"):
        to_sklearn(fitted("axis forest"))


@pytest.mark.parametrize("name", SAME)
def test_axis_aligned_models_predict_the_same(name):
    model, X = without_map(fitted(name)), rows_for(name)
    twin = to_sklearn(model)
    assert (twin.predict(X) == model.predict(X)).all()
    if hasattr(model, "predict_proba"):
        assert twin.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-15)


@pytest.mark.parametrize("name", SAME)
def test_missing_values_go_the_same_way(name):
    model, X = copy.copy(fitted(name)), with_holes(rows_for(name))
    if "calibrate" in model.get_params():
        model.set_params(calibrate=False)
    with pytest.warns(MissingValuesWarning):
        wanted = model.predict(X)
    assert (to_sklearn(model).predict(X) == wanted).all()


def test_sums_of_trees_are_equal_up_to_rounding():
    model, X = fitted("axis fao regressor"), rows_for("axis fao regressor")
    assert to_sklearn(model).predict(X) == pytest.approx(model.predict(X), rel=1e-12, abs=1e-12)


def test_results_are_ordinary_estimators():
    twin = to_sklearn(fitted("axis tree"))
    assert "class: " in export_text(twin)
    assert plot_tree(twin)
    X = rows_for("axis tree")
    assert (pickle.loads(pickle.dumps(twin)).predict(X) == twin.predict(X)).all()


def test_column_names_are_kept():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]})
    model = TAOTreeClassifier(max_depth=1, split="axis").fit(X, [0, 0, 1, 1])
    assert to_sklearn(model).feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tree", "node 0 of tree 0 is oblique"),
        ("hard forest", "of tree . is oblique"),
        ("gradient boosting", "oblique"),
    ],
)
def test_oblique_splits_are_refused_by_name(name, text):
    with pytest.raises(ValueError, match=text):
        to_sklearn(fitted(name))


def test_linear_leaves_and_scores_are_refused():
    X, y = rows_for("tree")[:200], fitted("tree").predict(rows_for("tree")[:200])
    linear = TAOTreeClassifier(max_depth=1, split="axis", leaf="linear").fit(X, y)
    with pytest.raises(ValueError, match="linear leaves"):
        to_sklearn(linear)
    with pytest.raises(ValueError, match="sums of class scores"):
        to_sklearn(fitted("refined extra trees"))


@given(bias=st.floats(-1e39, 1e39), sum_=floats)
def test_sum_thresholds_are_the_rule_of_the_boundary(bias, sum_):
    limit = sum_thresholds(np.array([bias]))[0]
    assert (np.float32(sum_) >= limit) == (float(sum_) + bias >= 0)


@given(weight=floats, bias=st.floats(-1e39, 1e39), x=floats)
def test_axis_thresholds_are_the_rule_of_the_boundary(weight, bias, x):
    weights, biases = np.array([weight], dtype=np.float32), np.array([bias])
    [cut], [is_right_above] = axis_thresholds(weights, biases)
    with np.errstate(over="ignore", under="ignore"):
        # Next to the cut too, where an error would be.
        for value in (np.float32(x), cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)):
            if not np.isfinite(value):
                continue
            is_right = float(weights[0] * value) + bias >= 0
            assert is_right == (value >= cut if is_right_above else value <= cut)
