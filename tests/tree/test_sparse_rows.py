"""Sparse rows made of lengths and of other rows."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spinney.tree.sparse_rows import nonzero_rows, row_offsets, take_rows


def test_offsets_are_sums_of_lengths():
    found = row_offsets([2, 0, 3])
    assert found.tolist() == [0, 2, 2, 5]
    assert found.dtype == row_offsets(np.array([True, False])).dtype == np.int64


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), max_size=8))
def test_taken_rows_are_those_of_scipy(seed, rows):
    whole = sp.random_array((5, 7), density=0.4, format="csr", rng=np.random.default_rng(seed))
    offsets, entries = take_rows(whole.indptr.astype(np.int64), np.array(rows, dtype=np.int64))
    parts = (whole.data[entries], whole.indices[entries], offsets)
    found = sp.csr_array(parts, shape=(len(rows), 7)).toarray()
    np.testing.assert_array_equal(found, whole.toarray()[rows])


def test_rows_lose_the_weights_that_are_zero_in_float32():
    indptr = np.array([0, 2, 2, 5], dtype=np.int64)
    indices = np.array([0, 3, 1, 2, 4], dtype=np.int32)
    weights = np.array([1.0, 1e-60, -1e-60, -2.0, 0.0])
    rows, columns, kept = nonzero_rows(indptr, indices, weights)
    assert (rows.tolist(), columns.tolist(), kept.tolist()) == ([0, 1, 1, 2], [0, 2], [1.0, -2.0])
    assert (rows.dtype, columns.dtype, kept.dtype) == (np.int64, np.int32, np.float32)
