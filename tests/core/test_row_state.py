"""Trees of the core that take turns with one row state, and narrow numbers of leaves."""

from __future__ import annotations

import numpy as np
import pytest

from spinney import _core
from spinney.tree import complete_topology

N_ROWS, N_FEATURES = 400, 3
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
ROWS = _core.dense_rows(X)
Y = (np.abs(X[:, :1]) + X[:, 1:2]).astype(np.float64)
WEIGHTS = RNG.integers(3, size=N_ROWS).astype(np.float64)
ZEROS, ONES = np.zeros(N_FEATURES), np.ones(N_FEATURES)
NO_CODES = np.zeros(0, dtype=np.int32)
# Its leaves from left to right are not in the order of their nodes.
LOPSIDED = tuple(np.array(of, dtype=np.int32) for of in ([1, 3, -1, -1, -1], [2, 4, -1, -1, -1]))
SHAPES = (complete_topology(3), LOPSIDED)
TYPES = (np.uint8, np.uint16, np.uint32)


def a_tree(shape, state=None, weights=WEIGHTS):
    numbers = (1.0, 0.0, 0.0, 1)
    task = _core.Task(NO_CODES, Y, weights, 1, "squared_error", "constant", *numbers)
    return _core.TreeOptimizer(
        ROWS, ZEROS, ONES, *shape, task, {}, "oblique", 1, 0, deviation=ONES, state=state
    )


def drawn(shape, state=None):
    native = a_tree(shape, state)
    native.draw_splits("balanced", 1.0)
    return native


def numbers_of(native, kind=np.uint8):
    numbers = np.full(N_ROWS, 77, dtype=kind)
    native.leaf_numbers(numbers)
    return numbers


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", TYPES)
def test_leaves_are_numbered_in_the_order_of_their_nodes(shape, kind):
    native = drawn(shape)
    leaf_of = native.leaf_of()
    has_weight = WEIGHTS > 0
    assert ((leaf_of >= 0) == has_weight).all()
    numbers = numbers_of(native, kind)
    assert (np.flatnonzero(shape[0] < 0)[numbers[has_weight]] == leaf_of[has_weight]).all()
    assert (numbers[~has_weight] == 0).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("is_told", [True, False])
def test_trees_that_take_turns_are_as_if_alone(kind, is_told):
    def run(state):
        trees = [drawn(shape, state) for shape in SHAPES]
        told = [numbers_of(native, kind) for native in trees]
        for sweep in range(1, 4):
            for native, numbers in zip(trees, told, strict=True):
                values = np.ascontiguousarray(native.leaves()[0]) + 0.1 * sweep
                if is_told:
                    native.take_turn(numbers, values)
                else:
                    native.set_leaves(values)
                for level in range(native.n_levels):
                    native.solve_level(level, sweep, False, True)
                native.fit_leaves(sweep, False)
                native.leaf_numbers(numbers)
        return [(*native.leaves()[0].ravel(), *native.objective()) for native in trees], told

    in_turns, alone = run(_core.RowState(WEIGHTS)), run(None)
    assert in_turns[0] == alone[0]
    assert all(np.array_equal(a, b) for a, b in zip(in_turns[1], alone[1], strict=True))


@pytest.mark.parametrize(
    ("n_rows", "changed", "message"),
    [(N_ROWS - 1, {}, "399 rows; these are 400"), (N_ROWS, {5: 1.0}, "other weights")],
)
def test_a_state_of_other_rows_is_refused(n_rows, changed, message):
    weights = WEIGHTS[:n_rows].copy()
    for row, weight in changed.items():
        weights[row] = weight if WEIGHTS[row] == 0 else 0.0
    with pytest.raises(ValueError, match=message):
        a_tree(SHAPES[0], _core.RowState(weights))


def test_a_state_takes_other_weights_of_the_same_rows():
    twice = 2.0 * WEIGHTS
    assert a_tree(SHAPES[0], _core.RowState(twice)).reach()[0] == np.count_nonzero(WEIGHTS)


def test_numbers_that_do_not_fit_are_refused():
    native = drawn(SHAPES[0])
    values, numbers = native.leaves()[0], numbers_of(native)
    with pytest.raises(ValueError, match="1 leaf numbers; give one for each of the 400 rows"):
        native.take_turn(numbers[:1], values)
    with pytest.raises(ValueError, match="1 leaf numbers; give one for each of the 400 rows"):
        native.leaf_numbers(numbers[:1])
    with pytest.raises(ValueError, match="given leaves do not fit"):
        native.take_turn(numbers, values[1:])
    numbers[3] = 8
    with pytest.raises(ValueError, match="leaf number 8 is out of range; this tree has 8 leaves"):
        native.take_turn(numbers, values)
    with pytest.raises(ValueError, match="512 leaves do not fit into 8 bits"):
        drawn(complete_topology(9)).leaf_numbers(numbers)


@pytest.mark.parametrize("n_leaves", [256, 257])
def test_bytes_hold_the_numbers_of_256_leaves(n_leaves):
    nodes = np.arange(2 * n_leaves - 1, dtype=np.int32)
    is_split = nodes < n_leaves - 1
    native = drawn((np.where(is_split, 2 * nodes + 1, -1), np.where(is_split, 2 * nodes + 2, -1)))
    if n_leaves == 256:
        assert numbers_of(native).max() == 255
    else:
        with pytest.raises(ValueError, match="257 leaves"):
            numbers_of(native)


# --- all leaves of a forest -----------------------------------------------------------------------


def narrow_and_wide(kind):
    numbers = RNG.integers(4, size=(3, N_ROWS)).astype(kind)
    first_leaf = np.array([0, 4, 8], dtype=np.uint32)
    return numbers, first_leaf, numbers + first_leaf[:, None]


@pytest.mark.parametrize("regression", [_core.LeafSystem, _core.LeafLasso])
@pytest.mark.parametrize("matrix_limit", [0, 100])
@pytest.mark.parametrize("kind", TYPES)
def test_numbers_within_trees_are_as_good_as_through_all(regression, matrix_limit, kind):
    numbers, first_leaf, leaves = narrow_and_wide(kind)
    start = np.zeros((12, 1))
    narrow = regression(numbers, WEIGHTS, 12, 0.5, matrix_limit, 1, first_leaf)
    wide = regression(leaves.astype(np.uint32), WEIGHTS, 12, 0.5, matrix_limit, 1)
    values = narrow.solve(Y, start, 1e-8)
    assert np.array_equal(values, wide.solve(Y, start, 1e-8))
    sums = narrow.add_up(values)
    assert np.array_equal(sums, wide.add_up(values))
    one_by_one = np.zeros_like(sums)
    for of_tree, first in zip(numbers, first_leaf, strict=True):
        _core.add_leaf_values(one_by_one, of_tree, values[first : first + 4].copy(), 1.0, 1)
    assert np.array_equal(one_by_one, sums)


@pytest.mark.parametrize(
    ("first_leaf", "message"),
    [
        ([0, 4], "2 first leaves; give one for each of the 3 trees"),
        ([0, 3, 8], "out of range"),
        ([0, 4, 9], "out of range"),
        ([4, 0, 8], "ascend"),
        ([0, 4, 13], "ascend"),
    ],
)
def test_trees_that_share_leaves_are_refused(first_leaf, message):
    numbers = np.tile(np.arange(4, dtype=np.uint8), (3, N_ROWS // 4))
    first = np.array(first_leaf, dtype=np.uint32)
    with pytest.raises(ValueError, match=message):
        _core.LeafSystem(numbers, WEIGHTS, 12, 0.5, 0, 1, first)


def test_sums_of_other_rows_or_leaves_are_refused():
    sums, numbers, values = np.zeros((4, 1)), np.arange(4, dtype=np.uint8), np.ones((4, 1))
    with pytest.raises(ValueError, match="one row a row"):
        _core.add_leaf_values(sums[:3], numbers, values, 1.0, 1)
    with pytest.raises(ValueError, match="columns of the values"):
        _core.add_leaf_values(sums, numbers, np.ones((4, 2)), 1.0, 1)
    with pytest.raises(ValueError, match="out of range"):
        _core.add_leaf_values(sums, numbers, values[:3], 1.0, 1)
    sums.setflags(write=False)
    with pytest.raises(TypeError):
        _core.add_leaf_values(sums, numbers, values, 1.0, 1)
