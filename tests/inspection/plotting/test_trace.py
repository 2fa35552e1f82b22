"""Lines are the traces of the estimators."""

from __future__ import annotations

import numpy as np
import pytest

from spinney import Trace
from spinney.inspection.plotting import TraceDisplay
from tests.compat.models import FORESTS, small_model
from tests.inspection.plotting.models import draw

TRACED = [name for name in FORESTS if name.startswith(("tao", "fao"))]
UNTRACED = sorted(set(FORESTS) - set(TRACED))


def traces_of(model) -> list[Trace]:
    return [model.trace_] if hasattr(model, "trace_") else list(model.traces_)


@pytest.mark.parametrize("name", TRACED)
def test_every_trace_of_a_model_is_drawn(name: str) -> None:
    model = small_model(name)
    display = TraceDisplay.from_estimator(model)
    draw(display)
    traces = traces_of(model)
    assert display.traces == traces
    drawn = [list(line.get_ydata()) for line in display.ax_.lines]
    for trace in traces:
        assert trace.objective in drawn
        assert trace.loss in drawn


def test_the_lines_of_a_single_tree_are_its_trace() -> None:
    model = small_model("tao_tree_classifier")
    display = TraceDisplay.from_estimator(model)
    for name, line in display.lines_.items():
        assert line.get_ydata().tolist() == getattr(model.trace_, name)
        assert line.get_xdata().tolist() == list(range(len(model.trace_) + 1))
    over_time = TraceDisplay.from_estimator(model, over="seconds")
    assert over_time.lines_["loss"].get_xdata().tolist() == model.trace_.seconds


def test_the_strong_line_is_the_median_of_those_that_go_on() -> None:
    traces = []
    for values in ([8.0, 4.0, 2.0], [6.0, 5.0], [1.0]):
        trace = Trace()
        for value in values:
            trace.record(value, value, 1, 0.0, "explore")
        traces.append(trace)
    display = TraceDisplay.from_traces(traces)
    assert display.lines_["loss"].get_ydata().tolist() == [6.0, 4.5]  # the third has one of three
    assert len(display.ax_.lines) == 8


def test_one_of_several_traces_can_be_taken() -> None:
    model = small_model("fao_forest_classifier")
    display = TraceDisplay.from_estimator(model, number=1)
    assert display.lines_["objective"].get_ydata().tolist() == model.traces_[1].objective


def test_the_axis_is_logarithmic_unless_a_loss_is_zero() -> None:
    for values, scale in (([4.0, 0.0], "linear"), ([4.0, 1.0], "log")):
        trace = Trace()
        for value in values:
            trace.record(value + 1, value, 1, 0.0, "explore")
        assert TraceDisplay.from_traces([trace]).ax_.get_yscale() == scale


def test_the_first_settling_sweep_is_marked() -> None:
    trace = Trace()
    for phase in ("start", "explore", "settle", "settle"):
        trace.record(2.0, 1.0, 3, 0.0, phase)
    display = TraceDisplay.from_traces([trace])
    assert [np.unique(line.get_xdata()).tolist() for line in display.ax_.lines][-1] == [2.0]


@pytest.mark.parametrize("name", UNTRACED)
def test_models_without_a_trace_are_refused_by_name(name: str) -> None:
    model = small_model(name)
    with pytest.raises(TypeError, match=f"{type(model).__name__} keeps no trace"):
        TraceDisplay.from_estimator(model)


@pytest.mark.parametrize(
    ("options", "words"), [({"over": "trees"}, "over='trees'"), ({"number": 7}, "number=7 of 3")]
)
def test_bad_options_are_refused_by_name(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TraceDisplay.from_estimator(small_model("tao_forest_classifier"), **options)


def test_no_traces_are_refused() -> None:
    with pytest.raises(ValueError, match="traces is empty"):
        TraceDisplay.from_traces([])
