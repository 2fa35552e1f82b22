"""The bar says how far a fit is, fits where it is shown, and breaks nothing that is redirected."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

from spinney import FAOForestClassifier, FitEvent, GreedyForestClassifier, regularization_path
from spinney.estimators import TAOTreeClassifier
from spinney.fitting.progress import Progress, display, screen
from spinney.fitting.progress.display import EveryPart, LiveBar, display_for
from spinney.fitting.progress.words import clock, line_of
from tests.contracts.listened import LISTENED as FITS
from tests.contracts.listened import StopAt, every, part_of
from tests.fitting.progress.test_screen import FakeTerminal

IRIS = load_iris(return_X_y=True)
CONTROL = re.compile(r"[^\x20-\x7e\n]")


def nothing() -> None:
    return None


def shown_on(stream: Any, estimator: Any, data: Any, **arguments: Any) -> str:
    """What a fit writes to a stream that stands for stderr."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.setattr(screen, "LIVE_PAUSE", 0.0)
        patch.setenv("TERM", "xterm")
        clone(estimator).set_params(random_state=0).fit(*data, **arguments)
    text: str = stream.getvalue()
    return text


# --- where it is shown ----------------------------------------------------------------------------


@every
@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_redirected_output_has_no_control_characters(name: str, verbose: int) -> None:
    estimator, data, arguments, n_events = FITS[name]
    estimator = clone(estimator).set_params(verbose=verbose)
    text = shown_on(io.StringIO(), estimator, data, **arguments)
    assert not CONTROL.search(text)
    assert len(text.splitlines()) == (0, 1, n_events)[verbose]
    assert not text or text.endswith("\n")


@every
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_terminal_shows_one_line_that_is_rewritten(name: str, n_jobs: int) -> None:
    estimator, data, arguments, n_events = FITS[name]
    estimator = clone(estimator).set_params(verbose=1, n_jobs=n_jobs)
    text = shown_on(FakeTerminal(), estimator, data, **arguments)
    assert text.count("\n") == 1
    assert text.startswith("\r")
    assert text.endswith("\n")
    states = text.rstrip("\n").split("\r")[1:]
    assert all(len(state) <= 79 for state in states)
    assert f"{n_events}/{n_events} " in states[-1]
    assert "done" in states[-1]
    assert re.search(rf" {part_of(name)}{'s' if n_events > 1 else ''} ", states[-1])


@every
def test_nothing_is_shown_on_stdout(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    estimator, data, arguments, _ = FITS[name]
    for verbose in (1, 2):
        clone(estimator).set_params(random_state=0, verbose=verbose).fit(*data, **arguments)
    assert capsys.readouterr().out == ""


def test_the_bar_shows_objective_validation_and_time() -> None:
    estimator, data, arguments, _ = FITS["boosted"]
    estimator = clone(estimator).set_params(verbose=1)
    text = shown_on(io.StringIO(), estimator, data, **arguments)
    number = r"\d[\d.e+-]*"
    assert re.fullmatch(
        rf"TAOBoostClassifier  4/4 rounds  \[#+\]  objective {number} +validation error {number}"
        r" +0:\d\d, done\n",
        text,
    )


def test_texts_that_nobody_sees_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = LiveBar._fitted

    def fitted(*given: Any) -> str:
        made.append(real(*given))
        return made[-1]

    monkeypatch.setattr(LiveBar, "_fitted", fitted)
    shown_on(io.StringIO(), GreedyForestClassifier(20, max_depth=1, verbose=1), IRIS)
    assert len(made) == 1


def test_a_stop_and_a_failure_are_said() -> None:
    estimator = GreedyForestClassifier(9, verbose=1)
    text = shown_on(io.StringIO(), estimator, IRIS, callback=StopAt(2))
    assert "2/9 trees" in text
    assert text.endswith("stopped by callback\n")

    def fail(_: FitEvent) -> None:
        raise KeyboardInterrupt

    stream = FakeTerminal()
    with pytest.raises(KeyboardInterrupt):
        shown_on(stream, estimator, IRIS, callback=fail)
    assert "1/9 trees" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("not finished")


def test_no_console_and_no_wish_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert display_for(0) is None
    assert display_for(False) is None
    assert isinstance(display_for(True), LiveBar)
    assert isinstance(display_for(1), LiveBar)
    assert isinstance(display_for(2), EveryPart)
    monkeypatch.setattr(sys, "stderr", None)
    assert display_for(1) is None
    GreedyForestClassifier(2, verbose=1).fit(*IRIS)


def test_a_path_shows_its_trees(capsys: pytest.CaptureFixture[str]) -> None:
    for verbose, n_lines in ((0, 0), (1, 1), (2, 3)):
        tree = TAOTreeClassifier(max_depth=2, max_iter=3, random_state=0, verbose=verbose)
        regularization_path(tree, *IRIS, alphas=[0.1, 1.0, 10.0])
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == n_lines
    assert err.splitlines()[1].startswith("tree    2 of 3  sweeps ")


SCRIPT = """
import sys
from sklearn.datasets import load_iris
from spinney import FAOForestClassifier
X, y = load_iris(return_X_y=True)
FAOForestClassifier(2, 2, max_depth=2, max_iter=3, random_state=0, verbose=1, n_jobs=2).fit(X, y)
print("result")
"""


@pytest.mark.slow
def test_a_real_terminal_and_a_real_pipe_are_told_apart() -> None:
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", SCRIPT]
    with os.fdopen(parent, "rb", buffering=0) as reader:
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=child, env=environment, text=True
        )
        os.close(child)
        seen = b""
        try:
            while piece := reader.read(4096):
                seen += piece
        except OSError:  # the other end is closed
            pass
        out, _ = running.communicate()
    assert running.returncode == 0
    assert out == "result\n"
    assert seen.startswith(b"\rFAOForestClassifier  0/6 iterations")
    assert b"6/6 iterations" in seen
    assert seen.count(b"\n") == 1
    piped = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert piped.stdout == "result\n"
    assert len(piped.stderr.splitlines()) == 1
    assert not CONTROL.search(piped.stderr)


# --- what it says ---------------------------------------------------------------------------------


class Wide:
    """A screen of any width that remembers."""

    def __init__(self, n_columns: int = 200, *, has_blocks: bool = True) -> None:
        self.n_columns = n_columns
        self.has_blocks = has_blocks
        self.texts: list[str] = []

    def is_due(self) -> bool:
        return True

    def show(self, text: str) -> None:
        self.texts.append(text)

    finish = show


def bar_on(wide: Wide, monkeypatch: pytest.MonkeyPatch) -> Progress:
    monkeypatch.setattr(display, "screen_for", lambda _: wide)
    return Progress("TAOForestClassifier", [LiveBar(io.StringIO())])


def test_time_left_follows_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    class Time:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    wide, time = Wide(), Time()
    monkeypatch.setattr(display, "time", time)
    progress = bar_on(wide, monkeypatch)
    progress.begin("tree", 10, first=2)
    assert "left" not in wide.texts[-1]
    time.now = 30.0
    progress.report(progress.event(3), nothing)
    assert wide.texts[-1].startswith("TAOForestClassifier   3/10 trees  [")
    assert wide.texts[-1].endswith("0:30, 3:30 left")
    time.now = 4000.0
    progress.report(progress.event(9), nothing)
    assert wide.texts[-1].endswith("1:06:40, 9:31 left")


def test_what_a_checkpoint_gave_back_does_not_count_for_the_pace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Time:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    wide, time = Wide(), Time()
    monkeypatch.setattr(display, "time", time)
    progress = bar_on(wide, monkeypatch)
    progress.begin("tree", 10)
    for number in range(1, 6):
        progress.report(replace(progress.event(number), restored=True), nothing)
    assert "left" not in wide.texts[-1]
    time.now = 60.0
    progress.report(progress.event(6), nothing)
    assert wide.texts[-1].endswith("1:00, 4:00 left")


def test_iterations_of_all_forests_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Wide()
    progress = bar_on(wide, monkeypatch)
    progress.begin("iteration", 5, n_forests=3, first_forest=1)
    progress.count(3, 1)
    progress.count(2, 1)
    assert " 2/10 iterations " in wide.texts[-1]
    progress.report(replace(progress.event(1), forest=2), nothing)
    assert " 2/10 iterations " in wide.texts[-1]
    progress.end_forest(nothing)  # it needed no more
    progress.count(3, 2)
    assert " 7/10 iterations " in wide.texts[-1]


@pytest.mark.parametrize(("columns", "n_blocks"), [(160, 24), (100, 24), (79, 16), (39, 8)])
def test_the_bar_stays_as_long_as_it_is(
    monkeypatch: pytest.MonkeyPatch, columns: int, n_blocks: int
) -> None:
    wide = Wide(columns)
    progress = bar_on(wide, monkeypatch)
    progress.begin("iteration", 100)
    for number, objective in enumerate((12345.6, 99.5, 1e-7, 3.25, 1e7, 2.0, 0.125), start=5):
        event = replace(progress.event(number), objective=objective, validation=objective / 3)
        progress.report(event, nothing)
    progress.end(nothing)
    lengths = {text.count("█") + text.count("░") for text in wide.texts}
    assert lengths == {n_blocks}
    assert len({text.index("]") for text in wide.texts[1:]}) == 1


def test_a_measure_that_gets_shorter_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Wide(160)
    progress = bar_on(wide, monkeypatch)
    progress.begin("iteration", 9)
    for number, objective in enumerate((1234.56, 2.0, 33.5), start=1):
        event = replace(progress.event(number), objective=objective, validation=0.5)
        progress.report(event, nothing)
    assert len({text.index("validation") for text in wide.texts[1:]}) == 1


def test_one_part_is_one_and_not_several(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Wide()
    progress = bar_on(wide, monkeypatch)
    progress.begin("tree", 1)
    assert " 0/1 tree  [" in wide.texts[-1]
    progress.begin("tree", None)
    progress.report(progress.event(1), nothing)
    assert " 1 tree " in wide.texts[-1]


@given(
    columns=st.integers(5, 200),
    done=st.integers(0, 50),
    objective=st.none() | st.floats(-1e300, 1e300),
    validation=st.none() | st.floats(0, 1e9),
)
def test_the_text_never_exceeds_the_screen(
    columns: int, done: int, objective: float | None, validation: float | None
) -> None:
    wide = Wide(columns)
    with pytest.MonkeyPatch.context() as patch:
        progress = bar_on(wide, patch)
        progress.begin("round", 50, validation="loss")
        event = replace(progress.event(done), objective=objective, validation=validation)
        progress.report(event, nothing)
        progress.end(nothing)
    assert all(len(text) <= columns for text in wide.texts)
    n_full, n_empty = wide.texts[-1].count("█"), wide.texts[-1].count("░")
    if n_full + n_empty:
        assert n_full == (n_full + n_empty) * done // 50


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0:00"), (59.9, "0:59"), (61, "1:01"), (36_061, "10:01:01")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_lines_say_all_that_is_known() -> None:
    tree = FitEvent(
        "F", "tree", 3, 10, 1.25, objective=2.5, loss=1.5, n_active=7, n_sweeps=4, n_nodes=15
    )
    assert line_of(tree) == (
        "tree    3 of 10  sweeps 4  objective 2.5  loss 1.5  active 7  1.250 s"
    )
    grown = FitEvent("F", "tree", 3, None, 1.0, n_active=7, n_nodes=15, depth=3)
    assert line_of(grown) == "tree    3  nodes 15  depth 3  1.000 s"
    sweep = FitEvent("T", "sweep", 1, 20, 0.5, objective=2.0, loss=1.0, phase="settle")
    assert line_of(sweep) == "sweep    1 of 20 (settle)  objective 2  loss 1  0.500 s"
    iteration = FitEvent("A", "iteration", 1, 20, 0.5, validation=0.25, forest=2, n_forests=5)
    assert line_of(iteration, "loss") == (
        "forest   2 of 5  iteration    1 of 20  validation loss 0.2500  0.500 s"
    )


def test_forests_at_work_at_once_share_one_bar() -> None:
    forest = FAOForestClassifier(3, 2, max_depth=2, max_iter=4, tol=0.0, verbose=1, n_jobs=2)
    text = shown_on(FakeTerminal(), forest, IRIS)
    counts = [int(count) for count in re.findall(r"(\d+)/12 iterations", text)]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 12)
