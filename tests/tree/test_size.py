"""Parameters and cost of a prediction, against naive counts."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from spinney.tree import count_flops, count_parameters, from_sklearn, path_parameters
from tests import reference
from tests.strategies import trees, trees_with_rows


@given(trees())
def test_parameters_are_the_naive_count(tree):
    assert count_parameters(tree) == reference.count_parameters(tree)


@given(trees_with_rows())
def test_path_parameters_are_what_a_row_reads(tree_and_rows):
    tree, X = tree_and_rows
    leaves = tree.leaf_index[reference.apply(tree, X)]
    found = path_parameters(tree)[leaves]
    np.testing.assert_array_equal(found, [reference.row_parameters(tree, x) for x in X])


@given(trees_with_rows(min_rows=1))
def test_flops_are_the_mean_over_rows(tree_and_rows):
    tree, X = tree_and_rows
    leaf_rows = reference.reach(tree, X)[tree.leaf_nodes]
    naive = np.mean([reference.row_parameters(tree, x) for x in X])
    assert count_flops(tree, leaf_rows) == pytest.approx(naive, rel=1e-12)


@given(trees())
def test_counting_twice_gives_the_same(tree):
    np.testing.assert_array_equal(path_parameters(tree), path_parameters(tree))


def test_an_axis_aligned_split_counts_2_and_a_constant_leaf_1():
    cart = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    n_leaves = cart.get_n_leaves()
    assert count_parameters(from_sklearn(cart)) == 2 * (n_leaves - 1) + n_leaves


@pytest.mark.parametrize("leaf_rows", [[1.0], [0.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_rows_a_leaf_cannot_have_are_refused(leaf_rows):
    stump = from_sklearn(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(ValueError, match="leaf_rows"):
        count_flops(stump, np.array(leaf_rows))
