"""Memory of a fit, each in a process of its own."""

from __future__ import annotations

from typing import Any

from bench import Bench
from cells import Result
from models import spinney

from figures.figure import Figure
from figures.settings import MNIST_SWEEPS, R8_ALPHAS, mnist_tree, tuned

MEGABYTE = 2.0**20


def mnist_memory(bench: Bench) -> Figure:
    """Extra peak memory while fitting MNIST, over the float32 matrix."""
    ours, note = mnist_tree(bench)
    found = bench.memory("mnist", ours)
    share = found["fit_extra_bytes"] / found["matrix_bytes"]
    return Figure(
        what="mnist: extra peak memory of fit over the float32 matrix",
        target="<= 0.5x",
        value=f"{share:.2f}x ({found['fit_extra_bytes'] / MEGABYTE:.0f} MB over "
        f"{found['matrix_bytes'] / MEGABYTE:.0f} MB)",
        passed=share <= 0.5,
        table=[_memory_row("mnist", found)],
        notes=[note],
    )


def r8_sparse(bench: Bench) -> Figure:
    """R8 from CSR: seconds, memory and error, never dense."""
    base = spinney(max_depth=6, max_iter=MNIST_SWEEPS)
    ours, note = tuned(bench, "r8", base, R8_ALPHAS)
    found = bench.memory("r8", ours)
    share = found["fit_extra_bytes"] / found["dense_bytes"]
    return Figure(
        what="r8, 19982 sparse columns, depth 6: fit and predict from CSR",
        target="shown; a dense copy is never made",
        value=f"{found['wall_seconds']:.2f} s, {found['fit_extra_bytes'] / MEGABYTE:.1f} MB extra "
        f"({share:.3f} of a dense copy), test error {found['test_error']:.2f} %",
        passed=share < 0.5,
        table=[_memory_row("r8", found)],
        notes=[note],
    )


def _memory_row(data: str, found: Result) -> dict[str, Any]:
    return {
        "data": data,
        "matrix MB": found["matrix_bytes"] / MEGABYTE,
        "dense MB": found["dense_bytes"] / MEGABYTE,
        "fit extra MB": found["fit_extra_bytes"] / MEGABYTE,
        "predict extra MB": found["predict_extra_bytes"] / MEGABYTE,
        "exact peak": found["is_exact"],
        "fit seconds": found["wall_seconds"],
        "test error %": found["test_error"],
    }
