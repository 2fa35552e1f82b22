"""Peak memory of one step of this process."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np


class PeakMemory:
    """Highest resident memory while the context is open, and the memory before it.

    Linux keeps the exact peak; elsewhere a thread samples every 2 ms.
    """

    def __enter__(self) -> PeakMemory:
        _trim()
        self.before = _resident()
        self.peak = self.before
        self.is_exact = _reset_peak()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        if not self.is_exact:  # sampling takes a little of the time that is being measured
            self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._done.wait(0.002):
            self.peak = max(self.peak, _resident())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        if not self.is_exact:
            self._thread.join()
        self.peak = max(self.peak, _resident(), _status("VmHWM") if self.is_exact else 0)


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


def resident_now() -> int:
    """Bytes of this process in memory now, without freed ones that were not given back."""
    _trim()
    return _resident()


def _resident() -> int:
    """Bytes of this process in memory now."""
    found = _status("VmRSS")
    if found:
        return found
    import psutil

    return int(psutil.Process().memory_info().rss)


def _status(key: str) -> int:
    """Bytes that Linux gives for `key`; 0 elsewhere."""
    path = Path("/proc/self/status")
    if path.is_file():
        for line in path.read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    return 0


def matrix_bytes(X: Any) -> int:
    """Bytes of a dense matrix, of a frame, or of the three arrays of a CSR matrix."""
    if isinstance(X, np.ndarray):
        return int(X.nbytes)
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(deep=True).sum())
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
