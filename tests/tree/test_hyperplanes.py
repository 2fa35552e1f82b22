"""Matrices of weights agree with the arrays of a tree, split by split and leaf by leaf."""

import numpy as np
from hypothesis import given

from spinney.tree.hyperplanes import hyperplane, hyperplanes, leaf_function, leaf_functions
from tests.strategies import trees_with_rows


@given(trees_with_rows())
def test_scores_of_rows_are_products_with_the_hyperplanes(tree_and_rows):
    tree, _ = tree_and_rows
    found = hyperplanes(tree)
    assert found.shape == (tree.n_nodes, tree.n_features)
    assert found.dtype == np.float32
    wanted = np.zeros(found.shape)
    owners = np.repeat(np.arange(tree.n_nodes), np.diff(tree.split_indptr))
    wanted[owners, tree.split_indices] = tree.split_weights
    np.testing.assert_array_equal(found.toarray(), wanted)


@given(trees_with_rows())
def test_one_hyperplane_is_a_row_of_all(tree_and_rows):
    tree, _ = tree_and_rows
    every = hyperplanes(tree).toarray()
    for node in range(tree.n_nodes):
        features, weights = hyperplane(tree, node)
        assert weights.dtype == np.float64
        np.testing.assert_array_equal(every[node, features], weights)
        assert np.count_nonzero(every[node]) == len(features)


@given(trees_with_rows())
def test_one_output_of_a_leaf_is_a_row_of_all(tree_and_rows):
    tree, _ = tree_and_rows
    every = leaf_functions(tree).toarray()
    assert every.shape == (tree.n_leaves * tree.n_outputs, tree.n_features)
    for row in range(len(every)):
        features, weights = leaf_function(tree, *divmod(row, tree.n_outputs))
        np.testing.assert_array_equal(every[row, features], weights)
        assert np.count_nonzero(every[row]) == len(features)
