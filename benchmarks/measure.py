"""Measurements of one fit: error, objective, size, seconds and rows predicted per second."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from datasets import Dataset
from hyperplanes import Scaling
from models import Settings
from sklearn.tree import DecisionTreeClassifier

Result = dict[str, Any]


def measure(estimator: Any, settings: Settings, data: Dataset) -> Result:
    """Fit `estimator` on the training rows and measure it on both parts."""
    result = timed_fit(estimator, data)
    n_wrong = int(np.sum(estimator.predict(data.X_train) != data.y_train))
    result["n_train_errors"] = n_wrong
    result["test_error"] = 100 * float(np.mean(estimator.predict(data.X_test) != data.y_test))
    result["objective"] = objective(estimator, settings, data, n_wrong)
    result |= size(estimator)
    result["rows_per_second"] = rows_per_second(estimator, data.X_test)
    result["trace"] = trace(estimator)
    result["n_sweeps"] = sweeps_made(estimator)
    return result


def timed_fit(estimator: Any, data: Dataset) -> Result:
    """Wall and CPU seconds of `fit`; their ratio shows how many threads worked."""
    cpu, wall = time.process_time(), time.perf_counter()
    estimator.fit(data.X_train, data.y_train)
    return {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }


def objective(estimator: Any, settings: Settings, data: Dataset, n_wrong: int) -> float | None:
    """Training errors plus penalty, from the fitted tree itself, not from its trace.

    Oblique: alpha times the l1 norm of all hyperplanes over standardised features. Axis: alpha
    times the number of splits. None for models that minimise no such sum.
    """
    alpha = settings["params"].get("alpha")
    if settings["kind"] == "liblinear":
        return float(n_wrong + alpha * np.abs(estimator.planes_.weights).sum())
    if settings["kind"] != "spinney" or settings["params"].get("leaf") == "linear":
        return None
    tree = estimator.tree_
    if settings["params"].get("split") == "axis":
        return float(n_wrong + alpha * (tree.n_leaves - 1))
    if not isinstance(data.X_train, np.ndarray):
        return None  # sparse columns are scaled but not centred: another norm
    deviation = Scaling.of(data.X_train).deviation
    norm = np.abs(tree.split_weights) * deviation[tree.split_indices]
    return float(n_wrong + alpha * norm.sum())


def size(estimator: Any) -> Result:
    """Parameters (bagged TAO, section 5.1.3), leaves and depth."""
    if hasattr(estimator, "estimators_"):
        parts = [size(tree) for tree in estimator.estimators_]
        return {
            "n_parameters": sum(part["n_parameters"] for part in parts),
            "n_leaves": sum(part["n_leaves"] for part in parts),
        }
    if isinstance(estimator, DecisionTreeClassifier):
        n_leaves = int(estimator.get_n_leaves())
        return {"n_parameters": 3 * n_leaves - 2, "n_leaves": n_leaves}
    if hasattr(estimator, "tree_"):
        return {
            "n_parameters": int(estimator.n_parameters_),
            "n_leaves": int(estimator.get_n_leaves()),
        }
    return {"n_parameters": estimator.n_parameters_, "n_leaves": estimator.n_leaves_}


def rows_per_second(estimator: Any, X: Any, seconds: float = 0.5) -> float:
    """Rows a second of the fastest of the `predict` calls made in `seconds`."""
    estimator.predict(X)
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        estimator.predict(X)
        best = min(best, time.perf_counter() - begin)
    return float(X.shape[0] / best)


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
