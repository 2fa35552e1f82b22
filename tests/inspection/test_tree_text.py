"""export_text: rules and answers as people would write them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from spinney.estimators import TAOForestClassifier, TAOTreeClassifier, refine_leaves
from spinney.export import export_text
from spinney.inspection.tree_text import SumWriter
from spinney.tree.convert import from_sklearn
from spinney.tree.structure import Tree
from tests.column_trees import EVERY_KIND, set_of, tree_model
from tests.compat.models import FORESTS, small_model


def tree_of_two_splits(**changes: Any) -> Tree:
    """Root on two features, its right child on one; three leaves."""
    fields: dict[str, Any] = {
        "n_features": 3,
        "left": np.array([1, -1, 3, -1, -1], dtype=np.int32),
        "right": np.array([2, -1, 4, -1, -1], dtype=np.int32),
        "bias": np.array([-0.7, 0, 5.0, 0, 0]),
        "split_indptr": np.array([0, 2, 2, 3, 3, 3]),
        "split_indices": np.array([0, 2, 1], dtype=np.int32),
        "split_weights": np.array([0.52, -1.3, -2.0], dtype=np.float32),
        "leaf_kind": "constant",
        "leaf_values": np.array([[0.25, 0.75], [1.0, 0.0], [0.1, 0.9]]),
        "leaf_indptr": np.zeros(7, dtype=np.int64),
        "leaf_indices": np.empty(0, dtype=np.int32),
        "leaf_weights": np.empty(0, dtype=np.float32),
    }
    return Tree(**fields | changes).check()


def linear_tree(n_outputs: int) -> Tree:
    """One linear leaf of one or two outputs."""
    return Tree(
        n_features=2,
        left=np.array([-1], dtype=np.int32),
        right=np.array([-1], dtype=np.int32),
        bias=np.zeros(1),
        split_indptr=np.zeros(2, dtype=np.int64),
        split_indices=np.empty(0, dtype=np.int32),
        split_weights=np.empty(0, dtype=np.float32),
        leaf_kind="linear",
        leaf_values=np.array([[2.5, 0.0][:n_outputs]]),
        leaf_indptr=np.array([0, 2, 3][: n_outputs + 1]),
        leaf_indices=np.array([0, 1, 1][: n_outputs + 1], dtype=np.int32),
        leaf_weights=np.array([1.0, -0.25, 4.0][: n_outputs + 1], dtype=np.float32),
    ).check()


def test_rules_and_classes_read_as_expected() -> None:
    text = export_text(
        tree_of_two_splits(), feature_names=["length", "width", "mass"], class_names=["no", "yes"]
    )
    assert text == (
        "if -1.3*mass + 0.52*length >= 0.7:\n"
        "    if width <= 2.5:\n"
        "        yes (0.9)\n"
        "    else:\n"
        "        no (1)\n"
        "else:\n"
        "    yes (0.75)\n"
    )


def test_leaves_that_add_up_are_scores_with_their_signs() -> None:
    scores = np.array([[-0.0499, 0.0499], [1.0, 0.0], [0.25, -0.5]])
    text = export_text(tree_of_two_splits(leaf_values=scores), class_names=["neg", "pos"])
    lines = [line.strip() for line in text.splitlines()]
    assert [line for line in lines if line.startswith("scores")] == [
        "scores pos -0.5, neg +0.25",
        "scores neg +1, pos +0",
        "scores neg -0.0499, pos +0.0499",
    ]


@pytest.mark.parametrize("name", FORESTS)
def test_leaves_are_scores_in_forests_whose_trees_add_up_alone(name: str) -> None:
    model = small_model(name)
    is_forest = hasattr(model, "trees_") or hasattr(model, "leaf_values_")
    text = export_text(model, tree=0 if is_forest else None)
    adds_up = name.startswith(("fao", "tao_gradient", "refined")) and hasattr(model, "classes_")
    assert ("scores " in text) == adds_up
    if not adds_up and "linear" not in name:
        is_classifier = hasattr(model, "classes_")
        assert bool(re.search(r"\S \([01]\.\d+\)|\S \(1\)", text)) == is_classifier
        assert ("value = " in text or "score[" in text) != is_classifier


def test_of_many_scores_the_largest_are_written() -> None:
    values = np.array([[0.1, -0.9, 0.3, 0.2, -0.4, 0.0]] * 3)
    tree = tree_of_two_splits(leaf_values=values, leaf_indptr=np.zeros(19, dtype=np.int64))
    text = export_text(tree, class_names=list("abcdef"))
    assert "scores b -0.9, e -0.4, c +0.3, d +0.2, … 2 more\n" in text


def test_dates_are_compared_as_dates() -> None:
    days = pd.date_range("2020-01-01", periods=90)
    frame = pd.DataFrame({"when": days, "size": np.arange(90) % 7})
    late = days >= pd.Timestamp("2020-02-15")
    tree = TAOTreeClassifier(max_depth=1, split="axis", random_state=0).fit(frame, late)
    assert export_text(tree).startswith("if when >= 2020-02-14 12:00:\n")
    late = (days - days[0]).days + 3 * frame["size"] > 50
    tree = TAOTreeClassifier(max_depth=1, alpha=0.1, random_state=0).fit(frame, late)
    assert "*(when - 2020-01-01)" in export_text(tree)


def test_without_class_names_the_values_are_shown() -> None:
    lines = export_text(tree_of_two_splits()).splitlines()
    assert lines[0] == "if -1.3*x2 + 0.52*x0 >= 0.7:"
    assert lines[-1] == "    value = [0.25, 0.75]"


def test_single_value_needs_no_brackets() -> None:
    tree = tree_of_two_splits(
        leaf_values=np.array([[1.0], [-20.125], [0.0]]), leaf_indptr=np.zeros(4, dtype=np.int64)
    )
    lines = [line.strip() for line in export_text(tree).splitlines()]
    assert [line for line in lines if "value" in line] == [
        "value = 0",
        "value = -20.1",
        "value = 1",
    ]


def test_long_sums_are_cut_and_counted() -> None:
    text = export_text(tree_of_two_splits(), max_weights=1)
    assert text.startswith("if -1.3*x2 + … 1 more >= 0.7:\n")


def test_scale_brings_the_terms_of_most_effect_first() -> None:
    text = export_text(tree_of_two_splits(), scale=[100.0, 1.0, 1.0])
    assert text.startswith("if 0.52*x0 - 1.3*x2 >= 0.7:\n")


def test_linear_leaves_are_formulas() -> None:
    assert export_text(linear_tree(1)) == "value = x0 - 0.25*x1 + 2.5\n"
    assert export_text(linear_tree(2)) == "value[0] = x0 - 0.25*x1 + 2.5\nvalue[1] = 4*x1\n"
    assert export_text(linear_tree(2), class_names=["a", "b"]) == (
        "score[a] = x0 - 0.25*x1 + 2.5\nscore[b] = 4*x1\n"
    )


def test_split_without_weights_is_decided_by_its_bias() -> None:
    tree = tree_of_two_splits(
        split_indptr=np.zeros(6, dtype=np.int64),
        split_indices=np.empty(0, dtype=np.int32),
        split_weights=np.empty(0, dtype=np.float32),
    )
    assert export_text(tree).startswith("if 0 >= 0.7:\n")


def test_estimator_gives_names_of_columns_and_classes() -> None:
    iris = load_iris()
    frame = pd.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"])
    tree = TAOTreeClassifier(max_depth=2, split="axis", random_state=0)
    text = export_text(tree.fit(frame, iris.target_names[iris.target]))
    assert "if p" in text
    assert "setosa (1)" in text


def test_text_has_a_line_a_leaf_and_two_a_split() -> None:
    X, y = load_iris(return_X_y=True)
    tree = from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y))
    n_splits = tree.n_nodes - tree.n_leaves
    assert len(export_text(tree).splitlines()) == tree.n_leaves + 2 * n_splits


def test_deep_tree_does_not_recurse() -> None:
    depth = 1200
    left = np.full(2 * depth + 1, -1, dtype=np.int32)
    right = left.copy()
    is_split = np.arange(2 * depth + 1) % 2 == 0
    is_split[-1] = False
    left[is_split] = np.arange(1, 2 * depth, 2)
    right[is_split] = np.arange(2, 2 * depth + 1, 2)
    tree = tree_of_two_splits(
        n_features=1,
        left=left,
        right=right,
        bias=np.where(is_split, 1.0, 0.0),
        split_indptr=np.concatenate([[0], np.cumsum(is_split)]).astype(np.int64),
        split_indices=np.zeros(depth, dtype=np.int32),
        split_weights=np.ones(depth, dtype=np.float32),
        leaf_values=np.zeros((depth + 1, 1)),
        leaf_indptr=np.zeros(depth + 2, dtype=np.int64),
    )
    assert len(export_text(tree).splitlines()) == depth + 1 + 2 * depth


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.0, "1"), (-0.5, "-0.5"), (12345.678, "12346"), (0.00012345, "0.000123"),
     (1.5e-9, "1.50e-09"), (-2e12, "-2.00e+12"), (0.9999, "1"), (100.0, "100")],
)  # fmt: skip
def test_numbers_keep_their_significant_digits(value: float, text: str) -> None:
    assert SumWriter(3, None, {}).number(value) == text


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"feature_names": ["a"]}, ValueError, r"1 different feature_names for 3 features; give"),
        ({"class_names": ["a"]}, ValueError, r"class_names has 1 names for 2 classes; give .* try"),
        ({"digits": 0}, ValueError, r"digits=0 is too small; give an integer >= 1; try digits=3"),
        ({"max_weights": 0}, ValueError, r"max_weights=0 is too small"),
        ({"max_weights": 1.5}, TypeError, r"max_weights=1.5 is of type float"),
        ({"scale": [1.0]}, ValueError, r"scale has shape \(1,\); give .* \(3,\); try"),
    ],
)
def test_bad_arguments_are_refused(
    values: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        export_text(tree_of_two_splits(), **values)


@pytest.mark.parametrize("model", ["tree", DecisionTreeClassifier()])
def test_only_trees_have_a_text(model: object) -> None:
    with pytest.raises(TypeError, match=r"holds no spinney tree; give a Tree or .* try fit first"):
        export_text(model)


def test_a_tree_that_is_not_fitted_has_no_text() -> None:
    with pytest.raises(NotFittedError, match=r"TAOTreeClassifier is not fitted; try fit\(X, y\)"):
        export_text(TAOTreeClassifier())


def test_a_tree_of_a_forest_is_written_with_the_names_of_the_forest() -> None:
    table = pd.DataFrame({"job": ["cook", "clerk"] * 20, "age": [20.0, np.nan, 50.0, 40.0] * 10})
    forest = TAOForestClassifier(2, max_depth=2, random_state=0).fit(table, table.job)
    text = export_text(forest, tree=1)
    assert "job" in text
    assert "cook (" in text


@pytest.mark.parametrize("number", [None, 2, -1])
def test_a_forest_is_asked_for_one_of_its_trees(number: int | None) -> None:
    forest = TAOForestClassifier(2, max_depth=1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="of a forest of 2 trees; give the number of one"):
        export_text(forest, tree=number)


def test_a_single_tree_is_number_0_and_needs_no_number() -> None:
    assert export_text(tree_of_two_splits(), tree=0) == export_text(tree_of_two_splits())
    with pytest.raises(ValueError, match="tree=1 of a forest of 1 tree; give"):
        export_text(tree_of_two_splits(), tree=1)


def test_a_tree_of_a_refined_forest_is_written_with_its_new_leaves() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(side=np.where(X.iloc[:, 0] > 5.5, "left", "right"))
    forest = TAOForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    refined = refine_leaves(forest, X, y)
    text, before = (export_text(model, tree=1).splitlines() for model in (refined, forest))
    is_rule = [line.lstrip().startswith(("if ", "else:")) for line in before]
    assert [line for line, is_kept in zip(text, is_rule, strict=True) if is_kept] == [
        line for line, is_kept in zip(before, is_rule, strict=True) if is_kept
    ]
    assert text != before
    with pytest.raises(ValueError, match="forest of 2 trees"):
        export_text(refined)


def test_a_refined_forest_of_scikit_learn_has_a_text() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    assert "petal" in export_text(refine_leaves(forest, X, y), tree=0)


def test_splits_of_one_column_are_written_in_its_values() -> None:
    lines = export_text(tree_model(*EVERY_KIND)).splitlines()
    assert [line.strip() for line in lines if "if " in line] == [
        "if color in {blue, red}:",
        "if color is neither missing nor in {pink}:",
        "if code not in {1.5, 7}:",
        "if mean target of city >= 0.5:",
        "if age >= 45.5 or missing:",
        "if since <= 2020-11-01:",
        "if tool not in {file, saw}:",
    ]


def test_names_of_coordinates_bring_back_the_sums() -> None:
    model = tree_model(set_of("color = blue", "color = red"))
    names = model.get_coordinate_names()
    text = export_text(model, feature_names=[f"{name}?" for name in names])
    assert text.startswith("if color = blue? + color = red? >= 0.5:\n")


def test_max_weights_limits_sets_too() -> None:
    model = tree_model(set_of("color = blue", "color = red"))
    text = export_text(model, max_weights=1)
    assert text.startswith("if color in {blue, … 1 more}:\n")
