"""A table becomes the coordinates that its encoding describes, in every container."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.data.tables import (
    Table,
    TableEncoding,
    category_mask,
    encode_training,
    learn_matrix,
    learn_table,
    read_table,
)
from tests.data.tables.frames import CONTAINERS, Columns, as_arrow, as_objects, as_pandas, columns
from tests.data.tables.test_table import told
from tests.reference import encode_value
from tests.strategies import quarters


def learn(X: Any, y: Any = None, **options: Any) -> TableEncoding:
    table = X if isinstance(X, Table) else read_table(X)
    targets = np.arange(table.n_rows) % 2.0 if y is None else np.asarray(y, dtype=float)
    return learn_table(
        table,
        category_mask("from_dtype", table),
        targets.reshape(table.n_rows, -1),
        np.ones(table.n_rows),
        **options,
    )


@settings(max_examples=15)
@given(columns(), columns())
def test_containers_give_the_same_encoding_and_the_same_rows(fit: Columns, other: Columns) -> None:
    # A list or object array of nothing but None has no kind; its rows are those of any.
    expected = learn(as_arrow(fit))
    rows = expected.encode(read_table(as_arrow(other)))
    for name, make in CONTAINERS.items():
        encoding = learn(make(fit))
        assert encoding == expected, name
        assert encoding.encode(read_table(make(other))).tobytes() == rows.tobytes(), name


@settings(max_examples=40)
@given(columns(), columns(), st.sampled_from([0, 1, 2, 30]))
def test_rows_are_what_the_coordinates_say(fit: Columns, other: Columns, most_levels: int) -> None:
    encoding = learn(as_arrow(fit), most_levels=most_levels)
    table = read_table(as_arrow(other))
    rows = encoding.encode(table)
    assert rows.dtype == np.float32
    assert rows.shape == (table.n_rows, len(encoding.coordinates))
    values = [told(column) for column in table.columns]
    for place, coordinate in enumerate(encoding.coordinates):
        said = [encode_value(encoding, coordinate, v) for v in values[coordinate.column]]
        assert rows[:, place].tolist() == said, coordinate
    assert encoding.columns.tolist() == [c.column for c in encoding.coordinates]
    assert len({c.name for c in encoding.coordinates}) == encoding.n_coordinates


holed = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 12), st.integers(1, 5)),
    elements=quarters | st.just(0.0) | st.just(np.nan),
)


@given(holed, st.data())
def test_arrays_and_sparse_rows_are_encoded_alike(X: Any, data: Any) -> None:
    weights = data.draw(hnp.arrays(np.float64, len(X), elements=st.integers(1, 4)))
    targets = data.draw(hnp.arrays(np.float64, (len(X), 2), elements=quarters))
    encoding = learn_matrix(X, targets, weights)
    assert learn_matrix(sp.csr_matrix(X), targets, weights) == encoding
    rows = encoding.encode(X)
    sparse = encoding.encode(sp.csr_matrix(X))
    assert sparse.has_canonical_format
    assert sparse.toarray().tobytes() == (rows + 0.0).tobytes()
    table = read_table(X)
    assert learn_table(table, np.zeros(X.shape[1], bool), targets, weights) == encoding
    assert encoding.encode(table).tobytes() == rows.tobytes()
    assert np.isfinite(rows).all()


@given(holed)
def test_weight_k_is_a_row_repeated_k_times(X: Any) -> None:
    weights, targets = np.arange(1, len(X) + 1), np.arange(len(X))[:, None] % 3.0
    repeated, as_often = (np.repeat(values, weights, axis=0) for values in (X, targets))
    one = learn_matrix(X, targets, weights.astype(float))
    assert one == learn_matrix(repeated, as_often, np.ones(len(repeated)))


def test_missing_numbers_are_filled_with_the_mean_and_flagged() -> None:
    X = np.array([[1.0, 5.0], [np.nan, 6.0], [4.0, 7.0]], dtype=np.float32)
    encoding = learn_matrix(X, np.array([[0.0], [1.0], [0.0]]), np.array([1.0, 1.0, 2.0]))
    assert [c.name for c in encoding.coordinates] == ["x0", "x0 is missing", "x1"]
    assert encoding.encode(X).tolist() == [[1, 0, 5], [3, 1, 6], [4, 0, 7]]
    # A column without holes in training has no flag, but a mean to fill them with.
    assert encoding.encode(X[:, ::-1])[1].tolist() == [6, 0, 6.25]


def test_holes_that_tell_nothing_of_the_target_have_no_flag() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)).astype(np.float32)
    targets = rng.normal(size=(4000, 1))
    X[rng.random(4000) < 0.3, 0] = np.nan
    X[(rng.random(4000) < 0.3) & (targets[:, 0] > 0), 1] = np.nan
    for weights in (np.ones(4000), np.full(4000, 1e-6)):
        encoding = learn_matrix(X, targets, weights)
        assert [c.name for c in encoding.coordinates] == ["x0", "x1", "x1 is missing"]
        assert np.isfinite(encoding.encode(X)).all()


def test_missing_values_of_many_levels_have_a_mean_and_no_flag() -> None:
    rows = [[level] for level in "abcdef"] * 10 + [[None]] * 10
    y = np.array([0.0] * 60 + [1.0] * 10)
    encoding = learn(rows, y)
    assert [coordinate.kind for coordinate in encoding.coordinates] == ["target_mean"]
    means = encoding.encode(read_table([[None], ["a"], ["unseen"]]))[:, 0]
    assert means[1] < means[2] < means[0]


def test_columns_without_a_value_are_one_constant_coordinate() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "none": [np.nan, np.nan], "text": [None, None]})
    for X in (frame, frame.to_numpy(dtype=object)):
        encoding = learn(X)
        assert [c.kind for c in encoding.coordinates] == ["number", "is_missing", "is_missing"]
        assert encoding.encode(read_table(X)).tolist() == [[1, 1, 1], [2, 1, 1]]
    later = pd.DataFrame({"a": [1.0], "none": ["now a text"], "text": [3.0]})
    assert encoding.encode(read_table(later)).tolist() == [[1, 0, 0]]


def test_levels_become_coordinates() -> None:
    encoding = learn([["b"], ["a"], ["b"], [None]])
    names = [coordinate.name for coordinate in encoding.coordinates]
    assert names == ["x0 = a", "x0 = b", "x0 is missing"]
    rows = encoding.encode(read_table([["a"], ["b"], [None], ["unseen"]]))
    assert rows.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_rare_and_unseen_levels_are_one_coordinate() -> None:
    encoding = learn([["a"]] * 500 + [["b"]] * 400 + [["c"]])
    assert [c.name for c in encoding.coordinates] == ["x0 = a", "x0 = b", "x0 is another"]
    rows = encoding.encode(read_table([["c"], ["unseen"], [None]]))
    assert rows.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]


def test_dates_are_days_since_the_first() -> None:
    days = [datetime.datetime(2020, 3, day, 18) for day in (5, 1, 3)]
    encoding = learn(pd.DataFrame({"t": days}))
    [coordinate] = encoding.coordinates
    assert coordinate.kind == "datetime"
    assert coordinate.origin == (datetime.date(2020, 3, 1) - datetime.date(1970, 1, 1)).days
    assert encoding.encode(read_table(pd.DataFrame({"t": days})))[:, 0].tolist() == [
        4.75,
        0.75,
        2.75,
    ]


def test_equal_names_are_told_apart() -> None:
    frame = pd.DataFrame({"a = b": ["c", "d"], "a": ["b = c", "e"]})
    encoding = learn(read_table(frame, list(frame.columns)))
    names = [coordinate.name for coordinate in encoding.coordinates]
    assert names == ["a = b = c", "a = b = d", "a = b = c (2)", "a = e"]


@pytest.mark.parametrize(
    ("trained", "given", "text"),
    [
        (
            [[1.0]],
            [["a"]],
            r"column 0 of X holds text \('a' in row 0\) but held number in training",
        ),
        ([["a"]], [[1.0]], r"holds number \(1.0 in row 0\) but held text"),
        ([[datetime.date(2020, 1, 1)]], [[1.0]], "holds number .* but held datetime"),
        ([[1.0]], [[datetime.date(2020, 1, 1)]], "holds datetime .* but held number"),
        ([[1.0], [None]], [[np.inf]], "contains infinity .* column 0 of X holds inf in row 0"),
        ([[1.0], [None]], [[1e39]], r"value too large: column 0 of X holds 1e\+39 in row 0"),
    ],
)
def test_other_kinds_and_infinite_values_are_refused(trained: Any, given: Any, text: str) -> None:
    trained, given = (np.array(rows, dtype=object) for rows in (trained, given))
    encoding = learn(trained)
    with pytest.raises(ValueError, match=text):
        encoding.encode(read_table(given))


def test_infinite_numbers_are_refused_in_training() -> None:
    for values in ([np.inf, 1.0], [1.0, -1e39]):
        with pytest.raises(ValueError, match="infinity or a value too large: column 0 of X"):
            learn(pd.DataFrame({"a": values, "b": ["x", "y"]}))


@settings(max_examples=40)
@given(columns(min_rows=6))
def test_training_rows_differ_in_means_alone(given: Columns) -> None:
    table = read_table(as_objects(given))
    targets, weights = np.arange(table.n_rows, dtype=float)[:, None], np.ones(table.n_rows)
    encoding = learn(table, targets, most_levels=2)
    rows, trained = encoding.encode(table), encode_training(encoding, table, targets, weights)
    is_mean = np.array([c.kind == "target_mean" for c in encoding.coordinates])
    assert np.array_equal(rows[:, ~is_mean], trained[:, ~is_mean])


@settings(max_examples=20)
@given(columns(min_rows=4))
def test_order_of_rows_to_encode_changes_nothing(given: Columns) -> None:
    encoding = learn(as_pandas(given))
    rows = encoding.encode(read_table(as_pandas(given)))
    order = np.random.default_rng(0).permutation(len(rows))
    shuffled = encoding.encode(read_table(as_pandas(given).iloc[order]))
    assert np.array_equal(shuffled, rows[order])


def test_encodings_are_pickled_without_what_they_remember() -> None:
    encoding = learn([["a"], ["b"]])
    assert len(encoding.coordinates) == 2
    copied = pickle.loads(pickle.dumps(encoding))
    assert copied == encoding
    assert "coordinates" not in vars(copied)
    assert encoding != learn([["a"], ["c"]])
    assert encoding != "something else"
