"""Arguments of texts and plots, checked: names, numbers, scales, rows and targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.data import Matrix, as_rows
from spinney.inspection.fitted_model import FittedModel

Names: TypeAlias = Sequence[str] | NDArray[Any]


def checked_names(
    argument: str, given: Names | None, own: Sequence[str], what: str
) -> tuple[str, ...]:
    """The names that were given, one for each of the model's own, or else these."""
    if given is None:
        return tuple(own)
    if len(given) != len(own):
        raise ValueError(
            f"{argument} has {len(given)} names for {len(own)} {what}; give one each; try leaving "
            "them out to use the model's own."
        )
    return tuple(str(name) for name in given)


def checked_class_names(fitted: FittedModel, given: Names | None) -> list[str] | None:
    """Names of the classes; None of a regression. Those of a bare tree are known if given."""
    if given is None and fitted.class_names is None:
        return None
    return list(checked_names("class_names", given, fitted.output_names, "classes"))


def check_predicts(model: Any) -> None:
    """Raise unless a model predicts by itself, which a bare tree does not."""
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model={type(model).__name__} does not predict; give a fitted estimator; try "
            "plot_tree for a Tree."
        )


def checked_targets(fitted: FittedModel, rows: Matrix, y: ArrayLike) -> NDArray[np.float64]:
    """0/1 of the class of each row, or the numbers of a regression, one column each."""
    classes, targets = fitted.readout.classes, np.asarray(y)
    if classes is None:
        columns = targets.astype(np.float64).reshape(len(targets), -1)
    else:
        is_class = targets[:, None] == classes[None, :]
        is_known = is_class.any(axis=1)
        if not is_known.all():
            raise ValueError(
                f"y holds {targets[~is_known].tolist()[0]!r}, which the model does not know; give "
                f"its classes, {classes.tolist()!r}."
            )
        columns = np.asarray(is_class, dtype=np.float64)
    if rows.shape[0] != len(columns):
        raise ValueError(
            f"X has {rows.shape[0]} rows and y has {len(columns)}; give one target a row."
        )
    return columns


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or of numpy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_count(name: str, value: object, least: int) -> int:
    """A whole number that is not too small."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name}={value!r}; give a whole number >= {least}; try {name}={least}.")
    return int(value)


def checked_spread(
    scale: ArrayLike | None, rows: Matrix | None, n_features: int
) -> tuple[NDArray[np.float64], str | None]:
    """What weights are multiplied by, in numbers and in words."""
    if scale is None:
        if rows is None:
            return np.ones(n_features), None
        deviations = _core.column_moments(as_rows(rows), np.ones(rows.shape[0]), 1)[1]
        return np.asarray(deviations, dtype=np.float64), "standard deviation"
    given = np.asarray(scale, dtype=np.float64)
    if given.shape != (n_features,):
        raise ValueError(
            f"scale has shape {given.shape}; give one number a coordinate, shape ({n_features},); "
            "try X.std(axis=0)."
        )
    return given, "scale"
