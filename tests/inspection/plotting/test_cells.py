"""Pieces of lines lie in the cells of their splits, and on the boundary of what the tree does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.inspection.plotting.cells import split_segments
from tests import reference
from tests.strategies import trees


def planar_trees():
    return trees(kinds=("constant",), max_splits=7, min_features=2, max_features=2)


FRAME = (-3.0, 3.0, -2.0, 2.0)


@given(planar_trees(), st.floats(0.01, 0.99))
def test_every_point_of_a_piece_reaches_its_split_and_scores_zero(tree, share) -> None:
    segments = split_segments(tree, (0, 1), FRAME, 0)
    for node, (start, end) in zip(segments.nodes, segments.ends, strict=True):
        point = start + share * (end - start)
        weights = [weight for _, weight in reference.split_terms(tree, node)]
        size = float(np.abs(weights).max()) * 6 + abs(float(tree.bias[node]))
        assert abs(reference.score(tree, node, point)) <= 1e-9 * size
        if np.linalg.norm(end - start) > 1e-3 and 0.1 < share < 0.9:
            assert node in path_near(tree, point)


def path_near(tree, point):
    """Nodes that the point, or one beside it, meets: the last bits of a corner may be off."""
    met = set()
    for step in (0.0, 1e-7, -1e-7):
        for other in (0.0, 1e-7, -1e-7):
            met |= set(reference.path_of_row(tree, point + np.array([step, other])))
    return met


@given(planar_trees())
def test_leaves_change_along_a_line_only_where_it_crosses_a_piece(tree) -> None:
    segments = split_segments(tree, (0, 1), FRAME, 0)
    xs = np.linspace(-2.93, 2.97, 60)  # inside the frame: its own edge is no piece
    rows = np.column_stack([xs, np.full(60, 0.377)])
    leaves = reference.apply(tree, rows)
    crossings = [x for start, end in segments.ends for x in crossing(start, end, 0.377)]
    for place in np.flatnonzero(leaves[1:] != leaves[:-1]):
        low, high = xs[place] - 1e-6, xs[place + 1] + 1e-6
        assert any(low <= x <= high for x in crossings)


def crossing(start, end, height):
    """Where a piece crosses a horizontal line."""
    if start[1] == end[1]:
        return [start[0], end[0]] if abs(start[1] - height) < 1e-6 else []
    share = (height - start[1]) / (end[1] - start[1])
    return [start[0] + share * (end[0] - start[0])] if -1e-9 <= share <= 1 + 1e-9 else []


def test_a_split_that_no_point_of_the_frame_reaches_has_no_piece() -> None:
    from spinney import TAOTreeClassifier

    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]] * 5)
    y = np.array([0, 1, 0, 1] * 5)
    tree = TAOTreeClassifier(max_depth=2, split="axis", random_state=0).fit(X, y).tree_
    whole = split_segments(tree, (0, 1), (-1, 4, -1, 1), 3)
    assert sorted(whole.nodes) == sorted(tree.split_nodes)
    assert set(whole.trees) == {3}
    part = split_segments(tree, (0, 1), (-1, 0.1, -1, 1), 0)
    assert len(part.nodes) == 0
    assert whole.depths == pytest.approx(tree.depth[whole.nodes])
