"""When a run is said to have come further, and when it is given up."""

from __future__ import annotations

import math

import pytest

from spinney.algorithms.descent import Descent


def run_of(values, tol):
    progress = Descent()
    for value in values:
        progress = progress.after(value, tol)
    return progress


def test_a_run_begins_above_everything():
    assert Descent().has_fallen(1e300, 0.5)
    assert Descent().best == math.inf


@pytest.mark.parametrize(
    ("values", "n_stalled"),
    [([3.0, 2.0, 1.0], 0), ([3.0, 2.9, 2.8], 2), ([3.0, 4.0, 5.0], 2), ([3.0, 4.0, 1.0], 0)],
)
def test_steps_count_as_stalled_unless_they_fall_by_a_share(values, n_stalled):
    progress = run_of(values, tol=0.1)
    assert progress.n_stalled == n_stalled
    assert progress.best == min(values)


def test_a_run_is_over_when_patience_is():
    progress = run_of([1.0, 1.0, 1.0], tol=0.1)
    assert progress.is_over(2, tol=0.1)
    assert not progress.is_over(3, tol=0.1)
    assert not progress.is_over(2, tol=0.0)
