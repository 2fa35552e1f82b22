"""Hypothesis strategies for small trees, rows and problems.

Weights, biases and features are small multiples of 1/4. Every sum of their products is exact in
float32, so that no test depends on the order of a sum, and scores of exactly 0 are common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.tree import Forest, Tree
from spinney.tree.structure import children_of

quarters = st.integers(-8, 8).map(lambda k: k / 4)
nonzero_quarters = quarters.filter(bool)


class LabelledRows(NamedTuple):
    """Rows and what is to be predicted for them."""

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray


def seeds():
    """Seeds of numpy generators."""
    return st.integers(0, 2**32 - 1)


@st.composite
def topologies(draw, max_splits=6):
    """Children of breadth-first trees of any shape, down to a single leaf."""
    is_split = []
    n_nodes = 1
    while len(is_split) < n_nodes:
        splits = n_nodes < 2 * max_splits + 1 and draw(st.booleans())
        is_split.append(splits)
        n_nodes += 2 * splits
    return children_of(np.array(is_split, dtype=bool))


@st.composite
def sparse_rows(draw, n_rows, n_features, may_fill=None):
    """CSR rows of non-zero weights; a row stays empty where `may_fill` is false."""
    indptr, indices, weights = [0], [], []
    for row in range(n_rows):
        if may_fill is None or may_fill[row]:
            used = sorted(draw(st.sets(st.integers(0, n_features - 1))))
            indices += used
            weights += [draw(nonzero_quarters) for _ in used]
        indptr.append(len(indices))
    return (
        np.array(indptr, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        np.array(weights, dtype=np.float32),
    )


@st.composite
def trees(
    draw,
    kinds=("constant", "linear"),
    max_splits=6,
    max_features=3,
    max_outputs=2,
    min_features=1,
    min_outputs=1,
):
    """Valid trees. Splits without weights and equal leaves are common."""
    left, right = draw(topologies(max_splits))
    kind = draw(st.sampled_from(kinds))
    n_features = draw(st.integers(min_features, max_features))
    n_leaves = int((left < 0).sum())
    n_outputs = draw(st.integers(min_outputs, max_outputs))
    bias = draw(hnp.arrays(np.float64, len(left), elements=quarters))
    bias[left < 0] = 0
    split_rows = draw(sparse_rows(len(left), n_features, may_fill=left >= 0))
    may_fill = np.full(n_leaves * n_outputs, kind == "linear")
    leaf_rows = draw(sparse_rows(n_leaves * n_outputs, n_features, may_fill=may_fill))
    values = draw(
        hnp.arrays(np.float64, (n_leaves, n_outputs), elements=st.sampled_from([0.0, 0.25, 1.0]))
    )
    return Tree(n_features, left, right, bias, *split_rows, kind, values, *leaf_rows)


def rows(n_features, max_rows=20, min_rows=0):
    """float32 matrices with many ties."""
    n_rows = st.integers(min_rows, max_rows)
    return n_rows.flatmap(lambda n: hnp.arrays(np.float32, (n, n_features), elements=quarters))


@st.composite
def trees_with_rows(draw, min_rows=0, **options):
    """A tree and rows that it can read."""
    tree = draw(trees(**options))
    return tree, draw(rows(tree.n_features, min_rows=min_rows))


@st.composite
def forests_with_rows(draw, max_trees=4, max_features=3, max_outputs=3):
    """Trees that belong together, rows that they can read, and a weight a tree."""
    n_features = draw(st.integers(1, max_features))
    n_outputs = draw(st.integers(1, max_outputs))
    one_tree = trees(
        min_features=n_features,
        max_features=n_features,
        min_outputs=n_outputs,
        max_outputs=n_outputs,
    )
    members = draw(st.lists(one_tree, min_size=1, max_size=max_trees))
    weights = draw(hnp.arrays(np.float64, len(members), elements=quarters))
    return Forest(tuple(members)), draw(rows(n_features)), weights


@st.composite
def classification_rows(draw, max_rows=40, max_features=3, max_classes=3):
    """Rows with class codes 0, 1, ... and weights of at least 1/4."""
    X = draw(rows(draw(st.integers(1, max_features)), max_rows, min_rows=1))
    codes = draw(hnp.arrays(np.int32, len(X), elements=st.integers(0, max_classes - 1)))
    return LabelledRows(X, codes, draw(sample_weights(len(X))))


@st.composite
def regression_rows(draw, max_rows=40, max_features=3, max_outputs=2):
    """Rows with float64 targets, shape (n_rows, n_outputs), and weights of at least 1/4."""
    X = draw(rows(draw(st.integers(1, max_features)), max_rows, min_rows=1))
    shape = (len(X), draw(st.integers(1, max_outputs)))
    targets = draw(hnp.arrays(np.float64, shape, elements=quarters))
    return LabelledRows(X, targets, draw(sample_weights(len(X))))


def sample_weights(n_rows):
    """Positive weights."""
    return hnp.arrays(np.float64, n_rows, elements=st.sampled_from([0.25, 1.0, 2.0]))
