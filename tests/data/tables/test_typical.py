"""The typical row holds means and most frequent levels, and comes back from its state."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.data.tables import TypicalRow, learn_matrix, read_table, typical_of_table
from tests.data.tables.frames import Columns, as_arrow, as_pandas, columns
from tests.data.tables.test_encoding import learn
from tests.data.tables.test_state import plain


def typical(X: Any, weights: Any = None, **options: Any) -> tuple[TypicalRow, Any]:
    table = read_table(X, list(X.columns))
    weights = np.ones(table.n_rows) if weights is None else np.asarray(weights, dtype=float)
    encoding = learn(table, **options)
    return typical_of_table(encoding, table, weights), encoding


def test_values_are_means_and_most_frequent_levels() -> None:
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta([0, 0, 6], "D")
    table = pd.DataFrame(
        {
            "size": [1.0, np.nan, 4.0],
            "job": ["cook", "smith", "cook"],
            "town": ["a", None, None],
            "since": days,
            "nothing": [np.nan] * 3,
        }
    )
    row, encoding = typical(table)
    first_day = (pd.Timestamp("2020-01-01") - pd.Timestamp(0)).days
    assert row.values(encoding) == (2.5, "cook", None, first_day + 2.0, None)
    assert row.levels == {1: "cook", 2: None}
    assert row.had_missing.tolist() == [True, False, True, False, True]


def test_levels_count_by_weight_and_the_first_of_several_wins() -> None:
    table = pd.DataFrame({"job": ["smith", "cook"]})
    assert typical(table)[0].levels == {0: "cook"}
    assert typical(table, [3.0, 1.0])[0].levels == {0: "smith"}


@settings(max_examples=30)
@given(columns(), st.sampled_from([0, 2, 30]))
def test_coordinates_are_those_of_the_typical_values(given: Columns, most_levels: int) -> None:
    row, encoding = typical(as_pandas(given), most_levels=most_levels)
    assert row.coordinates.shape == (encoding.n_coordinates,)
    for number, found in enumerate(encoding.coordinates):
        if found.kind in ("number", "datetime", "duration"):
            assert row.coordinates[number] == np.float32(found.fill)
        elif found.kind == "is_level":
            assert row.coordinates[number] == (row.levels[found.column] == found.level)
        elif found.kind == "is_missing" and found.column in row.levels:
            assert row.coordinates[number] == (row.levels[found.column] is None)


def test_flags_say_what_most_of_the_weight_is() -> None:
    X = np.array([[np.nan, np.nan], [np.nan, 1.0], [3.0, 2.0], [np.nan, 3.0]], np.float32)
    y, weights = np.array([[1.0], [0.0], [1.0], [0.0]]), np.ones(4)
    encoding = learn_matrix(X, np.isnan(X[:, :1]) + y, weights)
    assert encoding.has_missing.all()
    row = typical_of_table(encoding, X, weights)
    assert row.coordinates.tolist() == [3.0, 1.0, 2.0, 0.0]
    by_rows = sp.csr_matrix(X)
    sparse = learn_matrix(by_rows, np.isnan(X[:, :1]) + y, weights)
    assert typical_of_table(sparse, by_rows, weights) == row


@settings(max_examples=30)
@given(columns())
def test_states_come_back_the_same(given: Columns) -> None:
    row, _ = typical(as_arrow(given).to_pandas())
    state = row.to_state()
    assert TypicalRow.from_state(state) == row
    assert TypicalRow.from_state(json.loads(json.dumps(plain(state)))) == row


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("coordinates", [np.inf], "coordinates"),
        ("coordinates", ["a"], "coordinates"),
        ("had_missing", [2], "had_missing"),
        ("levels", [{"column": 7, "level": "a"}], "column"),
        ("levels", [{"column": 0, "level": "a"}] * 2, "column"),
        ("levels", [{"column": 0, "level": [1]}], "level"),
        ("levels", [{"column": 0, "level": float("nan")}], "level"),
        ("levels", [{"column": 0}], "level"),
    ],
)
def test_states_of_another_form_are_refused(key: str, value: Any, complaint: str) -> None:
    state = {"coordinates": [0.0], "had_missing": [0], "levels": []}
    with pytest.raises(ValueError, match=complaint):
        TypicalRow.from_state({**state, key: value})
