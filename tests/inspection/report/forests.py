"""Forests without a fit, for tests of size and time."""

from __future__ import annotations

import numpy as np

import spinney
from spinney.tree import Forest, Tree, complete_topology


def random_tree(
    rng: np.random.Generator, depth: int, n_features: int, n_weights: int, n_classes: int
) -> Tree:
    """A complete tree of random hyperplanes and leaves; its numbers do not compress."""
    left, right = complete_topology(depth)
    is_split = left >= 0
    n_splits = int(is_split.sum())
    drawn = np.argpartition(rng.random((n_splits, n_features)), n_weights - 1)[:, :n_weights]
    lengths = np.where(is_split, n_weights, 0)
    values = rng.dirichlet(np.ones(n_classes), n_splits + 1)
    return Tree(
        n_features=n_features,
        left=left,
        right=right,
        bias=np.where(is_split, rng.normal(size=len(left)), 0.0),
        split_indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        split_indices=np.sort(drawn, axis=1).ravel().astype(np.int32),
        split_weights=rng.normal(size=n_splits * n_weights).astype(np.float32),
        leaf_kind="constant",
        leaf_values=values,
        leaf_indptr=np.zeros(values.size + 1, np.int64),
        leaf_indices=np.zeros(0, np.int32),
        leaf_weights=np.zeros(0, np.float32),
    )


def random_forest(
    n_trees: int, depth: int, n_features: int, n_weights: int, n_classes: int = 10
) -> spinney.TAOForestClassifier:
    """A fitted forest whose trees are exchanged for random ones; every twentieth is the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4 * n_classes, n_features)).astype(np.float32)
    y = np.arange(len(X)) % n_classes
    model = spinney.TAOForestClassifier(1, max_depth=1, max_iter=1, random_state=0).fit(X, y)
    kinds = [random_tree(rng, depth, n_features, n_weights, n_classes) for _ in range(20)]
    model.forest_ = Forest(tuple(kinds[number % len(kinds)] for number in range(n_trees)))
    return model
