"""Paths over alpha: warm starts, order, and objectives that do not rise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.algorithms import TAOOptions, optimize_path, optimize_tree
from spinney.algorithms.tao import OptimizedTree
from spinney.data import Problem, as_rows, classification_problem, regression_problem
from spinney.tree.route import outputs
from spinney.tree.structure import complete_topology
from tests.strategies import LabelledRows, classification_rows, seeds

ALPHAS = [0.03, 0.3, 3.0]


def problem_of(rows: LabelledRows) -> Problem:
    return classification_problem(rows.X, rows.y, 3, rows.sample_weight)


def noisy_problem(n_rows: int = 300) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32)
    codes = (X[:, 0] + X[:, 1] > 0).astype(np.int32) + (X[:, 2] > 0.5).astype(np.int32)
    codes[rng.random(n_rows) < 0.1] = 0
    return classification_problem(X, codes, 3, np.ones(n_rows))


@given(
    classification_rows(),
    seeds(),
    st.lists(st.sampled_from([0.0, 0.1, 1.0, 10.0]), min_size=1, max_size=3),
    st.sampled_from(["oblique", "axis"]),
)
def test_strict_objective_never_rises_at_any_alpha(
    rows: LabelledRows, seed: int, alphas: list[float], split: str
) -> None:
    options = TAOOptions(strict_descent=True, max_iter=3, seed=seed, split=split)
    for found in optimize_path(problem_of(rows), complete_topology(2), options, alphas):
        objective = np.array(found.trace.objective)
        assert np.all(np.diff(objective) <= 1e-9 * (1 + objective[0]))


@pytest.mark.parametrize("alphas", [ALPHAS, ALPHAS[::-1]], ids=["increasing", "decreasing"])
def test_each_tree_starts_from_the_one_before(alphas: list[float]) -> None:
    options = TAOOptions(max_iter=5)
    path = list(optimize_path(noisy_problem(), complete_topology(3), options, alphas))
    for alpha, before, new_alpha, found in zip(
        alphas[:-1], path[:-1], alphas[1:], path[1:], strict=True
    ):
        penalty = before.trace.objective[-1] - before.trace.loss[-1]
        expected = before.trace.loss[-1] + penalty * new_alpha / alpha
        assert found.trace.loss[0] == before.trace.loss[-1]
        assert found.trace.objective[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_weights": 2},
        {"max_weights": 2, "leaf": "linear", "max_leaf_weights": 1},
        {"max_weights": 2, "max_iter": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("alphas", [ALPHAS, ALPHAS[::-1]], ids=["increasing", "decreasing"])
def test_no_tree_is_worse_than_the_one_before_it_under_its_own_alpha(
    alphas: list[float], limits: dict[str, Any]
) -> None:
    for seed in range(3):
        options = TAOOptions(**{"max_iter": 6, "seed": seed} | limits)
        path = list(optimize_path(noisy_problem(), complete_topology(3), options, alphas))
        for found in path[1:]:
            assert found.trace.objective[-1] <= found.trace.objective[0] * (1 + 1e-7)
            assert np.diff(found.tree.split_indptr).max() <= limits.get("max_weights", 5)
            assert np.diff(found.tree.leaf_indptr).max() <= limits.get("max_leaf_weights", 5)


def test_first_tree_is_that_of_a_single_fit() -> None:
    problem, options = noisy_problem(), TAOOptions(max_iter=5, seed=3)
    single = optimize_tree(problem, complete_topology(3), replace(options, alpha=ALPHAS[0]))
    first = next(optimize_path(problem, complete_topology(3), options, ALPHAS))
    assert np.array_equal(first.tree.split_weights, single.tree.split_weights)
    assert first.trace.objective == single.trace.objective


def test_unpruned_trees_keep_the_structure_and_answer_as_the_pruned_ones() -> None:
    problem = noisy_problem()
    for found in optimize_path(problem, complete_topology(3), TAOOptions(max_iter=5), ALPHAS):
        assert found.unpruned.n_nodes == 15
        assert found.tree.n_nodes <= 15
        pruned, unpruned = outputs(found.tree, problem.rows), outputs(found.unpruned, problem.rows)
        assert np.array_equal(pruned, unpruned)


def test_weights_become_fewer_as_alpha_grows() -> None:
    alphas = [0.01, 1.0, 100.0]
    options = TAOOptions(max_iter=8)
    path = list(optimize_path(noisy_problem(), complete_topology(3), options, alphas))
    n_weights = [found.tree.split_weights.size for found in path]
    assert n_weights == sorted(n_weights, reverse=True)
    assert n_weights[-1] < n_weights[0]


def test_paths_of_regression_with_linear_leaves_run() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    Y = np.column_stack([X[:, 0] * (X[:, 1] > 0), X[:, 2]]).astype(np.float64)
    problem = regression_problem(X, Y, np.ones(200))
    options = TAOOptions(loss="squared_error", leaf="linear", max_iter=4)
    path = list(optimize_path(problem, complete_topology(2), options, [0.1, 1.0]))
    error = np.mean((outputs(path[0].tree, as_rows(X)) - Y) ** 2)
    assert error < 0.5 * Y.var()


def test_every_tree_is_handed_over_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[OptimizedTree] = []

    def noting(*arguments: Any, **named: Any) -> OptimizedTree:
        done.append(optimize_tree(*arguments, **named))
        return done[-1]

    monkeypatch.setattr("spinney.algorithms.path.optimize_tree", noting)
    path = optimize_path(noisy_problem(), complete_topology(2), TAOOptions(max_iter=3), ALPHAS)
    for number, found in enumerate(path, start=1):
        assert len(done) == number
        assert found is done[-1]
