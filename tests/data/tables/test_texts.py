"""Text that is numbers, dates or free is told apart from categories, and refused or warned of."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

from spinney import TAOTreeClassifier
from spinney.data.tables import look_at, read_table
from spinney.data.tables.texts import Odd, odd_texts

N_ROWS = 60
NUMBERS = [f"{12.5 + row}" for row in range(N_ROWS)]
DATES = [f"2024-03-{row % 28 + 1:02}" for row in range(N_ROWS)]
TREE = TAOTreeClassifier(max_depth=2, max_iter=3, random_state=0)


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "-2.5",
        "1,234.5",
        "1.234,5",
        "1 234",
        "12%",
        "12 %",
        "$1,200",
        "\u20ac 5",
        "5 \u20ac",
        ".5",
        "5.",
        "+3",
        " 7 ",
        "1e-5",
        "(1,234)",
        "-$5",
        "\u22125",
        "01234",
        "20240131",
    ],
)
def test_numbers_are_known(text: str) -> None:
    assert look_at([text, "8"]).kind == "number"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-31",
        "2024/1/3",
        "31.01.2024",
        "01/31/2024",
        "1/2/24",
        "31-Jan-2024",
        "31 Jan 2024",
        "Jan 31, 2024",
        "January 2024",
        "2024-01-31T12:00:00Z",
        "2024-01-31 12:00:00.123+01:00",
        "Wed, 31 Jan 2024 10:00:00 GMT",
        "2024-05",
        "1st May 2020",
        "01/31/2024 3:00 PM",
    ],
)
def test_dates_are_known(text: str) -> None:
    assert look_at([text, "2023-12-24"]).kind == "datetime"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "levels",
    [
        ["18-24", "25-34", "35-44"],
        ["1st", "2nd", "3rd"],
        ["A11", "A12", "B7"],
        ["<5", "5-10", ">10"],
        ["12 kg", "13 kg"],
        ["1.2.10", "1.2.11"],
        ["1999-2000", "2000-2001"],
        ["10.0.0.1", "10.0.0.2"],
        ["may", "jun"],
        ["yes", "no", "1"],
        ["0", "1-5", "6+"],
        ["-", "?", "n/a"],
        [None, None],
        [],
    ],
)
def test_levels_are_left_alone(levels: list[str | None]) -> None:
    assert look_at(levels * 10) is None


def test_words_for_missing_do_not_count_but_are_told_of() -> None:
    texts = ["-", "3", None, "n/a", "4", "-", "", "?"]
    look = look_at(texts)
    assert look is not None
    assert (look.kind, look.n_values, look.n_like) == ("number", 7, 2)
    assert odd_texts(texts, look.is_like) == [
        Odd("-", 0, 2),
        Odd("n/a", 3, 1),
        Odd("", 6, 1),
        Odd("?", 7, 1),
    ]


def test_texts_that_nearly_all_differ_are_free() -> None:
    assert look_at([f"text {row}" for row in range(N_ROWS)]).kind == "free text"  # type: ignore[union-attr]
    assert look_at([f"town {row % 40}" for row in range(N_ROWS)]) is None
    assert look_at(["a", "b", "c"]) is None


# --- in fits ---------------------------------------------------------------------------------


CONTAINERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns).astype(object),
    "pandas strings": lambda columns: pd.DataFrame(columns).astype({"x": "string"}),
    "polars": pl.DataFrame,
    "arrow": lambda columns: pl.DataFrame(columns).to_arrow(),
    "objects": lambda columns: pd.DataFrame(columns).astype(object).to_numpy(),
    "lists": lambda columns: pd.DataFrame(columns).astype(object).to_numpy().tolist(),
}


def columns_with(cells: list[Any]) -> dict[str, list[Any]]:
    return {"x": cells, "z": [float(row % 7) for row in range(N_ROWS)]}


HALVES = np.arange(N_ROWS) % 2


@pytest.mark.parametrize("container", CONTAINERS)
def test_one_bad_cell_among_numbers_is_named(container: str) -> None:
    table = CONTAINERS[container](columns_with([*NUMBERS[:17], "-", *NUMBERS[18:]]))
    with pytest.raises(
        ValueError,
        match=r"column 0 of X( \(x\))? is text, but 59 of its 60 values are numbers, .* not so 1: "
        r"'-' in row 17; give numbers, .*; try pd\.to_numeric\(column, errors=\"coerce\"\)",
    ):
        TREE.fit(table, HALVES)


@pytest.mark.parametrize("container", CONTAINERS)
def test_dates_in_texts_are_refused(container: str) -> None:
    table = CONTAINERS[container](columns_with([*DATES[:3], "soon", *DATES[4:]]))
    with pytest.raises(
        ValueError, match=r"59 of its 60 values are dates, .*'soon' in row 3; .*to_d"
    ):
        TREE.fit(table, HALVES)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (
            [f"{text}%" for text in NUMBERS],
            r"60 of its 60 .* as '12\.5%'; .* try pd.*replace\(\"%\", \"\"\)",
        ),
        (
            [f"${row},{row:03}.5" for row in range(N_ROWS)],
            r"as '\$0,000\.5'; .*replace\(\"\$\".*replace\(\",\"",
        ),
        (["1", "2", "0"] * 20, "60 of its 60 values are numbers, as '0'; give numbers"),
        (
            ["n/a", "?", "-", "--", "7", "8"] * 10,
            "not so 40: 'n/a' in row 0 and 9 other rows, .* and 1 more; give",
        ),
        ([*range(59), "-"], r"mixes number \(0 in row 0 and 58 more\) and text \('-' in row 59\)"),
    ],
)
def test_other_ways_to_write_numbers_are_refused(cells: list[Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        TREE.fit(pd.DataFrame(columns_with(cells)), HALVES)


def test_objects_that_are_numbers_are_numbers() -> None:
    table = pd.DataFrame(columns_with([1, 2.5, None] * 20)).astype(object)
    assert TREE.fit(table, HALVES).encoding_.kind(0) == "number"


@pytest.mark.parametrize("cells", [["0", "1", "2"] * 20, NUMBERS, DATES, ["07", "-"] * 30])
def test_codes_are_levels_if_someone_says_so(cells: list[str]) -> None:
    table = pd.DataFrame(columns_with(cells))
    as_dtype = table.astype({"x": "category"})
    fitted = TREE.fit(as_dtype, HALVES)
    assert fitted.encoding_.kind(0) == "text_levels"
    assert fitted.predict(as_dtype[:1]).shape == (1,)
    for named in (["x"], [0], [True, False]):
        by_name = TAOTreeClassifier(max_depth=2, max_iter=3, categorical_features=named)
        assert by_name.fit(table, HALVES).encoding_.kind(0) == "text_levels"


def test_levels_that_only_a_test_fold_has_do_not_matter() -> None:
    cells = ["18-24"] * 30 + ["25-34"] * 29 + ["65"]
    table = pd.DataFrame(columns_with(cells))
    assert np.isfinite(cross_val_score(TREE, table, HALVES, cv=3, error_score="raise")).all()


def test_free_text_beside_other_columns_is_warned_of() -> None:
    table = pd.DataFrame(columns_with([f"client {row}" for row in range(N_ROWS)]))
    text = r"\(x\) holds 60 different texts in 60 rows; levels of a"
    with pytest.warns(UserWarning, match=text) as told:
        TREE.fit(table, HALVES)
    assert [warning.filename for warning in told] == [__file__]
    TREE.fit(table.astype({"x": "category"}), HALVES)


def test_free_text_alone_is_refused() -> None:
    table = pd.DataFrame({"x": [f"text {row}" for row in range(N_ROWS)]})
    with pytest.raises(ValueError, match="nothing can be learned from X: column 0"):
        TREE.fit(table, HALVES)


def test_text_at_predict_where_numbers_were_says_what_to_try() -> None:
    table = pd.DataFrame(columns_with([float(text) for text in NUMBERS]))
    fitted = TREE.fit(table.assign(z=["a", "b"] * 30), HALVES)
    with pytest.raises(ValueError, match=r"holds text \('12\.5' in row 0\) but .*to_numeric"):
        fitted.predict(pd.DataFrame({"x": NUMBERS, "z": "a"}))


@pytest.mark.parametrize(("cells", "bad"), [(NUMBERS, "-"), (DATES, "soon")])
def test_one_bad_cell_at_predict_is_named(cells: list[str], bad: str) -> None:
    right = pd.to_numeric(pd.Series(cells)) if cells is NUMBERS else pd.to_datetime(cells)
    table = pd.DataFrame({"x": right, "z": ["a", "b"] * 30})
    fitted = TREE.fit(table, HALVES)
    with pytest.raises(ValueError, match=rf"holds text \('{bad}' in row 7\) but held"):
        fitted.predict(table.assign(x=[*cells[:7], bad, *cells[8:]]))


@pytest.mark.parametrize("other", ["12%", "$5", "1 234", "1,234.5", "(7)", "12.6 kg", "x"])
def test_a_number_in_another_spelling_is_named_by_its_row(other: str) -> None:
    cells = [*NUMBERS[:17], other, *NUMBERS[18:]]
    says = re.escape(f"not so 1: {other!r} in row 17;")
    with pytest.raises(ValueError, match=rf"59 of its 60 values are (plain )?numbers, as.*{says}"):
        TREE.fit(pd.DataFrame(columns_with(cells)), HALVES)
    fitted = TREE.fit(
        pd.DataFrame(columns_with([float(text) for text in NUMBERS])).assign(c=["a", "b"] * 30),
        HALVES,
    )
    with pytest.raises(ValueError, match=re.escape(f"holds text ({other!r} in row 17) but held")):
        fitted.predict(pd.DataFrame(columns_with(cells)).assign(c="a"))


def test_rows_of_pandas_are_named_with_their_index() -> None:
    table = pd.DataFrame(columns_with([*NUMBERS[:17], "-", *NUMBERS[18:]]))
    table.index = pd.Index([f"r{row}" for row in range(N_ROWS)])
    with pytest.raises(ValueError, match=r"'-' in row 17 \(index 'r17'\);"):
        TREE.fit(table, HALVES)
    weights = np.ones(N_ROWS)
    weights[:5] = 0
    with pytest.raises(ValueError, match=r"'-' in row 12 \(index 17\);"):
        TREE.fit(table.reset_index(drop=True), HALVES, sample_weight=weights)
    objects = table.assign(x=[*[np.float64(text) for text in NUMBERS[:59]], "-"]).astype(object)
    with pytest.raises(ValueError, match=r"number \(12\.5 in row 0 \(index 'r0'\) and 58 more\)"):
        TREE.fit(objects, HALVES)


def test_rows_to_predict_are_named_with_their_index() -> None:
    table = pd.DataFrame(columns_with([float(text) for text in NUMBERS])).assign(c=["a", "b"] * 30)
    fitted = TREE.fit(table, HALVES)
    rows = table.assign(x=[*NUMBERS[:17], "1 234", *NUMBERS[18:]])[10:]
    says = r"holds text \('1 234' in row 7 \(index 17\)\) .*try pd\.to_numeric\(column\.str\."
    with pytest.raises(ValueError, match=says):
        fitted.predict(rows)


@pytest.mark.parametrize("n_words", [33, 38])
def test_a_word_in_most_rows_does_not_make_numbers_a_category(n_words: int) -> None:
    cells = ["not measured"] * n_words + NUMBERS[n_words:]
    says = rf"{60 - n_words} of its 60 values are numbers.*{n_words}: 'not measured' in row 0 and"
    with pytest.raises(ValueError, match=says):
        TREE.fit(pd.DataFrame(columns_with(cells)), HALVES)


def test_reading_leaves_the_texts_as_they_are() -> None:
    assert read_table(pd.DataFrame({"x": ["1", "-"]})).columns[0].texts == ["1", "-"]
