"""What is read directly of a frame is what the general way reads; all else is left to it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils.validation import check_array

from spinney import TAOTreeClassifier
from spinney.data import validation
from spinney.data.tables.direct import has_names, plain_numbers

PLAIN = {
    "floats": {"a": [1.5, np.nan], "b": [2.0, -0.0]},
    "integers": {"a": [2**60 + 1, 3], "b": [4, 5]},
    "both": {"a": [2**60 + 1, 3], "b": [0.5, 1.0]},
    "float32": {"a": np.array([0.1, 0.2], np.float32), "b": np.array([1, 2], np.int8)},
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("columns", PLAIN.values(), ids=list(PLAIN))
def test_plain_numbers_are_those_that_scikit_learn_reads(make: Any, columns: Any) -> None:
    frame = make(columns)
    found = plain_numbers(frame)
    expected = check_array(frame, ensure_all_finite="allow-nan")
    assert found is not None
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_truth_values_are_numbers_of_pandas() -> None:
    for columns in ({"a": [True, False]}, {"a": [True, False], "b": [1.5, 2.0]}):
        frame = pd.DataFrame(columns)
        found = plain_numbers(frame)
        assert found is not None
        np.testing.assert_array_equal(found, check_array(frame))


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1.0, np.inf]}),
        pd.DataFrame({"a": [1.0]})[:0],
        pd.DataFrame({"a": ["x"]}),
        pd.DataFrame({"a": pd.Categorical([1.0])}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": [1.0], "t": pd.to_datetime(["2020-01-01"])}),
        pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}),
        pd.DataFrame({"a": [1j]}),
        pl.DataFrame({"a": [1.0], "t": [datetime.datetime(2020, 1, 1)]}),
        pl.DataFrame({"a": [1.0], "t": [datetime.timedelta(1)]}),
        pl.DataFrame({"a": [Decimal("1.5")], "b": [2.0]}),
        pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}),
        pl.DataFrame({"a": ["x"]}),
        pa.table({"a": [1.0]}),
        np.ones((2, 2)),
        [[1.0]],
        None,
    ],
)
def test_all_else_is_left_to_the_general_way(X: Any) -> None:
    assert plain_numbers(X) is None


def test_names_are_the_same_in_the_same_order() -> None:
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"a": [1.0], "b": [2.0]})
        assert has_names(frame, ("a", "b"))
        assert not has_names(frame, ("b", "a"))
        assert not has_names(frame, ("a",))
        assert not has_names(frame, None)
    assert not has_names(np.ones((1, 2)), ("a", "b"))
    assert not has_names(pd.DataFrame([[1.0, 2.0]]), ("0", "1"))


@pytest.mark.parametrize("has_holes", [False, True])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_known_frames_need_no_checks_and_get_the_same_answers(
    make: Any, has_holes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    y = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    rows[::7, 2] = np.nan if has_holes else 0.0
    of_array = TAOTreeClassifier(max_depth=3, random_state=0).fit(rows, y)
    frame = make(dict(zip("abc", rows.T, strict=True)))
    of_frame = TAOTreeClassifier(max_depth=3, random_state=0).fit(frame, y)
    expected = of_array.predict_proba(rows)
    monkeypatch.delattr(validation, "validate_data")
    monkeypatch.delattr(validation, "holds_numbers")
    np.testing.assert_array_equal(of_frame.predict_proba(frame), expected)
    for row in range(3):
        one = of_frame.predict_proba(frame[row : row + 1])
        np.testing.assert_array_equal(one, expected[row : row + 1])


def test_infinite_numbers_of_frames_are_refused_in_the_words_of_scikit_learn() -> None:
    frame = pd.DataFrame({"a": [0.0, 1.0] * 5})
    fitted = TAOTreeClassifier(max_depth=1, random_state=0).fit(frame, [0, 1] * 5)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fitted.predict(pd.DataFrame({"a": [np.inf]}))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        fitted.predict(frame[:0])
    with pytest.raises(ValueError, match=r"in column 0 \(a\) is too large for float32"):
        fitted.predict(pd.DataFrame({"a": [1e300]}))
