"""Trees with chosen hyperplanes, and rows that lie on them."""

from __future__ import annotations

import numpy as np

from spinney import TAOTreeRegressor, Tree
from spinney.tree.structure import complete_topology


def integer_tree(depth, n_columns, seed, weights=None):
    """A complete tree whose full hyperplanes have small whole weights and biases.

    The last weight of each is 1, so that a row can be moved onto it. Leaves are numbered.
    """
    rng = np.random.default_rng(seed)
    left, right = complete_topology(depth)
    is_split = left >= 0
    n_splits, n_leaves = int(is_split.sum()), int((~is_split).sum())
    draw = weights or (lambda size: rng.choice([-3, -2, -1, 1, 2, 3], size=size))
    w = np.asarray(draw(size=(n_splits, n_columns)), dtype=np.float32)
    w[:, -1] = 1
    bias = np.zeros(len(left))
    bias[is_split] = rng.integers(-4, 5, size=n_splits)
    return Tree(
        n_features=n_columns,
        left=left,
        right=right,
        bias=bias,
        split_indptr=np.concatenate([[0], np.cumsum(is_split * n_columns)]).astype(np.int64),
        split_indices=np.tile(np.arange(n_columns, dtype=np.int32), n_splits),
        split_weights=w.ravel(),
        leaf_kind="constant",
        leaf_values=np.arange(n_leaves, dtype=np.float64)[:, None],
        leaf_indptr=np.zeros(n_leaves + 1, dtype=np.int64),
        leaf_indices=np.empty(0, dtype=np.int32),
        leaf_weights=np.empty(0, dtype=np.float32),
    ).check()


def integer_rows(n_rows, n_columns, seed):
    """Rows of small whole numbers."""
    return np.random.default_rng(seed).integers(-9, 10, (n_rows, n_columns)).astype(np.float32)


def on_hyperplanes(tree, X):
    """Rows with the last column changed so that each lies on a hyperplane of `tree` in turn.

    Whole numbers lie on it exactly, others within rounding.
    """
    X = X.copy()
    weights = tree.split_weights.reshape(-1, tree.n_features).astype(np.float64)
    turn = np.arange(len(X)) % len(weights)
    rest = (X[:, :-1] * weights[turn, :-1]).sum(axis=1)
    X[:, -1] = -(rest + tree.bias[: len(weights)][turn])
    return X


def as_regressor(tree):
    """A fitted regressor that is this tree."""
    model = TAOTreeRegressor()
    model.tree_, model.n_outputs_, model.n_features_in_ = tree, 1, tree.n_features
    model.encoding_ = None
    return model
