"""Splits of one column say which values go right, as predictions send them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.data import as_rows
from spinney.data.tables import read_table
from spinney.tree import count_parameters
from spinney.tree.column_splits import SetSplit, ThresholdSplit, column_split, n_columns_read
from spinney.tree.route import apply
from tests.column_trees import EVERY_KIND, column_tree, encoding, set_of, table

COORDINATES = encoding().coordinates
NAMES = [part.name for part in COORDINATES]
KINDS_OF = {name: part.kind for name, part in zip(NAMES, COORDINATES, strict=True)}


def read(weights, bias):
    """The split of these weights by coordinate name."""
    return column_split(column_tree([(weights, bias)]), 0, encoding())


def goes_right(weights, bias, column, values):
    """Sides of values of a column, as predicted."""
    frame = table().iloc[: len(values)].copy()
    frame[column] = values
    rows = encoding().encode(read_table(frame))
    return (apply(column_tree([(weights, bias)]), as_rows(rows)) == 2).tolist()


def weights_of(column):
    """Weights of some coordinates of a column that all are indicators."""
    own = [name for name in NAMES if name == f"{column} is missing" or f"{column} " in name]
    some = st.lists(st.sampled_from(own), min_size=1, unique=True)
    sizes = st.sampled_from([-2.0, -1.0, -0.25, 0.25, 1.0, 2.0])
    return some.flatmap(lambda names: st.fixed_dictionaries(dict.fromkeys(names, sizes)))


biases = st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0])


@given(st.sampled_from(["color", "tool"]), st.data(), biases)
@settings(max_examples=150, deadline=None)
def test_sets_send_every_value_where_predictions_do(column, data, bias):
    weights = data.draw(weights_of(column))
    levels = list(encoding().levels[list(table()).index(column)].own)
    values = pd.Series([*levels, "never seen", None], dtype=object)
    sides = goes_right(weights, bias, column, values)
    split = read(weights, bias)
    if split is None:
        told = sides if encoding().has_missing[list(table()).index(column)] else sides[:-1]
        assert len(set(told)) == 1
        return
    assert isinstance(split, SetSplit)
    expected = dict(zip(levels, sides, strict=False))
    assert split.right == tuple(level for level in levels if expected[level])
    assert split.left == tuple(level for level in levels if not expected[level])
    assert [split.others_go_right, split.missing_goes_right] == sides[-2:]


@given(
    st.sampled_from(["age", "since"]),
    st.sampled_from([-2.0, -1.0, 1.0, 3.0]),
    st.sampled_from([None, -1e5, -30.0, -0.5, 0.5, 30.0, 1e5]),
    st.integers(-500, 500).map(float),
)
@settings(max_examples=100, deadline=None)
def test_thresholds_send_every_value_where_predictions_do(column, weight, flag, bias):
    weights = {column: weight} | ({} if flag is None else {f"{column} is missing": flag})
    split = read(weights, bias)
    assert isinstance(split, ThresholdSplit)
    assert split.coordinate.name == column
    frame = table()
    [missing] = goes_right(weights, bias, column, frame[column][frame[column].isna()].iloc[:1])
    assert split.missing_goes_right == missing
    values = frame[column].dropna().iloc[:100]
    numbers = values.to_numpy()
    if column == "since":
        numbers = (values - pd.Timestamp("1970-01-01")).dt.days - split.coordinate.origin
    is_far = np.abs(numbers - split.threshold) > 1e-3
    above = numbers > split.threshold
    sides = np.array(goes_right(weights, bias, column, values.reset_index(drop=True)))
    np.testing.assert_array_equal((above == split.is_right_above)[is_far], sides[is_far])


def test_a_missing_level_has_the_mean_of_missing_values():
    levels = encoding().levels[list(table()).index("city")]
    mean = float(levels.means[len(levels.known), 0])
    for bias in (-mean - 0.01, -mean + 0.01):
        split = read({"mean target of city": 1.0}, bias)
        assert not split.has_missing
        assert split.missing_goes_right == (mean + bias >= 0)


def test_a_set_lists_the_side_that_other_values_do_not_take():
    kept = read(*set_of("color = blue", "color = red"))
    assert (kept.listed, kept.others_go_right, kept.parts_missing) == (
        ("blue", "red"),
        False,
        False,
    )
    dropped = read(*set_of("color = pink", "color is missing", sign=-1.0))
    assert (dropped.listed, dropped.others_go_right, dropped.parts_missing) == (
        ("pink",),
        True,
        True,
    )
    pooled = read(*set_of("tool = axe", "tool is another"))
    assert (pooled.listed, pooled.others_go_right) == (("file", "saw"), True)
    assert read(*set_of("tool is another")).parts_others


def test_a_flag_alone_asks_for_missing_values():
    for column in ("age", "color"):
        split = read(*set_of(f"{column} is missing"))
        assert isinstance(split, SetSplit)
        assert split.listed == ()
        assert split.parts_missing
        assert not split.parts_others


@pytest.mark.parametrize(
    ("weights", "bias"),
    [
        ({}, 0.5),
        ({"age": 1.0, "size": 1.0}, 0.0),
        ({"age is missing": 1.0, "color is missing": 1.0}, -0.5),
        (dict.fromkeys(["color = blue", "color = red"], 1.0), 0.5),
        ({"color = blue": 1.0}, -1.5),
    ],
    ids=["no weight", "two numbers", "two flags", "all right", "all left"],
)
def test_other_hyperplanes_are_no_splits_of_a_column(weights, bias):
    assert read(weights, bias) is None


def test_columns_of_a_split_are_counted():
    splits = [*EVERY_KIND[:2], ({"age": 1.0, "age is missing": 2.0, "size": 1.0}, 0.0)]
    tree = column_tree(splits)
    assert n_columns_read(tree, encoding().columns).tolist() == [1, 1, 2, 0, 0, 0, 0]
    assert n_columns_read(tree).tolist() == [2, 2, 3, 0, 0, 0, 0]


def test_a_set_counts_its_weights_and_its_bias():
    tree = column_tree([set_of("color = blue", "color = red", "color is missing")])
    assert count_parameters(tree) == 3 + 1 + 2
