"""A forest under optimisation: its scores are the sum of its trees at any time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_regression

from spinney.algorithms import FAOOptions, TAOOptions, fao_forest, optimize_forest
from spinney.algorithms.fao_forest import ForestTask
from spinney.algorithms.fao_start import start_forest
from spinney.algorithms.fao_steps import step_over_leaves, step_over_tree
from spinney.algorithms.losses import SquaredError
from spinney.data import regression_problem
from spinney.tree import Forest, complete_topology

N_TREES = 3
ALPHA, MU = 0.05, 0.5


def a_forest(*, is_fitted=True, offset=None):
    X, Y = make_regression(80, 5, n_targets=2, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, 80).astype(float)
    problem = regression_problem(X.astype(np.float32), Y, weights)
    options = FAOOptions(TAOOptions(alpha=ALPHA), SquaredError(), leaf_alpha=MU)
    task = ForestTask.of(problem, options, offset, goes_on=False)
    forest = start_forest(task, [complete_topology(2)] * N_TREES, range(N_TREES))
    if is_fitted:
        step_over_leaves(forest, lambda: None)
        step_over_tree(forest, 1, 1)
    return forest


def outputs(forest, number):
    return forest.members[number].values[forest.leaf_of[number]]


def sum_of_trees(forest):
    return sum(outputs(forest, number) for number in range(N_TREES))


def test_new_trees_give_nothing():
    assert (sum_of_trees(a_forest(is_fitted=False)) == 0).all()


def test_scores_are_the_sum_of_the_trees_after_any_step():
    forest = a_forest()
    has_weight = forest.task.problem.sample_weight > 0
    assert forest.scores == pytest.approx(sum_of_trees(forest))
    finished = Forest(forest.trees()).sums(forest.task.problem.rows, np.ones(N_TREES))
    in_units = (forest.scores + forest.task.centre) * forest.task.problem.target_scale
    assert finished[has_weight] == pytest.approx(in_units[has_weight], rel=1e-6, abs=1e-6)


def test_a_tree_that_is_taken_out_is_asked_for_what_the_others_leave_over():
    forest = a_forest()
    others = outputs(forest, 0) + outputs(forest, 2)
    with forest.taken_out(1) as native:
        assert forest.scores == pytest.approx(others)
        loss, _ = native.objective()
        left_over = forest.task.sums.wanted - others  # eq. (3) of the paper
        squares = ((left_over - outputs(forest, 1)) ** 2).sum(axis=1)
        assert loss == pytest.approx(forest.task.problem.sample_weight @ squares)


def test_a_tree_that_nothing_is_done_to_changes_nothing():
    forest = a_forest()
    before, trees = forest.scores.copy(), forest.trees()
    with forest.taken_out(2):
        pass
    assert forest.scores == pytest.approx(before, abs=1e-12)
    assert all(a.same_as(b) for a, b in zip(trees, forest.trees(), strict=True))


def test_the_objective_counts_the_leaves_as_they_are_now():
    forest = a_forest()
    loss, penalty = forest.objective()
    forest.change(0, np.zeros_like(forest.members[0].values))
    less = forest.objective()[1]
    changed = a_forest().members[0].values
    assert penalty - less == pytest.approx(MU * (changed**2).sum())
    assert loss == pytest.approx(a_forest().objective()[0])


def test_a_forest_that_is_added_to_something_is_not_measured_from_the_mean():
    offset = np.full((80, 2), 0.7)
    forest = a_forest(is_fitted=False, offset=offset)
    assert (forest.task.centre == 0).all()
    assert (forest.scores == offset).all()


def a_run(options, shapes):
    X, Y = make_regression(300, 5, n_targets=2, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    problem = regression_problem(X.astype(np.float32), Y, weights)
    return optimize_forest(problem, shapes, range(len(shapes)), options)


@pytest.mark.parametrize("strict", [False, True, "sweep"])
@pytest.mark.parametrize("leaf_penalty", ["l1", "l2"])
def test_trees_that_share_a_row_state_are_as_with_one_each(monkeypatch, strict, leaf_penalty):
    tao = TAOOptions(alpha=ALPHA, strict_descent=strict)
    options = FAOOptions(
        tao, SquaredError(), leaf_alpha=MU, leaf_penalty=leaf_penalty, max_iter=3, average_last=2
    )
    shapes = [complete_topology(depth) for depth in (2, 4, 3)]
    shared = a_run(options, shapes)
    native_optimizer = fao_forest.native_optimizer
    monkeypatch.setattr(
        fao_forest, "native_optimizer", lambda *arguments: native_optimizer(*arguments[:-1])
    )
    alone = a_run(options, shapes)
    assert shared.trace.objective == alone.trace.objective
    assert all(a.same_as(b) for a, b in zip(shared.trees, alone.trees, strict=True))


@pytest.mark.parametrize(("depth", "kind"), [(8, np.uint8), (9, np.uint16)])
def test_numbers_of_leaves_are_as_narrow_as_they_can_be(depth, kind):
    X, Y = make_regression(80, 5, n_targets=2, random_state=0)
    problem = regression_problem(X.astype(np.float32), Y, np.ones(80))
    task = ForestTask.of(
        problem, FAOOptions(TAOOptions(alpha=ALPHA), SquaredError()), None, goes_on=False
    )
    forest = start_forest(task, [complete_topology(2), complete_topology(depth)], range(2))
    assert forest.leaf_of.dtype == kind
    step_over_leaves(forest, lambda: None)
    step_over_tree(forest, 1, 1)
    assert forest.leaf_of[1].max() > 200
    assert forest.scores == pytest.approx(outputs(forest, 0) + outputs(forest, 1))
