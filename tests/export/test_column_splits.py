"""Exports of trees whose splits ask one column of a table for a set, or a number and its flag."""

from __future__ import annotations

import numpy as np
import pytest

from spinney import MissingValuesWarning, load, save, to_c, to_onnx, to_sklearn
from spinney.tree.importance import split_importances
from tests.column_trees import (
    EVERY_KIND,
    column_tree,
    forest_model,
    set_of,
    table,
    tree_model,
    unseen_rows,
)
from tests.export.frames import encoded_by_c, run_onnx
from tests.export.programs import Program, build, compilers, needs_compiler

pytestmark = pytest.mark.filterwarnings("ignore::spinney.MissingValuesWarning")

ONE_WEIGHT = column_tree([({"size": 1.0}, 0.0)])
MODELS = {
    "tree": tree_model(*EVERY_KIND),
    "forest": forest_model(column_tree(EVERY_KIND), ONE_WEIGHT, column_tree(EVERY_KIND[::-1])),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


@each_model
@pytest.mark.parametrize("encoding", ["auto", "gather", "gemm"])
def test_onnx_sends_rows_where_the_model_does(model, encoding):
    frame = unseen_rows()
    label, probabilities = run_onnx(to_onnx(model, encoding=encoding), frame)
    assert (label == model.predict(frame)).all()
    assert probabilities == pytest.approx(model.predict_proba(frame), rel=1e-6)


@each_model
def test_onnx_trees_of_one_weight_a_split_cannot_hold_sets(model):
    with pytest.raises(ValueError, match=r'some splits have several weights; give "gather" .* try'):
        to_onnx(model, encoding="axis")


@needs_compiler
@each_model
def test_c_sends_rows_where_the_model_does(model, tmp_path):
    frame = unseen_rows()
    library = build(tmp_path, to_c(model).text, next(iter(compilers().values())))
    rows = encoded_by_c(library, model.encoding_, frame)
    program = Program(library, "model", model)
    assert (model.classes_[program.classes(rows)] == model.predict(frame)).all()
    assert np.array_equal(program.numbers(rows, "predict_proba"), model.predict_proba(frame))


@each_model
def test_single_rows_and_files_say_the_same(model, tmp_path):
    frame = unseen_rows().iloc[:60]
    path = tmp_path / "model.spinney"
    save(model, path)
    assert np.array_equal(load(path).predict_proba(frame), model.predict_proba(frame))
    compiled = model.compile()
    rows = frame.astype(object).where(frame.notna(), None)
    said = [compiled.predict(row.to_dict()) for _, row in rows.iterrows()]
    assert said == model.predict(frame).tolist()


def test_forests_of_scikit_learn_have_no_such_splits():
    with pytest.raises(ValueError, match=r"was fitted to a table .* try"):
        to_sklearn(tree_model(set_of("color = blue", "color = red")))


def test_shares_of_columns_sum_over_the_weights_of_a_set():
    frame = table()
    model = tree_model(set_of("color = blue", "color = red"))
    rows = model._checked_rows(frame)
    shares = split_importances(model.tree_, np.array([300.0, 300.0]), rows.std(axis=0))
    by_column = model._of_columns(shares)
    assert by_column[list(frame).index("color")] == pytest.approx(1.0)
    assert by_column.sum() == pytest.approx(1.0)


def test_holes_are_told_where_training_had_none():
    with pytest.warns(MissingValuesWarning):
        MODELS["tree"].predict(table().assign(size=np.nan))
