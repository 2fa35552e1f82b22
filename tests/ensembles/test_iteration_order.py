"""However workers take turns, the caller hears of forests and iterations in order."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.trace import Trace
from spinney.ensembles.iteration_order import (
    Hearing,
    Iteration,
    PassedError,
    Speaker,
    iterations_of,
)
from spinney.ensembles.stop import StoppedError, StopSignal

N_FORESTS, N_ITERATIONS = 3, 4


class Listener:
    """Notes what it hears, and says stop after an iteration."""

    wants_forests = True

    def __init__(self, last: tuple[int, int] | None = None) -> None:
        self.last = last
        self.heard: list[tuple[int, int]] = []
        self.noticed: list[tuple[int, int]] = []
        self.threads: set[int] = set()

    def notice(self, forest: int, number: int) -> None:
        self.noticed.append((forest, number))

    def hear(self, forest: int, iteration: Iteration) -> bool:
        self.threads.add(threading.get_ident())
        if iteration.forest is not None:
            made = iteration.forest()
            assert made.trace.phase.count("leaves") == iteration.number
        self.heard.append((forest, iteration.number))
        return self.heard[-1] == self.last


def work(speaker: Speaker, pauses: list[float], stop: StopSignal) -> OptimizedForest:
    """A forest that takes its time."""
    trace = Trace()
    with stop.working():
        for number, pause in enumerate(pauses):
            time.sleep(pause)
            stop.look()
            trace.record(float(number), 0.0, 0, 0.0, "leaves")
            if speaker(trace, lambda: ()):
                break
    return OptimizedForest((), trace)


def in_order(futures: list[Future[OptimizedForest]]) -> Iterator[OptimizedForest]:
    for future in futures:
        yield future.result()


def run(listener: Listener, pauses: list[list[float]]) -> tuple[list[int], PassedError | None]:
    """Numbers of iterations of the forests that are handed over, and the word to go back."""
    hearing, stop = Hearing(listener, 0), StopSignal()
    hearing.open()
    lengths: list[int] = []
    with ThreadPoolExecutor(len(pauses)) as pool:
        futures = [
            pool.submit(work, hearing.speaker(number), of_forest, stop)
            for number, of_forest in enumerate(pauses)
        ]
        try:
            for found in hearing.listen(in_order(futures), stop):
                hearing.end_forest(found)
                lengths.append(len(found.trace.phase))
                if hearing.is_stopped:
                    break
                hearing.next_forest()
        except PassedError as passed:
            return lengths, passed
    return lengths, None


IN_ORDER = [(forest, number + 1) for forest in range(N_FORESTS) for number in range(N_ITERATIONS)]
schedules = st.lists(
    st.lists(st.sampled_from([0.0, 0.002]), min_size=N_ITERATIONS, max_size=N_ITERATIONS),
    min_size=N_FORESTS,
    max_size=N_FORESTS,
)


@settings(max_examples=15)
@given(pauses=schedules, place=st.integers(0, len(IN_ORDER) - 1))
def test_words_are_heard_in_order_up_to_the_stop(pauses: list[list[float]], place: int) -> None:
    listener = Listener(IN_ORDER[place])
    lengths, passed = run(listener, pauses)
    assert listener.heard == IN_ORDER[: place + 1]
    assert listener.threads == {threading.get_ident()}
    assert set(listener.heard) <= set(listener.noticed)
    forest, number = IN_ORDER[place]
    if passed is None:
        assert lengths == [N_ITERATIONS] * forest + [number]
    else:
        assert lengths == [N_ITERATIONS] * forest
        assert passed.number == number


def test_nobody_stops() -> None:
    listener = Listener()
    assert run(listener, [[0.0] * N_ITERATIONS] * N_FORESTS) == ([N_ITERATIONS] * N_FORESTS, None)
    assert listener.heard == IN_ORDER
    assert sorted(listener.noticed) == IN_ORDER


def test_a_worker_that_waits_for_an_answer_is_let_go() -> None:
    class Failing(Listener):
        def hear(self, forest: int, iteration: Iteration) -> bool:
            raise RuntimeError(f"{forest} {iteration.number}")

    with pytest.raises(RuntimeError, match="0 1"):
        run(Failing(), [[0.0] * N_ITERATIONS] * N_FORESTS)


def test_an_error_of_a_worker_reaches_the_caller() -> None:
    hearing, stop = Hearing(Listener(), 0), StopSignal()
    hearing.open()

    def parts() -> Iterator[OptimizedForest]:
        raise MemoryError("too large")
        yield

    with pytest.raises(MemoryError, match="too large"):
        list(hearing.listen(parts(), stop))
    with pytest.raises(StoppedError):
        stop.look()


def trace_of(n_iterations: int) -> Trace:
    trace = Trace()
    trace.record(9.0, 9.0, 0, 0.0, "start")
    for number in range(n_iterations):
        trace.record(9.0, 9.0, 0, 0.0, "tree")
        trace.record(float(number), 0.0, 0, 0.0, "leaves")
    return trace


def test_iterations_are_the_entries_after_all_leaves() -> None:
    found = list(iterations_of(trace_of(4), 2, n_restored=3, known=[(), ()]))
    assert [iteration.number for iteration in found] == [2, 3, 4]
    assert [iteration.objective for iteration in found] == [1.0, 2.0, 3.0]
    assert [iteration.is_restored for iteration in found] == [True, True, False]
    assert [iteration.forest is None for iteration in found] == [False, True, True]
    assert found[0].forest().trace == trace_of(2)


@pytest.mark.parametrize("last", [1, 2, 3, None])
def test_a_forest_that_nobody_spoke_of_is_heard_at_its_end(last: int | None) -> None:
    listener = Listener(None if last is None else (0, last))
    hearing = Hearing(listener, 0)
    found = OptimizedForest((), trace_of(3))
    if last in (1, 2):
        with pytest.raises(PassedError) as passed:
            hearing.restore_forest(found)
        assert passed.value.number == last
    else:
        hearing.restore_forest(found)
    assert listener.heard == [(0, number + 1) for number in range(last or 3)]
    assert hearing.is_stopped == (last is not None)


def test_what_is_said_elsewhere_is_not_waited_for() -> None:
    assert not pickle.loads(pickle.dumps(Speaker(Hearing(Listener(), 0), 0)))(trace_of(1), tuple)
    listener = Listener()
    closed = Hearing(listener, 0)  # nobody listens to other threads
    with ThreadPoolExecutor(1) as pool:
        assert not pool.submit(closed.speaker(0), trace_of(1), tuple).result(timeout=5)
    assert listener.heard == []
    closed.end_forest(OptimizedForest((), trace_of(1)))
    assert listener.heard == [(0, 1)]
