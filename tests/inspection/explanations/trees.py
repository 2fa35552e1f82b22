"""Hand-made trees as fitted models, whose answers can be worked out on paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from spinney import TAOForestClassifier, TAOTreeClassifier, TAOTreeRegressor, Tree
from spinney.data.tables.typical import typical_of_numbers
from spinney.tree import Forest
from spinney.tree.structure import children_of


def tree_of(splits, values, shape=None):
    """A tree whose k-th split has the weights and the bias of `splits[k]`, breadth first.

    Splits are ({column: weight}, bias), `values` the rows of the leaves in node order, `shape` says
    of each node whether it is a split; by default a tree of one split a level to the right.
    """
    n_features = 1 + max(column for weights, _ in splits for column in weights)
    if shape is None:
        shape = [True] + [False, True] * (len(splits) - 1) + [False, False]
    left, right = children_of(np.array(shape, dtype=bool))
    numbers = np.cumsum(shape) - 1
    weights = [
        dict(sorted(splits[numbers[n]][0].items())) if s else {} for n, s in enumerate(shape)
    ]
    bias = [float(splits[numbers[n]][1]) if s else 0.0 for n, s in enumerate(shape)]
    values = np.asarray(values, dtype=np.float64)
    return Tree(
        n_features=n_features,
        left=left,
        right=right,
        bias=np.array(bias),
        split_indptr=np.cumsum([0, *map(len, weights)]).astype(np.int64),
        split_indices=np.array([c for w in weights for c in w], dtype=np.int32),
        split_weights=np.array([v for w in weights for v in w.values()], dtype=np.float32),
        leaf_kind="constant",
        leaf_values=values,
        leaf_indptr=np.zeros(values.size + 1, dtype=np.int64),
        leaf_indices=np.empty(0, dtype=np.int32),
        leaf_weights=np.empty(0, dtype=np.float32),
    ).check()


def with_linear_leaves(tree, weights):
    """The tree with linear leaves; `weights` has one row a leaf and output."""
    weights = sp.csr_matrix(np.asarray(weights, dtype=np.float32))
    return replace(
        tree,
        leaf_kind="linear",
        leaf_indptr=weights.indptr.astype(np.int64),
        leaf_indices=weights.indices.astype(np.int32),
        leaf_weights=weights.data,
    ).check()


def as_classifier(tree, labels=None):
    """A fitted classifier that is this tree."""
    model = TAOTreeClassifier()
    model.tree_, model.n_features_in_, model.encoding_ = tree, tree.n_features, None
    model.classes_ = np.arange(tree.n_outputs) if labels is None else np.asarray(labels)
    model.n_classes_, model.n_outputs_ = tree.n_outputs, 1
    return from_zero(model)


def as_regressor(tree):
    """A fitted regressor that is this tree."""
    model = TAOTreeRegressor()
    model.tree_, model.n_outputs_, model.n_features_in_ = tree, tree.n_outputs, tree.n_features
    model.encoding_ = None
    return from_zero(model)


def as_voting_forest(trees):
    """A fitted forest that votes."""
    model = TAOForestClassifier(voting="hard")
    model.forest_ = Forest(tuple(trees))
    model.n_features_in_, model.encoding_ = trees[0].n_features, None
    model.classes_, model.n_outputs_ = np.arange(trees[0].n_outputs), 1
    model.n_classes_ = trees[0].n_outputs
    return from_zero(model)


def from_zero(model):
    """The model, whose typical row is all zeros."""
    model.typical_ = typical_of_numbers(np.zeros(model.n_features_in_))
    return model


def diagonal_tree():
    """Class 1 where x0 + x1 >= 1, else class 0."""
    return tree_of([({0: 1.0, 1: 1.0}, -1.0)], [[1, 0], [0, 1]])
