"""One row, a batch, a compiled model and any container of rows are answered with the same bits."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from tests.bits import same
from tests.contracts.cases import FRAME, Case, named, said
from tests.contracts.served import SERVED, fitted, rows_for
from tests.contracts.ways import EACH, WAYS

METHODS = [
    "predict", "predict_proba", "predict_log_proba", "decision_function", "apply", "decision_path",
    "staged_predict", "staged_predict_proba", "compile",
]  # fmt: skip


@named(WAYS)
def test_batches_and_single_rows_are_answered_as_the_whole(case: Case) -> None:
    model, X = case.fit(), case.data[0]
    for name, whole in said(model, X).items():
        method = getattr(model, name)
        batches = [method(X[start : start + 37]) for start in range(0, len(X), 37)]
        assert same(np.concatenate(batches), whole), name
        assert all(same(method(X[row : row + 1])[0], whole[row]) for row in range(0, len(X), 7))


@named(WAYS)
def test_compiled_models_answer_with_the_same_bits(case: Case) -> None:
    model, X = case.fit(), case.data[0]
    compiled = model.compile()
    wanted = model.predict(X)
    assert same(compiled(X), wanted)
    assert all(np.array_equal(compiled(X[row]), wanted[row]) for row in range(0, len(X), 7))
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert same(compiled.predict_proba(X), shares)
        assert all(same(compiled.predict_proba(X[row]), shares[row]) for row in range(0, 150, 7))
    again = pickle.loads(pickle.dumps(compiled))
    assert same(again(X), wanted)


@pytest.mark.parametrize("name", SERVED)
def test_served_models_are_compiled_to_the_same_bits(name: str) -> None:
    model, X = fitted(name), rows_for(name)
    compiled = model.compile()
    wanted = model.predict(X)
    assert same(compiled(X), wanted)
    assert all(np.array_equal(compiled(X[row]), wanted[row]) for row in range(40))
    if hasattr(model, "predict_proba"):
        assert same(compiled.predict_proba(X), model.predict_proba(X))
        assert same(compiled.predict_proba(X[3]), model.predict_proba(X[3:4])[0])


@named(EACH)
def test_rows_of_a_frame_are_answered_one_by_one(case: Case) -> None:
    frame, y = FRAME
    if "forest" in case.estimator.get_params(deep=False):
        kind = type(case.estimator.forest)
        case = case.with_values(forest=kind(3, max_depth=3, random_state=0).fit(frame, y))
    model = case.new().fit(frame, y)
    for name, whole in said(model, frame).items():
        for row in range(0, len(frame), 9):
            assert same(getattr(model, name)(frame.iloc[row : row + 1])[0], whole[row]), name
    compiled = model.compile()
    wanted = model.predict(frame)
    assert same(compiled(frame), wanted)
    assert all(np.array_equal(compiled(frame.iloc[row]), wanted[row]) for row in range(0, 90, 9))
    assert np.array_equal(compiled(frame.iloc[4].to_dict()), wanted[4])


@named(EACH)
def test_what_is_not_fitted_says_so(case: Case) -> None:
    model = case.new()
    for name in METHODS:
        if hasattr(type(model), name):
            arguments: list[Any] = [] if name == "compile" else [case.data[0]]
            with pytest.raises(NotFittedError, match="not fitted"):
                list(getattr(model, name)(*arguments))
