"""Every container of the same table is read as the same columns; what cannot be read is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from spinney.data.tables import holds_numbers, read_table
from spinney.data.tables.columns import DATETIME, DURATION, NUMBER, TEXT, Column
from tests.data.tables.frames import CONTAINERS, VALUES, Columns, as_arrow, columns

LONG = getattr(pl, "UInt128", pl.Int128)  # which older releases lack
KINDS = [NUMBER, NUMBER, NUMBER, TEXT, DATETIME, DURATION]


def told(column: Column) -> list[Any]:
    """Values of a column with None for missing."""
    if column.kind == TEXT:
        return list(column.texts)
    return [None if np.isnan(value) else value for value in column.numbers.tolist()]


@settings(max_examples=25)
@given(columns())
def test_containers_are_read_alike(given: Columns) -> None:
    expected = [told(column) for column in read_table(as_arrow(given)).columns]
    for name, make in CONTAINERS.items():
        table = read_table(make(given))
        assert [told(column) for column in table.columns] == expected, name
        assert table.n_rows == len(given["number"])


def test_kinds_are_recognised() -> None:
    moment, span = datetime.datetime(2020, 1, 2, 12), datetime.timedelta(hours=6)
    given = dict(zip(VALUES, [[1.5], [2], [True], ["a"], [moment], [span]], strict=True))
    for make in CONTAINERS.values():
        table = read_table(make(given))
        assert [column.kind for column in table.columns] == KINDS
        values = [told(column)[0] for column in table.columns]
        assert values == [1.5, 2.0, 1.0, "a", 18263.5, 0.25]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, float("nan")])
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (2, NUMBER),
        (True, NUMBER),
        (np.float32(2.0), NUMBER),
        (Decimal("2.5"), NUMBER),
        ("a", TEXT),
        (datetime.date(2020, 1, 1), DATETIME),
        (pd.Timestamp(2020, 1, 1, tz="Europe/Berlin"), DATETIME),
        (np.datetime64("2020-01-01"), DATETIME),
        (pd.Timedelta(days=1), DURATION),
    ],
)
def test_all_words_for_missing_are_read(missing: Any, value: Any, kind: str) -> None:
    rows = np.empty((2, 1), dtype=object)
    rows[:, 0] = [value, missing]
    [column] = read_table(rows).columns
    assert column.kind == kind
    assert column.is_missing.tolist() == [False, True]


def test_moments_of_all_zones_and_containers_are_the_same() -> None:
    utc = pd.Series(pd.to_datetime(["2020-01-01 12:00", None]), name="t")
    berlin = utc.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    frames = [utc.to_frame(), berlin.to_frame(), pl.from_pandas(berlin.to_frame())]
    frames += [pa.Table.from_pandas(berlin.to_frame()), berlin.astype(object).to_frame().to_numpy()]
    for frame in frames:
        [column] = read_table(frame).columns
        assert told(column) == [18262.5, None]


def test_dates_and_arrays_of_times_are_read() -> None:
    days = np.array([["2020-01-01", "NaT"]], dtype="M8[D]")
    assert [told(column) for column in read_table(days).columns] == [[18262.0], [None]]
    spans = np.array([[36, 12]], dtype="m8[h]")
    assert [told(column) for column in read_table(spans).columns] == [[1.5], [0.5]]
    dates = pl.DataFrame({"d": [datetime.date(2020, 1, 1), None]})
    assert told(read_table(dates).columns[0]) == [18262.0, None]


def test_intervals_are_told_apart_by_their_text() -> None:
    for more, expected in (([], []), ([np.nan], [None])):
        frame = pd.DataFrame({"bin": pd.cut([1.0, 5.0, 9.0, *more], [0, 4, 10])})
        [column] = read_table(frame).columns
        assert column.is_category
        assert told(column) == ["(0, 4]", "(4, 10]", "(4, 10]", *expected]


DICTIONARY = pa.table({"c": pa.array(["a", None, "b"]).dictionary_encode()})


@pytest.mark.parametrize(
    ("frame", "kind", "expected"),
    [
        (pa.table({"c": pa.array([86400000, None], pa.date64())}), DATETIME, [1.0, None]),
        (
            pd.DataFrame({"c": pd.array([18262, None], dtype=pd.ArrowDtype(pa.date32()))}),
            DATETIME,
            [18262.0, None],
        ),
        (
            pa.table({"c": pa.array([86400000, None], pa.date64())}).to_pandas(
                types_mapper=pd.ArrowDtype
            ),
            DATETIME,
            [1.0, None],
        ),
        (
            pd.DataFrame({"c": pd.to_datetime(["2020-01-01 12:00", None])}).apply(
                lambda times: times.dt.tz_localize("America/New_York")
            ),
            DATETIME,
            [18262.0 + 17 / 24, None],
        ),
        (pd.DataFrame({"c": pd.array([None], dtype=pd.ArrowDtype(pa.null()))}), TEXT, [None]),
        (pa.table({"c": pa.nulls(1)}), TEXT, [None]),
        (pl.DataFrame({"c": [None]}), NUMBER, [None]),
        (pd.DataFrame({"c": pd.arrays.SparseArray([np.nan, 1.0])}), NUMBER, [None, 1.0]),
        (pd.DataFrame({"c": pd.arrays.SparseArray(["a", "b"])}), TEXT, ["a", "b"]),
        (pa.table({"c": pa.array([1, None], pa.decimal256(50, 2))}), NUMBER, [1.0, None]),
        (DICTIONARY.to_pandas(types_mapper=pd.ArrowDtype), TEXT, ["a", None, "b"]),
        (pl.DataFrame({"c": pl.Series([2**100, None], dtype=LONG)}), NUMBER, [2.0**100, None]),
        (pl.DataFrame({"c": pl.Series([-3, 4], dtype=pl.Int128)}), NUMBER, [-3.0, 4.0]),
    ],
)
def test_rare_dtypes_are_read(frame: Any, kind: str, expected: list[Any]) -> None:
    [column] = read_table(frame).columns
    assert column.kind == kind
    assert told(column) == expected


def test_durations_of_numpy_among_objects_are_durations() -> None:
    table = read_table([[np.timedelta64(90, "m")], [None]])
    assert table.columns[0].kind == "duration"
    assert table.columns[0].numbers[0] == 0.0625


def test_numbers_in_lists_of_text_stay_numbers() -> None:
    table = read_table([[1, "a"], [2.5, "b"]])
    assert [told(column) for column in table.columns] == [[1.0, 2.5], ["a", "b"]]


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        ([[1], ["a"]], ValueError, r"column 0 of X mixes number \(1 in row 0\) and text \('a' in"),
        (pd.DataFrame({"l": ["a", np.array([1])]}), TypeError, "type ndarray in row 1"),
        ([["a"], [{"b": 1}]], TypeError, "type dict in row 1, but an argument must be a string or"),
        (pl.DataFrame({"l": [[1], [2]]}), TypeError, "column 0 of X .*List"),
        (pa.table({"l": [{"a": 1}]}), TypeError, "Struct"),
        (pa.table({"b": [b"a"]}), TypeError, "Binary"),
        (pd.DataFrame({"l": [[1], [2]]}), TypeError, "type list in row 0"),
        (
            pd.DataFrame({"p": pd.period_range("2020", periods=2, freq="M")}),
            TypeError,
            r"type Period in row 0, .* try \.dt\.to_timestamp\(\)",
        ),
        (
            pd.DataFrame({"i": pd.interval_range(0, 2)}),
            TypeError,
            r'type Interval in row 0, .* try astype\("category"\)',
        ),
        (np.array([[1j]], dtype=object), ValueError, "Complex data not supported"),
        (sp.csr_matrix((2, 2)), TypeError, "X is sparse, but this model reads categories"),
        ("rows", TypeError, "X is of type str"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(X: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        read_table(X)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.ones((2, 2)), True),
        (np.ones((2, 2), dtype=bool), True),
        ([[1, 2], [3, 4]], True),
        (sp.csr_matrix((2, 2)), True),
        (pd.DataFrame({"a": [1.0, np.nan], "b": [True, False]}), True),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0], fill_value=0.0)}), True),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}), False),  # NaN is not stored
        (pd.DataFrame({"a": pd.arrays.SparseArray(["a", "b"])}), False),
        (pd.DataFrame({"a": np.ones(2, dtype=np.longdouble)}), True),
        (pd.DataFrame({"a": pd.date_range("2020", periods=2, tz="America/New_York")}), False),
        (pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="M")}), False),
        (pd.DataFrame({"a": pd.interval_range(0, 2)}), False),
        (pa.table({"a": pa.array([0], pa.date64())}), False),
        (pl.DataFrame({"a": [1, None]}), True),
        (pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128)}), False),  # numpy has no such
        (pl.DataFrame({"a": [True, None]}), False),
        (pl.DataFrame({"a": [Decimal(1)]}), False),
        (pa.table({"a": [Decimal(1)]}), False),
        (pd.DataFrame({"a": ["x"]}), False),
        (pd.DataFrame({"a": pd.Categorical([1])}), False),
        (np.array([["a"]]), False),
        (np.ones((2, 2), dtype=object), False),
        ([[1, "a"]], False),
        (np.ones(3), True),  # not a table at all: scikit-learn says so
        (None, True),
        ([[1], [2, 3]], True),
    ],
)
def test_numbers_are_told_from_other_columns(X: Any, expected: bool) -> None:
    assert holds_numbers(X) is expected
