"""What fitted attributes may be, one claim each, and the form of a line in the table of them.

Claims here know numbers and arrays, and no family of estimators.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

DIGEST = re.compile(r"[0-9a-f]{40}")

Claim = Callable[[Any, Any], bool]
"""Whether a value will do, given the model with all attributes that come before it."""


@dataclass(frozen=True)
class Field:
    """One fitted attribute of all estimators of a family.

    Attributes
    ----------
    owner : type
        The family.
    name : str
    wanted : str
        What the value must be, for people.
    holds : callable
        Whether a value is that.
    is_required : bool
        Whether every fit sets it.
    """

    owner: type
    name: str
    wanted: str
    holds: Claim
    is_required: bool = True


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
