"""Estimators speak scikit-learn's callback protocol, and do without it where it is not there."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney
from spinney import FAOForestClassifier, GreedyForestClassifier, TAOTreeClassifier
from tests.bits import differences
from tests.contracts.cases import IRIS
from tests.contracts.listened import LISTENED as FITS
from tests.contracts.listened import StopAt, every, fit, part_of

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")


class Recorder:
    """Notes every hook, and the answers of the fitted estimator; says stop at the end of a task."""

    def __init__(self, last: int | None = None, task: str | None = None) -> None:
        self.said: list[tuple[str, str, int]] = []
        self.models: list[Any] = []
        self.data: list[Any] = []
        self.last, self.task = last, task
        self.n_ended = 0

    def setup(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        self.said.append(("setup", context.task_name, context.task_id))

    def teardown(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        self.said.append(("teardown", context.task_name, context.task_id))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        self.said.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(
        self,
        estimator: Any,  # noqa: ARG002
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: Any = None,
        fitted_estimator: Any = None,
    ) -> bool:
        self.said.append(("end", context.task_name, context.task_id))
        self.data.append((X, y, metadata))
        if context.task_name != (self.task or context.task_name):
            return False
        if context.task_name not in ("fit", "forest"):
            self.models.append(fitted_estimator)
        self.n_ended += 1
        return self.n_ended == self.last


def listened_to(name: str, *callbacks: Any, **parameters: Any) -> Any:
    estimator, data, arguments, _ = FITS[name]
    model = clone(estimator).set_params(random_state=3, **parameters)
    return model.set_callbacks(*callbacks).fit(*data, **arguments)


def without(model: Any) -> Any:
    return model.set_callbacks()


def words(part: str, n_parts: int) -> list[tuple[str, str, int]]:
    """What is said of tasks that follow each other."""
    return [(hook, part, n) for n in range(n_parts) for hook in ("begin", "end")]


@every
def test_a_fit_is_a_tree_of_tasks(name: str) -> None:
    recorder = Recorder()
    model = listened_to(name, recorder)
    n_parts = FITS[name][3]
    if name.startswith("fao"):
        inner = [
            word
            for forest in range(2)
            for word in [
                ("begin", "forest", forest),
                *words("iteration", 3),
                ("end", "forest", forest),
            ]
        ]
    else:
        inner = words(part_of(name), n_parts)
    assert recorder.said == [
        ("setup", "fit", 0),
        ("begin", "fit", 0),
        *inner,
        ("end", "fit", 0),
        ("teardown", "fit", 0),
    ]
    assert differences(fit(name), without(model)) == []


@every
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_hooks_get_the_model_that_a_stop_would_leave(name: str, n_jobs: int) -> None:
    recorder = Recorder()
    listened_to(name, recorder, n_jobs=n_jobs)
    X = FITS[name][1][0]
    has_means = name == "fao judged"  # of hyperplanes, which are taken at the end
    assert len(recorder.models) == FITS[name][3]
    for number, model in enumerate(recorder.models, start=1):
        stopped = fit(name, StopAt(number))
        if has_means:
            assert model.predict(X).shape == stopped.predict(X).shape
        else:
            assert np.array_equal(model.predict(X), stopped.predict(X))
            assert model.n_parameters_ == stopped.n_parameters_


@every
def test_a_hook_may_stop_the_fit(name: str) -> None:
    for last in {1, FITS[name][3]}:
        recorder = Recorder(last, part_of(name))
        model = listened_to(name, recorder)
        assert model.stopped_by_callback_
        assert recorder.said[-2:] == [("end", "fit", 0), ("teardown", "fit", 0)]
        assert differences(fit(name, StopAt(last)), without(model)) == []


def test_a_hook_may_stop_after_a_forest() -> None:
    model = listened_to("fao", Recorder(1, "forest"))
    assert model.stopped_by_callback_
    assert model.n_forests_ == 1
    assert np.array_equal(
        without(model).predict_proba(IRIS[0]), fit("fao", StopAt(3)).predict_proba(IRIS[0])
    )


def test_hooks_get_the_data_as_they_were_given() -> None:
    recorder, weights = Recorder(), np.arange(150) / 50
    GreedyForestClassifier(2, random_state=0).set_callbacks(recorder).fit(*IRIS, weights)
    for X, y, metadata in recorder.data:
        assert X is IRIS[0]
        assert y is IRIS[1]
        assert metadata == {"sample_weight": weights}


def test_a_part_that_was_not_needed_is_ended_without_a_model() -> None:
    recorder = Recorder()
    tree = TAOTreeClassifier(max_depth=2, max_iter=30, tol=0.5, random_state=0)
    tree.set_callbacks(recorder).fit(*IRIS)
    assert tree.n_iter_ < 30
    assert len(recorder.models) == tree.n_iter_ + 1
    assert recorder.models[-1] is None
    begun = [word[1:] for word in recorder.said if word[0] == "begin"]
    ended = [word[1:] for word in recorder.said if word[0] == "end"]
    assert sorted(begun) == sorted(ended)


@pytest.mark.parametrize("name", ["tree", "bagged", "fao", "boosted"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_in_a_hook_leaves_the_estimator_as_it_was(
    name: str, error: type[BaseException]
) -> None:
    class Failing(Recorder):
        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            del estimator
            if context.task_id == 1:
                raise error("no more")
            return False

    _, data, arguments, _ = FITS[name]
    failing = Failing()
    model = fit(name).set_callbacks(failing)
    before = dict(vars(model))
    with pytest.raises(error, match="no more"):
        model.fit(*data, **arguments)
    assert vars(model) == before
    assert failing.said[-1][0] == "teardown"


def test_bad_data_sets_nothing_up() -> None:
    recorder = Recorder()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GreedyForestClassifier(2).set_callbacks(recorder).fit(IRIS[0], IRIS[1][:9])
    assert recorder.said == []


def test_clones_and_pickles_keep_callbacks_and_files_do_not(tmp_path: Any) -> None:
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = GreedyForestClassifier(2, random_state=0).set_callbacks(monitor).fit(*IRIS)
    assert clone(model)._skl_callbacks == [monitor]
    assert len(pickle.loads(pickle.dumps(model))._skl_callbacks) == 1
    spinney.save(model, tmp_path / "model")
    loaded = spinney.load(tmp_path / "model")
    assert not hasattr(loaded, "_skl_callbacks")
    assert differences(without(model), loaded) == []


@pytest.mark.parametrize("name", ["tree", "bagged", "boosted", "fao", "greedy of numbers"])
def test_a_scoring_monitor_follows_the_fit(name: str) -> None:
    metric = "r2" if name.endswith("numbers") else "accuracy"
    monitor = callback.ScoringMonitor(scoring=metric)
    model = listened_to(name, monitor)
    data = monitor.get_logs().data
    n_forests = 2 if name == "fao" else 0
    assert len(data) == FITS[name][3] + n_forests + 1
    X, y = FITS[name][1]
    score = model.score(X, y)
    assert next(row[metric] for row in data if row["task_name"] == "fit") == score
    assert data[-1][metric] == score


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["tree", "greedy", "fao"])
def test_a_progress_bar_of_scikit_learn_runs_through(
    name: str, n_jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    listened_to(name, callback.ProgressBar(), n_jobs=n_jobs)
    out = capsys.readouterr().out
    assert f"{type(FITS[name][0]).__name__} - fit" in out
    assert "100%" in out
    assert not [thread for thread in threading.enumerate() if "Rich" in type(thread).__name__]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_hands_its_callbacks_down(n_jobs: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    forest = FAOForestClassifier(2, 2, max_depth=2, max_iter=2, tol=0.0, random_state=0)
    search = GridSearchCV(forest, {"alpha": [0.1, 1.0]}, cv=2, n_jobs=n_jobs)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    search.estimator.set_callbacks(monitor)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(*IRIS)
    assert "FAOForestClassifier - forest" in capsys.readouterr().out
    assert len([row for row in monitor.get_logs().data if row["task_name"] == "iteration"]) == 20
    assert not hasattr(search.best_estimator_, "_parent_callback_ctx")
    plain = without(clone(forest)).set_params(**search.best_params_).fit(*IRIS)
    assert differences(plain, without(search.best_estimator_)) == []


def test_a_search_without_callbacks_makes_no_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError("nobody listens")

    monkeypatch.setattr("spinney.fitting.session.Tasks", fail)
    monkeypatch.setattr("spinney.fitting.progress.Progress.event", fail)
    search = GridSearchCV(
        GreedyForestClassifier(2), {"max_depth": [1, 2]}, cv=2, error_score="raise"
    )
    search.fit(*IRIS)


def test_a_pipeline_hands_its_callbacks_down(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    pipeline = make_pipeline(StandardScaler(), GreedyForestClassifier(3, random_state=0))
    pipeline.set_callbacks(callback.ProgressBar()).fit(*IRIS)
    assert "GreedyForestClassifier - fit" in capsys.readouterr().out


WITHOUT = """
import sys
import sklearn.frozen, sklearn.linear_model, sklearn.model_selection, sklearn.pipeline
import sklearn.ensemble, sklearn.preprocessing
there = sys.modules.pop("sklearn.callback")
sys.modules["sklearn.callback"] = None  # importing it fails, as before scikit-learn 1.9
import spinney
sys.modules["sklearn.callback"] = there
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
forest = spinney.FAOForestClassifier(2, 2, max_depth=2, max_iter=3, random_state=0, verbose=1)
assert not hasattr(forest, "set_callbacks")
told = []
forest.fit(X, y, callback=told.append)
assert len(told) == 6, told
forest.fit(X, y, callback=lambda event: event.number == 2)
assert forest.stopped_by_callback_
sklearn.model_selection.GridSearchCV(forest, {"alpha": [0.1, 1.0]}, cv=2).fit(X, y)
"""


def test_all_but_scikit_learns_callbacks_works_without_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stderr
