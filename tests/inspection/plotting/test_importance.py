"""Bars are mean importances, lines their spread over the trees."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import permutation_importance

import spinney
from spinney.inspection.plotting import FeatureImportanceDisplay
from spinney.tree.importance import split_importances
from tests.compat.models import FORESTS, classes, numbers, rows, small_model
from tests.inspection.plotting.models import draw, rows_at_nodes, rows_for, targets_for, trees_in

importance = FeatureImportanceDisplay.from_estimator

#: Fitted to all rows, each of them once, from the same table.
OF_ALL_ROWS = sorted(
    set(FORESTS)
    - {"refined_forest_classifier", "refined_forest_regressor"}
    - {"tao_forest_classifier"}  # weights of classes
    - {"tao_gradient_boosting_classifier"}  # rows set aside
    - {"tao_forest_of_holes_and_levels"}  # another table
    - {"tao_forest_of_bools"}  # other classes
)


@pytest.mark.parametrize("name", OF_ALL_ROWS)
def test_means_over_training_rows_are_those_of_the_estimator(name: str) -> None:
    model = small_model(name)
    X, y = rows_for(model), targets_for(model)
    display = importance(model, X, y)
    assert display.importances.shape == (len(trees_in(model)), 3)
    np.testing.assert_allclose(display.mean, model.feature_importances_, atol=1e-9)


def test_shares_of_weights_are_those_of_an_estimator_that_sums_them() -> None:
    model = clone(small_model("co2_forest_classifier")).set_params(importance_type="weight")
    by_weight = importance(model.fit(rows(), classes()), rows())
    np.testing.assert_allclose(by_weight.mean, model.feature_importances_, atol=1e-9)
    assert by_weight.ax_.get_xlabel() == "share in the weights of the splits"


@pytest.mark.parametrize("name", [name for name in FORESTS if not name.startswith("refined")])
def test_without_targets_the_bars_are_the_importances_of_the_estimator(name: str) -> None:
    model = small_model(name)
    display = importance(model, rows_for(model))
    assert np.array_equal(display.mean, model.feature_importances_)
    assert len(display.importances) == 1


@pytest.mark.parametrize("name", FORESTS)
def test_importances_are_those_of_each_tree(name: str) -> None:
    model = small_model(name)
    X = rows_for(model)
    display = importance(model, X, importance_type="weight")
    draw(display)
    assert display.importances.shape == (len(trees_in(model)), 3)
    if getattr(model, "encoding_", None) is not None:
        return
    scale = np.ptp(rows().astype(np.float32), axis=0) / 4
    for found, tree, at_nodes in zip(
        display.importances, trees_in(model), rows_at_nodes(model, X), strict=True
    ):
        leaf_rows = at_nodes.sum(axis=0)[tree.leaf_nodes].astype(float)
        np.testing.assert_allclose(found, split_importances(tree, leaf_rows, scale), atol=1e-9)


def test_spread_is_the_deviation_over_the_trees() -> None:
    model = small_model("co2_forest_classifier")
    display = importance(model, rows(), classes())
    np.testing.assert_allclose(display.mean, display.importances.mean(axis=0))
    np.testing.assert_allclose(display.spread, display.importances.std(axis=0))
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == display.mean[display.order].tolist()
    [lines] = [part for part in display.ax_.collections if hasattr(part, "get_segments")]
    lengths = [np.ptp(segment[:, 0]) / 2 for segment in lines.get_segments()]
    np.testing.assert_allclose(lengths, display.spread[display.order])


def test_boosted_trees_count_by_their_weights() -> None:
    model = small_model("tao_boost_classifier")
    display = importance(model, rows(), importance_type="weight")
    has_split = np.array([len(tree.split_nodes) > 0 for tree in model.trees_])
    assert 1 < has_split.sum() < len(has_split)  # a tree of one leaf says nothing of columns
    shares = np.where(has_split, model.estimator_weights_, 0.0)
    shares /= shares.sum()
    np.testing.assert_allclose(display.mean, shares @ display.importances)
    deviation = np.sqrt(shares @ (display.importances - display.mean) ** 2)
    np.testing.assert_allclose(display.spread, deviation)


def test_coordinates_of_a_column_count_together() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "$a$": rng.normal(size=90),
            "_job": rng.choice(["smith", "cook", "clerk"], 90),
            "when": pd.date_range("2020-01-01", periods=90),
        }
    )
    y = (frame["_job"] == "cook") ^ (frame["$a$"] > 0)
    model = spinney.TAOForestClassifier(3, max_depth=3, random_state=0).fit(frame, y)
    display = importance(model, frame)
    draw(display)
    np.testing.assert_allclose(display.mean, model.feature_importances_)
    assert sorted(display.names) == ["$a$", "_job", "when"]


def test_sparse_rows_count_as_dense_ones() -> None:
    X = rows() * (np.random.default_rng(0).random(rows().shape) < 0.1)
    model = spinney.TAOForestRegressor(2, max_depth=2, max_iter=2, random_state=0)
    model.fit(sp.csr_matrix(X), numbers())
    for kind in (np.asarray, sp.csr_matrix):
        display = importance(model, kind(X), numbers())
        np.testing.assert_allclose(display.mean, model.feature_importances_)


def test_the_most_important_columns_are_drawn_first() -> None:
    data = load_breast_cancer(as_frame=True)
    model = spinney.GreedyForestClassifier(4, max_depth=3, random_state=0)
    model.fit(data.data, data.target)
    display = importance(model, data.data, max_features=5)
    draw(display)
    top = np.argsort(-model.feature_importances_, kind="stable")[:5]
    assert display.order.tolist() == top.tolist()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [data.feature_names[column] for column in top]


def test_a_single_tree_has_no_spread() -> None:
    display = importance(small_model("tao_tree_classifier"), rows())
    assert display.spread.tolist() == [0.0, 0.0, 0.0]
    assert not any(hasattr(part, "get_segments") for part in display.ax_.collections)


def test_importances_by_permutation_are_drawn() -> None:
    model = small_model("tao_forest_classifier")
    result = permutation_importance(model, rows(), classes(), n_repeats=4, random_state=0)
    display = FeatureImportanceDisplay.from_importances(
        result.importances.T, what="loss of accuracy (share of rows)"
    )
    draw(display)
    np.testing.assert_allclose(display.mean, result.importances_mean)
    np.testing.assert_allclose(display.spread, result.importances_std)
    assert display.ax_.get_xlabel() == "loss of accuracy (share of rows)"


def test_a_bare_tree_has_importances() -> None:
    model = small_model("tao_tree_classifier")
    display = importance(model.tree_, rows())
    of_model = importance(model, rows(), importance_type="weight")
    assert np.array_equal(display.mean, of_model.mean)


def test_kinds_that_cannot_be_drawn_are_refused() -> None:
    model = small_model("tao_tree_classifier")
    with pytest.raises(ValueError, match="importance_type='cover'; give one of"):
        importance(model, rows(), importance_type="cover")
    with pytest.raises(ValueError, match="knows no gains"):
        importance(model.tree_, rows(), classes(), importance_type="gain")
    by_weight = clone(model).set_params(importance_type="weight").fit(rows(), classes())
    with pytest.raises(ValueError, match="give the targets"):
        importance(by_weight, rows(), importance_type="gain")
    found = importance(by_weight, rows(), classes(), importance_type="gain")
    np.testing.assert_allclose(found.mean, model.feature_importances_)


def test_given_axes_are_used() -> None:
    _, ax = plt.subplots()
    assert importance(small_model("tao_tree_classifier"), rows(), ax=ax).ax_ is ax


@pytest.mark.parametrize(
    ("importances", "options", "words"),
    [
        ([1.0, 2.0], {}, r"importances has shape \(2,\)"),
        ([[1.0, 2.0]], {"feature_names": ["a"]}, "1 names for 2 columns"),
        ([[1.0, 2.0]], {"max_features": 0}, "max_features=0"),
    ],
)
def test_bad_importances_are_refused(importances: list, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        FeatureImportanceDisplay.from_importances(importances, **options)
