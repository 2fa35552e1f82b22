"""Exports of models that read tables: categories, dates and missing values."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnx
import onnxruntime
import pytest

from spinney import (
    MissingValuesWarning,
    TAOForestClassifier,
    TAOTreeRegressor,
    refine_leaves,
    to_c,
    to_onnx,
    to_sklearn,
)
from tests.export.frames import encoded_by_c, run_onnx
from tests.export.programs import Program, build, compilers, needs_compiler

pandas = pytest.importorskip("pandas")

N_ROWS = 1200


def table(seed):
    """A frame with every kind of column; one name is that of an output."""
    rng = np.random.default_rng(seed)
    hours = pandas.to_timedelta(rng.integers(0, 9000, size=N_ROWS), unit="h")
    return pandas.DataFrame(
        {
            "label": np.where(rng.random(N_ROWS) < 0.1, np.nan, rng.normal(size=N_ROWS)),
            "text": rng.choice(["a", "b", "c ü", None], size=N_ROWS),
            "many": rng.choice([f"level {i}" for i in range(60)], size=N_ROWS),
            "code": pandas.Categorical(rng.choice([1.5, 2.5, 7.0], size=N_ROWS)),
            "codes": pandas.Categorical(rng.integers(0, 50, size=N_ROWS).astype(float)),
            "date": pandas.Timestamp("2020-01-01") + hours,
            "flag": rng.random(N_ROWS) < 0.5,
            "spinney/v0_0": rng.normal(size=N_ROWS),
        }
    )


@cache
def model():
    frame = table(0)
    score = frame["label"].fillna(0) + (frame["text"] == "a") + frame["codes"].astype(float) / 25
    forest = TAOForestClassifier(n_estimators=4, max_depth=4, max_iter=3, random_state=0)
    return forest.fit(frame, np.where(score > 1.3, "yes", "no"))


def unseen():
    """Rows with levels and holes that training did not have at these places."""
    frame = table(1)
    frame.loc[:50, "text"] = "new"
    frame.loc[20:90, "many"] = None
    frame["codes"] = frame["codes"].astype(float)
    frame.loc[30:60, "codes"] = 99.0
    frame.loc[50:70, "codes"] = np.nan
    return frame


def quiet(name, frame):
    """What the model says of rows with holes that training did not have."""
    with pytest.warns(MissingValuesWarning, match=r"\(many\) in 71 rows, .* in 21 rows;"):
        return getattr(model(), name)(frame)


def test_onnx_reads_the_columns_of_a_table():
    frame = unseen()
    exported = to_onnx(model())
    onnx.checker.check_model(exported, full_check=True)
    label, probabilities = run_onnx(exported, frame)
    assert np.count_nonzero(label != quiet("predict", frame)) == 0
    assert probabilities == pytest.approx(quiet("predict_proba", frame), rel=1e-6)


@needs_compiler
def test_c_reads_the_columns_of_a_table(tmp_path):
    frame = unseen()
    library = build(tmp_path, to_c(model()).text, next(iter(compilers().values())))
    rows = encoded_by_c(library, model().encoding_, frame)
    program = Program(library, "model", model())
    assert (model().classes_[program.classes(rows)] == quiet("predict", frame)).all()
    assert np.array_equal(program.numbers(rows, "predict_proba"), quiet("predict_proba", frame))


def test_refined_forests_read_the_columns_of_their_forest():
    frame = table(0)
    refined = refine_leaves(model(), frame, model().predict(frame))
    names = [described.name for described in to_onnx(refined).graph.input]
    assert names[:3] == ["label_", "text", "many"]
    assert "void model_encode(" in to_c(refined).text


def test_numbers_with_holes_are_one_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    tree = TAOTreeRegressor(max_depth=3, max_iter=3, random_state=0).fit(X, np.nan_to_num(X[:, 0]))
    session = onnxruntime.InferenceSession(to_onnx(tree, dtype="float64").SerializeToString())
    [value] = session.run(None, {"X": X.astype(np.float64)})
    assert np.array_equal(value, tree.predict(X))


def test_forests_of_scikit_learn_read_no_tables():
    with pytest.raises(ValueError, match="was fitted to a table"):
        to_sklearn(model())


def test_empty_texts_are_refused_by_onnx():
    frame = pandas.DataFrame({"a": ["", "b", "c", "c"]})
    tree = TAOForestClassifier(n_estimators=1, max_depth=1).fit(frame, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="empty text"):
        to_onnx(tree)


def test_texts_with_zeros_are_refused_by_c():
    frame = pandas.DataFrame({"a": ["\0", "b", "c", "c"]})
    tree = TAOForestClassifier(n_estimators=1, max_depth=1).fit(frame, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="ends at a zero"):
        to_c(tree)
