"""Counts, lists and numbers as people write them."""

from __future__ import annotations

import pytest

from spinney.data.wording import counted, listed, rounded


def test_nouns_stand_in_the_plural_unless_there_is_one() -> None:
    assert (counted(1, "leaf"), counted(2, "leaf"), counted(3, "tree")) == (
        "1 leaf",
        "2 leaves",
        "3 trees",
    )
    assert counted(0, "class") == "0 classes"
    assert counted(2, "more class") == "2 more classes"


def test_counts_are_in_groups() -> None:
    assert counted(1234567, "row") == "1,234,567 rows"


def test_lists_say_how_many_they_leave_out() -> None:
    assert listed("ab") == "a, b"
    assert listed(range(1003), most=3) == "0, 1, 2 and 1,000 more"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.5, "-0.5"), (1.5e-9, "1.50e-09"), (float("inf"), "inf")]
)
def test_numbers_have_no_needless_zeros(value: float, text: str) -> None:
    assert rounded(value, 3) == text
