"""Writing takes its share of the time and no more."""

from __future__ import annotations

import pytest

from spinney.checkpoint import pace as module
from spinney.checkpoint.pace import Pace


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_write_is_due_when_it_takes_its_share_of_the_time(clock):
    pace = Pace(0.02)
    assert pace.is_due("forest")
    with pace.measured("forest"):
        clock[0] += 1.0
    clock[0] += 48.9
    assert not pace.is_due("forest")
    clock[0] += 0.2
    assert pace.is_due("forest")


def test_each_thing_has_its_own_pace(clock):
    pace = Pace(0.02)
    with pace.measured("forest"):
        clock[0] += 1.0
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
