"""Callbacks hear of every part in order, may end the fit, and change nothing else."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace
from typing import Any

import pytest
from sklearn.base import clone

import spinney
from spinney import FitEvent
from tests.bits import differences, same
from tests.contracts.listened import LISTENED as FITS
from tests.contracts.listened import StopAt, every, fit, part_of


def events_of(name: str, **parameters: Any) -> list[FitEvent]:
    told: list[FitEvent] = []
    fit(name, told.append, **parameters)
    return told


def timeless(events: list[FitEvent]) -> list[FitEvent]:
    return [replace(event, seconds=0.0, restored=False) for event in events]


# --- what is heard --------------------------------------------------------------------------------


@every
def test_every_part_is_told_in_order(name: str) -> None:
    estimator, _, _, n_events = FITS[name]
    events = events_of(name)
    assert len(events) == n_events
    assert {event.estimator for event in events} == {type(estimator).__name__}
    assert {event.part for event in events} == {part_of(name)}
    n_a_forest = 3 if name.startswith("fao") else n_events
    assert [event.number for event in events] == [1 + n % n_a_forest for n in range(n_events)]
    assert {event.total for event in events} == {n_a_forest}
    seconds = [event.seconds for event in events]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    assert not any(event.restored for event in events)


@every
def test_what_is_told_does_not_depend_on_the_number_of_jobs(name: str) -> None:
    assert timeless(events_of(name, n_jobs=1)) == timeless(events_of(name, n_jobs=2))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["bagged", "fao", "greedy", "tree"])
def test_the_thread_that_fits_is_the_one_that_hears(name: str, n_jobs: int) -> None:
    heard: list[int] = []
    fit(name, lambda _: heard.append(threading.get_ident()), n_jobs=n_jobs)
    assert set(heard) == {threading.get_ident()}


@every
def test_listening_changes_no_bit(name: str) -> None:
    assert differences(fit(name), fit(name, lambda _: False)) == []


# --- stopping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("last", [1, 3])
@pytest.mark.parametrize(
    "name", ["bagged", "bagged path", "boosted", "gradient", "co2", "ho", "greedy"]
)
def test_a_stop_keeps_the_trees_so_far(name: str, last: int, n_jobs: int) -> None:
    whole, stopped = fit(name), fit(name, StopAt(last), n_jobs=n_jobs)
    assert len(stopped) == last
    assert same(list(stopped.trees_), list(whole.trees_[:last]))
    assert stopped.stopped_by_callback_ is True
    if name != "bagged path":  # a path of penalties depends on how many trees share it
        stopped.n_estimators = last
        assert differences(fit(name, n_estimators=last), stopped) == ["stopped_by_callback_"]


@every
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_is_told_after_a_stop(name: str, n_jobs: int) -> None:
    n_events = FITS[name][3]
    for last in {1, (n_events + 1) // 2, n_events}:
        stop = StopAt(last)
        model = fit(name, stop, n_jobs=n_jobs)
        assert len(stop.told) == last
        assert timeless(stop.told) == timeless(events_of(name))[:last]
        assert model.stopped_by_callback_
        assert model.predict(FITS[name][1][0]).shape[0] == FITS[name][1][0].shape[0]


@pytest.mark.parametrize("name", ["bagged", "bagged path", "boosted", "gradient", "greedy"])
def test_a_warm_start_goes_on_after_a_stop(name: str) -> None:
    _, data, arguments, _ = FITS[name]
    model = fit(name, StopAt(2), warm_start=True)
    told: list[FitEvent] = []
    model.fit(*data, **arguments, callback=told.append)
    assert [event.number for event in told] == [3, 4]
    assert differences(fit(name, warm_start=True), model) == []


@every
def test_the_flag_is_kept_by_files_and_reset_by_the_next_fit(name: str, tmp_path: Any) -> None:
    estimator, data, arguments, _ = FITS[name]
    assert estimator.stopped_by_callback_ is False
    model = fit(name, StopAt(1))
    spinney.save(model, tmp_path / "model")
    for copy in (spinney.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert copy.stopped_by_callback_ is True
        assert differences(model, copy) == []
    assert clone(model).stopped_by_callback_ is False
    model.fit(*data, **arguments)
    assert model.stopped_by_callback_ is False
    assert differences(model, fit(name)) == []


# --- failing --------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_error_in_a_callback_leaves_the_estimator_as_it_was(
    name: str, n_jobs: int, error: type[BaseException]
) -> None:
    _, data, arguments, n_events = FITS[name]
    model = fit(name, n_jobs=n_jobs)
    before, n_threads = dict(vars(model)), threading.active_count()
    told: list[FitEvent] = []

    def fail(event: FitEvent) -> None:
        told.append(event)
        if len(told) == (n_events + 1) // 2:
            raise error("no more")

    with pytest.raises(error, match="no more"):
        model.fit(*data, **arguments, callback=fail)
    assert vars(model) == before
    assert threading.active_count() <= n_threads + 3  # idle threads of the pool


@every
def test_what_is_no_function_is_refused_before_any_work(name: str) -> None:
    estimator, _, _, _ = FITS[name]
    with pytest.raises(TypeError, match=r"callback=3 is of type int; give a function"):
        clone(estimator).fit("no rows", None, callback=3)


# --- with a checkpoint ----------------------------------------------------------------------------


@every
@pytest.mark.usefixtures("always_due")
def test_a_stopped_fit_is_resumed_without_the_callback(name: str, tmp_path: Any) -> None:
    n_events = FITS[name][3]
    whole = fit(name)
    for last in {1, (n_events + 1) // 2, n_events}:
        path = tmp_path / f"{last}.checkpoint"
        stopped = fit(name, StopAt(last), path)
        assert differences(stopped, fit(name, StopAt(last))) == []
        assert differences(whole, fit(name, checkpoint=path)) == []


@every
@pytest.mark.usefixtures("always_due")
def test_what_a_checkpoint_gives_back_is_told_again(name: str, tmp_path: Any) -> None:
    n_events = FITS[name][3]
    path = tmp_path / "fit.checkpoint"
    # Means of hyperplanes are taken at the end, and then in the checkpoint.
    values = {"average_last": 1} if name == "fao judged" else {}
    fit(name, StopAt((n_events + 1) // 2), path, **values)
    told: list[FitEvent] = []
    fit(name, told.append, path, **values)
    assert timeless(told) == timeless(events_of(name, **values))
    n_restored = sum(event.restored for event in told)
    assert [event.restored for event in told] == [n < n_restored for n in range(n_events)]
    assert n_restored > 0


@every
@pytest.mark.usefixtures("always_due")
def test_a_stop_before_the_end_of_a_checkpoint_gives_the_same_model(
    name: str, tmp_path: Any
) -> None:
    path = tmp_path / "fit.checkpoint"
    fit(name, checkpoint=path)
    for last in (1, FITS[name][3]):
        assert differences(fit(name, StopAt(last)), fit(name, StopAt(last), path)) == []
    assert differences(fit(name), fit(name, checkpoint=path)) == []


# --- around estimators ----------------------------------------------------------------------------
