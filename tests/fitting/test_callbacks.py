"""What events hold, what stopping means to each algorithm, and how callbacks are passed on."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney
from spinney import FAOForestClassifier, FAOForestRegressor, FitEvent, GreedyForestClassifier
from spinney.estimators import TAOTreeRegressor
from spinney.images import PixelLabeler
from tests.bits import differences, same
from tests.contracts.cases import IRIS, NUMBERS, SPARSE, VALIDATION
from tests.contracts.listened import StopAt, fit


def events_of(name: str, **parameters: Any) -> list[FitEvent]:
    told: list[FitEvent] = []
    fit(name, told.append, **parameters)
    return told


def timeless(events: list[FitEvent]) -> list[FitEvent]:
    return [replace(event, seconds=0.0, restored=False) for event in events]


def test_events_hold_what_is_known() -> None:
    sweep = events_of("tree")[-1]
    tree = fit("tree")
    assert sweep.objective == tree.trace_.objective[-1]
    assert sweep.loss == tree.trace_.loss[-1]
    assert (sweep.n_active, sweep.phase) == (tree.trace_.n_active[-1], "settle")
    member, forest = events_of("bagged")[1], fit("bagged")
    assert member.objective == forest.traces_[1].objective[-1]
    assert (member.n_nodes, member.depth) == (forest.trees_[1].n_nodes, forest.trees_[1].max_depth)
    assert member.n_sweeps == len(forest.traces_[1])
    grown, greedy = events_of("greedy")[0], fit("greedy").trees_[0]
    assert (grown.objective, grown.loss, grown.validation) == (None, None, None)
    assert (grown.n_nodes, grown.n_active) == (greedy.n_nodes, greedy.n_nodes - greedy.n_leaves)
    iteration = events_of("fao")[4]
    trace = fit("fao").traces_[1].at("leaves")
    assert (iteration.forest, iteration.n_forests, iteration.number) == (2, 2, 2)
    assert (iteration.objective, iteration.loss) == (trace.objective[2], trace.loss[2])


def test_an_event_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        events_of("greedy")[0].number = 7  # type: ignore[misc]


def test_the_validation_error_is_told() -> None:
    told = [event.validation for event in events_of("boosted")]
    assert told == fit("boosted").validation_errors_.tolist()
    told = [event.validation for event in events_of("gradient of numbers")]
    assert told == fit("gradient of numbers").validation_losses_.tolist()
    assert all(event.validation is None for event in events_of("fao"))


@pytest.mark.parametrize("last", [1, 2, 4, 6])
def test_the_validation_loss_of_forests_is_that_of_the_model_so_far(last: int) -> None:
    stop = StopAt(last)
    model = fit("fao judged", stop, average_last=1)
    scores = model.decision_function(VALIDATION["X_val"])
    codes = VALIDATION["y_val"]
    wanted = np.eye(3)[codes]
    gaps = np.where(wanted > 0, np.maximum(1 - scores, 0), np.maximum(scores, 0))
    assert stop.told[-1].validation == pytest.approx((gaps**2).sum(axis=1).mean(), rel=1e-6)


@pytest.mark.parametrize("name", ["fao", "fao judged", "fao of numbers"])
def test_a_stopped_forest_is_the_same_for_any_number_of_jobs(name: str) -> None:
    for last in range(1, 7):
        alone = fit(name, StopAt(last))
        assert alone.n_forests_ == 1 + (last > 3)
        assert [trace.phase.count("leaves") for trace in alone.traces_][-1] == (last - 1) % 3 + 1
        assert differences(alone, fit(name, StopAt(last), n_jobs=2)) == []


def test_a_forest_that_ran_ahead_of_the_stop_goes_back() -> None:
    def slowly(event: FitEvent) -> bool:
        time.sleep(0.05)  # the second forest is done before it is heard
        return (event.forest, event.number) == (2, 1)

    assert differences(fit("fao", StopAt(4)), fit("fao", slowly, n_jobs=2)) == []


def test_forests_of_other_processes_are_heard_when_they_are_done() -> None:
    stop = StopAt(5)
    with parallel_config("loky", n_jobs=2):
        found = fit("fao", stop)
    assert timeless(stop.told) == timeless(events_of("fao"))[:5]
    assert differences(fit("fao", StopAt(5)), found) == []


@pytest.mark.parametrize("last", range(1, 10))
def test_a_stopped_tree_is_the_best_so_far(last: int) -> None:
    X, y = IRIS
    whole, stopped = fit("tree"), fit("tree", StopAt(last))
    assert stopped.n_iter_ == last
    assert same(stopped.trace_.objective[:last], whole.trace_.objective[:last])
    # Where the last tree is the best one, nodes that pruning removes no longer count.
    assert stopped.trace_.objective[last] <= whole.trace_.objective[last]
    best = 1 + int(np.argmin(stopped.trace_.objective[1:]))
    assert np.count_nonzero(stopped.predict(X) != y) == stopped.trace_.loss[best]


def test_a_tree_that_is_stopped_early_keeps_to_its_limit_on_weights() -> None:
    X, y = NUMBERS
    tree = TAOTreeRegressor(
        max_depth=3, max_iter=10, leaf="linear", max_weights=2, max_leaf_weights=3, random_state=0
    )
    tree.fit(X, y, callback=StopAt(1))
    assert tree.n_iter_ == 2  # the second one limits the weights
    assert np.diff(tree.tree_.split_indptr).max() == 2
    assert np.diff(tree.tree_.leaf_indptr).max() <= 3
    assert tree.score(X, y) > 0.2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_forests_that_are_stopped_early_keep_to_their_limit_on_weights(n_jobs: int) -> None:
    forest = FAOForestRegressor(
        2, 2, max_depth=2, max_iter=9, max_weights=2, random_state=0, n_jobs=n_jobs
    )
    forest.fit(*NUMBERS, callback=StopAt(1))
    assert forest.n_forests_ == 1
    assert max(np.diff(tree.split_indptr).max() for tree in forest.trees_) == 2
    assert forest.score(*NUMBERS) > 0.2


def test_early_stopping_goes_on_beside_a_callback() -> None:
    values = {"n_estimators": 9, "n_iter_no_change": 3}
    stopped = fit("boosted", StopAt(3), **values)
    assert len(stopped.validation_errors_) == 3
    assert len(stopped) == 1 + np.argmin(stopped.validation_errors_)
    early = FAOForestClassifier(
        2, 2, max_depth=2, max_iter=3, tol=0.0, early_stopping=True, random_state=3
    )
    early.fit(*IRIS, **VALIDATION, callback=StopAt(5))
    assert len(early.validation_losses_) == 3
    assert early.n_iter_ == 1 + np.argmin(early.validation_losses_)


def test_refit_leaves_the_forests_after_a_stop_as_they_are() -> None:
    whole, stopped = fit("fao"), fit("fao")
    whole.refit(*IRIS)
    stopped.refit(*IRIS, callback=StopAt(3))
    assert same(list(stopped.trees_[:2]), list(whole.trees_[:2]))
    assert same(list(stopped.trees_[2:]), list(fit("fao").trees_[2:]))
    assert stopped.n_forests_ == 2
    assert stopped.stopped_by_callback_


def test_numpy_may_say_stop() -> None:
    assert len(fit("greedy", lambda event: np.bool_(event.number == 2))) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_forests_that_are_listened_to(n_jobs: int) -> None:
    forest = FAOForestClassifier(4, 5, max_depth=5, max_iter=10_000, tol=0.0, n_jobs=n_jobs)
    n_threads = threading.active_count()
    has_begun = threading.Event()

    def interrupt() -> None:
        has_begun.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        forest.fit(*IRIS, callback=lambda _: has_begun.set())
    assert time.monotonic() - began < 30
    assert not hasattr(forest, "forest_")
    assert threading.active_count() <= n_threads + 3  # idle threads of the pool
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.15  # nobody works on


@pytest.mark.parametrize("answer", [1, "yes", 0.0, [], np.ones(2)], ids=str)
def test_an_answer_must_be_true_false_or_none(answer: Any) -> None:
    with pytest.raises(TypeError, match=r"callback returned .* return True to stop"):
        fit("greedy", lambda _: answer)


@pytest.mark.usefixtures("always_due")
def test_an_error_in_a_callback_leaves_a_checkpoint_to_go_on_from(tmp_path: Any) -> None:
    def fail(event: FitEvent) -> None:
        if event.number == 2:
            raise KeyboardInterrupt

    for name in ("tree", "bagged", "fao", "gradient"):
        path = tmp_path / name
        with pytest.raises(KeyboardInterrupt):
            fit(name, fail, path)
        assert differences(fit(name), fit(name, checkpoint=path)) == []


def test_a_pipeline_passes_the_callback_on() -> None:
    told: list[FitEvent] = []
    pipeline = make_pipeline(StandardScaler(), GreedyForestClassifier(3, random_state=0))
    pipeline.fit(*IRIS, greedyforestclassifier__callback=told.append)
    assert len(told) == 3


def test_metadata_routing_passes_the_callback_on() -> None:
    told: list[FitEvent] = []
    with sklearn.config_context(enable_metadata_routing=True):
        forest = GreedyForestClassifier(3, random_state=0).set_fit_request(callback=True)
        make_pipeline(StandardScaler(), forest).fit(*IRIS, callback=told.append)
    assert len(told) == 3


def test_a_callback_is_no_part_of_the_estimator() -> None:
    model = fit("greedy", lambda _: False)
    assert "callback" not in model.get_params()
    assert pickle.loads(pickle.dumps(model)).predict(SPARSE[0]).shape == (150,)


def test_pixels_are_labelled_by_an_estimator_that_is_listened_to() -> None:
    images = np.random.default_rng(0).normal(size=(2, 9, 9))
    labels = (images > 0).astype(int)
    told: list[FitEvent] = []
    labeler = PixelLabeler(GreedyForestClassifier(3), (3, 3), n_windows=50, random_state=0)
    labeler.fit(images, labels, callback=told.append)
    assert [event.number for event in told] == [1, 2, 3]
    other = PixelLabeler(make_pipeline(GreedyForestClassifier(3)), (3, 3), n_windows=50)
    with pytest.raises(TypeError, match=r"callback was given, but estimator=Pipeline takes none"):
        other.fit(images, labels, callback=told.append)


def test_refinement_of_leaves_is_heard_and_stopped() -> None:
    forest = fit("greedy")
    told: list[FitEvent] = []
    whole = spinney.refine_leaves(forest, *SPARSE, loss="log_loss", callback=told.append)
    assert [event.number for event in told] == list(range(1, len(told) + 1))
    assert len(told) > 3
    objectives = [event.objective for event in told]
    assert objectives == sorted(objectives, reverse=True)
    assert not whole.stopped_by_callback_
    stopped = spinney.refine_leaves(
        forest, *SPARSE, loss="log_loss", callback=lambda event: event.number == 2
    )
    assert stopped.stopped_by_callback_
    assert not np.array_equal(stopped.leaf_values_, whole.leaf_values_)
    assert stopped.predict(SPARSE[0]).shape == (150,)
    again = pickle.loads(pickle.dumps(stopped))
    assert again.stopped_by_callback_
    assert not again.fit(*SPARSE).stopped_by_callback_
