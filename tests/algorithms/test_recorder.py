"""The trace while it is written."""

from __future__ import annotations

import pytest

from spinney.algorithms.recorder import Recorder
from spinney.algorithms.trace import Trace


def test_an_entry_is_an_objective_and_is_told():
    told = []
    recorder = Recorder(lambda trace: told.append(len(trace.objective)))
    assert recorder.record(2.0, 0.5, 3, "start") == 2.5
    recorder.tell()
    assert told == [1, 1]
    assert recorder.trace.as_dict() | {"seconds": []} == {
        "objective": [2.5],
        "loss": [2.0],
        "n_active": [3],
        "seconds": [],
        "phase": ["start"],
    }


def test_a_run_that_goes_on_leaves_the_earlier_trace_as_it_was():
    earlier = Trace([1.0], [1.0], [0], [100.0], ["start"])
    recorder = Recorder(None, earlier)
    recorder.record(0.5, 0.0, 0, "settle")
    assert len(earlier.objective) == 1
    assert recorder.trace.objective == [1.0, 0.5]
    assert recorder.trace.seconds[1] >= 100.0


def test_what_the_callback_raises_ends_the_run():
    def stop(trace):
        del trace
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Recorder(stop).tell()
