"""The step over all leaves of all trees, and the bounds by which it sees the losses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from spinney import _core
from spinney.algorithms import leaves as leaf_step
from spinney.algorithms.leaves import LeafTask, improve_leaves, solve_leaves
from spinney.algorithms.losses import forest_loss
from tests import reference
from tests.strategies import seeds

CLASS_LOSSES = ["squared_error", "squared_hinge", "log_loss"]
VALUE_LOSSES = ["squared_error"]


def leaf_task(seed, loss, *, is_class=True, n_rows=80, n_trees=3, n_leaves=5):
    """Random rows in random leaves."""
    rng = np.random.default_rng(seed)
    leaves = rng.integers(n_leaves, size=(n_trees, n_rows)) + n_leaves * np.arange(n_trees)[:, None]
    weights = rng.integers(1, 4, n_rows).astype(float)
    of = forest_loss(loss, 0.5)
    codes = rng.integers(3, size=n_rows).astype(np.int32) if is_class else np.zeros(0, np.int32)
    wanted = of.wanted(codes, 3) if is_class else rng.normal(size=(n_rows, 2))
    task = LeafTask(of, wanted, codes, weights)
    return task, leaves.astype(np.uint32), np.zeros((n_trees * n_leaves, wanted.shape[1]))


def cost(task, scores, values, l2):
    return task.loss.total(task.wanted, scores, task.codes, task.weights) + l2 * (values**2).sum()


def sparse_cost(task, leaves, values, l1):
    scores = np.add.reduce([values[of_tree] for of_tree in leaves])
    return task.total(scores) + l1 * np.abs(values).sum()


@pytest.mark.parametrize("direct_limit", [0, 1000], ids=["conjugate gradients", "direct"])
@pytest.mark.parametrize("l2", [0.01, 3.0, 1e4])
def test_squared_loss_is_solved_as_by_the_normal_equations(direct_limit, l2):
    task, leaves, start = leaf_task(0, "squared_error", is_class=False)
    system = _core.LeafSystem(leaves, task.weights, len(start), l2, direct_limit, 1)
    values = system.solve(task.wanted, start, 1e-9)
    judge = reference.ridge_leaves(leaves, task.weights, task.wanted, len(start), l2)
    assert values == pytest.approx(judge, abs=1e-7)
    sums = np.add.reduce([judge[of_tree] for of_tree in leaves])
    assert system.add_up(judge) == pytest.approx(sums, abs=1e-12)


@pytest.mark.parametrize("direct_limit", [0, 1000], ids=["conjugate gradients", "direct"])
def test_without_a_penalty_the_least_squares_are_reached(monkeypatch, direct_limit):
    monkeypatch.setattr(leaf_step, "DIRECT_LIMITS", (direct_limit, direct_limit))
    task, leaves, start = leaf_task(1, "squared_error", is_class=False)
    _, scores = solve_leaves(task, leaves, len(start), 0.0, n_rounds=1)
    best = reference.ridge_leaves(leaves, task.weights, task.wanted, len(start), 1e-9)
    best_scores = np.add.reduce([best[of_tree] for of_tree in leaves])
    assert cost(task, scores, best, 0.0) == pytest.approx(cost(task, best_scores, best, 0.0))


@pytest.mark.parametrize(
    ("loss", "is_class"),
    [(loss, True) for loss in CLASS_LOSSES] + [(loss, False) for loss in VALUE_LOSSES],
)
def test_rounds_never_raise_the_sum_and_lead_to_its_least_value(loss, is_class):
    task, leaves, values = leaf_task(2, loss, is_class=is_class)
    scores = np.zeros_like(task.wanted)
    l2 = 0.5
    costs = [cost(task, scores, values, l2)]
    for _ in range(40):
        values, scores = improve_leaves(task, leaves, values, scores, l2)
        costs.append(cost(task, scores, values, l2))
    assert (np.diff(costs) <= 1e-9).all()

    def judged(flat):
        theta = flat.reshape(values.shape)
        return cost(task, np.add.reduce([theta[of_tree] for of_tree in leaves]), theta, l2)

    best = minimize(judged, np.zeros(values.size), method="L-BFGS-B", options={"maxiter": 500})
    assert costs[-1] == pytest.approx(best.fun, rel=1e-4)


@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("l2", [1e-3, 1.0])
def test_many_rounds_lead_to_the_least_value_at_once(loss, l2):
    task, leaves, start = leaf_task(4, loss)
    values, scores = solve_leaves(task, leaves, len(start), l2, n_rounds=2000)

    def judged(flat):
        theta = flat.reshape(values.shape)
        return cost(task, np.add.reduce([theta[of_tree] for of_tree in leaves]), theta, l2)

    options = {"maxiter": 5000, "maxfun": 500_000}
    best = minimize(judged, np.zeros(values.size), method="L-BFGS-B", options=options)
    assert cost(task, scores, values, l2) <= best.fun * (1 + 2e-3)


@given(seed=seeds(), loss=st.sampled_from(CLASS_LOSSES))
@settings(max_examples=60, deadline=None)
def test_the_bound_touches_the_loss_and_is_never_below_it(seed, loss):
    task, _, _ = leaf_task(seed, loss, n_rows=20)
    rng = np.random.default_rng(seed)
    now, other = rng.normal(scale=2.0, size=(2, *task.wanted.shape))
    aim = task.loss.aim(task.wanted, now, task.codes)

    def bound(scores):
        squares = task.weights @ ((aim - scores) ** 2).sum(axis=1)
        return task.loss.curvature * squares

    def loss_at(scores):
        return task.loss.total(task.wanted, scores, task.codes, task.weights)

    gap = bound(now) - loss_at(now)
    assert bound(other) - loss_at(other) >= gap - 1e-9 * (1 + abs(gap))


@pytest.mark.parametrize("loss", [*CLASS_LOSSES, "absolute_error", "huber"])
def test_losses_are_those_of_single_rows(loss):
    is_class = loss in CLASS_LOSSES
    task, _, _ = leaf_task(3, loss, is_class=is_class)
    scores = np.random.default_rng(0).normal(size=task.wanted.shape)
    targets = task.codes if is_class else task.wanted
    slow = sum(
        weight * reference.forest_row_loss(loss, row, target, huber_delta=0.5)
        for weight, row, target in zip(task.weights, scores, targets, strict=True)
    )
    assert task.loss.total(task.wanted, scores, task.codes, task.weights) == pytest.approx(slow)


@pytest.mark.parametrize(
    ("leaves", "n_leaves", "l2", "message"),
    [
        ([[0, 5]], 3, 1.0, "out of range"),
        ([[0, 1]], 3, 0.0, "l2"),
        ([[0, 1]], 3, np.nan, "l2"),
        ([[0, 1, 2]], 3, 1.0, "one weight a row"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(leaves, n_leaves, l2, message):
    with pytest.raises(ValueError, match=message):
        _core.LeafSystem(np.array(leaves, dtype=np.uint32), np.ones(2), n_leaves, l2, 10, 1)


def test_targets_that_do_not_fit_are_refused():
    system = _core.LeafSystem(np.zeros((1, 2), dtype=np.uint32), np.ones(2), 1, 1.0, 10, 1)
    with pytest.raises(ValueError, match="one row a row"):
        system.solve(np.zeros((3, 1)), np.zeros((1, 1)), 1e-9)
    with pytest.raises(ValueError, match="one row a leaf"):
        system.add_up(np.zeros((2, 1)))


def gradient_left(task, leaves, values, l2):
    """Length of each output's gradient over that of leaves that are all zero."""
    counts = np.bincount(leaves.ravel(), np.tile(task.weights, len(leaves)), len(values)) + l2

    def length(values):
        rest = task.weights[:, None] * (task.wanted - np.add.reduce([values[t] for t in leaves]))
        slope = -l2 * values
        for of_tree in leaves:
            np.add.at(slope, of_tree, rest)
        return np.sqrt((slope**2 / counts[:, None]).sum(axis=0))

    return length(values) / length(np.zeros_like(values))


@pytest.mark.slow
@given(
    seed=seeds(),
    size=st.sampled_from([0.0, 1.0, 1e4]),
    nearness=st.sampled_from([1.0, 1e-2, 1e-5]),
    l2=st.sampled_from([0.01, 1.0]),
)
@settings(max_examples=30, deadline=None)
def test_the_joint_step_ends_at_the_same_gradient_from_any_start(seed, size, nearness, l2):
    task, leaves, start = leaf_task(seed, "squared_error", is_class=False, n_trees=8, n_leaves=16)
    judge = reference.ridge_leaves(leaves, task.weights, task.wanted, len(start), l2)
    start = judge + nearness * size * np.random.default_rng(seed).normal(size=start.shape)
    scores = np.add.reduce([start[of_tree] for of_tree in leaves])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaf_step, "DIRECT_LIMITS", (0, 0))
        values, _ = improve_leaves(task, leaves, start, scores, l2)
    assert (gradient_left(task, leaves, values, l2) <= 1.01 * leaf_step.IN_A_STEP).all()


def test_outputs_that_want_nothing_are_brought_to_nothing():
    task, leaves, start = leaf_task(0, "squared_error", is_class=False)
    task.wanted[:, 0] = 0.0
    system = _core.LeafSystem(leaves, task.weights, len(start), 1.0, 0, 1)
    values = system.solve(task.wanted, start + 100.0, 1e-4)
    assert np.abs(values[:, 0]).max() < 1e-6
    assert np.abs(values[:, 1]).max() > 1e-2


@pytest.mark.parametrize("is_class", [True, False])
def test_a_rough_step_goes_most_of_the_way(monkeypatch, is_class):
    """Conjugate gradients of one step of many end early, and yet come near."""
    monkeypatch.setattr(leaf_step, "DIRECT_LIMITS", (0, 0))
    task, leaves, start = leaf_task(1, "squared_error", is_class=is_class)
    zeros = np.zeros_like(task.wanted)
    values, scores = improve_leaves(task, leaves, start, zeros, 0.5)
    best, best_scores = solve_leaves(task, leaves, len(start), 0.5, n_rounds=1)
    least = cost(task, best_scores, best, 0.5)
    before = cost(task, zeros, np.zeros_like(start), 0.5)
    assert least <= cost(task, scores, values, 0.5) <= least + 0.01 * (before - least)


def test_larger_systems_are_factored_where_rows_are_many():
    limits = [leaf_step._direct_limit(10**exponent) for exponent in range(3, 12)]
    assert limits[0] == 1024
    assert limits[-1] == 4096
    assert limits == sorted(limits)


both_ways = pytest.mark.parametrize("gram_limit", [0, 1000], ids=["rows", "normal matrix"])


@given(
    seed=seeds(),
    l1=st.sampled_from([0.01, 0.3, 3.0, 30.0, 1e4]),
    n_rows=st.sampled_from([20, 80]),
    gram_limit=st.sampled_from([0, 1000]),
)
@settings(max_examples=30, deadline=None)
def test_sparse_leaves_are_within_their_duality_gap(seed, l1, n_rows, gram_limit):
    task, leaves, start = leaf_task(seed, "squared_error", is_class=False, n_rows=n_rows)
    task.weights[::5] = 0.0
    judge = reference.lasso_leaves(leaves, task.weights, task.wanted, len(start), l1, 200)
    start[judge == 0] = 0.3  # values to be given up
    start[np.setdiff1d(np.arange(len(start)), leaves[:, task.weights > 0])] = 0.0
    system = _core.LeafLasso(leaves, task.weights, len(start), l1, gram_limit, 1)
    values = system.solve(task.wanted, start, 1e-10)
    found = sparse_cost(task, leaves, values, l1)
    least = sum(
        reference.least_lasso(leaves, task.weights, wanted, of_output, l1)
        for wanted, of_output in zip(task.wanted.T, values.T, strict=True)
    )
    assert least * (1 - 1e-9) <= found <= least * (1 + 1e-4)
    assert found <= sparse_cost(task, leaves, judge, l1) * (1 + 1e-4)
    rough = sparse_cost(task, leaves, system.solve(task.wanted, start, 1e-3), l1)
    assert rough <= found * 1.01


@both_ways
@pytest.mark.parametrize("l1", [0.01, 0.5])
def test_sparse_leaves_are_as_good_as_those_of_scikit_learn(gram_limit, l1):
    """More leaves than rows is the hard case."""
    task, leaves, start = leaf_task(
        0, "squared_error", is_class=False, n_rows=80, n_trees=12, n_leaves=16
    )
    system = _core.LeafLasso(leaves, task.weights, len(start), l1, gram_limit, 1)
    values = system.solve(task.wanted, start, 1e-6)
    design = np.zeros((80, len(start)))
    for of_tree in leaves:
        design[np.arange(80), of_tree] = 1.0
    root = np.sqrt(task.weights)[:, None]
    judge = Lasso(alpha=l1 / 160, fit_intercept=False, tol=1e-6, max_iter=100_000)
    judge.fit(root * design, root * task.wanted)
    least = sparse_cost(task, leaves, judge.coef_.T, l1)
    assert sparse_cost(task, leaves, values, l1) <= least * (1 + 1e-4)
    step, _ = improve_leaves(task, leaves, start, np.zeros_like(task.wanted), 0.0, l1=l1)
    assert sparse_cost(task, leaves, step, l1) <= least * (1 + 1e-2)


@both_ways
@pytest.mark.parametrize("l1", [0.1, 2.0, 20.0])
def test_slopes_of_sparse_leaves_meet_the_optimality_conditions(gram_limit, l1):
    task, leaves, start = leaf_task(5, "squared_error", is_class=False)
    system = _core.LeafLasso(leaves, task.weights, len(start), l1, gram_limit, 1)
    values = system.solve(task.wanted, start, 1e-12)
    rest = task.weights[:, None] * (task.wanted - system.add_up(values))
    slopes = np.zeros_like(values)
    for of_tree in leaves:
        np.add.at(slopes, of_tree, 2.0 * rest)
    is_used = values != 0
    assert slopes[is_used] == pytest.approx(l1 * np.sign(values[is_used]), abs=1e-5 * l1)
    assert np.abs(slopes[~is_used]).max(initial=0.0) <= l1 * (1 + 1e-5)


@both_ways
def test_leaves_that_cancel_each_other_are_given_up(gram_limit):
    """Descent by steps of the size of a small penalty would take thousands of sweeps."""
    task, leaves, start = leaf_task(3, "squared_error", is_class=False, n_trees=2)
    leaves[1] = leaves[0] + 5
    task.wanted[:] = task.wanted[leaves[0]]  # what the leaves could give exactly
    alone = reference.lasso_leaves(leaves[:1], task.weights, task.wanted, 5, 1e-3)
    start[:5], start[5:] = alone + 5.0, -5.0
    system = _core.LeafLasso(leaves, task.weights, len(start), 1e-3, gram_limit, 1)
    values = system.solve(task.wanted, start, 1e-3)
    assert np.abs(values).sum() <= 1.01 * np.abs(alone).sum()


@both_ways
def test_a_large_absolute_penalty_leaves_nothing(gram_limit):
    task, leaves, start = leaf_task(6, "squared_error", is_class=False)
    largest = max(
        np.abs(2.0 * (task.weights * (of_tree == leaf)) @ task.wanted).max()
        for of_tree in leaves
        for leaf in range(len(start))
    )
    for factor, is_empty in ((1.001, True), (0.99, False)):
        system = _core.LeafLasso(leaves, task.weights, len(start), factor * largest, gram_limit, 1)
        assert (system.solve(task.wanted, start + 0.1, 1e-6) == 0).all() == is_empty


@both_ways
def test_sparse_leaves_without_weight_keep_their_values(gram_limit):
    task, leaves, start = leaf_task(7, "squared_error", is_class=False)
    leaves[0][leaves[0] == 2] = 1  # no row is in leaf 2, and those of leaf 8 have no weight
    task.weights[leaves[1] == 8] = 0.0
    system = _core.LeafLasso(leaves, task.weights, len(start), 0.5, gram_limit, 1)
    values = system.solve(task.wanted, start + 0.25, 1e-6)
    assert (values[[2, 8]] == 0.25).all()
    assert (values[[1, 7]] != 0.25).all()


@both_ways
@given(seed=seeds(), tolerance=st.sampled_from([0.5, 1e-3]))
@settings(max_examples=30, deadline=None)
def test_sparse_leaves_never_raise_the_sum(gram_limit, seed, tolerance):
    task, leaves, start = leaf_task(seed, "squared_error", is_class=False)
    system = _core.LeafLasso(leaves, task.weights, len(start), 1.0, gram_limit, 1)
    values = np.random.default_rng(seed).normal(size=start.shape)
    for _ in range(4):
        before = sparse_cost(task, leaves, values, 1.0)
        values = system.solve(task.wanted, values, tolerance)
        assert sparse_cost(task, leaves, values, 1.0) <= before * (1 + 1e-12)


@both_ways
def test_threads_change_no_bit_of_sparse_leaves(gram_limit):
    task, leaves, start = leaf_task(8, "squared_error")
    one, four = (
        _core.LeafLasso(leaves, task.weights, len(start), 0.1, gram_limit, n).solve(
            task.wanted, start, 1e-6
        )
        for n in (1, 4)
    )
    assert (one == four).all()


@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_rounds_with_an_absolute_penalty_never_raise_the_sum(loss):
    task, leaves, values = leaf_task(9, loss)
    scores = np.zeros_like(task.wanted)
    costs = [sparse_cost(task, leaves, values, 0.5)]
    for _ in range(40):
        values, scores = improve_leaves(task, leaves, values, scores, 0.0, l1=0.5)
        costs.append(sparse_cost(task, leaves, values, 0.5))
    assert (np.diff(costs) <= 1e-9).all()
    assert costs[-1] < 0.95 * costs[0]


def test_an_absolute_penalty_of_nothing_is_refused():
    with pytest.raises(ValueError, match="l1="):
        _core.LeafLasso(np.zeros((1, 2), dtype=np.uint32), np.ones(2), 1, 0.0, 10, 1)
    with pytest.raises(ValueError, match="two trees"):
        _core.LeafLasso(np.zeros((2, 2), dtype=np.uint32), np.ones(2), 1, 1.0, 10, 1)


def test_normal_matrices_are_counted_where_rows_are_many():
    assert leaf_step._gram_limit(30 * 442) < 960
    assert leaf_step._gram_limit(10 * 60_000) > 640
    assert leaf_step._gram_limit(10**9) == leaf_step.DIRECT_LIMITS[1]
