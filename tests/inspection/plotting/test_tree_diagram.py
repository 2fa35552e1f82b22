"""What a diagram shows is what the tree holds, for the trees of every estimator."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import spinney
from spinney.inspection.plotting import TreeDisplay, plot_tree
from spinney.inspection.plotting.tree_nodes import SCORES, NodeWriter
from spinney.inspection.split_words import SplitWords
from spinney.tree import from_sklearn
from spinney.tree.structure import children_of
from tests import reference
from tests.column_trees import EVERY_KIND, table, tree_model
from tests.compat.models import FORESTS, classes, rows, small_model
from tests.inspection.plotting.models import (
    draw,
    patches_of,
    rows_at_nodes,
    rows_for,
    targets_for,
    trees_in,
    words_in,
)

each_model = pytest.mark.parametrize("name", FORESTS)


@each_model
def test_hyperplanes_are_those_of_the_tree(name: str) -> None:
    model = small_model(name)
    number = len(trees_in(model)) - 1
    tree = trees_in(model)[number]
    display = plot_tree(model, tree=number, max_depth=None)
    draw(display)
    assert sorted(display.hyperplanes) == tree.split_nodes.tolist()
    for node, plane in display.hyperplanes.items():
        found = dict(zip(plane.features.tolist(), plane.weights, strict=True))
        assert found == dict(reference.split_terms(tree, node))
        assert plane.bias == tree.bias[node]
        assert plane.shown.tolist() == plane.weights.tolist()


@each_model
def test_bars_are_as_long_as_the_largest_weights(name: str) -> None:
    model = small_model(name)
    display = plot_tree(model, tree=0, max_depth=None, max_weights=2)
    for node, plane in display.hyperplanes.items():
        bars = patches_of(display.ax_, f"weight {node}")
        if len(plane.weights) == 1:
            assert bars == []  # told by the rule
            continue
        widths = np.array([bar.get_width() for bar in bars])
        shown = plane.shown[:2]
        assert len(widths) == len(shown)
        if len(shown):
            np.testing.assert_allclose(widths / np.abs(widths).max(), shown / np.abs(shown).max())
            assert (np.abs(shown).min() >= np.abs(plane.shown[2:])).all()


@each_model
def test_rows_and_classes_of_nodes_are_counted(name: str) -> None:
    model = small_model(name)
    X, y = rows_for(model), targets_for(model)
    display = TreeDisplay.from_estimator(model, X, y, tree=0)
    draw(display)
    at_nodes = rows_at_nodes(model, X)[0]
    assert display.n_rows is not None
    assert display.n_rows.tolist() == at_nodes.sum(axis=0).tolist()
    if hasattr(model, "classes_"):
        is_class = y[:, None] == np.asarray(model.classes_)
        np.testing.assert_array_equal(display.class_counts, at_nodes.T @ is_class)
        assert display.means is None
    else:
        sums = at_nodes.T @ y.reshape(len(y), -1)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(display.means, sums / at_nodes.sum(axis=0)[:, None])
        assert display.class_counts is None


def test_strips_show_the_shares_of_the_classes() -> None:
    model = small_model("tao_tree_classifier")
    display = plot_tree(model, rows(), classes())
    for node in display.nodes.tolist():
        counts = display.class_counts[node]
        widths = [patch.get_width() for patch in patches_of(display.ax_, f"strip {node}")]
        np.testing.assert_allclose(
            np.array(widths) / np.sum(widths), counts[counts > 0] / counts.sum()
        )


def test_leaves_show_their_fractions_without_rows() -> None:
    model = small_model("tao_tree_classifier")
    display = plot_tree(model)
    for leaf, node in enumerate(model.tree_.leaf_nodes):
        widths = [patch.get_width() for patch in patches_of(display.ax_, f"strip {node}")]
        shares = model.tree_.leaf_values[leaf]
        np.testing.assert_allclose(np.array(widths) / np.sum(widths), shares[shares > 0])


def test_leaves_show_scores_up_and_down() -> None:
    model = small_model("fao_forest_classifier")
    display = plot_tree(model, tree=1)
    tree = model.trees_[1]
    for leaf, node in enumerate(tree.leaf_nodes):
        heights = [-patch.get_height() for patch in patches_of(display.ax_, f"strip {node}")]
        scores = tree.leaf_values[leaf]
        largest = np.abs(tree.leaf_values).max()
        np.testing.assert_allclose(np.array(heights), scores / largest * SCORES / 2, atol=1e-12)


def test_leaves_say_the_class_and_its_share() -> None:
    model = small_model("tao_tree_classifier")
    words = words_in(plot_tree(model, class_names=["ant", "bee", "cat"]).ax_)
    names = np.array(["ant", "bee", "cat"])
    for values in model.tree_.leaf_values:
        assert f"{names[values.argmax()]} {100 * values.max():.0f} %" in words


@pytest.mark.parametrize("name", ["fao_forest_classifier", "tao_gradient_boosting_classifier"])
def test_leaves_that_add_up_say_scores_with_their_signs(name: str) -> None:
    model = small_model(name)
    display = plot_tree(model, tree=0)
    words = words_in(display.ax_)
    tree = model.trees_[0]
    for values in tree.leaf_values:
        told = f"{values.max():+.2g}".replace("-", "−")
        assert any(word.startswith(f"{values.argmax()} {told[0]}") for word in words)
    assert not any(word.endswith(" %") for word in words)
    assert "leaves: the largest score" in display.ax_.get_xlabel()
    shares = plot_tree(small_model("tao_forest_classifier"), tree=0)
    assert "score" not in shares.ax_.get_xlabel()


def test_values_of_leaves_are_written_in_full_digits() -> None:
    X = rows()
    model = spinney.TAOTreeRegressor(max_depth=2, random_state=0).fit(X, X[:, 0] * 100)
    words = words_in(plot_tree(model, X, X[:, 0] * 100).ax_)
    for value in model.tree_.leaf_values[:, 0]:
        assert f"{value:.3g}".replace("-", "−") in words


def test_numbers_are_never_cut_in_the_middle() -> None:
    model = small_model("tao_tree_regressor")  # two outputs
    words = words_in(plot_tree(model).ax_)
    for values in model.tree_.leaf_values:
        told = [f"{value:.2g}".replace("-", "−") for value in values]
        assert ", ".join(told) in words or f"{told[0]}, …" in words


def test_what_is_too_deep_is_told_and_not_drawn() -> None:
    model = small_model("greedy_forest_classifier")
    tree = model.trees_[0]
    display = plot_tree(model, tree=0, max_depth=1)
    assert display.nodes.tolist() == np.flatnonzero(tree.depth <= 1).tolist()
    deep = [node for node in (1, 2) if tree.left[node] >= 0]
    assert display.clipped.tolist() == deep
    assert set(display.hyperplanes) == {0}
    words = words_in(display.ax_)
    for node in deep:
        n_leaves = sum(node in path_to(tree, int(leaf)) for leaf in tree.leaf_nodes)
        assert f"… {n_leaves} leaves" in words


def path_to(tree, node: int) -> list[int]:
    path = [node]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return path


def test_yes_stands_at_right_children_and_no_at_left_ones() -> None:
    model = small_model("greedy_forest_classifier")
    display = plot_tree(model, tree=0)
    tree, writer = model.trees_[0], NodeWriter(display)
    answers = [text for text in display.ax_.texts if text.get_text() in ("yes", "no")]
    assert len(answers) == len(display.nodes) - 1
    for text in answers:
        x, y = text.get_position()
        distances = np.hypot(writer.x[display.nodes] - x, writer.y[display.nodes] - y)
        node = display.nodes[distances.argmin()]
        is_right = node == tree.right[tree.parent[node]]
        assert text.get_text() == ("yes" if is_right else "no")
        assert (y > writer.y[node]) == is_right  # beside the edge, not on it


def test_a_tree_of_one_leaf_is_drawn() -> None:
    model = spinney.TAOTreeClassifier(max_depth=1, alpha=1e6, random_state=0).fit(rows(), classes())
    display = plot_tree(model, rows(), classes())
    draw(display)
    assert display.nodes.tolist() == [0]
    assert display.hyperplanes == {}


def test_axis_aligned_splits_are_told_as_rules() -> None:
    cart = DecisionTreeClassifier(max_depth=1, random_state=0).fit(rows(), classes())
    display = plot_tree(from_sklearn(cart), feature_names=["ant", "bee", "cat"])
    feature, threshold = cart.tree_.feature[0], cart.tree_.threshold[0]
    name = ["ant", "bee", "cat"][feature]
    assert any(
        word.startswith(f"{name} ≥ ") or word.startswith(f"{name} ≤ ")
        for word in words_in(display.ax_)
        if f"{threshold:.1f}".replace("-", "−") in word
        or f"{threshold:.3g}".replace("-", "−") in word
    )


def test_weights_are_multiplied_by_the_deviations_of_given_rows() -> None:
    model = small_model("tao_tree_classifier")
    X = rows() * [1.0, 10.0, 0.1]
    display = plot_tree(model, X)
    for plane in display.hyperplanes.values():
        scaled = plane.weights * X.astype(np.float32).std(axis=0)[plane.features]
        np.testing.assert_allclose(plane.shown, scaled, rtol=1e-5)
        assert (np.diff(np.abs(plane.shown)) <= 0).all()
    assert display.scaled_by == "standard deviation"


def test_a_given_scale_wins_over_that_of_rows() -> None:
    model = small_model("tao_tree_classifier")
    display = plot_tree(model, rows(), scale=[1.0, 2.0, 4.0])
    for plane in display.hyperplanes.values():
        expected = plane.weights * np.array([1.0, 2.0, 4.0])[plane.features]
        assert plane.shown.tolist() == expected.tolist()


def test_pictures_hold_the_weights_in_their_places() -> None:
    X, y = load_digits(return_X_y=True)
    model = spinney.TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0).fit(X, y)
    display = plot_tree(model, image_shape=(8, 8))
    draw(display)
    assert len(display.ax_.images) == len(display.hyperplanes) == 3
    for image, (node, _) in zip(display.ax_.images, display.hyperplanes.items(), strict=True):
        picture = np.zeros(64)
        for feature, weight in reference.split_terms(model.tree_, node):
            picture[feature] = weight
        np.testing.assert_array_equal(image.get_array(), picture.reshape(8, 8))
        low, high = image.get_clim()
        assert low == -high == -np.abs(picture).max()  # zero is in the middle


def test_dates_are_compared_as_dates() -> None:
    days = pd.date_range("2020-01-01", periods=90)
    frame = pd.DataFrame({"when": days, "size": np.arange(90) % 7})
    tree = spinney.TAOTreeClassifier(max_depth=1, split="axis", random_state=0)
    display = plot_tree(tree.fit(frame, days >= pd.Timestamp("2020-02-15")))
    assert display.hyperplanes[0].rule() == ("when", " ≥ 2020-02-14 12:00")


def test_splits_of_one_column_are_told_by_their_rule_alone() -> None:
    model = tree_model(*EVERY_KIND)
    display = plot_tree(model, table())
    rules = ["".join(plane.rule()) for plane in display.hyperplanes.values()]
    assert rules == [
        "color in {blue, red}",
        "age ≥ 45.5 or missing",
        "color is neither missing nor in {pink}",
        "tool not in {file, saw}",
        "since ≤ 2020-11-01",
        "mean target of city ≥ 0.5",
        "code not in {1.5, 7}",
    ]
    draw(display)
    drawn = [text.get_text() for text in display.ax_.texts]
    assert {"color in {blue, red}", "is neither missing nor in {pink}"} <= set(drawn)
    assert not any("weight" in str(patch.get_gid()) for patch in display.ax_.patches)


def test_long_sets_are_drawn_as_far_as_there_is_room() -> None:
    words = SplitWords("a long name of a column", " not in", tuple(f"level {k}" for k in range(40)))
    model = tree_model(*EVERY_KIND)
    display = plot_tree(model)
    display.hyperplanes[0] = replace(display.hyperplanes[0], words=words)
    first, second = NodeWriter(display)._rule_lines(0)
    assert first == "a long name of a column"
    assert second.startswith("not in {level 0, level 1")
    assert second.endswith(" more}")


def test_given_names_are_of_coordinates_and_not_of_columns() -> None:
    model = tree_model(*EVERY_KIND)
    names = [f"c{k}" for k in range(model.tree_.n_features)]
    display = plot_tree(model, feature_names=names)
    assert display.hyperplanes[0].rule() == ("w·x", " ≥ 0.5")


def test_frames_with_categories_dates_and_holes_are_drawn_by_coordinate_names() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "$a$": rng.normal(size=80),
            "_job": rng.choice(["smith", "cook", "<b>"], 80),
            "when": pd.date_range("2020-01-01", periods=80),
        }
    )
    frame.loc[::7, "$a$"] = np.nan
    y = np.where((frame["_job"] == "cook") | (frame["$a$"] > 0.5), "$yes$", "_no")
    model = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(frame, y)
    display = plot_tree(model, frame, y)
    draw(display)
    names = set(model.get_coordinate_names())
    assert all(set(plane.names) <= names for plane in display.hyperplanes.values())
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [text.replace("\\$", "$").strip() for text in legend] == ["$yes$", "_no"]
    assert display.n_rows[0] == 80


def test_sparse_rows_are_counted_as_dense_ones() -> None:
    model = small_model("tao_tree_classifier")
    dense = plot_tree(model, rows(), classes())
    sparse = plot_tree(model, sp.csr_matrix(rows()), classes())
    np.testing.assert_array_equal(dense.class_counts, sparse.class_counts)
    for node, plane in dense.hyperplanes.items():
        np.testing.assert_allclose(plane.shown, sparse.hyperplanes[node].shown, rtol=1e-6)


def test_letters_shrink_with_given_axes() -> None:
    _, ax = plt.subplots(figsize=(3, 2))
    model = small_model("tao_tree_classifier")
    display = plot_tree(model, ax=ax)
    assert display.ax_ is ax
    assert max(text.get_fontsize() for text in ax.texts) < 5


def test_letters_in_a_figure_of_its_own_have_their_size_and_fit_their_boxes() -> None:
    model = small_model("tao_tree_classifier")
    names = ["a long name of a column", "b", "c" * 40]
    display = plot_tree(model, rows(), classes(), feature_names=names)
    assert max(text.get_fontsize() for text in display.ax_.texts) == 7.5
    draw(display)
    boxes = [
        patch.get_window_extent() for patch in display.ax_.patches if hasattr(patch, "get_boxstyle")
    ]
    for text in display.ax_.texts:
        if text.get_text() in ("yes", "no"):
            continue
        extent = text.get_window_extent()
        assert any(
            box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 <= box.y1
            for box in boxes
        )


def test_no_two_nodes_overlap_on_a_deep_tree() -> None:
    X, y = load_digits(return_X_y=True)
    model = spinney.GreedyForestClassifier(1, max_depth=8, random_state=0).fit(X, y)
    display = plot_tree(model, X, y, max_depth=6)
    boxes = [
        patch.get_window_extent() for patch in display.ax_.patches if hasattr(patch, "get_boxstyle")
    ]
    assert len(boxes) == len(display.nodes) > 60
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def test_a_huge_tree_is_drawn_in_a_figure_that_can_be_saved() -> None:
    depth = 120
    left, right = children_of(np.array([True, *[True, False] * (depth - 1), False, False]))
    tree = spinney.Tree(
        n_features=1,
        left=left,
        right=right,
        bias=np.zeros(len(left)),
        split_indptr=np.concatenate([[0], np.cumsum(left >= 0)]).astype(np.int64),
        split_indices=np.zeros(depth, dtype=np.int32),
        split_weights=np.ones(depth, dtype=np.float32),
        leaf_kind="constant",
        leaf_values=np.arange(depth + 1.0)[:, None],
        leaf_indptr=np.zeros(depth + 2, dtype=np.int64),
        leaf_indices=np.empty(0, dtype=np.int32),
        leaf_weights=np.empty(0, dtype=np.float32),
    ).check()
    display = plot_tree(tree, max_depth=None)
    assert display.figure_.get_size_inches().max() == 300
    assert len(display.nodes) == 2 * depth + 1


def test_refined_leaves_of_other_forests_are_drawn() -> None:
    forest = RandomForestClassifier(2, max_depth=3, random_state=0).fit(rows(), classes())
    model = spinney.refine_leaves(forest, rows(), classes())
    display = plot_tree(model, rows(), classes(), tree=1)
    draw(display)
    reached = forest.estimators_[1].decision_path(rows().astype(np.float32)).sum(axis=0)
    assert sorted(display.n_rows.tolist()) == sorted(np.asarray(reached).ravel().tolist())
    assert display.n_rows[0] == len(rows())


def test_plot_draws_again() -> None:
    display = plot_tree(small_model("tao_tree_classifier"))
    first = display.ax_
    assert display.plot().ax_ is not first


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tree": 9}, "tree=9 of a forest of 3 trees"),
        ({"tree": None}, "tree=None of a forest of 3 trees"),
        ({"tree": True}, "tree=True"),
        ({"image_shape": (2, 2)}, r"image_shape=\(2, 2\) for hyperplanes of 3"),
        ({"image_shape": 3}, "image_shape=3 for"),
        ({"feature_names": ["a"]}, "1 names for 3 coordinates"),
        ({"class_names": ["a"]}, "1 names for 3 classes"),
        ({"max_depth": -1}, "max_depth=-1"),
        ({"max_weights": 0}, "max_weights=0"),
        ({"scale": [1.0]}, r"scale has shape \(1,\)"),
        ({"y": classes()}, "y was given without X"),
        ({"X": rows(), "y": classes()[:5]}, "48 rows and y has 5"),
        ({"X": rows(), "y": np.full(48, 7)}, "7, which the model does not know"),
    ],
)
def test_bad_options_are_refused_by_name(options: dict, words: str) -> None:
    options = {"tree": 0, **options}
    with pytest.raises(ValueError, match=words):
        plot_tree(small_model("tao_forest_classifier"), **options)
    assert plt.get_fignums() == []


def test_other_models_are_refused() -> None:
    with pytest.raises(TypeError, match="DecisionTreeClassifier holds no spinney tree"):
        plot_tree(DecisionTreeClassifier().fit(rows(), classes()))
    with pytest.raises(NotFittedError):
        plot_tree(spinney.TAOTreeClassifier())
