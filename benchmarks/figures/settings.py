"""Our tree as the figures use it: sweeps, grids of `alpha`, and the choice among them."""

from __future__ import annotations

from bench import Bench
from models import Settings, spinney

LETTER_ALPHAS = (0.03, 0.1, 0.3, 1.0)
# Smaller ones give more than the 60000 parameters that the figure allows.
MNIST_ALPHAS = (1.0, 2.0, 4.0)
AXIS_ALPHAS = (0.25, 0.5, 1.0, 2.0)
R8_ALPHAS = (0.1, 0.3, 1.0)
# With tol=0 all of these sweeps are made; the papers, too, use fixed numbers of them.
LETTER_SWEEPS, MNIST_SWEEPS = 40, 20


def tuned(
    bench: Bench, data: str, settings: Settings, alphas: tuple[float, ...], n_repeats: int = 1
) -> tuple[Settings, str]:
    """Our settings with `alpha` chosen by validation, and a note that says so."""
    choice = bench.tune(data, settings, alphas, n_repeats)
    errors = ", ".join(f"{a}: {e:.2f} %" for a, e in choice["validation_errors"].items())
    note = f"alpha = {choice['alpha']} from 20 % of the training rows ({errors})"
    return settings | {"params": {**settings["params"], "alpha": choice["alpha"]}}, note


def letter_tree(bench: Bench) -> tuple[Settings, str]:
    """Our Letter tree of the figures, with its tuned `alpha`."""
    ours = spinney(max_depth=11, max_iter=LETTER_SWEEPS, tol=0.0)
    return tuned(bench, "letter", ours, LETTER_ALPHAS, n_repeats=3)


def mnist_tree(bench: Bench) -> tuple[Settings, str]:
    """Our MNIST tree of the figures, with its tuned `alpha`."""
    return tuned(bench, "mnist", spinney(max_depth=8, max_iter=MNIST_SWEEPS, tol=0.0), MNIST_ALPHAS)
