"""However workers take turns, the caller hears of forests and iterations in order."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.state import ForestRun
from spinney.algorithms.trace import Trace
from spinney.ensembles.iteration_order import (
    MOST_RUNS,
    IterationOrder,
    Reporter,
    StopBehindError,
    iterations_of,
)
from spinney.ensembles.recipe import NO_STEPS, NoSteps, Step
from spinney.ensembles.stop import StoppedError, StopSignal

N_FORESTS, N_ITERATIONS = 3, 4


class Listener(NoSteps):
    """Notes what it hears, and says stop after an iteration."""

    has_listeners = wants_parts = may_stop = True

    def __init__(self, last: tuple[int, int] | None = None) -> None:
        self.last = last
        self.heard: list[tuple[int, int]] = []
        self.counted: list[tuple[int, int]] = []
        self.threads: set[int] = set()

    def count(self, part: int, step: int) -> None:
        self.counted.append((part, step))

    def report(self, part: int, step: Step) -> bool:
        self.threads.add(threading.get_ident())
        if step.make_part is not None:
            assert step.make_part().trace.phase.count("leaves") == step.number
        self.heard.append((part, step.number))
        return self.heard[-1] == self.last


def run_after(number: int) -> ForestRun:
    """A state that only says after which iteration it is."""
    return ForestRun((), np.zeros((0, 0)), number, 0.0, 0, Trace())


def work(reporter: Reporter, pauses: list[float], stop: StopSignal) -> OptimizedForest:
    """A forest that takes its time."""
    trace = Trace()
    with stop.working():
        for number, pause in enumerate(pauses):
            time.sleep(pause)
            stop.look()
            trace.record(float(number), 0.0, 0, 0.0, "leaves")
            reporter.save(partial(run_after, number + 1))
            if reporter(trace, lambda: ()):
                break
    return OptimizedForest((), trace)


def in_order(futures: list[Future[OptimizedForest]]) -> Iterator[OptimizedForest]:
    for future in futures:
        yield future.result()


def run(listener: Listener, pauses: list[list[float]]) -> tuple[list[int], StopBehindError | None]:
    """Numbers of iterations of the forests that are handed over, and the word to go back."""
    order, stop = IterationOrder(listener, 0), StopSignal()
    order.open()
    lengths: list[int] = []
    with ThreadPoolExecutor(len(pauses)) as pool:
        futures = [
            pool.submit(work, order.reporter(number, None, None), of_forest, stop)
            for number, of_forest in enumerate(pauses)
        ]
        try:
            for found in order.listen(in_order(futures), stop):
                order.end_forest(found)
                lengths.append(len(found.trace.phase))
                if order.is_stopped:
                    break
                order.next_forest()
        except StopBehindError as passed:
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
def test_iterations_are_heard_in_order_up_to_the_stop(
    pauses: list[list[float]], place: int
) -> None:
    listener = Listener(IN_ORDER[place])
    lengths, passed = run(listener, pauses)
    assert listener.heard == IN_ORDER[: place + 1]
    assert listener.threads == {threading.get_ident()}
    assert set(listener.heard) <= set(listener.counted)
    forest, number = IN_ORDER[place]
    assert lengths == [N_ITERATIONS] * forest
    assert passed is not None
    assert passed.number == number
    assert passed.run is not None
    assert passed.run.n_iterations == number


def test_of_many_iterations_that_wait_some_states_are_kept() -> None:
    n_iterations, last = 5 * MOST_RUNS, 5 * MOST_RUNS - 3
    listener = Listener((1, last))
    order = IterationOrder(listener, 0)
    order.open()
    reporter = order.reporter(1, None, None)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work, reporter, [0.0] * n_iterations, StopSignal()).result(timeout=5)
    done = iter([OptimizedForest((), trace_of(0))])
    order.reporter(0, None, None)

    def hear_all() -> None:
        for found in order.listen(done, StopSignal()):
            order.end_forest(found)
            order.next_forest()

    with pytest.raises(StopBehindError) as passed:
        hear_all()
    assert passed.value.number == last
    assert passed.value.run is not None
    assert last - 2 * MOST_RUNS < passed.value.run.n_iterations <= last


def test_nobody_stops() -> None:
    listener = Listener()
    assert run(listener, [[0.0] * N_ITERATIONS] * N_FORESTS) == ([N_ITERATIONS] * N_FORESTS, None)
    assert listener.heard == IN_ORDER
    assert sorted(listener.counted) == IN_ORDER


def test_an_error_of_a_listener_reaches_the_caller() -> None:
    class Failing(Listener):
        def report(self, part: int, step: Step) -> bool:
            raise RuntimeError(f"{part} {step.number}")

    with pytest.raises(RuntimeError, match="0 1"):
        run(Failing(), [[0.0] * N_ITERATIONS] * N_FORESTS)


def test_an_error_of_a_worker_reaches_the_caller() -> None:
    order, stop = IterationOrder(Listener(), 0), StopSignal()
    order.open()

    def parts() -> Iterator[OptimizedForest]:
        raise MemoryError("too large")
        yield

    with pytest.raises(MemoryError, match="too large"):
        list(order.listen(parts(), stop))
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
    assert [iteration.make_part is None for iteration in found] == [False, True, True]
    assert found[0].make_part().trace == trace_of(2)


@pytest.mark.parametrize("last", [1, 2, 3, None])
def test_a_forest_that_nobody_reported_is_heard_at_its_end(last: int | None) -> None:
    listener = Listener(None if last is None else (0, last))
    order = IterationOrder(listener, 0)
    found = OptimizedForest((), trace_of(3))
    if last in (1, 2):
        with pytest.raises(StopBehindError) as passed:
            order.restore_forest(found)
        assert passed.value.number == last
    else:
        order.restore_forest(found)
    assert listener.heard == [(0, number + 1) for number in range(last or 3)]
    assert order.is_stopped == (last is not None)


def test_reports_of_other_processes_are_not_waited_for() -> None:
    order = IterationOrder(NO_STEPS, 0)
    sent = pickle.loads(pickle.dumps(order.reporter(0, None, None)))
    assert not sent(trace_of(1), tuple)
    listener = Listener()
    closed = IterationOrder(listener, 0)  # nobody listens to other threads
    with ThreadPoolExecutor(1) as pool:
        reporter = closed.reporter(0, None, None)
        assert not pool.submit(reporter, trace_of(1), tuple).result(timeout=5)
    assert listener.heard == []
    closed.end_forest(OptimizedForest((), trace_of(1)))
    assert listener.heard == [(0, 1)]
