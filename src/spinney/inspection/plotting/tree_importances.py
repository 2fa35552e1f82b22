"""Importance of the columns in each tree of a fitted model, as `feature_importances_` sums them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import (
    Matrix,
    Problem,
    classification_problem,
    column_scales,
    regression_problem,
)
from spinney.inspection.arguments import checked_targets
from spinney.inspection.fitted_model import FittedModel
from spinney.inspection.plotting.reached import leaf_totals
from spinney.tree.gains import column_gains
from spinney.tree.importance import split_importances
from spinney.tree.route import apply

TYPES = {
    "gain": "share in the decrease of the loss",
    "weight": "share in the weights of the splits",
}
"""Kinds of importance, and what they are in words."""


def checked_type(fitted: FittedModel, given: str | None) -> str:
    """The kind of importance to draw: that of the model, if none is given."""
    found = fitted.importance_type if given is None else given
    if found not in TYPES:
        raise ValueError(f"importance_type={found!r}; give one of {tuple(TYPES)} or None.")
    if given == "gain" and not hasattr(fitted.model, "_gain_rule"):
        raise ValueError(
            f"importance_type='gain' with a {fitted.model_name}, which knows no gains; give a "
            "fitted tree or forest of the library; try importance_type='weight'."
        )
    return found


def weight_shares(fitted: FittedModel, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of the columns in the weights of each tree, and what each tree counts."""
    rows = fitted.coordinates(X)
    scale = column_scales(rows, np.ones(rows.shape[0]))
    by_tree = np.array(
        [split_importances(tree, leaf_totals(tree, rows), scale) for tree in fitted.trees]
    )
    return _of_columns(fitted, by_tree), _shares(fitted, by_tree)


def gain_shares(
    fitted: FittedModel, X: Any, y: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gains of the columns in each tree, measured so that their mean sums to 1.

    Without targets those of all trees together are all that is known.
    """
    if y is None:
        if fitted.importance_type != "gain" or fitted.importances is None:
            raise ValueError(
                f"importance_type='gain' of a model fitted with {fitted.importance_type!r}, and "
                "no y; give the targets of the rows; try from_estimator(model, X, y)."
            )
        return fitted.importances[None], np.ones(1)
    problem = _problem(fitted, fitted.coordinates(X), y)
    rule, trees, counts = fitted.model._gain_rule(problem), fitted.trees, fitted.importance_weights
    gains = np.zeros((2, len(trees), problem.n_features))
    for number, (tree, count) in enumerate(zip(trees, counts.tolist(), strict=True)):
        leaf_nodes = apply(tree, problem.rows)
        gains[:, number] = column_gains(tree, problem.rows, leaf_nodes, rule.task())
        gains[:, number] *= count
        rule.follow(tree, leaf_nodes, count)
    by_tree = gains[0] if gains[0].any() else gains[1]
    if by_tree.any():
        by_tree = by_tree * (len(trees) / by_tree.sum())
    return _of_columns(fitted, by_tree), np.full(len(trees), 1.0 / len(trees))


def _problem(fitted: FittedModel, rows: Matrix, y: ArrayLike) -> Problem:
    """The task of these rows, each of them once."""
    targets = checked_targets(fitted, rows, y)
    weights = np.ones(len(targets))
    if not fitted.is_classifier:
        return regression_problem(rows, targets, weights)
    codes = targets.argmax(axis=1).astype(np.int32)
    return classification_problem(rows, codes, targets.shape[1], weights)


def _of_columns(fitted: FittedModel, by_coordinate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over the coordinates of each column."""
    if fitted.encoding is None:
        return by_coordinate
    importances = np.zeros((len(by_coordinate), fitted.n_columns))
    np.add.at(importances.T, fitted.columns, by_coordinate.T)
    return importances


def _shares(fitted: FittedModel, importances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of each tree in the mean; trees without a split have no say."""
    shares = np.where(importances.sum(axis=1) > 0, fitted.importance_weights, 0.0)
    total = float(shares.sum())
    return shares / total if total > 0 else np.full(len(shares), 1.0 / len(shares))
