"""Kill fits at random moments until each has ended, and compare with a fit that nobody killed.

    python benchmarks/kill_test.py            # 60 fits over all models
    python benchmarks/kill_test.py --fits 6 --models bagged fao

Each fit runs in a process of its own, which is killed by SIGKILL after a random time and started
again with the same checkpoint, until it completes. The digest of all that it has fitted, but for
wall-clock seconds, must be that of the same fit without a checkpoint. Ends with 1 if one differs.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_digits

import spinney
from spinney.algorithms import Trace
from spinney.images import PixelLabeler

Fit = Callable[[Path | None], object]


def digest_of(value: object) -> str:
    """Digest of every bit of a fitted estimator but the seconds of its traces."""
    found = hashlib.blake2b(digest_size=20)

    def add(value: object) -> None:
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype} {value.shape}".encode())
            found.update(bytes_of(value))
        elif isinstance(value, Trace | BaseEstimator):
            add({k: part for k, part in vars(value).items() if k not in ("seconds", "n_jobs")})
        elif isinstance(value, spinney.tree.Forest):
            add(value.trees)
        elif is_dataclass(value):
            add({field.name: getattr(value, field.name) for field in fields(value)})
        elif isinstance(value, list | tuple):
            found.update(f"{len(value)}:".encode())
            for item in value:
                add(item)
        elif isinstance(value, dict):
            for name in sorted(value):
                found.update(f"{name}=".encode())
                add(value[name])
        else:
            found.update(f"{value!r};".encode())

    add(value)
    return found.hexdigest()


def bytes_of(values: np.ndarray) -> bytes:
    """Bytes of numbers; of objects their text, as the bytes are places in memory."""
    if values.dtype == object:
        return repr(values.tolist()).encode()
    return np.ascontiguousarray(values).tobytes()


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of all kinds, with holes, and classes that depend on them."""
    draw = np.random.default_rng(0)
    n_rows = 5000
    size, job = draw.normal(size=n_rows), draw.choice(["clerk", "cook", "smith"], n_rows)
    town, days = draw.integers(0, 60, n_rows), draw.integers(0, 999, n_rows)
    y = (size + (job == "cook") > 0.5).astype(int) + ((town % 7 > 3) & (days > 400))
    since = pd.Series(pd.Timestamp(2020, 1, 1) + pd.to_timedelta(days, "D"))
    frame = pd.DataFrame(
        {
            "size": np.where(draw.random(n_rows) < 0.1, np.nan, size),
            "job": pd.Series(job).where(draw.random(n_rows) > 0.1),
            "town": [f"town {number}" for number in town],
            "since": since.where(draw.random(n_rows) > 0.1),
            "away": pd.to_timedelta(draw.integers(0, 99, n_rows), "h"),
            "member": draw.random(n_rows) > 0.5,
        }
    )
    return frame, y


def fits() -> dict[str, Fit]:
    """Fits of a second or two each, by name; each is given the path of its checkpoint."""
    X, y = load_digits(return_X_y=True)
    Xr, yr = load_diabetes(return_X_y=True)
    shared = {"random_state": 0}
    images = X.reshape(-1, 8, 8)[:60]
    Xt, yt = table()
    known = spinney.FAOForestClassifier(2, 4, max_depth=4, max_iter=2, **shared).fit(
        X[:900], y[:900]
    )
    return {
        "tree": lambda path: spinney.TAOTreeClassifier(
            max_depth=7, max_iter=40, tol=0.0, leaf="linear", **shared
        ).fit(X, y, checkpoint=path),
        "bagged": lambda path: spinney.TAOForestClassifier(
            16, max_depth=6, oob_score=True, max_samples=0.5, n_jobs=2, **shared
        ).fit(X, y, checkpoint=path),
        "boosted": lambda path: spinney.TAOBoostClassifier(16, max_depth=5, **shared).fit(
            X, y, checkpoint=path
        ),
        "gradient": lambda path: spinney.TAOGradientBoostingClassifier(
            25, max_depth=4, n_iter_no_change=25, **shared
        ).fit(X, y, checkpoint=path),
        "fao": lambda path: spinney.FAOForestClassifier(
            3, 5, max_depth=4, max_iter=10, n_jobs=2, **shared
        ).fit(X, y, checkpoint=path),
        "fao_early": lambda path: spinney.FAOForestRegressor(
            4, 6, max_depth=5, max_iter=20, early_stopping=True, loss="absolute_error", **shared
        ).fit(Xr, yr, checkpoint=path),
        "co2": lambda path: spinney.CO2ForestClassifier(12, **shared).fit(X, y, checkpoint=path),
        "greedy": lambda path: spinney.GreedyForestRegressor(
            60, split="oc1", oob_score=True, max_samples=0.5, **shared
        ).fit(Xr, yr, checkpoint=path),
        "ho": lambda path: spinney.RandomDecisionForestClassifier(
            16, max_features=24, split="perceptron", **shared
        ).fit(X, y, checkpoint=path),
        "labeler": lambda path: PixelLabeler(
            spinney.TAOForestClassifier(16, max_depth=5, max_iter=12),
            (3, 3),
            n_windows=1500,
            **shared,
        ).fit(images, images > 7, checkpoint=path),
        "table": lambda path: spinney.TAOForestClassifier(
            16, max_depth=6, oob_score=True, max_samples=0.5, **shared
        ).fit(Xt, yt, checkpoint=path),
        "refit": lambda path: (
            copy.deepcopy(known).set_params(max_iter=12).refit(X, y, checkpoint=path)
        ),
    }


@dataclass
class Tally:
    """What became of one model."""

    seconds: float = 0.0
    n_kills: int = 0
    n_fits: int = 0  # that were killed at least once, and completed
    n_equal: int = 0


def start(fit: Fit, path: Path | None, report: Path) -> int:
    """Run a fit in a process of its own, which leaves the digest of its model in `report`."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        report.write_text(digest_of(fit(path)))
        code = 0
    finally:
        os._exit(code)


def wait(process: int, seconds: float) -> int | None:
    """Status of a process that ends in time, else None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.002)
    return None


def run_to_the_end(fit: Fit, report: Path) -> tuple[str, float]:
    """Digest of the model that nobody interrupts, and the time it takes."""
    began = time.monotonic()
    process = start(fit, None, report)
    if wait(process, 600.0) != 0:
        raise SystemExit("the fit that nobody kills has failed")
    return report.read_text(), time.monotonic() - began


def kill_until_done(fit: Fit, folder: Path, tally: Tally, draw: random.Random) -> str:
    """Digest of a model whose fit is killed after random times until it completes."""
    path, report = folder / "fit.checkpoint", folder / "report"
    path.unlink(missing_ok=True)
    latest = 0.5 * tally.seconds
    while True:
        report.unlink(missing_ok=True)
        process = start(fit, path, report)
        status = wait(process, draw.uniform(0.02 * tally.seconds, latest))
        # What comes after the last tree cannot be resumed; a busy machine may need longer for it.
        latest *= 1.1
        if status == 0:
            return report.read_text()
        if status is not None:
            raise SystemExit(f"a resumed fit has failed with status {status}")
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        tally.n_kills += 1


def test_model(fit: Fit, n_fits: int, seed: int) -> Tally:
    """Bring so many fits of a model to their end, each of which is killed at least once."""
    tally, draw = Tally(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted, tally.seconds = run_to_the_end(fit, folder / "report")
        while tally.n_fits < n_fits:
            n_before = tally.n_kills
            found = kill_until_done(fit, folder, tally, draw)
            if found != wanted or tally.n_kills > n_before:
                tally.n_fits += 1
                tally.n_equal += found == wanted
    return tally


def main(arguments: list[str] | None = None) -> int:
    """Print one line a model and their sums; 1 if a model differs."""
    known = fits()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=60, help="least number of fits in all")
    parser.add_argument("--models", nargs="+", choices=sorted(known), default=sorted(known))
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--json", type=Path, help="file for the counts")
    chosen = parser.parse_args(arguments)
    each = -(-chosen.fits // len(chosen.models))
    tallies: dict[str, Any] = {}
    for name in chosen.models:
        tally = test_model(known[name], each, chosen.seed)
        tallies[name] = vars(tally)
        print(
            f"{name:10s} {tally.seconds:5.1f} s alone  kills {tally.n_kills:3d}  "
            f"fits {tally.n_fits:3d}  bit-equal {tally.n_equal:3d}",
            flush=True,
        )
    totals = {
        key: sum(tally[key] for tally in tallies.values())
        for key in ("n_kills", "n_fits", "n_equal")
    }
    print(
        f"in all: {totals['n_kills']} kills of {totals['n_fits']} fits, "
        f"{totals['n_equal']} of them bit-equal"
    )
    if chosen.json:
        chosen.json.write_text(json.dumps({"models": tallies, "in all": totals}, indent=1))
    return int(totals["n_equal"] < totals["n_fits"])


if __name__ == "__main__":
    sys.exit(main())
