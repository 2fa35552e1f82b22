"""to_onnx against onnxruntime, on every estimator."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import MissingValuesWarning, TAOForestClassifier, TAOTreeClassifier, to_onnx
from spinney.export.export_forest import export_forest
from spinney.export.onnx.leaves import choose_encoding
from spinney.tree.forest import Forest
from tests.compat.models import small_model
from tests.contracts.served import SERVED, fitted, rows_for, with_holes
from tests.export.trees import as_regressor, integer_rows, integer_tree, on_hyperplanes


def run(model, X, **options):
    """Outputs of an exported model by name."""
    exported = to_onnx(model, **options)
    onnx.checker.check_model(exported, full_check=True)
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    given = X.astype(options.get("dtype", "float32"))
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": given}), strict=True))


# In a hurry each model is asked in one of the three ways.
CASES = [
    pytest.param(name, encoding, dtype, marks=[] if number % 3 == place else pytest.mark.slow)
    for number, name in enumerate(SERVED)
    for place, (encoding, dtype) in enumerate(
        (("gather", "float64"), ("gemm", "float64"), ("auto", "float32"))
    )
]


@pytest.mark.parametrize(("name", "encoding", "dtype"), CASES)
def test_exported_models_predict_the_same(name, encoding, dtype):
    model, X = fitted(name), rows_for(name)
    found = run(model, X, encoding=encoding, dtype=dtype)
    tolerance = {"rel": 1e-11, "abs": 1e-13} if dtype == "float64" else {"rel": 2e-7, "abs": 1e-30}
    if "value" in found:
        wanted = model.predict(X)
        assert found["value"].shape == wanted.shape
        assert found["value"] == pytest.approx(wanted.astype(dtype), **tolerance)
        return
    assert np.count_nonzero(found["label"] != model.predict(X)) == 0
    assert found["probabilities"] == pytest.approx(
        model.predict_proba(X).astype(dtype), **tolerance
    )


@pytest.mark.parametrize("encoding", ["gather", "gemm"])
@pytest.mark.parametrize("name", ["wide linear tree", "samme", "fao regressor", "ho"])
def test_missing_values_are_filled_as_by_the_library(name, encoding):
    model, X = fitted(name), with_holes(rows_for(name))
    found = run(model, X, encoding=encoding)
    with pytest.warns(MissingValuesWarning):
        wanted = model.predict(X)
    if "label" in found:
        assert np.array_equal(found["label"], wanted)
    else:
        assert found["value"] == pytest.approx(wanted, rel=2e-7)


def test_a_batch_of_one_row_and_of_none_can_be_asked():
    model, X = fitted("soft linear forest"), rows_for("soft linear forest")
    for encoding in ("gather", "gemm"):
        assert run(model, X[:1], encoding=encoding)["label"].tolist() == [model.predict(X[:1])[0]]
        assert run(model, X[:0], encoding=encoding)["label"].shape == (0,)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), n_columns=st.sampled_from([1, 3, 8, 17, 33, 70]))
def test_rows_on_hyperplanes_go_where_the_library_sends_them(seed, n_columns):
    tree = integer_tree(depth=3, n_columns=n_columns, seed=seed)
    X = on_hyperplanes(tree, integer_rows(200, n_columns, seed))
    model = as_regressor(tree)
    for encoding in ("gather", "gemm"):
        assert run(model, X, encoding=encoding)["value"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("encoding", ["gather", "gemm"])
@pytest.mark.parametrize("n_columns", [7, 16, 40, 100])
def test_rows_within_rounding_of_hyperplanes_go_where_the_library_sends_them(n_columns, encoding):
    # The last column moves each row next to the root's hyperplane, where only rounding decides.
    rng = np.random.default_rng(n_columns)
    tree = integer_tree(depth=2, n_columns=n_columns, seed=0, weights=rng.normal)
    X = on_hyperplanes(tree, rng.normal(size=(4000, n_columns)).astype(np.float32))
    model = as_regressor(tree)
    exact = X.astype(np.float64) @ tree.split_weights[:n_columns] + tree.bias[0]
    is_right = model.predict(X) >= 2
    assert np.count_nonzero((exact >= 0) != is_right) > 20  # rounding does decide
    assert run(model, X, encoding=encoding)["value"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("encoding", ["gather", "gemm"])
def test_sums_that_overflow_go_where_the_library_sends_them(encoding):
    tree = integer_tree(depth=3, n_columns=40, seed=3)
    X = (integer_rows(500, 40, 1) * np.float32(1e37)).astype(np.float32)
    model = as_regressor(tree)
    assert run(model, X, encoding=encoding)["value"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("name", ["linear tree regressor", "linear forest regressor"])
def test_scores_of_linear_leaves_that_overflow_are_formed_in_double(name):
    model, X = fitted(name), rows_for(name)[:500]
    huge = np.sign(X) * np.float32(3e38)
    assert np.abs(model.predict(huge)).max() > np.finfo(np.float32).max
    found = run(model, huge, dtype="float64")["value"]
    assert np.isfinite(found).all()
    assert found == pytest.approx(model.predict(huge), rel=1e-6)


def test_shallow_forests_multiply_and_deep_ones_gather():
    shallow = Forest((integer_tree(depth=4, n_columns=5, seed=0),) * 3)
    deep = Forest((integer_tree(depth=10, n_columns=5, seed=0),) * 3)
    assert choose_encoding(export_forest(shallow)) == "gemm"
    assert choose_encoding(export_forest(deep)) == "gather"
    assert choose_encoding(export_forest(fitted("axis tree")._readout().forest)) == "axis"


def test_float64_rows_are_read_as_float32():
    model, X = fitted("hard forest"), rows_for("hard forest").astype(np.float64)
    X *= 1 + 1e-9
    assert (run(model, X, dtype="float64")["label"] == model.predict(X)).all()


def test_only_standard_operators_are_used():
    for encoding in ("gather", "gemm"):
        model = to_onnx(fitted("soft forest"), encoding=encoding)
        assert {opset.domain for opset in model.opset_import} <= {"", "ai.onnx.ml"}


def test_labels_of_several_kinds_are_refused():
    model = TAOTreeClassifier(max_depth=1).fit([[0.0], [1.0]], np.array(["a", "b"], dtype=object))
    model.classes_ = np.array(["a", 1], dtype=object)
    with pytest.raises(ValueError, match="several kinds"):
        to_onnx(model)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"dtype": "float16"}, "dtype="), ({"encoding": "axis"}, 'encoding="axis" but')],
)
def test_bad_options_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        to_onnx(fitted("hard forest"), **options)


def test_models_that_are_none_are_refused():
    with pytest.raises(TypeError, match="no tree or forest of spinney"):
        to_onnx(object())
    with pytest.raises(TypeError, match=r"PixelLabeler is no tree .* try model\.estimator_\."):
        to_onnx(small_model("pixel_labeler"))
    with pytest.raises(ValueError, match="not fitted"):
        to_onnx(TAOForestClassifier())


def test_without_onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"spinney\[onnx\]"):
        to_onnx(fitted("tree"))
