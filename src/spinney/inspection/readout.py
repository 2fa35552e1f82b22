"""The readout of a fitted estimator, for those who are given one."""

from __future__ import annotations

from typing import cast

from sklearn.exceptions import NotFittedError

from spinney.tree.readout import Readout


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
