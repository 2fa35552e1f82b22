"""Ctrl-C ends every fit soon, wherever it is, and nothing goes on or is left behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import spinney
from spinney import RefinedForestClassifier, RefinedForestRegressor
from spinney.images import PixelLabeler
from tests.contracts.registry import REFINED, public_estimators

#: Far more than an answer takes, on a busy machine too, and far less than the fits below.
PATIENCE = 5.0
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 12)).astype(np.float32)
CLASSES = RNG.integers(3, size=3000)
NUMBERS = RNG.normal(size=(3000, 2))
AGES = {"max_iter": 10**6, "tol": 0.0}
BOOSTED_AGES = {"max_sweeps": 10**6, "tol": 0.0}
EPOCHS = {"max_epochs": 10**9, "tol": 0.0, "learning_rate": 1e-8}
MANY = 10**5

# Fits that nobody could wait for. Where there is a choice, a single native call takes that long.
FITS: dict[str, Callable[[], Any]] = {
    "tree": lambda: spinney.TAOTreeClassifier(**AGES),
    "tree of columns": lambda: spinney.TAOTreeClassifier(split="axis", **AGES),
    "tree linear": lambda: spinney.TAOTreeRegressor(leaf="linear", loss="huber", **AGES),
    "bagged": lambda: spinney.TAOForestClassifier(4, **AGES),
    "bagged of numbers": lambda: spinney.TAOForestRegressor(4, loss="absolute_error", **AGES),
    "boosted": lambda: spinney.TAOBoostClassifier(2, **BOOSTED_AGES),
    "gradient": lambda: spinney.TAOGradientBoostingClassifier(2, **BOOSTED_AGES),
    "gradient of numbers": lambda: spinney.TAOGradientBoostingRegressor(2, **BOOSTED_AGES),
    "fao": lambda: spinney.FAOForestClassifier(2, 3, **AGES),
    "fao one forest": lambda: spinney.FAOForestClassifier(1, 3, loss="log_loss", **AGES),
    "fao of numbers": lambda: spinney.FAOForestRegressor(2, 3, leaf_penalty="l1", **AGES),
    "co2 tree": lambda: spinney.CO2TreeClassifier(**EPOCHS),
    "co2 tree of numbers": lambda: spinney.CO2TreeRegressor(**EPOCHS),
    "co2": lambda: spinney.CO2ForestClassifier(2, **EPOCHS),
    "co2 of numbers": lambda: spinney.CO2ForestRegressor(2, **EPOCHS),
    "ho": lambda: spinney.RandomDecisionForestClassifier(2, split="perceptron", max_epochs=10**9),
    "greedy": lambda: spinney.GreedyForestClassifier(2, split="oc1", n_restarts=10**9),
    "greedy of numbers": lambda: spinney.GreedyForestRegressor(
        2, split="probes", n_candidates=10**9
    ),
    "greedy of many trees": lambda: spinney.GreedyForestClassifier(MANY, max_depth=3),
}
every = pytest.mark.parametrize("name", FITS)


@contextmanager
def ctrl_c(seconds: float) -> Iterator[list[float]]:
    """Sends SIGINT after so many seconds; notes when.

    And again, as people do, if nothing happens: Python itself drops a signal that falls into the
    callback of a weak reference, of which joblib has some.
    """
    sent: list[float] = []
    is_over = threading.Event()

    def send() -> None:
        pause = seconds
        while not is_over.wait(pause):
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
            pause = PATIENCE

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield sent
    finally:
        is_over.set()
        sender.join()


def targets_of(model: Any) -> Any:
    return CLASSES if hasattr(model, "predict_proba") else NUMBERS


def other_threads_end(n_threads: int) -> bool:
    """Wait until there are no more threads than before."""
    end = time.monotonic() + PATIENCE
    while threading.active_count() > n_threads and time.monotonic() < end:
        time.sleep(0.02)
    return threading.active_count() <= n_threads


def expect_answer(fit: Callable[[], Any], model: Any, seconds: float = 0.2) -> None:
    """Ctrl-C ends the fit soon, the model is what it was, and no thread works on."""
    before, n_threads = dict(vars(model)), threading.active_count()
    with ctrl_c(seconds) as sent, pytest.raises(KeyboardInterrupt):
        fit()
    assert time.monotonic() - sent[-1] < PATIENCE
    assert len(sent) < 3
    assert vars(model) == before
    assert other_threads_end(n_threads + 3)  # idle threads of the pool
    worked = time.process_time()
    time.sleep(0.1)
    assert time.process_time() - worked < 0.08


@every
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_the_fit_and_leaves_the_estimator_as_it_was(name: str, n_jobs: int) -> None:
    model = FITS[name]().set_params(n_jobs=n_jobs, random_state=0)
    expect_answer(lambda: model.fit(X, targets_of(model)), model)


def test_every_estimator_is_interrupted_here() -> None:
    kinds = {type(make()).__name__ for make in FITS.values()} | REFINED
    assert public_estimators().keys() <= kinds


@pytest.mark.parametrize("name", ["tree", "fao", "co2"])
def test_ctrl_c_leaves_a_fitted_model_as_it_was(name: str) -> None:
    model = FITS[name]().set_params(random_state=0)
    few = {"max_epochs": 2} if name == "co2" else {"max_iter": 2}
    fitted = clone(model).set_params(**few).fit(X[:200], CLASSES[:200])
    said = fitted.predict(X)
    fitted.set_params(**{key: model.get_params()[key] for key in few})
    expect_answer(lambda: fitted.fit(X, CLASSES), fitted)
    assert np.array_equal(fitted.predict(X), said)


@cache
def grown(is_classifier: bool) -> tuple[Any, Any, Any]:
    """A forest of thousands of leaves, with rows on which they are refitted for some 10 s."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(4000, 4)).astype(np.float32)
    y = rng.integers(20, size=4000) if is_classifier else rng.normal(size=(4000, 30))
    kind = RandomForestClassifier if is_classifier else RandomForestRegressor
    return kind(60, max_depth=10, max_samples=500, random_state=0).fit(rows, y), rows, y


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [RefinedForestClassifier, RefinedForestRegressor])
def test_ctrl_c_ends_the_fit_of_all_leaves(kind: Any, n_jobs: int) -> None:
    forest, rows, y = grown(kind is RefinedForestClassifier)
    model = kind(forest, leaf_alpha=1e-6, n_jobs=n_jobs)
    expect_answer(lambda: model.fit(rows, y), model)


def test_ctrl_c_ends_the_fit_of_a_labeler() -> None:
    images = RNG.normal(size=(3, 40, 40))
    tree = spinney.TAOTreeClassifier(**AGES)
    model = PixelLabeler(tree, (3, 3), n_windows=3000, random_state=0)
    expect_answer(lambda: model.fit(images, (images > 0.5).astype(int)), model)
