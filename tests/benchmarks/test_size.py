import numpy as np
import pytest
import size
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

X = np.arange(8.0)[:, None]
Y = np.array([0, 0, 1, 1, 0, 0, 0, 0])


def test_a_split_counts_two_and_a_leaf_one():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    found = size.size(tree, X)
    # Cuts at 1.5 and 3.5: three leaves. The outer cut is met by all rows, the inner one by those
    # on its side.
    assert found["n_leaves"] == 3
    assert found["n_parameters"] == 2 * 2 + 3
    assert found["depth"] == 2
    first_cut = tree.tree_.threshold[0]
    met = (8 + (4 if first_cut == 3.5 else 6)) / 8
    assert found["flops"] == pytest.approx(2 * met + 1)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(5, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3, random_state=0),
    ],
)
def test_a_forest_is_the_sum_of_its_trees(forest):
    forest.fit(X, Y)
    trees = [size.size(tree, X) for tree in forest.estimators_]
    found = size.size(forest, X)
    assert found["n_trees"] == len(trees)
    assert found["n_parameters"] == sum(tree["n_parameters"] for tree in trees)
    assert found["flops"] == pytest.approx(sum(tree["flops"] for tree in trees))
    assert found["depth"] == max(tree["depth"] for tree in trees)


def test_the_text_form_of_lightgbm_is_read():
    text = "num_leaves=3\nleft_child=1 -1\nright_child=-2 -3\ninternal_count=10 4\n"
    found = size._lightgbm_tree(text)
    assert (found.n_leaves, found.n_parameters, found.depth) == (3, 7, 2)
    assert found.flops == pytest.approx(2 * 1.4 + 1)


def test_xgboost_leaves_know_their_depth():
    leaf = {"nodeid": 1, "leaf": 0.1}
    inner = {"nodeid": 2, "children": [{"nodeid": 3, "leaf": 0.2}, {"nodeid": 4, "leaf": 0.3}]}
    assert size._xgboost_depths({"nodeid": 0, "children": [leaf, inner]}) == {1: 1, 3: 2, 4: 2}


def test_an_unknown_model_has_no_size():
    assert set(size.size(object(), X).values()) == {None}
