"""Which node solver for which shape: seconds and distance from the optimum, one thread.

Prints, for reduced problems of growing width, what one Newton step and one epoch of the streaming
solver cost and how far from the least objective they end; and, for rows of growing density, what an
epoch costs from dense and from CSR rows. The limits ``newton_limit`` (`solve_linear.hpp`) and
``SPARSE_BELOW`` (`data.py`) are read off these two tables.

    python benchmarks/solvers.py
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney import _core
from spinney.data import as_rows

N_ROWS = 4000
ALPHA = 1.0
Split = tuple[NDArray[np.float32], float]


def make_problem(n_features: int, density: float = 1.0) -> tuple[NDArray, NDArray]:
    """Rows with correlated columns and labels of a noisy hyperplane."""
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((N_ROWS, n_features)) + rng.standard_normal((N_ROWS, 1))
    X *= rng.random(X.shape) < density
    direction = rng.standard_normal(n_features) * (rng.random(n_features) < 0.3)
    score = X @ direction
    labels = np.where(score + score.std() * rng.standard_normal(N_ROWS) > 0, 1, -1)
    return X.astype(np.float32), labels.astype(np.int8)


def solve(X: NDArray | sp.csr_matrix, labels: NDArray, solver: str, effort: int) -> Split:
    """Split after `effort` Newton steps or epochs from zero weights."""
    d = X.shape[1]
    mean = np.zeros(d) if sp.issparse(X) else X.mean(axis=0, dtype=np.float64)
    weights, bias = _core.logistic_split(
        as_rows(X), mean, np.ones(d), labels, np.ones(N_ROWS), ALPHA, solver, effort, effort,
        0.3, 1e-12, 0,
    )  # fmt: skip
    return weights, bias


def timed(*args: object, repeats: int = 5) -> tuple[float, Split]:
    """Least of several run times in milliseconds, and the result."""
    best, result = np.inf, (np.zeros(0, np.float32), 0.0)
    for _ in range(repeats):
        began = time.perf_counter()
        result = solve(*args)  # type: ignore[arg-type]
        best = min(best, time.perf_counter() - began)
    return 1e3 * best, result


def objective(X: NDArray, labels: NDArray, split: Split) -> float:
    """Logistic loss plus l1 penalty."""
    weights, bias = split
    margin = labels * (X.astype(np.float64) @ weights.astype(np.float64) + bias)
    return float(np.logaddexp(0, -margin).sum() + ALPHA * np.abs(weights).sum())


def compare_widths() -> None:
    """Newton against streaming as rows grow wider."""
    names = ("newton 1 step", "stream 1 epoch", "stream 2 epochs")
    print(" | ".join([f"{'features':>8}", *(f"{name:>22}" for name in names)]))
    for d in (8, 16, 32, 64, 96, 128, 192, 256, 384):
        X, labels = make_problem(d)
        least = objective(X, labels, solve(X, labels, "newton", 30))
        cells = []
        for solver, effort in (("newton", 1), ("stream", 1), ("stream", 2)):
            ms, split = timed(X, labels, solver, effort)
            gap = objective(X, labels, split) / least - 1
            cells.append(f"{ms:8.2f} ms, gap {100 * gap:5.1f} %")
        print(f"{d:8d} | " + " | ".join(cells))


def compare_densities(n_features: int = 800) -> None:
    """One streaming epoch from dense rows and from CSR as zeros become rarer."""
    print(f"\n{'density':>8} | {'dense':>11} | {'CSR':>11}")
    for density in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3):
        X, labels = make_problem(n_features, density)
        dense, _ = timed(X, labels, "stream", 1)
        sparse, _ = timed(sp.csr_matrix(X), labels, "stream", 1)
        print(f"{density:8.2f} | {dense:8.2f} ms | {sparse:8.2f} ms")


if __name__ == "__main__":
    compare_widths()
    compare_densities()
