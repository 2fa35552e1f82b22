"""Regions are predictions on a grid, lines are splits where they act."""

from __future__ import annotations

from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_moons

import spinney
from spinney.inspection.plotting import DecisionRegionsDisplay
from tests.compat.models import classes, numbers, rows, small_model
from tests.inspection.plotting.models import draw, trees_in

X, Y = make_moons(120, noise=0.2, random_state=0)
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
regions = DecisionRegionsDisplay.from_estimator
FAST = {"max_iter": 3, "random_state": 0}
BOOSTED = {"max_sweeps": 3, "random_state": 0}
MODELS = {
    "tree": lambda: spinney.TAOTreeClassifier(max_depth=3, **FAST).fit(X, Y),
    "linear leaves": lambda: spinney.TAOTreeClassifier(
        max_depth=2, alpha=0.01, leaf="linear", **FAST
    ).fit(X, Y),
    "bagged": lambda: spinney.TAOForestClassifier(3, max_depth=3, **FAST).fit(X, Y),
    "boosted": lambda: spinney.TAOBoostClassifier(3, max_depth=2, **BOOSTED).fit(X, Y),
    "gradient": lambda: spinney.TAOGradientBoostingClassifier(3, max_depth=2, **BOOSTED).fit(X, Y),
    "fao": lambda: spinney.FAOForestClassifier(2, 2, max_depth=2, **FAST).fit(X, Y),
    "co2": lambda: spinney.CO2ForestClassifier(3, max_depth=3, random_state=0).fit(X, Y),
    "ho": lambda: spinney.RandomDecisionForestClassifier(
        2, max_features=1, on_tie="reject", random_state=0
    ).fit(X, Y),
    "greedy": lambda: spinney.GreedyForestClassifier(3, max_depth=3, random_state=0).fit(X, Y),
    "refined": lambda: spinney.refine_leaves(fitted("bagged"), X, Y),
    "tree of numbers": lambda: spinney.TAOTreeRegressor(max_depth=3, **FAST).fit(X, NUMBERS),
    "fao of numbers": lambda: spinney.FAOForestRegressor(2, 2, max_depth=2, **FAST).fit(X, NUMBERS),
}


@cache
def fitted(name: str) -> Any:
    return MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
def test_regions_are_predictions_on_the_grid(name: str) -> None:
    model = fitted(name)
    y = Y if hasattr(model, "classes_") else NUMBERS
    display = regions(model, X, y, grid_resolution=40)
    draw(display)
    said = model.predict(np.column_stack([display.xx0.ravel(), display.xx1.ravel()]))
    found = display.response.ravel()
    if hasattr(model, "classes_"):
        known = [model.classes_.tolist().index(c) if c in model.classes_ else -1 for c in said]
        assert found.tolist() == known
    else:
        assert found.tolist() == said.tolist()
    np.testing.assert_array_equal(display.surface_.get_array().ravel(), found)


@pytest.mark.parametrize("name", MODELS)
def test_lines_are_on_the_hyperplanes_of_their_splits(name: str) -> None:
    model = fitted(name)
    display = regions(model, X, grid_resolution=5)
    trees, segments = trees_in(model), display.segments
    assert len(segments.nodes) > 0
    assert len(display.lines_.get_segments()) == len(segments.nodes)
    for number, node, ends in zip(segments.trees, segments.nodes, segments.ends, strict=True):
        tree = trees[number]
        used = slice(*tree.split_indptr[node : node + 2])
        normal = np.zeros(2)
        normal[tree.split_indices[used]] = tree.split_weights[used]
        assert ends @ normal + tree.bias[node] == pytest.approx(0, abs=1e-6 * np.abs(normal).max())


def test_the_tree_changes_its_mind_only_at_lines() -> None:
    model = fitted("tree")
    display = regions(model, X, grid_resolution=60)
    leaves = model.apply(np.column_stack([display.xx0.ravel(), display.xx1.ravel()]))
    leaves = leaves.reshape(60, 60)
    step = display.xx0[0, 1] - display.xx0[0, 0]
    for row, column in np.argwhere(leaves[:, 1:] != leaves[:, :-1]):
        point = np.array([display.xx0[row, column], display.xx1[row, column]])
        assert min(distance(point, ends) for ends in display.segments.ends) <= step * 1.001


def distance(point: np.ndarray, ends: np.ndarray) -> float:
    start, along = ends[0], ends[1] - ends[0]
    share = np.clip((point - start) @ along / (along @ along), 0, 1)
    return float(np.linalg.norm(point - start - share * along))


def test_rows_lie_inside_the_plane_and_have_their_classes() -> None:
    display = regions(fitted("tree"), X, Y)
    assert display.xx0.min() < X[:, 0].min() < X[:, 0].max() < display.xx0.max()
    np.testing.assert_array_equal(display.points, X)
    np.testing.assert_array_equal(display.targets, Y)
    np.testing.assert_array_equal(display.ax_.collections[-1].get_offsets(), X)
    assert regions(fitted("tree"), X).points is None


def test_classes_have_names_and_numbers_a_scale() -> None:
    display = regions(fitted("tree"), X, Y, class_names=["$up$", "_down"])
    draw(display)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [name.replace("\\$", "$").strip() for name in names] == ["$up$", "_down"]
    own = regions(fitted("tree"), X, Y).ax_.get_legend().get_texts()
    assert [text.get_text() for text in own] == ["0", "1"]
    display = regions(fitted("tree of numbers"), X, NUMBERS)
    assert display.ax_.get_legend() is None
    [scale] = [ax for ax in display.figure_.axes if ax is not display.ax_]
    assert scale.get_ylabel() == "prediction (unit of y)"


def test_lines_of_one_tree_or_of_none_can_be_taken() -> None:
    model = fitted("bagged")
    assert set(regions(model, X, trees=1).segments.trees) == {1}
    assert len(regions(model, X, trees=None).segments.nodes) == 0
    assert set(regions(model, X).segments.trees) == {0, 1, 2}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_give_their_names_to_the_axes(kind: Any) -> None:
    frame = kind({"$width$ (m)": X[:, 0], "_height": X[:, 1]})
    model = spinney.TAOTreeClassifier(max_depth=2, **FAST).fit(frame, Y)
    display = regions(model, frame, Y, grid_resolution=20)
    draw(display)
    assert display.labels == ("$width$ (m)", "_height")
    plain = spinney.TAOTreeClassifier(max_depth=2, **FAST).fit(X, Y)
    expected = regions(plain, X, Y, grid_resolution=20)
    np.testing.assert_array_equal(display.response, expected.response)


def test_columns_with_holes_have_lines_too() -> None:
    holes = X.copy()
    holes[Y == 1, 1] = np.where(np.arange((Y == 1).sum()) % 2, np.nan, holes[Y == 1, 1])
    model = spinney.TAOTreeClassifier(max_depth=3, **FAST).fit(holes, Y)
    assert model.encoding_.n_coordinates == 3
    display = regions(model, holes, grid_resolution=30)
    said = model.predict(np.column_stack([display.xx0.ravel(), display.xx1.ravel()]))
    assert display.response.ravel().tolist() == said.tolist()
    step = display.xx0[0, 1] - display.xx0[0, 0]
    for row, column in np.argwhere(display.response[:, 1:] != display.response[:, :-1]):
        point = np.array([display.xx0[row, column], display.xx1[row, column]])
        assert min(distance(point, ends) for ends in display.segments.ends) <= step * 1.001


def test_given_axes_are_used() -> None:
    _, ax = plt.subplots()
    assert regions(fitted("tree"), X, ax=ax).ax_ is ax


def test_models_of_more_columns_categories_or_outputs_are_refused() -> None:
    with pytest.raises(ValueError, match="reads 3 columns"):
        regions(small_model("tao_tree_classifier"), rows())
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    model = spinney.TAOTreeClassifier(max_depth=2, **FAST).fit(frame, Y)
    with pytest.raises(ValueError, match="categories, text or dates"):
        regions(model, frame)
    pair = spinney.TAOTreeRegressor(max_depth=2, **FAST).fit(rows()[:, :2], numbers())
    with pytest.raises(ValueError, match="2 numbers a row"):
        regions(pair, rows()[:, :2])


def test_a_bare_tree_does_not_predict() -> None:
    with pytest.raises(TypeError, match="Tree does not predict"):
        regions(fitted("tree").tree_, X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trees": "first"}, "trees='first'"),
        ({"trees": 5}, "tree=5"),
        ({"grid_resolution": 1}, "grid_resolution=1"),
        ({"feature_names": ["a"]}, "1 names for 2 columns"),
        ({"X": classes()[:, None]}, r"X has shape \(48, 1\)"),
    ],
)
def test_bad_options_are_refused_by_name(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        regions(fitted("bagged"), **{"X": X, **options})
