"""Speed of greedy growth, and what TAO makes of grown trees: claims that are not rows of a table.

    python benchmarks/greedy_claims.py [co2_speed cap_speed parallel starts_letter starts_mnist]

- co2_speed: a CO2 forest of 30 trees on MNIST against scikit-learn's random forest of 30 trees in
  the same run, one thread.
- cap_speed: Ho's central axis tree on 60000 binary digits against scikit-learn's CART.
- parallel: a CO2 forest with one and with two jobs; whether both are the same, bit for bit.
- starts_...: test error of CART, CO2 and Ho trees before and after TAO starts from them.

What is measured is kept in ``results/greedy_claims.json``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, load
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tune import TUNING_SEED, hold_out

from spinney import (
    CO2ForestClassifier,
    CO2TreeClassifier,
    GreedyForestClassifier,
    RandomDecisionForestClassifier,
    TAOTreeClassifier,
)

STORE = Path(__file__).resolve().parent / "results" / "greedy_claims.json"
CO2_OF_MNIST = {"max_norm": 10.0, "learning_rate": 0.03, "max_epochs": 30}
ALPHAS = (0.01, 0.1, 0.5, 2.0)
DEPTH = 8


def timed(estimator: Any, data: Dataset) -> dict[str, float]:
    """Seconds of a fit, and the test error."""
    cpu, wall = time.process_time(), time.perf_counter()
    estimator.fit(data.X_train, data.y_train)
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    return {**seconds, "test_error": error(estimator, data)}


def error(estimator: Any, data: Dataset) -> float:
    return 100.0 * float(np.mean(estimator.predict(data.X_test) != data.y_test))


def against(
    name: str, ours: Callable[[int], Any], theirs: Callable[[int], Any], seeds: int
) -> dict[str, Any]:
    """Both models in turn; the ratio of their CPU seconds."""
    data = load(name)
    ours(0).fit(data.X_train[:500], data.y_train[:500])  # loads every library
    runs = []
    for seed in range(seeds):
        run: dict[str, Any] = {"ours": timed(ours(seed), data), "theirs": timed(theirs(seed), data)}
        runs.append({**run, "ratio": run["ours"]["cpu"] / run["theirs"]["cpu"]})
    ratios = [run["ratio"] for run in runs]
    return {"ratio": float(np.mean(ratios)), "sd": float(np.std(ratios)), "runs": runs}


def co2_speed() -> dict[str, Any]:
    """CO2 against a random forest of as many trees."""
    return against(
        "mnist",
        lambda seed: CO2ForestClassifier(30, **CO2_OF_MNIST, random_state=seed),
        lambda seed: RandomForestClassifier(30, random_state=seed),
        seeds=3,
    )


def cap_speed() -> dict[str, Any]:
    """One tree of central axes on all columns against CART."""
    return against(
        "mnist_boxes",
        lambda seed: RandomDecisionForestClassifier(1, max_features=400, random_state=seed),
        lambda seed: DecisionTreeClassifier(random_state=seed),
        seeds=3,
    )


def parallel() -> dict[str, Any]:
    """Wall seconds with one and two jobs, in turn."""
    data = load("mnist10k")
    found: dict[str, Any] = {"runs": []}
    for seed in range(3):
        wall, forests = [], []
        for n_jobs in (1, 2):
            forest = CO2ForestClassifier(20, **CO2_OF_MNIST, random_state=seed, n_jobs=n_jobs)
            start = time.perf_counter()
            forests.append(forest.fit(data.X_train, data.y_train))
            wall.append(time.perf_counter() - start)
        one, two = (forest.trees_ for forest in forests)
        is_same = all(a.same_as(b) for a, b in zip(one, two, strict=True))
        found["runs"].append({"wall": wall, "gain": wall[0] / wall[1], "is_same": is_same})
    found["gain"] = float(np.mean([run["gain"] for run in found["runs"]]))
    return found


STARTS: dict[str, Callable[[int, int], Any]] = {
    "cart": lambda seed, depth: GreedyForestClassifier(
        1, max_features=None, bootstrap=False, max_samples=1.0, max_depth=depth, random_state=seed
    ),
    "co2": lambda seed, depth: CO2TreeClassifier(max_depth=depth, max_epochs=30, random_state=seed),
    "central_axis": lambda seed, depth: RandomDecisionForestClassifier(
        1, max_features=None, max_depth=depth, random_state=seed
    ),
    "perceptron": lambda seed, depth: RandomDecisionForestClassifier(
        1, max_features=None, split="perceptron", max_depth=depth, random_state=seed
    ),
}


def starts(name: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    """Grown trees of one depth before and after TAO; its alpha is chosen on training rows."""
    data = load(name)
    found: dict[str, Any] = {}
    for start, make in STARTS.items():
        runs = [improved(data, make, seed) for seed in seeds]
        means = {key: float(np.mean([run[key] for run in runs])) for key in ("before", "after")}
        found[start] = {**means, "runs": runs}
    return found


def improved(data: Dataset, make: Callable[[int, int], Any], seed: int) -> dict[str, Any]:
    part = hold_out(data, TUNING_SEED + seed, 20_000)
    held = {alpha: after_tao(part, make, seed, alpha)[1] for alpha in ALPHAS}
    best = min(held, key=lambda alpha: held[alpha])
    before, after = after_tao(data, make, seed, best)
    return {"alpha": best, "before": before, "after": after}


def after_tao(
    data: Dataset, make: Callable[[int, int], Any], seed: int, alpha: float
) -> tuple[float, float]:
    """Test errors of the grown tree and of TAO from it."""
    grown = make(seed, DEPTH).fit(data.X_train, data.y_train)
    tree = grown.tree_ if hasattr(grown, "tree_") else grown.trees_[0]
    better = TAOTreeClassifier(init=tree, alpha=alpha, max_iter=20, random_state=seed)
    return error(grown, data), error(better.fit(data.X_train, data.y_train), data)


CLAIMS: dict[str, Callable[[], dict[str, Any]]] = {
    "co2_speed": co2_speed,
    "cap_speed": cap_speed,
    "parallel": parallel,
    "starts_letter": partial(starts, "letter", (0, 1, 2)),
    "starts_mnist": partial(starts, "mnist10k", (0, 1, 2)),
}


def main(names: list[str]) -> None:
    """Measure what is named, print it and keep it."""
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in names or list(CLAIMS):
        store[name] = CLAIMS[name]()
        STORE.write_text(json.dumps(store, indent=1) + "\n")
        sys.stdout.write(f"{name}: {json.dumps(store[name], indent=1)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
