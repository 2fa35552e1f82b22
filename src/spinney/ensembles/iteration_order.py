"""Bring the iterations of forests that are at work at once into order.

Workers report each iteration as it is done. The thread that called ``fit`` passes them on, forest
by forest: those of a later forest wait until the forests before it are done. A worker never waits
for an answer. If the fit is to end after an iteration that its worker has left behind, the forest
is taken up again from the state it had then, so workers report such states too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.state import ForestRun, Save
from spinney.algorithms.trace import Trace
from spinney.ensembles.recipe import Step, Steps
from spinney.ensembles.stop import StopSignal
from spinney.tree.structure import Tree

#: States of a waiting forest that are kept at once; a stop goes on from the last one before it.
MOST_RUNS = 8

Trees: TypeAlias = Callable[[], tuple[Tree, ...]]


class StopBehindError(Exception):
    """The fit is to end after an iteration that its worker has left behind.

    Attributes
    ----------
    number : int
        The iteration.
    run : ForestRun or None
        State of the forest after it or after an earlier one; None if none was reported.
    """

    def __init__(self, number: int, run: ForestRun | None) -> None:
        super().__init__(number)
        self.number = number
        self.run = run


def iterations_of(
    trace: Trace, first: int = 1, n_restored: int = 0, known: Sequence[tuple[Tree, ...]] = ()
) -> Iterator[Step]:
    """Iterations of a trace from number `first` on; `known` holds the trees of those before."""
    entries = [entry for entry, phase in enumerate(trace.phase) if phase == "leaves"]
    for number, entry in enumerate(entries[first - 1 :], first):
        make_part = None
        if number <= len(known):
            make_part = partial(OptimizedForest, known[number - 1], trace.until(entry))
        is_restored = number <= n_restored
        yield Step.at(trace, entry, number, make_part=make_part, is_restored=is_restored)


class IterationOrder:
    """Passes on the iterations of all forests, those of one forest after the other.

    Parameters
    ----------
    steps : Steps
        Whom they are handed on to.
    first : int
        Number of the first forest.
    """

    def __init__(self, steps: Steps, first: int) -> None:
        self._steps = steps
        self.forest = first  # whose iterations are passed on now
        self.is_stopped = False
        self._n_told = 0  # of its iterations
        self._last_run: ForestRun | None = None  # the last state of it that was reported
        self._n_restored: dict[int, int] = {}  # iterations that were done before, by forest
        self._waiting: dict[int, list[Step]] = {}  # of later forests
        self._owner = threading.get_ident()
        self._reports: SimpleQueue[Any] = SimpleQueue()
        self._is_open = False

    def open(self) -> None:
        """Promise to listen to other threads; before that, what they report is lost."""
        self._is_open = True

    def reporter(
        self, forest: int, run: ForestRun | None, save: Save[ForestRun] | None
    ) -> Reporter:
        """What the worker of a forest reports to; `run` is where the forest was left."""
        self._n_restored[forest] = 0 if run is None else run.n_iterations
        return Reporter(self, forest, run, save)

    def report(self, forest: int, done: list[Step]) -> bool:
        """Take what a worker has done. True if there is no need to go on."""
        if threading.get_ident() == self._owner:
            return self._take(forest, done)
        if self._is_open:  # else a worker of a backend that has no business with this thread
            self._reports.put((forest, [self._as_it_is(step) for step in done]))
        return False

    def restore_forest(self, found: OptimizedForest) -> None:
        """Report a forest that was done in an earlier call."""
        self._n_restored[self.forest] = found.trace.phase.count("leaves")
        self.end_forest(found)

    def end_forest(self, found: OptimizedForest) -> None:
        """Pass on what no worker has reported of a forest that is done, in another process say."""
        if not self.is_stopped:
            n_restored, first = self._n_restored[self.forest], self._n_told + 1
            rest = iterations_of(found.trace, first, n_restored, found.iterations)
            self._take(self.forest, list(rest))

    def next_forest(self) -> None:
        """Turn to the next forest, and pass on what its worker has reported already."""
        self.forest, self._n_told, self._last_run = self.forest + 1, 0, None
        if self._report_all(self._waiting.pop(self.forest, [])):
            raise self._stop_behind()

    def listen(
        self, parts: Iterator[OptimizedForest], stop: StopSignal
    ) -> Generator[OptimizedForest, None, None]:
        """The forests that workers hand over, in order; between them, what they report.

        Workers cannot stop at an iteration by themselves, so the fit ends with a StopBehindError.
        """
        waiter = threading.Thread(target=self._wait_for, args=(parts,), daemon=True)
        waiter.start()
        try:
            while (report := self._reports.get()) is not None:
                if isinstance(report, BaseException):
                    raise report
                if isinstance(report, OptimizedForest):
                    yield report
                elif self._take(*report):
                    raise self._stop_behind()
        finally:
            stop.stop()
            waiter.join()

    def _wait_for(self, parts: Iterator[OptimizedForest]) -> None:
        try:
            for part in parts:
                self._reports.put(part)
        except BaseException as error:  # it belongs to the one who listens
            self._reports.put(error)
        else:
            self._reports.put(None)

    def _as_it_is(self, step: Step) -> Step:
        """A step whose forest and state are made now, before its worker goes on."""
        if self._steps.wants_parts and step.make_part is not None:
            step = replace(step, make_part=_constant(step.make_part()))
        if self._steps.may_stop and step.make_run is not None:
            return replace(step, make_run=_constant(step.make_run()))
        return replace(step, make_run=None)

    def _take(self, forest: int, done: list[Step]) -> bool:
        """Pass on the steps of the forest whose turn it is; keep those of others for later."""
        for step in done:
            self._steps.count(forest, step.number)
        if forest == self.forest:
            if self._report_all(done) and self._n_told < done[-1].number:
                raise self._stop_behind()
            return self.is_stopped
        self._waiting[forest] = _thinned([*self._waiting.get(forest, []), *done])
        return False

    def _report_all(self, done: list[Step]) -> bool:
        """Pass on steps up to the one after which the fit is to end, if there is one."""
        for step in done:
            self._n_told = step.number
            if self._is_open and step.make_run is not None:
                self._last_run = step.make_run()
            if self._steps.report(self.forest, step):
                self.is_stopped = True
                return True
        return False

    def _stop_behind(self) -> StopBehindError:
        return StopBehindError(self._n_told, self._last_run)


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _thinned(steps: list[Step]) -> list[Step]:
    """The same steps; if many hold a state, every second of these lets it go."""
    holders = [place for place, step in enumerate(steps) if step.make_run is not None]
    if len(holders) > MOST_RUNS:
        for place in holders[1::2]:
            steps[place] = replace(steps[place], make_run=None)
    return steps


class Reporter:
    """Reports each iteration of a forest; has the forms that the optimiser expects.

    In another process it reports nothing: the whole forest comes back anyway.
    """

    def __init__(
        self,
        order: IterationOrder | None = None,
        forest: int = 0,
        run: ForestRun | None = None,
        save: Save[ForestRun] | None = None,
    ) -> None:
        self._order = order
        self._forest = forest
        self._n_restored = 0 if run is None else run.n_iterations
        self._known = () if run is None else run.iterations
        self._n_reported = 0
        self._save = save
        self._make_run: Callable[[], ForestRun] | None = None

    def save(self, make_run: Callable[[], ForestRun]) -> None:
        """Take the state after an iteration, for the checkpoint and for a stop."""
        self._make_run = make_run
        if self._save is not None:
            self._save(make_run)

    def __call__(self, trace: Trace, trees: Trees) -> bool:
        """Report what has not been reported yet; True if there is no need to go on."""
        if self._order is None:
            return False
        done = list(iterations_of(trace, self._n_reported + 1, self._n_restored, self._known))
        done[-1] = replace(
            done[-1],
            make_part=lambda: OptimizedForest(trees(), trace.copied()),
            make_run=self._make_run,
        )
        self._n_reported = done[-1].number
        return self._order.report(self._forest, done)

    def __reduce__(self) -> tuple[type[Reporter], tuple[()]]:
        return Reporter, ()
