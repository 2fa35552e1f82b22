"""What an FAO fit keeps and needs for each training row, in this build and in another.

The rows, targets and weights are made beforehand and are not counted. A process of its own fits a
forest of real targets (one output) to few rows and another one to many; the difference of their
memory, by that of the rows, is free of all that does not grow with them. Two figures, in bytes a
row: what is held between two steps, in the last iteration, and the peak of the whole fit, which has
what a step needs while it lasts. Both have the scores (8 bytes), what is wanted of them (8) and
what the other trees leave over (8) in them. Few rows have to be so many that the leaves are
factored with both numbers: the factor has one size, and drops out of the difference.

    python benchmarks/fao_memory.py
    python benchmarks/fao_memory.py --other ../before/src --rows 400000 1000000 --trees 1 30
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from peak_memory import PeakMemory, resident_now

N_COLUMNS = 10
MAX_ITER = 2


def fit(n_rows: int, n_trees: int, depth: int) -> tuple[int, int]:
    """Bytes beyond those before the fit: held between two steps, and at the peak."""
    from spinney.algorithms import FAOOptions, TAOOptions, optimize_forest
    from spinney.algorithms.losses import SquaredError
    from spinney.data import regression_problem
    from spinney.tree import complete_topology

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    y = np.sin(X[:, 0] * X[:, 1]) + X[:, 2:5].max(axis=1) + 0.1 * rng.standard_normal(n_rows)
    problem = regression_problem(X, y[:, None], np.ones(n_rows))
    options = FAOOptions(TAOOptions(alpha=1.0), SquaredError(), leaf_alpha=1.0, max_iter=MAX_ITER)
    shapes = [complete_topology(depth)] * n_trees
    held = 0

    def look(trace: Any) -> None:
        nonlocal held
        if len(trace.phase) == 1 + MAX_ITER * (n_trees + 1):
            held = resident_now()

    with PeakMemory() as memory:
        optimize_forest(problem, shapes, list(range(n_trees)), options, look)
    return held - memory.before, memory.peak - memory.before


def bytes_a_row(source: Path, rows: list[int], n_trees: int, depth: int) -> list[float]:
    """What a build holds and needs for each further row."""
    found = []
    for n_rows in rows:
        environment = os.environ | {"PYTHONPATH": str(source.resolve())}
        command = [sys.executable, __file__, "--one", str(n_rows), str(n_trees), str(depth)]
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        found.append([int(word) for word in answer.stdout.split()])
    few, many = np.array(found)
    return list((many - few) / (rows[1] - rows[0]))


def main() -> None:
    """Print a table: numbers of trees by builds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", type=Path, help="sources with another core")
    parser.add_argument("--rows", type=int, nargs=2, default=[400_000, 1_000_000])
    parser.add_argument("--trees", type=int, nargs="+", default=[1, 30])
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--one", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(*fit(*options.one))
        return
    builds = {"this": Path(__file__).parents[1] / "src"}
    if options.other:
        builds["other"] = options.other
    print("bytes a row   trees     held     peak")
    for n_trees in options.trees:
        for name, source in builds.items():
            held, peak = bytes_a_row(source, options.rows, n_trees, options.depth)
            print(f"{name:>11} {n_trees:>7} {held:>8.0f} {peak:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
