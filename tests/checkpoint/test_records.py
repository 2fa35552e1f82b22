"""What is stored comes back to the bit, and nothing else comes back."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.checkpoint import TracedTree
from spinney.checkpoint.records import decode, encode
from spinney.ensembles.boosting import BoostedTree
from spinney.optimize import Trace
from spinney.optimize.fao import OptimizedForest
from spinney.optimize.state import ForestRun, MemberRun, NativeTree, TreeRun
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


@given(trees())
def test_trees_come_back_to_the_bit(tree):
    shape = (tree.n_features, tree.n_outputs)
    for value in (
        tree,
        TracedTree(tree, TRACE),
        TracedTree(tree, TRACE, tree),
        BoostedTree(tree, TRACE, 0.1, 1 / 3),
        OptimizedForest((tree, tree), TRACE),
    ):
        assert same(decode(*stored(value), type(value), shape), value)


@pytest.mark.parametrize(
    "run", [TREE_RUN, FOREST_RUN, TreeRun(NATIVE, NATIVE, 1.0, 1, 0, True, TRACE)]
)
def test_states_come_back_to_the_bit(run):
    assert same(decode(*stored(run), type(run), (2, 1)), run)


@given(trees())
def test_trees_of_another_shape_are_refused(tree):
    with pytest.raises(DamagedFileError, match="features"):
        decode(*stored(tree), Tree, (tree.n_features + 1, tree.n_outputs))


def places(value, path=()):
    """Every place in nested JSON values."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, item in items:
        yield from places(item, (*path, key))


@settings(max_examples=300)
@given(st.data(), st.sampled_from([TREE_RUN, FOREST_RUN]))
def test_a_field_of_another_kind_is_refused(data, run):
    header, arrays = stored(run)
    changed = json.loads(json.dumps({"root": header}))
    path = data.draw(st.sampled_from([p for p in places(changed) if p]))
    at = changed
    for key in path[:-1]:
        at = at[key]
    present = at[path[-1]]
    new = data.draw(st.sampled_from([None, [], {}, "x", True, "nan", 1.5, [[]], {"a": 1}]))
    if (
        new == present
        or (new is None and path[-1] == "best_tree")
        or (new == [] and path[-1] == "iterations")
    ):
        return
    at[path[-1]] = new
    if path[-1] in ("is_settled",) and isinstance(new, bool):
        return
    if path[-1] == "members" and new == []:
        return  # a forest without trees is for the optimiser to refuse
    if isinstance(present, str) and path[-2:-1] == ("phase",):
        return  # any word will do
    if path[-1] == "phase" and new == []:
        new = "refused by its length"
    with pytest.raises(DamagedFileError):
        decode(changed["root"], arrays, type(run), (2, 1))


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
