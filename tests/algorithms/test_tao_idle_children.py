"""Children that no row needs get a label that wins them rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from spinney import _core
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import classification_problem
from spinney.tree import complete_topology

ROWS = np.linspace(-1, 1, 40, dtype=np.float32)[:, None] * np.ones((1, 3), dtype=np.float32)
CLASSES = (ROWS[:, 0] > 0).astype(np.int32)


def native_of(problem, loss, depth):
    task = _core.Task(
        problem.classes, problem.values, problem.sample_weight, problem.n_outputs, loss,
        "constant", 1.0, 0.0, 0.0, 2,
    )  # fmt: skip
    return _core.TreeOptimizer(
        problem.rows, problem.mean, problem.inverse_scale, *complete_topology(depth), task,
        {"alpha": 1e-3, "max_newton": 5, "ridge": 0.01}, "oblique", 1, 0,
    )  # fmt: skip


def set_labels(native, bias, labels, n_classes):
    """A tree that sends every row one way, with the given label in each leaf."""
    n_splits = len(labels) - 1
    n_nodes = n_splits + len(labels)
    fractions = np.eye(n_classes)[labels]
    native.set_tree(
        np.r_[np.full(n_splits, bias), np.zeros(len(labels))],
        np.zeros(n_nodes + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.float32),
        fractions,
        np.zeros((0, 1), dtype=np.float32),
    )


@pytest.mark.parametrize("loss", ["zero_one", "log_loss"])
@pytest.mark.parametrize("bias", [1.0, -1.0])
def test_node_above_two_equal_leaves_finds_the_split(bias, loss):
    problem = classification_problem(ROWS, CLASSES, 2, np.ones(40))
    native = native_of(problem, loss, 1)
    set_labels(native, bias, [0, 0], 2)
    assert native.objective()[0] > 0
    native.solve_level(0, 1, False)
    native.fit_leaves(1, False)
    assert native.objective()[0] == 0


def test_guarded_sweeps_relabel_nothing():
    problem = classification_problem(ROWS, CLASSES, 2, np.ones(40))
    native = native_of(problem, "zero_one", 1)
    set_labels(native, 1.0, [0, 0], 2)
    native.solve_level(0, 1, True)
    native.fit_leaves(1, True)
    values, _ = native.leaves()
    assert values[0].tolist() == [1.0, 0.0]  # the empty leaf is as it was


def test_node_that_loses_nothing_stays_idle():
    problem = classification_problem(ROWS, np.zeros(40, dtype=np.int32), 2, np.ones(40))
    native = native_of(problem, "zero_one", 2)
    set_labels(native, 1.0, [0, 0, 0, 0], 2)
    for level in (0, 1):
        native.solve_level(level, 1, False)
    assert native.count_active() == 0


def test_losses_after_relabelling_are_those_of_the_leaves():
    """What a sweep keeps up to date equals what is found when the same tree is set anew."""
    X, y = load_digits(return_X_y=True)
    problem = classification_problem(X.astype(np.float32), y.astype(np.int32), 10, np.ones(len(y)))
    native, fresh = (native_of(problem, "zero_one", 4) for _ in range(2))
    native.draw_splits("random", 1e-3)
    for sweep in range(1, 5):
        for level in (3, 2, 1, 0):
            native.solve_level(level, sweep, False)
            bias, csr = native.splits()
            before = native.objective()[0]
        native.fit_leaves(sweep, False)
        assert native.objective()[0] <= before
        fresh.set_tree(bias, *csr, native.leaves()[0], np.zeros((0, 1), dtype=np.float32))
        assert fresh.objective()[0] == native.objective()[0]
        assert (fresh.leaf_of() == native.leaf_of()).all()


def test_every_class_of_many_gets_leaves():
    """From random biases most leaves are empty at first; twelve classes need twelve of them."""
    rng = np.random.default_rng(0)
    centres = 6.0 * rng.normal(size=(12, 5))
    y = np.repeat(np.arange(12, dtype=np.int32), 30)
    X = (centres[y] + rng.normal(size=(360, 5))).astype(np.float32)
    problem = classification_problem(X, y, 12, np.ones(360))
    for seed in range(5):
        options = TAOOptions(alpha=0.01, init="random", seed=seed, max_iter=20)
        tree = optimize_tree(problem, complete_topology(5), options).tree
        assert set(tree.leaf_values.argmax(axis=1)) == set(range(12))
