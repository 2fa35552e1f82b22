"""Targets that are text: numbers with a bad cell are named by row, or warned of as classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spinney import TAOTreeClassifier, TAOTreeRegressor

N_ROWS = 60
X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2)
TABLE = pd.DataFrame({"x": X[:, 0], "c": ["a", "b"] * 30})
NUMBERS = [f"{12 + row % 25}" for row in range(N_ROWS)]
CLASSES = TAOTreeClassifier(max_depth=2, max_iter=3, random_state=0)
VALUES = TAOTreeRegressor(max_depth=2, max_iter=3, random_state=0)


def with_bad(cells: list[str], bad: str = "-") -> list[str]:
    return [*cells[:7], bad, *cells[8:]]


@pytest.mark.parametrize("rows", [X, TABLE])
@pytest.mark.parametrize("container", [list, np.array, pd.Series])
def test_a_bad_cell_among_targets_is_named(rows: Any, container: Any) -> None:
    with pytest.raises(ValueError, match=r"no number: '-' in row 7; give numbers; try pd\.to_num"):
        VALUES.fit(rows, container(with_bad(NUMBERS)))


def test_a_bad_cell_of_several_targets_is_named_with_its_index() -> None:
    y = pd.DataFrame({"a": with_bad(NUMBERS), "b": NUMBERS}, index=range(100, 100 + N_ROWS))
    with pytest.raises(ValueError, match=r"no number: '-' in row 7 \(index 107\);"):
        VALUES.fit(X, y)


def test_targets_in_another_spelling_get_the_code_that_reads_them() -> None:
    with pytest.raises(ValueError, match=r"'12%' in row 7; .*one unit.*pd\.Series\(y\)\.str\.rep"):
        VALUES.fit(X, with_bad(NUMBERS, "12%"))


def test_numbers_in_objects_stay_targets() -> None:
    as_text = VALUES.fit(X, np.array(NUMBERS, dtype=object)).predict(X)
    np.testing.assert_array_equal(as_text, VALUES.fit(X, np.array(NUMBERS, float)).predict(X))


@pytest.mark.parametrize("rows", [X, TABLE])
@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (with_bad(NUMBERS), r"26 classes, but 59 of its 60 .* not so 1: '-' in row 7; classes ha"),
        (with_bad(["1", "2", "3"] * 20), "4 classes, but 59 of its 60 .*'-' in row 7"),
        (NUMBERS, "25 classes, but 60 of its 60 values are numbers, as '12'; classes have"),
    ],
)
def test_labels_that_are_numbers_in_text_are_warned_of(
    rows: Any, labels: list[str], says: str
) -> None:
    with pytest.warns(UserWarning, match=says) as told:
        fitted = CLASSES.fit(rows, labels)
    assert [warning.filename for warning in told] == [__file__]
    assert fitted.n_classes_ == len(set(labels))


@pytest.mark.parametrize(
    "labels",
    [
        ["1", "2", "3"] * 20,
        ["1", "2", "other"] * 20,
        ["a", "b", "-"] * 20,
        [f"{row % 25:03}" for row in range(N_ROWS)],
        [f"{row // 2}-{row // 2 + 4}" for row in range(N_ROWS)],
    ],
)
def test_classes_that_are_text_are_taken_without_a_word(labels: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CLASSES.fit(X, labels)
