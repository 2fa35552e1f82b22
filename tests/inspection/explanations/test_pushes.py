"""What columns add to many rows is what `explain` says of each."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp

from spinney import TAOForestClassifier, explain
from spinney.inspection.explanations import pushes
from spinney.inspection.explanations.pushes import pushes_of
from spinney.inspection.fitted_model import fitted_model
from tests.compat.models import FORESTS, rows, small_model
from tests.inspection.explanations.test_tables import MODELS, table


@pytest.mark.parametrize("name", FORESTS)
def test_rows_of_numbers_get_what_explain_says(name):
    model = small_model(name)
    if hasattr(model, "feature_names_in_"):
        pytest.skip("told of tables below")
    coordinates = fitted_model(model).coordinates(rows()[:4])
    found = pushes_of(model, coordinates)
    assert found.error == 0
    for number in range(4):
        why = explain(model, rows()[number])
        told = {column.column: column.push for column in why.features}
        wanted = [told.get(f"x{k}", 0.0) for k in range(3)]
        np.testing.assert_allclose(found.of_rows[number], wanted, atol=1e-6)
        np.testing.assert_allclose(found.typical, why.typical_answer)


def test_rows_of_tables_have_one_push_a_column():
    frame, model = table()[:5], MODELS["forest"]
    found = pushes_of(model, fitted_model(model).coordinates(frame))
    assert found.of_rows.shape == (5, frame.shape[1])
    for number in range(5):
        for column in explain(model, frame[number : number + 1]).features:
            place = list(frame).index(column.column)
            assert found.of_rows[number, place] == pytest.approx(column.push, abs=1e-6)


def test_sparse_rows_get_what_dense_ones_do():
    model = small_model("tao_forest_classifier")
    X = rows()[:6].astype(np.float32)
    dense, sparse = pushes_of(model, X), pushes_of(model, sp.csr_matrix(X))
    np.testing.assert_array_equal(dense.of_rows, sparse.of_rows)


def test_fewer_orders_are_drawn_for_many_rows_and_none_for_too_many(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 20)).astype(np.float32)
    model = TAOForestClassifier(3, max_depth=3, random_state=0).fit(X, X.sum(axis=1) > 0)
    many = pushes_of(model, X[:20])
    monkeypatch.setattr(pushes, "MOST_WORK", (3 + 20 // 8) * 20 * 21 * 32)
    few = pushes_of(model, X[:20])
    assert few.error > many.error > 0
    shares = model.predict_proba(X[:20]).max(axis=1)
    best = model.predict_proba(X[:20]).argmax(axis=1)
    np.testing.assert_allclose(few.of_rows.sum(axis=1), shares - few.typical[best], atol=1e-6)
    assert pushes_of(model, X[:60]) is None


def test_models_without_a_typical_row_have_none():
    model = copy.copy(small_model("tao_tree_classifier"))
    del model.typical_
    assert pushes_of(model, rows().astype(np.float32)) is None
