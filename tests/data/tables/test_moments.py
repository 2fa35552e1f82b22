"""Days as dates for people."""

from __future__ import annotations

import pytest

from spinney.data.tables.moments import moment


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0.0, "1970-01-01"),
        (-1.0, "1969-12-31"),
        (18262.5, "2020-01-01 12:00"),
        (1e9, "1970-01-01 + 1e+09 days"),
        (-1e6, "1970-01-01 - 1e+06 days"),
    ],
)
def test_a_number_of_days_is_a_date(days: float, text: str) -> None:
    assert moment(days) == text
