"""A supervised start separates groups of classes, or of targets, that are drawn at random."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.datasets import load_diabetes, load_digits

from spinney import _core
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import as_rows, classification_problem, regression_problem
from spinney.tree import complete_topology
from tests import reference
from tests.strategies import classification_rows, regression_rows, seeds, topologies

STUMP = complete_topology(1)


def drawn(problem, seed, topology=STUMP, *, rows=None, n_threads=1, max_features=0, is_axis=False):
    """Hyperplanes of a supervised start as a dense array, and their biases."""
    task = _core.Task(
        problem.classes, problem.values, problem.sample_weight, problem.n_outputs,
        "zero_one" if problem.n_classes else "squared_error", "constant", 1.0, 0.1, 0.0, 2,
    )  # fmt: skip
    native = _core.TreeOptimizer(
        problem.rows if rows is None else rows, problem.mean, problem.inverse_scale, *topology,
        task, {"alpha": 0.1}, "oblique", n_threads, seed, max_features,
    )  # fmt: skip
    native.draw_splits("supervised", 1e-3, is_axis)
    bias, (indptr, indices, weights) = native.splits()
    shape = (len(bias), problem.n_features)
    return sp.csr_matrix((weights, indices, indptr), shape=shape).toarray(), bias


def clusters(n_classes):
    """Rows close to the centre of their class: any draw of them has nearly the same mean."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes, dtype=np.int32), 9)
    centres = rng.normal(size=(n_classes, 5))
    X = (centres[y] + 1e-3 * rng.normal(size=(len(y), 5))) * [1, 10, 100, 0, 1e-3]
    return X.astype(np.float32), y


def is_same_plane(plane, other):
    """Whether two hyperplanes are the same up to a positive factor, and draws from the rows."""
    weights, bias = plane
    factor = np.linalg.norm(weights) / np.linalg.norm(other[0])
    tolerance = 0.06 * np.abs(weights).max()
    is_parallel = np.allclose(weights, factor * other[0], rtol=0, atol=tolerance)
    return is_parallel and np.isclose(bias, factor * other[1], rtol=0, atol=3 * tolerance)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_root_lies_between_the_means_of_two_groups_of_classes(n_classes):
    X, y = clusters(n_classes)
    problem = classification_problem(X, y, n_classes, np.ones(len(y)))
    # Compared in standardised space, where all columns are of one size.
    scale = np.where(problem.inverse_scale > 0, 1 / np.maximum(problem.inverse_scale, 1e-30), 0)
    groups = [np.array(side) for side in product([False, True], repeat=n_classes)][1:-1]
    planes = [reference.bisector(X, side[y], problem.inverse_scale) for side in groups]
    found = set()
    for seed in range(60):
        weights, bias = drawn(problem, seed)
        same = [
            is_same_plane((weights[0] * scale, bias[0]), (plane * scale, offset))
            for plane, offset in planes
        ]
        assert sum(same) == 1
        found.add(same.index(True))
    assert len(found) == len(groups)  # every grouping comes up


def test_axis_aligned_root_reads_the_column_in_which_the_groups_are_farthest_apart():
    X, y = clusters(3)
    problem = classification_problem(X, y, 3, np.ones(len(y)))
    groups = [np.array(side) for side in product([False, True], repeat=3)][1:-1]
    for seed in range(20):
        weights, bias = drawn(problem, seed, is_axis=True)
        (column,) = np.flatnonzero(weights[0])
        planes = [reference.axis_bisector(X, side[y], problem.inverse_scale) for side in groups]
        middles = [middle for own, middle in planes if own == column]
        spread = np.ptp(X[:, column])
        assert min(abs(-bias[0] / weights[0, column] - m) for m in middles) < 0.01 * spread


def test_root_lies_between_the_means_of_large_and_small_targets():
    y = np.arange(40.0)[:, None]
    X = np.hstack([y, -2 * y]).astype(np.float32)
    problem = regression_problem(X, y, np.ones(40))
    middles = []
    is_turned = set()
    for seed in range(20):
        weights, bias = drawn(problem, seed)
        standard = weights[0] / problem.inverse_scale
        assert standard[1] == pytest.approx(-standard[0], rel=1e-3)
        middles.append(-bias[0] / (weights[0] @ [1, -2]))
        is_turned.add(bool(weights[0, 0] < 0))
    assert is_turned == {False, True}
    # Halfway between the means of 0, ..., k - 1 and k, ..., 39 lies 9.5 + k / 2.
    assert 9.5 < min(middles) < 15 < 24 < max(middles) < 29.5


def test_groups_of_targets_are_drawn():
    y = np.array([0.0] * 20 + [1.0] * 20 + [3.0] * 20)[:, None]
    problem = regression_problem(y.astype(np.float32), y, np.ones(60))
    middles = set()
    for seed in range(20):
        weights, bias = drawn(problem, seed)
        middles.add(round(float(-bias[0] / weights[0, 0]), 1))
    # 0 against 1 and 3; 0 and 1 against 3; nearly so, since the means are those of draws.
    assert all(min(abs(m - 1.0), abs(m - 1.75)) <= 0.1 for m in middles)
    assert min(middles) < 1.3 < max(middles)


def test_rows_of_one_class_are_parted_between_two_of_them():
    X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    problem = classification_problem(X, np.zeros(12, dtype=np.int32), 1, np.ones(12))
    side = np.array([False, True])
    pairs = [np.array(pair) for pair in permutations(range(12), 2)]
    planes = [reference.bisector(X[pair], side, problem.inverse_scale) for pair in pairs]
    weights, bias = drawn(problem, seed=3)
    assert any(is_same_plane((weights[0], bias[0]), plane) for plane in planes)


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
