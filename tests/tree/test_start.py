"""Random shapes of trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.tree import complete_topology, expected_nodes, random_topology, split_probability
from spinney.tree.structure import children_of
from tests import reference
from tests.strategies import seeds

PROFILES = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)
CHANCES = st.floats(0, 1)


def depths(left, right):
    depth = np.zeros(len(left), dtype=int)
    for node in np.flatnonzero(left >= 0):
        depth[[left[node], right[node]]] = depth[node] + 1
    return depth


@given(PROFILES, CHANCES, seeds())
def test_random_shapes_are_breadth_first(profile, p, seed):
    left, right = random_topology(*profile, p, np.random.default_rng(seed))
    np.testing.assert_array_equal((left, right), children_of(left >= 0))
    assert left.dtype == right.dtype == np.int32
    assert len(left) == 2 * (left >= 0).sum() + 1


@given(PROFILES, CHANCES, seeds())
def test_leaves_lie_between_the_two_depths(profile, p, seed):
    left, right = random_topology(*profile, p, np.random.default_rng(seed))
    leaf_depths = depths(left, right)[left < 0]
    assert profile[0] <= leaf_depths.min()
    assert leaf_depths.max() <= profile[1]


@given(PROFILES, seeds())
def test_certain_splits_give_complete_trees(profile, seed):
    rng = np.random.default_rng(seed)
    for p, depth in ((0.0, profile[0]), (1.0, profile[1])):
        shape = random_topology(*profile, p, rng)
        np.testing.assert_array_equal(shape, complete_topology(depth))


@given(PROFILES, CHANCES, seeds())
def test_the_same_seed_gives_the_same_shape(profile, p, seed):
    one, two = (random_topology(*profile, p, np.random.default_rng(seed)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("delta1", "delta2", "p"), [(0, 5, 0.4), (2, 6, 0.6), (3, 4, 0.5)])
def test_mean_size_of_random_shapes_is_the_expected_one(delta1, delta2, p):
    rng = np.random.default_rng(0)
    ours = [len(random_topology(delta1, delta2, p, rng)[0]) for _ in range(3000)]
    naive = [reference.draw_size(delta1, delta2, p, rng) for _ in range(3000)]
    for sizes in (ours, naive):
        error = np.std(sizes) / np.sqrt(len(sizes))
        assert abs(np.mean(sizes) - expected_nodes(delta1, delta2, p)) < 4 * error


@given(PROFILES, CHANCES)
def test_expected_nodes_is_the_series_of_equation_2(profile, p):
    delta1, delta2 = profile
    chances = [1.0] * delta1 + [p] * (delta2 - delta1)
    series = 1 + sum(np.prod([2 * chance for chance in chances[:i]]) for i in range(1, delta2 + 1))
    assert expected_nodes(delta1, delta2, p) == pytest.approx(series, rel=1e-12)


@given(PROFILES, CHANCES)
def test_split_probability_inverts_expected_nodes(profile, p):
    n_nodes = expected_nodes(*profile, p)
    found = split_probability(*profile, n_nodes)
    assert 0 <= found <= 1
    assert expected_nodes(*profile, found) == pytest.approx(n_nodes, rel=1e-12)
    if profile[0] < profile[1]:
        assert found == pytest.approx(p, abs=1e-9)


def test_the_papers_baseline_is_the_complete_tree_of_depth_8():
    assert expected_nodes(8, 8, 0.5) == 511
    assert 0 < split_probability(7, 9, 511) < 1


def test_the_smallest_and_largest_mean_sizes_are_reached():
    assert split_probability(2, 4, 7) == 0
    assert split_probability(2, 4, 31) == 1


@pytest.mark.parametrize("n_nodes", [6.9, 31.1, np.nan, -1])
def test_sizes_out_of_reach_are_refused(n_nodes):
    with pytest.raises(ValueError, match="a number from 7 to 31"):
        split_probability(2, 4, n_nodes)


@pytest.mark.parametrize("profile", [(3, 2), (-1, 2), (25, 30)])
def test_depths_in_the_wrong_order_are_refused(profile):
    with pytest.raises(ValueError, match=f"delta1={profile[0]}"):
        expected_nodes(*profile, 0.5)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_a_chance_beyond_0_and_1_is_refused(p):
    with pytest.raises(ValueError, match="give a probability"):
        random_topology(1, 3, p, np.random.default_rng(0))


def test_a_shape_that_fills_the_memory_is_refused():
    with pytest.raises(ValueError, match="lower one of them"):
        random_topology(2, 200, 0.9, np.random.default_rng(0))
