"""Trees on their way into the core and out of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_regression

from spinney.algorithms import TAOOptions, optimize_tree
from spinney.algorithms.tree_optimizer import (
    core_task,
    native_optimizer,
    set_tree,
    set_tree_splits,
    tree_of,
)
from spinney.data import regression_problem
from spinney.tree import complete_topology


def a_problem():
    X, Y = make_regression(90, 5, n_targets=2, noise=3.0, random_state=1)
    return regression_problem(X.astype(np.float32), 40 * Y + 1000, np.ones(90))


def through_the_core(tree, problem, options, put):
    native = native_optimizer(problem, tree.left, tree.right, core_task(problem, options), options)
    put(native)
    return tree_of(native, tree.left, tree.right, problem, options)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("leaf_alpha", [None, 0.5])
def test_a_tree_comes_back_as_it_went_in(leaf, leaf_alpha):
    problem = a_problem()
    options = TAOOptions(loss="squared_error", leaf=leaf, leaf_alpha=leaf_alpha, max_iter=3)
    tree = optimize_tree(problem, complete_topology(2), options).tree
    found = through_the_core(
        tree, problem, options, lambda native: set_tree(native, tree, problem, options)
    )
    assert found.leaf_kind == leaf
    assert found.leaf_values == pytest.approx(tree.leaf_values)
    assert found.leaf_weights == pytest.approx(tree.leaf_weights, rel=1e-5)
    assert found.bias == pytest.approx(tree.bias)
    assert (found.split_indices == tree.split_indices).all()


def test_leaves_of_another_kind_are_fitted_anew():
    problem = a_problem()
    linear = TAOOptions(loss="squared_error", leaf="linear", max_iter=3)
    constant = TAOOptions(loss="squared_error", max_iter=3)
    tree = optimize_tree(problem, complete_topology(2), linear).tree
    as_tree = through_the_core(
        tree, problem, constant, lambda native: set_tree(native, tree, problem, constant)
    )
    as_splits = through_the_core(
        tree, problem, constant, lambda native: set_tree_splits(native, tree)
    )
    assert as_tree.leaf_kind == "constant"
    assert as_tree.same_as(as_splits)
