"""Pruning removes what decides nothing and keeps the predictions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from spinney.tree import Tree, complete_topology, prune
from spinney.tree.prune import is_kept
from tests import reference
from tests.strategies import trees, trees_with_rows


def stump(weight=1.0, bias=0.0, values=((0.0,), (1.0,))):
    """One split on the only feature; a weight of 0 means no weight."""
    left, right = complete_topology(1)
    n_weights = int(weight != 0)
    values = np.array(values)
    return Tree(
        n_features=1,
        left=left,
        right=right,
        bias=np.array([bias, 0, 0]),
        split_indptr=np.array([0, n_weights, n_weights, n_weights], dtype=np.int64),
        split_indices=np.zeros(n_weights, dtype=np.int32),
        split_weights=np.full(n_weights, weight, dtype=np.float32),
        leaf_kind="constant",
        leaf_values=values,
        leaf_indptr=np.zeros(values.size + 1, dtype=np.int64),
        leaf_indices=np.empty(0, dtype=np.int32),
        leaf_weights=np.empty(0, dtype=np.float32),
    ).check()


@given(trees_with_rows(min_rows=1))
def test_pruning_keeps_predictions(tree_and_rows):
    tree, X = tree_and_rows
    np.testing.assert_array_equal(reference.outputs(prune(tree), X), reference.outputs(tree, X))


@given(trees_with_rows())
def test_pruning_dead_branches_keeps_predictions_of_the_rows_counted(tree_and_rows):
    tree, X = tree_and_rows
    pruned = prune(tree, reference.reach(tree, X))
    np.testing.assert_array_equal(reference.outputs(pruned, X), reference.outputs(tree, X))


@given(trees_with_rows(min_rows=1))
def test_every_node_left_is_reached_if_reach_is_given(tree_and_rows):
    tree, X = tree_and_rows
    pruned = prune(tree, reference.reach(tree, X))
    assert (reference.reach(pruned, X) > 0).all()


@given(trees_with_rows())
def test_kept_nodes_are_those_of_the_pruned_tree(tree_and_rows):
    tree, X = tree_and_rows
    reach = reference.reach(tree, X)
    pruned, kept = prune(tree, reach), is_kept(tree, reach)
    assert kept.sum() == pruned.n_nodes
    np.testing.assert_array_equal(np.sort(tree.bias[kept]), np.sort(pruned.bias))


@given(trees_with_rows())
def test_pruned_trees_are_valid(tree_and_rows):
    tree, X = tree_and_rows
    prune(tree).check()
    prune(tree, reference.reach(tree, X)).check()


@given(trees())
def test_pruned_trees_have_no_split_without_weights(tree):
    pruned = prune(tree)
    assert (np.diff(pruned.split_indptr)[pruned.split_nodes] > 0).all()


@given(trees(kinds=("constant",)))
def test_pruned_trees_have_no_split_above_equal_constant_leaves(tree):
    pruned = prune(tree)
    for node in pruned.split_nodes:
        leaves = pruned.leaf_index[[pruned.left[node], pruned.right[node]]]
        if (leaves >= 0).all():
            assert (pruned.leaf_values[leaves[0]] != pruned.leaf_values[leaves[1]]).any()


@given(trees_with_rows(min_rows=1))
def test_pruning_again_changes_nothing(tree_and_rows):
    tree, X = tree_and_rows
    once = prune(tree)
    assert prune(once) is once
    reached = prune(tree, reference.reach(tree, X))
    assert prune(reached, reference.reach(reached, X)) is reached


@given(trees())
def test_pruning_leaves_its_argument_alone(tree):
    before = replace(tree)
    prune(tree)
    assert tree.same_as(before)


def test_a_tree_without_idle_splits_is_returned_itself():
    tree = stump()
    assert prune(tree) is tree
    assert prune(tree, np.array([2, 1, 1])) is tree


@pytest.mark.parametrize(("bias", "value"), [(-0.5, 0.0), (0.0, 1.0), (0.5, 1.0), (-0.0, 1.0)])
def test_a_split_without_weights_becomes_the_child_its_bias_chooses(bias, value):
    pruned = prune(stump(weight=0.0, bias=bias))
    assert pruned.n_nodes == 1
    assert pruned.leaf_values[0, 0] == value


@pytest.mark.parametrize(("reach", "value"), [((3, 0, 3), 1.0), ((3, 3, 0), 0.0)])
def test_a_split_with_a_dead_branch_becomes_its_other_branch(reach, value):
    pruned = prune(stump(), np.array(reach))
    assert pruned.n_nodes == 1
    assert pruned.leaf_values[0, 0] == value


def test_equal_leaves_become_one():
    assert prune(stump(values=((0.5, 0.5), (0.5, 0.5)))).n_nodes == 1
    assert prune(stump(values=((0.0,), (-0.0,)))).n_nodes == 1
    assert prune(stump(values=((0.5, 0.5), (0.5, 0.25)))).n_nodes == 3


@given(trees(kinds=("constant",)))
def test_equal_leaves_everywhere_leave_one_leaf(tree):
    assume(tree.n_nodes > 1)
    assert prune(replace(tree, leaf_values=np.ones_like(tree.leaf_values))).n_nodes == 1


def test_reach_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"reach has shape \(2,\)"):
        prune(stump(), np.array([1, 1]))
