"""categorical_features means what it means in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from spinney.data.tables import category_mask, check_categorical_features, read_table

FRAME = pd.DataFrame(
    {
        "age": [1.0, 2.0],
        "job": ["a", "b"],
        "code": pd.Categorical([7, 8]),
        "none": [None, None],
    }
)
TABLE = read_table(FRAME, list(FRAME.columns))
NUMBERS = read_table(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("from_dtype", [False, True, True, True]),
        (["job"], [False, True, False, False]),
        (["job", "age"], [True, True, False, False]),
        ([1], [False, True, False, False]),
        (np.array([1, 2]), [False, True, True, False]),
        ([False, True, True, False], [False, True, True, False]),
    ],
)
def test_columns_are_chosen(given: Any, expected: list[bool]) -> None:
    assert category_mask(given, TABLE).tolist() == expected


@pytest.mark.parametrize("given", [None, []])
def test_none_leaves_numbers_as_they_are(given: Any) -> None:
    assert category_mask(given, NUMBERS).tolist() == [False] * 3


@pytest.mark.parametrize(
    ("given", "table", "text"),
    [
        (["jobs"], TABLE, "'jobs', which is no column of X; give some of"),
        ([4], TABLE, "column 4 of 4; give numbers from 0 to 3"),
        ([-1], TABLE, "column -1 of 4"),
        ([True], TABLE, "1 truth values for 4 columns"),
        (["job"], NUMBERS, "are names, but X has no column names"),
        (None, TABLE, r"column 1 of X \(job\) holds text, as 'a', but categorical_features"),
        (["age"], TABLE, "holds text"),
    ],
)
def test_columns_that_do_not_exist_are_refused(given: Any, table: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        category_mask(given, table)


@pytest.mark.parametrize("given", [1.5, [1.5], {"a": 1}, [["a"]], ["a", 1.5, None]])
def test_what_cannot_name_columns_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="is of no use; give"):
        check_categorical_features(given)


def test_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="categorical_features='auto' is not known; give"):
        check_categorical_features("auto")
