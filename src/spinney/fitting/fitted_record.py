"""The typed record of what a fit stores: each attribute beside its class, and what it must be.

An estimator declares what a fit sets as ``name: type = fitted(wanted, holds)``. Model files are
checked by these lines when they are written and when they are read: what is not declared is not
stored, and what is stored is what was declared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

import numpy as np

from spinney.algorithms.trace import Trace
from spinney.data.tables import TableEncoding, TypicalRow
from spinney.tree.forest import Forest
from spinney.tree.structure import Tree

DIGEST = re.compile(r"[0-9a-f]{40}")

Claim = Callable[[Any, Any], bool]
"""Whether a value will do, given the model with all its attributes."""

_KEY = "spinney"


@dataclass(frozen=True)
class Attribute:
    """What a fitted attribute must be.

    Attributes
    ----------
    wanted : str
        The same for people.
    holds : callable
        Whether a value is that.
    is_required : bool
        Whether every fit sets it.
    """

    wanted: str
    holds: Claim
    is_required: bool = True


def fitted(
    wanted: str,
    holds: Claim,
    *,
    is_required: bool = True,
    default: Any = MISSING,
    init: Literal[False] = False,
) -> Any:
    """An attribute that a fit sets, and no parameter of the constructor.

    `default` is what a model has that does not know it.
    """
    metadata = {_KEY: Attribute(wanted, holds, is_required)}
    return field(default=default, init=init, metadata=metadata)


def fitted_attributes_of(kind: type[Any]) -> dict[str, Attribute]:
    """What a fit of an estimator stores, by name.

    A class that has no use for an attribute of its bases names it in ``_not_stored``.
    """
    return {
        of.name: of.metadata[_KEY]
        for of in fields(kind)
        if _KEY in of.metadata and of.name not in kind._not_stored
    }


def check_record(model: Any, names: Iterable[str], attributes: Mapping[str, Attribute]) -> None:
    """Raise ValueError unless a model has what it is to have, and nothing else."""
    kind, names = type(model).__name__, set(names)
    if odd := sorted(names - attributes.keys()):
        raise ValueError(
            f"{kind} has the attribute {odd[0][:60]!r}, which no fit makes; delete it."
        )
    for name, attribute in attributes.items():
        if attribute.is_required and name not in names:
            raise ValueError(f"{kind} is fitted but has no {name}.")
    for name, attribute in attributes.items():
        if name in names and not _is_as_claimed(attribute, value := getattr(model, name), model):
            raise ValueError(f"{name} of {kind} is {_short(value)}; it must be {attribute.wanted}.")


def _is_as_claimed(attribute: Attribute, value: Any, model: Any) -> bool:
    try:
        return attribute.holds(value, model)
    except (AttributeError, TypeError, ValueError):  # of a value that it is compared with
        return False


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return f"{str(value)[:60]!r} ({type(value).__name__})"


# Claims about single values.


def whole(least: int) -> Claim:
    """Claim of an integer that is not less."""
    return lambda value, _: type(value) is int and value >= least


def is_number(value: Any, _: Any) -> bool:
    """A finite float."""
    return type(value) is float and math.isfinite(value)


def is_number_or_nan(value: Any, _: Any) -> bool:
    """A float that is not infinite."""
    return type(value) is float and not math.isinf(value)


def is_bool(value: Any, _: Any) -> bool:
    """True or False."""
    return type(value) is bool


def is_seed(value: Any, _: Any) -> bool:
    """An integer that seeds a generator."""
    return type(value) is int and 0 <= value < 2**63


def is_sampling(value: Any, _: Any) -> bool:
    """None, or how rows were drawn: (rows, drawn, bootstrap)."""
    if value is None:
        return True
    is_triple = type(value) is tuple and [type(item) for item in value] == [int, int, bool]
    return is_triple and value[0] >= 1 and value[1] >= 1


def is_digest(value: Any, _: Any) -> bool:
    """None, or a digest as it is written in hexadecimal."""
    return value is None or (type(value) is str and bool(DIGEST.fullmatch(value)))


def is_share(value: Any, _: Any) -> bool:
    """A number from 0 to below 1."""
    return is_number(value, _) and 0 <= value < 1


def is_own_loss(value: Any, model: Any) -> bool:
    """The word of a loss that the estimator can be fitted with."""
    return type(value) is str and value in model._losses


# Claims about arrays.


def is_finite(value: Any, *shape: int) -> bool:
    """float64 numbers of a shape, all finite."""
    is_float = isinstance(value, np.ndarray) and value.dtype == np.float64
    return is_float and value.shape == shape and bool(np.isfinite(value).all())


def is_ascending(value: Any) -> bool:
    """int64 numbers, at least one, each larger than the one before."""
    is_vector = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.ndim == 1
    return is_vector and len(value) >= 1 and bool((value[1:] > value[:-1]).all())


def is_table(value: Any, n_columns: int) -> bool:
    """float64 rows of so many columns, finite or nan; of one column flat."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or np.isinf(value).any():
        return False
    return (value.ndim == 2 and value.shape[1] == n_columns) or value.ndim == n_columns == 1


def are_names(value: Any, model: Any) -> bool:
    """A string for each column of X, none of them twice: such frames cannot be read."""
    if not isinstance(value, np.ndarray) or value.dtype != object:
        return False
    is_named = value.shape == (model.n_features_in_,) and all(isinstance(n, str) for n in value)
    return is_named and len(set(value)) == len(value)


def numbers_of(count: Callable[[Any], int]) -> Claim:
    """Claim of finite float64 numbers, as many as the model says."""
    return lambda value, model: is_finite(value, count(model))


def is_curve(value: Any, _: Any) -> bool:
    """Finite float64 numbers, any number of them."""
    return np.ndim(value) == 1 and is_finite(value, len(value))


# Claims about what was learned of the columns and classes.


def are_labels(value: Any, model: Any) -> bool:
    """Distinct labels of one kind, one an output of the trees."""
    trees = getattr(model, "forest_", None)
    return are_distinct(value, model) and (trees is None or len(value) == trees.n_outputs)


def are_distinct(value: Any, _: Any) -> bool:
    """Distinct labels of one kind."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "biufUO":
        return False
    labels = value.tolist()
    is_known = len(labels) >= 1 and all(label == label for label in labels)  # nan is no class
    return is_known and len(set(labels)) == len(labels)


def is_encoding(value: Any, model: Any) -> bool:
    """None, or an encoding of the model's columns."""
    if value is None:
        return True
    if not isinstance(value, TableEncoding) or value.n_columns != model.n_features_in_:
        return False
    names = getattr(model, "feature_names_in_", None)
    return value.names is None if names is None else value.names == tuple(names)


def is_typical(value: Any, model: Any) -> bool:
    """A typical row of the model's coordinates, with a level for each column of categories."""
    if not isinstance(value, TypicalRow) or not np.isfinite(value.coordinates).all():
        return False
    encoding, n_columns = model.encoding_, model.n_features_in_
    n_read = n_columns if encoding is None else encoding.n_coordinates
    shapes = (value.coordinates.shape, value.had_missing.shape)
    if shapes != ((n_read,), (n_columns,)):
        return False
    return value.levels.keys() == (set() if encoding is None else encoding.levels.keys())


# Claims about trees.


def _suits(trees: Tree | Forest, model: Any) -> bool:
    """Whether trees read the coordinates of the model and answer with its outputs."""
    n_outputs = getattr(model, "n_classes_", model.n_outputs_)
    encoding = model.encoding_
    n_read = model.n_features_in_ if encoding is None else encoding.n_coordinates
    return bool(trees.n_features == n_read and trees.n_outputs == n_outputs)


def is_tree(value: Any, model: Any) -> bool:
    """A tree over the model's coordinates."""
    return isinstance(value, Tree) and _suits(value, model)


def is_tree_or_none(value: Any, model: Any) -> bool:
    """None, or a tree over the model's coordinates."""
    return value is None or is_tree(value, model)


def is_forest(value: Any, model: Any) -> bool:
    """A forest over the model's coordinates."""
    return isinstance(value, Forest) and _suits(value, model)


def is_trace(value: Any, _: Any) -> bool:
    """How a tree was optimised."""
    return isinstance(value, Trace)


def are_traces(value: Any, model: Any) -> bool:
    """How each tree, or each forest of FAO, was optimised."""
    n_traces = getattr(model, "n_forests_", model.forest_.n_trees)
    is_list = isinstance(value, list) and len(value) == n_traces
    return is_list and all(isinstance(trace, Trace) for trace in value)


def are_weights(value: Any, model: Any) -> bool:
    """What each tree counts in a vote."""
    is_vector = is_finite(value, model.forest_.n_trees)
    return is_vector and bool((value >= 0).all() and 0 < value.sum() < np.inf)
