"""Workers end when the caller does, and nobody waits for himself."""

from __future__ import annotations

import pickle
import threading
import time

import pytest

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
