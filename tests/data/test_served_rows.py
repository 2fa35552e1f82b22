"""compile() of models of tables: whatever a row comes in, the bits of the estimator."""

from __future__ import annotations

import collections
import datetime
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney
from spinney import MissingValuesWarning, TAOForestClassifier
from tests.data.tables.frames import CONTAINERS, Columns, columns

FOREST = {"max_depth": 3, "max_iter": 1, "random_state": 0, "init": "cart", "alpha": 0.01}
CATEGORIES: list[Any] = ["from_dtype", ["text", "integer"], ["truth", "text", "number"]]


def with_warnings(call: Any) -> tuple[Any, list[str]]:
    """An answer, or what was wrong, and the columns and rows that were warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer = call()
    assert {warning.category for warning in told} <= {MissingValuesWarning}
    return answer, [str(warning.message) for warning in told]


def fitted(train: Columns, categories: Any, *, kind: type = TAOForestClassifier) -> Any:
    """A forest of a table with as many rows as it has, and a target that needs all columns."""
    numbers = [0.0 if value is None else float(value) for value in train["number"]]
    texts = [len(text or "") + 3 * (text in ("a", "é")) for text in train["text"]]
    target = np.array(numbers) + texts > 1
    target[:2] = [True, False]
    model = kind(3, **FOREST, categorical_features=categories)
    return model.fit(CONTAINERS["pandas"](train), target)


def as_rows(table: Columns) -> list[dict[str, Any]]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


@settings(max_examples=60)
@given(columns(4, 20), columns(1, 6), st.sampled_from(CATEGORIES))
def test_dicts_lists_and_frames_have_the_bits_of_the_estimator(
    train: Columns, new: Columns, categories: Any
) -> None:
    model = fitted(train, categories)
    predict = model.compile()
    wanted, told = with_warnings(lambda: model.predict_proba(CONTAINERS["pandas"](new)))
    rows = as_rows(new)
    for given_rows in (rows, [list(row.values()) for row in rows], CONTAINERS["pandas"](new)):
        found, also_told = with_warnings(lambda rows=given_rows: predict.predict_proba(rows))
        assert found.tobytes() == wanted.tobytes()
        assert also_told == told
    for number, row in enumerate(rows):
        for one in (row, list(row.values()), tuple(row.values())):
            found, _ = with_warnings(lambda row=one: predict.predict_proba(row))
            assert found.tobytes() == wanted[number].tobytes()
            label, _ = with_warnings(lambda row=one: predict(row))
            assert label == model.classes_[wanted[number].argmax()]


@settings(max_examples=30)
@given(columns(4, 20), columns(1, 4), st.sampled_from(sorted(CONTAINERS)))
def test_every_container_of_rows_can_be_asked(train: Columns, new: Columns, name: str) -> None:
    model = fitted(train, ["text", "integer"])
    wanted, _ = with_warnings(lambda: model.predict(CONTAINERS["pandas"](new)))
    found, _ = with_warnings(lambda: model.compile()(CONTAINERS[name](new)))
    assert found.tolist() == wanted.tolist()


@settings(max_examples=30)
@given(columns(4, 20), columns(1, 4))
def test_numbers_are_answered_with_the_bits_of_the_estimator(train: Columns, new: Columns) -> None:
    model = fitted(train, "from_dtype", kind=spinney.TAOForestRegressor)
    wanted, _ = with_warnings(lambda: model.predict(CONTAINERS["pandas"](new)))
    predict = pickle.loads(pickle.dumps(model.compile()))
    found, _ = with_warnings(lambda: [predict(row) for row in as_rows(new)])
    assert np.array(found).tobytes() == wanted.tobytes()


@given(columns(4, 20))
def test_rows_without_new_holes_take_the_short_way(train: Columns) -> None:
    model = fitted(train, ["text", "integer"])
    served = model.compile()._served
    had_missing = dict(zip(train, model.typical_.had_missing, strict=True))
    for row in as_rows(train):
        assert served._found(list(row.values())) is not None
        gaps = {name: None if had_missing[name] else value for name, value in row.items()}
        assert served._found(list(gaps.values())) is not None


# --- single rows ----------------------------------------------------------------------------


def table() -> pd.DataFrame:
    places = np.arange(90)
    return pd.DataFrame(
        {
            "age": places % 17 + 20.5,
            "size": np.where(places % 5 == 0, np.nan, places % 13),
            "job": np.array(["cook", "smith", "clerk"])[places % 3],
            "town": [f"town {place % 9}" for place in places],
            "member": places % 2 == 0,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(places, "D"),
            "away": pd.to_timedelta(places % 7, "h"),
        }
    )


@pytest.fixture(scope="module")
def model() -> Any:
    X = table()
    wanted = np.where((X.age > 28) ^ (X.job == "cook"), "yes", "no")
    return TAOForestClassifier(3, max_depth=3, random_state=0).fit(X, wanted)


def row(**changes: Any) -> dict[str, Any]:
    since, away = datetime.datetime(2020, 2, 1), datetime.timedelta(hours=3)
    names = ["age", "size", "job", "town", "member", "since", "away"]
    values = [31.0, 4.0, "cook", "town 3", True, since, away]
    return {**dict(zip(names, values, strict=True)), **changes}


def frame(given_row: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({name: [value] for name, value in given_row.items()})


@pytest.mark.parametrize(
    "changes",
    [
        {"age": 31},
        {"age": np.float32(0.1)},
        {"age": np.int8(3)},
        {"age": True},
        {"size": None},
        {"size": float("nan")},
        {"size": np.nan},
        {"job": "pilot"},
        {"town": "elsewhere"},
        {"member": 0},
        {"member": np.True_},
        {"since": datetime.date(2020, 3, 1)},
        {"since": datetime.datetime(1950, 3, 1, 12, 30, 15, 17)},
        {
            "since": datetime.datetime(
                2020, 3, 1, tzinfo=datetime.timezone(datetime.timedelta(0, 60))
            )
        },
        {"since": pd.Timestamp("2020-05-01 10:00")},
        {"since": np.datetime64("2020-05-01")},
        {"away": pd.Timedelta(hours=7)},
        {"away": np.timedelta64(90, "m")},
    ],
    ids=str,
)
def test_values_of_any_type_are_read_as_in_a_frame(model: Any, changes: dict[str, Any]) -> None:
    given_row = row(**changes)
    wanted = model.predict_proba(frame(given_row))[0]
    predict = model.compile()
    assert np.array_equal(predict.predict_proba(given_row), wanted)
    assert np.array_equal(predict.predict_proba(list(given_row.values())), wanted)


def test_new_holes_warn_once_a_call_and_point_at_the_user(model: Any) -> None:
    gaps = row(age=None, job=pd.NA, since=pd.NaT)
    predict = model.compile()
    text = r"\(age\) in 1 row, column 2 of X \(job\) in 1 row, column 5 of X \(since\) in 1 row;"
    for given_rows in (gaps, list(gaps.values())):
        with pytest.warns(MissingValuesWarning, match=text) as told:
            predict(given_rows)
        assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(MissingValuesWarning, match=r"\(age\) in 2 rows"):
        predict([gaps, row(), gaps])


@pytest.mark.parametrize(
    ("given_row", "text"),
    [
        (row(age="31"), r"column 0 of X \(age\) holds text \('31' in row 0\) but held number"),
        (row(age=np.inf), r"Input X contains infinity or a value too large: column 0 of X \(age\)"),
        (row(age=1e39), r"value too large: column 0 of X \(age\)"),
        (row(job=3), r"column 2 of X \(job\) holds number \(3.0 in row 0\) but held text"),
        (row(since="2020-01-01"), r"\(since\) holds text .* but held datetime in training"),
        (row(away=3.0), r"\(away\) holds number .* but held duration in training"),
        ({"age": 3.0, "job": "cook"}, r"x lacks 'size', 'town', 'member' and 2 more; give a value"),
        (row(wage=3, AGE=4), r"x holds 'wage', 'AGE', which is no column; give a value for each"),
        ([31.0, 4.0, "cook"], r"x has shape \(3,\); give a row of 7 values, in the order"),
        ([], r"x has shape \(0,\); give a row of 7 values"),
        ([list(row().values()), "seventy"], r"x has shape \(\); give a row of 7"),
        ([np.zeros((1, 7))], r"x has shape \(1, 1, 7\); give a row of 7"),
        ([row(), list(row().values())], "is of type list among dicts; give rows of one kind"),
        ([[1.0], [2.0]], r"x has shape \(1,\); give a row of 7"),
        ("cook", "x is of type str; give a dict, a list, an array or a frame"),
        (3.0, "x is of type float; give a dict, a list, an array or a frame"),
    ],
)
def test_wrong_rows_are_refused_aloud(model: Any, given_row: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        model.compile()(given_row)


def test_complex_and_nested_values_are_refused(model: Any) -> None:
    for value in (1j, [1.0], {"a": 1}, b"cook"):
        with pytest.raises((TypeError, ValueError)):
            model.compile()(row(age=value))


def test_a_dict_may_come_in_any_order_and_be_any_mapping(model: Any) -> None:
    predict, plain = model.compile(), row()
    shuffled = dict(reversed(plain.items()))
    wanted = predict.predict_proba(plain)
    assert np.array_equal(predict.predict_proba(shuffled), wanted)
    assert np.array_equal(predict.predict_proba(collections.ChainMap(plain)), wanted)
    assert np.array_equal(predict.predict_proba(pd.Series(plain)), wanted)
    assert np.array_equal(predict.predict_proba(pl.DataFrame([plain])), wanted[None, :])
    assert np.array_equal(predict.predict_proba(pa.Table.from_pylist([plain])), wanted[None, :])


def test_dicts_need_names() -> None:
    X = table().to_numpy(dtype=object)
    predict = (
        TAOForestClassifier(2, max_depth=2, random_state=0).fit(X, np.arange(90) % 2).compile()
    )
    with pytest.raises(
        ValueError, match="x is a dict, but the model was fitted to columns without"
    ):
        predict(row())
    assert predict(X[0]) == predict(X[:1])[0] == predict(X[0].tolist())


def test_plain_numbers_take_dicts_too() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    model = TAOForestClassifier(2, max_depth=2, random_state=0).fit(X, X.a > X.b)
    predict = model.compile()
    rows = X.to_dict("records")
    assert predict(rows).tolist() == [predict(row) for row in rows] == model.predict(X).tolist()
    assert predict(X.astype("Float64")).tolist() == model.predict(X).tolist()
    with pytest.warns(MissingValuesWarning, match=r"column 1 of X \(b\) in 1 row"):
        predict({"a": 1, "b": None, "c": 2})
    with pytest.raises(ValueError, match="x lacks 'b'"):
        predict({"a": 1, "c": 2})


def test_numbers_as_levels_can_be_given_as_an_array() -> None:
    X = np.column_stack([np.arange(60) % 5, np.arange(60) / 7])
    model = TAOForestClassifier(2, max_depth=3, categorical_features=[0], random_state=0)
    predict = model.fit(X, np.arange(60) % 5 > 2).compile()
    new = np.array([[7.0, 3.0], [-0.0, 1.0], [4.0, 0.5]])
    wanted = model.predict_proba(new)
    assert np.array_equal(predict.predict_proba(new), wanted)
    assert np.array_equal([predict.predict_proba(row) for row in new], wanted)
    assert np.array_equal(predict.predict_proba(new.tolist()), wanted)


def test_refined_forests_of_tables_are_compiled(model: Any) -> None:
    X = table()
    refined = spinney.refine_leaves(model, X, model.predict(X))
    predict = refined.compile()
    found = np.array([predict.predict_proba(row) for row in X.to_dict("records")])
    assert np.array_equal(found, predict.predict_proba(X))
    assert found == pytest.approx(refined.predict_proba(X), abs=1e-12)
