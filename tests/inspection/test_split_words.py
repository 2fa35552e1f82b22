"""Splits of one column in words: sets, thresholds and missing values."""

from __future__ import annotations

import pytest

from spinney.inspection.fitted_model import fitted_model
from spinney.inspection.split_words import SplitWords, _level_text, split_words, words_of_tree
from tests.column_trees import EVERY_KIND, set_of, tree_model
from tests.compat.models import small_model


def said(weights, bias):
    """The words of one split."""
    model = tree_model((weights, bias))
    words = split_words(fitted_model(model), model.tree_, 0, "{:g}".format)
    return None if words is None else words.text()


@pytest.mark.parametrize(
    ("split", "text"),
    [
        (set_of("color = blue", "color = red"), "color in {blue, red}"),
        (set_of("color = blue", "color = red", sign=-1.0), "color not in {blue, red}"),
        (set_of("color = red", "color is missing"), "color is missing or in {red}"),
        (
            set_of("color = blue", "color = red", "color is missing", sign=-1.0),
            "color is neither missing nor in {blue, red}",
        ),
        (set_of("color = red"), "color = red"),
        (set_of("color = red", sign=-1.0), "not [color = red]"),
        (set_of("code = 2"), "code = 2"),
        (set_of("color is missing"), "color is missing"),
        (set_of("color is missing", sign=-1.0), "not [color is missing]"),
        (set_of("age is missing"), "age is missing"),
        (set_of("age is missing", sign=-1.0), "not [age is missing]"),
        (set_of("tool is another"), "tool is another"),
        (set_of("tool is another", sign=-1.0), "not [tool is another]"),
        (set_of("tool = axe", "tool is another"), "tool not in {file, saw}"),
        (set_of("code = 1.5", "code = 7"), "code in {1.5, 7}"),
    ],
)  # fmt: skip
def test_sets_are_listed_on_the_side_that_can_be(split, text):
    assert said(*split) == text


@pytest.mark.parametrize(
    ("weights", "bias", "text"),
    [
        ({"size": 1.0}, -2.5, "size >= 2.5"),
        ({"size": -2.0}, 5.0, "size <= 2.5"),
        ({"age": 1.0, "age is missing": 99.0}, -65.5, "age >= 65.5 or missing"),
        ({"age": 1.0, "age is missing": -99.0}, -30.5, "age >= 30.5"),
        ({"age": -1.0, "age is missing": 99.0}, 30.5, "age <= 30.5 or missing"),
        # What missing values are filled with, about 43, decides where they have no weight.
        ({"age": 1.0}, -65.5, "age >= 65.5"),
        ({"age": 1.0}, -30.5, "age >= 30.5 or missing"),
        ({"since": 1.0, "since is missing": 9999.0}, -31.0, "since >= 2020-02-06 or missing"),
        ({"wait": 1.0}, -3.5, "wait >= 3.5"),
        ({"mean target of city": -1.0}, 0.25, "mean target of city <= 0.25"),
    ],
)
def test_thresholds_tell_of_missing_values_that_go_right(weights, bias, text):
    assert said(weights, bias) == text


def test_the_same_side_of_missing_values_has_the_same_words():
    by_fill = said({"age": 1.0}, -30.5)
    by_flag = said({"age": 1.0, "age is missing": 5.0}, -30.5)
    assert by_fill == by_flag == "age >= 30.5 or missing"


def test_other_hyperplanes_have_no_words():
    assert said({"age": 1.0, "size": 2.0}, 0.0) is None
    assert said({"color = red": 1.0}, 0.5) is None


def test_long_sets_are_cut_and_counted():
    words = SplitWords("color", " in", tuple("abcdefghij"))
    assert words.text() == "color in {a, b, c, d, e, f, … 4 more}"
    assert words.text(2) == "color in {a, b, … 8 more}"
    assert words.text(10) == "color in {a, b, c, d, e, f, g, h, i, j}"


def test_levels_that_look_like_several_are_quoted():
    levels = {"plain": "plain", "a, b": '"a, b"', "{x}": '"{x}"', 2.0: "2"}
    assert {level: _level_text(level) for level in levels} == levels


def test_only_tables_have_words():
    model = fitted_model(small_model("tao_tree_classifier"))
    assert words_of_tree(model, model.trees[0], str) == {}
    table_model = tree_model(*EVERY_KIND)
    found = words_of_tree(fitted_model(table_model), table_model.tree_, str)
    assert sorted(found) == list(range(7))
