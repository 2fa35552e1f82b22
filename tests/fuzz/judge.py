"""What may happen to a mutant: it is refused with the documented error, or it is a whole model.

The judge does not trust the checks that it judges. Whether a tree is one is asked again here, in
slow and obvious words.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

import spinney
from spinney.export.document import encode_model
from spinney.images import NeighborFeatures, PixelLabeler
from tests.compat.models import answers

REFUSED, LOADED, UNASKED = "refused", "loaded", "loaded, refuses to predict"
MOST_COLUMNS = 10_000


def judge(path: Path, *, memory_map: bool) -> str:
    """What a mutant came to; raises if it came to anything else."""
    try:
        model = spinney.load(path, memory_map=memory_map)
    except spinney.DamagedFileError:
        return REFUSED
    for tree in trees_of(model):
        check_slowly(tree)
    encode_model(model)  # a whole model can be saved again
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # sums of huge leaves overflow
        try:
            said = ask(model)
        except (ValueError, TypeError) as error:
            check_reason(error)
            return UNASKED
    check_answers(model, said)
    return LOADED


def trees_of(model: Any) -> list[spinney.Tree]:
    """Every tree that a prediction would walk through."""
    if isinstance(model, spinney.Tree):
        return [model]
    if isinstance(model, spinney.RegularizationPath):
        return [estimator.tree_ for estimator in model.estimators]
    if isinstance(model, spinney.RefinedForestClassifier | spinney.RefinedForestRegressor):
        return trees_of(model.forest)
    if isinstance(model, PixelLabeler):
        return trees_of(getattr(model, "estimator_", None))
    if isinstance(model, FrozenEstimator):
        return trees_of(model.estimator)
    if hasattr(model, "forest_"):
        return list(model.forest_.trees)
    return [model.tree_] if hasattr(model, "tree_") else []


def check_slowly(tree: spinney.Tree) -> None:
    """Raise AssertionError unless these arrays are a tree."""
    n_nodes = len(tree.left)
    parents = [0] * n_nodes
    for node in range(n_nodes):
        left, right = int(tree.left[node]), int(tree.right[node])
        assert (left == -1) == (right == -1)
        if left == -1:
            continue
        for child in (left, right):
            assert node < child < n_nodes
            parents[child] += 1
    assert parents == [0] + [1] * (n_nodes - 1)
    n_leaves = int(sum(left == -1 for left in tree.left))
    n_outputs = tree.leaf_values.shape[1]
    assert tree.leaf_values.shape == (n_leaves, n_outputs)
    assert n_outputs >= 1
    assert len(tree.bias) == n_nodes
    assert all(math.isfinite(value) for value in tree.bias)
    assert all(math.isfinite(value) for value in tree.leaf_values.ravel())
    check_rows_slowly(tree.split_indptr, tree.split_indices, tree.split_weights, n_nodes, tree)
    check_rows_slowly(
        tree.leaf_indptr, tree.leaf_indices, tree.leaf_weights, n_leaves * n_outputs, tree
    )


def check_rows_slowly(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, n_rows: int, tree: spinney.Tree
) -> None:
    assert len(indptr) == n_rows + 1
    assert indptr[0] == 0
    assert indptr[-1] == len(indices) == len(weights)
    for row in range(n_rows):
        assert 0 <= indptr[row] <= indptr[row + 1] <= len(indices)
    assert all(0 <= index < tree.n_features for index in indices)
    assert all(math.isfinite(weight) for weight in weights)


def ask(model: Any) -> dict[str, np.ndarray]:
    """What the model says of a few rows; nothing if it is not fitted."""
    if isinstance(model, spinney.RegularizationPath):
        return {key: value for e in model.estimators for key, value in ask(e).items()}
    if isinstance(model, NeighborFeatures):
        is_small = getattr(model, "n_features_in_", MOST_COLUMNS) < MOST_COLUMNS
        return answers(model) if is_small else {}
    if not trees_of(model):
        return {}
    if isinstance(model, PixelLabeler):
        return answers(model)
    n_features = getattr(model, "n_features_in_", trees_of(model)[0].n_features)
    if n_features > MOST_COLUMNS:
        return {}  # a bare tree may claim columns that nobody has
    X = np.random.default_rng(0).normal(size=(5, n_features))
    X[0] = 0.0
    X[1] *= 1e6
    return answers(model, X)


def check_reason(error: Exception) -> None:
    """Raise unless the rows are the reason of an error, for which the model is not to blame.

    They have numbers in a column that the encoding of a table calls a date or a text; or a column
    of windows hardly varied in training, so that scaling goes beyond float32.
    """
    blamed = ("give values of the same kind", "contains infinity")
    if not any(word in str(error) for word in blamed):
        raise error


def check_answers(model: Any, said: dict[str, np.ndarray]) -> None:
    for method, values in said.items():
        assert len(values) == 5, method
    if "predict" in said and hasattr(model, "classes_") and not hasattr(model, "reject_label"):
        known = [*model.classes_.tolist(), getattr(model, "ignore_label", None)]
        assert all(label in known for label in said["predict"].ravel().tolist())
