"""What is stored comes back to the bit, and nothing else comes back."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings

from spinney.algorithms import Trace
from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.state import ForestRun, MemberRun, NativeTree, TreeRun
from spinney.ensembles.boosting import BoostedTree
from spinney.ensembles.plan import GrownTree
from spinney.fitting.checkpoint.records import decode, encode
from spinney.storage import DamagedFileError
from spinney.storage.layout import pack, unpack
from spinney.tree import Tree
from tests.strategies import trees

TRACE = Trace([2.0, 1.5], [1.0, 0.5], [3, 2], [0.0, 0.25], ["start", "explore"])
NATIVE = NativeTree(
    np.array([0.5]),
    np.array([0, 2]),
    np.array([0, 1], dtype=np.int32),
    np.array([-0.0, 2.0], dtype=np.float32),
    np.array([0.1, 0.9]),
    np.array([0]),
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=np.float32),
    np.zeros(0, dtype=np.uint8),
)
TREE_RUN = TreeRun(NATIVE, None, math.inf, 1, 0, False, TRACE)
SHAPE = np.array([1, -1, -1], dtype=np.int32)
FOREST_RUN = ForestRun(
    (MemberRun(SHAPE, SHAPE, NATIVE, np.ones((2, 1)), 0.25),), np.ones((4, 1)), 1, 0.1, 0, TRACE
)


def same(one, two):
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(two, f.name)) for f in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return type(one) is type(two) and one == two


def stored(value):
    """What a file gives back of a value."""
    header, arrays = encode(value, type(value))
    pieces = b"".join(pack({"value": header}, arrays))
    found, arrays = unpack(np.frombuffer(bytearray(pieces), dtype=np.uint8))
    return found["value"], arrays


@settings(max_examples=30)
@given(trees())
def test_trees_come_back_to_the_bit(tree):
    shape = (tree.n_features, tree.n_outputs)
    for value in (
        tree,
        GrownTree(tree, TRACE),
        GrownTree(tree, TRACE, tree),
        BoostedTree(tree, TRACE, 0.1, 1 / 3),
        OptimizedForest((tree, tree), TRACE),
    ):
        assert same(decode(*stored(value), type(value), shape), value)


@pytest.mark.parametrize(
    "run", [TREE_RUN, FOREST_RUN, TreeRun(NATIVE, NATIVE, 1.0, 1, 0, True, TRACE)]
)
def test_states_come_back_to_the_bit(run):
    assert same(decode(*stored(run), type(run), (2, 1)), run)


@settings(max_examples=30)
@given(trees())
def test_trees_of_another_shape_are_refused(tree):
    with pytest.raises(DamagedFileError, match="features"):
        decode(*stored(tree), Tree, (tree.n_features + 1, tree.n_outputs))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("best", "x"),
        ("best", "nan"),
        ("best", 1.5),
        ("best", None),
        ("n_explored", "1"),
        ("n_explored", True),
        ("n_explored", 1.5),
        ("is_settled", 0),
        ("is_settled", None),
        ("tree", None),
        ("tree", {}),
        ("tree", []),
        ("best_tree", {"bias": "0"}),
        ("trace", None),
        ("trace", "0"),
        ("more", 1),
    ],
)
def test_a_field_of_another_kind_is_refused(field, value):
    header, arrays = stored(TREE_RUN)
    with pytest.raises(DamagedFileError):
        decode({**header, field: value}, arrays, TreeRun, (2, 1))


@pytest.mark.parametrize("name", ["objective", "n_active", "phase"])
def test_columns_of_a_trace_must_be_of_one_length(name):
    header, arrays = stored(
        replace(TREE_RUN, trace=replace(TRACE, **{name: [getattr(TRACE, name)[0]]}))
    )
    with pytest.raises(DamagedFileError, match="length"):
        decode(header, arrays, TreeRun, (2, 1))


@pytest.mark.parametrize("members", [None, {}, "x", [7], [{}]])
def test_members_of_another_kind_are_refused(members):
    header, arrays = stored(FOREST_RUN)
    with pytest.raises(DamagedFileError):
        decode({**header, "members": members}, arrays, ForestRun, (2, 1))


@pytest.mark.parametrize(
    "array",
    [
        np.array([np.nan]),
        np.array([0.5], dtype=np.float32),
        np.array([[0.5]]),
    ],
)
def test_arrays_of_another_kind_are_refused(array):
    header, arrays = stored(TREE_RUN)
    name = header["tree"]["bias"]
    with pytest.raises(DamagedFileError, match="bias"):
        decode(header, {**arrays, name: array}, TreeRun, (2, 1))
