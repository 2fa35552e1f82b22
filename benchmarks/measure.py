"""Measurements of one fit: error, size, seconds, memory, and the cost of predicting."""

from __future__ import annotations

import pickle
import time
from typing import Any

import curves
import numpy as np
from datasets import Dataset
from hyperplanes import Scaling
from models import Settings
from peak_memory import PeakMemory, matrix_bytes
from resume import ResumedFit
from size import size
from sklearn.metrics import jaccard_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

Result = dict[str, Any]
MEGABYTE = 2.0**20
# More rows tell no more about microseconds a row.
N_TIMED_ROWS = 10_000


def measure(estimator: Any, settings: Settings, data: Dataset) -> Result:
    """Fit `estimator` on the training rows and measure all there is."""
    result = measure_errors(estimator, settings, data)
    n_wrong = result.get("n_train_errors")
    result["objective"] = None if n_wrong is None else objective(estimator, settings, data, n_wrong)
    X = data.X_test[:N_TIMED_ROWS]
    result["rows_per_second"] = rows_per_second(estimator, X)
    result["predict_us"] = 1e6 / result["rows_per_second"]
    result["single_row_us"] = single_row_us(estimator, X)
    result["model_mb"] = len(pickle.dumps(estimator)) / MEGABYTE
    result["trace"] = trace(estimator)
    result["n_sweeps"] = sweeps_made(estimator)
    return result


def measure_errors(estimator: Any, settings: Settings, data: Dataset) -> Result:
    """Fit `estimator` and measure seconds, memory, errors and size: all that a search needs."""
    result = timed_fit(estimator, data, settings.get("resume"))
    ticks = result.pop("ticks")
    with PeakMemory() as predicting:
        predicted = estimator.predict(data.X_test)
    result["predict_extra_bytes"] = predicting.peak - predicting.before
    result |= errors(predicted, estimator.predict(data.X_train), data)
    result["auc"] = auc(estimator, data)
    if "jaccard" in settings.get("metrics", ()):
        result["jaccard"] = float(jaccard_score(data.y_test, predicted, average="macro"))
    result |= size(estimator, data.X_train)
    if settings.get("curve"):
        result["curve"] = curves.curve(estimator, data, result["wall_seconds"], ticks)
    return result


def timed_fit(estimator: Any, data: Dataset, resume: str | None = None) -> Result:
    """Wall and CPU seconds and memory of `fit`; CPU over wall shows how many threads worked.

    With `resume` the fit goes on from the checkpoint of that name, and the seconds are those of
    all runs it took.
    """
    with PeakMemory() as fitting:
        if resume is None:
            cpu, wall = time.process_time(), time.perf_counter()
            ticks = curves.fit_with_clock(estimator, data.X_train, data.y_train)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            seconds = {"wall_seconds": wall, "cpu_seconds": cpu}
        else:
            ticks, resumed = [], ResumedFit(resume, estimator.random_state)
            resumed.fit(estimator, data.X_train, data.y_train)
            seconds = resumed.seconds
    return {
        **seconds,
        "ticks": ticks,
        "matrix_bytes": matrix_bytes(data.X_train),
        "dense_bytes": 4 * data.X_train.shape[0] * data.X_train.shape[1],
        "fit_extra_bytes": fitting.peak - fitting.before,
        "peak_mb": fitting.peak / MEGABYTE,
        "is_exact": fitting.is_exact,
    }


def errors(test: Any, train: Any, data: Dataset) -> Result:
    """Share of wrong classes in %, or root mean squared error."""
    if data.is_regression:
        return {
            "test_rmse": float(np.sqrt(np.mean((np.ravel(test) - data.y_test) ** 2))),
            "train_rmse": float(np.sqrt(np.mean((np.ravel(train) - data.y_train) ** 2))),
        }
    n_wrong = int(np.sum(np.ravel(train) != data.y_train))
    return {
        "n_train_errors": n_wrong,
        "train_error": 100 * n_wrong / len(data.y_train),
        "test_error": 100 * float(np.mean(np.ravel(test) != data.y_test)),
    }


def auc(estimator: Any, data: Dataset) -> float | None:
    """Area under the ROC curve for two classes; None else."""
    if data.is_regression or len(np.unique(data.y_train)) != 2:
        return None
    if not hasattr(estimator, "predict_proba"):
        return None
    return float(roc_auc_score(data.y_test, estimator.predict_proba(data.X_test)[:, 1]))


def objective(estimator: Any, settings: Settings, data: Dataset, n_wrong: int) -> float | None:
    """Training errors plus penalty, from the fitted tree itself, not from its trace.

    Oblique: alpha times the l1 norm of all hyperplanes over standardised features. Axis: alpha
    times the number of splits. None for models that minimise no such sum.
    """
    alpha = getattr(estimator, "alpha", None)
    if settings["kind"] == "liblinear":
        return float(n_wrong + alpha * np.abs(estimator.planes_.weights).sum())
    if settings["kind"] != "spinney" or not hasattr(estimator, "tree_"):
        return None
    if settings["params"].get("leaf") == "linear":
        return None
    tree = estimator.tree_
    if settings["params"].get("split") == "axis":
        return float(n_wrong + alpha * (tree.n_leaves - 1))
    if not isinstance(data.X_train, np.ndarray):
        return None  # sparse columns are scaled but not centred: another norm
    deviation = Scaling.of(data.X_train).deviation
    norm = np.abs(tree.split_weights) * deviation[tree.split_indices]
    return float(n_wrong + alpha * norm.sum())


def rows_per_second(estimator: Any, X: Any, seconds: float = 0.5) -> float:
    """Rows a second of the fastest of the `predict` calls made in `seconds`."""
    estimator.predict(X)
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        estimator.predict(X)
        best = min(best, time.perf_counter() - begin)
    return float(X.shape[0] / best)


def single_row_us(estimator: Any, X: Any, seconds: float = 0.5, n_calls: int = 300) -> float:
    """Median time of `predict` for one row in microseconds, over different rows.

    At least 5 calls, at most `n_calls`, and no new one after `seconds`.
    """
    rows = [X[i : i + 1] for i in range(min(n_calls, X.shape[0]))]
    estimator.predict(rows[0])
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while len(taken) < n_calls and (len(taken) < 5 or time.perf_counter() < end):
        row = rows[len(taken) % len(rows)]
        begin = time.perf_counter()
        estimator.predict(row)
        taken.append(time.perf_counter() - begin)
    return 1e6 * float(np.median(taken))


def trace(estimator: Any) -> Result | None:
    """Objective and seconds by sweep as the optimiser recorded them."""
    if hasattr(estimator, "trace_dicts"):
        sweeps = estimator.trace_dicts()
        return {key: [sweep[key] for sweep in sweeps] for key in sweeps[0]}
    if not hasattr(estimator, "trace_"):
        return None
    columns = estimator.trace_.as_dict()
    return {key: np.asarray(values).tolist() for key, values in columns.items()}


def sweeps_made(estimator: Any) -> int | None:
    """Sweeps an optimiser really made, which an early stop makes fewer than asked."""
    if hasattr(estimator, "n_iter_"):
        return int(estimator.n_iter_)
    return len(estimator.trace_) if hasattr(estimator, "trace_") else None


def merged_splits(cart: DecisionTreeClassifier) -> int:
    """Splits of a greedy tree left when subtrees of one predicted class are merged.

    Merging changes no prediction, so this is the fair size to compare a pruned tree with.
    """
    tree = cart.tree_
    label = tree.value[:, 0].argmax(axis=1)
    n_splits = np.zeros(tree.node_count, dtype=np.int64)
    for node in range(tree.node_count - 1, -1, -1):  # children have higher numbers
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            continue
        below = n_splits[left] + n_splits[right]
        is_pure = below == 0 and label[left] == label[right]
        n_splits[node] = 0 if is_pure else below + 1
    return int(n_splits[0])
