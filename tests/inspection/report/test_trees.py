"""Trees in few bytes."""

import numpy as np
import pytest

from spinney.inspection.fitted_model import fitted_model
from spinney.inspection.report import trees
from spinney.inspection.report.blocks import unpack
from spinney.inspection.report.rows import AnsweredRows
from spinney.inspection.report.trees import page_trees, tree_arrays
from spinney.inspection.split_words import SplitWords
from spinney.tree.hyperplanes import hyperplanes as planes_of
from tests.column_trees import EVERY_KIND, column_tree, forest_model
from tests.compat.models import FORESTS, small_model
from tests.contracts.served import fitted
from tests.inspection.report.forests import random_forest

EVERYTHING = 10**9


def hyperplanes(arrays, n_features, name="split"):
    """Dense rows of weights, read as the page reads them."""
    rows = np.zeros((len(arrays[f"{name}Lengths"]), n_features))
    weights, place = arrays[f"{name}Weights"].astype(float), 0
    for row, length in enumerate(arrays[f"{name}Lengths"]):
        columns = np.cumsum(arrays[f"{name}Steps"][place : place + length], dtype=np.int64)
        scale = arrays.get(f"{name}WeightsScales", np.ones(row + 1))[row]
        rows[row, columns] = weights[place : place + length] * scale
        place += length
    return rows


def dense(tree):
    return planes_of(tree)[tree.split_nodes].toarray()


@pytest.mark.parametrize("family", FORESTS)
def test_small_trees_are_exact(family):
    model = fitted_model(small_model(family))
    packed = page_trees(model, None, EVERYTHING)
    assert packed.precision == "float32"
    for tree, block in zip(model.trees, packed.blocks, strict=True):
        arrays = unpack(block)
        np.testing.assert_array_equal(arrays["isSplit"], tree.left >= 0)
        np.testing.assert_array_equal(arrays["bias"], tree.bias[tree.split_nodes])
        np.testing.assert_array_equal(hyperplanes(arrays, tree.n_features), dense(tree))
        values = arrays["leafValues"].reshape(tree.leaf_values.shape)
        np.testing.assert_allclose(values, tree.leaf_values, rtol=1e-6)


@pytest.mark.parametrize(("precision", "share"), [("int16", 2.0**-16), ("int8", 2.0**-8)])
def test_rounded_weights_are_off_by_half_a_step_at_most(precision, share):
    tree = random_forest(1, depth=3, n_features=40, n_weights=12).trees_[0]
    exact = dense(tree)
    found = hyperplanes(tree_arrays(tree, precision), tree.n_features)
    steps = np.abs(exact).max(axis=1, keepdims=True)
    assert (np.abs(found - exact) <= 1.01 * share * steps).all()


@pytest.mark.parametrize("precision", ["int16", "int8"])
def test_linear_leaves_can_be_rounded_too(precision):
    tree = fitted("wide linear tree").tree_
    found = tree_arrays(tree, precision)
    np.testing.assert_array_equal(found["leafValues"], tree.leaf_values)
    assert found["leafWeights"].dtype == precision
    assert len(found["leafWeights"]) == len(tree.leaf_weights)


def test_large_forests_are_rounded_and_then_cut():
    model = fitted_model(random_forest(12, depth=5, n_features=100, n_weights=50))
    all_sizes = sum(len(block) for block in page_trees(model, None, EVERYTHING).blocks)
    seen = []
    for budget in (all_sizes, int(0.8 * all_sizes), int(0.5 * all_sizes), int(0.2 * all_sizes)):
        packed = page_trees(model, None, budget)
        assert sum(len(block) for block in packed.blocks) <= budget
        seen.append((packed.precision, len(packed.blocks) == 12))
    assert seen == [("float32", True), ("int16", True), ("int8", True), ("int8", False)]


def rules_of(block):
    """The lines that the page reads beside the splits."""
    return unpack(block)["rules"].tobytes().decode().split("\n")


def test_splits_of_one_column_come_in_words():
    oblique = {"age": 1.0, "size": 2.0}, 0.0
    model = forest_model(column_tree(EVERY_KIND), column_tree([*EVERY_KIND[:2], oblique]))
    packed = page_trees(fitted_model(model), None, EVERYTHING)
    first, second = map(rules_of, packed.blocks)
    assert first == [
        "color in {blue, red}",
        "age ≥ 45.5 or missing",
        "color is neither missing nor in {pink}",
        "tool not in {file, saw}",
        "since ≤ 2020-11-01",
        "mean target of city ≥ 0.5",
        "code not in {1.5, 7}",
    ]
    assert second == [*first[:2], ""]


def test_trees_without_such_splits_have_no_words():
    oblique = {"age": 1.0, "size": 2.0}, 0.0
    for model in (forest_model(column_tree([oblique])), small_model("tao_forest_classifier")):
        packed = page_trees(fitted_model(model), None, EVERYTHING)
        assert all("rules" not in unpack(block) for block in packed.blocks)


def test_words_take_one_line_whatever_levels_hold(monkeypatch):
    words = SplitWords("a\nb", " in", ("x\r\ny", "\u2028", "\ud800"))
    monkeypatch.setattr(trees, "words_of_tree", lambda *_: {0: words})
    model = forest_model(column_tree(EVERY_KIND))
    [block] = page_trees(fitted_model(model), None, EVERYTHING).blocks
    assert rules_of(block) == ["a b in {x y, , ?}", *[""] * 6]


def test_rows_of_each_leaf_are_counted_by_class():
    model = small_model("tao_forest_classifier")
    X = np.random.default_rng(0).normal(size=(70, 3)).astype(np.float32)
    truth = np.arange(70) % 3
    rows = AnsweredRows(X, X, model.predict(X), None, truth)
    for number, block in enumerate(page_trees(fitted_model(model), rows, EVERYTHING).blocks):
        arrays, tree = unpack(block), model.trees_[number]
        wanted = np.zeros((tree.n_leaves, 3), dtype=int)
        np.add.at(wanted, (tree.leaf_index[model.apply(X)[:, number]], truth), 1)
        found = np.zeros(wanted.size, dtype=int)
        found[np.cumsum(arrays["reachedSteps"], dtype=int)] = arrays["reachedCounts"]
        np.testing.assert_array_equal(found.reshape(wanted.shape), wanted)
