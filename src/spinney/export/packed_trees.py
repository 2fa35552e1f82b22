"""All trees of a model as a few large arrays, and all its traces as a few others.

A forest of hundreds of trees is stored in as many arrays as a single tree. A tree is a slice of
each, so that reading it copies nothing. Offsets say where each tree begins and where the last one
ends; every slice is checked before it is cut, and every tree before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.trace import Trace
from spinney.export.refusal import checked_list, checked_text, refuse
from spinney.tree.sparse_rows import row_offsets
from spinney.tree.structure import Tree
from spinney.tree.validity import FORMS

Arrays: TypeAlias = dict[str, NDArray[Any]]

LARGEST_WIDTH = np.iinfo(np.int32).max
"""Columns that a tree can number, and outputs that a leaf can have."""

#: The offsets that cut each array of the trees.
OFFSETS_OF = {
    "left": "node_begin",
    "right": "node_begin",
    "bias": "node_begin",
    "split_indptr": "split_row_begin",
    "split_indices": "split_begin",
    "split_weights": "split_begin",
    "leaf_values": "value_begin",
    "leaf_indptr": "leaf_row_begin",
    "leaf_indices": "leaf_begin",
    "leaf_weights": "leaf_begin",
}

#: Type of each array that has one number a tree.
TREE_NUMBERS = {"n_features": np.int64, "n_outputs": np.int64, "is_linear": np.bool_}

#: Type of each column of a trace.
TRACE_COLUMNS = {
    "objective": np.float64,
    "loss": np.float64,
    "n_active": np.int64,
    "seconds": np.float64,
    "phase": np.uint8,
}


def pack_trees(trees: Sequence[Tree]) -> Arrays:
    """Arrays of all trees, one after the other; none if there are no trees.

    The row pointers of constant leaves are all zero and are left out.
    """
    if not trees:
        return {}
    packed: Arrays = {
        name: np.array([getattr(tree, name) for tree in trees], dtype=dtype)
        for name, dtype in TREE_NUMBERS.items()
    }
    for name, offsets in OFFSETS_OF.items():
        pieces = [_stored(tree, name) for tree in trees]
        packed[offsets] = row_offsets([piece.size for piece in pieces])
        packed[name] = np.concatenate(pieces)
    return packed


def unpack_trees(packed: Arrays) -> list[Tree]:
    """Trees of `pack_trees`, each of them valid.

    Raises
    ------
    DamagedFileError
        If an array is missing, offsets do not fit, or a tree breaks a rule of its layout.
    """
    if not packed:
        return []
    _check_names(packed, {*TREE_NUMBERS, *OFFSETS_OF, *OFFSETS_OF.values()}, "trees")
    for name, dtype in TREE_NUMBERS.items():
        _check_vector(packed[name], np.dtype(dtype), f"trees.{name}")
    n_trees = len(packed["is_linear"])
    for name, offsets in OFFSETS_OF.items():
        _check_vector(packed[name], np.dtype(FORMS[name][0]), f"trees.{name}")
        _check_begins(packed[offsets], n_trees, len(packed[name]), f"trees.{offsets}")
    for name in ("n_features", "n_outputs"):
        _check_vector(packed[name], np.dtype(np.int64), f"trees.{name}", length=n_trees)
        if (packed[name] < 1).any() or (packed[name] > LARGEST_WIDTH).any():
            refuse(f"trees.{name} holds numbers beyond 1 and {LARGEST_WIDTH}")
    zeros = np.zeros(int(np.diff(packed["value_begin"]).max()) + 1, dtype=np.int64)
    begins = {name: packed[name].tolist() for name in set(OFFSETS_OF.values())}
    return [_cut_tree(packed, begins, number, zeros) for number in range(n_trees)]


def _stored(tree: Tree, name: str) -> NDArray[Any]:
    values: NDArray[Any] = getattr(tree, name).reshape(-1)
    return values[:0] if name == "leaf_indptr" and not tree.is_linear else values


def _cut_tree(
    packed: Arrays, begins: dict[str, list[int]], number: int, zeros: NDArray[np.int64]
) -> Tree:
    """One tree, checked; `zeros` are the row pointers of constant leaves."""
    cut = {
        name: packed[name][begins[offsets][number] : begins[offsets][number + 1]]
        for name, offsets in OFFSETS_OF.items()
    }
    is_linear = bool(packed["is_linear"][number])
    n_outputs = int(packed["n_outputs"][number])
    values = cut["leaf_values"]
    if values.size % n_outputs:
        refuse(f"tree {number}: {values.size} leaf values are no rows of {n_outputs}")
    cut["leaf_values"] = values.reshape(-1, n_outputs)
    if not is_linear:
        if cut["leaf_indptr"].size:
            refuse(f"tree {number}: leaf_indptr is stored although its leaves are constant")
        cut["leaf_indptr"] = zeros[: values.size + 1]
    tree = Tree(
        n_features=int(packed["n_features"][number]),
        leaf_kind="linear" if is_linear else "constant",
        **cut,
    )
    try:
        return tree.check()
    except ValueError as error:
        refuse(f"tree {number}: {error}", error)


def pack_traces(traces: Sequence[Trace]) -> tuple[Arrays, list[str]]:
    """Columns of all traces, one trace after the other, and the names of the phases."""
    if not traces:
        return {}, []
    phases = sorted({phase for trace in traces for phase in trace.phase})
    if len(phases) > np.iinfo(np.uint8).max:
        raise ValueError(f"the traces name {len(phases)} phases; at most 255 can be stored.")
    codes = {phase: code for code, phase in enumerate(phases)}
    packed: Arrays = {"begin": row_offsets([len(trace.phase) for trace in traces])}
    for name, dtype in TRACE_COLUMNS.items():
        columns = [getattr(trace, name) for trace in traces]
        if name == "phase":
            columns = [[codes[phase] for phase in column] for column in columns]
        packed[name] = np.array([entry for column in columns for entry in column], dtype=dtype)
        if len(packed[name]) != packed["begin"][-1]:
            raise ValueError(f"a trace has columns of different lengths; {name} is one of them.")
    return packed, phases


def unpack_traces(packed: Arrays, phases: Any) -> list[Trace]:
    """Traces of `pack_traces`."""
    words = [checked_text(word, "phases") for word in checked_list(phases, "phases")]
    if not packed:
        return []
    _check_names(packed, {"begin", *TRACE_COLUMNS}, "traces")
    _check_vector(packed["begin"], np.dtype(np.int64), "traces.begin")
    n_traces = len(packed["begin"]) - 1
    for name, dtype in TRACE_COLUMNS.items():
        _check_vector(packed[name], np.dtype(dtype), f"traces.{name}")
        _check_begins(packed["begin"], n_traces, len(packed[name]), "traces.begin")
    if packed["phase"].max(initial=0) >= max(len(words), 1):
        refuse(f"traces.phase holds {packed['phase'].max()} and there are {len(words)} phases")
    columns = {name: packed[name].tolist() for name in TRACE_COLUMNS}
    columns["phase"] = [words[code] for code in columns["phase"]]
    begins = packed["begin"].tolist()
    return [
        Trace(**{name: column[begin:end] for name, column in columns.items()})
        for begin, end in pairwise(begins)
    ]


def _check_names(packed: Arrays, wanted: set[str], table: str) -> None:
    if packed.keys() != wanted:
        odd = sorted(packed.keys() ^ wanted)
        refuse(f"the arrays of {table} are not those of the format; {odd[0][:40]!r} is odd")


def _check_vector(
    array: NDArray[Any], dtype: np.dtype[Any], name: str, length: int | None = None
) -> None:
    if array.dtype != dtype or array.ndim != 1 or length not in (None, len(array)):
        wanted = "" if length is None else f" and length {length}"
        refuse(f"{name} has type {array.dtype} and shape {array.shape}; {dtype}{wanted} is needed")


def _check_begins(begins: NDArray[Any], n_pieces: int, n_values: int, name: str) -> None:
    """Offsets that cut `n_values` values into `n_pieces` pieces."""
    _check_vector(begins, np.dtype(np.int64), name, length=n_pieces + 1)
    if n_pieces < 0 or begins[0] != 0 or begins[-1] != n_values:
        refuse(f"{name} does not lead from 0 to {n_values}")
    # Compared, not subtracted: the difference of two hostile numbers can overflow.
    if (begins[1:] < begins[:-1]).any():
        refuse(f"{name} falls")
