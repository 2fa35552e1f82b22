"""Peak memory of one fit, measured in a process of its own.

Run by the benchmark as ``python memory_probe.py SETTINGS_JSON``; prints one line of JSON.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import psutil


class PeakMemory:
    """Highest resident memory while the context is open, and the memory before it.

    Linux keeps the exact peak; elsewhere a thread samples every 2 ms.
    """

    def __enter__(self) -> PeakMemory:
        _trim()
        self.before = psutil.Process().memory_info().rss
        self.peak = self.before
        self.is_exact = _reset_peak()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def _sample(self) -> None:
        process = psutil.Process()
        while not self._done.wait(0.002):
            self.peak = max(self.peak, process.memory_info().rss)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()
        self.peak = max(self.peak, psutil.Process().memory_info().rss)
        if self.is_exact:
            self.peak = max(self.peak, _recorded_peak())


def _trim() -> None:
    """Give freed memory back, so that the fit cannot hide in what loading left behind."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _recorded_peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def matrix_bytes(X: Any) -> int:
    """Bytes of a dense matrix, or of the three arrays of a CSR one."""
    if isinstance(X, np.ndarray):
        return int(X.nbytes)
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def probe(data_name: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Run this file on one fit and read its report."""
    question = json.dumps({"data": data_name, "settings": settings, "seed": seed})
    answer = subprocess.run(
        [sys.executable, __file__, question], capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise RuntimeError(f"the memory probe of {data_name} failed:\n{answer.stderr}")
    result: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return result


def _report(data_name: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    from datasets import load
    from environment import one_blas_thread
    from models import build

    data = load(data_name)
    X_train, y_train, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
    # A first fit on few rows loads every module and library: code is not data.
    build(settings, data, seed).fit(X_train[:200], y_train[:200])
    estimator = build(settings, data, seed)
    with one_blas_thread():
        begin = time.perf_counter()
        with PeakMemory() as fitting:
            estimator.fit(X_train, y_train)
        seconds = time.perf_counter() - begin
        with PeakMemory() as predicting:
            predicted = estimator.predict(X_test)
    return {
        "matrix_bytes": matrix_bytes(X_train),
        "dense_bytes": 4 * X_train.shape[0] * X_train.shape[1],
        "fit_extra_bytes": fitting.peak - fitting.before,
        "predict_extra_bytes": predicting.peak - predicting.before,
        "is_exact": fitting.is_exact,
        "wall_seconds": seconds,
        "test_error": 100 * float(np.mean(predicted != y_test)),
    }


def main() -> None:
    """Answer the question given on the command line."""
    question = json.loads(sys.argv[1])
    print(json.dumps(_report(question["data"], question["settings"], question["seed"])))


if __name__ == "__main__":
    main()
