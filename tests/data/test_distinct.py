"""Alike rows become one row of their joint weight, whatever the order they came in."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spinney.data import Problem, classification_problem, regression_problem
from spinney.data.distinct import distinct_rows, row_keys


def problem_of(rows: np.ndarray, y: np.ndarray, weights: np.ndarray, is_class: bool) -> Problem:
    X = rows.astype(np.float32)
    if is_class:
        return classification_problem(X, y.astype(np.int32), 3, weights.astype(np.float64))
    return regression_problem(X, y[:, None] / 7.0, weights.astype(np.float64))


def contents(problem: Problem) -> dict[tuple[float, ...], float]:
    """Weight of every pair of row and target."""
    X = problem.matrix if isinstance(problem.matrix, np.ndarray) else problem.matrix.toarray()
    found: dict[tuple[float, ...], float] = {}
    targets = problem.targets.reshape(len(X), -1)
    for row, target, weight in zip(X, targets, problem.sample_weight, strict=True):
        key = (*row.tolist(), *target.tolist())
        found[key] = found.get(key, 0.0) + weight
    return found


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 4), st.booleans())
def test_weights_copies_and_orders_give_the_same_bits(seed, n_rows, n_columns, is_class):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.7)
    y, weights = rng.integers(0, 3, n_rows), rng.integers(1, 4, n_rows)
    copies = np.repeat(np.arange(n_rows), weights)
    shuffled = rng.permutation(copies)
    weighted = distinct_rows(problem_of(rows, y, weights, is_class))
    for order in (copies, shuffled):
        repeated = problem_of(rows[order], y[order], np.ones(len(order)), is_class)
        distinct = distinct_rows(repeated)
        assert contents(distinct) == contents(repeated)
        assert distinct.n_rows == len(contents(repeated))
        for name in ("targets", "sample_weight", "mean", "scale", "deviation"):
            assert getattr(distinct, name).tobytes() == getattr(weighted, name).tobytes(), name
        assert (distinct.matrix != weighted.matrix).sum() == 0
        assert distinct.target_scale == weighted.target_scale


def test_rows_that_differ_in_a_target_alone_stay_apart():
    problem = problem_of(np.ones((2, 3)), np.array([0, 1]), np.ones(2), is_class=True)
    assert distinct_rows(problem).n_rows == 2


def test_a_zero_has_no_sign():
    problem = problem_of(np.array([[0.0, 1], [-0.0, 1]]), np.zeros(2), np.ones(2), is_class=True)
    assert distinct_rows(problem).sample_weight.tolist() == [2.0]


@pytest.mark.parametrize("n_columns", [3, 500])
def test_dense_and_sparse_rows_have_the_same_keys(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_columns)).astype(np.float32) * (rng.random((60, n_columns)) < 0.3)
    X[7] = 0
    scale = rng.random(n_columns)
    np.testing.assert_array_equal(row_keys(X, scale), row_keys(sp.csr_matrix(X), scale))


def test_many_rows_of_few_values_haverow_keys_their_own():
    # Floats of few bits end in zeros, which a plain sum of multiples would not spread.
    X = np.stack(np.meshgrid(*[np.arange(64.0)] * 3), -1).reshape(-1, 3).astype(np.float32)
    assert len(np.unique(row_keys(X, np.ones(3)))) == len(X)


def test_the_order_does_not_depend_on_units():
    rng = np.random.default_rng(0)
    rows, y, weights = rng.normal(size=(50, 3)), rng.normal(size=50), np.ones(50)
    one = distinct_rows(problem_of(rows, y, weights, is_class=False))
    two = distinct_rows(problem_of(rows * [0.25, 8, 1024], y * 64, weights, is_class=False))
    np.testing.assert_array_equal(one.matrix * np.float32([0.25, 8, 1024]), two.matrix)
