"""Axis-aligned splits of every family read one column of a table: sets of levels and holes too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import spinney
from spinney.tree.column_splits import SetSplit, column_split

FAMILIES = [
    spinney.TAOTreeClassifier(max_depth=3, split="axis"),
    spinney.TAOForestClassifier(3, max_depth=3, split="axis"),
    spinney.TAOBoostClassifier(3, max_depth=3, split="axis"),
    spinney.TAOGradientBoostingClassifier(3, max_depth=3, split="axis"),
    spinney.FAOForestClassifier(1, 3, max_depth=3, split="axis"),
    spinney.GreedyForestClassifier(3, max_depth=4, split="axis", max_features=1.0),
]
all_families = pytest.mark.parametrize("model", FAMILIES, ids=lambda m: type(m).__name__)


@pytest.fixture(scope="module")
def table():
    """A class that depends on a set of colours, and on a number through its holes as well."""
    rng = np.random.default_rng(0)
    n_rows = 600
    color = rng.choice(["blue", "green", "red", "white"], n_rows)
    size = rng.normal(size=n_rows)
    is_missing = rng.random(n_rows) < 0.3
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n_rows),
            "color": pd.Series(color).mask(rng.random(n_rows) < 0.1),
            "size": np.where(is_missing, np.nan, size),
        }
    )
    is_warm = np.isin(frame["color"], ["red", "blue"])
    is_large = is_missing | (size > 0.4)
    return frame, np.where(is_warm & is_large, "yes", "no")


def splits_of(model):
    for tree in model.trees_:
        for node in np.flatnonzero(tree.left >= 0):
            yield tree, node, column_split(tree, node, model.encoding_)


@all_families
def test_every_split_reads_one_column_of_the_table(model, table):
    frame, y = table
    model = clone(model).set_params(random_state=0).fit(frame, y)
    found = [split for _, _, split in splits_of(model)]
    assert None not in found
    sets = [
        s for s in found if isinstance(s, SetSplit) and model.encoding_.names[s.column] == "color"
    ]
    assert any({"red", "blue"} in (set(s.right), set(s.left)) for s in sets)
    of_size = [s for s in found if model.encoding_.names[s.column] == "size"]
    # Either in one split, or missing values by themselves before the others are parted.
    assert any(isinstance(s, SetSplit) or s.missing_goes_right == s.is_right_above for s in of_size)
    assert model.score(frame, y) > 0.97


@all_families
def test_jobs_files_and_served_rows_say_the_same(model, table, tmp_path):
    frame, y = table
    model = clone(model).set_params(random_state=0).fit(frame, y)
    proba = model.predict_proba(frame)
    again = clone(model).set_params(n_jobs=2).fit(frame, y)
    assert np.array_equal(again.predict_proba(frame), proba)
    spinney.save(model, tmp_path / "model.spinney")
    assert np.array_equal(spinney.load(tmp_path / "model.spinney").predict_proba(frame), proba)
    predict = model.compile()
    rows = frame.head(20).to_dict("records")
    assert [predict(row) for row in rows] == model.predict(frame.head(20)).tolist()


def test_text_tells_sets_and_holes(table):
    frame, y = table
    tree = spinney.TAOTreeClassifier(max_depth=2, split="axis", random_state=0).fit(frame, y)
    text = spinney.export_text(tree)
    assert "{blue, red}" in text
    assert "missing" in text


@pytest.mark.parametrize("feature_sampling", ["local", "global"])
def test_drawn_coordinates_bring_their_columns(table, feature_sampling):
    frame, y = table
    forest = spinney.TAOForestClassifier(
        8, max_depth=4, split="axis", max_features=3, feature_sampling=feature_sampling,
        random_state=0,
    ).fit(frame, y)  # fmt: skip
    assert all(split is not None for _, _, split in splits_of(forest))
    assert forest.score(frame, y) > 0.85  # some trees may read none of the two columns
