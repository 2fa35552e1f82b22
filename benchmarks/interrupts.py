"""How long fits take to answer Ctrl-C: every estimator, several moments, 10^6 rows x 100 columns.

Each estimator is fitted in a process of its own, once a moment. A timer of the kernel, which
nothing in Python can delay, signals every 20 ms. Python answers a signal between two steps in
Python and where a native call asks; the longest time between two answers is the *silence* of a
fit, and bounds what Ctrl-C could have waited at any time so far. At the given moment the next
signal becomes a KeyboardInterrupt; how long `fit` then takes to raise it is the *answer*: workers
have to end, too. Processor time after that, the *work*, says whether some thread went on.

    python benchmarks/interrupts.py
    python benchmarks/interrupts.py --only "TAOTreeClassifier" --jobs 2 --moments 0.5 5 20
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import spinney

GREEDY_SPLITS = (
    "axis",
    "oc1",
    "ridge",
    "lda",
    "logistic",
    "probes",
    "projections",
)
TICK = 0.02  # seconds between two signals
PATIENCE = 300.0  # seconds that an answer may take


def classifiers() -> dict[str, Callable[[int], Any]]:
    """Every kind of fit to classes, by name; each is made for a number of jobs."""
    return {
        "TAOTreeClassifier": lambda n: spinney.TAOTreeClassifier(n_jobs=n),
        "TAOTreeClassifier axis": lambda n: spinney.TAOTreeClassifier(split="axis", n_jobs=n),
        "TAOTreeClassifier linear": lambda n: spinney.TAOTreeClassifier(
            leaf="linear", relax_leaves=True, max_depth=2, n_jobs=n
        ),
        "TAOTreeClassifier strict": lambda n: spinney.TAOTreeClassifier(
            loss="log_loss", strict_descent=True, n_jobs=n
        ),
        "TAOForestClassifier": lambda n: spinney.TAOForestClassifier(n_jobs=n),
        "TAOForestClassifier newton": lambda n: spinney.TAOForestClassifier(
            bootstrap=True, max_features=0.6, n_jobs=n
        ),
        "TAOBoostClassifier": lambda n: spinney.TAOBoostClassifier(n_jobs=n),
        "TAOGradientBoostingClassifier": lambda n: spinney.TAOGradientBoostingClassifier(n_jobs=n),
        "FAOForestClassifier": lambda n: spinney.FAOForestClassifier(n_jobs=n),
        "FAOForestClassifier bagged": lambda n: spinney.FAOForestClassifier(
            init="bagged", loss="log_loss", n_jobs=n
        ),
        "FAOForestClassifier l1": lambda n: spinney.FAOForestClassifier(
            1, 20, leaf_penalty="l1", leaf_alpha=0.01, n_jobs=n
        ),
        "CO2TreeClassifier": lambda n: spinney.CO2TreeClassifier(n_jobs=n),
        "CO2ForestClassifier": lambda n: spinney.CO2ForestClassifier(choice="oob", n_jobs=n),
        "RandomDecisionForestClassifier": lambda n: spinney.RandomDecisionForestClassifier(
            n_jobs=n
        ),
        "RandomDecisionForestClassifier perceptron": (
            lambda n: spinney.RandomDecisionForestClassifier(split="perceptron", n_jobs=n)
        ),
        **{f"GreedyForestClassifier {split}": _greedy(split) for split in GREEDY_SPLITS},
        "RefinedForestClassifier": lambda n: spinney.RefinedForestClassifier(
            _small(RandomForestClassifier), n_jobs=n
        ),
    }


def regressors() -> dict[str, Callable[[int], Any]]:
    """Every kind of fit to numbers, by name."""
    return {
        "TAOTreeRegressor": lambda n: spinney.TAOTreeRegressor(n_jobs=n),
        "TAOTreeRegressor huber": lambda n: spinney.TAOTreeRegressor(
            loss="huber", leaf="linear", max_depth=2, n_jobs=n
        ),
        "TAOForestRegressor": lambda n: spinney.TAOForestRegressor(loss="absolute_error", n_jobs=n),
        "TAOGradientBoostingRegressor": lambda n: spinney.TAOGradientBoostingRegressor(n_jobs=n),
        "FAOForestRegressor": lambda n: spinney.FAOForestRegressor(n_jobs=n),
        "CO2TreeRegressor": lambda n: spinney.CO2TreeRegressor(n_jobs=n),
        "CO2ForestRegressor": lambda n: spinney.CO2ForestRegressor(n_jobs=n),
        "GreedyForestRegressor": lambda n: spinney.GreedyForestRegressor(n_jobs=n),
        "RefinedForestRegressor": lambda n: spinney.RefinedForestRegressor(
            _small(RandomForestRegressor), n_jobs=n
        ),
    }


def _greedy(split: str) -> Callable[[int], Any]:
    return lambda n: spinney.GreedyForestClassifier(split=split, max_features=None, n_jobs=n)


def _small(kind: type) -> Any:
    """A forest of many leaves that is fitted soon."""
    options = {"max_depth": 10, "max_samples": 20_000, "max_features": "sqrt"}
    return kind(30, **options, random_state=0, n_jobs=2)


def data(n_rows: int, n_columns: int, is_regression: bool) -> tuple[Any, Any]:
    """Noisy normal columns; targets follow from oblique cuts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    used = X[:, :10]
    scores = used @ rng.standard_normal((used.shape[1], 3), dtype=np.float32)
    if is_regression:
        return X, np.abs(scores).sum(axis=1) + rng.standard_normal(n_rows)
    codes = (scores > 0) @ np.array([1, 2, 3])
    return X, np.where(rng.random(n_rows) < 0.1, rng.integers(0, 7, n_rows), codes)


class Alarm:
    """Signals every 20 ms; notes the longest silence, and raises KeyboardInterrupt in the end."""

    def __init__(self, moment: float) -> None:
        self.began = self._last = time.perf_counter()
        self.end = self.began + moment
        self.silence, self.where = 0.0, ""
        signal.signal(signal.SIGALRM, self)
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        del number
        now = time.perf_counter()
        if now - self._last > self.silence and frame is not None:
            self.silence = now - self._last
            self.where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        self._last = now
        if now >= self.end:
            self.stop()
            raise KeyboardInterrupt

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


def measure(name: str, n_jobs: int, moments: list[float], n_rows: int, n_columns: int) -> None:
    """Fit and interrupt once a moment; a line of JSON each."""
    is_regression = name in regressors()
    X, y = data(n_rows, n_columns, is_regression)
    estimator = {**classifiers(), **regressors()}[name](n_jobs)
    if name.startswith("Refined"):
        estimator.forest.fit(X[: 10**5], y[: 10**5])
    for moment in moments:
        alarm = Alarm(moment)
        answer = None
        try:
            estimator.fit(X, y)
            alarm.stop()
        except KeyboardInterrupt:
            answer = time.perf_counter() - alarm.end
        before = time.process_time()
        time.sleep(0.2)
        line = {
            "silence": alarm.silence,
            "where": alarm.where,
            "answer": answer,
            "work": time.process_time() - before,
        }
        print(json.dumps(line), flush=True)


def ask(name: str, n_jobs: int, given: argparse.Namespace) -> None:
    """`measure` in another process; prints what it says as a row."""
    sizes = ["--rows", str(given.rows), "--columns", str(given.columns)]
    moments = ["--moments", *map(str, given.moments)]
    command = [sys.executable, __file__, "--child", name, "--jobs", str(n_jobs), *sizes, *moments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    limit = len(given.moments) * PATIENCE
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
        said, fault = (
            done.stdout,
            done.stderr.strip().rpartition("\n")[2] if done.returncode else "",
        )
    except subprocess.TimeoutExpired as late:
        said, fault = (late.stdout or b"").decode(), f"no answer within {limit:.0f} s"
    lines = [json.loads(line) for line in said.splitlines()]
    answers = ["done" if line["answer"] is None else f"{line['answer']:.2f}" for line in lines]
    worst = max(lines, key=lambda line: line["silence"], default={"silence": 0.0, "where": ""})
    work = max((line["work"] for line in lines), default=0.0)
    print(
        f"{name:42} {n_jobs:4} {worst['silence']:8.2f}  {work:4.2f}  {' '.join(answers)}"
        f"  {worst['where']} {fault}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--moments", type=float, nargs="+", default=[0.5, 3.0, 15.0])
    parser.add_argument("--only", nargs="+", help="names; all without it")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measure(given.child, given.jobs[0], given.moments, given.rows, given.columns)
        return
    print(f"{'fit':42} jobs  silence  work  answers at {given.moments} s, where the silence was")
    for name in given.only or {**classifiers(), **regressors()}:
        for n_jobs in given.jobs:
            ask(name, n_jobs, given)


if __name__ == "__main__":
    main()
