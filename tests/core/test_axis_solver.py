"""The axis-aligned node solver against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney import _core
from spinney.data import as_rows
from tests import reference
from tests.strategies import rows, sample_weights


@st.composite
def problems(draw):
    """Rows with many ties, pseudo-labels and weights."""
    X = draw(rows(draw(st.integers(1, 3)), max_rows=15, min_rows=1))
    labels = draw(hnp.arrays(np.int8, len(X), elements=st.sampled_from([-1, 1])))
    return X, labels, draw(sample_weights(len(X)))


def cost_of(X, labels, weights, alpha, split):
    """Cost of a split, judged row by row."""
    feature, sign, bias, _ = split
    scores = np.full(len(X), bias)
    if feature >= 0:
        scores = sign * X[:, feature].astype(np.float64) + bias
    cost = reference.axis_cost(scores >= 0, labels, weights)
    return cost + (alpha if feature >= 0 else 0.0)


@given(problems(), st.sampled_from([0.0, 0.3, 1.0, 100.0]))
def test_axis_split_is_the_best_of_all(problem, alpha):
    X, labels, weights = problem
    split = _core.axis_split(as_rows(X), labels, weights, alpha)
    best = reference.best_axis_cost(X, labels, weights, alpha)
    assert split[3] == pytest.approx(best, abs=1e-9)
    assert cost_of(X, labels, weights, alpha, split) == pytest.approx(best, abs=1e-9)


@given(problems(), st.sampled_from([0.0, 0.3]))
def test_sparse_rows_give_the_same_split(problem, alpha):
    X, labels, weights = problem
    dense = _core.axis_split(as_rows(X), labels, weights, alpha)
    sparse = _core.axis_split(as_rows(sp.csr_matrix(X)), labels, weights, alpha)
    assert dense == sparse


def test_no_feature_is_used_if_it_does_not_pay():
    X = np.array([[0], [1], [2]], dtype=np.float32)
    labels = np.array([-1, 1, 1], dtype=np.int8)
    feature, _, bias, cost = _core.axis_split(as_rows(X), labels, np.ones(3), 1.0)
    assert (feature, bias, cost) == (-1, 1.0, 1.0)


def test_threshold_lies_halfway():
    X = np.array([[0], [1]], dtype=np.float32)
    labels = np.array([-1, 1], dtype=np.int8)
    assert _core.axis_split(as_rows(X), labels, np.ones(2), 0.1) == (0, 1.0, -0.5, 0.1)


def test_tie_goes_to_the_first_feature():
    X = np.array([[0, 0], [1, 1]], dtype=np.float32)
    labels = np.array([1, -1], dtype=np.int8)
    feature, sign, _, _ = _core.axis_split(as_rows(X), labels, np.ones(2), 0.1)
    assert (feature, sign) == (0, -1.0)


@pytest.mark.parametrize("n_values", [2, 9, 200])
def test_whole_numbers_are_summed_and_others_sorted_to_the_same_end(n_values):
    """Nor does it matter how the rows are stored."""
    rng = np.random.default_rng(n_values)
    for _ in range(4):
        X = rng.integers(0, n_values, size=(40, 19)).astype(np.float32)
        labels = rng.choice(np.array([-1, 1], dtype=np.int8), size=40)
        weights = rng.random(40)
        found = [
            _core.axis_split(stored, labels, weights, 0.1)
            for stored in (as_rows(X), _core.byte_rows(X), as_rows(sp.csr_matrix(X)))
        ]
        best = reference.best_axis_cost(X, labels, weights, 0.1)
        assert all(split[:3] == found[0][:3] for split in found)
        assert all(split[3] == pytest.approx(best, abs=1e-9) for split in found)
        for other in (X - n_values, X + 0.25, X + 255):
            assert _core.axis_split(as_rows(other), labels, weights, 0.1)[3] == pytest.approx(best)
