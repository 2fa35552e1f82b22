"""The loss of fitted trees on labelled rows, measured the way the optimiser measures it."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from spinney.data.class_weight import class_factors
from spinney.data.validation import check_known_labels, check_rows, check_sample_weight
from spinney.estimators.tree import TAOTreeClassifier, TAOTreeRegressor

TAOTree: TypeAlias = TAOTreeClassifier | TAOTreeRegressor

LEAST_PROBABILITY = 1e-3
"""Smaller probabilities count as this one in the log loss, as in the core (`leaf.hpp`)."""


class MeanLoss(NamedTuple):
    """A weighted mean over rows, and its standard error."""

    mean: float
    standard_error: float


def mean_loss(
    tree: TAOTree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> MeanLoss:
    """Mean of the estimator's own `loss` over rows.

    Parameters
    ----------
    tree : fitted TAOTreeClassifier or TAOTreeRegressor
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,) or (n_rows, n_outputs)
        Checked by :func:`check_labelled_rows`. Labels unknown to the tree count as wrong.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Multiplied by the factors of `class_weight`, which "balanced" takes from these rows.
    """
    if isinstance(tree, TAOTreeClassifier):
        labels = cast("NDArray[Any]", column_or_1d(y))
        losses = _class_losses(tree, X, labels)
        weights = check_sample_weight(sample_weight, len(losses))
        weights = weights * _factors(tree, labels, weights)
    else:
        losses = _target_losses(tree, X, y)
        weights = check_sample_weight(sample_weight, len(losses))
    return _weighted_mean(losses, weights)


def _weighted_mean(losses: NDArray[np.float64], weights: NDArray[np.float64]) -> MeanLoss:
    if not weights.any():
        raise ValueError(
            "all rows to judge trees by have weight 0; give some of them a positive weight; try "
            "folds that mix rows of all classes."
        )
    shares = weights / weights.sum()
    mean = float(shares @ losses)
    # For equal weights this is the deviation of the losses over the root of their number.
    return MeanLoss(mean, float(np.sqrt(shares**2 @ (losses - mean) ** 2)))


def _class_losses(
    tree: TAOTreeClassifier, X: ArrayLike, labels: NDArray[Any]
) -> NDArray[np.float64]:
    if tree.loss == "zero_one":
        return np.asarray(tree.predict(X) != labels, dtype=np.float64)
    probabilities = tree.predict_proba(X)
    is_own = labels[:, None] == tree.classes_[None, :]
    own = np.where(is_own, probabilities, 0.0).sum(axis=1)
    return cast("NDArray[np.float64]", -np.log(np.maximum(own, LEAST_PROBABILITY)))


def _factors(
    tree: TAOTreeClassifier, labels: NDArray[Any], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Factor of each row by its class."""
    classes = np.union1d(tree.classes_, labels)
    codes = np.searchsorted(classes, labels).astype(np.int32)
    return class_factors(tree.class_weight, classes, codes, weights)[codes]


def _target_losses(tree: TAOTreeRegressor, X: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Loss of each row, summed over the outputs as in the objective."""
    predicted = tree.predict(X).reshape(-1, tree.n_outputs_)
    size = np.abs(np.asarray(y, dtype=np.float64).reshape(predicted.shape) - predicted)
    if tree.loss == "squared_error":
        losses = size**2
    elif tree.loss == "absolute_error":
        losses = size
    else:
        delta = float(tree.huber_delta)
        losses = np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))
    return cast("NDArray[np.float64]", losses.sum(axis=1))


def check_labelled_rows(tree: TAOTree, X: ArrayLike, y: ArrayLike) -> None:
    """Raise unless the rows have the tree's columns and one label or target each.

    Parameters
    ----------
    tree : TAOTreeClassifier or TAOTreeRegressor
        It must have met training data, but need not be fitted.
    X, y : array-like
    """
    n_rows = check_rows(tree, X).shape[0]
    targets = np.asarray(y)
    if isinstance(tree, TAOTreeClassifier):
        labels = cast("NDArray[Any]", column_or_1d(targets))
        check_classification_targets(labels)
        check_known_labels(tree.classes_, labels)
        n_outputs = 1
    else:
        check_array(targets, ensure_2d=False, dtype=np.float64, input_name="y")
        n_outputs = tree.n_outputs_
    accepted = [(n_rows, n_outputs)] if n_outputs > 1 else [(n_rows,), (n_rows, 1)]
    if targets.shape not in accepted:
        raise ValueError(
            f"y has shape {targets.shape} for {n_rows} rows and {n_outputs} outputs; give "
            f"{accepted[0]}; try checking how X and y were split."
        )
