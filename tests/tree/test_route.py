"""Routing and prediction against the plain walk of the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from spinney.data import as_rows
from spinney.tree import Tree
from spinney.tree.route import apply, decision_path, outputs
from tests import reference
from tests.strategies import trees_with_rows


def both_kinds(X):
    return [as_rows(X), as_rows(sp.csr_matrix(X))]


@given(trees_with_rows())
def test_rows_end_in_the_leaf_of_the_plain_walk(tree_and_rows):
    tree, X = tree_and_rows
    for rows in both_kinds(X):
        found = apply(tree, rows)
        assert found.dtype == np.int32
        assert np.array_equal(found, reference.apply(tree, X))


@given(trees_with_rows())
def test_outputs_are_those_of_the_leaf(tree_and_rows):
    tree, X = tree_and_rows
    for rows in both_kinds(X):
        found = outputs(tree, rows)
        assert found.dtype == np.float64
        assert np.array_equal(found, reference.outputs(tree, X))


@given(trees_with_rows())
def test_path_is_the_plain_walk(tree_and_rows):
    tree, X = tree_and_rows
    for rows in both_kinds(X):
        assert np.array_equal(decision_path(tree, rows).toarray(), reference.decision_path(tree, X))


def wide_tree(n_features, density, rng):
    """Complete tree of depth 3 with a share of the weights set."""
    full = np.zeros((15, n_features), dtype=np.float32)
    full[:7] = rng.normal(size=(7, n_features)) * (rng.random((7, n_features)) < density)
    weights = sp.csr_matrix(full)
    nodes = np.arange(15)
    left = np.where(nodes < 7, 2 * nodes + 1, -1).astype(np.int32)
    right = np.where(nodes < 7, 2 * nodes + 2, -1).astype(np.int32)
    bias = np.where(nodes < 7, 0.1 * rng.normal(size=15), 0.0)
    return Tree(
        n_features,
        left,
        right,
        bias,
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int32),
        weights.data,
        "constant",
        np.arange(8.0)[:, None],
        np.zeros(9, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.float32),
    ).check()


@pytest.mark.parametrize("density", [0.2, 1.0])
@pytest.mark.parametrize("n_features", [16, 17, 100])
def test_neither_threads_nor_storage_nor_neighbours_move_a_row(n_features, density):
    rng = np.random.default_rng(0)
    tree = wide_tree(n_features, density, rng)
    X = (rng.normal(size=(3000, n_features)) * (rng.random((3000, n_features)) < 0.5)).astype("f4")
    leaves = apply(tree, as_rows(X))
    assert len(np.unique(leaves)) > 2
    for rows in both_kinds(X):
        assert np.array_equal(apply(tree, rows, n_threads=3), leaves)
    one_by_one = np.concatenate([apply(tree, as_rows(X[n : n + 1])) for n in range(100)])
    assert np.array_equal(one_by_one, leaves[:100])
    backwards = apply(tree, as_rows(np.ascontiguousarray(X[::-1])))
    assert np.array_equal(backwards[::-1], leaves)


def test_broken_tree_is_refused_before_a_row_moves():
    tree = wide_tree(5, 1.0, np.random.default_rng(0))
    rows = as_rows(np.zeros((1, 5), dtype=np.float32))
    with pytest.raises(ValueError, match="out of range"):
        apply(replace(tree, left=np.full(15, 99, dtype=np.int32)), rows)
    with pytest.raises(ValueError, match="feature 4 is out of range"):
        apply(tree, as_rows(np.zeros((1, 4), dtype=np.float32)))
