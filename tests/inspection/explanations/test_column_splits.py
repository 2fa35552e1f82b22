"""Explanations tell splits of one column in values of the row."""

from __future__ import annotations

import pytest

from spinney import explain, nearest_change
from tests.column_trees import EVERY_KIND, set_of, table, tree_model

FLAGGED = {"age": 1.0, "age is missing": 1000.0}, -45.5


def steps(model, row, **options):
    return explain(model, row, **options).trees[0].steps


def row_of(**values):
    return table().iloc[[1]].assign(**values)


@pytest.mark.parametrize(
    ("split", "values", "text"),
    [
        (
            set_of("color = blue", "color = red"),
            {"color": "green"},
            "color = green -> left (right if color in {blue, red})",
        ),
        (
            set_of("color = pink", "color is missing", sign=-1.0),
            {"color": None},
            "color is missing -> left (right if color is neither missing nor in {pink})",
        ),
        (set_of("color = red"), {"color": "red"}, "color = red -> right (right if color = red)"),
        (set_of("code = 2"), {"code": 7.0}, "code = 7 -> left (right if code = 2)"),
        (
            set_of("tool = axe", "tool is another"),
            {"tool": "never seen"},
            "tool = never seen -> right (right if tool not in {file, saw})",
        ),
        (FLAGGED, {"age": 30.0}, "age = 30 < 45.5 -> left (15.5 from the hyperplane)"),
        (FLAGGED, {"age": None}, "age is missing -> right (right if age >= 45.5 or missing)"),
        (
            ({"age": -1.0, "age is missing": -1000.0}, 60.0),
            {"age": None},
            "age is missing -> left (right if age <= 60)",
        ),
        (set_of("age is missing"), {"age": 30.0}, "age = 30 -> left (right if age is missing)"),
    ],
)
def test_a_step_says_what_the_row_has_and_what_is_asked(split, values, text):
    row = row_of(**values).astype({name: float for name in values if name in ("age", "code")})
    [step] = steps(tree_model(split), row)
    assert step.text() == text


def test_what_stands_in_for_a_missing_value_is_told_where_it_decides():
    [step] = steps(tree_model(({"age": 1.0}, -30.0)), row_of(age=float("nan")))
    assert step.text().startswith("age is missing, taken as 45.11 >= 30 -> right (15.11 from")


def test_the_distance_of_a_number_does_not_hang_on_its_flag():
    row = row_of(age=30.0)
    assert steps(tree_model(FLAGGED), row)[0].distance == 15.5
    deviation = table()["age"].fillna(table()["age"].mean()).std(ddof=0)
    [step] = steps(tree_model(FLAGGED), row, data=table())
    assert step.distance == pytest.approx(15.5 / deviation, rel=1e-5)


def test_a_split_of_one_column_takes_one_line():
    why = explain(tree_model(*EVERY_KIND), table().iloc[[0]])
    lines = why.text().splitlines()
    assert lines[-3:] == [f"  {step.text()}" for step in why.trees[0].steps]
    assert "the typical row has" not in why.text()
    assert "right if color in {blue, red}" in why._repr_html_()


def test_steps_hold_the_rule_and_the_value():
    why = explain(tree_model(*EVERY_KIND), row_of(color="green", age=30.0))
    first, second, _ = why.to_dict()["trees"][0]["steps"]
    assert (first["rule"], first["value"]) == ("color in {blue, red}", "green")
    assert (second["rule"], second["value"]) == ("age >= 45.5 or missing", 30.0)
    sums = steps(tree_model(({"age": 1.0, "size": 5.0}, -50.0)), row_of())
    assert (sums[0].rule, sums[0].value) == ("", None)
    assert sums[0].text().endswith("from the hyperplane)")


@pytest.mark.parametrize("number", [0, 1, 4])
def test_changes_lead_over_splits_of_one_column(number):
    model, frame = tree_model(*EVERY_KIND), table()
    row = frame.iloc[[number]]
    change = nearest_change(model, row, data=frame)
    assert change.is_found
    assert model.predict(change.changed)[0] != model.predict(row)[0]
