"""The choice of alpha, of T against Q and of the iterations of FAO forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier

from spinney import FAOForestClassifier, FAOForestRegressor, tune_fao
from spinney.selection.held_out import hold_out

X, Y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
XR, YR = make_regression(200, 6, noise=3.0, random_state=0)
SMALL: dict[str, Any] = {"n_forests": 2, "n_trees": 2, "max_depth": 2, "max_iter": 4}


def forest(**values: Any) -> FAOForestClassifier:
    return FAOForestClassifier(**(SMALL | {"random_state": 0} | values))


def test_every_pair_is_tried_and_the_best_is_fitted_to_all_rows() -> None:
    found = tune_fao(forest(tol=0), X, Y, alphas=[0.1, 1.0], trees_per_forest=[1, 2, 4])
    tried = [(entry["alpha"], entry["n_trees"], entry["n_forests"]) for entry in found.table]
    assert tried == [(a, t, 4 // t) for a in (0.1, 1.0) for t in (1, 2, 4)]
    best = min(found.table, key=lambda entry: entry["loss"])
    assert found.best_params == {
        name: best[name] for name in ("alpha", "n_trees", "n_forests", "max_iter")
    }
    assert all(entry["loss"] == min(entry["losses"]) for entry in found.table)
    assert all(entry["max_iter"] == np.argmin(entry["losses"]) + 1 for entry in found.table)
    again = forest(tol=0, **found.best_params).fit(X, Y)
    assert np.array_equal(again.decision_function(X), found.best_estimator.decision_function(X))


def test_alpha_may_be_chosen_on_one_tree() -> None:
    values: dict[str, Any] = {"alphas": [0.1, 1.0, 10.0], "trees_per_forest": [2, 4]}
    found = tune_fao(forest(tol=0), X, Y, alpha_on="tree", **values)
    tried = [(entry["alpha"], entry["n_trees"], entry["n_forests"]) for entry in found.table]
    best = min(found.table[:3], key=lambda entry: entry["loss"])["alpha"]
    assert tried == [(0.1, 1, 1), (1.0, 1, 1), (10.0, 1, 1), (best, 2, 2), (best, 4, 1)]
    # Trials of forests are those of the full search, and one of them is chosen.
    full = tune_fao(forest(tol=0), X, Y, **values).table
    for entry in found.table[3:]:
        assert any(entry["loss"] == other["loss"] for other in full)
    assert found.best_params["n_trees"] in (2, 4)


def test_numbers_frames_and_sparse_rows() -> None:
    found = tune_fao(
        FAOForestRegressor(**SMALL, random_state=0), pd.DataFrame(XR), pd.Series(YR), alphas=[0.1]
    )
    assert found.best_estimator.score(pd.DataFrame(XR), YR) > 0.5
    assert [entry["n_trees"] for entry in found.table] == [2, 4]
    sparse = tune_fao(forest(), sp.csr_matrix(X), Y, alphas=[0.1], trees_per_forest=[2])
    dense = tune_fao(forest(), X, Y, alphas=[0.1], trees_per_forest=[2])
    assert sparse.table[0]["loss"] == dense.table[0]["loss"]


def test_weights_reach_the_trials() -> None:
    weights = (Y > 0).astype(float)
    found = tune_fao(forest(), X, Y, alphas=[0.1], trees_per_forest=[2], sample_weight=weights)
    assert (found.best_estimator.predict(X) > 0).mean() > 0.95


def test_default_values_surround_those_of_the_estimator() -> None:
    found = tune_fao(forest(n_forests=2, n_trees=5, max_iter=1, alpha=0.2), X, Y)
    assert sorted({entry["alpha"] for entry in found.table}) == pytest.approx([0.06, 0.2, 0.6])
    assert sorted({entry["n_trees"] for entry in found.table}) == [5, 10]


def test_the_shape_of_the_estimator_is_tried_and_no_alpha_twice() -> None:
    estimator = FAOForestRegressor(3, 4, max_depth=2, max_iter=1, alpha=0.0, random_state=0)
    found = tune_fao(estimator, XR, YR)
    tried = [(entry["alpha"], entry["n_trees"], entry["n_forests"]) for entry in found.table]
    assert tried == [(0.0, 4, 3), (0.0, 12, 1)]


def test_trials_are_judged_by_the_weights_of_rows() -> None:
    weights = np.random.default_rng(0).choice([1.0, 50.0], len(YR))
    estimator = FAOForestRegressor(**SMALL, tol=0, random_state=0)
    found = tune_fao(estimator, XR, YR, alphas=[0.1], trees_per_forest=[2], sample_weight=weights)
    rows = hold_out(estimator, XR, YR, weights, 0.2)
    (entry,) = found.table
    again = clone(estimator).set_params(max_iter=entry["max_iter"])
    gaps = again.fit(rows.X_fit, rows.y_fit, rows.weights).predict(rows.X_held) - rows.y_held
    assert entry["loss"] == pytest.approx(np.average(gaps**2, weights=rows.weights_held))


@pytest.mark.parametrize("schedule", [{"max_weights": 2}, {"average_last": 3}], ids=str)
def test_runs_that_follow_a_schedule_are_judged_at_their_end(schedule: dict[str, Any]) -> None:
    estimator = forest(max_iter=6, tol=0, early_stopping=True, **schedule)
    found = tune_fao(estimator, X, Y, alphas=[0.1, 1.0], trees_per_forest=[2])
    assert [entry["max_iter"] for entry in found.table] == [6, 6]
    assert all(entry["loss"] == entry["losses"][-1] for entry in found.table)
    rows = hold_out(estimator, X, Y, None, 0.2)
    again = forest(max_iter=6, tol=0, alpha=0.1, **schedule).fit(rows.X_fit, rows.y_fit)
    assert found.table[0]["score"] == again.score(rows.X_held, rows.y_held)


@pytest.mark.parametrize(
    ("estimator", "values", "error", "message"),
    [
        (RandomForestClassifier(), {}, TypeError, "is no FAO forest; give .* try"),
        (forest(), {"alphas": []}, ValueError, "alphas is empty; give .* try"),
        (forest(), {"alphas": [-1.0]}, ValueError, "alpha=-1.0"),
        (forest(), {"trees_per_forest": [3]}, ValueError, "holds 3, but 4 trees .* try"),
        (forest(), {"trees_per_forest": [0]}, ValueError, "trees_per_forest=0"),
        (forest(), {"trees_per_forest": [2.0]}, TypeError, "trees_per_forest=2.0"),
        (forest(), {"validation_fraction": 0.0}, ValueError, "validation_fraction=0.0"),
        (forest(n_trees=0), {}, ValueError, "n_trees=0"),
        (forest(), {"alpha_on": "trees"}, ValueError, "alpha_on='trees'"),
    ],
    ids=str,
)
def test_what_cannot_be_tried_is_refused(
    estimator: Any, values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tune_fao(estimator, X, Y, **values)
