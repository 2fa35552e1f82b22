"""Variants of one fit that must give the same model, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench import Bench, load_cached
from models import Settings, build, spinney

from figures.figure import Figure


def bit_equal(_bench: Bench) -> Figure:
    """Threads, memory order and float width must not change one bit of the model."""
    data = load_cached("letter")
    settings = spinney(max_depth=8, max_iter=6, alpha=0.1)
    reference = _tree_bytes(settings, data.X_train, data.y_train)
    two = settings | {"params": {**settings["params"], "n_jobs": 2}}
    same = {
        "2 threads": _tree_bytes(two, data.X_train, data.y_train),
        "Fortran order": _tree_bytes(settings, np.asfortranarray(data.X_train), data.y_train),
        "float64 copy": _tree_bytes(settings, data.X_train.astype(np.float64), data.y_train),
        "again": _tree_bytes(settings, data.X_train, data.y_train),
    }
    rows = [{"variant": name, "equal": found == reference} for name, found in same.items()]
    return Figure(
        what="letter: same seed, other threads, memory order, float width",
        target="bit-equal models",
        value=f"{sum(row['equal'] for row in rows)} of {len(rows)} equal",
        passed=all(row["equal"] for row in rows),
        table=rows,
    )


def _tree_bytes(settings: Settings, X: Any, y: Any) -> list[bytes]:
    """Every array of the fitted tree, as bytes."""
    tree = build(settings, load_cached("letter"), seed=0).fit(X, y).tree_
    names = ("left", "right", "bias", "split_indptr", "split_indices", "split_weights")
    return [np.asarray(getattr(tree, name)).tobytes() for name in (*names, "leaf_values")]
