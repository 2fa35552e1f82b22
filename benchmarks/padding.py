"""What a width costs that is no multiple of 16, in this build and in another.

Takes the processor time of dot products (rows on their way down a tree of full hyperplanes) and of
fits, on one thread, at awkward widths and at the next multiples of 16, and prints the ratios; and
what a fit's copy of the rows takes beyond the float32 matrix. Builds and widths take turns, so that
a busy machine slows all of them alike; figures are means over the repeats and standard deviations.

    python benchmarks/padding.py
    python benchmarks/padding.py --other ../before/src --repeats 7 --tasks dot tao
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from builds import HERE, Build, seconds_of, serve
from markdown_parts import spread
from numpy.typing import NDArray
from peak_memory import PeakMemory

WIDTHS = (15, 31, 47, 63, 100)
TASKS = ("dot", "tao", "fao", "co2", "ho")
N_ROWS = 20_000
ROWS_OF_MEMORY = 300_000
LEVELS_OF_WALK = 8

Run = Callable[[], object]


def next_full(width: int) -> int:
    """The next multiple of 16."""
    return -(-width // 16) * 16


def make_rows(width: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows of four classes; the columns of a narrow table are the first ones of a wider."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((next_full(max(WIDTHS)), N_ROWS)).T
    scores = X[:, :12] @ rng.standard_normal((12, 2)) + rng.standard_normal((N_ROWS, 2))
    return np.ascontiguousarray(X[:, :width], dtype=np.float32), (scores > 0) @ np.array([1, 2])


def prepare(task: str, width: int) -> Run:
    """What is timed, with the library that this process has."""
    import spinney

    X, y = make_rows(width)
    if task == "dot":
        return walk_of(X)
    estimator: Any = {
        "tao": spinney.TAOTreeClassifier(max_depth=5, max_iter=3),
        "fao": spinney.FAOForestClassifier(1, 3, max_depth=4, max_iter=2, calibrate=False),
        "co2": spinney.CO2TreeClassifier(max_depth=3, max_epochs=10),
        "ho": spinney.RandomDecisionForestClassifier(
            1, split="perceptron", max_features=1.0, max_depth=4, max_epochs=5, calibrate=False
        ),
    }[task]
    estimator.set_params(random_state=0, n_jobs=1)
    return lambda: estimator.fit(X, y)


def walk_of(X: NDArray[np.float32]) -> Run:
    """All rows, stored as for a fit, down a complete tree of full hyperplanes."""
    from spinney import _core
    from spinney.data import as_compact_rows
    from spinney.tree import complete_topology

    left, right = complete_topology(LEVELS_OF_WALK)
    n_splits, width = len(left) // 2, X.shape[1]
    indptr = np.minimum(np.arange(len(left) + 1), n_splits) * width
    indices = np.tile(np.arange(width, dtype=np.int32), n_splits)
    weights = np.random.default_rng(1).standard_normal(len(indices)).astype(np.float32)
    rows = as_compact_rows(X)
    return lambda: _core.apply(rows, left, right, np.zeros(len(left)), indptr, indices, weights, 1)


def memory_of(width: int) -> float:
    """What the rows of a fit hold beyond their float32 matrix, as a share of it."""
    from spinney.data import as_compact_rows

    X = np.random.default_rng(0).standard_normal((ROWS_OF_MEMORY, width), dtype=np.float32)
    with PeakMemory() as memory:
        rows = as_compact_rows(X)
    assert rows.n_rows == len(X)
    return (memory.peak - memory.before) / X.nbytes


_prepared: dict[tuple[str, int], Run] = {}


def answer(task: str, width: int) -> float:
    """Seconds of a task, or a share of memory."""
    if task == "memory":
        return memory_of(width)
    if (task, width) not in _prepared:
        _prepared[task, width] = prepare(task, width)
        _prepared[task, width]()  # the first run also loads and plans
    return seconds_of(_prepared[task, width])


def cells_of(builds: list[Build], task: str, width: int, repeats: int) -> list[str]:
    """Figures at one width: time and ratio of each build, and what this one gains."""
    taken = np.array(
        [
            [[build.ask(task, d) for d in (width, next_full(width))] for build in builds]
            for _ in range(repeats)
        ]
    )
    unit = 1e9 / (N_ROWS * LEVELS_OF_WALK) if task == "dot" else 1e3
    cells = []
    for one in range(len(builds)):
        cells.append(spread(taken[:, one, 0] * unit))
        cells.append(spread(taken[:, one, 0] / taken[:, one, 1]))
    if len(builds) == 2:
        cells.append(spread(taken[:, 1, 0] / taken[:, 0, 0]))
        cells.append(spread(taken[:, 1, 1] / taken[:, 0, 1]))
    return cells


def main() -> None:
    """Print a table of times and one of memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", type=Path, help="sources with another core")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(answer)
        return
    builds = [Build(__file__, HERE)]
    head = ["task", "D", "this", "to full"]
    if options.other:
        builds.append(Build(__file__, options.other))
        head += ["other", "to full", "other/this", "when full"]
    print(" | ".join(f"{name:>13}" for name in head))
    for task in options.tasks:
        for width in WIDTHS:
            cells = [task, str(width), *cells_of(builds, task, width, options.repeats)]
            print(" | ".join(f"{cell:>13}" for cell in cells), flush=True)
    print("\nmemory beyond the matrix: " + ", ".join(
        f"D={width}: {builds[0].ask('memory', width):.2f}x" for width in (*WIDTHS, 16, 20)
    ))  # fmt: skip


if __name__ == "__main__":
    main()
