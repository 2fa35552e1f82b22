"""Which fit a call of ``fit`` is: parameters, data and starts in a form that can be compared.

Values are hashed as the optimiser sees them, so that a list, an array, a frame or a CSR matrix of
the same numbers are the same data.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spinney.data import Problem
from spinney.data.checks import plain_value
from spinney.ensembles.tree_start import RandomStructure, unfrozen
from spinney.fitting.checkpoint import Identity
from spinney.tree.convert import from_sklearn
from spinney.tree.structure import Tree

#: Parameters that change no bit of a model.
FREE = ("n_jobs", "verbose", "random_state", "warm_start", "missing")

DIGEST_BYTES = 20

#: Bytes that are hashed at once, some 20 ms of work.
BYTES_AT_ONCE = 1 << 24


def identity_of(
    estimator: Any,
    call: str,
    is_kept: NDArray[np.bool_],
    problem: Problem,
    validation: Iterable[Any],
    start: Iterable[Tree],
    may_change: tuple[str, ...],
) -> Identity:
    """What decides the outcome of a fit.

    Parameters
    ----------
    estimator : estimator
        Its data have been checked: it knows its classes and column names.
    problem : Problem
    validation : iterable of arrays and matrices
        Rows to judge by and what is wanted of them; empty if there are none.
    start : iterable of Tree
        Trees that the fit goes on from.
    may_change : tuple of str
        Parameters of which the parts that are done do not depend.
    """
    from spinney import __version__

    parameters = estimator.get_params(deep=False)
    described = {
        name: described_value(name, value)
        for name, value in parameters.items()
        if name not in (*FREE, *may_change)
    }
    described["random_state"] = described_generator(parameters["random_state"])
    facts = {
        "call": call,
        "shape": [len(is_kept), estimator.n_features_in_],
        "names": digest(getattr(estimator, "feature_names_in_", None)),
        "kept": digest(is_kept),
        "is_encoded": estimator.encoding_ is not None,
        "rows": digest(problem.matrix),
        "targets": digest(problem.targets),
        "classes": digest(getattr(estimator, "classes_", None)),
        "weights": digest(problem.sample_weight),
        "validation": digest(*validation),
        "start": _digest_of_trees(start),
    }
    return Identity(__version__, type(estimator).__name__, described, facts)


def digest_of_rows(problem: Problem) -> str:
    """Digest of the rows with their targets, in order; what they weigh is no part of it."""
    return digest(problem.matrix, problem.targets)


def generator_state(random_state: object) -> str | None:
    """Digest of the state of a RandomState; None for a seed or None."""
    if not isinstance(random_state, np.random.RandomState):
        return None
    return digest(*random_state.get_state())


def described_value(name: str, value: object) -> Any:
    """A parameter as JSON values; what is too large for that has a digest and a text to show."""
    if isinstance(value, np.generic):
        value = value.item()
    value = plain_value(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, numbers.Real):
        # 1 and 1.0 mean the same wherever both are accepted.
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if isinstance(value, list | tuple):
        return [described_value(name, item) for item in value]
    if isinstance(value, dict):
        items = ([described_value(name, key), described_value(name, value[key])] for key in value)
        return {"shown": repr(value), "items": sorted(items, key=repr)}
    return _described_object(name, value)


def _described_object(name: str, value: object) -> Any:
    if isinstance(value, RandomStructure):
        return {"shown": repr(value), **asdict(value)}
    if isinstance(value, np.ndarray):
        return {"shown": f"an array of shape {value.shape}", "digest": digest(value)}
    if isinstance(value, Tree):
        return {"shown": f"a Tree of {value.n_nodes} nodes", "digest": _digest_of_trees([value])}
    if isinstance(value, BaseEstimator):
        inner = unfrozen(value)
        shown = f"a fitted {type(inner).__name__}"
        return {"shown": shown, "digest": _digest_of_trees(_trees_of(inner))}
    raise TypeError(
        f"{name}={value!r} is of type {type(value).__name__}, which checkpoint cannot compare; "
        "give numbers, words, arrays or fitted trees; try checkpoint=None."
    )


def described_generator(random_state: object) -> Any:
    """The parameter `random_state` as JSON values; the state of a generator is no part of it."""
    if isinstance(random_state, np.random.RandomState):
        return {"shown": "a RandomState"}
    return described_value("random_state", random_state)


def _trees_of(estimator: Any) -> list[Tree]:
    """Trees of a fitted tree or forest, of this library or of scikit-learn."""
    if hasattr(estimator, "trees_"):
        return list(estimator.trees_)
    if hasattr(estimator, "estimators_"):
        members = np.ravel(np.asarray(estimator.estimators_, dtype=object))
        return [tree for member in members for tree in _trees_of(member)]
    tree = estimator.tree_
    return [tree if isinstance(tree, Tree) else from_sklearn(estimator)]


def _digest_of_trees(trees: Iterable[Tree]) -> str:
    return digest(*(getattr(tree, field.name) for tree in trees for field in fields(Tree)))


def digest(*values: Any) -> str:
    """Digest of arrays, matrices and plain values, their types and shapes included."""
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for value in values:
        _add(found, value)
    return found.hexdigest()


def _add(found: hashlib.blake2b, value: Any) -> None:
    if sp.issparse(value):
        found.update(f"sparse {value.shape};".encode())
        for part, dtype in ((value.indptr, np.int64), (value.indices, np.int32)):
            _add_bytes(found, np.asarray(part, dtype=dtype))
        _add_bytes(found, value.data)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        found.update(f"{value.dtype.str} {value.shape};".encode())
        _add_bytes(found, value)
    elif isinstance(value, np.ndarray):
        found.update(f"{value.shape} {value.tolist()!r};".encode())
    else:
        found.update(f"{value!r};".encode())


def _add_bytes(found: hashlib.blake2b, values: NDArray[Any]) -> None:
    """The values as bytes, without a copy where they lie in order, and so that Ctrl-C is heard."""
    everything = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
    for first in range(0, len(everything), BYTES_AT_ONCE):
        found.update(everything[first : first + BYTES_AT_ONCE])
