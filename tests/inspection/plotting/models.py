"""Rows and targets for the small models of every family, and what to look at in axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tests.compat.models import classes, numbers, rows


def rows_for(model: Any) -> Any:
    """Rows of the kind that the model was fitted to."""
    if hasattr(model, "feature_names_in_"):
        return pd.DataFrame(rows(), columns=model.feature_names_in_)
    return rows()


def targets_for(model: Any) -> np.ndarray:
    """Targets of the kind that the model predicts."""
    if hasattr(model, "classes_"):
        return np.asarray(model.classes_)[classes() % len(model.classes_)]
    y = numbers()
    return y if np.ndim(model.predict(rows_for(model)[:1])) == 2 else y[:, 0]


def trees_in(model: Any) -> tuple[Any, ...]:
    """The trees, as the public attributes tell; refined leaves change no split."""
    model = getattr(model, "forest", model)
    return model.trees_ if hasattr(model, "trees_") else (model.tree_,)


def rows_at_nodes(model: Any, X: Any) -> list[np.ndarray]:
    """0/1 of the nodes that each row passes, tree by tree, as ``decision_path`` tells."""
    model = getattr(model, "forest", model)
    found = model.decision_path(X)
    if not isinstance(found, tuple):
        return [found.toarray()]
    path, ends = found
    return np.split(path.toarray(), ends[1:-1], axis=1)


def patches_of(ax: Any, gid: str) -> list[Any]:
    """Patches with this mark, in the order in which they were drawn."""
    return [patch for patch in ax.patches if patch.get_gid() == gid]


def words_in(ax: Any) -> list[str]:
    """All words in axes."""
    return [text.get_text() for text in ax.texts]


def draw(display: Any) -> None:
    """Have matplotlib look at every letter and every line."""
    display.figure_.canvas.draw()
