"""Models from files, and what every command asks of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spinney
from spinney.cli.errors import CommandError
from spinney.cli.reading import TABLES
from spinney.cli.target import CLASSIFICATION, REGRESSION
from spinney.tree import Tree


def load_model(path: str) -> Any:
    """The fitted estimator in a model file.

    Raises
    ------
    CommandError
        If the file holds something that does not predict from a table.
    """
    if Path(path).suffix in TABLES:
        raise CommandError(f"{path} is a table; the model file comes first, then the table")
    model = spinney.load(path)
    if not hasattr(model, "predict"):
        raise CommandError(
            f"{path} holds a {type(model).__name__}, which is no estimator; save one of its "
            "estimators, or look at it with spinney inspect"
        )
    if not hasattr(model, "n_features_in_"):
        raise CommandError(
            f"{path} holds a {type(model).__name__} that was never fitted; fit it and save it again"
        )
    return model


def task_of(model: Any) -> str:
    """Classification or regression."""
    return CLASSIFICATION if hasattr(model, "classes_") else REGRESSION


def trees_of(model: Any) -> list[Tree]:
    """All trees of a model; none if its forest is of another library."""
    if isinstance(model, Tree):
        return [model]
    if hasattr(model, "tree_"):
        return [model.tree_] if isinstance(model.tree_, Tree) else []
    if hasattr(model, "trees_"):
        return list(model.trees_)
    return trees_of(model.forest) if hasattr(model, "forest") else []


def n_outputs_of(model: Any) -> int:
    """Numbers a regression predicts for each row."""
    return int(getattr(model, "n_outputs_", 1))
