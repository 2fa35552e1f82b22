"""Bad data get a clear error before any work; odd but usable data are fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from spinney import TAOTreeClassifier, TAOTreeRegressor
from tests.contracts.cases import trees_of
from tests.contracts.few_rows import EACH, N_ROWS, every, labels, parametrized, rows, with_value

CLASSIFIER, REGRESSOR = EACH["TAOTreeClassifier"], EACH["TAOTreeRegressor"]
FOREST, FOREST_OF_NUMBERS = EACH["TAOForestClassifier"], EACH["TAOForestRegressor"]
# CO2 squares the columns' scales and refuses those that it cannot (`test_growth.py`).
any_scale = parametrized({name: kind for name, kind in EACH.items() if "CO2" not in name})


# --- values that cannot be used -------------------------------------------------------------


@every
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_matrix, pd.DataFrame])
def test_infinite_values_are_refused(estimator: Any, value: float, form: Any) -> None:
    with pytest.raises(ValueError, match="Input X contains infinity"):
        estimator.fit(form(with_value(value)), labels())
    estimator.fit(rows(), labels())
    with pytest.raises(ValueError, match="X contains infinity"):
        estimator.predict(np.asarray(with_value(value)))


@every
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_targets_are_refused(estimator: Any, value: float) -> None:
    y = labels().astype(float)
    y[5] = value
    with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)"):
        estimator.fit(rows(), y)


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.coo_array])
def test_values_beyond_float32_are_named(estimator: Any, form: Any) -> None:
    text = r"X\[3, 2\]=-1e\+40 in column 2 is too large for float32; give values .* try dividing"
    with pytest.raises(ValueError, match=text):
        estimator.fit(form(with_value(-1e40)), labels())
    with pytest.raises(ValueError, match=text):
        estimator.fit(rows(), labels()).predict(form(with_value(-1e40)))


def test_values_beyond_float32_are_named_with_their_column() -> None:
    frame = pd.DataFrame(with_value(1e40), columns=["a", "b", "length", "d"])
    with pytest.raises(ValueError, match=r"column 2 \(length\) is too large"):
        CLASSIFIER.fit(frame, labels())


def test_huge_targets_are_refused_by_value() -> None:
    y = rows()[:, 0].copy()
    y[7] = 1e200
    with pytest.raises(ValueError, match=r"y\[7\]=\[1e\+200\] is too large, .* give .* try"):
        REGRESSOR.fit(rows(), y)


def test_slopes_of_linear_leaves_that_cannot_be_stored_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    y = 1e37 * X[:, 0].astype(float)
    X[:, 1] *= np.float32(1e-3)
    text = r"y varies by about .*e\+3\d and column 1 of X by about 0.000.*: .* give .* try other"
    with pytest.raises(ValueError, match=text):
        TAOTreeRegressor(leaf="linear").fit(X, y)
    assert np.isfinite(TAOTreeRegressor(max_depth=2).fit(X, y).predict(X)).all()


# --- weights --------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (np.r_[-2.0, np.ones(N_ROWS - 1)], r"sample_weight\[0\]=-2 is negative; give .* try 0"),
        (np.zeros(N_ROWS), r"sample_weight is zero for all rows; give at least one .* try"),
        (np.ones(N_ROWS - 1), r"sample_weight has shape \(39,\); give .* \(40,\); try"),
        (np.ones((N_ROWS, 1)), r"sample_weight has shape \(40, 1\); give one weight per row"),
        (np.full(N_ROWS, np.nan), r"Input sample_weight contains NaN"),
        (np.full(N_ROWS, np.inf), r"Input sample_weight contains infinity"),
        (np.full(N_ROWS, 1e300), r"the weights sum to 4e\+301, too large .* try dividing"),
        (["heavy"] * N_ROWS, r"could not convert string to float"),
    ],
)
def test_bad_weights_are_refused(estimator: Any, weights: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        estimator.fit(rows(), labels(), sample_weight=weights)


def test_class_weights_that_leave_no_row_are_refused() -> None:
    text = r"class_weight=\{.*\} leaves no row a weight; give .* try class_weight=None"
    with pytest.raises(ValueError, match=text):
        TAOTreeClassifier(class_weight={0: 0, 1: 0}).fit(rows(), labels())
    with pytest.raises(ValueError, match=text):  # the only weighted rows are of class 0
        TAOTreeClassifier(class_weight={0: 0}).fit(rows(), labels(), sample_weight=1.0 - labels())


@every
def test_tiny_weights_are_fitted(estimator: Any) -> None:
    estimator.fit(rows(), labels(), sample_weight=np.full(N_ROWS, 1e-30))
    assert np.isfinite(estimator.predict(rows())).all()


# --- shapes and kinds -----------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("X", "text"),
    [
        (np.zeros((0, 4)), r"Found array with 0 sample\(s\)"),
        (np.zeros((40, 0)), r"Found array with 0 feature\(s\)"),
        (np.zeros(40), r"Expected 2D array, got 1D array"),
        (np.zeros((40, 2, 2)), r"Found array with dim 3"),
        (np.zeros((39, 4)), r"inconsistent numbers of samples: \[39, 40\]"),
        (np.zeros((40, 4), dtype=complex), r"Complex data not supported"),
        (np.full((40, 4), b"red"), r"but an argument must be a string or a number"),
        (sp.csr_matrix((39, 4)), r"inconsistent numbers of samples: \[39, 40\]"),
    ],
    ids=lambda value: "" if isinstance(value, str) else f"{value.shape}{value.dtype}",
)
def test_wrong_shapes_and_dtypes_are_refused(estimator: Any, X: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        estimator.fit(X, labels())


@every
def test_no_target_is_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"requires y to be passed, but the target y is None"):
        estimator.fit(rows(), None)


def test_classes_must_be_classes() -> None:
    with pytest.raises(ValueError, match=r"Unknown label type: continuous"):
        CLASSIFIER.fit(rows(), rows()[:, 0])
    with pytest.raises(
        ValueError, match=r"y should be a 1d array, got an array of shape \(40, 2\)"
    ):
        CLASSIFIER.fit(rows(), np.column_stack([labels(), labels()]))


def test_numbers_must_be_numbers() -> None:
    with pytest.raises(
        ValueError, match=r"no number: .yes. in row \d+ .*; give numbers; try TAOTree"
    ):
        REGRESSOR.fit(rows(), np.where(labels(), "yes", "no"))
    with pytest.raises(ValueError, match=r"dim 3|shape \(40, 2, 2\)"):
        REGRESSOR.fit(rows(), np.zeros((N_ROWS, 2, 2)))
    with pytest.raises((TypeError, ValueError), match=r"sparse|Sparse"):
        REGRESSOR.fit(rows(), sp.csr_matrix(rows()))


def test_column_of_classes_is_used_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        CLASSIFIER.fit(rows(), labels()[:, None])


@every
def test_other_columns_at_predict_are_refused(estimator: Any) -> None:
    frame = pd.DataFrame(rows(), columns=list("abcd"))
    estimator.fit(frame, labels())
    with pytest.raises(ValueError, match=r"feature names should match"):
        estimator.predict(frame[list("dcba")])
    with pytest.raises(ValueError, match=r"feature names should match"):
        estimator.predict(frame.rename(columns={"a": "unseen"}))
    estimator.fit(rows(), labels())
    for method in (estimator.predict, estimator.apply, estimator.decision_path):
        with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
            method(rows()[:, :3])


@every
def test_nothing_changes_after_a_refused_fit(estimator: Any) -> None:
    estimator.fit(rows(), labels())
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match="infinity"):
        estimator.fit(pd.DataFrame(with_value(np.inf)[:, :3], columns=list("abc")), labels())
    assert vars(estimator) == before


# --- odd but usable -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*and boosting needs less than")
@every
def test_all_columns_constant_gives_one_leaf(estimator: Any) -> None:
    estimator.fit(np.ones((N_ROWS, 3)), labels())
    assert all(tree.n_leaves == 1 for tree in trees_of(estimator))
    assert np.array_equal(estimator.feature_importances_, np.zeros(3))


@every
def test_duplicate_columns_are_fitted(estimator: Any) -> None:
    X = np.repeat(rows(), 3, axis=1)
    assert np.isfinite(estimator.fit(X, labels()).predict(X)).all()


@every
def test_duplicate_rows_are_fitted(estimator: Any) -> None:
    X = np.repeat(rows()[:2], 20, axis=0)
    estimator.fit(X, np.repeat([0, 1], 20))
    leaves = estimator.apply(X).reshape(N_ROWS, -1)
    assert all(len(np.unique(column)) <= 2 for column in leaves.T)


def test_one_class_gives_a_constant_tree() -> None:
    for label in ("only", 3):
        tree = TAOTreeClassifier(max_depth=2).fit(rows(), np.full(N_ROWS, label))
        assert tree.classes_.tolist() == [label]
        assert set(tree.predict(rows()).tolist()) == {label}
        assert np.array_equal(tree.predict_proba(rows()), np.ones((N_ROWS, 1)))


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("init", ["supervised", "balanced", "random", "cart", "random_structure"])
def test_one_row_is_fitted(leaf: str, init: str) -> None:
    X = np.array([[1.0, -2.0]])
    classifier = TAOTreeClassifier(max_depth=3, leaf=leaf, init=init).fit(X, ["a"])
    assert classifier.predict(X).tolist() == ["a"]
    regressor = TAOTreeRegressor(max_depth=3, leaf=leaf, init=init).fit(X, [2.5])
    assert regressor.predict(X) == pytest.approx([2.5])


@any_scale
@pytest.mark.parametrize("factor", [1e30, 1e-30, 1e-44])
def test_huge_and_tiny_values_are_fitted(estimator: Any, factor: float) -> None:
    X = rows() * factor
    predicted = estimator.fit(X, labels()).predict(X)
    assert np.isfinite(predicted).all()
    assert all(np.isfinite(tree.bias).all() for tree in trees_of(estimator))


@any_scale
def test_columns_of_very_different_size_are_fitted(estimator: Any) -> None:
    X = rows() * [1e-20, 1.0, 1e10, 1e20]
    assert np.isfinite(estimator.fit(X, labels()).predict(X)).all()


def test_values_that_underflow_to_zero_are_fitted() -> None:
    estimator = CLASSIFIER.fit(rows() * 1e-60, labels())
    assert estimator.get_n_leaves() == 1


@pytest.mark.parametrize("series", [pd.Series, pl.Series], ids=["pandas", "polars"])
def test_series_are_accepted_as_targets_and_weights(series: Any) -> None:
    y = series(np.where(labels(), "yes", "no").tolist())
    tree = TAOTreeClassifier(max_depth=2, random_state=0)
    tree.fit(rows(), y, sample_weight=series(np.ones(N_ROWS)))
    assert tree.classes_.tolist() == ["no", "yes"]


@every
def test_mixed_numeric_frame_is_fitted(estimator: Any) -> None:
    X = pd.DataFrame({"i": np.arange(N_ROWS), "b": rows()[:, 0] > 0, "f": rows()[:, 1]})
    assert estimator.fit(X, labels()).predict(X).shape == (N_ROWS,)


@every
def test_constant_columns_get_no_weight_in_any_tree(estimator: Any) -> None:
    X = rows()
    X[:, 1] = 7.0
    estimator.fit(X, labels())
    assert all(1 not in tree.split_indices for tree in trees_of(estimator))
    assert estimator.feature_importances_[1] == 0


@pytest.mark.parametrize("estimator", [FOREST, FOREST_OF_NUMBERS])
def test_constant_columns_may_be_all_that_a_split_has(estimator: Any) -> None:
    X = np.hstack([np.ones((N_ROWS, 5)), rows()[:, :1]])
    for sampling in ("local", "global"):
        estimator.set_params(max_features=1, feature_sampling=sampling).fit(X, labels())
        assert np.isfinite(estimator.predict(X)).all()
        assert all(set(tree.split_indices) <= {5} for tree in estimator.trees_)
    estimator.set_params(max_features=None, feature_sampling="local")
