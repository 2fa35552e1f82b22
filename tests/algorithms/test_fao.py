"""The invariants of the alternation over the trees of a forest."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_classification,
    make_regression,
)

from spinney.algorithms import FAOOptions, TAOOptions, optimize_forest
from spinney.algorithms.leaves import improve_leaves
from spinney.algorithms.losses import forest_loss
from spinney.data import classification_problem, regression_problem
from spinney.tree import Forest, complete_topology
from tests import reference
from tests.strategies import classification_rows, regression_rows, seeds

CLASS_LOSSES = ["squared_hinge", "squared_error", "log_loss"]
VALUE_LOSSES = ["squared_error", "absolute_error", "huber"]
CASES = [(loss, True) for loss in CLASS_LOSSES] + [(loss, False) for loss in VALUE_LOSSES]
all_losses = pytest.mark.parametrize(("loss", "is_class"), CASES)
all_penalties = pytest.mark.parametrize("leaf_penalty", ["l1", "l2"])


def class_problem(n_rows=120, seed=0, weights=None):
    X, y = make_classification(n_rows, 6, n_informative=4, n_classes=3, random_state=seed)
    weights = np.ones(n_rows) if weights is None else weights
    return classification_problem(X.astype(np.float32), y.astype(np.int32), 3, weights)


def value_problem(n_rows=120, seed=0):
    X, Y = make_regression(n_rows, 6, n_targets=2, noise=5.0, random_state=seed)
    return regression_problem(X.astype(np.float32), Y + 50 * np.abs(X[:, :2]), np.ones(n_rows))


def options_of(loss, **values):
    of_tree = ("alpha", "strict_descent", "max_weights", "split")
    tao = {"alpha": 0.05} | {name: values.pop(name) for name in of_tree if name in values}
    values = {"leaf_alpha": 0.5, "max_iter": 4} | values
    return FAOOptions(TAOOptions(**tao), forest_loss(loss), **values)


def grow(problem, options, *, n_trees=3, depth=2, seed=0, **values):
    starts = values.pop("starts", [complete_topology(depth)] * n_trees)
    return optimize_forest(
        problem, starts, [seed * 100 + t for t in range(n_trees)], options, **values
    )


def same(one, two):
    return all(a.same_as(b) for a, b in zip(one.trees, two.trees, strict=True))


@all_losses
@all_penalties
@pytest.mark.parametrize(("seed", "strict"), [(0, True), (1, True), (2, True), (3, "sweep")])
def test_no_step_of_a_strict_run_raises_the_objective(loss, is_class, leaf_penalty, seed, strict):
    problem = class_problem(seed=seed) if is_class else value_problem(seed=seed)
    options = options_of(
        loss, strict_descent=strict, leaf_penalty=leaf_penalty, tol=0.0, max_iter=6
    )
    trace = grow(problem, options, seed=seed).trace
    assert trace.phase == ["start"] + 6 * (3 * ["tree"] + ["leaves"])
    rises = np.diff(trace.objective)
    assert (rises <= 1e-9 * trace.objective[0]).all()
    assert trace.objective[-1] < trace.objective[0]


@given(
    task=st.one_of(classification_rows(), regression_rows()),
    seed=seeds(),
    data=st.data(),
)
@settings(max_examples=40, deadline=None)
def test_strict_runs_on_any_rows(task, seed, data):
    is_class = task.y.ndim == 1
    loss = data.draw(st.sampled_from(CLASS_LOSSES if is_class else VALUE_LOSSES))
    if is_class:
        problem = classification_problem(task.X, task.y, 3, task.sample_weight)
    else:
        problem = regression_problem(task.X, task.y, task.sample_weight)
    options = options_of(
        loss,
        strict_descent=data.draw(st.sampled_from([True, "sweep"])),
        max_iter=2,
        leaf_penalty=data.draw(st.sampled_from(["l1", "l2"])),
        leaf_alpha=data.draw(st.sampled_from([0.0, 0.1, 10.0])),
    )
    trace = grow(problem, options, n_trees=2, seed=seed % 1000).trace
    assert np.isfinite(trace.objective).all()
    assert (np.diff(trace.objective) <= 1e-9 * (1 + trace.objective[0])).all()


@all_losses
@all_penalties
def test_the_trace_tells_the_objective_of_the_forest(loss, is_class, leaf_penalty):
    problem = class_problem() if is_class else value_problem()
    options = options_of(loss, leaf_penalty=leaf_penalty)
    found = grow(problem, options)
    # In the unit of the targets, about their mean; the loss of each tree's share of the mean.
    centre = np.zeros(problem.n_outputs) if is_class else problem.values.mean(axis=0)
    trees = [
        replace(tree, leaf_values=tree.leaf_values / problem.target_scale - centre / 3)
        for tree in found.trees
    ]
    judge = reference.forest_objective(
        trees,
        problem.matrix,
        problem.classes if is_class else problem.values - centre,
        problem.sample_weight,
        loss=loss,
        alpha=0.05,
        scale=problem.scale,
        l1=0.5 if leaf_penalty == "l1" else 0.0,
        l2=0.5 if leaf_penalty == "l2" else 0.0,
    )
    # Pruning drops branches that no row reaches, and with them their penalty.
    assert judge <= found.trace.objective[-1] * (1 + 1e-6)
    rows = problem.rows
    wanted = options.loss.wanted(problem.classes, 3) if is_class else problem.values - centre
    scores = Forest(tuple(trees)).sums(rows, np.ones(3))
    loss_found = options.loss.total(wanted, scores, problem.classes, problem.sample_weight)
    assert loss_found == pytest.approx(found.trace.loss[-1], rel=1e-6)


def test_a_forest_with_an_absolute_penalty_starts_at_the_lasso_of_its_leaves(monkeypatch):
    problem = value_problem()
    reached = []

    def improve(task, leaves, *arguments, **options):
        reached.append((task, leaves + options["first_leaf"][:, None]))
        return improve_leaves(task, leaves, *arguments, **options)

    monkeypatch.setattr("spinney.algorithms.fao_steps.improve_leaves", improve)
    options = options_of("squared_error", alpha=0.0, leaf_penalty="l1", max_iter=0)
    trace = grow(problem, options, n_trees=8, depth=4).trace
    task, leaves = reached[0]
    judge = reference.lasso_leaves(leaves, task.weights, task.wanted, 8 * 16, 0.5)
    least = task.total(np.add.reduce([judge[of_tree] for of_tree in leaves]))
    assert trace.objective[0] <= (least + 0.5 * np.abs(judge).sum()) * (1 + 2e-3)


@all_losses
@all_penalties
def test_threads_change_nothing(loss, is_class, leaf_penalty):
    problem = class_problem() if is_class else value_problem()
    options = options_of(loss, leaf_penalty=leaf_penalty)
    assert same(grow(problem, options), grow(problem, replace(options, n_threads=3)))


@all_losses
def test_weight_k_is_k_rows_and_weight_0_none(loss, is_class):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, 60)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5]).astype(np.int32)

    def problem_of(rows, weights):
        if is_class:
            return classification_problem(X[rows], y[rows], 3, weights)
        return regression_problem(X[rows], (X[rows, :1] * X[rows, 1:2]).astype(float), weights)

    is_kept = np.flatnonzero(counts)
    weighted = grow(problem_of(is_kept, counts[is_kept].astype(float)), options_of(loss))
    repeated = grow(
        problem_of(np.repeat(np.arange(60), counts), np.ones(counts.sum())), options_of(loss)
    )
    assert weighted.trace.objective == pytest.approx(repeated.trace.objective, rel=1e-6)


def test_rows_of_no_weight_count_nothing():
    weights = np.ones(120)
    weights[::3] = 0.0
    problem = class_problem(weights=weights)
    changed = replace(problem, targets=np.where(weights > 0, problem.targets, 0).astype(np.int32))
    one, two = (grow(p, options_of("squared_hinge")) for p in (problem, changed))
    assert same(one, two)
    assert one.trace.loss == two.trace.loss


@all_losses
def test_a_given_forest_is_gone_on_with(loss, is_class):
    problem = class_problem() if is_class else value_problem()
    options = options_of(loss, strict_descent=True, tol=0.0)
    first = grow(problem, options)
    later = grow(problem, options, starts=first.trees, keeps_leaves=True)
    assert later.trace.objective[0] <= first.trace.objective[-1] * (1 + 1e-6)
    assert later.trace.loss[0] == pytest.approx(first.trace.loss[-1], rel=1e-6)
    assert later.trace.objective[-1] <= later.trace.objective[0] * (1 + 1e-9)


@cache
def fitted_trees(loss, split):
    options = options_of(loss, split=split, max_iter=3, leaf_alpha=0.1)
    return grow(class_problem(), options, depth=4).trees


def rows_of(problem, numbers):
    X, y = problem.matrix[numbers], problem.classes[numbers]
    return classification_problem(X, y, 3, np.ones(len(numbers)))


@given(
    rows=st.lists(st.integers(0, 119), min_size=1, max_size=12, unique=True),
    loss=st.sampled_from(["squared_hinge", "log_loss"]),
    split=st.sampled_from(["oblique", "mixed"]),
    is_strict=st.booleans(),
    average_last=st.sampled_from([1, 2]),
)
@settings(max_examples=30, deadline=None)
def test_a_forest_that_goes_on_keeps_every_node(rows, loss, split, is_strict, average_last):
    trees = fitted_trees(loss, split)
    options = options_of(
        loss,
        strict_descent=is_strict,
        split=split,
        tol=0.0,
        max_iter=2,
        average_last=1 if is_strict else average_last,
    )
    later = grow(rows_of(class_problem(), rows), options, starts=trees, keeps_leaves=True)
    for before, after in zip(trees, later.trees, strict=True):
        assert np.array_equal(before.left, after.left)
        assert (np.diff(after.split_indptr)[after.left >= 0] > 0).all()
        assert np.array_equal(before.right, after.right)
    if is_strict:
        objective = np.array(later.trace.objective)
        assert (np.diff(objective) <= 1e-9 * (1 + objective[0])).all()


def test_what_no_row_reaches_stays_as_it_is():
    trees = fitted_trees("squared_hinge", "oblique")
    few = rows_of(class_problem(), [0, 1, 2])
    options = options_of("squared_hinge", max_iter=1)
    later = grow(few, options, starts=trees, keeps_leaves=True)
    for before, after in zip(trees, later.trees, strict=True):
        is_reached = np.isin(after.leaf_nodes, reference.apply(after, few.matrix))
        assert 0 < is_reached.sum() <= 3
        assert np.array_equal(before.leaf_values[~is_reached], after.leaf_values[~is_reached])


def test_a_forest_that_goes_on_never_has_more_weights_than_it_may():
    X, y = load_digits(return_X_y=True)
    problem = classification_problem(
        X[:200].astype(np.float32), y[:200].astype(np.int32), 10, np.ones(200)
    )
    wide = grow(problem, options_of("squared_hinge"), depth=3)
    options = options_of("squared_hinge", max_weights=5, keeps_iterations=True)
    later = grow(problem, options, starts=wide.trees, keeps_leaves=True)
    assert len(later.iterations) == 4
    assert all(widest_split(tree) <= 5 for trees in later.iterations for tree in trees)


def test_given_trees_start_with_leaves_of_their_own_otherwise():
    problem = class_problem()
    options = options_of("squared_hinge")
    first = grow(problem, options)
    later = grow(problem, options, starts=first.trees)
    assert later.trace.loss[0] == pytest.approx(first.trace.loss[-1], rel=0.2)
    shape_alone = grow(problem, options)
    assert later.trace.loss[0] < shape_alone.trace.loss[0]


def test_weights_are_limited():
    X, y = load_digits(return_X_y=True)
    problem = classification_problem(
        X[:300].astype(np.float32), y[:300].astype(np.int32), 10, np.ones(300)
    )
    found = grow(problem, options_of("squared_hinge", max_weights=5), depth=3)
    assert max(int(np.diff(tree.split_indptr).max()) for tree in found.trees) <= 5


def test_weights_are_limited_also_where_the_forest_fits_at_once():
    X, y = load_breast_cancer(return_X_y=True)
    problem = classification_problem(X.astype(np.float32), y.astype(np.int32), 2, np.ones(len(y)))
    options = options_of("squared_hinge", max_weights=2, leaf_alpha=0.01, max_iter=20)
    found = grow(problem, options, n_trees=5, depth=3)
    assert max(int(np.diff(tree.split_indptr).max()) for tree in found.trees) <= 2


def test_axis_splits_read_one_feature():
    found = grow(class_problem(), options_of("squared_hinge", split="axis"))
    assert max(int(np.diff(tree.split_indptr).max()) for tree in found.trees) <= 1


def test_more_trees_fit_better_together():
    problem = class_problem(300)
    alone = grow(problem, options_of("squared_hinge", max_iter=10), n_trees=1)
    together = grow(problem, options_of("squared_hinge", max_iter=10), n_trees=4)
    assert together.trace.loss[-1] < 0.7 * alone.trace.loss[-1]


def test_a_run_ends_when_nothing_is_gained():
    options = options_of("squared_hinge", strict_descent=True, max_iter=100, tol=1e-3)
    trace = grow(class_problem(), options).trace
    n_iterations = trace.phase.count("leaves")
    assert n_iterations < 100
    at_leaves = [
        o for o, phase in zip(trace.objective, trace.phase, strict=True) if phase == "leaves"
    ]
    assert at_leaves[-1] >= (1 - 1e-3) * at_leaves[-2]


def test_the_callback_sees_every_step():
    seen = []
    trace = grow(
        class_problem(), options_of("log_loss"), callback=lambda t: seen.append(len(t))
    ).trace
    assert seen == list(range(len(trace) + 1))


def widest_split(tree):
    return int(np.diff(tree.split_indptr).max())


def test_trees_of_mixed_forests_take_turns():
    found = grow(class_problem(), options_of("squared_hinge", split="mixed"), n_trees=4)
    assert [widest_split(tree) == 1 for tree in found.trees] == [False, True, False, True]


@all_losses
def test_no_step_of_a_mixed_strict_run_raises_the_objective(loss, is_class):
    problem = class_problem() if is_class else value_problem()
    options = options_of(loss, strict_descent=True, split="mixed", tol=0.0)
    trace = grow(problem, options, n_trees=4).trace
    assert (np.diff(trace.objective) <= 1e-9 * trace.objective[0]).all()


@all_losses
def test_a_forest_is_added_to_what_rows_have(loss, is_class):
    """With an offset, the forest is optimised on what the offset leaves over."""
    problem = class_problem() if is_class else value_problem()
    options = options_of(loss, strict_descent=True, max_iter=2)
    first = grow(problem, options)
    given = Forest(first.trees).sums(problem.rows, np.ones(3)) / problem.target_scale
    second = grow(problem, options, seed=1, offset=given)
    added = Forest(second.trees).sums(problem.rows, np.ones(3)) / problem.target_scale
    wanted = options.loss.wanted(problem.classes, 3) if is_class else problem.values
    total = options.loss.total(wanted, given + added, problem.classes, problem.sample_weight)
    assert total == pytest.approx(second.trace.loss[-1], rel=1e-6)
    before = options.loss.total(wanted, given, problem.classes, problem.sample_weight)
    assert second.trace.loss[-1] < before
    if not is_class:  # the mean is in the offset already
        assert np.abs(added.mean(axis=0)).max() < 0.2
