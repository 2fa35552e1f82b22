"""Models from files, and what every command asks of them."""

from __future__ import annotations

from pathlib import Path

import spinney
from spinney.cli.errors import CommandError
from spinney.cli.reading import TABLES
from spinney.cli.target import CLASSIFICATION, REGRESSION
from spinney.inspection.fitted_model import FittedModel, fitted_estimator


def load_model(path: str) -> FittedModel:
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
    return fitted_estimator(model)


def task_of(fitted: FittedModel) -> str:
    """Classification or regression."""
    return CLASSIFICATION if fitted.is_classifier else REGRESSION
