"""Time and size of predictions of one small forest beside its peers, and of its exports.

    python benchmarks/serving.py            # Letter, writes results/serving.json and serving.md

All times come from one run. Contenders take turns, some calls at a time, so that other work on the
machine meets them alike; figures are medians over all calls. Every export is compared with the
library on all rows.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import json
import pickle
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from datasets import REPOSITORY, Dataset, load
from environment import describe, versions
from markdown_parts import measured_with, table
from numpy.typing import NDArray

import spinney

N_TREES = 30
N_ROUNDS = 20
N_AT_ONCE = 20
BATCH = 1000
RESULTS = REPOSITORY / "benchmarks" / "results"
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]


def contenders() -> dict[str, Any]:
    """Forests of 30 trees or rounds, all with one thread."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import RandomForestClassifier
    from xgboost import XGBClassifier

    return {
        "spinney": spinney.TAOForestClassifier(
            N_TREES, max_depth=11, max_iter=10, random_state=0, n_jobs=1
        ),
        "LightGBM": LGBMClassifier(n_estimators=N_TREES, n_jobs=1, verbose=-1),
        "XGBoost": XGBClassifier(n_estimators=N_TREES, n_jobs=1),
        "random forest": RandomForestClassifier(N_TREES, n_jobs=1, random_state=0),
        "CatBoost": CatBoostClassifier(
            iterations=N_TREES, thread_count=1, verbose=False, allow_writing_files=False
        ),
    }


def medians(
    calls: dict[str, Callable[[], Any]], n_rounds: int, n_at_once: int = 1
) -> dict[str, float]:
    """Median microseconds of each call; they take turns, each with some calls at once."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(n_rounds):
        for name, call in calls.items():
            for _ in range(n_at_once):
                start = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(of_call) * 1e6 for name, of_call in times.items()}


def predict_times(models: dict[str, Any], X: NDArray[np.float32]) -> dict[str, Any]:
    """Single rows and batches through ``predict``, and ours compiled too."""
    compiled = models["spinney"].compile()
    one, row, many = X[:1].copy(), X[0].copy(), X[:BATCH].copy()
    single = {name: lambda model=model: model.predict(one) for name, model in models.items()}
    single["spinney, compiled"] = lambda: compiled(row)
    batch = {name: lambda model=model: model.predict(many) for name, model in models.items()}
    batch["spinney, compiled"] = lambda: compiled(many)
    return {
        "single_row_us": medians(single, N_ROUNDS, N_AT_ONCE),
        "batch_us_a_row": {
            name: micros / BATCH for name, micros in medians(batch, N_ROUNDS).items()
        },
    }


def thread_scaling(model: Any, X: NDArray[np.float32]) -> dict[str, Any]:
    """Time of the same batches from one and from two threads of Python, and whether bits agree."""
    predictor = model.compile()
    work = [X] * 24
    wanted = model.predict_proba(X)
    calls = {"predict_proba": model.predict_proba, "compiled": predictor.predict_proba}
    found: dict[str, Any] = {}
    for name, call in calls.items():
        times: dict[int, list[float]] = {1: [], 2: []}
        same = True
        for _ in range(5):
            for n_threads, of_threads in times.items():
                with ThreadPoolExecutor(n_threads) as pool:
                    start = time.perf_counter()
                    answers = list(pool.map(call, work))
                    of_threads.append(time.perf_counter() - start)
                same = same and all(np.array_equal(answer, wanted) for answer in answers)
        one, two = (statistics.median(times[n]) for n in (1, 2))
        found[name] = {"seconds_1": one, "seconds_2": two, "speedup": one / two, "same_bits": same}
    found["threads of the core"] = core_scaling(model, X)
    return found


def core_scaling(model: Any, X: NDArray[np.float32]) -> dict[str, Any]:
    """The same with threads that the interpreter knows nothing of: what the machine has to give."""
    twins = [copy.copy(model).set_params(n_jobs=n_threads) for n_threads in (1, 2)]
    many = np.concatenate([X] * 24)
    calls = {str(twin.n_jobs): lambda twin=twin: twin.predict_proba(many) for twin in twins}
    micros = medians(calls, 5)
    same = np.array_equal(*(twin.predict_proba(X) for twin in twins))
    one, two = micros["1"] / 1e6, micros["2"] / 1e6
    return {"seconds_1": one, "seconds_2": two, "speedup": one / two, "same_bits": same}


def onnx_exports(model: Any, X: NDArray[np.float32]) -> dict[str, Any]:
    """Size, rows that differ and times of each encoding in onnxruntime, one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    wanted, found = model.predict(X), {}
    for encoding in ("gather", "gemm"):
        for dtype in ("float32", "float64"):
            blob = spinney.to_onnx(model, encoding=encoding, dtype=dtype).SerializeToString()
            session = onnxruntime.InferenceSession(blob, options)
            rows = X.astype(dtype)
            parts = [rows[first : first + 256] for first in range(0, len(rows), 256)]
            labels = np.concatenate([session.run(["label"], {"X": part})[0] for part in parts])
            one, batch = {"X": rows[:1].copy()}, {"X": rows[:256].copy()}
            calls = {
                "one": lambda run=session.run, given=one: run(None, given),
                "batch": lambda run=session.run, given=batch: run(None, given),
            }
            times = medians(calls, 5, 10)
            found[f"ONNX {encoding} {dtype}"] = {
                "bytes": len(blob),
                "rows": len(X),
                "rows_that_differ": int(np.count_nonzero(labels != wanted)),
                "single_row_us": times["one"],
                "batch_us_a_row": times["batch"] / 256,
            }
    return found


def c_exports(model: Any, X: NDArray[np.float32], folder: Path) -> dict[str, Any]:
    """Sizes of source, tables and object, and rows that differ, by type of weights."""
    found, wanted = {}, model.predict(X)
    for weights in ("float32", "int8"):
        source, library = folder / f"{weights}.c", folder / f"{weights}.so"
        exported = spinney.to_c(model, source, weights=weights)
        plain = folder / f"{weights}.o"
        subprocess.run(["gcc", *FLAGS, "-c", "-o", str(plain), str(source)], check=True)
        subprocess.run(
            ["gcc", *FLAGS, "-shared", "-fPIC", "-o", str(library), str(source)], check=True
        )
        predict = ctypes.CDLL(str(library)).model_predict
        predict.argtypes = [ctypes.c_void_p]
        starts = (X.ctypes.data + np.arange(len(X)) * X.strides[0]).tolist()
        start = time.perf_counter()
        classes = [predict(row) for row in starts]
        seconds = time.perf_counter() - start
        labels = model.classes_[classes]
        found[f"C {weights}"] = {
            "bytes": source.stat().st_size,
            "table_bytes": exported.n_table_bytes,
            "object_bytes": plain.stat().st_size,
            "rows": len(X),
            "rows_that_differ": int(np.count_nonzero(labels != wanted)),
            "single_row_us": seconds / len(X) * 1e6,
        }
    return found


def load_times(model: Any, folder: Path) -> dict[str, float] | None:
    """Median milliseconds to load a saved model and to load its pickle."""
    if not hasattr(spinney, "save"):
        return None
    path = folder / "model.spinney"
    spinney.save(model, path)
    blob = pickle.dumps(model)
    calls = {"spinney.load": lambda: spinney.load(path), "pickle": lambda: pickle.loads(blob)}
    return {name: micros / 1000 for name, micros in medians(calls, 20).items()}


def measure(data: Dataset) -> dict[str, Any]:
    """All figures of one run."""
    models = {name: model.fit(data.X_train, data.y_train) for name, model in contenders().items()}
    X = np.concatenate([data.X_train, data.X_test])
    own = models["spinney"]
    with tempfile.TemporaryDirectory() as folder:
        return {
            "data": data.name,
            "environment": {**versions(), **describe()},
            "error_percent": {
                name: 100 * float(np.mean(np.ravel(model.predict(data.X_test)) != data.y_test))
                for name, model in models.items()
            },
            "pickle_bytes": {name: len(pickle.dumps(model)) for name, model in models.items()},
            "load_ms": load_times(own, Path(folder)),
            **predict_times(models, data.X_test),
            "threads": thread_scaling(own, data.X_test),
            "exports": {**onnx_exports(own, X), **c_exports(own, X, Path(folder))},
        }


def page(found: dict[str, Any]) -> str:
    """The figures as Markdown."""
    single, batch = found["single_row_us"], found["batch_us_a_row"]
    ours, sizes = single["spinney"], found["pickle_bytes"]
    lines = [f"# Serving a forest of {N_TREES} trees on {found['data']}", ""]
    lines += table(
        ["model", "error %", "1 row, µs", "times ours", "batch, µs a row", "pickle, kB"],
        [
            [
                name,
                f"{found['error_percent'][name]:.2f}" if name in found["error_percent"] else "",
                f"{single[name]:.1f}",
                f"{single[name] / ours:.1f}",
                f"{batch[name]:.2f}",
                f"{sizes[name] / 1000:.0f}" if name in sizes else "",
            ]
            for name in single
        ],
    )
    lines += ["", "## Exports", ""]
    lines += table(
        ["export", "kB", "tables, kB", "object, kB", "rows", "rows that differ", "1 row, µs"],
        [
            [
                name,
                f"{export['bytes'] / 1000:.0f}",
                f"{export.get('table_bytes', 0) / 1000:.0f}" if "table_bytes" in export else "",
                f"{export.get('object_bytes', 0) / 1000:.0f}" if "object_bytes" in export else "",
                str(export["rows"]),
                str(export["rows_that_differ"]),
                f"{export['single_row_us']:.0f}",
            ]
            for name, export in found["exports"].items()
        ],
    )
    lines += ["", "## Two threads of Python beside one", ""]
    lines += table(
        ["call", "speed-up", "same bits"],
        [
            [name, f"{of['speedup']:.2f}", "yes" if of["same_bits"] else "NO"]
            for name, of in found["threads"].items()
        ],
    )
    if found["load_ms"] is not None:
        lines += ["", "## Loading", ""]
        lines += table(
            ["way", "ms"], [[name, f"{value:.1f}"] for name, value in found["load_ms"].items()]
        )
    lines += ["", measured_with(found["environment"])]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="letter")
    found = measure(load(parser.parse_args().data))
    text = page(found)
    (RESULTS / "serving.json").write_text(json.dumps(found, indent=1) + "\n")
    (RESULTS / "serving.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
