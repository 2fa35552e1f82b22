"""Threads of the core outlive their calls: what forks and the end of a process make of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import spinney
from tests.bits import differences

forks = pytest.mark.skipif(
    not hasattr(os, "fork") or sys.platform == "darwin",
    reason="no fork, or libraries of the system that do not work after one",
)


def fitted() -> spinney.TAOTreeClassifier:
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 8)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    return spinney.TAOTreeClassifier(max_depth=4, max_iter=3, n_jobs=2, random_state=0).fit(X, y)


def in_child(work: Callable[[], str]) -> str:
    """What `work` says in a forked process; nothing if it ends by an error or hangs."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python from 3.12 on warns of forks of processes with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123  # not a path
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@forks
def test_a_forked_process_fits_the_same_model() -> None:
    def fit_again() -> str:
        return f"differences: {differences(model, fitted())}"

    model = fitted()
    for _ in range(3):
        assert in_child(fit_again) == "differences: []"
        assert differences(model, fitted()) == []


def test_a_process_ends_while_its_threads_sleep() -> None:
    script = (
        "import numpy as np, spinney\n"
        "X = np.random.default_rng(0).normal(size=(3000, 4))\n"
        "spinney.TAOTreeClassifier(max_depth=3, n_jobs=3).fit(X, X[:, 0] > 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=120, check=False, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
