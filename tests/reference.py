"""Slow and obvious versions of what the library does fast: the judges of its tests.

Everything here goes row by row and node by node, in plain Python, and shares no code with the
library. Slowness is welcome; cleverness is not.
"""

from __future__ import annotations

import numpy as np

# --- the tree as a function of one row ---------------------------------------------------------


def split_terms(tree, node):
    """(feature, weight) pairs of the hyperplane of a node."""
    start, stop = tree.split_indptr[node], tree.split_indptr[node + 1]
    return [(int(tree.split_indices[k]), tree.split_weights[k]) for k in range(start, stop)]


def score(tree, node, x):
    """Score of a row at a split, every step in float64."""
    total = float(tree.bias[node])
    for feature, weight in split_terms(tree, node):
        total += float(weight) * float(x[feature])
    return total


def score_float32(tree, node, x):
    """Score of a row at a split: products and their sum in float32, the bias last in float64."""
    total = np.float32(0)
    for feature, weight in split_terms(tree, node):
        total = np.float32(total + np.float32(weight * np.float32(x[feature])))
    return float(total) + float(tree.bias[node])


def path_of_row(tree, x, score=score):
    """Nodes that a row meets, from the root to its leaf."""
    path = [0]
    while tree.left[path[-1]] >= 0:
        node = path[-1]
        goes_right = score(tree, node, x) >= 0
        path.append(int(tree.right[node] if goes_right else tree.left[node]))
    return path


def leaf_number(tree, node):
    """Which leaf a node is, counting the leaves in node order."""
    return sum(1 for other in range(node) if tree.left[other] < 0)


def answer_of_row(tree, x, score=score):
    """Outputs of a tree for one row, before any softmax."""
    leaf = leaf_number(tree, path_of_row(tree, x, score)[-1])
    answer = [float(value) for value in tree.leaf_values[leaf]]
    for output in range(len(answer)):
        row = leaf * len(answer) + output
        for k in range(tree.leaf_indptr[row], tree.leaf_indptr[row + 1]):
            answer[output] += float(tree.leaf_weights[k]) * float(x[tree.leaf_indices[k]])
    return answer


# --- the tree as a function of many rows -------------------------------------------------------


def apply(tree, X, score=score):
    """Leaf node of each row."""
    return np.array([path_of_row(tree, x, score)[-1] for x in X], dtype=np.int32)


def outputs(tree, X, score=score):
    """Outputs of each row, shape (n_rows, n_outputs)."""
    answers = [answer_of_row(tree, x, score) for x in X]
    return np.array(answers, dtype=np.float64).reshape(len(X), tree.leaf_values.shape[1])


def decision_path(tree, X, score=score):
    """Dense indicator (n_rows, n_nodes): which nodes each row meets."""
    met = np.zeros((len(X), len(tree.left)), dtype=bool)
    for row, x in enumerate(X):
        met[row, path_of_row(tree, x, score)] = True
    return met


def reach(tree, X):
    """Number of rows that meet each node."""
    return decision_path(tree, X).sum(axis=0).astype(np.int64)


# --- sizes -------------------------------------------------------------------------------------


def node_parameters(tree, node):
    """Parameters of one node; a constant leaf counts 1."""
    if tree.left[node] >= 0:
        return len(split_terms(tree, node)) + 1
    if tree.leaf_kind == "constant":
        return 1
    n_outputs = tree.leaf_values.shape[1]
    first = leaf_number(tree, node) * n_outputs
    return int(tree.leaf_indptr[first + n_outputs] - tree.leaf_indptr[first]) + n_outputs


def count_parameters(tree):
    """Parameters of the whole tree."""
    return sum(node_parameters(tree, node) for node in range(len(tree.left)))


def row_parameters(tree, x):
    """Parameters that the prediction of one row reads."""
    return sum(node_parameters(tree, node) for node in path_of_row(tree, x))


# --- random shapes -----------------------------------------------------------------------------


def draw_size(delta1, delta2, p, rng, depth=0):
    """Number of nodes of one random shape: complete to `delta1`, by chance to `delta2`."""
    if depth >= delta2 or (depth >= delta1 and rng.random() >= p):
        return 1
    return 1 + sum(draw_size(delta1, delta2, p, rng, depth + 1) for _ in range(2))
