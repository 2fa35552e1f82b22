"""The guard on a sweep."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from spinney.algorithms.state import NativeTree
from spinney.algorithms.tao_options import TAOOptions
from spinney.algorithms.tao_sweep import guard_sweep, lowers_objective, sweep_tree
from spinney.algorithms.tree_optimizer import core_task, draw_into, native_optimizer
from spinney.data import classification_problem
from spinney.tree import complete_topology


def a_tree():
    X, y = load_iris(return_X_y=True)
    problem = classification_problem(X.astype(np.float32), y.astype(np.int32), 3, np.ones(150))
    options = TAOOptions(strict_descent=True)
    left, right = complete_topology(2)
    native = native_optimizer(problem, left, right, core_task(problem, options), options)
    draw_into(native, options)
    return native


def worsen(native):
    """Send all rows one way."""
    zeros = np.zeros(7)
    empty = np.zeros(0, dtype=np.float32)
    indptr = np.zeros(8, dtype=np.int64)
    no_values, no_weights = np.zeros((0, 1)), np.zeros((0, 1), dtype=np.float32)
    native.set_tree(zeros, indptr, empty.astype(np.int32), empty, no_values, no_weights)


def test_a_step_that_lowers_the_objective_stays():
    native = a_tree()
    before = sum(native.objective())
    assert lowers_objective(native, lambda: sweep_tree(native, 1, TAOOptions(), is_guarded=True))
    assert sum(native.objective()) < before


def test_a_step_that_does_not_is_undone():
    native = a_tree()
    sweep_tree(native, 1, TAOOptions(), is_guarded=True)
    before = NativeTree.of(native)
    assert not lowers_objective(native, lambda: worsen(native))
    assert NativeTree.of(native).bias.tobytes() == before.bias.tobytes()
    assert NativeTree.of(native).split_weights.tobytes() == before.split_weights.tobytes()


@pytest.mark.parametrize(
    ("strict_descent", "is_bad", "sweeps"),
    [
        (False, False, [False]),
        (True, False, [True]),
        ("sweep", False, [False]),
        ("sweep", True, [False, True]),
    ],
)
def test_nodes_are_guarded_where_the_sweep_is_not_enough(strict_descent, is_bad, sweeps):
    native, asked = a_tree(), []
    if is_bad:
        sweep_tree(native, 1, TAOOptions(), is_guarded=True)

    def sweep(is_guarded):
        asked.append(is_guarded)
        if is_bad and not is_guarded:
            worsen(native)
        else:
            sweep_tree(native, 2, TAOOptions(), is_guarded=is_guarded)

    guard_sweep(native, sweep, strict_descent, is_guarded=bool(strict_descent))
    assert asked == sweeps
