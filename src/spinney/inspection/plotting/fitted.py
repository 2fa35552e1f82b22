"""What plots read of a fitted model: trees, names, and rows as the trees see them.

Models are known by what they have, not by their types: an estimator of this library, a forest with
refined leaves, or a bare `Tree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from spinney import _core
from spinney.data import Matrix, as_rows
from spinney.data.tables.columns import DATETIME
from spinney.tree.importance import node_reach
from spinney.tree.route import apply
from spinney.tree.structure import Tree

Names: TypeAlias = Sequence[str] | NDArray[Any]


def trees_of(model: Any) -> tuple[Tree, ...]:
    """All trees of a fitted model."""
    if isinstance(model, Tree):
        return (model,)
    if not hasattr(model, "_readout"):
        raise TypeError(
            f"model={type(model).__name__} holds no spinney tree; give a Tree or a fitted "
            "estimator; try spinney.tree.from_sklearn for a scikit-learn tree."
        )
    check_is_fitted(model)
    given = model.trees_ if hasattr(model, "trees_") else getattr(model, "tree_", None)
    if isinstance(given, Tree):
        return (given,)
    if given is not None:
        return tuple(given)
    trees: tuple[Tree, ...] = model._readout().forest.trees  # refined leaves make trees on demand
    return trees


def tree_of(model: Any, number: int | None) -> tuple[int, Tree]:
    """One tree of a model and its number; the number may be left out if there is but one."""
    trees = trees_of(model)
    if number is None and len(trees) == 1:
        return 0, trees[0]
    if not is_whole(number) or not 0 <= number < len(trees):
        raise ValueError(
            f"tree={number!r} of a model of {len(trees)} trees; give the number of one, from 0 to "
            f"{len(trees) - 1}; try tree=0."
        )
    return int(number), trees[number]


def coordinate_names(model: Any, given: Names | None, n_features: int) -> list[str]:
    """Names of what the hyperplanes weigh."""
    if given is not None:
        names = [str(name) for name in given]
        if len(names) != n_features:
            raise ValueError(
                f"feature_names has {len(names)} names for {n_features} coordinates of the "
                "hyperplanes; give one each; try leaving them out to use the model's own."
            )
        return names
    if hasattr(model, "get_coordinate_names"):
        return [str(name) for name in model.get_coordinate_names()]
    if hasattr(model, "forest"):
        return coordinate_names(model.forest, None, n_features)
    unnamed = [f"x{feature}" for feature in range(n_features)]
    return [str(name) for name in getattr(model, "feature_names_in_", unnamed)]


def column_names(model: Any, given: Names | None = None) -> list[str]:
    """Names of the columns that the model was fitted to."""
    n_columns = model.n_features if isinstance(model, Tree) else int(model.n_features_in_)
    names = given if given is not None else getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{column}" for column in range(n_columns)]
    if len(names) != n_columns:
        raise ValueError(
            f"feature_names has {len(names)} names for {n_columns} columns; give one each; try "
            "leaving them out to use the model's own."
        )
    return [str(name) for name in names]


def check_predicts(model: Any) -> None:
    """Raise unless a model predicts by itself, which a bare tree does not."""
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model={type(model).__name__} does not predict; give a fitted estimator; try "
            "plot_tree for a Tree."
        )


def names_of_classes(model: Any, given: Names | None, n_outputs: int) -> list[str] | None:
    """Names of the classes; None of a regression."""
    names = given if given is not None else getattr(model, "classes_", None)
    if names is None:
        return None
    if len(names) != n_outputs:
        raise ValueError(
            f"class_names has {len(names)} names for {n_outputs} classes; give one each; try "
            "leaving them out to use the model's own."
        )
    return [str(name) for name in names]


def encoding_of(model: Any) -> Any:
    """How columns become coordinates; None if they are the same."""
    if hasattr(model, "encoding_"):
        return model.encoding_
    return encoding_of(model.forest) if hasattr(model, "forest") else None


def origins_of_dates(model: Any) -> dict[int, float]:
    """What is taken off each coordinate that is a date, in days since 1970-01-01."""
    encoding = None if isinstance(model, Tree) else encoding_of(model)
    described = () if encoding is None else encoding.coordinates
    return {k: found.origin for k, found in enumerate(described) if found.kind == DATETIME}


def rows_of(model: Any, X: Any) -> Matrix:
    """Rows as the trees read them: one column a coordinate."""
    if hasattr(model, "_checked_rows"):
        rows: Matrix = model._checked_rows(X)
        return rows
    if hasattr(model, "forest"):
        return rows_of(model.forest, X)
    if sp.issparse(X):
        return sp.csr_matrix(X, dtype=np.float32)
    return np.ascontiguousarray(X, dtype=np.float32)


def leaf_totals(
    tree: Tree, rows: Matrix, what: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Sum over the rows of each leaf of `what` says of them; the number of rows by default."""
    leaves = tree.leaf_index[apply(tree, as_rows(rows))]
    values = np.ones(len(leaves)) if what is None else what
    totals = np.zeros((tree.n_leaves, *values.shape[1:]))
    np.add.at(totals, leaves, values)
    return totals


def node_totals(
    tree: Tree, rows: Matrix, what: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Sum over the rows that reach each node, as of `leaf_totals`."""
    return node_reach(tree, leaf_totals(tree, rows, what))


def indicators(model: Any, y: ArrayLike) -> NDArray[np.float64]:
    """0/1 of the class of each row, or the numbers of a regression, one column each."""
    classes = getattr(model, "classes_", None)
    targets = np.asarray(y)
    if classes is None:
        numbers: NDArray[np.float64] = targets.astype(np.float64).reshape(len(targets), -1)
        return numbers
    is_class = targets[:, None] == np.asarray(classes)[None, :]
    is_known = is_class.any(axis=1)
    if not is_known.all():
        raise ValueError(
            f"y holds {targets[~is_known].tolist()[0]!r}, which the model does not know; give its "
            f"classes, {np.asarray(classes).tolist()!r}."
        )
    return np.asarray(is_class, dtype=np.float64)


def deviations(rows: Matrix) -> NDArray[np.float64]:
    """Standard deviation of each column."""
    deviation = _core.column_moments(as_rows(rows), np.ones(rows.shape[0]), 1)[1]
    return np.asarray(deviation, dtype=np.float64)


def check_same_length(X: Matrix, y: NDArray[np.float64]) -> None:
    """Raise unless there is a target for each row."""
    if X.shape[0] != len(y):
        raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)}; give one target a row.")


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
        return deviations(rows), "standard deviation"
    given = np.asarray(scale, dtype=np.float64)
    if given.shape != (n_features,):
        raise ValueError(
            f"scale has shape {given.shape}; give one number a coordinate, shape ({n_features},); "
            "try X.std(axis=0)."
        )
    return given, "scale"
