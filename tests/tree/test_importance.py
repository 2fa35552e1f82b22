"""Importances against a tree small enough to compute by hand."""

from __future__ import annotations

import numpy as np
import pytest

from spinney.tree.importance import node_reach, split_importances
from spinney.tree.structure import Tree

# Root on columns 0 and 2, its right child on column 1; leaves are the nodes 1, 3 and 4.
TREE = Tree(
    n_features=4,
    left=np.array([1, -1, 3, -1, -1], dtype=np.int32),
    right=np.array([2, -1, 4, -1, -1], dtype=np.int32),
    bias=np.zeros(5),
    split_indptr=np.array([0, 2, 2, 3, 3, 3]),
    split_indices=np.array([0, 2, 1], dtype=np.int32),
    split_weights=np.array([1.0, -3.0, 5.0], dtype=np.float32),
    leaf_kind="constant",
    leaf_values=np.zeros((3, 1)),
    leaf_indptr=np.zeros(4, dtype=np.int64),
    leaf_indices=np.empty(0, dtype=np.int32),
    leaf_weights=np.empty(0, dtype=np.float32),
).check()
LEAF_ROWS = np.array([6.0, 1.0, 3.0])


def test_reach_of_a_split_is_the_sum_over_its_leaves() -> None:
    assert node_reach(TREE, LEAF_ROWS).tolist() == [10.0, 6.0, 4.0, 1.0, 3.0]


def test_kinds_of_rows_are_counted_apart() -> None:
    kinds = np.array([[6.0, 0.0], [1.0, 5.0], [0.0, 3.0]])
    assert node_reach(TREE, kinds).tolist() == [[7, 8], [6, 0], [1, 8], [1, 5], [0, 3]]


def test_shares_are_weighted_by_reach_and_sum_to_one() -> None:
    # Root: shares 1/4 and 3/4 for 10 rows; child: share 1 for 4 rows; 14 in all.
    expected = np.array([2.5, 4.0, 7.5, 0.0]) / 14
    assert split_importances(TREE, LEAF_ROWS, np.ones(4)) == pytest.approx(expected)


def test_spread_of_a_column_scales_its_weight() -> None:
    # Root: 1*3 against 3*1, so both columns get half of 10 rows.
    expected = np.array([5.0, 4.0, 5.0, 0.0]) / 14
    scale = np.array([3.0, 1.0, 1.0, 1.0])
    assert split_importances(TREE, LEAF_ROWS, scale) == pytest.approx(expected)


def test_columns_without_spread_have_no_share() -> None:
    scale = np.array([1.0, 0.0, 1.0, 1.0])
    expected = [0.25, 0.0, 0.75, 0.0]
    assert split_importances(TREE, LEAF_ROWS, scale) == pytest.approx(expected)
