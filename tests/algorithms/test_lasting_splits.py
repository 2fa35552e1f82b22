"""Splits keep their hyperplanes where rows do not need them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from spinney import _core
from spinney.algorithms.lasting_splits import lasting_splits
from spinney.algorithms.state import NativeTree
from spinney.algorithms.tao import TAOOptions
from spinney.algorithms.tree_optimizer import native_optimizer
from spinney.data import Problem, classification_problem
from spinney.tree import complete_topology
from tests.strategies import classification_rows, seeds

DEPTH = 3


def optimizer(problem: Problem, seed: int) -> _core.TreeOptimizer:
    """A tree of random hyperplanes whose leaves hold class scores."""
    left, right = complete_topology(DEPTH)
    options = TAOOptions(alpha=0.5, seed=seed)
    task = _core.Task(
        classes=problem.classes,
        values=np.eye(3)[problem.classes],
        weights=problem.sample_weight,
        n_outputs=3,
        loss="squared_hinge",
        leaf="constant",
        huber_delta=1.0,
        leaf_alpha=0.0,
        leaf_ridge=0.0,
        leaf_epochs=1,
        constant_l2=0.1,
    )
    native = native_optimizer(problem, left, right, task, options)
    native.draw_splits("random", 1.0, False)
    return native


def small_problem(task) -> Problem:
    return classification_problem(task.X, task.y, 3, task.sample_weight)


@given(task=classification_rows(), seed=seeds())
@settings(max_examples=40, deadline=None)
def test_a_guarded_level_loses_no_split_and_does_not_raise_the_objective(task, seed):
    native = optimizer(small_problem(task), seed % 1000)
    for level in reversed(range(DEPTH)):
        n_active, before = native.count_active(), sum(native.objective())
        with lasting_splits(native):
            native.solve_level(level, 1, True)
        assert native.count_active() == n_active
        assert sum(native.objective()) <= before + 1e-9 * (1 + abs(before))


@given(task=classification_rows(), seed=seeds())
@settings(max_examples=20, deadline=None)
def test_splits_that_move_are_those_of_a_level_by_itself(task, seed):
    problem = small_problem(task)
    plain, lasting = optimizer(problem, seed % 1000), optimizer(problem, seed % 1000)
    start = NativeTree.of(plain)
    plain.solve_level(DEPTH - 1, 1, False)
    with lasting_splits(lasting):
        lasting.solve_level(DEPTH - 1, 1, False)
    free, kept = NativeTree.of(plain), NativeTree.of(lasting)
    for split in range(len(start.bias)):
        is_lost = hyperplane(start, split).size > 0 and hyperplane(free, split).size == 0
        expected = start if is_lost else free
        assert np.array_equal(hyperplane(kept, split), hyperplane(expected, split))
        assert kept.bias[split] == expected.bias[split]


def hyperplane(tree: NativeTree, split: int) -> np.ndarray:
    """Weights of a split, each with its column."""
    part = slice(tree.split_indptr[split], tree.split_indptr[split + 1])
    is_used = tree.split_weights[part] != 0
    return np.stack([tree.split_indices[part][is_used], tree.split_weights[part][is_used]])


def test_a_constant_stays_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)).astype(np.float32), rng.integers(0, 3, 20).astype(np.int32)
    native = optimizer(classification_problem(X, y, 3, np.ones(20)), 0)
    tree = NativeTree.of(native)
    nothing = replace(tree, split_weights=np.zeros_like(tree.split_weights))
    nothing.put_into(native)
    with lasting_splits(native):
        pass
    assert native.count_active() == 0


def test_an_error_within_is_not_hidden():
    problem = classification_problem(
        np.eye(3, dtype=np.float32), np.arange(3, dtype=np.int32), 3, np.ones(3)
    )
    with pytest.raises(KeyboardInterrupt), lasting_splits(optimizer(problem, 0)):
        raise KeyboardInterrupt
