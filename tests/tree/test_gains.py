"""Gains against plain loops, and what has to hold for any tree and any rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spinney import TAOTreeClassifier, TAOTreeRegressor
from spinney.data import Problem, as_rows, classification_problem, regression_problem
from spinney.tree.gains import (
    GainImportances,
    GainTask,
    SameForAll,
    column_gains,
    gain_task,
)
from spinney.tree.route import apply
from spinney.tree.structure import Tree
from tests import reference

seeds = st.integers(0, 10_000)
Gains = tuple[NDArray[np.float64], NDArray[np.float64]]


def problem_of(seed: int, kind: str, n: int = 90, d: int = 5) -> Problem:
    """Rows on a grid, so that sums of products are exact, with weights."""
    rng = np.random.default_rng(seed)
    X = (rng.integers(-12, 13, (n, d)) / 4.0).astype(np.float32)
    weights = rng.integers(0, 4, n).astype(float)
    weights[:3] = 1.0
    signal = X[:, 0] + X[:, 1] - X[:, 2] ** 2 / 4 + rng.normal(size=n) / 2
    if kind == "numbers":
        return regression_problem(X, np.column_stack([signal, 100 + X[:, 1]]), weights)
    codes = np.digitize(signal, [-0.5, 1.0]).astype(np.int32)
    return classification_problem(X, codes, 3, weights)


def tree_of(problem: Problem, seed: int, leaf: str, split: str = "oblique") -> Tree:
    kind = TAOTreeClassifier if problem.n_classes else TAOTreeRegressor
    fitted = kind(max_depth=3, max_iter=2, alpha=0.3, leaf=leaf, split=split, random_state=seed)
    return fitted.fit(problem.matrix, problem.targets, problem.sample_weight).tree_


def gains(tree: Tree, problem: Problem, task: GainTask | None = None, n_threads: int = 1) -> Gains:
    leaves = apply(tree, problem.rows)
    return column_gains(tree, problem.rows, leaves, task or gain_task(problem), n_threads)


def targets_of(problem: Problem) -> NDArray[np.float64]:
    if problem.n_classes:
        return np.eye(problem.n_classes)[problem.classes]
    return problem.values


every_kind = pytest.mark.parametrize("kind", ["classes", "numbers"])
every_leaf = pytest.mark.parametrize("leaf", ["constant", "linear"])


@every_kind
@every_leaf
@pytest.mark.parametrize("split", ["oblique", "axis"])
def test_gains_are_those_of_plain_loops(kind: str, leaf: str, split: str) -> None:
    for seed in range(4):
        problem = problem_of(seed, kind)
        tree = tree_of(problem, seed, leaf, split)
        assert len(tree.split_nodes)
        task = gain_task(problem)
        # Weights that are no counts, as those of boosting.
        weights = task.weights * np.random.default_rng(seed).uniform(0.1, 3, len(task.weights))
        for judged in (task, task.with_weights(weights)):
            expected = reference.column_gains(
                tree,
                problem.matrix.astype(float),
                targets_of(problem),
                judged.weights,
                judged.counts,
                judged.n_columns,
            )
            for found, wanted in zip(gains(tree, problem, judged), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


@every_kind
@given(seed=seeds)
def test_gains_of_splits_add_up_to_the_decrease_of_the_loss(kind: str, seed: int) -> None:
    problem = problem_of(seed, kind)
    tree = tree_of(problem, seed, "constant")
    Y, w = targets_of(problem), problem.sample_weight / problem.sample_weight.sum()
    leaves = apply(tree, problem.rows)
    left_over = sum(
        reference.scatter(Y[leaves == leaf], w[leaves == leaf]) for leaf in np.unique(leaves[w > 0])
    )
    beyond, in_all = gains(tree, problem)
    assert in_all.sum() == pytest.approx(reference.scatter(Y, w) - left_over, abs=1e-8)
    assert (beyond >= 0).all()
    assert (beyond <= in_all).all()


@every_kind
@every_leaf
def test_a_weight_is_as_many_rows(kind: str, leaf: str) -> None:
    problem = problem_of(1, kind)
    tree = tree_of(problem, 1, leaf)
    counts = problem.sample_weight.astype(int)
    repeated = np.repeat(np.arange(problem.n_rows), counts)
    X, targets = problem.matrix[repeated], problem.targets[repeated]
    ones = np.ones(len(repeated))
    if problem.n_classes:
        copies = classification_problem(X, targets, problem.n_classes, ones)
    else:
        copies = regression_problem(X, targets, ones)
    for found, expected in zip(gains(tree, problem), gains(tree, copies), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)


@every_kind
@every_leaf
def test_the_unit_of_weights_that_are_shares_does_not_matter(kind: str, leaf: str) -> None:
    problem = problem_of(2, kind)
    tree = tree_of(problem, 2, leaf)
    first, second = (
        gains(tree, replace(problem, sample_weight=problem.sample_weight * unit))[0]
        for unit in (1e-3, 1e-200)
    )
    assert first.any()
    np.testing.assert_allclose(first, second, rtol=1e-9)


@every_kind
@every_leaf
def test_storage_and_threads_change_nothing(kind: str, leaf: str) -> None:
    problem = problem_of(3, kind)
    tree = tree_of(problem, 3, leaf)
    one = gains(tree, problem)
    for n_threads in (2, 7):
        for found, expected in zip(gains(tree, problem, None, n_threads), one, strict=True):
            assert np.array_equal(found, expected)
    sparse = as_rows(sp.csr_matrix(problem.matrix))
    others = column_gains(tree, sparse, apply(tree, sparse), gain_task(problem), 2)
    for found, expected in zip(others, one, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@every_kind
def test_permuted_columns_have_permuted_gains(kind: str) -> None:
    problem = problem_of(4, kind)
    tree = tree_of(problem, 4, "constant", "axis")
    order = np.array([3, 1, 4, 0, 2])
    place = np.argsort(order).astype(np.int32)
    moved = replace(tree, split_indices=place[tree.split_indices])
    matrix = np.ascontiguousarray(problem.matrix[:, order])
    other = replace(problem, matrix=matrix, rows=as_rows(matrix))
    assert np.array_equal(gains(moved, other)[0], gains(tree, problem)[0][order])


def test_a_column_that_is_constant_here_gets_nothing() -> None:
    problem = problem_of(5, "numbers")
    tree = tree_of(problem, 5, "constant")
    matrix = problem.matrix.copy()
    matrix[:, 0] = 1e6
    other = replace(problem, matrix=matrix, rows=as_rows(matrix))
    leaves = apply(tree, problem.rows)
    for found in column_gains(tree, other.rows, leaves, gain_task(other)):
        assert found[0] == 0


def test_far_from_zero_is_as_good_as_near() -> None:
    problem = problem_of(6, "numbers")
    tree = tree_of(problem, 6, "constant")
    far = problem.matrix + np.float32(2**18)
    leaves = apply(tree, problem.rows)
    found = column_gains(tree, as_rows(far), leaves, gain_task(problem))[0]
    np.testing.assert_allclose(found, gains(tree, problem)[0], rtol=1e-9)


@given(seed=seeds)
def test_columns_of_noise_get_next_to_nothing_where_splits_are_drawn(seed: int) -> None:
    # Splits that look at no target have some gain in all; beyond chance they hardly have any.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 10)).astype(np.float32)
    problem = classification_problem(X, rng.integers(0, 2, 400).astype(np.int32), 2, np.ones(400))
    start = TAOTreeClassifier(max_depth=4, alpha=0.0, max_iter=1, init="random", random_state=seed)
    other = classification_problem(X, rng.integers(0, 2, 400).astype(np.int32), 2, np.ones(400))
    tree = start.fit(X, other.targets).tree_
    beyond, in_all = gains(tree, problem)
    assert beyond.sum() <= 0.35 * in_all.sum()


def test_where_all_may_be_chance_the_split_counts_all_the_same() -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32)
    problem = classification_problem(X, np.array([0, 1], dtype=np.int32), 2, np.ones(2))
    tree = TAOTreeClassifier(max_depth=1, split="axis", random_state=0).fit(X, [0, 1]).tree_
    leaves = apply(tree, problem.rows)
    assert not gains(tree, problem)[0].any()
    importances = GainImportances(problem.rows, 2, SameForAll(problem))
    importances.add(tree, leaves, 1.0)
    assert sorted(importances.shares().tolist()) == [0.0, 1.0]


def test_tasks_that_do_not_fit_the_rows_are_refused() -> None:
    problem = problem_of(7, "classes")
    tree = tree_of(problem, 7, "constant")
    task = gain_task(problem)
    leaves = apply(tree, problem.rows)
    for bad in (
        replace(task, classes=task.classes[1:]),
        replace(task, classes=task.classes + 1),
        replace(task, weights=task.weights[1:]),
        replace(task, counts=task.counts[1:]),
    ):
        with pytest.raises(ValueError, match=r"range|one a row"):
            column_gains(tree, problem.rows, leaves, bad)
    with pytest.raises(ValueError, match="leaf number"):
        column_gains(tree, problem.rows, np.zeros_like(leaves), task)
