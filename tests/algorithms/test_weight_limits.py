"""Limits on the weights of hyperplanes: which bind, and how they are come down to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spinney.algorithms.weight_limits import TIGHTENING, WeightLimits, tightened
from spinney.tree import Tree


def stump(n_weights, n_features=8):
    """One split of so many weights."""
    return Tree(
        n_features=n_features,
        left=np.array([1, -1, -1], dtype=np.int32),
        right=np.array([2, -1, -1], dtype=np.int32),
        bias=np.zeros(3),
        split_indptr=np.array([0, n_weights, n_weights, n_weights]),
        split_indices=np.arange(n_weights, dtype=np.int32),
        split_weights=np.ones(n_weights, dtype=np.float32),
        leaf_kind="constant",
        leaf_values=np.zeros((2, 1)),
        leaf_indptr=np.zeros(3, dtype=np.int64),
        leaf_indices=np.zeros(0, dtype=np.int32),
        leaf_weights=np.zeros(0, dtype=np.float32),
    ).check()


def test_the_limit_falls_from_all_columns_to_the_one_wanted():
    shares = np.linspace(0.0, 1.0, 101)
    limits = [tightened(10, 1000, share) for share in shares]
    assert (np.diff(limits) <= 0).all()
    assert {limit for limit, at in zip(limits, shares, strict=True) if at <= TIGHTENING[0]} == {
        1000
    }
    assert {limit for limit, at in zip(limits, shares, strict=True) if at >= TIGHTENING[1]} == {10}
    assert tightened(10, 1000, sum(TIGHTENING) / 2) == 100  # evenly in logarithms


@pytest.mark.parametrize("limit", [0, 8, 9])
def test_a_limit_that_no_hyperplane_exceeds_is_none(limit):
    limits = WeightLimits(limit, limit, n_features=8)
    assert not limits.is_limited
    assert tightened(limit, 8, 1.0) == 0
    assert limits.allow(stump(8), "linear")


def test_a_tree_is_allowed_by_its_widest_hyperplane():
    limits = WeightLimits(3, 0, n_features=8)
    assert limits.is_limited
    assert limits.allow(stump(3), "constant")
    assert not limits.allow(stump(4), "constant")


def test_leaves_of_another_kind_are_fitted_anew_and_not_allowed():
    limits = WeightLimits(0, 1, n_features=8)
    tree = stump(8)
    assert not limits.allow(tree, "linear")
    wide = replace(
        tree,
        leaf_kind="linear",
        leaf_indptr=np.array([0, 2, 3]),
        leaf_indices=np.array([0, 1, 0], dtype=np.int32),
        leaf_weights=np.ones(3, dtype=np.float32),
    ).check()
    assert not limits.allow(wide, "linear")
    assert WeightLimits(0, 2, n_features=8).allow(wide, "linear")
