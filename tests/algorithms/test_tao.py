"""The invariants of alternating optimisation, and its trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_classification, make_regression

from spinney import _core
from spinney.algorithms.tao import TAOOptions, draw_splits, optimize_tree
from spinney.data import as_rows, classification_problem, regression_problem
from spinney.estimators import TAOTreeClassifier
from spinney.tree import Tree, complete_topology
from spinney.tree.route import apply, outputs
from tests import reference
from tests.strategies import classification_rows, regression_rows, seeds, topologies

CLASS_LOSSES = ["zero_one", "log_loss"]
VALUE_LOSSES = ["squared_error", "absolute_error", "huber"]
all_splits = pytest.mark.parametrize("split", ["oblique", "axis"])
all_leaves = pytest.mark.parametrize("leaf", ["constant", "linear"])
all_losses = pytest.mark.parametrize("loss", CLASS_LOSSES + VALUE_LOSSES)


def problem_of(task, n_classes=3):
    if task.y.ndim == 1:
        return classification_problem(task.X, task.y, n_classes, task.sample_weight)
    return regression_problem(task.X, task.y, task.sample_weight)


def tasks(loss):
    return classification_rows() if loss in CLASS_LOSSES else regression_rows()


def iris_problem(container=np.asarray):
    X, y = load_iris(return_X_y=True)
    X = container(X.astype(np.float32))
    return classification_problem(X, y.astype(np.int32), 3, np.ones(len(y)))


def scaled_targets(task, problem):
    """Targets in the unit in which losses are measured."""
    return task.y if problem.n_classes else task.y / problem.target_scale


def in_target_units(tree, problem):
    """Tree whose leaves answer in that unit."""
    return replace(
        tree,
        leaf_values=tree.leaf_values / problem.target_scale,
        leaf_weights=tree.leaf_weights / np.float32(problem.target_scale),
    )


# --- the objective -----------------------------------------------------------------------------


@all_splits
@all_leaves
@all_losses
@pytest.mark.parametrize("strict", [True, "sweep"])
def test_strict_objective_never_rises(loss, leaf, split, strict):
    @given(tasks(loss), topologies(max_splits=5), seeds(), st.sampled_from([0.0, 0.05, 1.0]))
    @settings(max_examples=12)
    def check(task, topology, seed, alpha):
        options = TAOOptions(
            loss=loss, leaf=leaf, split=split, alpha=alpha, seed=seed, strict_descent=strict,
            max_iter=5, tol=0,
        )  # fmt: skip
        objective = np.array(optimize_tree(problem_of(task), topology, options).trace.objective)
        assert np.all(np.diff(objective) <= 1e-9 * (1 + objective[0]))

    check()


def test_guarded_sweeps_get_lower_than_guarded_nodes():
    X, y = make_classification(
        1500, 10, n_informative=8, n_redundant=0, n_classes=8, random_state=0
    )
    problem = classification_problem(X.astype(np.float32), y.astype(np.int32), 8, np.ones(len(y)))
    sweeps, nodes = (
        sum(
            optimize_tree(
                problem, complete_topology(6), TAOOptions(strict_descent=strict, seed=seed)
            ).trace.objective[-1]
            for seed in range(4)
        )
        for strict in ("sweep", True)
    )
    assert sweeps < 0.95 * nodes


def is_clear(tree, X):
    """Whether no row lies on a hyperplane up to rounding, where precisions part."""
    for node in np.flatnonzero(tree.left >= 0):
        used = slice(*tree.split_indptr[node : node + 2])
        terms = X[:, tree.split_indices[used]] * tree.split_weights[used].astype(float)
        size = np.abs(terms).sum(axis=1) + abs(tree.bias[node])
        if (np.abs(terms.sum(axis=1) + tree.bias[node]) < 1e-6 * size).any():
            return False
    return True


@all_splits
@all_leaves
@all_losses
def test_returned_objective_is_the_least_of_the_trace(loss, leaf, split):
    @given(tasks(loss), topologies(max_splits=5), seeds(), st.sampled_from([0.0, 0.05, 1.0]))
    @settings(max_examples=12)
    def check(task, topology, seed, alpha):
        problem = problem_of(task)
        options = TAOOptions(loss=loss, leaf=leaf, split=split, alpha=alpha, seed=seed, max_iter=6)
        result = optimize_tree(problem, topology, options)
        assume(is_clear(result.tree, task.X) and is_clear(result.unpruned, task.X))
        least = min(result.trace.objective[1:])  # a random start pays no penalty and does not count
        assert result.trace.objective[-1] <= least + 1e-9 * (1 + least)
        naive = {
            "loss": loss, "split": split, "alpha": alpha, "scale": problem.scale,
            "huber_delta": 1 / problem.target_scale,
        }  # fmt: skip
        arrays = (task.X, scaled_targets(task, problem), task.sample_weight)
        tolerance = 1e-4 if leaf == "linear" else 1e-9  # linear leaves add up in float32
        returned = reference.objective(in_target_units(result.tree, problem), *arrays, **naive)
        assert returned == pytest.approx(result.trace.objective[-1], rel=tolerance, abs=tolerance)
        unpruned = reference.objective(in_target_units(result.unpruned, problem), *arrays, **naive)
        assert returned <= unpruned + tolerance * (1 + unpruned)

    check()


def sparse_regression(n_rows=200, n_features=12):
    """Rows whose targets follow two of many columns: deep trees lose leaves while exploring."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    y = np.where(X[:, 0] > 0, X[:, 1], -X[:, 1]) + 0.1 * rng.normal(size=n_rows)
    return X, y[:, None]


@pytest.mark.parametrize("order", ["root_first", "leaves_first"])
@pytest.mark.parametrize("leaf_penalty", ["l1", "l2"])
@pytest.mark.parametrize("strict_descent", [False, True])
def test_trace_ends_with_the_objective_of_the_returned_tree(strict_descent, leaf_penalty, order):
    """Leaves and splits that no row reaches are pruned, and cost nothing."""
    X, y = sparse_regression()
    problem = regression_problem(X, y, np.ones(len(X)))
    for seed in range(3):
        options = TAOOptions(
            loss="squared_error", leaf="linear", leaf_penalty=leaf_penalty, alpha=0.5, seed=seed,
            max_iter=8, strict_descent=strict_descent, order=order,
        )  # fmt: skip
        found = optimize_tree(problem, complete_topology(5), options)
        scratch = reference.objective(
            in_target_units(found.tree, problem), X, y / problem.target_scale, np.ones(len(X)),
            loss="squared_error", split="oblique", alpha=0.5, scale=problem.scale,
            leaf_penalty=leaf_penalty,
        )  # fmt: skip
        assert found.tree.n_leaves < 32
        assert found.trace.objective[-1] == pytest.approx(scratch, rel=1e-5)


@given(classification_rows(), topologies(), seeds())
def test_errors_of_the_tree_are_the_loss_of_the_trace(task, topology, seed):
    problem = problem_of(task)
    result = optimize_tree(problem, topology, TAOOptions(seed=seed, max_iter=4))
    answers = outputs(result.tree, problem.rows)  # as predict does: rows may lie on a hyperplane
    errors = task.sample_weight[answers.argmax(axis=1) != task.y].sum()
    assert errors == pytest.approx(result.trace.loss[-1])


@pytest.mark.parametrize("order", ["root_first", "leaves_first"])
def test_default_schedule_beats_its_start(order):
    options = TAOOptions(order=order, init="balanced")
    result = optimize_tree(iris_problem(), complete_topology(3), options)
    assert result.trace.loss[-1] <= 5
    assert result.trace.objective[-1] < result.trace.objective[0]


# --- reach and care points ---------------------------------------------------------------------


def native_optimizer(problem, topology, loss, seed):
    task = _core.Task(
        problem.classes, problem.values, problem.sample_weight, problem.n_outputs, loss, "constant",
        1.0, 0.1, 0.0, 2,
    )  # fmt: skip
    native = _core.TreeOptimizer(
        problem.rows, problem.mean, problem.inverse_scale, *topology, task, {"alpha": 0.1},
        "oblique", 1, seed,
    )  # fmt: skip
    native.draw_splits("random", 1e-3)  # a balanced start puts rows on the hyperplane
    return native


def tree_of(native, problem, topology):
    bias, split_rows = native.splits()
    values, leaf_rows = native.leaves()
    return Tree(
        problem.n_features, *topology, bias, *split_rows, "constant", values, *leaf_rows
    ).check()


@pytest.mark.parametrize("loss", CLASS_LOSSES + VALUE_LOSSES)
def test_care_points_are_those_of_naive_routing(loss):
    @given(tasks(loss), topologies(max_splits=5), seeds(), st.booleans())
    @settings(max_examples=25)
    def check(task, topology, seed, is_swept):
        problem = problem_of(task)
        native = native_optimizer(problem, topology, loss, seed)
        if is_swept and native.n_levels:
            native.solve_level(0, 1, False)
            native.fit_leaves(1, False)
        tree = tree_of(native, problem, topology)
        for node in tree.split_nodes:
            rows, labels, weights = native.care_points(int(node))
            order = np.argsort(rows)
            arrays = (task.X, scaled_targets(task, problem), task.sample_weight)
            naive = reference.care_points(tree, node, *arrays, loss)
            assert rows[order].tolist() == [row for row, _, _ in naive]
            assert labels[order].tolist() == [label for _, label, _ in naive]
            assert weights[order] == pytest.approx([weight for _, _, weight in naive])

    check()


@given(classification_rows(), topologies(), seeds())
def test_reach_of_a_node_is_the_union_of_its_children(task, topology, seed):
    problem = problem_of(task)
    native = native_optimizer(problem, topology, "zero_one", seed)
    for level in range(native.n_levels):
        native.solve_level(level, 1, False)
    native.fit_leaves(1, False)
    tree = tree_of(native, problem, topology)
    reach = native.reach()
    assert reach[0] == len(task.X)
    splits = tree.split_nodes
    assert np.array_equal(reach[splits], reach[tree.left[splits]] + reach[tree.right[splits]])
    assert np.array_equal(native.leaf_of(), apply(tree, problem.rows))
    assert np.array_equal(reach, reference.decision_path(
        tree, task.X, reference.score_of_products
    ).sum(axis=0))  # fmt: skip


# --- the same model, bit for bit ---------------------------------------------------------------


def noisy_rows(n_features, density):
    X, y = make_classification(
        1500, n_features, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
    )
    keep = np.random.default_rng(0).random(X.shape) < density
    return (X * keep).astype(np.float32), y.astype(np.int32)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("split", ["oblique", "axis"])
@pytest.mark.parametrize(
    ("n_features", "density"), [(10, 1.0), (10, 0.05), (120, 1.0), (120, 0.05)]
)
def test_threads_and_container_change_no_bit(n_features, density, split, leaf):
    X, y = noisy_rows(n_features, density)
    options = {"split": split, "leaf": leaf, "max_iter": 4, "seed": 3}
    found = []
    for container in (np.asarray, sp.csr_matrix):
        for n_threads in (1, 3):
            problem = classification_problem(
                container(X), y, 3, np.ones(len(y)), n_threads=n_threads
            )
            chosen = TAOOptions(n_threads=n_threads, **options)
            found.append(optimize_tree(problem, complete_topology(4), chosen))
    for other in found[1:]:
        assert other.tree.same_as(found[0].tree)
        assert other.trace.objective == found[0].trace.objective


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("split", ["oblique", "axis"])
@pytest.mark.parametrize("n_features", [10, 120])
def test_bytes_give_the_bits_of_floats(n_features, split, leaf):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, size=(600, n_features)).astype(np.float32)
    y = (X[:, 0] > X[:, 1]).astype(np.int32) + (X[:, 2] > 200)
    problem = classification_problem(X, y.astype(np.int32), 3, np.ones(600))
    options = TAOOptions(split=split, leaf=leaf, max_iter=4)
    found = [
        optimize_tree(replace(problem, rows=rows), complete_topology(4), options)
        for rows in (as_rows(X), _core.byte_rows(X))
    ]
    assert found[0].tree.same_as(found[1].tree)


@pytest.fixture
def simd_level():
    """A switch for the level of vector instructions that is turned back in the end."""
    best = _core.simd_level()
    yield _core.use_simd_level
    _core.use_simd_level(best)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("n_features", [10, 120])
def test_vector_instructions_change_no_bit(n_features, leaf, simd_level):
    X, y = noisy_rows(n_features, 1.0)
    whole = np.clip(np.round(20 * X + 100), 0, 255).astype(np.float32)
    options = TAOOptions(leaf=leaf, max_iter=4)
    for data in (X, whole):
        problem = classification_problem(data, y, 3, np.ones(len(y)))
        found = []
        for level in _core.simd_levels():
            simd_level(level)
            assert _core.simd_level() == level
            found.append(optimize_tree(problem, complete_topology(4), options))
        for other in found[1:]:
            assert other.tree.same_as(found[0].tree)


@pytest.mark.parametrize(
    ("wanted", "found"), [("baseline", "baseline"), ("unknown", _core.simd_levels()[-1])]
)
def test_vector_instructions_are_chosen_by_the_environment(wanted, found):
    code = "from spinney import _core; print(_core.simd_level())"
    environment = {**os.environ, "SPINNEY_SIMD": wanted}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == found


@pytest.mark.parametrize("split", ["oblique", "axis"])
@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_weight_k_is_the_row_k_times(seed, loss, split):
    X, y = noisy_rows(6, 1.0)
    X, y = X[:200], y[:200]
    weights = np.random.default_rng(seed).integers(1, 4, size=200)
    options = TAOOptions(loss=loss, split=split, max_iter=6, seed=seed)
    weighted = optimize_tree(
        classification_problem(X, y, 3, weights.astype(float)), complete_topology(3), options
    )
    copies = (X.repeat(weights, axis=0), y.repeat(weights))
    repeated = optimize_tree(
        classification_problem(*copies, 3, np.ones(weights.sum())), complete_topology(3), options
    )
    assert weighted.trace.objective == pytest.approx(repeated.trace.objective, rel=1e-4)
    rows = as_rows(X)
    assert np.array_equal(apply(weighted.tree, rows), apply(repeated.tree, rows))


# --- rows of weight 0, and columns drawn for each split -------------------------------------------

KINDS = ["dense", "sparse", "bytes"]
all_kinds = pytest.mark.parametrize("kind", KINDS)


def byte_values(n_features, n_rows=240):
    """Whole numbers from 0 to 255, mostly 0, that each kind of rows can hold; and noisy classes."""
    rng = np.random.default_rng(n_features)
    X = rng.integers(0, 256, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.3)
    X = X.astype(np.float32)
    y = (X[:, 0] > X[:, 1]).astype(np.int32) + (X[:, 2] > 0)
    noise = rng.random(n_rows) < 0.1
    return X, np.where(noise, rng.integers(3, size=n_rows), y).astype(np.int32)


def in_kind(problem, kind):
    """The same problem, its rows held in one of the three ways."""
    hold = {
        "dense": as_rows,
        "sparse": lambda X: as_rows(sp.csr_matrix(X)),
        "bytes": _core.byte_rows,
    }[kind]
    centre = 0 * problem.mean if kind == "sparse" else problem.mean
    return replace(problem, rows=hold(problem.matrix), mean=centre)


def problem_of_loss(X, y, weights, loss):
    if loss in CLASS_LOSSES:
        return classification_problem(X, y, 3, weights)
    return regression_problem(X, np.column_stack([y + X[:, 0] / 255, y]), weights)


@all_kinds
@all_splits
@pytest.mark.parametrize(
    ("loss", "leaf"),
    [("zero_one", "constant"), ("log_loss", "linear"), ("squared_error", "linear"),
     ("huber", "constant")],
)  # fmt: skip
@pytest.mark.parametrize("n_features", [6, 80])
@pytest.mark.parametrize("max_features", [0, 3])
def test_weight_zero_is_the_row_left_out_bit_for_bit(
    max_features, n_features, loss, leaf, split, kind
):
    X, y = byte_values(n_features)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2, len(y)) * (rng.random(len(y)) < 0.6)
    kept = weights > 0
    whole = in_kind(problem_of_loss(X, y, weights, loss), kind)
    part = in_kind(problem_of_loss(X[kept], y[kept], weights[kept], loss), kind)
    part = replace(
        part, mean=whole.mean, scale=whole.scale, squared_length=whole.squared_length,
        target_scale=whole.target_scale,
    )  # fmt: skip
    options = TAOOptions(
        loss=loss, leaf=leaf, split=split, max_iter=4, seed=2, max_features=max_features
    )
    one, two = (optimize_tree(task, complete_topology(3), options) for task in (whole, part))
    assert one.tree.same_as(two.tree)
    assert one.unpruned.same_as(two.unpruned)
    assert one.trace.objective == two.trace.objective
    assert one.trace.loss == two.trace.loss


@all_kinds
def test_rows_of_weight_zero_reach_no_node(kind):
    X, y = byte_values(6)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    problem = in_kind(classification_problem(X, y, 3, weights), kind)
    native = native_optimizer(problem, complete_topology(2), "zero_one", 0)
    native.solve_level(0, 1, False)
    native.fit_leaves(1, False)
    assert native.reach()[0] == weights.sum()
    for node in range(3):
        rows, _, _ = native.care_points(node)
        assert weights[rows].all()


def test_class_of_no_weight_keeps_its_place():
    X, y = byte_values(6)
    problem = classification_problem(X, y, 3, (y != 1).astype(float))
    tree = optimize_tree(problem, complete_topology(3), TAOOptions()).tree
    assert tree.n_outputs == 3
    assert not tree.leaf_values[:, 1].any()


def native_with_columns(problem, max_features, split, n_threads=1):
    task = _core.Task(
        problem.classes, problem.values, problem.sample_weight, problem.n_outputs, "log_loss",
        "constant", 1.0, 0.0, 0.0, 2,
    )  # fmt: skip
    native = _core.TreeOptimizer(
        problem.rows, problem.mean, problem.inverse_scale, *complete_topology(3), task,
        {"alpha": 1e-3, "max_newton": 3, "epochs": 2, "step": 0.3, "newton_limit": 64,
         "ridge": 0.01}, split, n_threads, 4, max_features,
    )  # fmt: skip
    native.draw_splits("balanced", 1e-3)
    return native


@all_kinds
@all_splits
@pytest.mark.parametrize("n_features", [6, 80])
def test_splits_keep_to_the_same_few_columns_in_every_sweep(n_features, split, kind):
    X, y = byte_values(n_features)
    problem = in_kind(classification_problem(X, y, 3, np.ones(len(y))), kind)
    native = native_with_columns(problem, 2, split)
    used = [set() for _ in range(7)]
    for sweep in range(7):  # the start is sweep 0
        for level in range(native.n_levels if sweep else 0):
            native.solve_level(level, sweep, sweep > 4)
        native.fit_leaves(sweep, sweep > 4)
        _, (indptr, indices, _) = native.splits()
        for node in range(7):
            used[node] |= set(indices[indptr[node] : indptr[node + 1]].tolist())
    assert max(len(columns) for columns in used) == 2
    assert len(set().union(*used)) > 2  # not the same for all splits


@all_kinds
@all_splits
@all_leaves
@pytest.mark.parametrize("loss", ["zero_one", "squared_error"])
def test_strict_objective_never_rises_on_drawn_columns(loss, leaf, split, kind):
    X, y = byte_values(8)
    problem = in_kind(problem_of_loss(X, y, np.ones(len(y)), loss), kind)
    for seed in range(3):
        options = TAOOptions(
            loss=loss, leaf=leaf, split=split, seed=seed, strict_descent=True, max_iter=5, tol=0,
            max_features=2,
        )  # fmt: skip
        trace = optimize_tree(problem, complete_topology(3), options).trace
        assert np.all(np.diff(trace.objective) <= 1e-9 * (1 + trace.objective[0]))


@pytest.mark.parametrize("max_features", [6, 7, 1000])
def test_as_many_columns_as_there_are_is_all_columns(max_features):
    X, y = byte_values(6)
    problem = classification_problem(X, y, 3, np.ones(len(y)))
    found = [
        optimize_tree(problem, complete_topology(3), TAOOptions(max_iter=3, max_features=number))
        for number in (0, max_features)
    ]
    assert found[0].tree.same_as(found[1].tree)


@all_splits
@pytest.mark.parametrize("n_features", [8, 80])
def test_threads_and_kinds_change_no_bit_on_drawn_columns(n_features, split):
    X, y = byte_values(n_features, n_rows=1500)
    problem = classification_problem(X, y, 3, np.ones(len(y)))
    found = []
    for kind, n_threads in (("dense", 1), ("dense", 3), ("bytes", 1), ("bytes", 3)):
        options = TAOOptions(split=split, max_iter=4, max_features=3, n_threads=n_threads)
        found.append(optimize_tree(in_kind(problem, kind), complete_topology(4), options))
    assert all(other.tree.same_as(found[0].tree) for other in found[1:])


def test_seed_decides_the_columns():
    X, y = byte_values(30)
    problem = classification_problem(X, y, 3, np.ones(len(y)))
    used = []
    for seed in (0, 0, 1):
        options = TAOOptions(max_features=2, seed=seed, max_iter=2, alpha=0.0)
        used.append(optimize_tree(problem, complete_topology(3), options).unpruned.split_indices)
    assert np.array_equal(used[0], used[1])
    assert not np.array_equal(used[0], used[2])


# --- the seed ------------------------------------------------------------------------------------


@all_splits
@pytest.mark.parametrize("values", [{}, {"strict_descent": True}, {"leaf": "linear"},
                                    {"max_features": 2}, {"init": "balanced"},
                                    {"max_weights": 2}], ids=str)  # fmt: skip
@given(task=classification_rows(), topology=topologies(), seed=seeds())
@settings(max_examples=10)
def test_splits_drawn_beforehand_are_those_of_the_tree_itself(split, values, task, topology, seed):
    problem = problem_of(task)
    options = TAOOptions(max_iter=3, split=split, seed=seed, start_seed=seed // 2, **values)
    drawn = optimize_tree(problem, draw_splits(problem, topology, options), options)
    own = optimize_tree(problem, topology, options)
    assert drawn.unpruned.same_as(own.unpruned)
    assert drawn.trace.objective == own.trace.objective


def test_seed_decides_the_start():
    topology = complete_topology(3)
    runs = [
        optimize_tree(iris_problem(), topology, TAOOptions(seed=seed, max_iter=3))
        for seed in (1, 1, 2)
    ]
    assert runs[0].tree.same_as(runs[1].tree)
    assert not runs[0].tree.same_as(runs[2].tree)


# --- the trace and the stop --------------------------------------------------------------------


@pytest.mark.parametrize("max_iter", [1, 2, 5, 20])
@pytest.mark.parametrize("strict_descent", [False, True])
def test_trace_has_an_entry_a_sweep_and_one_for_the_start(max_iter, strict_descent):
    options = TAOOptions(max_iter=max_iter, strict_descent=strict_descent)
    trace = optimize_tree(iris_problem(), complete_topology(3), options).trace
    assert 1 <= len(trace) <= max_iter
    assert {len(column) for column in trace.as_dict().values()} == {len(trace) + 1}
    assert trace.phase[0] == "start"
    # A fifth of the sweeps settle; too few sweeps leave none for it.
    assert trace.phase[-1] == "settle" or (not strict_descent and max_iter < 3)
    assert set(trace.phase[1:]) <= ({"settle"} if strict_descent else {"explore", "settle"})
    assert trace.seconds == sorted(trace.seconds)
    assert all(0 <= n_active <= 7 for n_active in trace.n_active)
    assert all(
        loss <= objective for loss, objective in zip(trace.loss, trace.objective, strict=True)
    )


def test_tolerance_stops_early():
    runs = {
        tol: optimize_tree(
            iris_problem(),
            complete_topology(3),
            TAOOptions(strict_descent=True, max_iter=50, tol=tol),
        ).trace
        for tol in (0.0, 1e-4, 0.5)
    }
    assert len(runs[0.5]) <= len(runs[1e-4]) < len(runs[0.0]) == 50
    fall = np.diff(runs[0.5].objective)
    assert -fall[-1] <= 0.5 * runs[0.5].objective[-2]
    assert np.all(-fall[:-1] > 0.5 * np.array(runs[0.5].objective[:-2]))


def test_callback_sees_every_entry_of_the_trace():
    seen = []
    options = TAOOptions(max_iter=4)
    result = optimize_tree(
        iris_problem(),
        complete_topology(2),
        options,
        callback=lambda trace: seen.append(len(trace)),
    )
    assert seen == list(range(len(result.trace) + 1))


def test_start_from_a_tree_never_ends_above_it():
    first = optimize_tree(iris_problem(), complete_topology(3), TAOOptions(max_iter=3))
    again = optimize_tree(iris_problem(), first.tree, TAOOptions(max_iter=3, seed=9))
    assert again.trace.objective[0] == pytest.approx(first.trace.objective[-1], rel=1e-6)
    assert again.trace.objective[-1] <= again.trace.objective[0]


# --- odd data ----------------------------------------------------------------------------------


@all_splits
@all_leaves
def test_constant_rows_give_one_leaf(split, leaf):
    X = np.full((20, 3), 2.5, dtype=np.float32)
    y = np.arange(20, dtype=np.int32) % 3
    problem = classification_problem(X, y, 3, np.ones(20))
    tree = optimize_tree(problem, complete_topology(2), TAOOptions(split=split, leaf=leaf)).tree
    assert tree.n_leaves == 1
    assert not tree.split_weights.any()


@all_splits
@all_leaves
@all_losses
def test_one_class_or_one_value_gives_one_leaf_without_loss(loss, leaf, split):
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    weights = np.ones(50)
    problem = (
        classification_problem(X, np.zeros(50, np.int32), 1, weights)
        if loss in CLASS_LOSSES
        else regression_problem(X, np.full((50, 2), 3.0), weights)
    )
    options = TAOOptions(loss=loss, leaf=leaf, split=split)
    result = optimize_tree(problem, complete_topology(2), options)
    assert result.trace.objective[-1] == pytest.approx(0, abs=1e-6)
    assert result.tree.n_leaves == 1


def test_one_row_is_fitted():
    X = np.ones((1, 2), dtype=np.float32)
    problem = regression_problem(X, np.array([[7.0]]), np.ones(1))
    tree = optimize_tree(problem, complete_topology(3), TAOOptions(loss="squared_error")).tree
    assert tree.leaf_values.tolist() == [[7.0]]


def test_several_outputs_are_fitted_together():
    X, Y = make_regression(200, 5, n_targets=3, random_state=0)
    problem = regression_problem(X.astype(np.float32), Y, np.ones(200))
    result = optimize_tree(problem, complete_topology(3), TAOOptions(loss="squared_error"))
    assert result.tree.n_outputs == 3
    variance = np.sum((Y - Y.mean(axis=0)) ** 2) / problem.target_scale**2
    assert result.trace.loss[-1] < 0.6 * variance


# --- Ctrl-C ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("leaf", "n_jobs"), [("constant", 1), ("constant", 2), ("linear", 1)])
def test_interrupt_returns_promptly_and_changes_nothing(leaf, n_jobs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 40)).astype(np.float32)
    y = rng.integers(5, size=20_000)
    tree = TAOTreeClassifier(max_depth=2, max_iter=1, random_state=0).fit(X[:500], y[:500])
    tree.set_params(max_depth=8, max_iter=10**6, leaf=leaf, n_jobs=n_jobs, tol=0.0)
    before = dict(vars(tree))
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tree.fit(X, y)
    finally:
        timer.cancel()  # a fit that fails at once must not be followed by a signal
    assert time.perf_counter() - sent[0] < 2
    assert vars(tree) == before


# --- starting from a tree ----------------------------------------------------------------------


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_a_restarted_regression_tree_starts_where_it_ended(leaf):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4)).astype(np.float32)
    y = 70.0 * X[:, :1] + 900.0 + rng.standard_normal((200, 1))
    problem = regression_problem(X, y.astype(np.float64), np.ones(200))
    options = TAOOptions(loss="squared_error", leaf=leaf, max_iter=5)
    first = optimize_tree(problem, complete_topology(2), options)
    again = optimize_tree(problem, first.unpruned, options)
    assert again.trace.objective[0] == pytest.approx(first.trace.objective[-1], rel=1e-4)


def test_weights_on_columns_that_became_constant_stay_finite():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4)).astype(np.float32)
    codes = (X[:, 0] + X[:, 3] > 0).astype(np.int32)
    first = optimize_tree(
        classification_problem(X, codes, 2, np.ones(200)), complete_topology(2), TAOOptions()
    )
    X[:, 3] = 0.5
    problem = classification_problem(X, codes, 2, np.ones(200))
    again = optimize_tree(problem, first.unpruned, TAOOptions())
    assert np.isfinite(again.trace.objective).all()
    assert np.isfinite(again.tree.split_weights).all()
    assert np.isfinite(again.tree.bias).all()
