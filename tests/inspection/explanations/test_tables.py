"""Rows of frames: whole levels, whole numbers, dates and holes, in the container they came in."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spinney import TAOForestClassifier, TAOTreeClassifier, explain, nearest_change
from spinney.inspection.explanations import level_settings

N_ROWS = 240
#: A row that other levels alone bring to another class, in both models.
ROW = 36


def table():
    """Numbers, whole numbers, truth, categories of few and of many levels, dates and holes."""
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 2000, N_ROWS), unit="D")
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, N_ROWS),
            "income": rng.normal(50, 15, N_ROWS),
            "job": pd.Categorical(rng.choice(["clerk", "cook", "smith"], N_ROWS)),
            "city": rng.choice(list("abcdefgh"), N_ROWS),
            "owner": rng.random(N_ROWS) < 0.5,
            "since": pd.Timestamp("2020-01-01") + days,
            "debt": np.where(rng.random(N_ROWS) < 0.3, np.nan, rng.normal(10, 5, N_ROWS)),
        }
    )


def labels(frame):
    score = (
        (frame["income"] - 50) / 15
        + (frame["job"] == "cook") * 1.5
        + frame["owner"] * 1.0
        - (frame["age"] - 50) / 20
        + (frame["city"] < "c") * 1.0
        - frame["debt"].fillna(20) / 10
        + (frame["since"] - pd.Timestamp("2022-06-01")).dt.days / 800
    )
    return np.where(score > 0, "yes", "no")


def fitted_tree(frame=None):
    frame = table() if frame is None else frame
    return TAOTreeClassifier(max_depth=3, random_state=0).fit(frame, labels(table()))


MODELS = {
    "tree": fitted_tree(),
    "forest": TAOForestClassifier(3, max_depth=3, random_state=0).fit(table(), labels(table())),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
QUESTIONS = {
    "any": {},
    "categories": {"features": ["job", "city"]},
    "whole numbers": {"features": ["age", "owner"]},
    "dates": {"features": ["since"]},
    "one column": {"max_changes": 1},
    "l1 within data": {"norm": "l1", "bounds": "data"},
}


@each_model
@pytest.mark.parametrize("options", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_changed_frame_has_its_dtypes_and_another_prediction(model, options):
    frame = table()
    row = frame.iloc[[ROW]]
    change = nearest_change(model, row, data=frame, **options)
    assert change.is_found
    assert model.predict(change.changed)[0] == change.new_prediction != model.predict(row)[0]
    pd.testing.assert_series_equal(change.changed.dtypes, row.dtypes)
    assert change.changed.index.tolist() == row.index.tolist()
    moved = [name for name in frame if not change.changed[name].equals(row[name])]
    assert sorted(moved) == sorted(one.column for one in change.changes)
    assert set(moved) <= set(options.get("features", frame.columns))
    pd.testing.assert_frame_equal(row, table().iloc[[ROW]])


def test_categories_change_to_whole_levels_and_no_other_is_cheaper():
    model, frame = MODELS["tree"], table()
    row = frame.iloc[[ROW]]
    change = nearest_change(model, row, features=["job", "city"])
    assert change.is_exact
    present = model.predict(row)[0]
    costs = []
    for job in ("clerk", "cook", "smith"):
        for city in "abcdefgh":
            other = row.assign(city=city, job=pd.Categorical([job], row["job"].cat.categories))
            if model.predict(other)[0] != present:
                n_changed = (job != row["job"].iloc[0]) + (city != row["city"].iloc[0])
                costs.append(np.sqrt(n_changed))
    assert change.cost == pytest.approx(min(costs))


def test_levels_and_numbers_are_weighed_against_each_other():
    model, frame = MODELS["tree"], table()
    dear = {"job": 0.001, "city": 0.001}
    cheap = {"job": 1000.0, "city": 1000.0}
    row = frame.iloc[[ROW]]
    numbers = nearest_change(model, row, data=frame, scale=dear)
    assert {one.column for one in numbers.changes}.isdisjoint({"job", "city"})
    levels = nearest_change(model, row, data=frame, scale=cheap)
    assert levels.cost < numbers.cost
    assert {one.column for one in levels.changes} & {"job", "city"}


def test_levels_can_be_limited():
    model, row = MODELS["tree"], table().iloc[[5]]
    change = nearest_change(model, row, features=["city"], bounds={"city": ["b", "c", "d"]})
    assert change.changed["city"].iloc[0] in ("b", "d")
    with pytest.raises(ValueError, match="names the level 'z'"):
        nearest_change(model, row, features=["city"], bounds={"city": ["z"]})


def test_too_many_combinations_are_not_called_exact(monkeypatch):
    monkeypatch.setattr(level_settings, "MOST_COMBINATIONS", 4)
    change = nearest_change(MODELS["tree"], table().iloc[[ROW]], features=["job", "city"])
    assert not change.is_exact


def test_holes_stay_holes():
    model, frame = MODELS["tree"], table()
    row = frame[frame["debt"].isna()].iloc[[0]]
    change = nearest_change(model, row, data=frame)
    assert change.changed["debt"].isna().all()
    with pytest.raises(ValueError, match="'debt', which is missing in x"):
        nearest_change(model, row, features=["debt"])


def test_a_missing_category_may_become_a_level():
    frame = pd.DataFrame({"job": ["cook", "smith", None] * 30})
    model = TAOTreeClassifier(max_depth=2, random_state=0).fit(frame, [1, 0, 0] * 30)
    change = nearest_change(model, frame.iloc[[2]])
    assert change.changed["job"].tolist() == ["cook"]
    assert change.changes[0].before is None or change.changes[0].before != change.changes[0].before
    assert "job: missing -> cook" in str(change)
    assert "<td>missing</td>" in change._repr_html_()


def test_dates_keep_to_bounds_and_zones():
    frame = table()[["since"]]
    y = (frame["since"] >= pd.Timestamp("2023-01-01")).astype(int)
    zoned = frame.assign(since=frame["since"].dt.tz_localize("Europe/Madrid"))
    model = TAOTreeClassifier(max_depth=1, random_state=0).fit(zoned, y)
    row = zoned[(y == 0).to_numpy()].iloc[[0]]
    change = nearest_change(model, row)
    assert change.changed.dtypes.equals(row.dtypes)
    assert model.predict(change.changed)[0] == 1
    assert f"since: {row['since'].iloc[0].date()} -> 2022-12-" in str(change)
    assert str(change).endswith(" days)")
    bound = change.changed["since"].iloc[0] - pd.Timedelta(days=1)
    none = nearest_change(model, row, bounds={"since": (None, bound.to_pydatetime())})
    assert not none.is_found
    assert none.is_exact


def test_days_without_a_time_change_by_whole_days():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k) for k in range(60)]
    frame = pl.DataFrame({"day": days})
    model = TAOTreeClassifier(max_depth=1, random_state=0).fit(frame, [0] * 30 + [1] * 30)
    change = nearest_change(model, frame[10:11])
    assert change.changed.schema == frame.schema
    assert model.predict(change.changed)[0] == 1
    assert change.changes[0].difference == float(round(change.changes[0].difference))


@pytest.mark.parametrize("name", ["polars", "arrow", "objects", "series", "list"])
def test_a_row_comes_back_in_its_container(name):
    frame = table()
    model = fitted_tree()
    if name == "series":
        row, kind = frame.iloc[ROW], pd.Series
        predicted = lambda changed: model.predict(changed.to_frame().T.infer_objects())  # noqa: E731
    elif name == "polars":
        X = pl.from_pandas(frame)
        model, row, kind, predicted = fitted_tree(X), X[ROW : ROW + 1], pl.DataFrame, None
    elif name == "arrow":
        X = pa.Table.from_pandas(frame, preserve_index=False)
        model, row, kind, predicted = fitted_tree(X), X.slice(ROW, 1), pa.Table, None
    else:
        X = frame.astype(object).to_numpy()
        model = fitted_tree(X)
        row, kind = (X[ROW], np.ndarray) if name == "objects" else (X[ROW].tolist(), list)
        predicted = lambda changed: model.predict(np.array([changed], dtype=object))  # noqa: E731
    for features in (None, ["since", "job"] if name in ("polars", "arrow", "series") else [2, 5]):
        change = nearest_change(model, row, scale=1.0, features=features)
        assert isinstance(change.changed, kind)
        said = (predicted or model.predict)(change.changed)[0]
        assert said == change.new_prediction != change.prediction


def test_an_explanation_speaks_of_levels_and_holes():
    frame = table()
    row = frame[frame["debt"].isna()].iloc[[0]]
    why = explain(MODELS["tree"], row)
    names = {part.name for step in why.trees[0].steps for part in step.contributions}
    assert "debt is missing" in names
    assert {column.column for column in why.features} <= set(frame.columns)
    assert "[debt is missing]" in why.text(max_terms=20)
