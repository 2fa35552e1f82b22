"""Figures 1 and 2 of CO2 Forest: ν against depth, and error against the number of trees.

    python benchmarks/co2_figures.py [fig1 fig2]

Curves are kept in ``results/co2_figures.json`` and drawn again without being measured anew; remove
an entry to measure it. Test rows only make the curves; nothing is chosen by them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from curves import STAGES
from datasets import Dataset, load
from tune import TUNING_SEED, hold_out

from spinney import CO2ForestClassifier, CO2TreeClassifier, GreedyForestClassifier

RESULTS = Path(__file__).resolve().parent / "results"
STORE = RESULTS / "co2_figures.json"
DEPTHS = tuple(range(1, 15))
SEEDS = (0, 1, 2)  # of figure 2
NORMS = (0.1, 1.0, 10.0, 100.0)
FORESTS: dict[str, dict[str, Any]] = {
    "satimage": {"max_norm": 100.0, "learning_rate": 0.03, "max_epochs": 50},
    "pendigits": {"max_norm": 100.0, "learning_rate": 0.03, "max_epochs": 100},
}
Curves = dict[str, dict[str, list[float]]]


def error(estimator: Any, X: Any, y: Any) -> float:
    return 100.0 * float(np.mean(estimator.predict(X) != y))


def by_depth(make: Callable[[int], Any], data: Dataset) -> dict[str, list[float]]:
    """Train and validation error of single trees that are grown to each depth."""
    found: dict[str, list[float]] = {"x": [], "train": [], "test": []}
    for depth in DEPTHS:
        tree = make(depth).fit(data.X_train, data.y_train)
        found["x"].append(depth)
        found["train"].append(error(tree, data.X_train, data.y_train))
        found["test"].append(error(tree, data.X_test, data.y_test))
    return found


def figure1(keep: Callable[..., dict[str, list[float]]]) -> dict[str, Curves]:
    """Single trees on 10000 digits, 8000 of them for training."""
    data = hold_out(load("mnist10k"), TUNING_SEED)

    def axis(depth: int) -> Any:
        return GreedyForestClassifier(
            1, max_features=None, bootstrap=False, max_samples=1.0, max_depth=depth, random_state=0
        )

    curves = {"one column a split": keep("fig1 axis", lambda: by_depth(axis, data))}
    for norm in NORMS:

        def co2(depth: int, norm: float = norm) -> Any:
            return CO2TreeClassifier(max_norm=norm, max_epochs=30, max_depth=depth, random_state=0)

        curves[f"ν = {norm:g}"] = keep(f"fig1 {norm:g}", lambda make=co2: by_depth(make, data))
    return {"MNIST, 8000 rows": curves}


def by_trees(forest: Any, data: Dataset) -> dict[str, list[float]]:
    """Test error of the first tree, the first two, and so on; mean and deviation of the seeds."""
    found = []
    for seed in SEEDS:
        forest.set_params(random_state=seed).fit(data.X_train, data.y_train)
        points = list(range(1, len(forest.trees_) + 1))
        stages = STAGES["trees"](forest, data.X_test, points)
        found.append([100.0 * float(np.mean(of != data.y_test)) for of in stages])
    means, deviations = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    return {"x": points, "test": means.tolist(), "deviation": deviations.tolist()}


def figure2(keep: Callable[..., dict[str, list[float]]]) -> dict[str, Curves]:
    """Forests of CO2, OC1 and axis splits on two small sets."""
    found = {}
    for name, values in FORESTS.items():
        data = load(name)
        common = {"max_features": "D**0.7"}
        forests = {
            "random forest": GreedyForestClassifier(100, **common),
            "OC1 forest": GreedyForestClassifier(100, split="oc1", **common),
            "CO2 forest": CO2ForestClassifier(100, **values, **common),
        }
        found[name] = {
            label: keep(f"fig2 {name} {label}, seeds", lambda f=forest, d=data: by_trees(f, d))
            for label, forest in forests.items()
        }
    return found


FIGURES = {"fig1": (figure1, "depth"), "fig2": (figure2, "number of trees")}


def draw(name: str, panels: dict[str, Curves], x_label: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(panels), figsize=(6 * len(panels), 4), layout="constrained", squeeze=False
    )
    for (title, curves), ax in zip(panels.items(), axes[0], strict=True):
        for label, curve in curves.items():
            (line,) = ax.plot(curve["x"], curve["test"], label=label)
            if "deviation" in curve:
                low, high = np.array(curve["test"]) + np.outer((-1, 1), curve["deviation"])
                ax.fill_between(curve["x"], low, high, color=line.get_color(), alpha=0.15)
            if "train" in curve:
                ax.plot(curve["x"], curve["train"], "--", color=line.get_color())
        ax.set_title(f"{title}{' (dashed: training rows)' if name == 'fig1' else ''}", fontsize=10)
        ax.set_xlabel(x_label)
        ax.set_ylabel("error, %")
        ax.set_ylim(0, 40 if name == "fig1" else 16)
        if name == "fig2":
            ax.set_xscale("log")
        ax.legend(fontsize=8)
    figure.savefig(RESULTS / f"co2_figures-{name}.png", dpi=80)
    plt.close(figure)


def main(names: list[str]) -> None:
    """Measure what is not there yet, keep it, and draw."""
    mpl.use("Agg")
    store: dict[str, dict[str, list[float]]] = (
        json.loads(STORE.read_text()) if STORE.exists() else {}
    )

    def keep(key: str, measure: Callable[[], dict[str, list[float]]]) -> dict[str, list[float]]:
        if key not in store:
            sys.stdout.write(f"{key} ...\n")
            sys.stdout.flush()
            store[key] = measure()
            STORE.write_text(json.dumps(store, indent=1) + "\n")
        return store[key]

    for name in names or list(FIGURES):
        figure, x_label = FIGURES[name]
        draw(name, figure(keep), x_label)


if __name__ == "__main__":
    main(sys.argv[1:])
