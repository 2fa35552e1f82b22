"""Places of nodes: nothing overlaps, parents are in the middle, nothing is wasted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spinney.inspection.plotting.layout import tidy_heights
from spinney.tree.structure import complete_topology
from tests.strategies import topologies

GAP = 0.25


@st.composite
def drawn_trees(draw):
    """Children and heights of the nodes of trees of any shape."""
    left, right = draw(topologies(max_splits=20))
    heights = st.lists(st.sampled_from([0.5, 1.0, 2.5]), min_size=len(left), max_size=len(left))
    return left, right, np.array(draw(heights))


def depths(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    depth = np.zeros(len(left), dtype=int)
    for node in np.flatnonzero(left >= 0):
        depth[[left[node], right[node]]] = depth[node] + 1
    return depth


@given(drawn_trees())
def test_nodes_of_a_column_keep_their_distance_and_order(tree) -> None:
    left, right, heights = tree
    middle = tidy_heights(left, right, heights, GAP)
    depth = depths(left, right)
    for level in range(depth.max() + 1):
        nodes = np.flatnonzero(depth == level)  # breadth first: the left one first
        lower, upper = middle[nodes] + heights[nodes] / 2, middle[nodes] - heights[nodes] / 2
        assert (upper[1:] - lower[:-1] >= GAP - 1e-9).all()


@given(drawn_trees())
def test_a_parent_is_in_the_middle_between_its_children(tree) -> None:
    left, right, heights = tree
    middle = tidy_heights(left, right, heights, GAP)
    splits = left >= 0
    np.testing.assert_allclose(middle[splits], (middle[left[splits]] + middle[right[splits]]) / 2)


@given(drawn_trees())
def test_the_uppermost_end_is_at_zero(tree) -> None:
    left, right, heights = tree
    middle = tidy_heights(left, right, heights, GAP)
    assert abs((middle - heights / 2).min()) < 1e-9


@given(drawn_trees())
def test_some_two_nodes_below_each_split_touch(tree) -> None:
    left, right, heights = tree
    middle = tidy_heights(left, right, heights, GAP)
    depth = depths(left, right)

    def below(node: int) -> list[int]:
        children = [] if left[node] < 0 else [*below(left[node]), *below(right[node])]
        return [node, *children]

    for node in np.flatnonzero(left >= 0):
        gaps = [
            (middle[low] - heights[low] / 2) - (middle[up] + heights[up] / 2)
            for up in below(left[node])
            for low in below(right[node])
            if depth[up] == depth[low]
        ]
        assert abs(min(gaps) - GAP) < 1e-9


def test_leaves_of_a_complete_tree_are_evenly_spaced() -> None:
    left, right = complete_topology(3)
    middle = tidy_heights(left, right, np.ones(15), GAP)
    np.testing.assert_allclose(np.diff(middle[7:]), 1 + GAP)
