"""Many trees at once against the plain loop over them."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from spinney import _core
from spinney.data import as_rows
from spinney.tree import Forest, Tree, count_parameters, random_topology
from spinney.tree.route import apply, decision_path, outputs
from tests import reference
from tests.strategies import forests_with_rows

DENSITIES = (0.01, 0.3, 1.0)


def both_kinds(X):
    return [as_rows(X), as_rows(sp.csr_matrix(X))]


def random_csr(n_rows, n_features, density, is_filled, rng):
    values = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < density)
    matrix = sp.csr_matrix((values * is_filled[:, None]).astype(np.float32))
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


def random_tree(n_features, density, kind, rng, n_outputs=4):
    """A tree of uneven depth whose hyperplanes have a share of their weights set."""
    left, right = random_topology(2, 7, 0.7, rng)
    n_leaves = int((left < 0).sum())
    return Tree(
        n_features,
        left,
        right,
        np.where(left >= 0, rng.normal(size=len(left)), 0.0),
        *random_csr(len(left), n_features, density, left >= 0, rng),
        kind,
        rng.normal(size=(n_leaves, n_outputs)),
        *random_csr(
            n_leaves * n_outputs,
            n_features,
            density,
            np.full(n_leaves * n_outputs, kind == "linear"),
            rng,
        ),
    ).check()


def random_forest(n_features, seed=0):
    """Trees of every density, with constant and with linear leaves."""
    rng = np.random.default_rng(seed)
    return Forest(
        tuple(
            random_tree(n_features, density, kind, rng)
            for _ in range(2)
            for density in DENSITIES
            for kind in ("constant", "linear")
        )
    )


def random_bytes(n_rows, n_features, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 256, size=(n_rows, n_features))
    return (values * (rng.random(values.shape) < 0.3)).astype(np.float32)


def one_leaf(n_features=2):
    return Tree(
        n_features,
        np.array([-1], dtype=np.int32),
        np.array([-1], dtype=np.int32),
        np.zeros(1),
        np.zeros(2, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.float32),
        "constant",
        np.array([[0.25, 0.75]]),
        np.zeros(3, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.float32),
    )


def all_answers(forest, rows, n_threads=1):
    """Results of every operation, as one list of arrays."""
    weights = np.linspace(0.1, 2, forest.n_trees)
    return [
        forest.apply(rows, n_threads),
        forest.labels(rows, n_threads),
        forest.votes(rows, weights, n_threads),
        forest.sums(rows, weights, n_threads=n_threads),
        forest.sums(rows, weights, is_softmax=True, n_threads=n_threads),
    ]


def assert_same_bits(found, wanted):
    for one, two in zip(found, wanted, strict=True):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)


@given(forests_with_rows())
def test_forest_is_the_plain_loop(forest_rows_weights):
    forest, X, weights = forest_rows_weights
    answers = [reference.outputs(tree, X) for tree in forest.trees]
    leaves = [reference.apply(tree, X) for tree in forest.trees]
    for rows in both_kinds(X):
        assert np.array_equal(forest.apply(rows), np.column_stack(leaves))
        assert np.array_equal(forest.labels(rows), reference.forest_labels(answers))
        assert np.array_equal(forest.votes(rows, weights), reference.forest_votes(answers, weights))
        assert np.array_equal(forest.sums(rows, weights), reference.forest_sums(answers, weights))


@given(forests_with_rows())
def test_softmax_is_taken_of_linear_leaves_only(forest_rows_weights):
    forest, X, weights = forest_rows_weights
    answers = [
        reference.softmax(answer) if tree.is_linear else answer
        for tree in forest.trees
        for answer in [reference.outputs(tree, X)]
    ]
    found = forest.sums(as_rows(X), weights, is_softmax=True)
    np.testing.assert_allclose(found, reference.forest_sums(answers, weights), atol=1e-11)


@given(forests_with_rows())
def test_paths_of_all_trees_stand_side_by_side(forest_rows_weights):
    forest, X, _ = forest_rows_weights
    for rows in both_kinds(X):
        paths, n_nodes_ptr = forest.decision_path(rows)
        assert paths.has_sorted_indices
        assert np.array_equal(np.diff(n_nodes_ptr), [tree.n_nodes for tree in forest.trees])
        wanted = [reference.decision_path(tree, X) for tree in forest.trees]
        assert np.array_equal(paths.toarray(), np.hstack(wanted))


@pytest.mark.parametrize("n_features", [3, 8, 16, 20, 33, 100, 784])
def test_bits_are_those_of_single_trees(n_features):
    forest = random_forest(n_features)
    rows = as_rows(random_bytes(200, n_features))
    weights = np.linspace(0.1, 2, forest.n_trees)
    answers = [outputs(tree, rows) for tree in forest.trees]
    leaves = np.column_stack([apply(tree, rows) for tree in forest.trees])
    assert len(np.unique(leaves)) > 5
    wanted = [
        leaves,
        reference.forest_labels(answers),
        reference.forest_votes(answers, weights),
        reference.forest_sums(answers, weights),
    ]
    assert_same_bits(all_answers(forest, rows)[:4], wanted)
    paths = sp.hstack([decision_path(tree, rows) for tree in forest.trees])
    assert (forest.decision_path(rows)[0] != paths).nnz == 0


@pytest.mark.parametrize("n_features", [5, 16, 40, 300])
def test_neither_threads_nor_storage_nor_neighbours_change_a_bit(n_features):
    forest = random_forest(n_features)
    X = random_bytes(1500, n_features)
    wanted = all_answers(forest, as_rows(X))
    for rows in (*both_kinds(X), _core.byte_rows(X)):
        for n_threads in (1, 3):
            assert_same_bits(all_answers(forest, rows, n_threads), wanted)
    for step in (1, 3, 70):
        parts = [all_answers(forest, as_rows(X[n : n + step])) for n in range(0, 140, step)]
        joined = [np.concatenate(pieces)[:140] for pieces in zip(*parts, strict=True)]
        assert_same_bits(joined, [answer[:140] for answer in wanted])


def test_nearly_empty_rows_of_many_columns():
    forest = random_forest(2000)
    X = sp.random(300, 2000, density=0.005, random_state=0, format="csr", dtype=np.float32)
    assert_same_bits(all_answers(forest, as_rows(X)), all_answers(forest, as_rows(X.toarray())))


def test_no_rows_give_empty_tables():
    forest = random_forest(3)
    shapes = [answer.shape for answer in all_answers(forest, as_rows(np.zeros((0, 3))))]
    assert shapes == [(0, 12), (0, 12), (0, 4), (0, 4), (0, 4)]


def test_tree_of_one_leaf_answers_every_row():
    forest = Forest((one_leaf(), one_leaf()))
    rows = as_rows(np.ones((3, 2)))
    assert np.array_equal(forest.apply(rows), np.zeros((3, 2)))
    assert np.array_equal(forest.labels(rows), np.ones((3, 2)))
    assert np.array_equal(forest.votes(rows, [1.0, 0.5]), [[0, 1.5]] * 3)
    assert np.array_equal(forest.sums(rows, [1.0, 1.0]), [[0.5, 1.5]] * 3)
    paths, n_nodes_ptr = forest.decision_path(rows)
    assert np.array_equal(paths.toarray(), np.ones((3, 2)))
    assert np.array_equal(n_nodes_ptr, [0, 1, 2])


def test_forest_knows_its_size():
    forest = random_forest(7)
    assert (forest.n_trees, forest.n_features, forest.n_outputs) == (12, 7, 4)
    assert forest.n_parameters == sum(count_parameters(tree) for tree in forest.trees)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda forest: pickle.loads(pickle.dumps(forest))]
)
def test_copies_predict_alike_and_leave_the_packed_trees_behind(duplicate):
    forest = random_forest(6)
    rows = as_rows(random_bytes(50, 6))
    wanted = all_answers(forest, rows)
    other = duplicate(forest)
    assert set(vars(other)) == {"trees"}
    assert_same_bits(all_answers(other, rows), wanted)


def test_threads_may_share_a_new_forest():
    forest = random_forest(16)
    rows = as_rows(random_bytes(200, 16))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: all_answers(forest, rows), range(8)))
    for answers in found:
        assert_same_bits(answers, found[0])


def test_forest_outlives_the_arrays_of_its_trees():
    tree = random_forest(6).trees[1]
    native = Forest((tree,)).native
    rows = as_rows(random_bytes(50, 6))
    wanted = apply(tree, rows)
    del tree
    assert np.array_equal(native.apply(rows, 1)[:, 0], wanted)


def test_the_forest_of_one_tree_is_kept_beside_it_and_left_behind_by_copies():
    tree = random_forest(6).trees[1]
    size = len(pickle.dumps(tree))
    forest = Forest.of(tree)
    rows = as_rows(random_bytes(50, 6))
    assert np.array_equal(forest.apply(rows)[:, 0], apply(tree, rows))
    assert Forest.of(tree) is forest
    assert len(pickle.dumps(tree)) == size
    assert Forest.of(copy.copy(tree)) is not forest


def test_trees_that_do_not_belong_together_are_refused():
    rng = np.random.default_rng(0)
    tree = random_tree(3, 1.0, "constant", rng)
    with pytest.raises(ValueError, match="trees is empty"):
        Forest(())
    with pytest.raises(ValueError, match=r"n_features of \[3, 4\]"):
        Forest((tree, random_tree(4, 1.0, "constant", rng)))
    with pytest.raises(ValueError, match=r"n_outputs of \[4, 5\]"):
        Forest((tree, random_tree(3, 1.0, "constant", rng, n_outputs=5)))


def test_wrong_rows_and_weights_are_refused():
    forest = random_forest(3)
    with pytest.raises(ValueError, match="rows of 4 columns for a forest of 3"):
        forest.apply(as_rows(np.zeros((2, 4))))
    rows = as_rows(np.zeros((2, 3)))
    for call in (forest.votes, forest.sums):
        with pytest.raises(ValueError, match="11 tree weights for 12 trees"):
            call(rows, np.ones(11))


HOSTILE = {
    "left": lambda a: np.full_like(a, 10**6),
    "right": lambda a: np.roll(a, 1),
    "bias": lambda a: a[:-1],
    "split_indptr": lambda a: a[::-1].copy(),
    "split_indices": lambda a: a + 10**6,
    "split_weights": lambda a: a[1:],
    "leaf_values": lambda a: a[1:],
    "leaf_indptr": lambda a: np.full_like(a, np.iinfo(np.int64).max),
    "leaf_indices": lambda a: -a - 1,
    "leaf_weights": lambda a: np.append(a, a),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused_before_a_row_moves(name):
    tree = random_tree(5, 1.0, "linear", np.random.default_rng(0))
    broken = replace(tree, **{name: HOSTILE[name](getattr(tree, name))})
    forest = Forest((tree, broken))
    rows = as_rows(np.zeros((1, 5)))
    for call in (forest.apply, forest.labels, forest.decision_path):
        with pytest.raises(ValueError, match=r"tree|lea(f|ves)|feature|left|right|bias|split_"):
            call(rows)


@pytest.mark.parametrize(("name", "amount"), [("n_features", 4), ("n_outputs", 2)])
def test_native_forest_checks_the_sizes_it_is_told(name, amount):
    arrays = random_tree(5, 1.0, "linear", np.random.default_rng(0))
    sizes = {"n_features": 5, "n_outputs": 4, name: amount}
    with pytest.raises(ValueError, match=r"feature|outputs"):
        _core.Forest([_arrays_of(arrays)], **sizes)


def _arrays_of(tree):
    names = ["left", "right", "bias", "split_indptr", "split_indices", "split_weights"]
    names += ["leaf_values", "leaf_indptr", "leaf_indices", "leaf_weights", "is_linear"]
    return tuple(getattr(tree, name) for name in names)
