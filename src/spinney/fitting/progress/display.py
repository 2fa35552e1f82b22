"""What people see of a fit: a live bar, or a line for each part."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TextIO

from spinney.fitting.progress.event import FitEvent
from spinney.fitting.progress.listener import Listener, Plan, Snapshot
from spinney.fitting.progress.screen import Screen, screen_for, write_line
from spinney.fitting.progress.words import clock, line_of, measures

#: Characters of the bar itself, by the least columns of the screen that they are for. The words
#: have no say in it, so that the bar stays as long as it is while they change.
BARS = ((100, 24), (60, 16), (0, 8))

#: Characters that a measure has at least: six digits and the point.
MEASURE = 7


def display_for(verbose: int | bool) -> Listener | None:
    """What `verbose` asks for: None for 0, a live bar for 1, a line for each part from 2."""
    stream = sys.stderr
    if not verbose or stream is None:  # a program without a console has none
        return None
    return LiveBar(stream) if verbose == 1 else EveryPart(stream)


class EveryPart(Listener):
    """A line for each part that is done."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._validation = "error"

    def begin(self, plan: Plan) -> None:
        """Learn how things are called."""
        self._validation = plan.validation

    def on_event(self, event: FitEvent, snapshot: Snapshot) -> bool:
        """Write the line."""
        del snapshot
        write_line(self._stream, line_of(event, self._validation))
        return False


class LiveBar(Listener):
    """Parts done of how many, what the last one was worth, and the time that is left."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._screen: Screen | None = None
        self._event: FitEvent | None = None
        self._done: dict[int, int] = {}  # parts by forest
        self._n_restored = 0
        self._widest: dict[str, int] = {}  # characters by the name of a measure

    def begin(self, plan: Plan) -> None:
        """Show the bar at its beginning."""
        self._plan = plan
        self._began = time.monotonic()
        self._screen = screen_for(self._stream)
        self._show()

    def count(self, forest: int, number: int) -> None:
        """Count an iteration, of whichever forest."""
        self._done[forest] = max(self._done.get(forest, 0), number)
        self._show()

    def on_event(self, event: FitEvent, snapshot: Snapshot) -> bool:
        """Count a part, and show what it was worth."""
        del snapshot
        self._event = event
        forest = event.forest or 0
        self._done[forest] = max(self._done.get(forest, 0), event.number - self._plan.first)
        if event.restored:
            # What a checkpoint gives back takes no time and says nothing about the rest.
            self._n_restored, self._began = self._n_done, time.monotonic()
        self._show()
        return False

    def end_forest(self, snapshot: Snapshot) -> bool:
        """Count the iterations that the forest did not need."""
        del snapshot
        if self._event is not None and self._plan.total is not None:
            self._done[self._event.forest or 0] = self._plan.total
        return False

    def end(self, snapshot: Snapshot, *, is_stopped: bool) -> None:
        """Show how it ended."""
        del snapshot
        self._finish("stopped by callback" if is_stopped else "done")

    def close(self) -> None:
        """Leave the bar where it is, so that an error is written below it."""
        self._finish("not finished")

    @property
    def _n_done(self) -> int:
        return sum(self._done.values())

    @property
    def _n_all(self) -> int | None:
        plan = self._plan
        if plan.total is None:
            return None
        if plan.n_forests is None:
            return plan.total - plan.first
        return plan.total * (plan.n_forests - plan.first_forest)

    def _show(self) -> None:
        if self._screen is not None and self._screen.is_due():
            self._screen.show(self._fitted(self._time_left(), self._screen))

    def _finish(self, how: str) -> None:
        if self._screen is not None:
            screen, self._screen = self._screen, None
            screen.finish(self._fitted(how, screen))

    def _fitted(self, last: str, screen: Screen) -> str:
        """The bar, with as many words around it as there is room for; without room no bar."""
        counted, bar = self._counted(), self._bar(screen)
        elapsed = clock(self._elapsed())
        when = f"{elapsed}, {last}" if last else elapsed
        shortly = elapsed if last.endswith("left") else last or elapsed
        said = self._measures()
        for parts in (
            [self._plan.estimator, counted, *bar, *said, when],
            [counted, *bar, *said, when],
            [counted, *bar, *said[-1:], when],
            [counted, *bar, when],
            [counted, *bar, shortly],
            [counted, when],
        ):
            text = "  ".join(parts)
            if len(text) <= screen.n_columns:
                return text
        return counted[: screen.n_columns]

    def _counted(self) -> str:
        """Parts done of how many, as wide from the first to the last."""
        first, n_all, part = self._plan.first, self._n_all, self._plan.part
        done = first + self._n_done
        if n_all is None:
            return f"{done} {part}" if done == 1 else f"{done} {part}s"
        total = f"{first + n_all}"
        return f"{done:>{len(total)}}/{total} {part}" + ("" if total == "1" else "s")

    def _bar(self, screen: Screen) -> list[str]:
        """The bar itself, if it is known where it ends."""
        n_all = self._n_all
        if n_all is None:
            return []
        width = next(width for least, width in BARS if least <= screen.n_columns)
        n_full = width * min(self._n_done, n_all) // n_all if n_all else width
        full, empty = "█░" if screen.has_blocks else "#."
        return [f"[{full * n_full}{empty * (width - n_full)}]"]

    def _measures(self) -> list[str]:
        """What the last part was worth; the loss only where there is no objective."""
        if self._event is None:
            return []
        event = self._event
        said = measures(
            event if event.objective is None else replace(event, loss=None), self._plan.validation
        )
        return [self._as_wide_as_ever(text) for text in said]

    def _as_wide_as_ever(self, text: str) -> str:
        """A measure with blanks behind it, so that nothing moves when a number gets shorter."""
        name, _, number = text.rpartition(" ")
        self._widest[name] = max(self._widest.get(name, MEASURE), len(number))
        return f"{name} {number:<{self._widest[name]}}"

    def _elapsed(self) -> float:
        heard = 0.0 if self._event is None else self._event.seconds
        return max(heard, time.monotonic() - self._began)

    def _time_left(self) -> str:
        """By the pace so far; nothing is said before anything is done."""
        n_all, n_live = self._n_all, self._n_done - self._n_restored
        if n_all is None or n_live <= 0:
            return ""
        pace = (time.monotonic() - self._began) / n_live
        return f"{clock(pace * max(n_all - self._n_done, 0))} left"
