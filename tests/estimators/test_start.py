"""Where trees start: random structures, and given trees that must suit the options."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from spinney.estimators import TAOTreeClassifier
from spinney.estimators.start import RandomStructure, complete_size


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


def test_seed_decides_the_structure() -> None:
    structure = RandomStructure(min_depth=2, max_depth=6, expected_nodes=40)
    assert np.array_equal(structure.draw(1)[0], structure.draw(1)[0])
    assert not np.array_equal(structure.draw(1)[0], structure.draw(2)[0])


def test_oblique_start_of_an_axis_aligned_tree_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    oblique = TAOTreeClassifier(max_depth=2, warm_start=True, random_state=0).fit(X, y)
    text = r'with \d weights in a split but split="axis"; give .* try split="oblique"'
    with pytest.raises(ValueError, match=f"init is a tree {text}"):
        TAOTreeClassifier(init=oblique, split="axis").fit(X, y)
    with pytest.raises(ValueError, match=f"the tree to continue is a tree {text}"):
        oblique.set_params(split="axis").fit(X, y)


def test_axis_aligned_start_of_an_oblique_tree_is_accepted() -> None:
    X, y = load_iris(return_X_y=True)
    axis = TAOTreeClassifier(max_depth=2, split="axis", random_state=0).fit(X, y)
    assert TAOTreeClassifier(init=axis, random_state=0).fit(X, y).score(X, y) > 0.9
