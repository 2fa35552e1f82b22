"""Each way of breaking a tree is refused, with the name of the broken array."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.tree import Tree
from spinney.tree.validity import FORMS
from tests.strategies import trees


def linear_tree():
    """Two splits, three linear leaves, two outputs, three features."""
    return Tree(
        n_features=3,
        left=np.array([1, -1, 3, -1, -1], dtype=np.int32),
        right=np.array([2, -1, 4, -1, -1], dtype=np.int32),
        bias=np.array([0.5, 0, -1, 0, 0]),
        split_indptr=np.array([0, 2, 2, 3, 3, 3], dtype=np.int64),
        split_indices=np.array([0, 2, 1], dtype=np.int32),
        split_weights=np.array([1, -2, 3], dtype=np.float32),
        leaf_kind="linear",
        leaf_values=np.arange(6.0).reshape(3, 2),
        leaf_indptr=np.array([0, 1, 1, 1, 3, 3, 3], dtype=np.int64),
        leaf_indices=np.array([1, 0, 2], dtype=np.int32),
        leaf_weights=np.array([1, 2, 3], dtype=np.float32),
    )


def with_value(name, index, value):
    """A tree with one number of one array changed."""
    array = getattr(linear_tree(), name).copy()
    array[index] = value
    return {name: array}


BROKEN = {
    "no features": {"n_features": 0},
    "features are no integer": {"n_features": 3.0},
    "features are a truth value": {"n_features": True},
    "unknown leaves": {"leaf_kind": "quadratic"},
    "constant leaves with weights": {"leaf_kind": "constant"},
    "no nodes": {"left": np.empty(0, np.int32)},
    "a list": {"left": [1, -1, 3, -1, -1]},
    "too few right children": {"right": np.array([2, -1, 4, -1], np.int32)},
    "one child": with_value("right", 2, -1),
    "right child of a leaf": with_value("right", 1, 3),
    "a split without children": with_value("left", 2, -1),
    "a leaf with a child": with_value("left", 1, 3),
    "its own child": with_value("left", 2, 2),
    "a child with two parents": with_value("left", 2, 1),
    "a child that does not exist": with_value("right", 2, 5),
    "a huge child": with_value("right", 2, 2**31 - 1),
    "another negative number": with_value("left", 1, -2),
    "children in the wrong order": {
        "left": np.array([2, -1, 3, -1, -1], np.int32),
        "right": np.array([1, -1, 4, -1, -1], np.int32),
    },
    "a split after its children": {
        "left": np.array([-1, 1, 3, -1, -1], np.int32),
        "right": np.array([-1, 2, 4, -1, -1], np.int32),
    },
    "short bias": {"bias": np.zeros(4)},
    "bias is no number": with_value("bias", 0, np.nan),
    "infinite bias": with_value("bias", 0, -np.inf),
    "bias at a leaf": with_value("bias", 1, 0.5),
    "short split_indptr": {"split_indptr": np.array([0, 2, 3], np.int64)},
    "split_indptr starts late": with_value("split_indptr", 0, 1),
    "split_indptr falls": with_value("split_indptr", 2, 1),
    "split_indptr falls by more than an integer holds": {
        "split_indptr": np.array([0, 2**63 - 1, -(2**63), 3, 3, 3], np.int64)
    },
    "split_indptr ends late": with_value("split_indptr", 5, 4),
    "split weights at a leaf": with_value("split_indptr", slice(3, 5), 2),
    "too few split_indices": {"split_indices": np.array([0, 2], np.int32)},
    "too many split_weights": {"split_weights": np.ones(4, np.float32)},
    "unknown feature": with_value("split_indices", 1, 3),
    "negative feature": with_value("split_indices", 0, -1),
    "feature twice": with_value("split_indices", 1, 0),
    "features fall": with_value("split_indices", slice(0, 2), [2, 1]),
    "weight of zero": with_value("split_weights", 1, 0),
    "weight is no number": with_value("split_weights", 1, np.nan),
    "infinite weight": with_value("split_weights", 1, np.inf),
    "too few leaf_values": {"leaf_values": np.zeros((2, 2))},
    "no outputs": {"leaf_values": np.zeros((3, 0))},
    "leaf value is no number": with_value("leaf_values", (1, 1), np.nan),
    "infinite leaf value": with_value("leaf_values", (2, 0), np.inf),
    "short leaf_indptr": {"leaf_indptr": np.array([0, 1, 3, 3], np.int64)},
    "leaf_indptr falls": with_value("leaf_indptr", 1, 2),
    "unknown feature of a leaf": with_value("leaf_indices", 0, 7),
    "leaf features fall": with_value("leaf_indices", slice(1, 3), [2, 0]),
    "leaf weight of zero": with_value("leaf_weights", 2, 0),
    "infinite leaf weight": with_value("leaf_weights", 2, np.inf),
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN.keys())
def test_check_refuses(changes):
    array = next(iter(changes)).split("_")[0]
    with pytest.raises(ValueError, match=rf"^{array}.*; .*\.$"):
        replace(linear_tree(), **changes).check()


def test_the_tree_that_is_broken_in_these_tests_is_valid():
    assert linear_tree().check().max_depth == 2


@pytest.mark.parametrize("name", FORMS)
def test_check_refuses_another_type(name):
    array = getattr(linear_tree(), name)
    other = np.float32 if array.dtype != np.float32 else np.float64
    with pytest.raises(ValueError, match=f"{name} has type {np.dtype(other)}"):
        replace(linear_tree(), **{name: array.astype(other)}).check()


@pytest.mark.parametrize("name", FORMS)
def test_check_refuses_another_number_of_dimensions(name):
    array = getattr(linear_tree(), name)
    with pytest.raises(ValueError, match=rf"{name} has type \w+ and shape \(1, "):
        replace(linear_tree(), **{name: array[None]}).check()


@pytest.mark.parametrize("name", FORMS)
def test_check_refuses_gaps_in_memory(name):
    strided = np.repeat(getattr(linear_tree(), name), 2, axis=-1)[..., ::2]
    with pytest.raises(ValueError, match=f"{name} .* C-contiguous"):
        replace(linear_tree(), **{name: strided}).check()


@given(trees(), st.sampled_from(sorted(FORMS)), st.data())
def test_check_of_a_damaged_tree_passes_or_raises_value_error(tree, name, data):
    array = getattr(tree, name).copy()
    if array.size:
        where = data.draw(st.integers(0, array.size - 1))
        array.flat[where] = data.draw(st.integers(-3, 12) | st.sampled_from([2**31 - 1, -(2**31)]))
    try:
        damaged = replace(tree, **{name: array}).check()
    except ValueError:
        return
    assert damaged.n_leaves == len(damaged.leaf_nodes)
