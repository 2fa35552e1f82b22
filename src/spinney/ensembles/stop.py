"""End the trees that worker threads are growing when the caller is interrupted.

Ctrl-C reaches the main thread alone. Without a word from it the workers would go on, and a process
that ends meanwhile would pull the interpreter away from under them. They look for that word after
every sweep, and inside of native calls, which may take long, every 50 ms.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from spinney import _core
from spinney.algorithms.trace import Trace


class StoppedError(Exception):
    """Raised in a worker whose result nobody waits for any more."""


class StopSignal:
    """A flag that workers look at again and again, and the threads at work.

    In another process it is a new flag, which nobody raises: there the backend ends the workers.
    """

    def __init__(self) -> None:
        self._is_raised = False
        self._change = threading.Condition()
        self._working: set[int] = set()

    def __reduce__(self) -> tuple[type[StopSignal], tuple[()]]:
        return StopSignal, ()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the caller among those at work; its native calls end when the flag is raised."""
        own = threading.get_ident()
        with self._change:
            self._working.add(own)
        outer = _core.set_thread_look(self.look)
        try:
            yield
        finally:
            _core.set_thread_look(outer)
            with self._change:
                self._working.discard(own)
                self._change.notify_all()

    def look(self, trace: Trace | None = None) -> None:
        """Raise if the work is to end; has the form of an optimiser's callback."""
        del trace
        if self._is_raised:
            raise StoppedError

    def stop(self) -> None:
        """Raise the flag and wait until nobody else is at work.

        A worker may be the one who calls, if it happens to collect an abandoned generator.
        """
        self._is_raised = True
        own = {threading.get_ident()}
        with self._change:
            self._change.wait_for(lambda: self._working <= own)
