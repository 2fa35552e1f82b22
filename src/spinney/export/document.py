"""A model as a JSON header and arrays, in whatever they are then stored.

Here the parts come together: values (:mod:`spinney.export.values`), trees and traces
(:mod:`spinney.export.packed_trees`), estimators (:mod:`spinney.export.estimator_state`). Reading
gives a model that has been checked in full, or the documented error.
"""

from __future__ import annotations

import re
from typing import Any

from numpy.typing import NDArray

from spinney._version import __version__
from spinney.estimators import RegularizationPath
from spinney.export.estimator_state import CLASSES
from spinney.export.packed_trees import pack_traces, pack_trees, unpack_traces, unpack_trees
from spinney.export.refusal import checked_object, checked_text, refuse
from spinney.export.values import Reader, Writer
from spinney.storage import DamagedFileError
from spinney.tree.structure import Tree

KIND = "model"
VERSION = 1
"""Version of what header and arrays mean."""

TREES = "trees."
TRACES = "traces."
MODELS = (*CLASSES.values(), RegularizationPath, Tree)


def encode_model(model: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays that stand for a model.

    Parameters
    ----------
    model : estimator of spinney, RegularizationPath or Tree

    Raises
    ------
    TypeError
        If the model, or something it holds, is of a kind that cannot be stored.
    ValueError
        If a fitted attribute is not what a fit makes it.
    """
    if type(model) not in MODELS:
        raise TypeError(
            f"model is a {type(model).__name__} of {type(model).__module__}; give an estimator of "
            "spinney, a RegularizationPath or a Tree; try skops or pickle for pipelines and for "
            "estimators of other libraries."
        )
    writer = Writer()
    state = writer.state_of(model, KIND)
    for tree in writer.trees:
        tree.check()
    traces, phases = pack_traces(writer.traces)
    arrays = dict(writer.arrays)
    arrays.update({TREES + name: array for name, array in pack_trees(writer.trees).items()})
    arrays.update({TRACES + name: array for name, array in traces.items()})
    header = {
        "kind": KIND,
        "version": VERSION,
        "library": __version__,
        "phases": phases,
        "model": state,
    }
    return header, arrays


def decode_model(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """The model that a header and arrays stand for, checked in full.

    Raises
    ------
    DamagedFileError
        If anything is not as the format says.
    """
    if header.get("kind") != KIND:
        refuse(f"it is of kind {str(header.get('kind'))[:40]!r} instead of {KIND!r}")
    check_version(header)
    checked_object(header, "the header", ["kind", "version", "library", "phases", "model"])
    trees = unpack_trees(_of_table(arrays, TREES))
    traces = unpack_traces(_of_table(arrays, TRACES), header["phases"])
    others = {name: a for name, a in arrays.items() if not name.startswith((TREES, TRACES))}
    reader = Reader(others, trees, traces, _is_older(header["library"]))
    model = reader.value_of(header["model"], KIND)
    if type(model) not in MODELS:
        refuse(f"it holds a {type(model).__name__} instead of a model")
    reader.check_all_taken()
    return model


def check_version(header: dict[str, Any]) -> None:
    """Raise unless this release knows what the header means."""
    found = header.get("version")
    if type(found) is not int or found != VERSION:
        raise DamagedFileError(
            f"the model has format version {str(found)[:20]}; this release reads version "
            f"{VERSION}; try a newer release of spinney."
        )


def _of_table(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _is_older(library: Any) -> bool:
    """Whether a release before this one wrote the model."""
    return _release(checked_text(library, "library")) < _release(__version__)


def _release(text: str) -> tuple[int, ...]:
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", text, flags=re.ASCII)
    if found is None:
        refuse(f"library is {text[:40]!r}; a version like 1.2.3 is needed")
    return tuple(int(number) for number in found.groups())
