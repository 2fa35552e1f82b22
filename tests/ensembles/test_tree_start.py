"""Where trees start: random structures, and given trees that must suit the options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator

from spinney.ensembles.tree_start import RandomStructure, complete_size
from spinney.estimators import TAOTreeClassifier
from spinney.tree.column_splits import n_columns_read
from spinney.tree.start import expected_nodes
from tests.column_trees import EVERY_KIND, table, targets, tree_model
from tests.strategies import seeds


@pytest.mark.parametrize("max_depth", [1, 2, 3, 8, 20])
def test_plain_word_means_a_profile_that_exists(max_depth: int) -> None:
    structure = RandomStructure.of_depth(max_depth)
    structure.check()
    assert structure.max_depth == max_depth


def test_drawn_structures_have_the_wanted_mean_size() -> None:
    structure = RandomStructure(min_depth=2, max_depth=6, expected_nodes=40)
    sizes = [len(structure.draw(seed)[0]) for seed in range(400)]
    assert np.mean(sizes) == pytest.approx(40, rel=0.1)
    assert min(sizes) >= complete_size(2)
    assert max(sizes) <= complete_size(6)


@given(st.integers(1, 4), st.integers(0, 4), st.floats(0, 1), seeds())
def test_a_probability_gives_a_structure_between_its_depths(
    min_depth: int, n_more: int, p: float, seed: int
) -> None:
    structure = RandomStructure(min_depth, min_depth + n_more, split_probability=p)
    structure.check()
    size = len(structure.draw(seed)[0])
    assert complete_size(min_depth) <= size <= complete_size(min_depth + n_more)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_drawn_structures_split_as_often_as_wanted(p: float) -> None:
    structure = RandomStructure(min_depth=2, max_depth=6, split_probability=p)
    sizes = [len(structure.draw(seed)[0]) for seed in range(400)]
    assert np.mean(sizes) == pytest.approx(expected_nodes(2, 6, p), rel=0.1)


@pytest.mark.parametrize(("p", "depth"), [(0.0, 2), (1, 5)])
def test_certain_splits_give_complete_trees(p: float, depth: int) -> None:
    structure = RandomStructure(2, 5, split_probability=p)
    assert len(structure.draw(0)[0]) == complete_size(depth)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({}, ValueError, r"neither of expected_nodes and split_probability.* give .* try"),
        ({"expected_nodes": 9, "split_probability": 0.5}, ValueError, r"both of .* give .* try"),
        ({"split_probability": 1.5}, ValueError, r"split_probability=1.5 is no prob.* give .* try"),
        ({"split_probability": -0.1}, ValueError, r"split_probability=-0.1 is too small"),
        ({"split_probability": float("nan")}, ValueError, r"split_probability=nan is not finite"),
        ({"split_probability": "half"}, TypeError, r"split_probability='half' is of type str"),
        ({"split_probability": 0.9, "max_depth": 60}, ValueError, r"about .* nodes; give .* try"),
    ],
)
def test_a_structure_that_does_not_exist_is_refused(
    values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        RandomStructure(**({"min_depth": 1, "max_depth": 4} | values)).check()


def test_a_structure_shows_what_it_was_given() -> None:
    shown = "RandomStructure(min_depth=1, max_depth=4, split_probability=0.25)"
    assert repr(RandomStructure(1, 4, split_probability=0.25)) == shown


def test_a_structure_has_its_own_depth() -> None:
    X, y = load_iris(return_X_y=True)
    structure = RandomStructure(1, 5, split_probability=0.8)
    trees = [
        TAOTreeClassifier(max_depth=max_depth, init=structure, random_state=0).fit(X, y).tree_
        for max_depth in (1, 8)
    ]
    assert trees[0].same_as(trees[1])


def test_seed_decides_the_structure() -> None:
    structure = RandomStructure(min_depth=2, max_depth=6, expected_nodes=40)
    assert np.array_equal(structure.draw(1)[0], structure.draw(1)[0])
    assert not np.array_equal(structure.draw(1)[0], structure.draw(2)[0])


def test_oblique_start_of_an_axis_aligned_tree_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    oblique = TAOTreeClassifier(max_depth=2, warm_start=True, random_state=0).fit(X, y)
    text = r'with \d columns in a split but split="axis"; give .* try split="oblique"'
    with pytest.raises(ValueError, match=f"init is a tree {text}"):
        TAOTreeClassifier(init=oblique, split="axis").fit(X, y)
    with pytest.raises(ValueError, match=f"the tree to continue is a tree {text}"):
        oblique.set_params(split="axis").fit(X, y)


@pytest.mark.parametrize("strict_descent", [False, True, "sweep"])
def test_a_start_of_one_column_of_the_table_a_split_is_accepted(strict_descent: Any) -> None:
    frame, start = table(), tree_model(*EVERY_KIND)
    y = targets(frame)
    tree = TAOTreeClassifier(
        init=FrozenEstimator(start), split="axis", strict_descent=strict_descent, random_state=0
    )
    assert tree.fit(frame, y).score(frame, y) > 0.9
    assert n_columns_read(tree.tree_, tree.encoding_.columns).max() == 1
    start.set_params(warm_start=True)
    assert start.fit(frame, y).score(frame, y) > 0.9


def test_a_start_of_several_columns_of_the_table_a_split_is_refused() -> None:
    frame, start = table(), tree_model(({"age": 1.0, "age is missing": 9.0, "size": 1.0}, 0.0))
    tree = TAOTreeClassifier(init=FrozenEstimator(start), split="axis")
    text = r'with 2 columns in a split but split="axis"; give .* try'
    with pytest.raises(ValueError, match=text):
        tree.fit(frame, targets(frame))


def test_axis_aligned_start_of_an_oblique_tree_is_accepted() -> None:
    X, y = load_iris(return_X_y=True)
    axis = TAOTreeClassifier(max_depth=2, split="axis", random_state=0).fit(X, y)
    assert TAOTreeClassifier(init=axis, random_state=0).fit(X, y).score(X, y) > 0.9
