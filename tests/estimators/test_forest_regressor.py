"""Behaviour of TAOForestRegressor, where it differs from the classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_regression
from sklearn.metrics import r2_score

from spinney import TAOForestRegressor
from spinney.algorithms.tao import optimize_tree
from spinney.data import as_rows
from spinney.tree.route import outputs
from tests import reference
from tests.spies import replace_everywhere

WAYS = [
    {},
    {"split": "axis"},
    {"leaf": "linear", "max_depth": 2},
    {"leaf": "linear", "leaf_penalty": "l2", "max_depth": 2},
    {"loss": "absolute_error"},
    {"loss": "huber", "huber_delta": 20.0},
    {"init": "balanced"},
    {"init": "cart"},
    {"init": "random_structure", "max_depth": 5},
    {"start": "same"},
    {"start": "previous", "alpha": (1.0, 0.01)},
    {"bootstrap": True},
    {"max_features": "D**0.5"},
    {"max_features": 3, "feature_sampling": "global"},
]
all_ways = pytest.mark.parametrize("values", WAYS, ids=str)


def noisy_task() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    X, Y = make_regression(150, 6, n_targets=2, noise=5.0, random_state=1)
    bend = 100 * np.abs(X[:, :1])  # no single hyperplane will do
    return X.astype(np.float32), Y + bend + [100.0, 0.0]


X, TWO = noisy_task()
ONE = TWO[:, 0]


def forest(**values: Any) -> TAOForestRegressor:
    defaults = {"n_estimators": 4, "max_depth": 3, "max_iter": 4, "random_state": 0}
    return TAOForestRegressor(**(defaults | values))


def same_forest(one: Any, two: Any) -> bool:
    return all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))


def answers(fitted: Any) -> list[NDArray[np.float64]]:
    return [outputs(tree, as_rows(X)) for tree in fitted.trees_]


# --- predictions ----------------------------------------------------------------------------


@all_ways
@pytest.mark.parametrize("y", [ONE, TWO], ids=["one", "two"])
def test_prediction_is_the_mean_of_the_trees(values: dict[str, Any], y: Any) -> None:
    fitted = forest(**values).fit(X, y)
    predicted = fitted.predict(X)
    assert predicted.shape == y.shape
    assert predicted.dtype == np.float64
    expected = np.mean(answers(fitted), axis=0)
    assert predicted.reshape(150, -1) == pytest.approx(expected, rel=1e-6, abs=1e-4)
    assert fitted.score(X, y) > 0.4
    assert fitted.n_outputs_ == (1 if y.ndim == 1 else 2)


def test_column_of_targets_is_one_output() -> None:
    column, flat = forest().fit(X, ONE[:, None]), forest().fit(X, ONE)
    assert same_forest(column, flat)
    assert column.predict(X).shape == (150,)


def test_leaves_and_paths_are_those_of_the_trees() -> None:
    fitted = forest().fit(X, TWO)
    leaves = fitted.apply(X)
    indicator, n_nodes_ptr = fitted.decision_path(X)
    for number, tree in enumerate(fitted.trees_):
        expected = reference.apply(tree, X, reference.score_of_products)
        assert np.array_equal(leaves[:, number], expected)
        part = indicator[:, n_nodes_ptr[number] : n_nodes_ptr[number + 1]]
        met = reference.decision_path(tree, X, reference.score_of_products)
        assert np.array_equal(part.toarray(), met)


def test_constant_target_is_predicted_exactly() -> None:
    fitted = forest().fit(X, np.full(150, 3.25))
    assert np.array_equal(fitted.predict(X), np.full(150, 3.25))
    assert not fitted.feature_importances_.any()


def test_one_row_is_fitted() -> None:
    for values in ({}, {"bootstrap": True}, {"leaf": "linear"}, {"max_features": 1}):
        assert forest(**values).fit([[1.0, 2.0]], [7.5]).predict([[0.0, 0.0]]) == pytest.approx(7.5)


def test_unit_of_the_targets_does_not_matter() -> None:
    one, thousand = forest().fit(X, ONE), forest().fit(X, 1024 * ONE)
    assert np.array_equal(one.apply(X), thousand.apply(X))
    assert thousand.predict(X) == pytest.approx(1024 * one.predict(X))


# --- fitted attributes ----------------------------------------------------------------------


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_sizes_are_sums_over_the_trees(leaf: str) -> None:
    fitted = forest(leaf=leaf).fit(X, TWO)
    trees = fitted.trees_
    assert len(fitted) == len(fitted.traces_) == 4
    assert fitted.n_parameters_ == sum(reference.count_parameters(tree) for tree in trees)
    met = [sum(reference.row_parameters(tree, x) for tree in trees) for x in X]
    assert fitted.flops_ == pytest.approx(np.mean(met))
    assert fitted.feature_importances_.shape == (6,)
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert (fitted.feature_importances_ >= 0).all()


@pytest.mark.parametrize("y", [ONE, TWO], ids=["one", "two"])
@pytest.mark.parametrize("values", [{}, {"bootstrap": True}, {"leaf": "linear"}], ids=str)
def test_out_of_bag_estimate_is_that_of_plain_loops(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], y: NDArray[np.float64]
) -> None:
    drawn = []

    def spy(problem: Any, start: Any, options: Any, callback: Any = None) -> Any:
        drawn.append(problem.sample_weight)
        return optimize_tree(problem, start, options, callback)

    replace_everywhere(monkeypatch, optimize_tree, spy)
    weights = np.random.default_rng(0).uniform(0.5, 2, 150)
    fitted = forest(n_estimators=8, max_samples=0.5, oob_score=True, **values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted.fit(X, y, sample_weight=weights)
    expected = reference.out_of_bag(answers(fitted), drawn)
    assert fitted.oob_prediction_.shape == y.shape
    found = fitted.oob_prediction_.reshape(150, -1)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-4, nan_ok=True)
    judged = ~np.isnan(expected[:, 0])
    score = r2_score(y[judged], expected.reshape(y.shape)[judged], sample_weight=weights[judged])
    assert fitted.oob_score_ == pytest.approx(score, abs=1e-6)


def test_rows_that_every_tree_saw_are_nan_with_a_warning() -> None:
    fitted = forest(n_estimators=2, max_samples=0.5, oob_score=True)
    with pytest.warns(UserWarning, match=r"of 150 rows were seen by every tree .*; try more trees"):
        fitted.fit(X, ONE)
    assert 0 < np.isnan(fitted.oob_prediction_).sum() < 100


def test_out_of_bag_estimate_needs_rows_left_out() -> None:
    with pytest.raises(ValueError, match=r"every tree sees all 150 rows; leave some out; try"):
        forest(max_samples=1.0, oob_score=True).fit(X, ONE)


def test_fit_without_out_of_bag_estimate_forgets_the_last_one() -> None:
    fitted = forest(n_estimators=20, max_iter=2, max_samples=0.3, oob_score=True).fit(X, ONE)
    fitted.set_params(oob_score=False).fit(X, TWO)
    assert not hasattr(fitted, "oob_score_")
    assert not hasattr(fitted, "oob_prediction_")


# --- the same forest, bit for bit -----------------------------------------------------------


# --- warm start and copies ------------------------------------------------------------------
