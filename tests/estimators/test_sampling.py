"""Words for what sets trees apart become the right counts and penalties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.estimators.parameter_checks import (
    alpha_of_trees,
    check_n_estimators,
    count_features,
    count_samples,
)

# --- rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_samples", "bootstrap", "expected"),
    [
        (None, False, 90),
        (None, True, 100),
        (1, False, 1),
        (100, False, 100),
        (np.int64(7), True, 7),
        (0.25, False, 25),
        (0.999, True, 99),
        (0.29, False, 29),
        (0.57, True, 57),
        (np.float32(0.5), False, 50),
        (1.0, False, 100),
        (1e-12, False, 1),
    ],
    ids=str,
)
def test_samples_are_counted(max_samples: Any, bootstrap: bool, expected: int) -> None:
    found = count_samples(max_samples, 100, bootstrap=bootstrap)
    assert found == expected
    assert type(found) is int


@given(st.integers(1, 10**6), st.data())
def test_a_share_of_a_whole_number_of_rows_is_that_number(n_rows: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, n_rows))
    assert count_samples(count / n_rows, n_rows, bootstrap=False) == count


@pytest.mark.parametrize("n_digits", [1, 2, 3, 4])
def test_a_decimal_share_is_rounded_down_as_people_would(n_digits: int) -> None:
    parts = 10**n_digits
    for part in range(1, parts):
        share = float(f"0.{part:0{n_digits}d}")
        for n_rows in (parts, 150, 12345):
            found = count_samples(share, n_rows, bootstrap=False)
            assert found == max(1, part * n_rows // parts)


@given(st.one_of(st.none(), st.floats(0, 1, exclude_min=True)), st.integers(1, 50), st.booleans())
def test_at_least_one_and_at_most_all_rows_are_drawn(
    max_samples: Any, n_rows: int, bootstrap: bool
) -> None:
    assert 1 <= count_samples(max_samples, n_rows, bootstrap=bootstrap) <= n_rows


@pytest.mark.parametrize(
    ("max_samples", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (101, ValueError),
        (0.0, ValueError),
        (1.01, ValueError),
        (-0.5, ValueError),
        (np.nan, ValueError),
        (np.inf, ValueError),
        (True, TypeError),
        ("half", TypeError),
        ([0.5], TypeError),
    ],
    ids=str,
)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_bad_samples_are_refused(max_samples: Any, error: Any, bootstrap: bool) -> None:
    with pytest.raises(error, match=r"max_samples=.*; give a share in \(0, 1\], .*; try") as caught:
        count_samples(max_samples, 100, bootstrap=bootstrap)
    assert repr(max_samples) in str(caught.value)


# --- columns --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 0),
        (1, 1),
        (63, 63),
        (64, 0),
        (np.int16(5), 5),
        (0.5, 32),
        (np.float64(0.25), 16),
        (1.0, 0),
        (1e-12, 1),
        ("sqrt", 8),
        ("D**0.5", 8),
        ("D**.5", 8),
        ("D ** 0.75", 23),
        ("D**0.9", 42),
        ("D**1e-3", 1),
        ("D**1", 0),
    ],
    ids=str,
)
def test_columns_are_counted_and_zero_means_all(max_features: Any, expected: int) -> None:
    found = count_features(max_features, 64)
    assert found == expected
    assert type(found) is int


@given(st.floats(0.01, 1), st.integers(1, 1000))
def test_power_of_the_columns_is_rounded(exponent: float, n_features: int) -> None:
    found = count_features(f"D**{exponent}", n_features)
    expected = max(1, round(n_features**exponent))
    assert found == (0 if expected >= n_features else expected)


@pytest.mark.parametrize("word", ["sqrt", "D**0.9", 0.5, 1, None], ids=str)
def test_one_column_is_all_columns(word: Any) -> None:
    assert count_features(word, 1) == 0


@pytest.mark.parametrize(
    ("max_features", "error"),
    [
        (0, ValueError),
        (-3, ValueError),
        (65, ValueError),
        (0.0, ValueError),
        (1.5, ValueError),
        (np.nan, ValueError),
        ("log2", ValueError),
        ("auto", ValueError),
        ("D", ValueError),
        ("D**", ValueError),
        ("D**0", ValueError),
        ("D**1.5", ValueError),
        ("D**-1", ValueError),
        ("D**nan", ValueError),
        ("D**1e", ValueError),
        ("D**0.5.5", ValueError),
        ("d**0.5", ValueError),
        ("D**0.5x", ValueError),
        ("", ValueError),
        (True, TypeError),
        ([3], TypeError),
        (3j, TypeError),
    ],
    ids=str,
)
def test_bad_columns_are_refused(max_features: Any, error: Any) -> None:
    with pytest.raises(
        error, match=r"max_features=.*; give None for all columns, .*; try"
    ) as found:
        count_features(max_features, 64)
    assert repr(max_features) in str(found.value)


# --- penalties ------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, 0.0, 0.1, np.float32(2.0), 7])
def test_one_penalty_is_that_of_all_trees(alpha: Any) -> None:
    assert alpha_of_trees(alpha, 3) == (float(alpha),) * 3


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 20))
def test_pair_is_a_path_with_equal_ratios(first: float, last: float, n_trees: int) -> None:
    alphas = alpha_of_trees((first, last), n_trees)
    assert len(alphas) == n_trees
    assert all(type(alpha) is float for alpha in alphas)
    assert alphas[0] == pytest.approx(first)
    assert alphas[-1] == pytest.approx(last)
    ratio = (last / first) ** (1 / (n_trees - 1))
    assert np.array(alphas[1:]) / alphas[:-1] == pytest.approx(ratio)


def test_path_of_one_tree_is_its_first_end() -> None:
    assert alpha_of_trees([0.5, 8.0], 1) == pytest.approx((0.5,))


@pytest.mark.parametrize(
    ("alpha", "error"),
    [
        (-0.1, ValueError),
        (np.nan, ValueError),
        (np.inf, ValueError),
        ((0.1,), ValueError),
        ((), ValueError),
        ((0.1, 1.0, 10.0), ValueError),
        ((0.0, 1.0), ValueError),
        ((0.1, -1.0), ValueError),
        ((0.1, np.inf), ValueError),
        ("0.1", TypeError),
        (None, TypeError),
        (True, TypeError),
        ((0.1, "1"), TypeError),
        ((True, 1.0), TypeError),
        (np.array([0.1, 1.0]), TypeError),
        ({0.1, 1.0}, TypeError),
    ],
    ids=str,
)
def test_bad_penalties_are_refused(alpha: Any, error: Any) -> None:
    with pytest.raises(error, match=r"alpha=.*; give .*; try alpha="):
        alpha_of_trees(alpha, 3)


# --- trees ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_estimators", [1, 30, np.int32(3)])
def test_positive_numbers_of_trees_are_accepted(n_estimators: Any) -> None:
    check_n_estimators(n_estimators, 0)
    check_n_estimators(n_estimators, int(n_estimators))


@pytest.mark.parametrize(
    ("n_estimators", "error"),
    [(0, ValueError), (-2, ValueError), (2.0, TypeError), ("3", TypeError), (None, TypeError),
     (True, TypeError)],
)  # fmt: skip
def test_bad_numbers_of_trees_are_refused(n_estimators: Any, error: Any) -> None:
    with pytest.raises(error, match=r"n_estimators=.*; give an integer >= 1; try n_estimators=30"):
        check_n_estimators(n_estimators, 0)


def test_trees_cannot_be_taken_away() -> None:
    text = r"n_estimators=3 with warm_start=True and 5 trees .*; give at least 5; try"
    with pytest.raises(ValueError, match=text):
        check_n_estimators(3, 5)
