"""Random numbers of the trees of a forest, each a function of (seed, tree, purpose) alone.

So a tree is the same whichever worker grows it, and a forest that grows by a warm start is the
forest that would have been grown at once.
"""

from __future__ import annotations

import numpy as np

ROWS, COLUMNS, TREE, VALIDATION, COPIES = range(5)


def stream(seed: int, tree: int, purpose: int) -> np.random.Generator:
    """Generator for one purpose of one tree."""
    return np.random.default_rng([seed, tree, purpose])


def tree_seed(seed: int, tree: int) -> int:
    """Seed of the optimiser of one tree."""
    return int(stream(seed, tree, TREE).integers(np.iinfo(np.int32).max))
