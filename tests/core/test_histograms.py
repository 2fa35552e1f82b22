"""Histograms of coded columns, and cuts found in them, against slow and obvious versions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney import _core
from tests import reference
from tests.strategies import rows, seeds


class CodedRows(NamedTuple):
    """A coded table with gradients that are multiples of 1/4: sums of them are exact."""

    X: np.ndarray
    codes: _core.Codes
    pairs: np.ndarray


def coded(X, n_bins=255):
    stored = _core.dense_rows(X)
    n_levels = np.zeros(X.shape[1], np.uint8)
    edges = _core.find_edges(stored, np.ones(len(X)), n_levels, n_bins, 1)
    return _core.code_rows(stored, edges, 1)


@st.composite
def coded_rows(draw, max_columns=10):
    X = draw(rows(draw(st.integers(1, max_columns)), max_rows=30, min_rows=1))
    rng = np.random.default_rng(draw(seeds()))
    X[rng.random(X.shape) < 0.2] = np.nan
    pairs = rng.integers([-8, 0], [9, 9], size=(len(X), 2)) / 4
    return CodedRows(X, coded(X, draw(st.integers(2, 9))), pairs.astype(np.float32))


def parts_of(n_rows, seed):
    """Rows of a node and of its two children."""
    side = np.random.default_rng(seed).integers(0, 3, size=n_rows)
    return [np.flatnonzero(part).astype(np.uint32) for part in (side > 0, side == 1, side == 2)]


def large_table(n_columns=9):
    """Rows of several blocks, and a node that some blocks have many rows of, some few."""
    rng = np.random.default_rng(4)
    n = 3 * _core.table_block + 100
    X = rng.standard_normal((n, n_columns)).astype(np.float32)
    X[:, 0] = X[:, 0] > 0
    pairs = np.stack([rng.standard_normal(n) ** 3, rng.random(n)], axis=1).astype(np.float32)
    share = np.where(np.arange(n) < _core.table_block, 0.5, 0.002)
    return CodedRows(X, coded(X), pairs), np.flatnonzero(rng.random(n) < share).astype(np.uint32)


@given(coded_rows(), seeds(), st.integers(1, 3))
def test_histograms_are_sums_over_rows(table, seed, n_threads):
    codes, begin = table.codes.to_array(), table.codes.begin()
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=len(codes)).astype(np.int32)
    weights = rng.random(len(codes))
    one_hot = np.eye(3)[labels] * weights[:, None]
    pairs = rng.standard_normal(table.pairs.shape).astype(np.float32)
    for node in (None, *parts_of(len(codes), seed)):
        here = range(len(codes)) if node is None else node
        np.testing.assert_array_equal(
            _core.gradient_histogram(table.codes, pairs, node, n_threads),
            reference.histogram(codes, begin, pairs.astype(np.float64), here),
        )
        np.testing.assert_array_equal(
            _core.label_histogram(table.codes, labels, weights, 3, node, n_threads),
            reference.histogram(codes, begin, one_hot, here),
        )
        np.testing.assert_array_equal(
            _core.count_histogram(table.codes, node, n_threads),
            reference.histogram(codes, begin, np.ones((len(codes), 1)), here)[:, 0],
        )


@given(coded_rows(), seeds())
def test_a_node_is_the_sum_of_its_children(table, seed):
    node, left, right = (
        _core.gradient_histogram(table.codes, table.pairs, part, 1)
        for part in parts_of(len(table.X), seed)
    )
    np.testing.assert_array_equal(node, left + right)
    np.testing.assert_array_equal(node - left, right)


def test_on_a_grid_a_node_is_the_sum_of_its_children_bit_for_bit():
    table, node = large_table()
    pairs = _core.round_to_grid(table.pairs)
    is_left = table.X[node, 3] < 0.4
    whole, left, right = (
        _core.gradient_histogram(table.codes, pairs, part, 1)
        for part in (node, node[is_left], node[~is_left])
    )
    np.testing.assert_array_equal(whole - left, right)
    np.testing.assert_array_equal(left + right, whole)


@given(
    hnp.arrays(
        np.float32, (20, 2), elements=st.floats(allow_infinity=False, allow_nan=False, width=32)
    )
)
def test_the_grid_moves_numbers_by_half_a_unit_at_most(pairs):
    rounded = _core.round_to_grid(pairs)
    for before, after in zip(pairs.T.astype(np.float64), rounded.T.astype(np.float64), strict=True):
        assert np.abs(after - before).max() <= np.abs(before).max() * 2**-24
        assert np.array_equal(np.cumsum(after)[-1:], np.cumsum(after[::-1])[-1:])


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 20])
def test_threads_change_no_bit(n_columns):
    table, node = large_table(n_columns)
    labels = (table.X[:, 0] > 0).astype(np.int32)
    weights = table.pairs[:, 1].astype(np.float64)
    for part in (None, node):
        gradients, classes = (
            [sums(n_threads) for n_threads in (1, 2, 3, 8)]
            for sums in (
                lambda n, part=part: _core.gradient_histogram(table.codes, table.pairs, part, n),
                lambda n, part=part: _core.label_histogram(
                    table.codes, labels, weights, 2, part, n
                ),
            )
        )
        for found in (gradients, classes):
            assert all(np.array_equal(each, found[0]) for each in found)


@given(rows(3, min_rows=1), seeds())
def test_a_weight_is_a_number_of_rows(X, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, size=len(X))
    counts[0] = 1
    labels = rng.integers(0, 2, size=len(X)).astype(np.int32)
    pairs = (rng.integers(0, 9, size=(len(X), 2)) / 4).astype(np.float32)
    stored = _core.dense_rows(X)
    n_levels = np.zeros(3, np.uint8)
    edges = _core.find_edges(stored, counts.astype(float), n_levels, 255, 1)
    weighted = _core.code_rows(stored, edges, 1)
    repeated = _core.code_rows(_core.dense_rows(np.repeat(X, counts, axis=0)), edges, 1)
    np.testing.assert_array_equal(
        _core.label_histogram(weighted, labels, counts.astype(float), 2, None, 1),
        _core.label_histogram(
            repeated, np.repeat(labels, counts), np.ones(counts.sum()), 2, None, 1
        ),
    )
    np.testing.assert_array_equal(
        _core.gradient_histogram(weighted, pairs * counts[:, None].astype(np.float32), None, 1),
        _core.gradient_histogram(repeated, np.repeat(pairs, counts, axis=0), None, 1),
    )


@given(
    st.integers(1, 7),
    seeds(),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.0, 1.0]),
    st.integers(0, 4),
)
def test_the_cut_is_the_best_of_all(n_bins, seed, l2, min_hessian, min_rows):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, size=n_bins + 1).astype(np.uint32)
    bins = rng.integers([-8, 0], [9, 5], size=(n_bins + 1, 2)) / 4 * (counts > 0)[:, None]
    gain, k, is_missing_left, g, h, n_left = _core.best_cut(bins, counts, l2, min_hessian, min_rows)
    assert (gain, k, is_missing_left) == reference.best_code_cut(
        bins, counts, l2, min_hessian, min_rows
    )
    if gain > 0:
        with_missing = is_missing_left and counts[-1] > 0
        left = bins[: k + 1].sum(axis=0) + (bins[-1] if with_missing else 0)
        assert (g, h) == tuple(left)
        assert n_left == counts[: k + 1].sum() + (counts[-1] if with_missing else 0)


def test_what_does_not_fit_is_refused():
    table = CodedRows(
        np.zeros((3, 2), np.float32),
        coded(np.zeros((3, 2), np.float32)),
        np.zeros((3, 2), np.float32),
    )
    for rows_of_node in ([3], [1, 0], [1, 1]):
        with pytest.raises(ValueError, match="ascending numbers below 3"):
            _core.gradient_histogram(table.codes, table.pairs, np.array(rows_of_node, np.uint32), 1)
    with pytest.raises(ValueError, match="rows of pairs"):
        _core.gradient_histogram(table.codes, table.pairs[:2].copy(), None, 1)
    with pytest.raises(ValueError, match="out of range"):
        _core.label_histogram(table.codes, np.array([0, 1, 2], np.int32), np.ones(3), 2, None, 1)
    with pytest.raises(ValueError, match="not finite"):
        _core.round_to_grid(np.array([[np.nan, 1]], np.float32))
    with pytest.raises(ValueError, match="missing values"):
        _core.best_cut(np.zeros((0, 2)), np.zeros(0, np.uint32), 0.0, 0.0, 1)
