"""Greedy growth on codes: the trees of a search by value, levels and the side of missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import _core
from tests import reference
from tests.strategies import sample_weights, seeds

NONE = np.zeros(0)
NO_CODES = np.zeros(0, np.int32)
NO_VALUES = np.zeros((0, 1))
CRITERIA = ["entropy", "gini", "squared_error"]


def grown(rows: Any, targets: Any, weights: Any, criterion: str, **values: Any) -> Any:
    """Children, bias, indptr, indices, weights and leaf values."""
    given = {"max_depth": 0, "min_leaf": 0.0, "n_candidates": 100, "seed": 0, "n_threads": 1}
    given |= values
    options = _core.GrowOptions(
        "gini" if criterion == "gini" else "entropy", given["max_depth"], 2, given["min_leaf"],
        given["n_candidates"], given["seed"], given["n_threads"],
    )  # fmt: skip
    has_classes = criterion != "squared_error"
    return _core.grow_tree(
        rows,
        np.zeros(rows.n_features),
        np.ones(rows.n_features),
        targets if has_classes else NO_CODES,
        NO_VALUES if has_classes else targets[:, None],
        weights,
        NONE,
        int(targets.max()) + 1 if has_classes else 1,
        _core.SplitOptions("axis"),
        options,
        None,
    )


def expect_same(one: Any, two: Any) -> None:
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def csr_of(X: Any) -> Any:
    """The rows as CSR, whose columns are searched by value."""
    rows, columns = np.nonzero(X)
    indptr = np.searchsorted(rows, np.arange(len(X) + 1))
    return _core.sparse_rows(
        indptr.astype(np.int64), columns.astype(np.int32), X[rows, columns], X.shape[1]
    )


@st.composite
def columns_of_all_kinds(draw: Any) -> Any:
    """Many rows of numbers: all distinct, few values, mostly zeros, with outliers."""
    rng = np.random.default_rng(draw(seeds()))
    n = draw(st.integers(2, 700))
    zeros = rng.normal(size=n) * (rng.random(n) < 0.1)
    outliers = rng.random(n) + 1e5 * (rng.random(n) < 0.03)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), zeros, outliers])
    codes = rng.integers(0, draw(st.integers(2, 5)), n).astype(np.int32)
    kinds = [np.ones(n), rng.integers(1, 4, n) * 1.0, rng.uniform(0.1, 1, n)]
    weights = draw(st.sampled_from(kinds))
    return X.astype(np.float32), codes, weights


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=25, deadline=None)
@given(columns_of_all_kinds(), st.sampled_from([1, 2, 4]), st.sampled_from([0.0, 3.0]))
def test_codes_give_the_tree_of_values(criterion, rows, n_candidates, min_leaf):
    X, codes, weights = rows
    targets = codes if criterion != "squared_error" else np.round(X[:, 0].astype(float) + codes, 1)
    values = {"n_candidates": n_candidates, "min_leaf": min_leaf}
    by_value = grown(csr_of(X), targets, weights, criterion, **values)
    expect_same(grown(_core.padded_rows(X), targets, weights, criterion, **values), by_value)
    threads = grown(_core.padded_rows(X), targets, weights, criterion, n_threads=3, **values)
    expect_same(threads, by_value)


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=15, deadline=None)
@given(st.integers(2, 300), seeds())
def test_bytes_and_floats_and_copies_of_rows_give_one_tree(criterion, n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.choice([0, 1, 2, 200, *range(30, 90)], (n_rows, 3)).astype(np.float32)
    targets = rng.integers(0, 3, n_rows).astype(np.int32)
    targets = targets if criterion != "squared_error" else targets.astype(float)
    weights = rng.integers(1, 4, n_rows)
    tree = grown(_core.padded_rows(X), targets, weights.astype(float), criterion)
    expect_same(grown(_core.byte_rows(X), targets, weights.astype(float), criterion), tree)
    copies = np.repeat(np.arange(n_rows), weights)
    repeated = grown(_core.padded_rows(X[copies]), targets[copies], np.ones(len(copies)), criterion)
    expect_same(repeated[:6], tree[:6])
    np.testing.assert_allclose(repeated[6], tree[6], rtol=1e-12)


@st.composite
def tables(draw: Any) -> Any:
    """A column of levels and a column of numbers, both with holes, and their rows."""
    n, n_levels = draw(st.integers(2, 30)), draw(st.integers(1, 5))
    columns = [(0, n_levels, n_levels), (n_levels + 1, 0, n_levels + 2)]
    level = np.array(draw(st.lists(st.integers(0, n_levels + 1), min_size=n, max_size=n)))
    numbers = st.sampled_from([None, -2, -0.5, 0, 1, 3])
    number = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    is_missing = number == None  # noqa: E711
    X = np.zeros((n, n_levels + 3), np.float32)
    for k in range(n_levels + 1):
        X[:, k] = level == k
    stand_in = draw(st.sampled_from([-3, 0, 0.25, 9]))
    X[:, n_levels + 1] = np.where(is_missing, stand_in, number).astype(float)
    X[:, n_levels + 2] = is_missing
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
    return columns, X, codes, draw(sample_weights(n))


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=60, deadline=None)
@given(tables(), seeds())
def test_splits_of_tables_are_the_best_of_all(criterion, table, seed):
    columns, X, codes, weights = table
    is_used = weights > 0
    if not is_used.any():
        return
    targets = codes if criterion != "squared_error" else codes.astype(float)
    rows = _core.with_columns(_core.padded_rows(X), columns, weights)
    tree = grown(rows, targets, weights, criterion, seed=seed, max_depth=1)
    X, targets, weights = X[is_used], targets[is_used], weights[is_used]
    best = reference.best_table_cut(columns, X, targets, weights, criterion)
    if tree[0][0] < 0:
        assert best is None or (targets == targets[0]).all()
        return
    w = np.zeros(X.shape[1])
    w[tree[4]] = tree[5]
    goes_right = X @ w + tree[2][0] >= 0
    assert goes_right.any()
    assert not goes_right.all()
    assert reference.split_cost(goes_right, targets, weights, criterion) == pytest.approx(best)
    assert (np.diff(tree[4]) > 0).all()
