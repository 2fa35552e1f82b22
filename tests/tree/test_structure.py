"""The layout of a tree and what is derived from it."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.tree import breadth_first, complete_topology
from tests import reference
from tests.strategies import seeds, topologies, trees, trees_with_rows


@given(trees())
def test_generated_trees_are_valid(tree):
    assert tree.check() is tree


@given(trees())
def test_splits_and_leaves_are_all_the_nodes(tree):
    both = np.concatenate([tree.split_nodes, tree.leaf_nodes])
    np.testing.assert_array_equal(np.sort(both), np.arange(tree.n_nodes))
    assert len(tree.leaf_nodes) == tree.n_leaves == len(tree.split_nodes) + 1


@given(trees())
def test_leaf_index_is_the_inverse_of_leaf_nodes(tree):
    np.testing.assert_array_equal(tree.leaf_index[tree.leaf_nodes], np.arange(tree.n_leaves))
    assert (tree.leaf_index[tree.split_nodes] == -1).all()


@given(trees())
def test_every_child_names_its_parent(tree):
    assert tree.parent[0] == -1
    for node in range(1, tree.n_nodes):
        assert node in (tree.left[tree.parent[node]], tree.right[tree.parent[node]])


@given(trees())
def test_a_child_is_one_deeper_than_its_parent(tree):
    assert tree.depth[0] == 0
    np.testing.assert_array_equal(tree.depth[1:], tree.depth[tree.parent[1:]] + 1)
    assert tree.max_depth == tree.depth.max()


@given(trees())
def test_levels_list_every_node_once_in_order(tree):
    np.testing.assert_array_equal(np.concatenate(tree.levels), np.arange(tree.n_nodes))
    for depth, nodes in enumerate(tree.levels):
        assert nodes.dtype == np.int32
        assert (tree.depth[nodes] == depth).all()


@given(trees())
def test_pickling_keeps_every_bit_and_drops_derived_arrays(tree):
    assert tree.max_depth >= 0
    copy = pickle.loads(pickle.dumps(tree))
    assert copy.same_as(tree)
    assert "levels" not in vars(copy)
    assert not copy.left.flags.writeable


@given(trees())
def test_arrays_cannot_be_written_to(tree):
    for array in (tree.left, tree.bias, tree.leaf_values, tree.depth, tree.levels[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_callers_arrays_stay_writeable():
    left, right = complete_topology(1)
    breadth_first(left, right)
    assert left.flags.writeable


@given(trees(), trees())
def test_same_as_is_equality_of_bytes(one, two):
    assert one.same_as(one)
    same = pickle.dumps(one.__getstate__()) == pickle.dumps(two.__getstate__())
    assert one.same_as(two) == two.same_as(one) == same


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_complete_topology_has_all_leaves_at_its_depth(depth):
    left, right = complete_topology(depth)
    levels = [[0]]
    while left[levels[-1][0]] >= 0:
        levels.append([child for node in levels[-1] for child in (left[node], right[node])])
    assert len(left) == len(right) == 2 ** (depth + 1) - 1
    assert len(levels) == depth + 1
    assert len(levels[-1]) == (left < 0).sum() == 2**depth


@pytest.mark.parametrize("depth", [-1, 25])
def test_complete_topology_refuses_depths_without_sense(depth):
    with pytest.raises(ValueError, match=f"depth={depth}"):
        complete_topology(depth)


@given(topologies(), seeds())
def test_breadth_first_undoes_any_renumbering(topology, seed):
    left, right = topology
    new_number = np.random.default_rng(seed).permutation(len(left))
    shuffled_left, shuffled_right = np.full((2, len(left)), -1)
    splits = np.flatnonzero(left >= 0)
    shuffled_left[new_number[splits]] = new_number[left[splits]]
    shuffled_right[new_number[splits]] = new_number[right[splits]]
    order, *children = breadth_first(shuffled_left, shuffled_right, root=new_number[0])
    np.testing.assert_array_equal(order, new_number)
    np.testing.assert_array_equal(children, topology)


@given(topologies(), st.data())
def test_breadth_first_leaves_out_what_the_root_does_not_reach(topology, data):
    root = data.draw(st.integers(0, len(topology[0]) - 1))
    order, left, _ = breadth_first(*topology, root=root)
    assert order[0] == root
    assert len(order) == len(left) == 2 * (left >= 0).sum() + 1


def test_breadth_first_refuses_a_circle():
    circle = np.array([1, 0])
    with pytest.raises(ValueError, match="two parents"):
        breadth_first(circle, circle)


@given(trees_with_rows())
def test_leaves_partition_the_rows_and_children_their_parents_rows(tree_and_rows):
    tree, X = tree_and_rows
    met = reference.decision_path(tree, X)
    assert (met[:, tree.leaf_nodes].sum(axis=1) == 1).all()
    for node in tree.split_nodes:
        children = met[:, [tree.left[node], tree.right[node]]]
        np.testing.assert_array_equal(children.sum(axis=1), met[:, node])


@given(trees_with_rows())
def test_both_reference_arithmetics_agree_on_exact_sums(tree_and_rows):
    tree, X = tree_and_rows
    np.testing.assert_array_equal(
        reference.apply(tree, X), reference.apply(tree, X, reference.score_float32)
    )
