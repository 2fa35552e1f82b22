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


# --- columns of a table -----------------------------------------------------------------------


@st.composite
def tables(draw):
    """Coordinates of numbers with flags and of levels, as an encoding makes them; their columns.

    Missing numbers are filled; some rows have no level.
    """
    n_rows = draw(st.integers(1, 60))
    parts, columns, first = [], [], 0
    for _ in range(draw(st.integers(1, 3))):
        is_missing = draw(hnp.arrays(np.bool_, n_rows))
        has_flag = draw(st.booleans())
        n_levels = draw(st.sampled_from([0, 0, 1, 2, 4]))
        if n_levels:
            level = np.array(
                draw(st.lists(st.integers(0, n_levels), min_size=n_rows, max_size=n_rows))
            )
            level[is_missing & has_flag] = n_levels
            part = (level[:, None] == np.arange(n_levels)).astype(np.float32)
        else:
            part = draw(rows(1, max_rows=n_rows, min_rows=n_rows))
            part[is_missing & has_flag] = draw(st.sampled_from([-2.0, 0.0, 0.5, 3.0]))
        width = part.shape[1]
        columns.append((first, n_levels, first + width if has_flag else -1))
        parts += [part, is_missing[:, None].astype(np.float32)] if has_flag else [part]
        first += width + has_flag
    X = np.ascontiguousarray(np.hstack(parts), dtype=np.float32)
    labels = draw(hnp.arrays(np.int8, n_rows, elements=st.sampled_from([-1, 1])))
    return X, columns, labels, draw(sample_weights(n_rows))


def side_of_rows(X, split):
    coordinates, weights, bias, _ = split
    return X[:, coordinates].astype(np.float64) @ weights.astype(np.float64) + bias >= 0


@given(tables(), st.sampled_from([0.0, 0.3, 100.0]))
def test_column_split_is_the_best_of_all_thresholds_and_sets(table, alpha):
    X, columns, labels, weights = table
    stored = _core.with_columns(as_rows(X), columns, np.ones(len(X)))
    split = _core.column_split(stored, labels, weights, alpha, 1)
    best = reference.best_column_cost(X, columns, labels, weights, alpha)
    assert split[3] == pytest.approx(best, abs=1e-9)
    penalty = alpha if len(split[0]) else 0.0
    cost = reference.axis_cost(side_of_rows(X, split), labels, weights) + penalty
    assert cost == pytest.approx(best, abs=1e-9)
    within = [set(range(first, first + max(n, 1))) | {flag} for first, n, flag in columns]
    assert any(set(split[0].tolist()) <= coordinates for coordinates in within)


@given(problems(), st.sampled_from([0.0, 0.3, 1.0]))
def test_bins_find_the_split_that_sorting_finds(problem, alpha):
    X, labels, weights = problem
    feature, sign, bias, cost = _core.axis_split(as_rows(X), labels, weights, alpha)
    coordinates, signs, bias_of_bins, cost_of_bins = _core.column_split(
        as_rows(X), labels, weights, alpha, 1
    )
    assert coordinates.tolist() == ([] if feature < 0 else [feature])
    assert signs.tolist() == ([] if feature < 0 else [sign])
    assert (bias, cost) == (bias_of_bins, pytest.approx(cost_of_bins, abs=1e-9))


@pytest.mark.parametrize("n_values", [3, 256, 700, 100_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_of_many_values_are_looked_at_where_they_promise(n_values, weighted):
    """More values than bins, more rows than a block has; ties among whole weights."""
    rng = np.random.default_rng(n_values)
    n_rows = 20_000 if n_values == 100_000 else 3_000
    X = rng.integers(0, n_values, size=(n_rows, 5)).astype(np.float32)
    X[:, 3] = X[:, 1]  # a tie between columns
    X[:, 4] *= 1e30
    pull = X[:, 1] + n_values * rng.standard_normal(n_rows)
    labels = np.where(pull > np.median(pull), 1, -1).astype(np.int8)
    weights = rng.random(n_rows) if weighted else np.ones(n_rows)
    feature, sign, bias, cost = _core.axis_split(as_rows(X), labels, weights, 0.1)
    for n_threads in (1, 3):
        found = _core.column_split(as_rows(X), labels, weights, 0.1, n_threads)
        assert (found[0].tolist(), found[1].tolist(), found[2]) == ([feature], [sign], bias)
        assert found[3] == pytest.approx(cost, rel=1e-12)


def test_columns_that_do_not_fit_are_refused():
    stored = as_rows(np.zeros((3, 2), dtype=np.float32))
    for column in [(2, 0, -1), (0, 3, -1), (0, 0, 2), (0, 0, -2)]:
        with pytest.raises(ValueError, match="coordinates that the rows do not have"):
            _core.with_columns(stored, [column], np.ones(3))
    with pytest.raises(ValueError, match="one for each row"):
        _core.with_columns(stored, [(0, 0, -1)], np.ones(2))
