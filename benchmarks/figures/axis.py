"""Training objective of axis-aligned TAO against the CART tree it starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench import Bench, load_cached
from cells import Result
from measure import merged_splits
from models import Settings, fit_cart, spinney

from figures.figure import Figure
from figures.settings import AXIS_ALPHAS, tuned


def axis_from_cart(bench: Bench) -> Figure:
    """Axis-aligned TAO started from CART of the same size, on three data sets."""
    rows, notes = [], []
    for data in ("letter", "satimage", "pendigits"):
        base = spinney(start="cart", split="axis", max_depth=8, max_iter=20)
        chosen, note = tuned(bench, data, base, AXIS_ALPHAS, n_repeats=2)
        notes.append(f"{data}: {note}")
        for depth in (6, 8, 10):
            ours = chosen | {"params": {**chosen["params"], "max_depth": depth}}
            rows += [_axis_row(bench, data, ours, seed) for seed in bench.seeds]
    gains = np.array([row["CART merged"] - row["TAO"] for row in rows])
    lost = int(np.sum(gains < 0))
    relative = 100 * gains / np.array([row["CART merged"] for row in rows])
    return Figure(
        what="axis TAO started from CART of the same size: training objective",
        target="never above CART's, lower on each data set",
        value=f"above in {lost} of {len(rows)} fits; lower by {relative.min():.1f} to "
        f"{relative.max():.1f} %",
        passed=bool(np.all(gains > 0)),
        table=rows,
        notes=[*notes, "objective = training errors + alpha x splits; CART's equal-label leaves "
               "are merged first, which only lowers its objective"],
    )  # fmt: skip


def _axis_row(bench: Bench, data: str, ours: Settings, seed: int) -> dict[str, Any]:
    alpha, depth = ours["params"]["alpha"], ours["params"]["max_depth"]
    result = bench.fit(data, ours, seed)

    def measure_cart() -> Result:
        rows = load_cached(data)
        tree = fit_cart(rows, depth, seed)
        return {
            "n_train_errors": int(np.sum(tree.predict(rows.X_train) != rows.y_train)),
            "test_error": 100 * float(np.mean(tree.predict(rows.X_test) != rows.y_test)),
            "n_splits": int(tree.get_n_leaves()) - 1,
            "n_merged_splits": merged_splits(tree),
        }

    key = {"data": data, "kind": "cart-start", "depth": depth, "seed": seed}
    greedy = bench.store.get(f"{data}-cart-start-d{depth}-s{seed}", key, measure_cart)
    return {
        "data": data,
        "depth": depth,
        "seed": seed,
        "CART": greedy["n_train_errors"] + alpha * greedy["n_splits"],
        "CART merged": greedy["n_train_errors"] + alpha * greedy["n_merged_splits"],
        "TAO": result["objective"],
        "CART train errors": greedy["n_train_errors"],
        "TAO train errors": result["n_train_errors"],
        "CART splits": greedy["n_splits"],
        "TAO splits": result["n_leaves"] - 1,
        "CART test error %": greedy["test_error"],
        "TAO test error %": result["test_error"],
    }
