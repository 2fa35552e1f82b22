"""Figures 1, 3 and 4 of FAO (CVPR 2023): optimisation, penalties, iterations, T against Q.

    python benchmarks/fao_figures.py [fig1 fig3 fig4]

Curves are kept in ``results/fao_figures.json`` and drawn again without being measured anew; remove
an entry to measure it. Test rows only make the curves; nothing is chosen by them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from datasets import Dataset, load

from spinney import (
    FAOForestClassifier,
    FAOForestRegressor,
    TAOForestRegressor,
    TAOGradientBoostingRegressor,
)

RESULTS = Path(__file__).resolve().parent / "results"
STORE = RESULTS / "fao_figures.json"
SEEDS = (0, 1, 2)
PLAIN = {"leaf_alpha": 0.01, "ridge": 0.1}
# Penalties of strict runs: a guard would rather shorten weights than fit.
NEXT_TO_NONE = {**PLAIN, "alpha": 1e-3, "ridge": 1e-3}
WITH_LEAVES = ("bagged_with_leaves", "boosted_with_leaves")
#: Boosting has each time the penalties of the forests that it is compared with.
RIVALS_OF_FIGURE1: dict[str, dict[str, Any]] = {
    "default": PLAIN,
    "no penalties": NEXT_TO_NONE,
    "no penalties, strict": {**NEXT_TO_NONE, "strict_descent": True},
}
Curves = dict[str, dict[str, list[float]]]


def iterations(data: Dataset, seed: int, **values: Any) -> tuple[list[float], list[float]]:
    """Root mean square error on training and test rows at the start and after each iteration."""
    # No penalty to speak of and no early end: what the optimiser can do.
    plain = {"n_forests": 1, "tol": 0.0, "max_depth": 6, **PLAIN}
    if values.get("strict_descent"):
        plain |= NEXT_TO_NONE
    forest = FAOForestRegressor(**{**plain, **values}, random_state=seed)
    forest.fit(data.X_train, data.y_train, X_val=data.X_test, y_val=data.y_test)
    trace = forest.traces_[0].at("leaves")
    unit = data.y_train.std()
    train = [float(unit * np.sqrt(loss / len(data.y_train))) for loss in trace.loss]
    return train, np.sqrt(forest.validation_losses_).tolist()


def over_seeds(measure: Callable[[int], list[float]], seeds: tuple[int, ...]) -> list[float]:
    """Mean of a curve over the seeds."""
    return np.mean([measure(seed) for seed in seeds], axis=0).tolist()


def figure1(keep: Callable[..., dict[str, list[float]]]) -> Curves:
    """Training and test error against iterations, for four starts, beside boosting."""
    data = load("cpuact")
    curves = {
        f"boosting, no shrinkage, {name}, by trees": keep(
            f"boosting, {name}", lambda of=values: boosted_by_trees(data, of)
        )
        for name, values in RIVALS_OF_FIGURE1.items()
    }
    starts = ("random", "supervised", "bagged", "boosted")
    runs = [*product((10, 30), starts, (True, False)), *product((10, 30), WITH_LEAVES, (True,))]
    for n_trees, init, is_strict in runs:
        name = f"{n_trees} trees{', strict' if is_strict else ''}, from {init}"
        values = {"n_trees": n_trees, "init": init, "strict_descent": is_strict, "max_iter": 20}
        curves[name] = keep(name, lambda of=values: both_sides(data, of))
    return curves


def boosted_by_trees(data: Dataset, values: dict[str, Any]) -> dict[str, list[float]]:
    """Training and test error after each of 60 boosted trees without shrinkage, over the seeds."""
    found = []
    for seed in SEEDS:
        forest = TAOGradientBoostingRegressor(
            60, learning_rate=1.0, max_depth=6, split="oblique", max_sweeps=20, random_state=seed,
            **values,
        )  # fmt: skip
        forest.fit(data.X_train, data.y_train)
        sides = ((data.X_train, data.y_train), (data.X_test, data.y_test))
        found.append([staged_errors(forest, X, y) for X, y in sides])
    train, test = np.mean(found, axis=0).tolist()
    return {"train": train, "test": test}


def staged_errors(forest: Any, X: Any, y: Any) -> list[float]:
    """Root mean square error after each tree."""
    return [float(np.sqrt(np.mean((of - y) ** 2))) for of in forest.staged_predict(X)]


def both_sides(data: Dataset, values: dict[str, Any]) -> dict[str, list[float]]:
    """Training and test error, mean over the seeds."""
    found = [iterations(data, seed, **values) for seed in SEEDS]
    train, test = (np.mean(side, axis=0).tolist() for side in zip(*found, strict=True))
    return {"train": train, "test": test}


def figure3(keep: Callable[..., dict[str, list[float]]]) -> Curves:
    """Test error against penalties of one forest, and against trees for three kinds of forest."""
    data = load("cpuact")
    strengths = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]

    def penalised(name: str, values: dict[str, Any]) -> dict[str, list[float]]:
        def last(seed: int) -> list[float]:
            given = [{**values, name: strength} for strength in strengths]
            return [iterations(data, seed, n_trees=10, max_iter=20, **of)[1][-1] for of in given]

        return {"x": strengths, "test": over_seeds(last, SEEDS)}

    curves: Curves = {}
    for penalty in ("l1", "l2"):
        label = f"one forest, {penalty} penalty of leaves"
        curves[label] = keep(
            label, lambda of=penalty: penalised("leaf_alpha", {"leaf_penalty": of})
        )
    curves["one forest, penalty of splits"] = keep(
        "one forest, penalty of splits", lambda: penalised("alpha", {})
    )
    counts = [5, 10, 20, 50, 100]
    for label, forest in rivals().items():
        curves[label] = keep(
            label,
            lambda of=forest: {"x": counts, "test": over_seeds(against_trees(data, of), SEEDS)},
        )
    return curves


def rivals() -> dict[str, Callable[[int, int], Any]]:
    """Forests of so many trees in all, by name."""
    common: dict[str, Any] = {"max_depth": 6, "ridge": 0.1}
    return {
        "average of FAO forests of 5 trees": lambda n, seed: FAOForestRegressor(
            n // 5, 5, leaf_alpha=5.0, random_state=seed, **common
        ),
        "boosting, learning rate 0.15": lambda n, seed: TAOGradientBoostingRegressor(
            n, learning_rate=0.15, split="oblique", max_sweeps=20, random_state=seed, **common
        ),
        "bagging": lambda n, seed: TAOForestRegressor(n, random_state=seed, **common),
    }


def against_trees(data: Dataset, forest: Any) -> Callable[[int], list[float]]:
    """Test error of forests of 5 to 100 trees in all."""

    def errors(seed: int) -> list[float]:
        found = []
        for n_trees in (5, 10, 20, 50, 100):
            fitted = forest(n_trees, seed).fit(data.X_train, data.y_train)
            off = fitted.predict(data.X_test) - data.y_test
            found.append(float(np.sqrt(np.mean(off**2))))
        return found

    return errors


def figure4(keep: Callable[..., dict[str, list[float]]]) -> Curves:
    """Test error of averages against all trees, by T and by iterations."""
    curves: Curves = {}
    cpuact, digits = load("cpuact"), load("mnist10k")
    for n_iterations in (1, 5, 20):
        label = f"cpuact, T=10, {n_iterations} iterations"
        curves[label] = keep(label, lambda n=n_iterations: averages(cpuact, 10, n, SEEDS))
    for n_trees in (1, 5, 20):
        label = f"cpuact, T={n_trees}, 20 iterations"
        curves[label] = keep(label, lambda t=n_trees: averages(cpuact, t, 20, SEEDS))
    for n_iterations in (2, 10, 20):
        label = f"MNIST, T=10, {n_iterations} iterations"
        curves[label] = keep(label, lambda n=n_iterations: averages(digits, 10, n, (0,)))
    for n_trees in (2, 20, 60):
        label = f"MNIST, T={n_trees}, 20 iterations"
        curves[label] = keep(label, lambda t=n_trees: averages(digits, t, 20, (0,)))
    return curves


def averages(
    data: Dataset, n_trees: int, n_iterations: int, seeds: tuple[int, ...]
) -> dict[str, list[float]]:
    """Error of the average of the first 1, 2, ... forests, up to 60 trees in all."""
    n_forests = 60 // n_trees
    if data.is_regression:
        make, penalties = FAOForestRegressor, {"leaf_alpha": 5.0, "ridge": 0.1}
    else:
        make, penalties = FAOForestClassifier, {"alpha": 3.0, "leaf_alpha": 5.0, "ridge": 0.05}

    def errors(seed: int) -> list[float]:
        forest = make(
            n_forests, n_trees, max_iter=n_iterations, tol=0.0, random_state=seed, **penalties
        ).fit(data.X_train, data.y_train)
        return [error_of_first(forest, data, count) for count in range(1, n_forests + 1)]

    counts = [float(n_trees * count) for count in range(1, n_forests + 1)]
    return {"x": counts, "test": over_seeds(errors, seeds)}


def error_of_first(forest: Any, data: Dataset, n_forests: int) -> float:
    """Error of the average of the first forests of several."""
    from spinney.data import as_rows

    n_trees = forest.n_trees
    shares = np.zeros(len(forest))
    shares[: n_forests * n_trees] = 1.0 / n_forests
    scores = forest.forest_.sums(as_rows(data.X_test), shares)
    if data.is_regression:
        return float(np.sqrt(np.mean((scores[:, 0] - data.y_test) ** 2)))
    return 100.0 * float(np.mean(forest.classes_[scores.argmax(axis=1)] != data.y_test))


# --- drawing --------------------------------------------------------------------------------------


def draw(name: str, panels: list[tuple[str, str, str, Curves]]) -> None:
    """One picture of several panels: title, x label, which side of the curves, and the curves."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(5 * len(panels), 3.8), squeeze=False,
                                layout="constrained")  # fmt: skip
    for ax, (title, label, side, curves) in zip(axes[0], panels, strict=True):
        for legend, curve in curves.items():
            if side in curve:
                x = curve.get("x", range(1, len(curve[side]) + 1))
                ax.plot(x, curve[side], marker=".", label=legend)
        if side == "train":
            ax.set_ylim(0.9, 2.6)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(label)
        if label.startswith("weight"):
            ax.set_xscale("log")
        ax.legend(fontsize=7)
        ax.grid(alpha=0.3)
    figure.savefig(RESULTS / f"fao_figures-{name}.png", dpi=80)
    plt.close(figure)


def starting(curves: Curves, *words: str) -> Curves:
    """Curves whose names begin with one of these words."""
    return {name: curve for name, curve in curves.items() if name.startswith(words)}


PANELS = {
    "fig1": lambda of: [
        (
            "cpuact, training RMSE, strict, no penalties",
            "iterations, or trees",
            "train",
            starting(of, "boosting, no shrinkage, no", "30 trees, strict"),
        ),
        (
            "cpuact, training RMSE, by default",
            "iterations, or trees",
            "train",
            starting(of, "boosting, no shrinkage, default", "30 trees, from"),
        ),
        ("cpuact, test RMSE, strict", "iterations", "test", starting(of, "10 trees, strict")),
        ("cpuact, test RMSE, by default", "iterations", "test", starting(of, "10 trees, from")),
    ],
    "fig3": lambda of: [
        ("cpuact, test RMSE of one forest", "weight of the penalty", "test", starting(of, "one")),
        ("cpuact, test RMSE", "trees in all", "test", starting(of, "average", "boost", "bagging")),
    ],
    "fig4": lambda of: [
        ("cpuact, test RMSE", "trees in all", "test", starting(of, "cpuact")),
        ("10000 digits of MNIST, test error %", "trees in all", "test", starting(of, "MNIST")),
    ],
}
FIGURES = {"fig1": figure1, "fig3": figure3, "fig4": figure4}


def main(names: list[str]) -> None:
    """Measure what is missing, and draw."""
    mpl.use("Agg")
    store: dict[str, Curves] = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in names or list(FIGURES):
        kept = store.setdefault(name, {})

        def keep(label: str, measure: Callable[[], Any], kept: Curves = kept) -> Any:
            if label not in kept:
                sys.stdout.write(f"{label} ...\n")
                sys.stdout.flush()
                kept[label] = measure()
                STORE.write_text(json.dumps(store, indent=1) + "\n")
            return kept[label]

        draw(name, PANELS[name](FIGURES[name](keep)))
    sys.stdout.write(f"written: {STORE}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
