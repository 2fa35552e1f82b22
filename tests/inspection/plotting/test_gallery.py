"""Galleries hold the hyperplanes that were asked for, in the order that was asked for."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney import TAOForestClassifier
from spinney.inspection.plotting import HyperplaneGalleryDisplay
from spinney.inspection.plotting.gallery import impurity_decreases
from spinney.tree import from_sklearn
from tests import reference
from tests.compat.models import FORESTS, classes, numbers, rows, small_model
from tests.inspection.plotting.models import draw, rows_at_nodes, rows_for, targets_for, trees_in

each_model = pytest.mark.parametrize("name", FORESTS)
gallery = HyperplaneGalleryDisplay.from_estimator


@each_model
def test_all_hyperplanes_are_there_tree_by_tree(name: str) -> None:
    model = small_model(name)
    display = gallery(model, max_planes=1000)
    expected = [
        (number, int(node), dict(reference.split_terms(tree, node)))
        for number, tree in enumerate(trees_in(model))
        for node in tree.split_nodes
    ]
    found = [
        (int(number), plane.node, dict(zip(plane.features.tolist(), plane.weights, strict=True)))
        for number, plane in zip(display.trees, display.hyperplanes, strict=True)
    ]
    assert found == expected
    assert len(display.axes_) == len(expected)


@each_model
def test_those_with_most_rows_come_first(name: str) -> None:
    model = small_model(name)
    X = rows_for(model)
    display = gallery(model, X, max_planes=4)
    draw(display)
    reached = [at_nodes.sum(axis=0) for at_nodes in rows_at_nodes(model, X)]
    pairs = zip(display.trees, display.hyperplanes, strict=True)
    assert display.n_rows.tolist() == [reached[number][plane.node] for number, plane in pairs]
    every = [
        n
        for tree, of_tree in zip(trees_in(model), reached, strict=True)
        for n in of_tree[tree.split_nodes]
    ]
    assert display.n_rows.tolist() == sorted(every, reverse=True)[:4]


@each_model
def test_those_that_part_the_targets_most_come_first(name: str) -> None:
    model = small_model(name)
    display = gallery(
        model, rows_for(model), targets_for(model), sort_by="importance", max_planes=9
    )
    assert (np.diff(display.importances) <= 0).all()
    assert (display.importances >= 0).all()


def test_importance_of_a_split_is_its_decrease_of_impurity() -> None:
    X = rows().astype(np.float32)
    for cart, y, targets in (
        (DecisionTreeClassifier(max_depth=3), classes(), np.eye(3)[classes()]),
        (DecisionTreeRegressor(max_depth=3), numbers()[:, 0], numbers()[:, :1]),
    ):
        fitted = cart.fit(X, y)
        tree, theirs = from_sklearn(fitted), fitted.tree_
        is_split = theirs.children_left >= 0
        left, right = theirs.children_left[is_split], theirs.children_right[is_split]
        mass = theirs.n_node_samples * theirs.impurity
        decrease = mass[is_split] - mass[left] - mass[right]
        found = impurity_decreases(tree, X, targets)
        np.testing.assert_allclose(np.sort(found), np.sort(decrease / mass[0]), atol=1e-12)


def test_pictures_hold_the_weights_times_the_deviations() -> None:
    X, y = load_digits(return_X_y=True)
    forest = TAOForestClassifier(2, max_depth=2, max_iter=2, random_state=0).fit(X, y)
    display = gallery(forest, X, image_shape=(8, 8), max_planes=3)
    for ax, plane, number in zip(display.axes_, display.hyperplanes, display.trees, strict=True):
        picture = np.zeros(64)
        for feature, weight in reference.split_terms(forest.trees_[number], plane.node):
            picture[feature] = weight
        np.testing.assert_allclose(
            ax.images[0].get_array().ravel(), picture * X.std(axis=0), rtol=1e-5
        )


def test_bars_are_the_largest_weights() -> None:
    display = gallery(small_model("co2_forest_classifier"), max_weights=2, max_planes=3)
    for ax, plane in zip(display.axes_, display.hyperplanes, strict=True):
        assert [bar.get_width() for bar in ax.containers[0]] == plane.weights[:2].tolist()


def test_one_tree_of_a_forest_can_be_taken() -> None:
    model = small_model("tao_forest_classifier")
    display = gallery(model, tree=2)
    assert set(display.trees) == {2}
    assert len(display.hyperplanes) == len(model.trees_[2].split_nodes)


def test_trees_without_splits_give_an_empty_gallery() -> None:
    model = TAOForestClassifier(2, alpha=1e6, max_depth=1, random_state=0).fit(rows(), classes())
    display = gallery(model, rows())
    draw(display)
    assert display.hyperplanes == []


def test_the_grid_is_put_into_given_axes() -> None:
    _, ax = plt.subplots(figsize=(4, 3))
    display = gallery(small_model("tao_forest_classifier"), ax=ax)
    assert display.ax_ is ax
    assert set(display.axes_) <= set(ax.child_axes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sort_by": "size"}, "sort_by='size'"),
        ({"sort_by": "rows"}, "needs rows to count"),
        ({"sort_by": "importance", "X": rows()}, "needs targets"),
        ({"max_planes": 0}, "max_planes=0"),
        ({"n_columns": 0}, "n_columns=0"),
        ({"y": classes()}, "y was given without X"),
    ],
)
def test_bad_options_are_refused_by_name(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gallery(small_model("tao_forest_classifier"), **options)
