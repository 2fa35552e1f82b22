"""What fitted attributes each estimator has, and what they must agree on.

One table: for each family its attributes, what they must be, and whether a fit always sets them.
The same check is made before a model is written and after it was read, so that what is saved can be
loaded, and what was loaded is whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.data.checks import check_n_jobs
from spinney.estimators import TAOTreeClassifier, TAOTreeRegressor
from spinney.estimators.model import Model
from spinney.estimators.refine import RefinedForest
from spinney.export.fitted_images import IMAGE_ATTRIBUTES
from spinney.fitting.fitted_record import (
    Attribute,
    check_record,
    fitted_attributes_of,
    is_finite,
)
from spinney.fitting.sklearn_callbacks import CALLBACKS
from spinney.selection import RegularizationPath

MOST_THREADS = 2**31 - 1

OF_SKLEARN = ("_metadata_request", "_sklearn_output_config")
"""Set by methods of scikit-learn, not by a fit; stored by other means."""

NOT_FITTED = (*OF_SKLEARN, CALLBACKS)
"""Beside the parameters, what is no part of a fitted model. Callbacks belong to who fits: no model
file has them."""


def fitted_names(model: Any) -> list[str]:
    """Names of what a fit has stored in an estimator."""
    others = {*model.get_params(deep=False), *NOT_FITTED}
    return [name for name in vars(model) if name not in others]


def check_fitted(model: Any) -> None:
    """Raise ValueError unless an estimator is unfitted, or fitted with all that belongs to it.

    Trees are not looked at one by one here; `Tree.check` has done that.
    """
    is_path = isinstance(model, RegularizationPath)
    names = list(vars(model)) if is_path else fitted_names(model)
    if not names:
        return
    check_record(model, names, _attributes_of(model))
    _check_parameters_of_predictions(model)


def _attributes_of(model: Any) -> dict[str, Attribute]:
    if isinstance(model, Model):
        return fitted_attributes_of(type(model))
    if isinstance(model, RegularizationPath):
        return PATH_ATTRIBUTES
    return next(found for kind, found in IMAGE_ATTRIBUTES.items() if isinstance(model, kind))


def _check_parameters_of_predictions(model: Any) -> None:
    """Raise unless predictions can read their parameters; most are read by a fit alone."""
    if hasattr(model, "_check_reading"):
        model._check_reading()
    elif hasattr(model, "n_jobs"):
        _check_threads(model.n_jobs)
    if isinstance(model, Model) and not isinstance(model, RefinedForest):
        model._readout()  # reads what predictions read, and refuses what is of no use to them


def _check_threads(n_jobs: Any) -> None:
    check_n_jobs(n_jobs)
    if n_jobs is not None and abs(int(n_jobs)) > MOST_THREADS:
        raise ValueError(f"n_jobs={str(n_jobs)[:40]}; give at most {MOST_THREADS}.")


# Claims about paths.


def _n_path(model: RegularizationPath) -> int:
    return len(model.estimators)


def _are_path_trees(value: Any, _: Any) -> bool:
    is_path = isinstance(value, tuple) and len(value) >= 1
    trees = TAOTreeClassifier | TAOTreeRegressor
    return is_path and all(isinstance(tree, trees) and hasattr(tree, "tree_") for tree in value)


def _are_counts(value: Any, model: RegularizationPath) -> bool:
    is_vector = isinstance(value, np.ndarray) and value.dtype == np.int64
    return is_vector and value.shape == (_n_path(model),) and bool((value >= 0).all())


def _are_errors(value: Any, model: RegularizationPath) -> bool:
    return is_finite(value, _n_path(model))


def _are_errors_or_none(value: Any, model: RegularizationPath) -> bool:
    return value is None or _are_errors(value, model)


PATH_ATTRIBUTES = {
    "estimators": Attribute("fitted TAO trees", _are_path_trees),
    "alphas": Attribute("a finite number a tree", _are_errors),
    "n_parameters": Attribute("an integer a tree", _are_counts),
    "n_leaves": Attribute("an integer a tree", _are_counts),
    "train_error": Attribute("a finite number a tree", _are_errors),
    "validation_error": Attribute("a finite number a tree", _are_errors_or_none),
    "validation_standard_error": Attribute("a finite number a tree", _are_errors_or_none),
}
