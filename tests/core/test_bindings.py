"""What the compiled core asks of its callers: arrays as they are, and when to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from spinney import _core

N_ROWS, N_FEATURES, N_CLASSES = 1500, 3, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
SPARSE = sp.csr_matrix(X)
WEIGHTS = np.ones(N_ROWS)
CODES = RNG.integers(N_CLASSES, size=N_ROWS).astype(np.int32)
SIDES = np.where(CODES > 0, 1, -1).astype(np.int8)
ZEROS, ONES = np.zeros(N_FEATURES), np.ones(N_FEATURES)
ROWS = _core.dense_rows(X)
NO_VALUES = np.zeros((0, 1))
AXIS = _core.SplitOptions("axis")

# A tree of one split, and the leaves that it sends each row to in two trees.
LEFT, RIGHT = np.array([1, -1, -1], dtype=np.int32), np.array([2, -1, -1], dtype=np.int32)
BIAS = np.zeros(3)
INDPTR, INDICES = np.array([0, 1, 1, 1], dtype=np.int64), np.zeros(1, dtype=np.int32)
FACTORS = np.ones(1, dtype=np.float32)
NO_INDICES, NO_FACTORS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
LEAF_VALUES, LEAF_INDPTR = np.eye(2), np.zeros(5, dtype=np.int64)
TREE = (LEFT, RIGHT, BIAS, INDPTR, INDICES, FACTORS)
LEAVES = np.stack([CODES, CODES + 2]).astype(np.uint32)
BYTES = CODES.astype(np.uint8)


def task(classes: Any = CODES, values: Any = NO_VALUES, weights: Any = WEIGHTS) -> Any:
    numbers = (1.0, 0.1, 0.1, 1)
    return _core.Task(classes, values, weights, N_CLASSES, "zero_one", "linear", *numbers)


def optimizer(
    mean: Any = ZEROS,
    inverse: Any = ONES,
    left: Any = LEFT,
    right: Any = RIGHT,
    deviation: Any = ONES,
) -> Any:
    return _core.TreeOptimizer(
        ROWS, mean, inverse, left, right, task(), {}, "oblique", 1, 0, deviation=deviation
    )


def drawn() -> Any:
    native = optimizer()
    native.draw_splits("supervised", 1.0)
    return native


def forest(trees: Any = None) -> Any:
    tree = (*TREE, LEAF_VALUES, LEAF_INDPTR, NO_INDICES, NO_FACTORS, False)
    return _core.Forest(trees or [tree], N_FEATURES, N_CLASSES)


def grown(*arrays: Any, n_threads: int = 1) -> Any:
    given = dict(enumerate([ZEROS, ONES, CODES, NO_VALUES, WEIGHTS, np.zeros(0)]))
    given |= dict(enumerate(arrays))
    options = _core.GrowOptions("entropy", 3, 2, 0.0, 3, 0, n_threads)
    return _core.grow_tree(ROWS, *given.values(), N_CLASSES, AXIS, options, None)


def split_of(*arrays: Any) -> Any:
    given = dict(enumerate([ZEROS, ONES, SIDES, WEIGHTS])) | dict(enumerate(arrays))
    return _core.logistic_split(ROWS, *given.values(), 0.1, "newton", 3, 1, 0.3, 1e-3, 0)


def set_tree(*arrays: Any) -> Any:
    linear = np.zeros((4, N_FEATURES), dtype=np.float32)
    given = dict(enumerate([BIAS, INDPTR, INDICES, FACTORS, LEAF_VALUES, linear]))
    return optimizer().set_tree(*(given | dict(enumerate(arrays))).values())


def take_turn(*arrays: Any) -> Any:
    return drawn().take_turn(*arrays)


def add_leaf_values(*arrays: Any) -> Any:
    return _core.add_leaf_values(*arrays, 1.0, 1)


def regression(kind: Any, leaves: Any = LEAVES, weights: Any = WEIGHTS) -> Any:
    return kind(leaves, weights, 4, 1.0, 100, 1)


def solved(kind: Any, targets: Any = None, start: Any = None) -> Any:
    targets = np.zeros((N_ROWS, 2)) if targets is None else targets
    start = np.zeros((4, 2)) if start is None else start
    return regression(kind).solve(targets, start, 1e-6)


# --- arrays ---------------------------------------------------------------------------------------


def replaced(call: Callable[..., Any], *arrays: Any) -> dict[str, tuple[Any, ...]]:
    """The arguments of a call, each in turn with one array replaced by its number."""
    return {f"{call.__name__} {place}": (call, arrays, place) for place in range(len(arrays))}


def state_of(place: int) -> Callable[[Any], Any]:
    """`set_state` with the array of a place given anew; those of the hyperplanes are nested."""

    def call(array: Any) -> Any:
        native = drawn()
        state = list(native.state())
        state[place] = array
        return native.set_state(*state)

    return call


STATE = drawn().state()
ARGUMENTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    **replaced(_core.dense_rows, X),
    **replaced(_core.padded_rows, X),
    **replaced(_core.byte_rows, X),
    **replaced(
        lambda p, i, v: _core.sparse_rows(p, i, v, N_FEATURES),
        SPARSE.indptr.astype(np.int64),
        SPARSE.indices.astype(np.int32),
        SPARSE.data,
    ),
    "column_moments": (lambda w: _core.column_moments(ROWS, w, 1), (WEIGHTS,), 0),
    **replaced(task, CODES, np.zeros((N_ROWS, 2)), WEIGHTS),
    **replaced(optimizer, ZEROS, ONES, LEFT, RIGHT, ONES),
    **replaced(set_tree, BIAS, INDPTR, INDICES, FACTORS, LEAF_VALUES),
    "set_leaves": (lambda v: drawn().set_leaves(v), (LEAF_VALUES,), 0),
    "row state": (_core.RowState, (WEIGHTS,), 0),
    **replaced(take_turn, BYTES, LEAF_VALUES),
    "leaf_numbers": (lambda out: drawn().leaf_numbers(out), (BYTES,), 0),
    **replaced(add_leaf_values, np.zeros((N_ROWS, 2)), BYTES, LEAF_VALUES),
    "objective": (lambda c: drawn().objective(c), (np.ones(3, dtype=np.uint8),), 0),
    "state bias": (state_of(0), (STATE[0],), 0),
    "state leaves": (state_of(2), (STATE[2],), 0),
    "state fitted": (state_of(4), (STATE[4],), 0),
    "state splits": (
        lambda factors: state_of(1)((*STATE[1][:2], factors)),
        (STATE[1][2],),
        0,
    ),
    **replaced(grown, ZEROS, ONES, CODES, np.zeros((N_ROWS, 2)), WEIGHTS, np.zeros(0)),
    **replaced(split_of, ZEROS, ONES, SIDES, WEIGHTS),
    "axis_split labels": (lambda s: _core.axis_split(ROWS, s, WEIGHTS, 0.0), (SIDES,), 0),
    "axis_split weights": (lambda w: _core.axis_split(ROWS, SIDES, w, 0.0), (WEIGHTS,), 0),
    **replaced(lambda *tree: _core.apply(ROWS, *tree, 1), *TREE),
    "linear_outputs leaves": (
        lambda leaves: _core.linear_outputs(
            ROWS, leaves, LEAF_VALUES, LEAF_INDPTR, NO_INDICES, NO_FACTORS, 1
        ),
        (CODES,),
        0,
    ),
    "linear_outputs values": (
        lambda values: _core.linear_outputs(
            ROWS, CODES, values, LEAF_INDPTR, NO_INDICES, NO_FACTORS, 1
        ),
        (LEAF_VALUES,),
        0,
    ),
    "forest": (
        lambda left: forest(
            [(left, *TREE[1:], LEAF_VALUES, LEAF_INDPTR, NO_INDICES, NO_FACTORS, False)]
        ),
        (LEFT,),
        0,
    ),
    "votes": (lambda w: forest().votes(ROWS, w, 1), (np.ones(1),), 0),
    "sums": (lambda w: forest().sums(ROWS, w, False, 1), (np.ones(1),), 0),
    **replaced(
        lambda weights, offsets: _core.Readout(forest(), "outputs", weights, offsets),
        np.ones(1),
        np.zeros(2),
    ),
    "softmax": (_core.softmax, (LEAF_VALUES,), 0),
    **{
        f"{kind.__name__} {name}": value
        for kind in (_core.LeafSystem, _core.LeafLasso)
        for name, value in {
            "leaves": (lambda x, kind=kind: regression(kind, x), (LEAVES,), 0),
            "weights": (lambda x, kind=kind: regression(kind, weights=x), (WEIGHTS,), 0),
            "targets": (lambda x, kind=kind: solved(kind, x), (np.zeros((N_ROWS, 2)),), 0),
            "start": (lambda x, kind=kind: solved(kind, start=x), (np.zeros((4, 2)),), 0),
            "values": (lambda x, kind=kind: regression(kind).add_up(x), (np.zeros((4, 2)),), 0),
        }.items()
    },
}


def other_types(array: Any) -> Iterator[Any]:
    """The same numbers in arrays that the core would have to copy."""
    kinds = (np.float64, np.float32, np.int64, np.int32)
    yield from (array.astype(kind) for kind in kinds if kind != array.dtype)
    if array.ndim == 2 and min(array.shape) > 1:
        yield np.asfortranarray(array)
    if len(array) > 1:
        yield np.repeat(array, 2, axis=0)[::2]
    if array.itemsize > 1:
        yield array.astype(array.dtype.newbyteorder())


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_array_that_would_be_copied_is_refused(name: str) -> None:
    call, arrays, place = ARGUMENTS[name]
    for other in other_types(arrays[place]):
        given = list(arrays)
        given[place] = other
        with pytest.raises(TypeError):
            call(*given)


def test_rows_are_those_that_were_given() -> None:
    values = X.copy()
    rows = _core.dense_rows(values)
    values[:] = 7.0
    assert np.all(_core.column_moments(rows, WEIGHTS, 1)[0] == 7.0)


@pytest.mark.parametrize("width", [1, 8, 13, 16, 20, 32, 47, 48])
@pytest.mark.parametrize("largest", [1.0, 1e19])
def test_rows_are_borrowed_but_for_the_last_ones_unless_numbers_are_huge(
    width: int, largest: float
) -> None:
    """Rows are read into the next row, where a huge number times zero could leave a trace."""
    values = (largest * RNG.uniform(0.5, 1.0, size=(50, width))).astype(np.float32)
    given, weights = values.copy(), np.ones(50)
    means = _core.column_moments(_core.dense_rows(given), weights, 1)[0]
    rows = _core.padded_rows(values)
    assert np.array_equal(_core.column_moments(rows, weights, 1)[0], means)
    assert np.array_equal(values, given)
    values[:] = 7.0
    weights[-8:] = 0.0  # rows of width 1 are read eight at once
    is_borrowed = np.all(_core.column_moments(rows, weights, 1)[0] == 7.0)
    assert is_borrowed == (width in (8, 16, 32, 48) or largest == 1.0)


@pytest.mark.parametrize("width", [1, 5, 7, 13, 31, 33, 100])
def test_what_follows_a_row_leaves_no_trace(width: int) -> None:
    rng = np.random.default_rng(width)
    wide = np.zeros((40, 112), dtype=np.float32)
    wide[:, :width] = rng.normal(size=(40, width))
    narrow = np.ascontiguousarray(wide[:, :width])
    labels = np.where(wide[:, 0] + 0.3 * rng.normal(size=40) > 0, 1, -1).astype(np.int8)
    found = [
        _core.logistic_split(
            _core.padded_rows(X), np.zeros(X.shape[1]), np.ones(X.shape[1]), labels, np.ones(40),
            0.01, "stream", 1, 3, 0.3, 1e-3, 0,
        )
        for X in (narrow, wide)
    ]  # fmt: skip
    assert np.array_equal(found[0][0], found[1][0][:width])
    assert found[0][1] == found[1][1]


def arrays_in(values: Any) -> Iterator[Any]:
    """All arrays of nested tuples."""
    if isinstance(values, np.ndarray):
        yield values
    else:
        for value in values:
            yield from arrays_in(value)


def full_rows(indptr: Any, indices: Any, values: Any) -> Any:
    return sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, N_FEATURES)).toarray()


def test_what_a_tree_holds_says_nothing_of_the_padding() -> None:
    """Hyperplanes come out as wide as the table, and go back in, whatever lies behind the rows."""
    found = []
    for rows in (ROWS, _core.padded_rows(X)):
        native = _core.TreeOptimizer(
            rows, ZEROS, ONES, LEFT, RIGHT, task(), {}, "oblique", 1, 0, deviation=ONES
        )
        native.draw_splits("supervised", 1.0)
        native.solve_level(0, 1, False)
        native.fit_leaves(1, False)
        native.set_state(*native.state())
        (bias, splits), (values, leaves) = native.splits(), native.leaves()
        native.set_tree(bias, *splits, values, full_rows(*leaves))
        found.append(list(arrays_in((bias, splits, values, leaves, *native.state()))))
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))
    assert len(found[0][7]) > 0  # weights of linear leaves


# --- too many rows --------------------------------------------------------------------------------


def test_rows_whose_numbers_would_wrap_are_refused() -> None:
    """A matrix without columns takes no memory, however many rows it has."""
    rows = _core.dense_rows(np.empty((2**32, 0), dtype=np.float32))
    none, options = np.zeros(0), _core.GrowOptions("entropy", 3, 2, 0.0, 3, 0, 1)
    fault = "4294967296 rows are too many; give fewer than 2\\^32, try a sample"
    with pytest.raises(ValueError, match=fault):
        _core.grow_tree(rows, none, none, CODES, NO_VALUES, none, none, 2, AXIS, options, None)
    with pytest.raises(ValueError, match=fault):
        _core.axis_split(rows, SIDES, WEIGHTS, 0.0)
    with pytest.raises(ValueError, match=fault):
        _core.logistic_split(rows, none, none, SIDES, WEIGHTS, 0.1, "newton", 1, 1, 0.3, 1e-3, 0)


# --- when to stop ---------------------------------------------------------------------------------


class EnoughError(Exception):
    """What the looks of these tests raise."""


def enough() -> None:
    raise EnoughError


@contextmanager
def looking(look: Callable[[], None] | None) -> Iterator[None]:
    """Native calls of this thread look; waits until the next one surely does."""
    time.sleep(0.06)
    before = _core.set_thread_look(look)
    try:
        yield
    finally:
        assert _core.set_thread_look(before) is look


DRAWN = drawn()
STEPS: dict[str, tuple[Any, ...]] = {
    "draw_splits": ("balanced", 1.0),
    "solve_level": (0, 1, False),
    "fit_leaves": (1, False),
    "relax_leaves": (0.1,),
    "set_state": STATE,
    "care_points": (0,),
}
CALLS: dict[str, Callable[[], Any]] = {
    "column_moments": lambda: _core.column_moments(ROWS, WEIGHTS, 1),
    "padded_rows": lambda: _core.padded_rows(X),
    "byte_rows": lambda: _core.byte_rows(np.zeros((N_ROWS, 2), dtype=np.float32)),
    "sparse_rows": lambda: _core.sparse_rows(
        SPARSE.indptr.astype(np.int64), SPARSE.indices.astype(np.int32), SPARSE.data, N_FEATURES
    ),
    "optimizer": optimizer,
    "set_tree": set_tree,
    "grow_tree": grown,
    "grow_tree in threads": lambda: grown(n_threads=2),
    "logistic_split": split_of,
    "axis_split": lambda: _core.axis_split(ROWS, SIDES, WEIGHTS, 0.0),
    "apply": lambda: _core.apply(ROWS, *TREE, 1),
    "forest": lambda: forest().apply(ROWS, 1),
    "leaf system": lambda: regression(_core.LeafSystem),
    "leaf lasso": lambda: solved(_core.LeafLasso),
    **{name: lambda name=name: getattr(DRAWN, name)(*STEPS[name]) for name in STEPS},
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_look_raises_ends_a_native_call(name: str) -> None:
    with looking(enough), pytest.raises(EnoughError):
        CALLS[name]()


def test_a_quiet_look_changes_nothing() -> None:
    looks: list[int] = []
    with looking(lambda: looks.append(1)):
        tree = grown()
    assert looks
    assert all(np.array_equal(a, b) for a, b in zip(tree, grown(), strict=True))


def test_a_look_is_that_of_its_thread_alone() -> None:
    faults: list[BaseException] = []

    def grow() -> None:
        try:
            grown()
        except BaseException as fault:
            faults.append(fault)

    with looking(enough):
        thread = threading.Thread(target=grow)
        thread.start()
        thread.join()
    assert faults == []
