"""Probabilities sum to 1 and agree with labels and decisions; the map leaves none at 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.contracts.cases import NOISY_CLASSES, Case, named
from tests.contracts.served import SERVED
from tests.contracts.ways import EACH, WAYS

X, Y = NOISY_CLASSES


def check_probabilities(model: Any, rows: Any) -> None:
    shares = model.predict_proba(rows)
    assert shares.shape == (len(rows), len(model.classes_))
    assert shares.dtype == np.float64
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    if not is_rejecting(model):
        # Votes that differ in the last bit may be the same probability.
        predicted = np.searchsorted(model.classes_, model.predict(rows))
        assert np.array_equal(shares[np.arange(len(rows)), predicted], shares.max(axis=1))
    with np.errstate(divide="ignore"):
        assert np.allclose(model.predict_log_proba(rows), np.log(shares))


def is_rejecting(model: Any) -> bool:
    return getattr(model, "on_tie", "") == "reject"


@named(WAYS, classes=True)
def test_probabilities_agree_with_labels(case: Case) -> None:
    model = case.fit()
    for rows in (X, 10 * X, np.zeros((3, 9))):
        check_probabilities(model, rows)


@named(WAYS, having="calibrate")
def test_no_probability_is_zero_with_the_map(case: Case) -> None:
    model = case.fit(calibrate=True)
    for rows in (X, 10 * X):
        assert (model.predict_proba(rows) > 0).all()
        assert np.isfinite(model.predict_log_proba(rows)).all()


@named(WAYS, having="calibrate")
def test_the_map_changes_no_tree_and_no_label(case: Case) -> None:
    mapped, plain = case.fit(calibrate=True), case.fit(calibrate=False)
    assert all(a.same_as(b) for a, b in zip(mapped.trees_, plain.trees_, strict=True))
    assert mapped.predict(X).tolist() == plain.predict(X).tolist()
    check_probabilities(plain, X)


@named(SERVED, classes=True)
def test_probabilities_of_served_models_agree_with_labels(case: Case) -> None:
    check_probabilities(case.fit(), case.data[0])


@named({n: c for n, c in EACH.items() if hasattr(c.estimator, "decision_function")})
def test_decisions_agree_with_labels(case: Case) -> None:
    model = case.fit()
    best = model.decision_function(X).argmax(axis=1)
    assert model.predict(X).tolist() == model.classes_[best].tolist()


@named(EACH, classes=True)
@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]], ids=str)
def test_two_classes_of_any_kind_keep_their_labels(case: Case, labels: list[Any]) -> None:
    y = np.array(labels)[(Y == "oak").astype(int)]
    if "forest" in case.estimator.get_params(deep=False):
        kind = type(case.estimator.forest)
        case = case.with_values(forest=kind(3, max_depth=3, random_state=0).fit(X, y))
    model = case.new().fit(X, y)
    assert model.classes_.tolist() == labels
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.75
    assert model.predict_proba(X).shape == (150, 2)
    if hasattr(model, "decision_function"):
        decision = model.decision_function(X)
        assert decision.shape == (150,)
        assert np.array_equal(model.predict(X), np.array(labels)[(decision > 0).astype(int)])


@named(EACH, classes=True)
def test_a_class_without_weight_keeps_its_column(case: Case) -> None:
    model = case.new().fit(X, Y, sample_weight=(Y != "elm").astype(float))
    assert model.classes_.tolist() == ["ash", "elm", "oak"]
    shares = model.predict_proba(X)
    assert shares.shape == (150, 3)
    assert not (model.predict(X) == "elm").any()
    assert (shares[:, 1] <= shares[:, [0, 2]].max(axis=1)).all()
