"""Predictions of a forest after its first tree, its first two trees, and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from spinney.data import Matrix, as_rows
from spinney.inspection.plotting.fitted import rows_of, trees_of
from spinney.tree.convert import from_sklearn
from spinney.tree.forest import Forest
from spinney.tree.size import count_parameters
from spinney.tree.structure import Tree

Stage: TypeAlias = tuple[int, NDArray[Any]]
"""Number of trees, and what they predict together."""


def staged_predictions(model: Any, X: Any) -> Iterator[Stage]:
    """Predictions for the numbers of trees for which the model has any.

    Boosted trees tell them themselves. Trees that vote or are averaged count one after the other.
    The trees of an FAO forest mean nothing without each other, so that whole forests count, and
    those of a forest with refined leaves count together.
    """
    if hasattr(model, "staged_predict"):
        yield from enumerate(model.staged_predict(X), start=1)
    elif hasattr(model, "n_forests_"):
        yield from _staged_sums(model, X, len(model.trees_) // int(model.n_forests_))
    elif hasattr(model, "trees_"):
        yield from _staged_sums(model, X, 1)
    elif hasattr(model, "estimators_"):
        yield from _staged_sklearn(model, X)
    else:
        yield len(trees_of(model)), model.predict(X)


def staged_parameters(model: Any) -> NDArray[np.int64] | None:
    """Parameters of the first trees, for each number of trees; None if they cannot be counted."""
    if hasattr(model, "_readout"):
        trees: Sequence[Tree] = trees_of(model)
    elif _is_averaged(model):
        trees = [from_sklearn(member) for member in model.estimators_]
    else:
        return None
    return np.cumsum([count_parameters(tree) for tree in trees])


def _staged_sums(model: Any, X: Any, n_together: int) -> Iterator[Stage]:
    """Stages of `n_together` trees each, by the model's own way from leaves to predictions."""
    readout = model._readout()
    rows = rows_of(model, X)
    trees = readout.forest.trees
    totals = np.zeros((rows.shape[0], readout.forest.n_outputs))
    for number, (tree, weight) in enumerate(zip(trees, readout.tree_weights, strict=True), 1):
        totals += _of_tree(tree, float(weight), readout.says, rows)
        if number % n_together == 0:
            # Weights are those of the whole forest; means are of the trees that there are.
            part = readout.offsets + totals * (len(trees) / number)
            yield number, _predicted(readout, part)


def _of_tree(tree: Tree, weight: float, says: str, rows: Matrix) -> NDArray[np.float64]:
    """What one tree adds for each row."""
    forest, weights = Forest((tree,)), np.array([weight])
    if says == "label":
        return forest.votes(as_rows(rows), weights)
    return forest.sums(as_rows(rows), weights, is_softmax=says == "probabilities")


def _predicted(readout: Any, totals: NDArray[np.float64]) -> NDArray[Any]:
    if readout.classes is not None:
        labels: NDArray[Any] = readout.labels(totals)
        return labels
    values: NDArray[np.float64] = readout.finished(totals)
    return values[:, 0] if readout.is_flat else values


def _is_averaged(model: Any) -> bool:
    """Whether a model is a random forest or extra trees of scikit-learn, of one target."""
    members = getattr(model, "estimators_", ())
    return (
        len(members) > 0
        and all(hasattr(member, "tree_") for member in np.ravel(members))
        and not hasattr(model, "staged_predict")
        and not hasattr(model, "estimators_features_")
        and int(getattr(model, "n_outputs_", 1)) == 1
    )


def _staged_sklearn(model: Any, X: Any) -> Iterator[Stage]:
    """Stages of a random forest of scikit-learn: the mean over its trees."""
    if not _is_averaged(model):
        yield len(model.estimators_), model.predict(X)
        return
    rows = rows_of(model, X)
    totals: Any = 0.0
    for number, member in enumerate(model.estimators_, start=1):
        totals = totals + _of_tree(from_sklearn(member), 1.0, "outputs", rows)
        is_class = is_classifier(model)
        yield number, model.classes_[totals.argmax(axis=1)] if is_class else totals[:, 0] / number
