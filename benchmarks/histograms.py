"""Coded columns and their histograms: ns a value, with one thread and two.

A value is one column of one row. Every figure is the least of many repeats, for machines on which
others work too; threads are compared repeat by repeat in turns. Beside them stands what copying
bytes takes in the same run, and the share of that bandwidth that the pass reaches: it reads a byte
of code a value, and eight bytes of gradients a row for each group of columns.

    python benchmarks/histograms.py [rows]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney import _core

N_COLUMNS = 30
GROUP_COLUMNS = 8  # codes.hpp
REPEATS = 40
SHARES = (0.5, 0.1, 0.01, 0.001)
Work = Callable[[int], object]


@dataclass(frozen=True)
class Table:
    """Coded columns, a third of them flags, and what is summed over their rows."""

    X: NDArray[np.float32]
    rows: _core.Rows
    edges: _core.Edges
    codes: _core.Codes
    pairs: NDArray[np.float32]
    labels: NDArray[np.int32]


def make_table(n_rows: int) -> Table:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_COLUMNS)).astype(np.float32)
    X[:, ::3] = X[:, ::3] > 0
    rows = _core.dense_rows(X)
    edges = find_edges(rows, n_rows, 1)
    pairs = np.stack([rng.standard_normal(n_rows), rng.random(n_rows)], axis=1)
    labels = rng.integers(0, 3, n_rows).astype(np.int32)
    codes = _core.code_rows(rows, edges, 1)
    return Table(X, rows, edges, codes, pairs.astype(np.float32), labels)


def find_edges(rows: _core.Rows, n_rows: int, n_threads: int) -> _core.Edges:
    return _core.find_edges(
        rows, np.ones(n_rows), np.zeros(N_COLUMNS, dtype=np.uint8), 255, n_threads
    )


def least_seconds(work: Work, repeats: int) -> tuple[float, float]:
    """With one thread and with two."""
    least = [np.inf, np.inf]
    for _ in range(repeats):
        for k in range(2):
            began = time.perf_counter()
            work(k + 1)
            least[k] = min(least[k], time.perf_counter() - began)
    return least[0], least[1]


def copy_ns(n_bytes: int) -> float:
    """Nanoseconds a byte that is copied: read once, written once."""
    source = np.zeros(n_bytes, dtype=np.uint8)
    target = np.ones(n_bytes, dtype=np.uint8)
    seconds, _ = least_seconds(lambda _: np.copyto(target, source), REPEATS)
    return 1e9 * seconds / n_bytes


def report(name: str, work: Work, n_values: int, repeats: int = REPEATS) -> float:
    one, two = least_seconds(work, repeats)
    ns = 1e9 * one / n_values
    print(f"{name:34} | {ns:8.2f} | {1e9 * two / n_values:8.2f} | {one / two:5.2f}")
    return ns


def main(n_rows: int) -> None:
    table = make_table(n_rows)
    codes, weights, n_values = table.codes, np.ones(n_rows), n_rows * N_COLUMNS
    print(f"{n_rows} x {N_COLUMNS}, ns a value   | 1 thread | 2 threads | ratio")
    report("edges", lambda t: find_edges(table.rows, n_rows, t), n_values, 5)
    report("codes", lambda t: _core.code_rows(table.rows, table.edges, t), n_values, 10)
    ns = report(
        "gradients, all rows",
        lambda t: _core.gradient_histogram(codes, table.pairs, None, t),
        n_values,
    )
    report("counts, all rows", lambda t: _core.count_histogram(codes, None, t), n_values)
    report(
        "labels of 3 classes, all rows",
        lambda t: _core.label_histogram(codes, table.labels, weights, 3, None, t),
        n_values,
    )
    rng = np.random.default_rng(1)
    for share in SHARES:
        node = np.flatnonzero(rng.random(n_rows) < share).astype(np.uint32)
        report(
            f"gradients, {share:.1%} of the rows",
            lambda t, node=node: _core.gradient_histogram(codes, table.pairs, node, t),
            len(node) * N_COLUMNS,
        )
    n_groups = -(-N_COLUMNS // GROUP_COLUMNS)
    n_bytes = 1 + 8 * n_groups / N_COLUMNS  # of a value
    copied = copy_ns(n_values)
    print(f"copying {copied:.3f} ns a byte; gradients of all rows {ns / n_bytes:.3f} a byte read:")
    print(f"{copied * n_bytes / ns:.2f} of that bandwidth")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
