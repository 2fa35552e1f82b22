"""From the leaves of a forest to a prediction, as data: what exports and compiled models read.

An estimator's `predict` is a short sum over its trees. A `Readout` says which: what a tree adds for
a row, what that counts, what is added at the end, and how the totals become probabilities or
numbers. It is made from a fitted estimator when it is asked for and is no part of its state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from spinney.ensembles.calibration import ProbabilityMap
from spinney.estimators.probabilities import nearest_shares, power_shares, softmax, vote_shares
from spinney.estimators.ties import is_tied, with_rejects
from spinney.tree.forest import Forest

Says = Literal["label", "outputs", "probabilities"]
Finish = Literal["identity", "mean", "shares", "powers", "softmax", "nearest"]
Totals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Readout:
    """How the trees of a forest become a prediction.

    Parameters
    ----------
    forest : Forest
        The trees.
    says : {"label", "outputs", "probabilities"}
        What a tree adds for a row: a vote for the largest output of its leaf, the outputs, or the
        outputs with the scores of linear leaves turned into probabilities.
    finish : {"identity", "mean", "shares", "powers", "softmax", "nearest"}
        What becomes of the totals: nothing, their share of the number of trees, of their own sum,
        powers of the totals as shares of their sum, their softmax, or the nearest probabilities.
    tree_weights : float64 ndarray of shape (n_trees,)
        What each tree counts.
    offsets : float64 ndarray of shape (n_outputs,)
        What is added to the sum over the trees.
    classes : ndarray of shape (n_outputs,) or None
        Class labels; None if the totals are numbers to predict.
    reject_label : object or None
        Label of rows whose best classes tie; None gives them the first of these classes.
    is_flat : bool
        Whether a prediction of numbers has one number a row, and no second axis.
    slope : float
        The power of "powers", or the factor of the scores before "softmax".
    shift : float
        What is added to each total before "powers".
    """

    forest: Forest
    says: Says
    finish: Finish
    tree_weights: NDArray[np.float64]
    offsets: NDArray[np.float64]
    classes: NDArray[Any] | None = None
    reject_label: object = None
    is_flat: bool = True
    slope: float = 1.0
    shift: float = 0.0

    def finished(self, totals: Totals) -> Totals:
        """Probabilities, or the numbers to predict, from totals of shape (n_rows, n_outputs)."""
        if self.finish == "mean":
            return totals / self.forest.n_trees
        if self.finish == "powers":
            return power_shares(totals, self.shift, self.slope)
        if self.finish == "softmax":
            return softmax(self.slope * totals)
        return _FINISHES[self.finish](totals)

    def calibrated(self, found: ProbabilityMap) -> Readout:
        """The same answers with probabilities by a map that was fitted to unseen rows."""
        if found.shared == 0:
            return replace(self, finish="softmax", slope=found.slope)
        # The map counts votes of trees; a heavier tree has as many of them as it weighs.
        vote = float(self.tree_weights.mean())
        shift = found.shared * vote / len(self.offsets)
        return replace(self, finish="powers", slope=found.slope, shift=shift)

    def labels(self, totals: Totals) -> NDArray[Any]:
        """Class of each row from totals of shape (n_rows, n_outputs)."""
        assert self.classes is not None
        labels: NDArray[Any] = self.classes[totals.argmax(axis=1)]
        if self.reject_label is None:
            return labels
        return with_rejects(labels, is_tied(totals), self.reject_label)


_FINISHES: dict[str, Callable[[Totals], Totals]] = {
    "identity": lambda totals: totals,
    "shares": vote_shares,
    "nearest": nearest_shares,
}


def finish_of(loss: str) -> Finish:
    """How class scores found by a loss become probabilities, as in `class_probabilities`."""
    return "softmax" if loss == "log_loss" else "nearest"


def readout_of(model: object) -> Readout:
    """What a fitted estimator of this library does with the leaves of a row."""
    if not hasattr(model, "_readout"):
        is_around = hasattr(model, "estimator_")  # as a labeler of pixels around its classifier
        instead = "model.estimator_" if is_around else "TAOForestClassifier().fit(X, y)"
        raise TypeError(
            f"model={type(model).__name__} is no tree or forest of spinney; give a fitted tree or "
            f"forest; try {instead}."
        )
    if not any(hasattr(model, name) for name in ("forest_", "tree_", "leaf_values_")):
        raise NotFittedError(f"model={type(model).__name__} is not fitted; try fit(X, y) first.")
    return cast(Readout, model._readout())
