"""Let a caller hear of the iterations of forests that are optimised at once.

Workers say what they have done whenever they have done it. The caller hears it in the order of the
forests and their iterations, in its own thread, and may say stop. So what it hears, and where a fit
ends by its word, does not depend on the number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.state import ForestRun
from spinney.algorithms.trace import Trace
from spinney.ensembles.stop import StoppedError, StopSignal
from spinney.tree.structure import Tree

#: Seconds after which a worker that waits for an answer looks whether one will come.
LOOK_PAUSE = 0.05

Trees: TypeAlias = Callable[[], tuple[Tree, ...]]
MakesForest: TypeAlias = Callable[[], OptimizedForest]


@dataclass(frozen=True)
class Iteration:
    """One iteration of a forest: its number from 1, what it reached, and the forest if known."""

    number: int
    objective: float
    loss: float
    n_active: int
    forest: MakesForest | None = None
    is_restored: bool = False


class IterationListener(Protocol):
    """Who wants to hear of iterations."""

    @property
    def wants_forests(self) -> bool:
        """Whether the forest after each iteration may be asked for."""

    def notice(self, forest: int, number: int) -> None:
        """An iteration is done, in any order."""

    def hear(self, forest: int, iteration: Iteration) -> bool:
        """An iteration is done, in order; True ends the work after it."""


class PassedError(Exception):
    """The work is to end after an iteration that its worker has left behind."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def iterations_of(
    trace: Trace, first: int = 1, n_restored: int = 0, known: Sequence[tuple[Tree, ...]] = ()
) -> Iterator[Iteration]:
    """Iterations of a trace from number `first` on; `known` holds the trees of those before."""
    entries = [entry for entry, phase in enumerate(trace.phase) if phase == "leaves"]
    for number, entry in enumerate(entries[first - 1 :], first):
        forest = None
        if number <= len(known):
            forest = partial(OptimizedForest, known[number - 1], trace.until(entry))
        yield Iteration(
            number,
            trace.objective[entry],
            trace.loss[entry],
            trace.n_active[entry],
            forest,
            number <= n_restored,
        )


class Hearing:
    """Brings the words of all workers into order.

    Parameters
    ----------
    listener : IterationListener
    first : int
        Forest that is heard first.
    """

    def __init__(self, listener: IterationListener, first: int) -> None:
        self._listener = listener
        self.forest = first  # whose words are heard now
        self._n_heard = 0  # of its iterations
        self._n_restored: dict[int, int] = {}  # iterations that were done before, by forest
        self.is_stopped = False
        self._owner = threading.get_ident()
        self._words: SimpleQueue[Any] = SimpleQueue()
        self._waiting: dict[int, list[Iteration]] = {}  # words of later forests
        self._is_open = self._is_closed = False

    def open(self) -> None:
        """Promise to listen to other threads; before that, what they say is lost."""
        self._is_open = True

    def speaker(self, forest: int, run: ForestRun | None = None) -> Speaker:
        """What the worker of a forest speaks into; `run` is where the forest was left."""
        self._n_restored[forest] = 0 if run is None else run.n_iterations
        return Speaker(self, forest, run)

    def say(self, forest: int, said: list[Iteration]) -> bool:
        """Say what has been done; called by workers. True if there is no need to go on."""
        if threading.get_ident() == self._owner:
            return self._take(forest, said)
        if not self._is_open:  # a worker of a backend that has no business with this thread
            return False
        answer: SimpleQueue[bool] = SimpleQueue()
        self._words.put((forest, said, answer))
        while True:
            try:
                return answer.get(timeout=LOOK_PAUSE)
            except Empty:
                if self._is_closed:
                    raise StoppedError from None

    def restore_forest(self, found: OptimizedForest) -> None:
        """Hear of a forest that was done before."""
        self._n_restored[self.forest] = found.trace.phase.count("leaves")
        self.end_forest(found)

    def end_forest(self, found: OptimizedForest) -> None:
        """Hear what no worker has said of a forest that is done; it may be of another process."""
        if not self.is_stopped:
            n_restored, first = self._n_restored[self.forest], self._n_heard + 1
            rest = iterations_of(found.trace, first, n_restored, found.iterations)
            self._take(self.forest, list(rest))

    def next_forest(self) -> None:
        """Turn to the next forest, and hear what its worker has said already."""
        self.forest, self._n_heard = self.forest + 1, 0
        said = self._waiting.pop(self.forest, [])
        if self._hear_all(said):
            raise PassedError(self._n_heard)  # its worker has been told to go on

    def listen(
        self, parts: Iterator[OptimizedForest], stop: StopSignal
    ) -> Generator[OptimizedForest, None, None]:
        """The parts that workers hand over, in order, and in between all that they say.

        A thread of its own waits for the parts, since this one has to listen.
        """
        waiter = threading.Thread(target=self._wait_for, args=(parts,), daemon=True)
        waiter.start()
        try:
            while (word := self._words.get()) is not None:
                if isinstance(word, BaseException):
                    raise word
                if isinstance(word, OptimizedForest):
                    yield word
                else:
                    forest, said, answer = word
                    answer.put(self._take(forest, said))
        finally:
            self._is_closed = True
            stop.stop()
            waiter.join()

    def _wait_for(self, parts: Iterator[OptimizedForest]) -> None:
        try:
            for part in parts:
                self._words.put(part)
        except BaseException as error:  # it belongs to the one who listens
            self._words.put(error)
        else:
            self._words.put(None)

    def _take(self, forest: int, said: list[Iteration]) -> bool:
        """Hear the words of the forest whose turn it is; keep those of others for later."""
        for iteration in said:
            self._listener.notice(forest, iteration.number)
        if forest == self.forest:
            if self._hear_all(said) and self._n_heard < said[-1].number:
                raise PassedError(self._n_heard)
            return self.is_stopped
        if self._listener.wants_forests:
            said = [_with_forest(iteration) for iteration in said]
        self._waiting.setdefault(forest, []).extend(said)
        return False

    def _hear_all(self, said: list[Iteration]) -> bool:
        """Hear words up to the one after which the work is to end, if there is one."""
        for iteration in said:
            self._n_heard = iteration.number
            if self._listener.hear(self.forest, iteration):
                self.is_stopped = True
                return True
        return False


def _with_forest(iteration: Iteration) -> Iteration:
    """An iteration whose forest is made now, while its worker waits."""
    if iteration.forest is None:
        return iteration
    forest = iteration.forest()
    return replace(iteration, forest=lambda: forest)


class Speaker:
    """Says after each iteration of a forest what was done; has the form that the optimiser expects.

    In another process it does nothing: the caller hears of a forest when it is done.
    """

    def __init__(
        self, hearing: Hearing | None = None, forest: int = 0, run: ForestRun | None = None
    ) -> None:
        self._hearing = hearing
        self._forest = forest
        self._n_restored = 0 if run is None else run.n_iterations
        self._known = () if run is None else run.iterations
        self._n_said = 0

    def __call__(self, trace: Trace, trees: Trees) -> bool:
        """Say what has not been said yet; True if there is no need to go on."""
        if self._hearing is None:
            return False
        said = list(iterations_of(trace, self._n_said + 1, self._n_restored, self._known))
        said[-1] = replace(said[-1], forest=lambda: OptimizedForest(trees(), trace.copied()))
        self._n_said = said[-1].number
        return self._hearing.say(self._forest, said)

    def __reduce__(self) -> tuple[type[Speaker], tuple[()]]:
        return Speaker, ()
