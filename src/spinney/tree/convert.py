"""Trees from scikit-learn: the same predictions in the layout of this library.

Only public attributes of a fitted tree are read. An axis-aligned split becomes a hyperplane with
one weight of 1.
"""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from spinney.tree.sparse_rows import row_offsets
from spinney.tree.structure import Tree, breadth_first, constant_leaves


class SklearnTree(Protocol):
    """The attributes of scikit-learn's ``tree_`` that a conversion reads."""

    n_features: int
    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]


def from_sklearn(estimator: object) -> Tree:
    """Turn a fitted scikit-learn decision tree into a `Tree` that predicts the same.

    Parameters
    ----------
    estimator : DecisionTreeClassifier, DecisionTreeRegressor or their ``tree_``
        A fitted tree with one classification output, or any number of regression outputs.

    Returns
    -------
    Tree
        Constant leaves: class fractions in the order of ``classes_``, or predicted values.

    Notes
    -----
    scikit-learn sends a float32 ``x`` left if ``x <= t`` with a float64 threshold ``t``. Ours goes
    right if ``x + bias >= 0``, so the bias is minus the smallest float32 above ``t``. The sign of
    a difference of two floats is exact, hence every row takes the same path.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> usual = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> from_sklearn(usual).n_leaves
    3
    """
    source = _tree_arrays(estimator)
    order, left, right = breadth_first(source.children_left, source.children_right)
    is_split = left >= 0
    splits = order[is_split]
    bias = np.zeros(len(order))
    bias[is_split] = -_next_float32(source.threshold[splits])
    leaf_values = _leaf_values(source.value)[order[~is_split]]
    return Tree(
        n_features=int(source.n_features),
        left=left,
        right=right,
        bias=bias,
        split_indptr=row_offsets(is_split),
        split_indices=source.feature[splits].astype(np.int32),
        split_weights=np.ones(len(splits), dtype=np.float32),
        **constant_leaves(leaf_values),
    ).check()


def _tree_arrays(estimator: object) -> SklearnTree:
    source = getattr(estimator, "tree_", estimator)
    if not hasattr(source, "children_left"):
        raise TypeError(
            f"{type(estimator).__name__} is no fitted scikit-learn tree; give a fitted "
            "DecisionTreeClassifier or DecisionTreeRegressor, or its tree_."
        )
    return cast(SklearnTree, source)


def _leaf_values(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Flatten (node, output, class) to one row a node; a regression has one "class"."""
    _, n_outputs, n_classes = value.shape
    if n_outputs > 1 and n_classes > 1:
        raise ValueError(
            f"the tree classifies {n_outputs} outputs at once; give a tree with one output, "
            "for instance one fitted to a single column of y."
        )
    return value.reshape(len(value), -1).astype(np.float64)


def _next_float32(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smallest float32 above each threshold."""
    if not np.isfinite(threshold).all():
        # scikit-learn marks a split between missing and present values this way.
        raise ValueError(
            "the tree has an infinite threshold, as learned from missing values; "
            "give a tree fitted to data without them."
        )
    nearest = threshold.astype(np.float32)
    above = np.nextafter(nearest, np.float32(np.inf))
    return np.where(nearest > threshold, nearest, above).astype(np.float64)
