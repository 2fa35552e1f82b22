"""Splits with a limit on their number of weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from spinney import TAOBoostClassifier, TAOForestClassifier, TAOTreeClassifier, TAOTreeRegressor
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.algorithms.weight_limits import TIGHTENING
from spinney.data import classification_problem, regression_problem
from spinney.tree import complete_topology

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def wide_rows(density):
    """More columns than Newton steps are taken for, few of them told apart by the classes."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 200, size=(300, 90)) * (rng.random((300, 90)) < density)
    classes = (rows[:, 3] + rows[:, 40] > rows[:, 60]).astype(np.int32)
    return rows.astype(np.float32), classes


def most_weights(tree):
    return int(np.diff(tree.split_indptr).max())


@pytest.mark.parametrize("limit", [1, 5, 20])
@pytest.mark.parametrize("density", [0.04, 1.0], ids=["sparse", "bytes"])
@pytest.mark.parametrize("loss", ["zero_one", "log_loss"])
def test_no_split_has_more_weights(loss, density, limit):
    rows, classes = wide_rows(density)
    problem = classification_problem(rows, classes, 2, np.ones(300))
    for max_iter in (1, 2, 7):
        options = TAOOptions(loss=loss, max_weights=limit, alpha=1e-3, max_iter=max_iter, tol=0)
        found = optimize_tree(problem, complete_topology(3), options)
        assert 0 < most_weights(found.tree) <= limit


@pytest.mark.parametrize(
    "estimator",
    [
        TAOTreeClassifier(max_weights=7, random_state=0),
        TAOTreeRegressor(max_weights=7, max_depth=5, random_state=1),
        # Rows may reach a split for the first time in a guarded sweep; with these it happens.
        TAOForestClassifier(max_weights=7, n_estimators=3, max_features=30, random_state=0),
        TAOForestClassifier(
            max_weights=7, n_estimators=3, max_features=30, init="balanced", random_state=1
        ),
        TAOBoostClassifier(max_weights=7, n_estimators=3, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_all_estimators_keep_the_limit(estimator):
    estimator.fit(X, Y)
    trees = getattr(estimator, "trees_", None) or (estimator.tree_,)
    assert all(0 < most_weights(tree) <= 7 for tree in trees)
    assert estimator.score(X, Y) > 0.75


@pytest.mark.parametrize("density", [0.04, 1.0], ids=["sparse", "bytes"])
@pytest.mark.parametrize("loss", ["zero_one", "log_loss"])
def test_no_class_of_a_linear_leaf_has_more_weights(loss, density):
    rows, classes = wide_rows(density)
    problem = classification_problem(rows, classes, 2, np.ones(300))
    options = TAOOptions(loss=loss, leaf="linear", max_leaf_weights=5, alpha=1e-3, max_iter=5)
    tree = optimize_tree(problem, complete_topology(2), options).tree
    assert 0 < np.diff(tree.leaf_indptr).max() <= 5
    assert most_weights(tree) > 5  # splits have a limit of their own


@pytest.mark.parametrize("order", ["leaves_first", "root_first"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_leaves_without_rows_keep_the_limit_too(loss, order):
    """Rows may come back in a guarded sweep, and the guard may keep the leaf as it is."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (150, 66)).astype(np.float32)
    targets = rows[:, 0] + rows[:, 1] + 0.01 * rng.normal(size=150)
    problem = regression_problem(rows, targets[:, None], np.ones(150))
    for init in ("random", "supervised"):
        options = TAOOptions(
            loss=loss, leaf="linear", max_leaf_weights=3, max_iter=5, order=order, init=init
        )
        found = optimize_tree(problem, complete_topology(5), options)
        assert np.diff(found.tree.leaf_indptr).max() <= 3
        assert np.diff(found.unpruned.leaf_indptr).max() <= 3


def test_linear_leaves_of_a_regression_keep_the_limit():
    targets = X[:, 20] + X[:, 30] * (X[:, 40] > 8)
    tree = TAOTreeRegressor(
        leaf="linear", max_depth=2, alpha=1e-3, max_leaf_weights=3, random_state=0
    )
    tree.fit(X, targets)
    assert 0 < np.diff(tree.tree_.leaf_indptr).max() <= 3
    assert tree.score(X, targets) > 0.9


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_returned_tree_is_the_best_of_the_sweeps_under_the_limit(leaf):
    """Sweeps that had not come down to it yet may have lower objectives: with more weights."""
    problem = classification_problem(X[::4], Y[::4].astype(np.int32), 10, np.ones(len(Y[::4])))
    for seed in range(3):
        limits = {"max_weights": 4, "max_leaf_weights": 4 if leaf == "linear" else 0}
        options = TAOOptions(leaf=leaf, max_iter=10, seed=seed, **limits)
        trace = optimize_tree(problem, complete_topology(3), options).trace
        n_exploring = 8
        first = math.ceil(TIGHTENING[1] * n_exploring)
        assert trace.objective[-1] <= min(trace.objective[first:])


def test_given_tree_that_keeps_the_limit_is_never_made_worse():
    problem = classification_problem(X[::4], Y[::4].astype(np.int32), 10, np.ones(len(Y[::4])))
    options = TAOOptions(max_weights=4, max_iter=8)
    start = optimize_tree(problem, complete_topology(3), options).unpruned
    for seed, max_iter in ((1, 1), (2, 2), (3, 8)):
        again = replace(options, seed=seed, max_iter=max_iter)
        found = optimize_tree(problem, start, again)
        assert found.trace.objective[-1] <= found.trace.objective[0]
        assert most_weights(found.tree) <= 4


def test_limit_of_all_columns_changes_nothing():
    options = TAOOptions(max_iter=4)
    problem = classification_problem(X, Y.astype(np.int32), 10, np.ones(len(Y)))
    one, two, three = (
        optimize_tree(problem, complete_topology(4), replace(options, max_weights=limit)).tree
        for limit in (0, X.shape[1], 1000)
    )
    assert one.same_as(two)
    assert one.same_as(three)


def test_continued_tree_is_cut_down_too():
    tree = TAOTreeClassifier(max_depth=5, alpha=1e-3, warm_start=True, random_state=0).fit(X, Y)
    assert most_weights(tree.tree_) > 6
    tree.set_params(max_weights=6, max_iter=5).fit(X, Y)
    assert most_weights(tree.tree_) <= 6


def test_sparse_and_dense_rows_lose_the_same_weights():
    rows, classes = wide_rows(0.04)
    settings = {"max_weights": 4, "max_depth": 3, "random_state": 0}
    dense = TAOTreeClassifier(**settings).fit(rows, classes)
    sparse = TAOTreeClassifier(**settings).fit(sp.csr_matrix(rows), classes)
    assert dense.tree_.same_as(sparse.tree_)


def test_dropped_weights_leave_the_mean_row_where_it_was():
    """The bias takes over what the dropped columns add on average: large offsets do no harm."""
    shifted = X + np.float32(500)
    settings = {"max_weights": 10, "max_depth": 6, "random_state": 0}
    here = TAOTreeClassifier(**settings).fit(X, Y).score(X, Y)
    there = TAOTreeClassifier(**settings).fit(shifted, Y).score(shifted, Y)
    assert there > here - 0.03


def test_more_ridge_gives_shorter_hyperplanes():
    lengths = []
    for ridge in (1e-3, 1e-1, 10.0):
        tree = TAOTreeClassifier(ridge=ridge, alpha=1e-3, random_state=0).fit(X, Y).tree_
        lengths.append(np.abs(tree.split_weights).sum())
    assert lengths[0] > lengths[1] > lengths[2]


def test_limit_above_the_number_of_columns_is_none():
    trees = [TAOTreeClassifier(max_depth=4, max_weights=m, random_state=0) for m in (None, 64, 99)]
    free, *limited = [tree.fit(X[::3], Y[::3]).tree_ for tree in trees]
    assert all(tree.same_as(free) for tree in limited)
