"""Words for what sets trees apart become the right counts and penalties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import GreedyForestClassifier, TAOForestClassifier
from spinney.algorithms.tao import optimize_tree
from tests.spies import replace_everywhere

X, Y = np.random.default_rng(0).normal(size=(100, 64)), np.arange(100) % 2
TASKS: list[tuple[Any, Any]] = []


@pytest.fixture(scope="module", autouse=True)
def _tasks() -> Iterator[None]:
    """Notes the problem and the options of every tree."""

    def spy(problem: Any, start: Any, options: Any, callback: Any = None) -> Any:
        TASKS.append((problem, options))
        return optimize_tree(problem, start, options, callback)

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, optimize_tree, spy)
        yield


def tasks_of(X: Any, n_estimators: int = 1, **values: Any) -> list[tuple[Any, Any]]:
    """What the optimiser is given for each tree of a forest."""
    TASKS.clear()
    forest = TAOForestClassifier(
        n_estimators, max_depth=1, max_iter=1, calibrate=False, random_state=0, **values
    )
    forest.fit(X, np.arange(len(X)) % 2)
    return list(TASKS)


def n_drawn(max_samples: Any, n_rows: int = 100, *, bootstrap: bool = False) -> float:
    rows = np.arange(n_rows, dtype=float)[:, None]
    ((problem, _),) = tasks_of(rows, max_samples=max_samples, bootstrap=bootstrap)
    return float(problem.sample_weight.sum())


def n_columns(max_features: Any, n_features: int = 64) -> int:
    ((problem, _),) = tasks_of(
        X[:, :n_features], max_features=max_features, feature_sampling="global"
    )
    return int(problem.n_features)


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
    assert n_drawn(max_samples, bootstrap=bootstrap) == expected


@given(st.integers(1, 1000), st.data())
@settings(max_examples=60)
def test_a_share_of_a_whole_number_of_rows_is_that_number(n_rows: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, n_rows))
    assert n_drawn(count / n_rows, n_rows) == count


@pytest.mark.parametrize("n_digits", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [150, 1000])
def test_a_decimal_share_is_rounded_down_as_people_would(n_digits: int, n_rows: int) -> None:
    parts = 10**n_digits
    for part in range(1, parts, max(1, parts // 60)):
        share = float(f"0.{part:0{n_digits}d}")
        assert n_drawn(share, n_rows) == max(1, part * n_rows // parts)


@given(st.one_of(st.none(), st.floats(0, 1, exclude_min=True)), st.integers(1, 50), st.booleans())
@settings(max_examples=60)
def test_at_least_one_and_at_most_all_rows_are_drawn(
    max_samples: Any, n_rows: int, bootstrap: bool
) -> None:
    assert 1 <= n_drawn(max_samples, n_rows, bootstrap=bootstrap) <= n_rows


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
@pytest.mark.parametrize("kind", [TAOForestClassifier, GreedyForestClassifier])
def test_bad_samples_are_refused(kind: Any, max_samples: Any, error: Any, bootstrap: bool) -> None:
    with pytest.raises(error, match=r"max_samples=.*; give a share in \(0, 1\], .*; try") as caught:
        kind(max_samples=max_samples, bootstrap=bootstrap).fit(X, Y)
    assert repr(max_samples) in str(caught.value)


# --- columns --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 64),
        (1, 1),
        (63, 63),
        (64, 64),
        (np.int16(5), 5),
        (0.5, 32),
        (np.float64(0.25), 16),
        (1.0, 64),
        (1e-12, 1),
        ("sqrt", 8),
        ("D**0.5", 8),
        ("D**.5", 8),
        ("D ** 0.75", 23),
        ("D**0.9", 42),
        ("D**1e-3", 1),
        ("D**1", 64),
    ],
    ids=str,
)
def test_columns_are_counted(max_features: Any, expected: int) -> None:
    assert n_columns(max_features) == expected


@given(st.floats(0.01, 1), st.integers(1, 64))
@settings(max_examples=60)
def test_power_of_the_columns_is_rounded(exponent: float, n_features: int) -> None:
    found = n_columns(f"D**{exponent}", n_features)
    assert found == min(n_features, max(1, round(n_features**exponent)))


@pytest.mark.parametrize("word", ["sqrt", "D**0.9", 0.5, 1, None], ids=str)
def test_one_column_is_all_columns(word: Any) -> None:
    assert n_columns(word, 1) == 1


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
@pytest.mark.parametrize("kind", [TAOForestClassifier, GreedyForestClassifier])
def test_bad_columns_are_refused(kind: Any, max_features: Any, error: Any) -> None:
    with pytest.raises(
        error, match=r"max_features=.*; give None for all columns, .*; try"
    ) as found:
        kind(max_features=max_features).fit(X, Y)
    assert repr(max_features) in str(found.value)


# --- penalties ------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, 0.0, 0.1, np.float32(2.0), 7])
def test_one_penalty_is_that_of_all_trees(alpha: Any) -> None:
    assert [options.alpha for _, options in tasks_of(X, 3, alpha=alpha)] == [float(alpha)] * 3


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 20))
@settings(max_examples=30)
def test_pair_is_a_path_with_equal_ratios(first: float, last: float, n_trees: int) -> None:
    tasks = tasks_of(X[:, :2], n_trees, alpha=(first, last))
    alphas = [options.alpha for _, options in tasks]
    assert len(alphas) == n_trees
    assert all(type(alpha) is float for alpha in alphas)
    assert alphas[0] == pytest.approx(first)
    assert alphas[-1] == pytest.approx(last)
    ratio = (last / first) ** (1 / (n_trees - 1))
    assert np.array(alphas[1:]) / alphas[:-1] == pytest.approx(ratio)


def test_path_of_one_tree_is_its_first_end() -> None:
    ((_, options),) = tasks_of(X, 1, alpha=[0.5, 8.0])
    assert options.alpha == pytest.approx(0.5)


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
        TAOForestClassifier(alpha=alpha).fit(X, Y)


# --- trees ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_estimators", [1, 5, np.int32(3)])
def test_positive_numbers_of_trees_are_accepted(n_estimators: Any) -> None:
    assert len(tasks_of(X, n_estimators)) == n_estimators
