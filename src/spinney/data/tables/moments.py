"""Dates as people write them, from the days that coordinates are in."""

from __future__ import annotations

import datetime

EPOCH = datetime.datetime(1970, 1, 1)


def moment(days: float) -> str:
    """A date, given days since 1970-01-01 UTC; with a time unless it is midnight."""
    try:
        time = EPOCH + datetime.timedelta(days=days)
    except OverflowError:  # beyond the years 1 to 9999, as a threshold far from the data may be
        return f"1970-01-01 {'+' if days >= 0 else '-'} {abs(days):.4g} days"
    is_day = time.time() == datetime.time()
    return str(time.date()) if is_day else time.isoformat(" ", "minutes")
