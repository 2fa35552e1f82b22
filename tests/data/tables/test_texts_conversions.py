"""What messages advise for numbers and dates in text makes the right values of them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from spinney.data.tables import read_table
from spinney.data.tables.texts import how_to_convert, look_at

VALUES = [12573.25, -12.5, 0.5, -1250000.75, 3.0, 999.0, 1000.0] + [row + 0.25 for row in range(30)]


def converted(code: str, texts: list[str] | pd.Series) -> pd.Series:
    """What the code of an advice makes of a column; the evaluated text is our own."""
    return eval(code, {"pd": pd, "column": pd.Series(texts)})


def codes(advice: str) -> list[str]:
    return re.findall(r"pd\.to_\w+\(.*?errors=\"coerce\"\)", advice)


def brackets(value: float) -> str:
    return f"({-value:,.2f})" if value < 0 else f"{value:,.2f}"


def continental(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(".,", ",."))


WAYS: dict[str, Callable[[float], str]] = {
    "plain": lambda value: f"{value:.2f}",
    "spaces": lambda value: f"{value:,.2f}".replace(",", " "),
    "no-break spaces": lambda value: f"{value:,.2f}".replace(",", "\u00a0"),
    "narrow spaces": lambda value: f" {value:,.2f}".replace(",", "\u202f"),
    "groups": lambda value: f"{value:,.2f}",
    "apostrophes": lambda value: f"{value:,.2f}".replace(",", "'"),
    "decimal comma": lambda value: f"{value:.2f}".replace(".", ","),
    "continental": continental,
    "spaces and decimal comma": lambda value: f"{value:,.2f}".replace(",", " ").replace(".", ","),
    "brackets": brackets,
    "long minus": lambda value: f"{value:.2f}".replace("-", "\u2212"),
    "trailing minus": lambda value: f"{-value:.2f}-" if value < 0 else f"{value:.2f}",
    "dollars": lambda value: f"-${-value:,.2f}" if value < 0 else f"${value:,.2f}",
    "euros": lambda value: f"{continental(value)} \u20ac",
    "percent": lambda value: f"{value}%",
    "kilograms": lambda value: f"{value} kg",
    "thousands": lambda value: f"{value}k",
    "currency": lambda value: f"USD {value}",
    "years": lambda value: f"{value} yrs",
}


@pytest.mark.parametrize("way", WAYS)
def test_advised_code_reads_numbers_right(way: str) -> None:
    texts = [WAYS[way](value) for value in VALUES]
    assert look_at(texts).kind == "number"  # type: ignore[union-attr]
    [code] = codes(how_to_convert(texts, "number"))
    found = converted(code, [*texts, "-", "not measured"])
    np.testing.assert_array_equal(found, [*VALUES, np.nan, np.nan])


def test_a_comma_that_may_be_either_gets_both_codes() -> None:
    advice = how_to_convert(["1,234", "2,345", "17"], "number")
    assert "if the comma groups digits" in advice
    groups, point = codes(advice)
    assert converted(groups, ["1,234"]).tolist() == [1234.0]
    assert converted(point, ["1,234"]).tolist() == [1.234]
    fractions = how_to_convert(["1,234", "17.5"], "number")
    assert [converted(code, ["1,234", "17.5"]).tolist() for code in codes(fractions)] == [
        [1234.0, 17.5]
    ]


def test_commas_of_two_kinds_are_not_taken_out() -> None:
    texts = ["1,234.5", "12,6", "7"]
    advice = how_to_convert(texts, "number")
    assert "writing all numbers alike first" in advice
    [code] = codes(advice)
    assert converted(code, texts).isna().tolist() == [True, True, False]


def test_points_and_commas_before_one_digit_are_both_decimal() -> None:
    [code] = codes(how_to_convert(["12,6", "12.5"], "number"))
    assert converted(code, ["12,6", "12.5"]).tolist() == [12.6, 12.5]


def test_cells_of_another_unit_are_told_of() -> None:
    advice = how_to_convert(["12.5", "13", "12%"], "number")
    assert "bringing '12.5' and '12%' to one unit, or, if they have one, pd.to_num" in advice


@pytest.mark.parametrize(("text", "value"), [("(12.6)", -12.6), ("1 234", 1234.0), ("-", np.nan)])
def test_numbers_stay_where_a_column_of_objects_holds_text_too(text: str, value: float) -> None:
    column = pd.Series([1.5, 2.25, np.float64(3.0), text, None] * 5, dtype=object)
    with pytest.raises(ValueError, match=r"number \(1\.5 in row 0 and .*; try pd") as refused:
        read_table(pd.DataFrame({"x": column}))
    [code] = codes(str(refused.value))
    found = converted(code, column)
    np.testing.assert_array_equal(found[:5], [1.5, 2.25, 3.0, value, np.nan])


DAYS = pd.date_range("2021-03-01", periods=60, freq="17h").normalize().unique()


@pytest.mark.parametrize(
    "pattern",
    [
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d.%m.%Y",
        "%d.%m.%y",
        "%Y-%m-%d",
        "%Y-%m-%d %H:%M:%S",
        "%d %b %Y",
        "%B %d, %Y",
        "%m/%d/%Y %I:%M %p",
    ],
)
def test_advised_code_reads_dates_right(pattern: str) -> None:
    texts = list(DAYS.strftime(pattern))
    [code] = codes(how_to_convert(texts, "datetime"))
    found = converted(code, ["soon", *texts])
    assert found[1:].tolist() == DAYS.tolist()
    assert found.isna()[0]


def test_the_day_comes_first_though_not_in_the_first_cell() -> None:
    advice = how_to_convert(["03/04/2021", "27/05/2021", "01/02/2021"], "datetime")
    assert 'format="%d/%m/%Y"' in advice
    assert "%m/%d" not in advice


def test_days_that_may_be_months_get_both_formats() -> None:
    advice = how_to_convert(["03/04/2021", "01/02/2021"], "datetime")
    assert [converted(code, ["03/04/2021"])[0].month for code in codes(advice)] == [4, 3]
    assert "if the day comes first" in advice


def test_dates_of_another_form_are_told_of() -> None:
    advice = how_to_convert(["27/05/2021", "28/05/2021", "29/05/2021", "May 2021"], "datetime")
    assert 'format="%d/%m/%Y"' in advice
    assert "leaves dates of other forms missing" in advice


@pytest.mark.parametrize(
    "levels",
    [
        [f"Q{quarter} {year}" for quarter in range(1, 5) for year in range(2000, 2022)],
        [f"2021-W{week:02}" for week in range(1, 53)],
        [f"{low}-{low + 4}" for low in range(0, 100, 5)],
        ["Grade 1", "Grade 2", "Grade 3"],
        ["12 kg", "13 kg"],
        ["2-", "1-", "3-"],
        [f"{floor}th" for floor in range(4, 60)],
    ],
)
def test_categories_with_digits_are_left_alone(levels: list[str]) -> None:
    assert look_at(levels * 10) is None
