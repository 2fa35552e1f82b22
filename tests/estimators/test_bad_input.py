"""Bad data get a clear error before any work; odd but usable data are fitted."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.exceptions import DataConversionWarning

import spinney.data.validation as validation
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
from spinney.ensembles.tree_start import INIT_WORDS
from spinney.estimators import TAOTreeClassifier, TAOTreeRegressor

N_ROWS, N_COLUMNS = 40, 4
ESTIMATORS = [
    TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0),
    TAOTreeRegressor(max_depth=2, max_iter=2, random_state=0),
    CO2TreeClassifier(max_depth=2, max_epochs=2, random_state=0),
    CO2TreeRegressor(max_depth=2, max_epochs=2, random_state=0),
]
FORESTS = [
    TAOForestClassifier(n_estimators=2, max_depth=2, max_iter=2, random_state=0),
    TAOForestRegressor(n_estimators=2, max_depth=2, max_iter=2, random_state=0),
    TAOBoostClassifier(n_estimators=2, max_depth=2, max_sweeps=2, random_state=0),
    FAOForestClassifier(n_forests=1, n_trees=2, max_depth=2, max_iter=2, random_state=0),
    FAOForestRegressor(n_forests=1, n_trees=2, max_depth=2, max_iter=2, random_state=0),
    TAOGradientBoostingClassifier(2, learning_rate=1.0, max_depth=2, max_sweeps=2, random_state=0),
    TAOGradientBoostingRegressor(2, learning_rate=1.0, max_depth=2, max_sweeps=2, random_state=0),
    GreedyForestClassifier(2, max_depth=2, random_state=0),
    GreedyForestRegressor(2, max_depth=2, split="ridge", random_state=0),
    RandomDecisionForestClassifier(2, max_depth=2, random_state=0),
    CO2ForestClassifier(2, max_depth=2, max_epochs=2, random_state=0),
    CO2ForestRegressor(2, max_depth=2, max_epochs=2, random_state=0),
]
IDS = ["classifier", "regressor", "CO2 classifier", "CO2 regressor"]
IDS_OF_FORESTS = ["forest classifier", "forest regressor", "boosted"]
IDS_OF_FORESTS += ["averaged classifier", "averaged regressor"]
IDS_OF_FORESTS += ["gradient boosted classifier", "gradient boosted regressor"]
IDS_OF_FORESTS += ["greedy classifier", "greedy regressor", "Ho's classifier"]
IDS_OF_FORESTS += ["CO2 forest classifier", "CO2 forest regressor"]
both = pytest.mark.parametrize("estimator", ESTIMATORS, ids=IDS)
forests = pytest.mark.parametrize("estimator", FORESTS, ids=IDS_OF_FORESTS)
every = pytest.mark.parametrize("estimator", ESTIMATORS + FORESTS, ids=IDS + IDS_OF_FORESTS)
# CO2 squares the columns' scales and refuses those that it cannot (`test_growth.py`).
any_scale = pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=IDS[:2])
forests_of_any_scale = pytest.mark.parametrize("estimator", FORESTS[:-2], ids=IDS_OF_FORESTS[:-2])


def rows() -> NDArray[np.float64]:
    return (
        np.random.default_rng(0)
        .normal(size=(N_ROWS, N_COLUMNS))
        .astype(np.float32)
        .astype(np.float64)
    )


def labels() -> NDArray[np.int64]:
    return (rows() @ [1.0, -1.0, 0.5, 0.0] > 0).astype(np.int64)


def with_value(value: float) -> NDArray[np.float64]:
    X = rows()
    X[3, 2] = value
    return X


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
        ESTIMATORS[0].fit(frame, labels())


def test_huge_targets_are_refused_by_value() -> None:
    y = rows()[:, 0].copy()
    y[7] = 1e200
    with pytest.raises(ValueError, match=r"y\[7\]=\[1e\+200\] is too large, .* give .* try"):
        ESTIMATORS[1].fit(rows(), y)


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
        ESTIMATORS[0].fit(rows(), rows()[:, 0])
    with pytest.raises(
        ValueError, match=r"y should be a 1d array, got an array of shape \(40, 2\)"
    ):
        ESTIMATORS[0].fit(rows(), np.column_stack([labels(), labels()]))


def test_numbers_must_be_numbers() -> None:
    with pytest.raises(
        ValueError, match=r"no number: .yes. in row \d+ .*; give numbers; try TAOTree"
    ):
        ESTIMATORS[1].fit(rows(), np.where(labels(), "yes", "no"))
    with pytest.raises(ValueError, match=r"dim 3|shape \(40, 2, 2\)"):
        ESTIMATORS[1].fit(rows(), np.zeros((N_ROWS, 2, 2)))
    with pytest.raises((TypeError, ValueError), match=r"sparse|Sparse"):
        ESTIMATORS[1].fit(rows(), sp.csr_matrix(rows()))


def test_column_of_classes_is_used_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        ESTIMATORS[0].fit(rows(), labels()[:, None])


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


@both
def test_constant_columns_get_no_weight(estimator: Any) -> None:
    X = rows()
    X[:, 1] = 7.0
    estimator.fit(X, labels())
    assert 1 not in estimator.tree_.split_indices
    assert estimator.feature_importances_[1] == 0


@both
def test_all_columns_constant_gives_one_leaf(estimator: Any) -> None:
    estimator.fit(np.ones((N_ROWS, 3)), labels())
    assert estimator.get_n_leaves() == 1
    assert np.array_equal(estimator.feature_importances_, np.zeros(3))


@every
def test_duplicate_columns_are_fitted(estimator: Any) -> None:
    X = np.repeat(rows(), 3, axis=1)
    assert np.isfinite(estimator.fit(X, labels()).predict(X)).all()


@both
def test_duplicate_rows_are_fitted(estimator: Any) -> None:
    X = np.repeat(rows()[:2], 20, axis=0)
    estimator.fit(X, np.repeat([0, 1], 20))
    assert len(np.unique(estimator.apply(X))) <= 2


def test_one_class_gives_a_constant_tree() -> None:
    for label in ("only", 3):
        tree = TAOTreeClassifier(max_depth=2).fit(rows(), np.full(N_ROWS, label))
        assert tree.classes_.tolist() == [label]
        assert set(tree.predict(rows()).tolist()) == {label}
        assert np.array_equal(tree.predict_proba(rows()), np.ones((N_ROWS, 1)))


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("init", INIT_WORDS)
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
    assert np.isfinite(estimator.tree_.bias).all()


@pytest.mark.parametrize(
    "estimator", ESTIMATORS[:2] + FORESTS[:-2], ids=IDS[:2] + IDS_OF_FORESTS[:-2]
)
def test_columns_of_very_different_size_are_fitted(estimator: Any) -> None:
    X = rows() * [1e-20, 1.0, 1e10, 1e20]
    assert np.isfinite(estimator.fit(X, labels()).predict(X)).all()


def test_values_that_underflow_to_zero_are_fitted() -> None:
    estimator = ESTIMATORS[0].fit(rows() * 1e-60, labels())
    assert estimator.get_n_leaves() == 1


@both
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16", ">f4", ">f8", "O"])
def test_any_numeric_dtype_is_read_as_float32(estimator: Any, dtype: str) -> None:
    X = (rows() > 0).astype(dtype)
    expected = estimator.fit((rows() > 0).astype(np.float32), labels()).tree_
    assert estimator.fit(X, labels()).tree_.same_as(expected)


def odd_layouts(directory: Path) -> dict[str, NDArray[np.float64]]:
    X = rows()
    read_only = X.copy()
    read_only.flags.writeable = False
    file = directory / "rows.dat"
    X.tofile(file)
    mapped = np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)
    spaced = np.zeros((2 * N_ROWS, 3 * N_COLUMNS))
    spaced[::2, ::3] = X
    packed = np.zeros(N_ROWS, dtype=[("flag", "i1"), ("x", "f4", N_COLUMNS)])
    packed["x"] = X
    return {
        "read-only": read_only,
        "memory-mapped": mapped,
        "Fortran": np.asfortranarray(X),
        "strided": spaced[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "unaligned": packed["x"],
        "read-only float32": _read_only(X.astype(np.float32)),
    }


def _read_only(X: NDArray[Any]) -> NDArray[Any]:
    X.flags.writeable = False
    return X


@both
@pytest.mark.parametrize(
    "layout",
    ["read-only", "memory-mapped", "Fortran", "strided", "reversed", "unaligned",
     "read-only float32"],
)  # fmt: skip
def test_memory_layout_changes_nothing(estimator: Any, layout: str, tmp_path: Path) -> None:
    expected = estimator.fit(rows(), labels())
    tree, predicted = expected.tree_, expected.predict(rows())
    X = odd_layouts(tmp_path)[layout]
    assert estimator.fit(X, labels()).tree_.same_as(tree)
    assert np.array_equal(estimator.predict(X), predicted)


@both
@pytest.mark.parametrize(
    "form",
    [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.csc_array, sp.coo_array],
)
def test_any_sparse_form_gives_the_same_tree(estimator: Any, form: Any) -> None:
    X = rows()
    X[np.abs(X) < 0.7] = 0
    expected = estimator.fit(sp.csr_matrix(X), labels()).tree_
    assert estimator.fit(form(X), labels()).tree_.same_as(expected)
    assert estimator.predict(form(X)).shape == (N_ROWS,)


def messy_csr() -> tuple[sp.csr_array, NDArray[np.float64]]:
    """CSR with unsorted columns, a duplicate entry, a stored zero and 64-bit indices."""
    X = np.zeros((N_ROWS, N_COLUMNS))
    X[:, 0], X[:, 3] = rows()[:, 0], 3.0 * labels()
    indices = np.tile(np.array([3, 0, 3, 1], dtype=np.int64), N_ROWS)
    data = np.column_stack([X[:, 3] / 3, X[:, 0], X[:, 3] * 2 / 3, np.zeros(N_ROWS)]).ravel()
    indptr = np.arange(0, 4 * N_ROWS + 1, 4, dtype=np.int64)
    return sp.csr_array((data, indices, indptr), shape=X.shape), X


@both
def test_messy_csr_is_read_but_not_written(estimator: Any) -> None:
    messy, X = messy_csr()
    before = messy.copy()
    expected = estimator.fit(sp.csr_matrix(X), labels()).tree_
    assert estimator.fit(messy, labels()).tree_.same_as(expected)
    assert np.array_equal(messy.indices, before.indices)
    assert np.array_equal(messy.data, before.data)


@every
def test_read_only_csr_is_fitted(estimator: Any) -> None:
    X = sp.csr_matrix(rows().astype(np.float32))
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    assert estimator.fit(X, labels()).predict(X).shape == (N_ROWS,)


@both
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_fitted_with_their_names(estimator: Any, frame: Any) -> None:
    X = frame({name: rows()[:, i] for i, name in enumerate("abcd")})
    expected = estimator.fit(rows(), labels()).tree_
    assert estimator.fit(X, labels()).tree_.same_as(expected)
    assert estimator.feature_names_in_.tolist() == list("abcd")
    assert estimator.predict(X).shape == (N_ROWS,)


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
def test_input_is_never_written(estimator: Any) -> None:
    X, y, w = rows(), labels(), np.ones(N_ROWS)
    copies = X.copy(), y.copy(), w.copy()
    estimator.fit(X, y, sample_weight=w).predict(X)
    for array, copy in zip((X, y, w), copies, strict=True):
        assert np.array_equal(array, copy)


# --- forests --------------------------------------------------------------------------------


@forests
def test_constant_columns_get_no_weight_in_any_tree(estimator: Any) -> None:
    X = rows()
    X[:, 1] = 7.0
    estimator.fit(X, labels())
    assert all(1 not in tree.split_indices for tree in estimator.trees_)
    assert estimator.feature_importances_[1] == 0


@pytest.mark.parametrize("estimator", FORESTS[:2], ids=IDS_OF_FORESTS[:2])
def test_constant_columns_may_be_all_that_a_split_has(estimator: Any) -> None:
    X = np.hstack([np.ones((N_ROWS, 5)), rows()[:, :1]])
    for sampling in ("local", "global"):
        estimator.set_params(max_features=1, feature_sampling=sampling).fit(X, labels())
        assert np.isfinite(estimator.predict(X)).all()
        assert all(set(tree.split_indices) <= {5} for tree in estimator.trees_)
    estimator.set_params(max_features=None, feature_sampling="local")


@forests_of_any_scale
@pytest.mark.parametrize("factor", [1e30, 1e-30, 1e-44])
def test_huge_and_tiny_values_are_fitted_by_forests(estimator: Any, factor: float) -> None:
    X = rows() * factor
    predicted = estimator.fit(X, labels()).predict(X)
    assert np.isfinite(predicted).all()


@forests
def test_odd_layouts_give_the_same_forest(estimator: Any, tmp_path: Path) -> None:
    trees, predicted = estimator.fit(rows(), labels()).trees_, estimator.predict(rows())
    for X in odd_layouts(tmp_path).values():
        again = estimator.fit(X, labels()).trees_
        assert all(a.same_as(b) for a, b in zip(trees, again, strict=True))
        assert np.array_equal(estimator.predict(X), predicted)


@forests
def test_messy_csr_is_read_but_not_written_by_forests(estimator: Any) -> None:
    messy, X = messy_csr()
    before = messy.copy()
    trees = estimator.fit(X, labels()).trees_
    again = estimator.fit(messy, labels()).trees_
    assert all(a.same_as(b) for a, b in zip(trees, again, strict=True))
    assert np.array_equal(messy.indices, before.indices)
    assert np.array_equal(messy.data, before.data)


@forests
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_fitted_with_their_names_by_forests(estimator: Any, frame: Any) -> None:
    X = frame({name: rows()[:, i] for i, name in enumerate("abcd")})
    trees = estimator.fit(rows(), labels()).trees_
    again = estimator.fit(X, labels()).trees_
    assert all(a.same_as(b) for a, b in zip(trees, again, strict=True))
    assert estimator.feature_names_in_.tolist() == list("abcd")
    assert estimator.predict(X).shape == (N_ROWS,)


# --- the short way of plain arrays ----------------------------------------------------------


def told(estimator: Any, X: Any) -> Any:
    """Bits of the checked rows, or the error; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            checked = validation.check_rows(estimator, X)
        except (ValueError, TypeError) as error:
            result: Any = (type(error), str(error))
        else:
            if sp.issparse(checked):
                checked = checked.toarray()
            assert checked.dtype == np.float32
            assert checked.flags.c_contiguous
            assert checked.flags.aligned
            result = (checked.shape, checked.tobytes())
    return result, [(warning.category, str(warning.message)) for warning in caught]


def plain_and_other_rows() -> dict[str, Any]:
    X = rows()
    spaced = np.zeros((2 * N_ROWS, 3 * N_COLUMNS))
    spaced[::2, ::3] = X
    packed = np.zeros(N_ROWS, dtype=[("flag", "i1"), ("x", "f8", N_COLUMNS)])
    packed["x"] = X
    return {
        "float32": X.astype(np.float32),
        "float64": X,
        "float16": X.astype(np.float16),
        "longdouble": X.astype(np.longdouble),
        "big-endian": X.astype(">f8"),
        "int": X.astype(int),
        "bool": X > 0,
        "object": X.astype(object),
        "complex": X.astype(complex),
        "strings": X.astype(str),
        "words": np.full(X.shape, "red"),
        "Fortran": np.asfortranarray(X),
        "strided": spaced[::2, ::3],
        "unaligned": packed["x"],
        "read-only": _read_only(X.copy()),
        "one row": X[:1],
        "matrix": X.view(np.matrix),
        "masked": np.ma.masked_array(X, X > 9),
        "list": X.tolist(),
        "csr": sp.csr_matrix(X),
        "frame": pd.DataFrame(X),
        "named frame": pd.DataFrame(X, columns=list("abcd")),
        "nan": with_value(np.nan),
        "nan float32": with_value(np.nan).astype(np.float32),
        "inf": with_value(np.inf),
        "-inf": with_value(-np.inf),
        "nan and inf": np.where(np.eye(N_ROWS, N_COLUMNS) > 0, np.nan, with_value(np.inf)),
        "too large": with_value(1e40),
        "too small": with_value(-1e40),
        "tiny": with_value(1e-300),
        "largest": with_value(np.finfo(np.float32).max),
        "narrow": X[:, :3],
        "wide": np.hstack([X, X]),
        "no columns": X[:, :0],
        "no rows": X[:0],
        "no rows float32": X[:0].astype(np.float32),
        "one-dimensional": X[:, 0],
        "as many as columns": X[0],
        "three-dimensional": X[None],
        "number": np.float64(3.0),
        "None": None,
        "word": "rows",
    }


@pytest.mark.parametrize("has_names", [False, True])
@pytest.mark.parametrize("assumes_finite", [False, True])
@pytest.mark.parametrize("name", plain_and_other_rows())
def test_plain_arrays_are_judged_as_by_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, name: str, has_names: bool, assumes_finite: bool
) -> None:
    X = rows()
    trained = pd.DataFrame(X, columns=list("abcd")) if has_names else X
    estimator = TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(trained, labels())
    given = plain_and_other_rows()[name]
    with config_context(assume_finite=assumes_finite):
        found = told(estimator, given)
        monkeypatch.setattr(validation, "_is_plain", lambda *_: False)
        assert found == told(estimator, given)


def test_plain_arrays_take_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(rows(), labels())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("scikit-learn was asked")

    monkeypatch.setattr(validation, "validate_data", refuse)
    for X in (rows(), rows().astype(np.float32), np.asfortranarray(rows()), rows()[:1]):
        assert estimator.predict(X).shape == (len(X),)


def test_plain_float32_rows_are_not_copied() -> None:
    estimator = TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(rows(), labels())
    X = rows().astype(np.float32)
    assert np.shares_memory(validation.check_rows(estimator, X), X)
