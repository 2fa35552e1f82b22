"""How often to write, so that writing takes a given share of the time."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class Pace:
    """Times at which things may be written again, each by how long it took the last two times.

    The faster of the two counts. A single slow write, as the first of a process or one while the
    disk is busy, must not put off the next by fifty times its time.

    Parameters
    ----------
    share : float
        Share of the time that writing one thing may take; 1 and more is always due.
    """

    def __init__(self, share: float) -> None:
        self._pause = max(1.0 / share - 1.0, 0.0)  # in units of the time that a write took
        self._due: dict[Hashable, float] = {}
        self._took: dict[Hashable, float] = {}

    def is_due(self, thing: Hashable) -> bool:
        """Whether enough time has passed since it was written."""
        return time.monotonic() >= self._due.get(thing, 0.0)

    @contextmanager
    def measured(self, thing: Hashable) -> Iterator[None]:
        """Time a write, and let the next one be due accordingly."""
        began = time.monotonic()
        self._due[thing] = 0.0
        yield
        now = time.monotonic()
        took = min(now - began, self._took.get(thing, 0.0))
        self._took[thing] = now - began
        self._due[thing] = max(self._due[thing], now + self._pause * took)

    def postpone(self, thing: Hashable, seconds: float) -> None:
        """Let the next write be due no sooner than this."""
        self._due[thing] = time.monotonic() + seconds
