"""Predictions of a forest after its first tree, its first two trees, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from spinney.data import as_rows
from spinney.inspection.fitted_model import FittedModel, fitted_model
from spinney.tree.convert import from_sklearn
from spinney.tree.size import count_parameters

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
    elif hasattr(model, "trees_") and not hasattr(model, "leaf_values_"):
        fitted, n_forests = fitted_model(model), getattr(model, "n_forests_", None)
        n_together = 1 if n_forests is None else len(fitted.trees) // int(n_forests)
        yield from _staged_sums(fitted, X, n_together)
    elif hasattr(model, "estimators_"):
        yield from _staged_sklearn(model, X)
    else:
        yield len(fitted_model(model).trees), model.predict(X)


def staged_parameters(model: Any) -> NDArray[np.int64] | None:
    """Parameters of the first trees, for each number of trees; None if they cannot be counted."""
    if hasattr(model, "_readout"):
        trees = fitted_model(model).trees
    elif _is_averaged(model):
        trees = tuple(from_sklearn(member) for member in model.estimators_)
    else:
        return None
    return np.cumsum([count_parameters(tree) for tree in trees])


def _staged_sums(fitted: FittedModel, X: Any, n_together: int) -> Iterator[Stage]:
    """Stages of `n_together` trees each, by the model's own way from leaves to predictions."""
    readout, rows = fitted.readout, as_rows(fitted.coordinates(X))
    totals = np.zeros((rows.n_rows, len(readout.offsets)))
    weighted = zip(fitted.trees, readout.tree_weights.tolist(), strict=True)
    for number, (tree, weight) in enumerate(weighted, start=1):
        totals += weight * readout.said_by(tree, rows)
        if number % n_together == 0:
            # Weights are those of the whole forest; means are of the trees that there are.
            share = totals * (len(fitted.trees) / number)
            yield number, readout.answers(readout.offsets + share)


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
    totals: Any = 0.0
    rows = fitted_model(from_sklearn(model.estimators_[0])).coordinates(X)
    for number, member in enumerate(model.estimators_, start=1):
        totals = totals + fitted_model(from_sklearn(member)).totals(rows)
        is_class = is_classifier(model)
        yield number, model.classes_[totals.argmax(axis=1)] if is_class else totals[:, 0] / number
