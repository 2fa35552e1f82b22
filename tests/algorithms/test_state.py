"""An optimisation that goes on from any of its states ends as if it had not stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.algorithms.fao import FAOOptions, optimize_forest
from spinney.algorithms.losses import forest_loss
from spinney.algorithms.state import NativeTree
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.algorithms.tree_optimizer import core_task, native_optimizer
from spinney.data import classification_problem, regression_problem
from spinney.tree.structure import complete_topology
from tests.bits import same
from tests.strategies import seeds

TREE_OPTIONS = {
    "split": st.sampled_from(["oblique", "axis"]),
    "leaf": st.sampled_from(["constant", "linear"]),
    "max_iter": st.integers(0, 7),
    "strict_descent": st.booleans(),
    "order": st.sampled_from(["leaves_first", "root_first"]),
    "tol": st.sampled_from([0.0, 1e-4, 0.3]),
    "init": st.sampled_from(["supervised", "random"]),
    "max_weights": st.integers(0, 3),
    "max_features": st.integers(0, 3),
}


def problem_of(seed, *, is_classification, n_rows=60, n_features=4):
    """Rows of three groups with noise; a weight of 0 among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    weights = rng.integers(0, 4, n_rows).astype(np.float64)
    weights[0] = 1.0
    if is_classification:
        codes = rng.integers(0, 3, n_rows) * (X[:, 0] > 0)
        return classification_problem(X, codes.astype(np.int32), 3, weights)
    return regression_problem(
        X, X[:, :2].astype(np.float64) + rng.normal(size=(n_rows, 2)), weights
    )


@settings(max_examples=40)
@given(st.fixed_dictionaries(TREE_OPTIONS), seeds(), st.booleans(), st.data())
def test_a_tree_goes_on_from_any_state(options, seed, is_classification, data):
    problem = problem_of(seed, is_classification=is_classification)
    losses = ["zero_one", "log_loss"] if is_classification else ["squared_error", "absolute_error"]
    loss = data.draw(st.sampled_from(losses))
    options = TAOOptions(loss=loss, seed=seed % 1000, relax_leaves=True, **options)
    start, states = complete_topology(3), []
    whole = optimize_tree(problem, start, options, save=lambda state: states.append(state()))
    assert len(states) == len(whole.trace)
    for state in states:
        found = optimize_tree(problem, start, options, resume=state)
        assert same(found.tree, whole.tree)
        assert same(found.unpruned, whole.unpruned)
        assert same(found.trace, whole.trace)
        assert found.trace.seconds[: len(state.trace) + 1] == state.trace.seconds


@settings(max_examples=30)
@given(
    seeds(),
    st.integers(1, 3),
    st.sampled_from(["squared_hinge", "log_loss", "squared_error", "absolute_error"]),
    st.sampled_from(["l1", "l2"]),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([0.0, 0.3]),
)
def test_a_forest_goes_on_from_any_state(
    seed, n_trees, loss, penalty, strict_descent, max_weights, tol
):
    problem = problem_of(seed, is_classification=loss in ("squared_hinge", "log_loss"))
    options = FAOOptions(
        tao=TAOOptions(split="mixed", strict_descent=strict_descent, max_weights=max_weights),
        loss=forest_loss(loss),
        leaf_penalty=penalty,
        max_iter=4,
        tol=tol,
        keeps_iterations=True,
    )
    starts, states = [complete_topology(2)] * n_trees, []
    numbers = range(n_trees)
    whole = optimize_forest(
        problem, starts, numbers, options, save=lambda state: states.append(state())
    )
    assert len(states) == 1 + len(whole.iterations)
    for state in states:
        found = optimize_forest(problem, (), numbers, options, resume=state)
        assert same(found.trees, whole.trees)
        assert same(found.iterations, whole.iterations)
        assert same(found.trace, whole.trace)


def states_of(options, start):
    problem = problem_of(0, is_classification=True)
    states = []
    optimize_tree(problem, start, options, save=lambda state: states.append(state()))
    return problem, states


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("bias", lambda bias: bias[:-1]),
        ("bias", lambda bias: np.full_like(bias, np.nan)),
        ("split_indptr", lambda indptr: indptr[::-1].copy()),
        ("split_indptr", lambda indptr: indptr[:-1]),
        ("split_indptr", lambda indptr: indptr + 1),
        ("split_indices", lambda indices: indices + 100),
        ("split_indices", lambda indices: indices - 100),
        ("split_weights", lambda weights: np.full_like(weights, np.inf)),
        ("leaf_values", lambda values: values[:-1]),
        ("leaf_values", lambda values: np.full_like(values, np.inf)),
        ("leaf_indptr", lambda indptr: indptr[:-1]),
        ("leaf_indices", lambda indices: indices + 100),
        ("leaf_weights", lambda weights: weights[:-1]),
        ("fitted", lambda flags: flags[:-1]),
    ],
)
def test_a_state_that_does_not_fit_is_refused(field, change):
    start, options = complete_topology(2), TAOOptions(leaf="linear", max_iter=3)
    problem, states = states_of(options, start)
    tree = states[0].tree
    broken = replace(tree, **{field: change(getattr(tree, field))})
    with pytest.raises(ValueError, match="does not fit this task"):
        optimize_tree(problem, start, options, resume=replace(states[0], tree=broken))


@pytest.mark.parametrize("n_explored", [-1, 100])
def test_a_state_of_more_sweeps_than_there_are_is_refused(n_explored):
    start, options = complete_topology(2), TAOOptions(max_iter=3)
    problem, states = states_of(options, start)
    with pytest.raises(ValueError, match="exploring sweeps"):
        optimize_tree(problem, start, options, resume=replace(states[0], n_explored=n_explored))


def test_a_state_of_another_forest_is_refused():
    problem = problem_of(0, is_classification=True)
    options = FAOOptions(tao=TAOOptions(), loss=forest_loss("log_loss"), max_iter=1)
    states = []
    starts = [complete_topology(1)] * 2
    optimize_forest(problem, starts, (0, 1), options, save=lambda state: states.append(state()))
    with pytest.raises(ValueError, match="state is of 2 trees"):
        optimize_forest(problem, (), (0, 1, 2), options, resume=states[0])
    member = replace(states[0].members[0], values=np.zeros((9, 3)))
    broken = replace(states[0], members=(member, states[0].members[1]))
    with pytest.raises(ValueError, match="leaves of shape"):
        optimize_forest(problem, (), (0, 1), options, resume=broken)


def test_a_state_keeps_negative_zeros():
    problem = problem_of(0, is_classification=True)
    options = TAOOptions(max_iter=3)
    left, right = complete_topology(2)
    native = native_optimizer(problem, left, right, core_task(problem, options), options)
    native.draw_splits("balanced", 1.0, False)
    tree = NativeTree.of(native)
    given = replace(tree, split_weights=np.copysign(0.0 * tree.split_weights, -1))
    given.put_into(native)
    found = NativeTree.of(native)
    assert found.split_weights.tobytes() == given.split_weights.tobytes()
    assert found.split_indices.tobytes() == given.split_indices.tobytes()
