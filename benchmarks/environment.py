"""What the figures were measured on: versions, CPU, load; and the limits on threads."""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

PACKAGES = ("spinney", "scikit-learn", "numpy", "scipy")
PEER_PACKAGES = ("xgboost", "lightgbm", "catboost", "ydf")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Context in which numpy's matrix products use one thread.

    The estimators' own threads are set by `n_jobs`, so nothing else needs a limit.
    """
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


def with_threads(n_threads: int) -> dict[str, str]:
    """Environment of a child process whose BLAS and OpenMP use `n_threads` threads."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(n_threads))}


def versions() -> dict[str, str]:
    """Python and the packages a table may use, with the missing ones named."""
    packages = {package: _version(package) for package in (*PACKAGES, *PEER_PACKAGES)}
    return {"python": platform.python_version(), **packages}


def describe() -> dict[str, Any]:
    """Versions, CPU model, number of CPUs and load average, ready for JSON."""
    return {
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "build": build_digest(),
        "cpu": cpu_model(),
        "n_cpus": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_average": load_average(),
    }


def load_average() -> float | None:
    """Load of the last minute; None where the system does not say."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def cpu_model() -> str:
    """Name of the processor as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


@lru_cache(maxsize=1)
def build_digest() -> str:
    """Digest of the installed package, sources and native module: tells builds apart."""
    spec = find_spec("spinney")
    digest = hashlib.sha256()
    for folder in spec.submodule_search_locations or [] if spec else []:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in {".py", ".so", ".pyd"}:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return _version_of_sources() if package == "spinney" else "not installed"


def _version_of_sources() -> str:
    """Version of spinney where its folder is on the path without an installation."""
    if find_spec("spinney") is None:
        return "not installed"
    from spinney import __version__

    return __version__
