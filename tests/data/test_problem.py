"""Problems: how rows are stored and scaled."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from spinney import _core
from spinney.data import (
    LEAST_WIDTH_OF_BYTES,
    SCALE_OF_RANGE,
    SPARSE_BELOW,
    as_rows,
    classification_problem,
    regression_problem,
    take_columns,
    take_rows,
)
from tests.strategies import classification_rows


def problem_of(X, **options):
    n_rows = X.shape[0]
    return classification_problem(X, np.zeros(n_rows, np.int32), 1, np.ones(n_rows), **options)


@given(classification_rows())
def test_scale_and_centre_are_those_of_the_columns(task):
    problem = classification_problem(task.X, task.y, 3, task.sample_weight)
    X = task.X.astype(np.float64)
    mean = np.average(X, axis=0, weights=task.sample_weight)
    assert problem.scale == pytest.approx(SCALE_OF_RANGE * np.ptp(X, axis=0), abs=1e-12)
    assert problem.mean == pytest.approx(0 * mean if problem.rows.is_sparse else mean, abs=1e-12)
    assert problem.n_outputs == 3


@given(classification_rows())
def test_container_of_the_rows_changes_nothing(task):
    dense = problem_of(task.X)
    sparse = problem_of(sp.csr_matrix(task.X))
    assert dense.rows.is_sparse == sparse.rows.is_sparse
    assert np.array_equal(dense.mean, sparse.mean)
    assert np.array_equal(dense.scale, sparse.scale)


def test_few_nonzeros_are_stored_sparse_and_many_dense():
    n_nonzero = round(1000 * SPARSE_BELOW)
    few, many = (np.zeros((10, 100), dtype=np.float32) for _ in range(2))
    few.flat[: n_nonzero - 1] = 1
    many.flat[:n_nonzero] = 1
    for make in (np.asarray, sp.csr_matrix):
        assert problem_of(make(few)).rows.is_sparse
        assert not problem_of(make(many)).rows.is_sparse


def test_stored_zeros_count_as_zeros():
    X = sp.csr_matrix(np.ones((10, 10), dtype=np.float32))
    X.data[1:] = 0
    assert problem_of(X).rows.is_sparse
    assert X.nnz == 100  # the caller's matrix stays as it was


def test_wide_whole_numbers_are_stored_as_bytes_with_the_same_moments():
    X = np.random.default_rng(0).integers(0, 256, size=(50, LEAST_WIDTH_OF_BYTES)).astype("f4")
    problem = problem_of(X)
    weights = np.ones(50)
    for found, wanted in zip(
        _core.column_moments(problem.rows, weights, 1),
        _core.column_moments(as_rows(X), weights, 1),
        strict=True,
    ):
        assert np.array_equal(found, wanted)
    assert np.array_equal(problem_of(sp.csr_matrix(X)).scale, problem.scale)


@pytest.mark.parametrize("value", [-1, 0.5, 256, np.finfo(np.float32).max])
def test_one_value_that_is_no_byte_keeps_floats(value):
    X = np.ones((3, 4), dtype=np.float32)
    assert _core.byte_rows(X) is not None
    X[2, 3] = value
    assert _core.byte_rows(X) is None


def test_constant_column_has_scale_zero():
    X = np.column_stack([np.full(9, 0.1), np.arange(9)]).astype(np.float32)
    problem = problem_of(X)
    assert problem.scale[0] == 0
    assert problem.inverse_scale[0] == 0
    assert problem.inverse_scale[1] == pytest.approx(1 / problem.scale[1])


def test_range_beyond_float32_is_no_overflow():
    largest = np.finfo(np.float32).max
    problem = problem_of(np.array([[-largest], [largest]], dtype=np.float32))
    assert np.isfinite(problem.scale).all()


@pytest.mark.parametrize("density", [0.05, 0.8])
def test_threads_change_no_bit(density):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(9000, 4)) * (rng.random((9000, 4)) < density)).astype(np.float32)
    one, three = problem_of(X), problem_of(X, n_threads=3)
    assert np.array_equal(one.mean, three.mean)
    assert np.array_equal(one.scale, three.scale)


def test_targets_keep_their_shape():
    X = np.ones((4, 2), dtype=np.float32)
    problem = regression_problem(X, np.ones((4, 3)), np.ones(4))
    assert (problem.n_classes, problem.n_outputs) == (0, 3)
    assert (problem.n_rows, problem.n_features) == (4, 2)
    assert problem.classes.size == 0
    assert problem.values.shape == (4, 3)
    assert problem_of(X).values.size == 0


def test_rows_are_borrowed_and_kept_alive():
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    rows = as_rows(X)
    X[0, 0] = 100
    _, _, _, high = _core.column_moments(rows, np.ones(3), 1)
    assert high[0] == 100
    rows = as_rows(np.full((3, 2), 5.0, dtype=np.float32))  # nobody else holds this array
    mean, *_ = _core.column_moments(rows, np.ones(3), 1)
    assert mean.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 2], [1, 0], "unsorted"),
        ([0, 2], [1, 1], "repeated"),
        ([0, 2], [0, 2], "out of range"),
        ([0, 2], [-1, 0], "out of range"),
        ([0, 1], [0, 1], "does not span"),
        ([1, 2], [0, 1], "does not span"),
        ([0, 3, 2], [0, 1], "decreases"),
        ([], [0, 1], "length"),
        ([0, 2], [0], "length"),
    ],
)
def test_broken_sparse_rows_are_refused(indptr, indices, message):
    with pytest.raises(ValueError, match=message):
        _core.sparse_rows(
            np.array(indptr, dtype=np.int64),
            np.array(indices, dtype=np.int32),
            np.ones(2, dtype=np.float32),
            2,
        )


def test_wide_rows_of_extreme_scale_are_refused_by_column():
    X = np.random.default_rng(0).standard_normal((50, 70)).astype(np.float32)
    X[:, 7] *= 1e25
    with pytest.raises(ValueError, match=r"column 7 of X varies by about .* try measuring"):
        classification_problem(X, np.zeros(50, dtype=np.int32), 1, np.ones(50))


@pytest.mark.parametrize("n_rows", [0, 5, 20_000])
def test_rows_taken_in_pieces_are_those_of_one_step(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)).astype(np.float32)
    numbers = rng.integers(len(X), size=n_rows)
    assert np.array_equal(take_rows(X, numbers), X[numbers])
    taken = take_rows(sp.csr_matrix(X), numbers)
    assert np.array_equal(taken.toarray(), X[numbers])


def test_columns_taken_in_pieces_are_those_of_one_step():
    X = np.random.default_rng(0).normal(size=(20_000, 4)).astype(np.float32)
    problem = classification_problem(X, np.zeros(20_000, dtype=np.int32), 1, np.ones(20_000))
    columns = np.array([3, 1])
    assert np.array_equal(take_columns(problem, columns).matrix, X[:, columns])
