"""One fit and its listeners."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from spinney.fitting.progress.event import FitEvent
from spinney.fitting.progress.listener import Listener, Plan, Snapshot


class Progress:
    """Passes events on to all listeners, and remembers whether one wanted the fit to end.

    Parameters
    ----------
    estimator : str
        Name of the estimator's class.
    listeners : sequence of Listener
        Empty makes every method do nothing, so that callers need not ask.
    """

    def __init__(self, estimator: str = "", listeners: Sequence[Listener] = ()) -> None:
        self._listeners = tuple(listeners)
        self._plan = Plan(estimator, "tree", None)
        self._began = 0.0
        self.is_stopped = False

    @property
    def is_watched(self) -> bool:
        """Whether anybody listens; if not, events need not be made."""
        return bool(self._listeners)

    @property
    def wants_models(self) -> bool:
        """Whether anybody may ask for the model after each part."""
        return any(listener.wants_models for listener in self._listeners)

    @property
    def may_stop(self) -> bool:
        """Whether anybody may want the fit to end."""
        return any(listener.may_stop for listener in self._listeners)

    def begin(
        self,
        word: str,
        total: int | None,
        *,
        first: int = 0,
        n_forests: int | None = None,
        first_forest: int = 0,
        validation: str = "error",
    ) -> None:
        """Say what is going to be done; all has been checked."""
        self._began = time.perf_counter()
        name = self._plan.estimator
        self._plan = Plan(name, word, total, first, n_forests, first_forest, validation)
        for listener in self._listeners:
            listener.begin(self._plan)

    def event(self, number: int) -> FitEvent:
        """That a part is done, still without measures."""
        plan, seconds = self._plan, time.perf_counter() - self._began
        event = FitEvent(plan.estimator, plan.part, number, plan.total, seconds)
        return event if plan.n_forests is None else replace(event, n_forests=plan.n_forests)

    def count(self, forest: int, number: int) -> None:
        """Say that an iteration of some forest is done, whichever is."""
        for listener in self._listeners:
            listener.count(forest, number)

    def report(self, event: FitEvent, snapshot: Snapshot) -> bool:
        """Pass an event to all listeners; True if one of them wants the fit to end."""
        return self._note([listener.on_event(event, snapshot) for listener in self._listeners])

    def end_forest(self, snapshot: Snapshot) -> bool:
        """Call all listeners that a forest is done; True if the fit is to end."""
        return self._note([listener.end_forest(snapshot) for listener in self._listeners])

    def end(self, snapshot: Snapshot) -> None:
        """Call all listeners that the fit went well."""
        for listener in self._listeners:
            listener.end(snapshot, is_stopped=self.is_stopped)

    def close(self) -> None:
        """Call all listeners that the fit is over; each is told, whatever another one raises."""
        listeners, self._listeners = self._listeners, ()
        _close_all(listeners)

    def _note(self, answers: list[bool]) -> bool:
        self.is_stopped = self.is_stopped or any(answers)
        return self.is_stopped


def _close_all(listeners: tuple[Listener, ...]) -> None:
    if not listeners:
        return
    try:
        listeners[0].close()
    finally:
        _close_all(listeners[1:])
