"""A weight of its own for the penalty on the leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_diabetes

from spinney import TAOForestRegressor, TAOTreeClassifier, TAOTreeRegressor, load, save
from spinney.algorithms import TAOOptions, optimize_path, optimize_tree
from spinney.algorithms.fao import FAOOptions, optimize_forest
from spinney.algorithms.losses import forest_loss
from spinney.algorithms.state import TreeRun
from spinney.data import classification_problem, regression_problem
from spinney.tree import complete_topology
from tests import reference
from tests.strategies import regression_rows, seeds, topologies

VALUE_LOSSES = ["squared_error", "absolute_error", "huber"]
X, Y = (part[:200] for part in load_diabetes(return_X_y=True))
all_losses = pytest.mark.parametrize("loss", VALUE_LOSSES)
both_penalties = pytest.mark.parametrize("leaf_penalty", ["l1", "l2"])
both_kinds = pytest.mark.parametrize("leaf", ["constant", "linear"])


def diabetes_problem(shift=0.0):
    return regression_problem(X.astype(np.float32), Y[:, None] + shift, np.ones(len(Y)))


def from_scratch(found, problem, task, options):
    """Objective of the returned tree."""
    unit = problem.target_scale
    tree = replace(
        found.tree,
        leaf_values=found.tree.leaf_values / unit,
        leaf_weights=found.tree.leaf_weights / np.float32(unit),
    )
    return reference.objective(
        tree, task.X, task.y / unit, task.sample_weight,
        loss=options.loss, split=options.split, alpha=options.alpha, scale=problem.scale,
        huber_delta=options.huber_delta / unit, leaf_alpha=options.leaf_alpha,
        leaf_penalty=options.leaf_penalty,
        centre=np.average(task.y / unit, axis=0, weights=task.sample_weight),
    )  # fmt: skip


@all_losses
@both_penalties
@both_kinds
@pytest.mark.parametrize("strict_descent", [False, True])
def test_trace_falls_to_the_objective_of_the_returned_tree(
    strict_descent, leaf, leaf_penalty, loss
):
    @given(regression_rows(), topologies(max_splits=5), seeds(), st.sampled_from([0.0, 0.3, 5.0]))
    @settings(max_examples=8)
    def check(task, topology, seed, leaf_alpha):
        problem = regression_problem(task.X, task.y, task.sample_weight)
        options = TAOOptions(
            loss=loss, leaf=leaf, leaf_penalty=leaf_penalty, leaf_alpha=leaf_alpha, alpha=0.05,
            seed=seed, strict_descent=strict_descent, max_iter=5,
        )  # fmt: skip
        found = optimize_tree(problem, topology, options)
        objective = np.array(found.trace.objective)
        slack = 1e-9 * (1 + objective[0])
        if strict_descent:
            assert np.all(np.diff(objective) <= slack)
        else:
            assert objective[-1] <= objective[1:].min() + slack
        tolerance = 1e-4 if leaf == "linear" else 1e-9  # linear leaves add up in float32
        scratch = from_scratch(found, problem, task, options)
        assert objective[-1] == pytest.approx(scratch, rel=tolerance, abs=tolerance)

    check()


@all_losses
@both_penalties
def test_constant_leaf_is_the_least_of_its_formula(leaf_penalty, loss):
    problem = diabetes_problem()
    values = problem.values[:, 0]
    options = TAOOptions(loss=loss, leaf_penalty=leaf_penalty, leaf_alpha=20.0, huber_delta=40.0)
    found = optimize_tree(problem, complete_topology(2), options)
    unit, mean = problem.target_scale, values.mean()
    leaves = found.tree.leaf_values[:, 0] / unit
    reached = reference.apply(found.tree, X.astype(np.float32), reference.score_of_products)
    for node, value in zip(found.tree.leaf_nodes, leaves, strict=True):
        rows = values[reached == node]

        def cost(v, rows=rows):
            size = abs(v - mean) if leaf_penalty == "l1" else (v - mean) ** 2
            losses = (reference.row_loss(loss, [v], [y], False, 40.0 / unit) for y in rows)
            return sum(losses) + 20.0 * size

        least = minimize_scalar(cost, bounds=(-10, 10), options={"xatol": 1e-10}).fun
        assert cost(value) <= least * (1 + 1e-9)


def test_squared_leaves_are_shrunken_means():
    problem = diabetes_problem()
    y = problem.values[:, 0] - problem.values.mean()
    for penalty, wanted in (
        ("l2", y.sum() / (len(y) + 7.0)),
        ("l1", np.sign(y.sum()) * max(abs(y.sum()) - 3.5, 0) / len(y)),
    ):
        options = TAOOptions(loss="squared_error", leaf_alpha=7.0, leaf_penalty=penalty)
        value = optimize_tree(problem, complete_topology(0), options).tree.leaf_values[0, 0]
        assert value / problem.target_scale - problem.values.mean() == pytest.approx(wanted)


@both_penalties
def test_alpha_as_leaf_alpha_is_the_default_of_linear_leaves(leaf_penalty):
    options = TAOOptions(
        loss="squared_error", leaf="linear", leaf_penalty=leaf_penalty, alpha=0.7, max_iter=6
    )
    default = optimize_tree(diabetes_problem(), complete_topology(3), options)
    given_one = optimize_tree(
        diabetes_problem(), complete_topology(3), replace(options, leaf_alpha=0.7)
    )
    assert given_one.tree.same_as(default.tree)
    assert given_one.trace.objective == default.trace.objective


def test_no_weight_is_the_default_of_constant_leaves():
    default, zero = (
        TAOTreeRegressor(max_depth=4, leaf_alpha=leaf_alpha, random_state=0).fit(X, Y)
        for leaf_alpha in (None, 0.0)
    )
    assert zero.tree_.same_as(default.tree_)


def test_linear_leaves_of_classes_get_fewer_weights():
    labels = (Y > 100).astype(int) + (Y > 180)
    sizes = [
        TAOTreeClassifier(leaf="linear", max_depth=2, leaf_alpha=leaf_alpha, random_state=0)
        .fit(X, labels)
        .tree_.leaf_weights.size
        for leaf_alpha in (0.01, 1.0, 100.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@both_penalties
def test_zero_of_y_changes_no_split(leaf_penalty):
    options = TAOOptions(loss="squared_error", leaf_penalty=leaf_penalty, leaf_alpha=2.0)
    here, there = (
        optimize_tree(diabetes_problem(shift), complete_topology(4), options).tree
        for shift in (0.0, 2.0**12)
    )
    assert np.array_equal(here.left, there.left)
    assert there.leaf_values == pytest.approx(here.leaf_values + 2.0**12)


@both_penalties
def test_much_penalty_leaves_the_mean(leaf_penalty):
    tree = TAOTreeRegressor(leaf_alpha=1e9, leaf_penalty=leaf_penalty, random_state=0).fit(X, Y)
    assert tree.predict(X) == pytest.approx(np.full(len(Y), Y.mean()), rel=1e-6)


@both_penalties
@all_losses
def test_leaves_are_those_of_a_jointly_optimised_forest_of_one_tree(loss, leaf_penalty):
    """One word, one meaning: FAO's leaf_alpha."""
    problem = diabetes_problem()
    tao = TAOOptions(loss=loss, leaf_alpha=6.0, leaf_penalty=leaf_penalty, max_iter=8)
    found = optimize_tree(problem, complete_topology(3), tao)
    forest = optimize_forest(
        problem,
        [found.tree],
        [0],
        FAOOptions(
            replace(tao, leaf_alpha=None),
            forest_loss(loss, 1.0 / problem.target_scale),
            leaf_alpha=6.0,
            leaf_penalty=leaf_penalty,
            max_iter=0,
        ),
    )
    (tree,) = forest.trees
    assert tree.leaf_values == pytest.approx(found.tree.leaf_values, rel=1e-6)
    assert forest.trace.objective[-1] == pytest.approx(found.trace.objective[-1], rel=1e-6)


def test_no_tree_of_a_path_is_worse_than_the_one_before():
    problem = diabetes_problem()
    options = TAOOptions(loss="squared_error", leaf_alpha=3.0, leaf_penalty="l2", max_iter=5)
    path = list(optimize_path(problem, complete_topology(3), options, [0.1, 1.0, 10.0]))
    for found in path[1:]:
        assert found.trace.objective[-1] <= found.trace.objective[0] * (1 + 1e-9)


def test_a_resumed_run_ends_in_the_same_bits():
    problem = diabetes_problem()
    options = TAOOptions(loss="squared_error", leaf_alpha=3.0, leaf_penalty="l2", max_iter=8)
    states: list[TreeRun] = []
    whole = optimize_tree(
        problem, complete_topology(4), options, save=lambda state: states.append(state())
    )
    for state in states:
        resumed = optimize_tree(problem, complete_topology(4), options, resume=state)
        assert resumed.tree.same_as(whole.tree)


def test_forests_pass_it_on_and_files_keep_it(tmp_path):
    loose, firm = (
        TAOForestRegressor(3, max_depth=4, leaf_alpha=leaf_alpha, random_state=0).fit(X, Y)
        for leaf_alpha in (None, 50.0)
    )
    assert firm.predict(X).std() < 0.9 * loose.predict(X).std()
    save(firm, tmp_path / "forest.spinney")
    again = load(tmp_path / "forest.spinney")
    assert again.leaf_alpha == 50.0
    assert np.array_equal(again.predict(X), firm.predict(X))


def test_labels_have_no_size_to_penalise():
    problem = classification_problem(X.astype(np.float32), (Y > 100).astype(np.int32), 2, Y * 0 + 1)
    one, two = (
        optimize_tree(problem, complete_topology(3), TAOOptions(max_iter=4, leaf_alpha=leaf_alpha))
        for leaf_alpha in (None, 3.0)
    )
    assert two.trace.objective == one.trace.objective
