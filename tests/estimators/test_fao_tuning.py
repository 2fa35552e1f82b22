"""The choice of alpha, of T against Q and of the iterations of FAO forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier

from spinney import FAOForestClassifier, FAOForestRegressor, tune_fao

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


def test_numbers_frames_and_sparse_rows() -> None:
    found = tune_fao(
        FAOForestRegressor(**SMALL, random_state=0), pd.DataFrame(XR), pd.Series(YR), alphas=[0.1]
    )
    assert found.best_estimator.score(pd.DataFrame(XR), YR) > 0.5
    assert [entry["n_trees"] for entry in found.table] == [4]
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
    ],
    ids=str,
)
def test_what_cannot_be_tried_is_refused(
    estimator: Any, values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tune_fao(estimator, X, Y, **values)
