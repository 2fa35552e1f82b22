"""Writing takes its share of the time and no more."""

from __future__ import annotations

import pytest

from spinney.fitting.checkpoint import pace as module
from spinney.fitting.checkpoint.pace import Pace


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_write_is_due_when_it_takes_its_share_of_the_time(clock):
    pace = Pace(0.02)
    assert pace.is_due("forest")
    for _ in range(2):
        with pace.measured("forest"):
            clock[0] += 1.0
    clock[0] += 48.9
    assert not pace.is_due("forest")
    clock[0] += 0.2
    assert pace.is_due("forest")


@pytest.mark.parametrize("seconds", [[9.0], [0.1, 9.0], [9.0, 0.1]])
def test_one_slow_write_does_not_put_off_the_next(clock, seconds):
    pace = Pace(0.02)
    for took in seconds:
        with pace.measured("forest"):
            clock[0] += took
    clock[0] += 4.95
    assert pace.is_due("forest")


def test_each_thing_has_its_own_pace(clock):
    pace = Pace(0.02)
    for _ in range(2):
        with pace.measured("forest"):
            clock[0] += 1.0
    assert not pace.is_due("forest")
    assert pace.is_due("another")


def test_a_share_of_one_is_always_due(clock):
    pace = Pace(1.0)
    with pace.measured("tree"):
        clock[0] += 1.0
    assert pace.is_due("tree")


def test_a_write_can_be_put_off(clock):
    pace = Pace(1.0)
    with pace.measured("tree"):
        pace.postpone("tree", 5.0)
    assert not pace.is_due("tree")
    clock[0] += 5.0
    assert pace.is_due("tree")
