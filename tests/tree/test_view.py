"""Views say what the arrays say."""

import numpy as np
import pytest
from hypothesis import given

from spinney.tree import LeafView, SplitView, view_tree, walk
from tests import reference
from tests.strategies import trees, trees_with_rows


def answer(node, x):
    """Outputs for one row, through views only."""
    while isinstance(node, SplitView):
        score = sum(weight * x[name] for name, weight in node.weights.items()) + node.bias
        node = node.right if score >= 0 else node.left
    return [
        value + sum(weight * x[name] for name, weight in weights.items())
        for value, weights in zip(node.value, node.weights, strict=True)
    ]


@given(trees_with_rows())
def test_views_answer_like_the_tree(tree_and_rows):
    tree, X = tree_and_rows
    names = [f"feature {i}" for i in range(tree.n_features)]
    root = view_tree(tree, names)
    found = [answer(root, dict(zip(names, x.tolist(), strict=True))) for x in X]
    np.testing.assert_array_equal(
        np.reshape(found, (len(X), tree.n_outputs)), reference.outputs(tree, X)
    )


@given(trees())
def test_walk_meets_every_node_once_and_parents_first(tree):
    met = [node.index for node in walk(view_tree(tree))]
    assert sorted(met) == list(range(tree.n_nodes))
    assert all(met.index(tree.parent[node]) < met.index(node) for node in met[1:])


@given(trees())
def test_views_know_their_kind_depth_and_text(tree):
    for node in walk(view_tree(tree)):
        kind = LeafView if tree.left[node.index] < 0 else SplitView
        assert isinstance(node, kind)
        assert node.depth == tree.depth[node.index]
        assert repr(node).startswith(f"{kind.__name__}({node.index}: ")


@given(trees())
def test_features_without_names_are_numbered(tree):
    for node in walk(view_tree(tree)):
        if isinstance(node, SplitView):
            features = [feature for feature, _ in reference.split_terms(tree, node.index)]
            assert list(node.weights) == [f"x{feature}" for feature in features]


@given(trees(max_features=2))
def test_names_that_do_not_fit_are_refused(tree):
    for names in (["a"] * (tree.n_features + 1), ["a"] * 2, []):
        with pytest.raises(ValueError, match="give one a feature"):
            view_tree(tree, names)
