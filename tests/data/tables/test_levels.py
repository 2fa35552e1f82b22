"""Levels are chosen by weight, and means are learned without a row's own target."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spinney.data.tables.columns import Column, number_column, object_column
from spinney.data.tables.levels import (
    MISSING,
    N_FOLDS,
    SMOOTHING_ROWS,
    UNKNOWN,
    code_column,
    codes_among,
    cross_fitted_means,
    learn_levels,
    level_coordinates,
)
from tests.reference import level_means

words = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40)


def text(values: Any) -> Column:
    return object_column(list(values), "column")


def learn(values: Any, weights: Any = None, targets: Any = None, **options: Any) -> Any:
    n_rows = len(values)
    weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=float)
    targets = np.zeros((n_rows, 1)) if targets is None else np.asarray(targets, dtype=float)
    return learn_levels(code_column(text(values)), targets, weights, **options)


def test_levels_are_indexed_once_and_the_index_is_no_part_of_their_state() -> None:
    for column in (text("abcdefgh"), number_column(np.arange(8.0))):
        coded = code_column(column)
        levels = learn_levels(coded, np.zeros((8, 1)), np.ones(8))
        fresh = pickle.dumps(levels)
        level_coordinates(levels, column)
        index = levels.places_of_known
        level_coordinates(levels, column)
        assert levels.places_of_known is index
        assert index.codes(column).tolist() == list(range(8))
        assert pickle.dumps(levels) == fresh
        assert "places_of_known" not in vars(pickle.loads(fresh))


def test_codes_are_places_among_sorted_levels() -> None:
    assert code_column(text(["b", None, "a"])).codes.tolist() == [1, MISSING, 0]
    assert codes_among(text(["b", None, "c"]), ("b",)).tolist() == [0, MISSING, UNKNOWN]
    numbers = number_column(np.array([3.0, np.nan, -0.0, 7.0]))
    assert code_column(numbers).levels == (0.0, 3.0, 7.0)
    assert codes_among(numbers, (0.0, 7.0)).tolist() == [UNKNOWN, MISSING, 0, 1]
    assert codes_among(numbers, ()).tolist() == [UNKNOWN, MISSING, UNKNOWN, UNKNOWN]


@given(words, st.integers(0, 6), st.integers(1, 4))
def test_few_levels_have_coordinates_and_many_have_means(
    values: list[str], most_levels: int, n_outputs: int
) -> None:
    targets = np.zeros((len(values), n_outputs))
    found = learn(values, targets=targets, most_levels=most_levels)
    present = tuple(sorted(set(values)))
    if len(present) <= max(most_levels, n_outputs):
        assert (found.own, found.has_rest, found.known) == (present, False, ())
        assert found.width == len(present)
    else:
        assert (found.own, found.has_rest, found.known) == ((), False, present)
        assert found.width == n_outputs


@given(words)
def test_unit_of_the_weights_means_nothing(values: list[str]) -> None:
    targets = np.arange(len(values), dtype=float)[:, None]
    one = learn(values, targets=targets, most_levels=2)
    other = learn(values, np.full(len(values), 2.0**-20), targets, most_levels=2)
    assert one.own == other.own
    assert np.allclose(one.means, other.means, rtol=1e-6)


def test_weights_decide_what_is_rare() -> None:
    assert learn(["a", "b", "b"], [1000.0, 1.0, 1.0]).own == ("a",)
    assert learn(["a", "b", "b"], [1000.0, 1.0, 1.0]).has_rest
    assert learn(["a"] * 300 + ["b"] * 2).own == ("a", "b")
    assert learn(["a"] * 300 + ["b"]).own == ("a",)


@given(words, st.integers(0, 2**31))
def test_means_are_smoothed_means(values: list[str], seed: int) -> None:
    assume(len(set(values)) > 1)
    rng = np.random.default_rng(seed)
    targets, weights = rng.normal(size=len(values)), rng.random(len(values)) + 0.1
    found = learn(values, weights, targets[:, None], most_levels=0)
    means, overall = level_means(values, targets, weights, SMOOTHING_ROWS)
    assert found.known == tuple(sorted(means))
    assert found.means[:-2, 0] == pytest.approx([means[level] for level in found.known], rel=1e-5)
    assert found.means[-2:, 0] == pytest.approx([overall, overall], rel=1e-5, abs=1e-6)


@given(words, st.integers(0, 2**31), st.integers(0, 39))
def test_a_row_is_encoded_without_its_own_target(values: list[str], seed: int, row: int) -> None:
    row %= len(values)
    targets = np.random.default_rng(seed).normal(size=(len(values), 1))
    weights = np.ones(len(values))
    before = cross_fitted_means(text(values), targets, weights)
    targets[row] += 100.0
    after = cross_fitted_means(text(values), targets, weights)
    same_fold = np.arange(len(values)) % N_FOLDS == row % N_FOLDS
    assert after[same_fold] == pytest.approx(before[same_fold], abs=1e-4)
    if (~same_fold).any():
        assert not np.allclose(after[~same_fold], before[~same_fold], atol=0.5)


def test_training_means_of_pure_noise_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    values = [str(level) for level in rng.integers(0, 500, 2000)]
    targets = rng.normal(size=(2000, 1))
    fitted = cross_fitted_means(text(values), targets, np.ones(2000))[:, 0]
    leaky = learn(values, targets=targets, most_levels=0)
    own = leaky.means[[leaky.known.index(value) for value in values], 0]
    assert abs(np.corrcoef(fitted, targets[:, 0])[0, 1]) < 0.1
    assert np.corrcoef(own, targets[:, 0])[0, 1] > 0.4
