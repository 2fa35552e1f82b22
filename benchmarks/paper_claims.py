"""What the papers say in passing, or leave open: claims that are not rows of a table.

    python benchmarks/paper_claims.py [strict_letter ho_passes]

- strict_letter: one tree of depth 11 with constant leaves on Letter, every way to guard the
  objective, from random and from supervised starts; errors on a fifth of the training rows.
- ho_passes: nodes and test errors of Ho's single perceptron trees with 10 to 500 passes, where the
  paper says "a fixed number".

What is measured is kept in ``results/paper_claims.json`` as it comes; remove an entry to measure it
anew.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, load
from tune import TUNING_SEED, hold_out

from spinney import RandomDecisionForestClassifier, TAOTreeClassifier

STORE = Path(__file__).resolve().parent / "results" / "paper_claims.json"
SEEDS = (0, 1, 2)
PASSES = (10, 50, 200, 500)

#: A fit and what is noted of it, by name.
Cells = Iterator[tuple[str, Callable[[], dict[str, float]]]]


def strict_letter() -> Cells:
    """Trees under each guard, with the sweeps of the paper."""
    part = hold_out(load("letter"), TUNING_SEED)
    for init in ("random", "supervised"):
        for strict in (False, True, "sweep"):
            for seed in SEEDS:
                tree = TAOTreeClassifier(
                    max_depth=11, max_iter=40, init=init, strict_descent=strict, random_state=seed
                )
                yield f"{init}, strict_descent={strict}, seed {seed}", lambda t=tree: noted(t, part)


def ho_passes() -> Cells:
    """Perceptron trees on all columns of the binary digits."""
    for seed in SEEDS:
        for name in ("mnist_boxes", "mnist_neighbors"):
            data = load(name)
            for passes in PASSES:
                tree = RandomDecisionForestClassifier(
                    1, split="perceptron", max_features=None, max_epochs=passes, random_state=seed
                )
                yield f"{name}, {passes} passes, seed {seed}", lambda t=tree, d=data: noted(t, d)


def noted(model: Any, data: Dataset) -> dict[str, float]:
    """Error in per cent, nodes and CPU seconds of one fit."""
    start = time.process_time()
    model.fit(data.X_train, data.y_train)
    seconds = time.process_time() - start
    n_leaves = model.tree_.n_leaves if hasattr(model, "tree_") else model.trees_[0].n_leaves
    error = 100.0 * float(np.mean(model.predict(data.X_test) != data.y_test))
    return {"error": error, "nodes": 2 * int(n_leaves) - 1, "cpu": seconds}


CLAIMS = {"strict_letter": strict_letter, "ho_passes": ho_passes}


def main(names: list[str]) -> None:
    """Measure what is named, print it and keep it."""
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    for claim in names or list(CLAIMS):
        for name, measure in CLAIMS[claim]():
            key = f"{claim}: {name}"
            if key not in store:
                store[key] = measure()
                STORE.write_text(json.dumps(store, indent=1) + "\n")
            sys.stdout.write(f"{key}: {store[key]}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
