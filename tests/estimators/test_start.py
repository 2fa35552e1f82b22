"""RandomStructure: the profile behind a random start."""

from __future__ import annotations

import numpy as np
import pytest

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
