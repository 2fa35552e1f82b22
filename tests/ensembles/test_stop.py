"""Workers end when the caller does, and nobody waits for himself."""

from __future__ import annotations

import pickle
import threading
import time

import numpy as np
import pytest

from spinney.algorithms.grow import GrowOptions, grow_tree
from spinney.data import classification_problem
from spinney.ensembles.stop import StoppedError, StopSignal


def test_nothing_happens_until_the_flag_is_raised():
    StopSignal().look()


def test_worker_learns_of_the_end_and_the_caller_waits_for_it():
    stop = StopSignal()
    began, ended = threading.Event(), threading.Event()

    def work():
        with stop.working():
            began.set()
            try:
                while True:
                    time.sleep(0.001)
                    stop.look()
            except StoppedError:
                time.sleep(0.05)
                ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    stop.stop()
    assert ended.is_set()
    thread.join()


def test_worker_is_stopped_inside_a_native_call():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300).astype(np.int32)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    problem = classification_problem(X, labels, 3, np.ones(300))
    endless = GrowOptions(split="perceptron", max_epochs=10**9)
    stop, began, faults = StopSignal(), threading.Event(), []

    def work():
        try:
            with stop.working():
                began.set()
                grow_tree(problem, endless)
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    began.wait()
    time.sleep(0.1)  # by now it is in there
    stopper = threading.Thread(target=stop.stop, daemon=True)
    stopper.start()
    stopper.join(5)
    assert not stopper.is_alive()
    thread.join()
    assert [type(fault) for fault in faults] == [StoppedError]


def test_worker_that_stops_the_others_does_not_wait_for_itself():
    stop = StopSignal()
    with stop.working():
        stop.stop()
        with pytest.raises(StoppedError):
            stop.look()


def test_copy_in_another_process_is_a_fresh_flag():
    stop = StopSignal()
    stop.stop()
    pickle.loads(pickle.dumps(stop)).look()
