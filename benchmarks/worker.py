"""One cell in a process of its own: a fresh interpreter, its own thread limits, a time limit.

    python worker.py QUESTION.json ANSWER.json

The answer goes to a file because some libraries print to the standard output.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, load
from environment import load_average, versions, with_threads
from measure import measure, measure_errors
from models import Settings, build
from sklearn.utils import _safe_indexing
from tune import TUNING_SEED, hold_out

Result = dict[str, Any]
# Words for the length of a training; one round is enough to load every library.
ROUNDS = ("n_estimators", "iterations", "num_trees", "max_iter")
N_WARM_ROWS = 200


def run_cell(question: Result, time_limit: float | None = None) -> Result:
    """Answer of a new process; ``{"failed": reason}`` if it fails or takes too long.

    `question` has the keys data, settings, seed, and search (None, or the limit on rows).
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "question.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(question))
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, __file__, str(asked), str(answered)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=with_threads(question["settings"].get("threads", 1)),
            start_new_session=True,
        )
        try:
            errors = process.communicate(timeout=time_limit)[1]
        except subprocess.TimeoutExpired:
            _end(process)
            return {"failed": f"took more than {time_limit:.0f} s", "time_limit": time_limit}
        except BaseException:  # Ctrl-C: the child is in its own session and would go on
            _end(process)
            raise
        if process.returncode:
            last = errors.strip().splitlines()[-1] if errors.strip() else ""
            return {"failed": last or f"exit code {process.returncode}", "details": errors[-4000:]}
        result: Result = json.loads(answered.read_text())
        return result | {"cell_seconds": time.perf_counter() - begin}


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):  # it may have ended by itself in the meantime
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def answer(question: Result) -> Result:
    """Measurements of one cell, made in this process."""
    settings: Settings = question["settings"]
    data, seed = load(question["data"]), question["seed"]
    load_before = load_average()
    is_search = question.get("search") is not None
    if is_search:
        n_rows = data.X_train.shape[0]
        data, seed = hold_out(data, TUNING_SEED, question["search"]), TUNING_SEED
        settings = for_rows(settings, data.X_train.shape[0] / n_rows)
    warm_up(settings, data, seed)
    estimator = build(settings, data, seed)
    result = (measure_errors if is_search else measure)(estimator, settings, data)
    return result | {
        "source": data.source,
        "n_train": int(data.X_train.shape[0]),
        "n_test": int(data.X_test.shape[0]),
        "n_features": int(data.X_train.shape[1]),
        "load_before": load_before,
        "versions": versions(),
    }


def for_rows(settings: Settings, share: float) -> Settings:
    """Settings for a search on a share of the rows: our penalties count against a sum over them."""
    if settings["kind"] != "spinney":
        return settings
    params = dict(settings["params"])
    for name in {"alpha", "ridge"} & set(params):
        value = params[name]
        params[name] = [share * end for end in value] if isinstance(value, list) else share * value
    return settings | {"params": params}


def warm_up(settings: Settings, data: Dataset, seed: int) -> None:
    """A short fit on few rows loads every module and library: code is neither time nor data."""
    short = {key: 2 for key in ROUNDS if key in settings["params"]}
    rows = _some_of_each(data)
    X = _safe_indexing(data.X_train, rows)
    few = Dataset(data.name, X, data.y_train[rows], data.X_test[:5], data.y_test[:5], "")
    model = build(settings | {"params": {**settings["params"], **short}}, few, seed)
    model.fit(few.X_train, few.y_train)
    model.predict(few.X_test)


def _some_of_each(data: Dataset) -> Any:
    """A few rows of each class; some libraries refuse labels with gaps."""
    if data.is_regression:
        return np.arange(min(N_WARM_ROWS, len(data.y_train)))
    classes = np.unique(data.y_train)
    n_each = max(2, N_WARM_ROWS // len(classes))
    return np.concatenate([np.flatnonzero(data.y_train == c)[:n_each] for c in classes])


def main() -> None:
    """Answer the question in the first file into the second."""
    asked, answered = (Path(argument) for argument in sys.argv[1:3])
    answered.write_text(json.dumps(answer(json.loads(asked.read_text()))))


if __name__ == "__main__":
    main()
