"""Edges and codes of columns against slow and obvious versions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney import _core
from tests import reference
from tests.strategies import rows, seeds

LARGEST = float(np.finfo(np.float32).max)
awkward = st.sampled_from(
    [
        0.0,
        -0.0,
        1e-45,
        -1e-45,
        1.0,
        float(np.nextafter(np.float32(1), 2)),
        LARGEST,
        -LARGEST,
        np.nan,
    ]
)
values = st.one_of(awkward, st.floats(allow_infinity=False, width=32))


def columns(max_rows=40):
    """One or two columns of any floats, missing ones among them."""
    shapes = st.tuples(st.integers(1, max_rows), st.integers(1, 2))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float32, shape, elements=values))


def csr(X):
    """The same rows as CSR, missing values stored."""
    found = sp.csr_matrix(X)
    return _core.sparse_rows(
        found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data, X.shape[1]
    )


def find_edges(X, weights=None, n_bins=255, n_levels=None, n_threads=1):
    weights = np.ones(len(X)) if weights is None else weights
    n_levels = np.zeros(X.shape[1], np.uint8) if n_levels is None else n_levels
    return _core.find_edges(_core.dense_rows(X), weights, n_levels, n_bins, n_threads)


def thresholds(X, *args, **options):
    edges = find_edges(X, *args, **options)
    return [list(edges.thresholds(j)) for j in range(edges.n_columns)]


def code(X, edges, n_threads=1):
    return _core.code_rows(_core.dense_rows(X), edges, n_threads).to_array()


@given(columns(), columns(), st.integers(2, 255))
def test_codes_are_those_of_the_thresholds(X, others, n_bins):
    edges = find_edges(X, n_bins=n_bins)
    others = np.resize(others, (len(others), X.shape[1]))
    for seen in (X, others):
        found = code(seen, edges)
        for (row, column), x in np.ndenumerate(seen):
            assert found[row, column] == reference.code_of(x, edges.thresholds(column))


@given(columns(), st.integers(2, 255))
def test_codes_rise_with_values(X, n_bins):
    codes = code(X, find_edges(X, n_bins=n_bins))
    for x, found in zip(X.T, codes.T, strict=True):
        is_here = ~np.isnan(x)
        assert np.all(np.diff(found[is_here][np.argsort(x[is_here])].astype(int)) >= 0)
        assert np.all(found[~is_here] == 255)


@given(columns(), st.integers(2, 60))
def test_few_values_have_a_bin_each(X, n_bins):
    edges = find_edges(X, n_bins=n_bins)
    for j, x in enumerate(X.T):
        n_values = len(np.unique(x[~np.isnan(x)]))
        n_thresholds = len(edges.thresholds(j))
        assert n_thresholds <= n_bins - 1
        if n_values <= n_bins:
            assert n_thresholds == max(n_values - 1, 0)


@given(rows(2, min_rows=1), st.data())
def test_a_weight_is_a_number_of_rows(X, data):
    counts = data.draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, 3)))
    n_bins = data.draw(st.integers(2, 12))
    repeated = np.repeat(X, counts, axis=0)
    assert thresholds(X, counts.astype(float), n_bins) == thresholds(repeated, n_bins=n_bins)


@given(rows(3, min_rows=1), st.integers(2, 9), seeds())
def test_storage_changes_nothing(X, n_bins, seed):
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    weights = np.random.default_rng(seed).random(len(X))
    n_levels = np.zeros(3, np.uint8)
    dense, sparse = _core.dense_rows(X), csr(X)
    edges = [_core.find_edges(each, weights, n_levels, n_bins, 1) for each in (dense, sparse)]
    for j in range(3):
        np.testing.assert_array_equal(edges[0].thresholds(j), edges[1].thresholds(j))
    codes = [_core.code_rows(each, edges[0], 1).to_array() for each in (dense, sparse)]
    np.testing.assert_array_equal(*codes)


def test_bytes_have_the_codes_of_floats():
    X = np.random.default_rng(0).integers(0, 256, size=(500, 3)).astype(np.float32)
    edges = find_edges(X, n_bins=20)
    stored = _core.byte_rows(X)
    assert stored is not None
    np.testing.assert_array_equal(_core.code_rows(stored, edges, 1).to_array(), code(X, edges))


def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3 * _core.table_block + 5, 9)).astype(np.float32)
    weights = rng.random(len(X))
    assert thresholds(X, weights) == thresholds(X, weights, n_threads=3)
    edges = find_edges(X)
    np.testing.assert_array_equal(code(X, edges), code(X, edges, n_threads=3))


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "sorted", "few heavy values"])
def test_ranks_are_as_exact_as_the_sketch_says(kind):
    """The bound of four blocks: 2 (2 + 1) / 8192 of the weight."""
    rng = np.random.default_rng(2)
    n = 4 * _core.table_block
    x = rng.standard_normal(n)
    if kind == "heavy tails":
        x = x / rng.random(n) ** 3
    elif kind == "sorted":
        x = np.sort(x)
    elif kind == "few heavy values":
        x[rng.random(n) < 0.9] = 0.5
    x = x.astype(np.float32)
    weights = rng.random(n)
    found = _core.column_sketches(_core.dense_rows(x[:, None].copy()), weights, 1)[0]
    kept, kept_weights, error = found
    total = weights.sum()
    assert error <= 6 / 8192 * total
    assert len(kept) <= 8192
    for q in (*np.quantile(x, [0.0, 0.01, 0.3, 0.5, 0.77, 1.0]), 0.5, -0.1):
        rank = weights[x <= q].sum()
        below = kept_weights[kept <= q].sum()
        assert below <= rank + 1e-9 * total
        assert rank <= below + error + 1e-9 * total


def test_bins_of_heavy_values_leave_the_others_their_own():
    """Half of the rows are zeros; the rest is cut as finely as bins are left."""
    rng = np.random.default_rng(3)
    x = np.where(rng.random(20_000) < 0.5, 0, rng.random(20_000) + 1).astype(np.float32)
    codes = code(x[:, None].copy(), find_edges(x[:, None].copy(), n_bins=101))[:, 0]
    sizes = np.bincount(codes)
    assert len(sizes) == 101
    assert sizes[0] == (x == 0).sum()
    assert sizes[1:].max() <= 1.1 * len(x) / 200


def test_levels_keep_their_numbers():
    X = np.array([[3, 0.5], [0, 0.1], [254, np.nan]], np.float32)
    edges = find_edges(X, n_levels=np.array([255, 0], np.uint8))
    assert len(edges.thresholds(0)) == 0
    np.testing.assert_array_equal(code(X, edges), [[3, 1], [0, 0], [254, 255]])


def test_what_has_no_code_is_refused():
    X = np.array([[0.0], [1.0]], np.float32)
    edges = find_edges(X)
    with pytest.raises(ValueError, match="infinite"):
        code(np.array([[np.inf]], np.float32), edges)
    with pytest.raises(ValueError, match="infinite"):
        find_edges(np.array([[-np.inf]], np.float32))
    with pytest.raises(ValueError, match="2 columns, but 1"):
        code(np.zeros((1, 2), np.float32), edges)
    levels = find_edges(X, n_levels=np.array([2], np.uint8))
    with pytest.raises(ValueError, match="no level"):
        code(np.array([[2.0]], np.float32), levels)
    for weights in ([1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]):
        with pytest.raises(ValueError, match="weight"):
            find_edges(X, np.array(weights))
    with pytest.raises(ValueError, match="256 bins"):
        find_edges(X, n_bins=256)
