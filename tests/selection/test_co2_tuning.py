"""The choice of q, ν and η of CO2 forests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit

from spinney import CO2ForestClassifier, CO2ForestRegressor, GreedyForestClassifier, tune_co2
from spinney.selection.held_out import hold_out

pytestmark = pytest.mark.filterwarnings("ignore:tune_co2 will be gone")

X, Y = make_classification(150, 6, n_informative=4, n_classes=3, random_state=0)
XR, YR = make_regression(150, 6, noise=3.0, random_state=0)
FEW: dict[str, Any] = {"n_trees": 2, "n_axis_trees": 3}
ONE: dict[str, Any] = {"max_features": [3], "max_norms": [10.0], "learning_rates": [0.03], **FEW}


def forest(**values: Any) -> CO2ForestClassifier:
    return CO2ForestClassifier(**({"n_estimators": 3, "max_epochs": 5, "random_state": 0} | values))


def test_columns_are_chosen_by_random_forests_and_the_rest_by_co2() -> None:
    found = tune_co2(
        forest(),
        X,
        Y,
        max_features=[1, 6],
        max_norms=[1.0, 10.0],
        learning_rates=[0.1, 0.01],
        **FEW,
    )
    of_axis, of_co2 = found.table[:2], found.table[2:]
    assert [entry["max_features"] for entry in of_axis] == [1, 6]
    assert [(entry["max_norm"], entry["learning_rate"]) for entry in of_co2] == [
        (1.0, 0.1),
        (1.0, 0.01),
        (10.0, 0.1),
        (10.0, 0.01),
    ]
    best_axis = max(of_axis, key=lambda entry: entry["score"])
    best_co2 = max(of_co2, key=lambda entry: entry["score"])
    assert found.best_params == {
        "max_features": best_axis["max_features"],
        "max_norm": best_co2["max_norm"],
        "learning_rate": best_co2["learning_rate"],
    }
    again = forest(**found.best_params).fit(X, Y)
    assert all(a.same_as(b) for a, b in zip(again.trees_, found.best_estimator.trees_, strict=True))


def test_scores_are_those_of_held_out_rows() -> None:
    found = tune_co2(forest(), X, Y, **ONE)
    rows = hold_out(forest(), X, Y, None, 0.2)
    assert len(rows.y_held) == 30
    axis = GreedyForestClassifier(3, max_features=3, random_state=0).fit(rows.X_fit, rows.y_fit)
    assert found.table[0]["score"] == axis.score(rows.X_held, rows.y_held)
    values = {"max_features": 3, "max_norm": 10.0, "learning_rate": 0.03}
    trial = forest(n_estimators=2, **values).fit(rows.X_fit, rows.y_fit)
    assert found.table[1]["score"] == trial.score(rows.X_held, rows.y_held)


def test_the_grid_of_the_paper_is_the_default() -> None:
    found = tune_co2(forest(max_epochs=1, max_depth=1), X, Y, n_trees=1, n_axis_trees=1)
    assert len(found.table) == 5 + 6 * 3
    assert {entry["max_norm"] for entry in found.table[5:]} == {0.1, 1.0, 4.0, 10.0, 43.0, 100.0}
    assert {entry["learning_rate"] for entry in found.table[5:]} == {0.03, 0.01, 0.003}


def test_numbers_frames_and_sparse_rows() -> None:
    regressor = CO2ForestRegressor(3, max_epochs=5, random_state=0)
    found = tune_co2(regressor, pd.DataFrame(XR), pd.Series(YR), **ONE)
    assert found.best_estimator.score(pd.DataFrame(XR), YR) > 0.5
    sparse = tune_co2(forest(), sp.csr_matrix(X), Y, **ONE)
    dense = tune_co2(forest(), X, Y, **ONE)
    assert sparse.table == dense.table


def test_weights_reach_the_trials() -> None:
    weights = (Y > 0).astype(float)
    found = tune_co2(forest(), X, Y, sample_weight=weights, **ONE)
    assert (found.best_estimator.predict(X) > 0).all()


def test_rows_without_weight_do_not_judge() -> None:
    wrong = np.concatenate([Y, (Y + 1) % 3])
    weights = np.repeat([1.0, 0.0], len(Y))
    found = tune_co2(forest(), np.concatenate([X, X]), wrong, sample_weight=weights, **ONE)
    assert found.table == tune_co2(forest(), X, Y, **ONE).table


def test_the_estimator_is_not_changed() -> None:
    given = forest()
    before = given.get_params()
    tune_co2(given, X, Y, **ONE)
    assert given.get_params() == before
    assert not hasattr(given, "forest_")
    assert np.isfinite(before["max_norm"])


@pytest.mark.parametrize(
    ("estimator", "values", "error", "message"),
    [
        (RandomForestClassifier(), {}, TypeError, "is no CO2 forest; give .* try"),
        (forest(), {"max_features": []}, ValueError, "max_features is empty; give .* try"),
        (forest(), {"max_norms": []}, ValueError, "max_norms is empty; give .* try"),
        (forest(), {"max_norms": [0.0]}, ValueError, "max_norms=0.0"),
        (forest(), {"learning_rates": ["a"]}, TypeError, "learning_rates='a'"),
        (forest(), {"learning_rates": [1000.0]}, ValueError, "learning_rate=1000.0"),
        (forest(), {"max_features": [2, 99]}, ValueError, "max_features=99 with 6 columns"),
        (forest(), {"n_trees": 0}, ValueError, "n_trees=0"),
        (forest(), {"n_axis_trees": 1.5}, TypeError, "n_axis_trees=1.5"),
        (forest(), {"validation_fraction": 1.0}, ValueError, "validation_fraction=1.0"),
    ],
    ids=str,
)
def test_what_cannot_be_tried_is_refused(
    estimator: Any, values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tune_co2(estimator, X, Y, **{**ONE, **values})


def test_two_searches_of_scikit_learn_find_the_same() -> None:
    with pytest.warns(FutureWarning, match="tune_co2 will be gone in 0.4; give GridSearchCV"):
        found = tune_co2(
            forest(),
            X,
            Y,
            max_features=[1, 3, 6],
            max_norms=[1.0, 10.0],
            learning_rates=[0.1, 0.01],
            **FEW,
        )
    held_out = StratifiedShuffleSplit(1, test_size=0.2, random_state=0)
    axis = GreedyForestClassifier(3, random_state=0)
    columns = GridSearchCV(axis, {"max_features": [1, 3, 6]}, cv=held_out).fit(X, Y)
    few = forest(n_estimators=2, **columns.best_params_)
    grid = {"max_norm": [1.0, 10.0], "learning_rate": [0.1, 0.01]}
    search = GridSearchCV(few, grid, cv=held_out).fit(X, Y)
    assert found.best_params == columns.best_params_ | search.best_params_
    scores = [*columns.cv_results_["mean_test_score"], *search.cv_results_["mean_test_score"]]
    assert sorted(scores) == pytest.approx(sorted(entry["score"] for entry in found.table))
