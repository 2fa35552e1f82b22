"""Test errors of our tree beside CART and RF-100."""

from __future__ import annotations

import numpy as np
from bench import Bench, column, mean
from cells import Result
from models import Settings, cart, forest, spinney

from figures.figure import Figure
from figures.settings import (
    LETTER_ALPHAS,
    LETTER_SWEEPS,
    MNIST_ALPHAS,
    MNIST_SWEEPS,
    letter_tree,
    mnist_tree,
    tuned,
)


def letter_constant(bench: Bench) -> Figure:
    """Letter, constant leaves, depth 11."""
    return _error_figure(bench, "letter", *letter_tree(bench), limit=8.6)


def mnist_constant(bench: Bench) -> Figure:
    """MNIST, constant leaves, depth 8, at most 60000 parameters."""
    ours, note = mnist_tree(bench)
    return _error_figure(bench, "mnist", ours, note, limit=5.2, max_parameters=60_000)


def letter_linear(bench: Bench) -> Figure:
    """Letter, linear leaves, depth 6."""
    # Softmax leaves are fitted to the log loss; on validation rows it suits the splits, too.
    ours = spinney(max_depth=6, max_iter=LETTER_SWEEPS, leaf="linear", loss="log_loss")
    return _error_figure(bench, "letter", *tuned(bench, "letter", ours, LETTER_ALPHAS, 2), 6.6)


def mnist_linear(bench: Bench) -> Figure:
    """MNIST, linear leaves, depth 5."""
    ours = spinney(max_depth=5, max_iter=MNIST_SWEEPS, leaf="linear")
    return _error_figure(bench, "mnist", *tuned(bench, "mnist", ours, MNIST_ALPHAS), 5.0)


def _error_figure(
    bench: Bench, data: str, ours: Settings, note: str, limit: float, max_parameters: float = np.inf
) -> Figure:
    """Test error of our tree beside CART (full and as deep) and RF-100."""
    depth = ours["params"]["max_depth"]
    models = {
        "spinney": ours,
        "CART": cart(),
        f"CART depth {depth}": cart(max_depth=depth),
        "RF-100": forest(),
    }
    results = bench.compare(data, models)
    error, n_parameters = mean(results["spinney"], "test_error"), _parameters(results["spinney"])
    bound = "" if np.isinf(max_parameters) else f", <= {max_parameters:.0f} parameters"
    leaf = ours["params"].get("leaf", "constant")
    return Figure(
        what=f"{data}, {leaf} leaves, depth {depth}: test error",
        target=f"<= {limit} %{bound}",
        value=f"{error:.2f} % ± {_deviation(results['spinney'])}, {n_parameters:.0f} parameters",
        passed=error <= limit and n_parameters <= max_parameters,
        models=results,
        notes=[note],
    )


def _parameters(results: list[Result]) -> float:
    return mean(results, "n_parameters")


def _deviation(results: list[Result]) -> str:
    errors = column(results, "test_error")
    return f"{errors.std(ddof=1):.2f}" if len(errors) > 1 else "?"
