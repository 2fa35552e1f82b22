"""Changes for forests: what is called exact is the least, what is not is near it."""

from __future__ import annotations

import time

import numpy as np
import pytest

from spinney import FAOForestClassifier, TAOForestClassifier, TAOForestRegressor, nearest_change
from spinney.inspection.explanations import proof
from tests.inspection.explanations.trees import as_voting_forest, tree_of
from tests.reference import least_change

BITS = {"max_iter": 3, "random_state": 0}


def data(n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, n_columns)).astype(np.float32)
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def voting():
    X, score = data()
    model = TAOForestClassifier(3, max_depth=2, voting="hard", bootstrap=True, **BITS)
    return model.fit(X, np.digitize(score, [-0.5, 0.6])), X


def summed():
    X, score = data(seed=1)
    return FAOForestClassifier(1, 3, max_depth=2, **BITS).fit(X, score > 0), X


def averaged():
    X, score = data(seed=2)
    return TAOForestRegressor(3, max_depth=2, bootstrap=True, **BITS).fit(X, score), X


def judge(model, x, is_wanted):
    """Least change by trying every combination of leaves."""
    readout = model._readout()
    trees = readout.forest.trees

    def meets(leaves):
        rows = [
            tree.leaf_values[tree.leaf_index[leaf]]
            for tree, leaf in zip(trees, leaves, strict=True)
        ]
        if readout.says == "label":
            rows = [np.eye(len(row))[row.argmax()] for row in rows]
        totals = sum(w * row for w, row in zip(readout.tree_weights, rows, strict=True))
        return is_wanted(readout.finished((totals + readout.offsets)[None, :])[0])

    return least_change(trees, meets, x.astype(np.float64))


def question(make, number):
    """A model, a row, what is asked of it, and what that means for the answer."""
    model, X = make()
    x = X[number]
    if not hasattr(model, "classes_"):
        low = float(model.predict(x[None])[0]) + 0.3
        return model, x, {"target": (low, None)}, lambda answer: answer[0] >= low
    present = int(np.flatnonzero(model.classes_ == model.predict(x[None])[0])[0])
    return model, x, {}, lambda answer: answer.argmax() != present


@pytest.mark.parametrize("make", [voting, summed, averaged])
@pytest.mark.parametrize("number", range(3))
def test_a_change_that_is_called_exact_is_the_least(make, number):
    model, x, options, is_wanted = question(make, number)
    change = nearest_change(model, x, scale=1.0, **options)
    assert change.is_exact
    assert change.cost == pytest.approx(judge(model, x, is_wanted), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("make", [voting, summed, averaged])
def test_without_a_proof_the_change_is_near_the_least(make, monkeypatch):
    proven = [nearest_change(q[0], q[1], scale=1.0, **q[2]) for q in _questions(make)]
    monkeypatch.setattr(proof, "MOST_PROGRAMMES", -1)
    found = [nearest_change(q[0], q[1], scale=1.0, **q[2]) for q in _questions(make)]
    assert all(one.is_exact for one in proven)
    assert not any(one.is_exact for one in found)
    ratios = [one.cost / least.cost for one, least in zip(found, proven, strict=True)]
    assert min(ratios) >= 1 - 1e-5
    assert np.mean(ratios) <= 1.05


def _questions(make):
    return [question(make, number) for number in range(4)]


def test_no_change_of_a_forest_is_proven_not_to_exist():
    # Two of three trees never say 1.
    never = tree_of([({0: 1.0}, 0.0)], [[1, 0], [1, 0]])
    always = tree_of([({0: 1.0}, 0.0)], [[1, 0], [0, 1]])
    change = nearest_change(as_voting_forest([never, never, always]), [-1.0])
    assert not change.is_found
    assert change.is_exact


def test_a_majority_is_enough():
    # Trees say 1 from 1, 2 and 5 on: two of three do from 2 on.
    trees = [tree_of([({0: 1.0}, -cut)], [[1, 0], [0, 1]]) for cut in (1.0, 2.0, 5.0)]
    change = nearest_change(as_voting_forest(trees), [0.0])
    assert change.changed[0] == pytest.approx(2.0, rel=1e-5)
    assert change.is_exact


def test_the_budget_is_kept():
    X, score = data(6, seed=3)
    model = TAOForestClassifier(20, max_depth=5, bootstrap=True, **BITS).fit(X, score > 0)
    begin = time.monotonic()
    change = nearest_change(model, X[0], scale=1.0, budget=0.2)
    assert time.monotonic() - begin < 2.0
    assert not change.is_exact or change.n_solved < proof.MOST_PROGRAMMES


def test_a_search_without_time_finds_nothing_and_says_so():
    model, X = voting()
    change = nearest_change(model, X[0], scale=1.0, budget=1e-9)
    assert not change.is_found
    assert not change.is_exact
    assert "one may exist" in change.reason


def test_rows_of_data_help_where_nothing_else_does():
    model, X = voting()
    change = nearest_change(model, X[0], data=X)
    said = model.predict(X)
    spread = X.std(axis=0)
    others = np.linalg.norm((X[said != said[0]] - X[0]) / spread, axis=1)
    assert change.cost <= others.min() + 1e-6
