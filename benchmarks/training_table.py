"""What fits gain by the training table: columns coded once, typed splits, rows in blocks.

Each part prints a table; all take one thread unless they say so, and processor time.

- ``fits``: a build against another one, in turns (``--other``): an axis-aligned and an oblique
  TAO tree (depth 5, 5 sweeps, log loss, 30000 x 30, half of the columns flags), 30 bagged trees on
  Letter. Objectives or test errors stand beside the times.
- ``greedy``: greedy axis forests beside scikit-learn's random forests on 100000 x 50.
- ``rows``: seconds a row of both trees, from 10^4 rows to ``--most-rows``.
- ``threads``: two threads over one: edges, codes, histograms, rows sent down a tree.
- ``memory``: what codes and lengths of rows hold beyond the float32 matrix.

    python benchmarks/training_table.py fits --other ../before/src
    python benchmarks/training_table.py greedy rows threads memory
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from builds import HERE, Build, seconds_of, serve
from datasets import load
from markdown_parts import spread
from numpy.typing import NDArray
from peak_memory import PeakMemory

PARTS = ("fits", "greedy", "rows", "threads", "memory")
FITS = ("axis", "oblique", "letter")
WAYS = ("axis", "oblique")
Rows = tuple[NDArray[np.float32], NDArray[np.int64]]


def half_flags(n_rows: int, seed: int = 0) -> Rows:
    """Two classes that depend on products of columns; every second column is 0 or 1."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 30), dtype=np.float32)
    for first in range(0, n_rows, 1 << 16):
        X[first : first + (1 << 16)] = rng.standard_normal((min(1 << 16, n_rows - first), 30))
    X[:, 1::2] = X[:, 1::2] > 0
    score = X[:, 0] * X[:, 2] + X[:, 4] + 2 * X[:, 1] * X[:, 3] - X[:, 5]
    score += 0.5 * rng.standard_normal(n_rows, dtype=np.float32)
    return X, (score > np.median(score)).astype(np.int64)


def numbers(n_rows: int, seed: int) -> Rows:
    """Fifty columns of numbers, of which six matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 50), dtype=np.float32)
    score = X[:, 0] * X[:, 2] + X[:, 4] + X[:, 1] * X[:, 3] - X[:, 5]
    return X, (score + rng.standard_normal(n_rows) > 0).astype(np.int64)


def tree(split: str, seed: int) -> Any:
    import spinney

    return spinney.TAOTreeClassifier(
        max_depth=5, max_iter=5, loss="log_loss", split=split, random_state=seed, n_jobs=1
    )


def fit(task: str, seed: int) -> tuple[float, float]:
    """Seconds of a fit, and its objective or its test error."""
    import spinney

    if task in WAYS:
        X, y = half_flags(30_000, seed)
        model = tree(task, seed)
        seconds = seconds_of(lambda: model.fit(X, y), 0.3)
        return seconds, float(model.trace_.objective[-1])
    X, y, X_test, y_test = letter()
    model = spinney.TAOForestClassifier(
        30, max_depth=11, calibrate=False, random_state=seed, n_jobs=1
    )
    seconds = seconds_of(lambda: model.fit(X, y))
    return seconds, 100 * (1 - float(model.score(X_test, y_test)))


@cache
def letter() -> Any:
    data = load("letter")
    return data.X_train, data.y_train, data.X_test, data.y_test


def answer(*question: Any) -> Any:
    """Of a build that is asked."""
    answers = {"fit": fit, "rows": seconds_a_row, "threads": seconds_by_threads}
    return answers[question[0]](*question[1:])


def show_fits(other: Path | None, repeats: int) -> None:
    builds = [Build(__file__, source) for source in (HERE, other) if source is not None]
    print("fit | seconds, objective or test error % (this build, other) | other / this")
    for task in FITS:
        found = np.array([[b.ask("fit", task, seed) for b in builds] for seed in range(repeats)])
        cells = [f"{spread(found[:, b, 0])}, {spread(found[:, b, 1])}" for b in range(len(builds))]
        ratio = spread(found[:, -1, 0] / found[:, 0, 0])
        print(" | ".join([task, *cells, ratio]), flush=True)


def show_greedy(n_trees: int, repeats: int) -> None:
    from sklearn.ensemble import RandomForestClassifier

    import spinney

    X_test, y_test = numbers(20_000, 99)
    found = []
    for seed in range(repeats):
        X, y = numbers(100_000, seed)
        ours = spinney.GreedyForestClassifier(
            n_trees, split="axis", calibrate=False, random_state=seed, n_jobs=1
        )
        theirs = RandomForestClassifier(n_trees, random_state=seed, n_jobs=1)
        cells = []
        for model in (ours, theirs):
            cells += [seconds_of(partial(model.fit, X, y))]
            cells += [100 * (1 - model.score(X_test, y_test))]
        found.append(cells)
    table = np.array(found)
    print(f"{n_trees} trees on 100000 x 50 | seconds | test error %")
    print(f"greedy axis forest | {spread(table[:, 0])} | {spread(table[:, 1])}")
    print(f"random forest of scikit-learn | {spread(table[:, 2])} | {spread(table[:, 3])}")
    print(f"ratio | {spread(table[:, 0] / table[:, 2])}", flush=True)


def seconds_a_row(split: str, n_rows: int) -> float:
    """The least of some fits."""
    X, y = half_flags(n_rows)
    model = tree(split, 0)
    least = np.inf
    for _ in range(2 if n_rows >= 10**6 else 5):
        least = min(least, seconds_of(lambda: model.fit(X, y)))
    return least / n_rows


def show_rows(most: int) -> None:
    sizes = [10**k for k in range(4, 8) if 10**k <= most]
    print("ns a row | " + " | ".join(f"{size:.0e} rows" for size in sizes))
    for split in WAYS:
        cells = []
        for size in sizes:
            build = Build(__file__, HERE)  # a process each: memory is given back
            cells.append(1e9 * build.ask("rows", split, size))
            build.close()
        ratio = f"most / least {max(cells) / min(cells):.2f}"
        print(" | ".join([split, *(f"{cell:.0f}" for cell in cells), ratio]), flush=True)


def wall_seconds(work: Callable[[int], object], repeats: int) -> list[list[float]]:
    """With one thread and with two, in turns."""
    work(2)
    taken: list[list[float]] = [[], []]
    for _ in range(repeats):
        for k in range(2):
            began = time.perf_counter()
            work(k + 1)
            taken[k].append(time.perf_counter() - began)
    return taken


def seconds_by_threads(repeats: int) -> dict[str, list[list[float]]]:
    """Of each step over the rows of a table."""
    from spinney import _core
    from spinney.tree import complete_topology

    n_rows = 10**6
    X, _ = half_flags(n_rows)
    rows, ones = _core.padded_rows(X), np.ones(n_rows)
    n_levels = np.zeros(30, dtype=np.uint8)
    edges = _core.find_edges(rows, ones, n_levels, 255, 2)
    codes = _core.code_rows(rows, edges, 2)
    pairs = np.random.default_rng(1).standard_normal((n_rows, 2)).astype(np.float32)

    def down_a_tree(depth: int) -> Callable[[int], object]:
        left, right = complete_topology(depth)
        n_splits = len(left) // 2
        indptr = np.minimum(np.arange(len(left) + 1), n_splits) * 30
        indices = np.tile(np.arange(30, dtype=np.int32), n_splits)
        weights = np.random.default_rng(2).standard_normal(len(indices)).astype(np.float32)
        tree = left, right, np.zeros(len(left)), indptr, indices, weights
        return lambda k: _core.apply(rows, *tree, k)

    works: dict[str, Callable[[int], object]] = {
        "edges": lambda k: _core.find_edges(rows, ones, n_levels, 255, k),
        "codes": lambda k: _core.code_rows(rows, edges, k),
        "histograms of pairs": lambda k: _core.gradient_histogram(codes, pairs, None, k),
        "rows down a tree of depth 6": down_a_tree(6),
        "rows down a tree of depth 10": down_a_tree(10),
    }
    return {name: wall_seconds(work, repeats) for name, work in works.items()}


def show_threads(repeats: int) -> None:
    print("10^6 x 30 | ms, one thread | ms, two | one / two (best of each; median)")
    build = Build(__file__, HERE)  # where idle threads of BLAS do not take a core
    for name, (one, two) in build.ask("threads", repeats).items():
        best, median = min(one) / min(two), statistics.median(one) / statistics.median(two)
        cells = [name, f"{1e3 * min(one):.1f}", f"{1e3 * min(two):.1f}"]
        print(" | ".join([*cells, f"{best:.2f}; {median:.2f}"]), flush=True)


def show_memory() -> None:
    from spinney import _core
    from spinney.data import as_compact_rows

    print("columns | rows | codes | lengths of rows | together, over the float32 matrix")
    for width in (16, 30, 50, 100):
        X = np.random.default_rng(0).standard_normal((400_000, width), dtype=np.float32)
        with PeakMemory() as memory:
            rows = as_compact_rows(X)
        of_rows = (memory.peak - memory.before) / X.nbytes
        ones, n_levels = np.ones(len(X)), np.zeros(width, dtype=np.uint8)
        edges = _core.find_edges(rows, ones, n_levels, 255, 1)
        with PeakMemory() as memory:
            codes = _core.code_rows(rows, edges, 1)
        of_codes = (memory.peak - memory.before) / X.nbytes
        assert codes.n_rows == len(X)
        of_lengths = 1 / width  # a float32 a row, where a solver asks for it
        together = of_rows + of_codes + of_lengths
        cells = [of_rows, of_codes, of_lengths, together]
        print(" | ".join([str(width), *(f"{cell:.2f}" for cell in cells)]), flush=True)


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts", nargs="*", default=[], choices=[*PARTS, []], help="all if none is named"
    )
    parser.add_argument("--other", type=Path, help="sources with another core, for fits")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--most-rows", type=int, default=10**7)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(answer)
        return
    shown: dict[str, Callable[[], None]] = {
        "fits": lambda: show_fits(options.other, options.repeats),
        "greedy": lambda: show_greedy(options.trees, options.repeats),
        "rows": lambda: show_rows(options.most_rows),
        "threads": lambda: show_threads(10 * options.repeats),
        "memory": show_memory,
    }
    for part in options.parts or PARTS:
        print(f"\n{part}")
        shown[part]()


if __name__ == "__main__":
    main()
