"""A supervised start separates groups of classes, or of targets, that are drawn at random."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.datasets import load_diabetes, load_digits

from spinney import _core
from spinney.data import as_rows, classification_problem, regression_problem
from spinney.optimize.tao import TAOOptions, optimize_tree
from spinney.tree import complete_topology
from tests import reference
from tests.strategies import classification_rows, regression_rows, seeds, topologies

STUMP = complete_topology(1)


def drawn(problem, seed, topology=STUMP, *, rows=None, n_threads=1, max_features=0):
    """Hyperplanes of a supervised start as a dense array, and their biases."""
    task = _core.Task(
        problem.classes, problem.values, problem.sample_weight, problem.n_outputs,
        "zero_one" if problem.n_classes else "squared_error", "constant", 1.0, 0.1, 0.0, 2,
    )  # fmt: skip
    native = _core.TreeOptimizer(
        problem.rows if rows is None else rows, problem.mean, problem.inverse_scale, *topology,
        task, {"alpha": 0.1}, "oblique", n_threads, seed, max_features,
    )  # fmt: skip
    native.draw_splits("supervised", 1e-3)
    bias, (indptr, indices, weights) = native.splits()
    shape = (len(bias), problem.n_features)
    return sp.csr_matrix((weights, indices, indptr), shape=shape).toarray(), bias


def small_task(n_classes=4, n_rows=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32) * [1, 10, 100, 0, 1e-3]
    y = rng.integers(0, n_classes, n_rows).astype(np.int32)
    return X.astype(np.float32), y


def assert_is_one_of(plane, planes):
    """The hyperplane equals one of those of reference, up to a positive factor."""
    weights, bias = plane

    def is_same(other_weights, other_bias):
        factor = np.linalg.norm(weights) / np.linalg.norm(other_weights)
        scale = np.abs(weights).max()
        return np.allclose(weights, factor * other_weights, rtol=1e-4, atol=1e-6 * scale) and (
            np.isclose(bias, factor * other_bias, rtol=1e-3, atol=1e-6 * scale)
        )

    assert any(is_same(*other) for other in planes)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_root_lies_between_the_means_of_two_groups_of_classes(n_classes):
    X, y = small_task(n_classes)
    problem = classification_problem(X, y, n_classes, np.ones(len(y)))
    groups = [np.array(side) for side in product([False, True], repeat=n_classes)][1:-1]
    planes = [reference.bisector(X, side[y], problem.inverse_scale) for side in groups]
    chosen = set()
    for seed in range(60):
        weights, bias = drawn(problem, seed)
        assert_is_one_of((weights[0], bias[0]), planes)
        chosen.add((X @ weights[0] + bias[0] >= 0).tobytes())
    assert len(chosen) == len(groups)  # every grouping comes up


def test_root_lies_between_the_means_of_large_and_small_targets():
    X, _ = small_task()
    y = np.random.default_rng(1).normal(size=(len(X), 1))
    problem = regression_problem(X, y, np.ones(len(y)))
    above = [y[:, 0] > threshold for threshold in np.sort(y[:, 0])[:-1]]
    sides = above + [~side for side in above]  # the direction of the target may be turned
    planes = [reference.bisector(X, side, problem.inverse_scale) for side in sides]
    biases = set()
    for seed in range(30):
        weights, bias = drawn(problem, seed)
        assert_is_one_of((weights[0], bias[0]), planes)
        biases.add(bias[0])
    assert len(biases) > 15


def test_rows_of_one_class_are_parted_between_two_of_them():
    X, _ = small_task()
    problem = classification_problem(X, np.zeros(len(X), dtype=np.int32), 1, np.ones(len(X)))
    pairs = [np.array([a, b]) for a in range(len(X)) for b in range(len(X)) if a != b]
    side = np.array([False, True])
    planes = [reference.bisector(X[pair], side, problem.inverse_scale) for pair in pairs]
    weights, bias = drawn(problem, seed=3)
    assert_is_one_of((weights[0], bias[0]), planes)


def test_means_follow_the_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 1)).astype(np.float32)
    y = np.where(X[:, 0] > 0, X[:, 0] > 0.8, rng.random(4000) < 0.1).astype(np.int32)
    is_heavy = X[:, 0] > 0

    def middle(rows):
        return np.mean([X[rows & (y == k)].mean() for k in range(2)])

    assert middle(is_heavy) - middle(np.ones(4000, dtype=bool)) > 0.3
    problem = classification_problem(X, y, 2, np.where(is_heavy, 1.0, 1e-9))
    for seed in range(5):
        weights, bias = drawn(problem, seed)
        assert -bias[0] / weights[0, 0] == pytest.approx(middle(is_heavy), abs=0.1)


@given(classification_rows(), topologies(), seeds())
@settings(max_examples=50)
def test_any_classes_give_a_tree(task, topology, seed):
    problem = classification_problem(task.X, task.y, 3, task.sample_weight)
    options = TAOOptions(seed=seed, max_iter=2, init="supervised")
    optimize_tree(problem, topology, options).tree.check()


@given(regression_rows(), topologies(), seeds())
@settings(max_examples=50)
def test_any_targets_give_a_tree(task, topology, seed):
    problem = regression_problem(task.X, task.y, task.sample_weight)
    options = TAOOptions(loss="squared_error", seed=seed, max_iter=2, init="supervised")
    optimize_tree(problem, topology, options).tree.check()


@pytest.mark.parametrize("max_features", [0, 3])
def test_threads_and_container_change_no_bit(max_features):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 256, size=(3000, 20)) * (rng.random((3000, 20)) < 0.3)).astype(np.float32)
    y = (X[:, 0] > X[:, 1]).astype(np.int32) + (X[:, 2] > 50)
    problem = classification_problem(X, y.astype(np.int32), 3, np.ones(3000))
    found = [
        drawn(problem, 1, complete_topology(5), rows=rows, n_threads=n, max_features=max_features)
        for rows in (as_rows(X), _core.byte_rows(X), as_rows(sp.csr_matrix(X)))
        for n in (1, 3)
    ]
    for weights, bias in found[1:]:
        assert np.array_equal(weights, found[0][0])
        assert np.array_equal(bias, found[0][1])


def test_start_is_far_below_a_balanced_one():
    digits = load_digits()
    X, y = digits.data.astype(np.float32), digits.target.astype(np.int32)
    problem = classification_problem(X, y, 10, np.ones(len(y)))

    def first_loss(init):
        options = TAOOptions(max_iter=1, init=init)
        return optimize_tree(problem, complete_topology(5), options).trace.loss[0]

    assert first_loss("supervised") < 0.5 * first_loss("balanced")


def test_start_of_a_regression_is_below_a_balanced_one():
    X, y = load_diabetes(return_X_y=True)
    problem = regression_problem(X.astype(np.float32), y[:, None], np.ones(len(y)))

    def first_loss(init, seed):
        options = TAOOptions(loss="squared_error", max_iter=1, init=init, seed=seed)
        return optimize_tree(problem, complete_topology(4), options).trace.loss[0]

    losses = [[first_loss(init, seed) for seed in range(5)] for init in ("supervised", "balanced")]
    assert np.mean(losses[0]) < np.mean(losses[1])
