"""Trees in few bytes: hyperplanes, leaves, how many rows went where, and splits in words.

Weights are kept as they are, in float32, as long as a page stays small. Beyond that they are
rounded to 16 and then to 8 bits a weight, by a scale of each node, and if that is not enough the
last trees are left out. The page says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spinney.data.wording import rounded
from spinney.inspection.fitted_model import FittedModel
from spinney.inspection.report.blocks import Block, pack, smallest_unsigned
from spinney.inspection.report.rows import AnsweredRows
from spinney.inspection.split_words import words_of_tree
from spinney.tree.route import apply
from spinney.tree.structure import Tree

Precision = Literal["float32", "int16", "int8"]

#: From exact to coarse.
PRECISIONS: tuple[Precision, ...] = ("float32", "int16", "int8")

#: How "at least" and "at most" are written, and digits of a threshold.
SIGNS, DIGITS = ("≥", "≤"), 4

#: Trees that are packed to guess how large all of them are, and how far the guess may be off.
N_TRIED, MARGIN = 5, 1.1

_LARGEST: dict[Precision, int] = {"int16": 32767, "int8": 127}


@dataclass(frozen=True)
class PageTrees:
    """Trees of a page.

    Attributes
    ----------
    blocks : tuple of Block
        The first trees of the forest; all of them unless they were too large.
    precision : {"float32", "int16", "int8"}
        How weights of hyperplanes and of linear leaves are kept.
    """

    blocks: tuple[Block, ...]
    precision: Precision


def page_trees(fitted: FittedModel, rows: AnsweredRows | None, budget: int) -> PageTrees:
    """Trees in at most `budget` characters, as exact as that allows."""
    trees = fitted.trees
    others = [_reached(tree, fitted, rows) | _rules(tree, fitted) for tree in trees]
    some = list(range(0, len(trees), max(len(trees) // N_TRIED, 1)))
    for precision in PRECISIONS:
        is_last = precision == PRECISIONS[-1]
        tried = sum(len(block) for block in _blocks(trees, others, some, precision))
        if not is_last and tried * len(trees) > MARGIN * budget * len(some):
            continue
        blocks = _blocks(trees, others, list(range(len(trees))), precision)
        kept, is_complete = _fitting(blocks, budget)
        if is_complete or is_last:
            break
    return PageTrees(kept, precision)


def _blocks(
    trees: tuple[Tree, ...],
    others: list[dict[str, NDArray[Any]]],
    numbers: list[int],
    precision: Precision,
) -> Iterator[Block]:
    for number in numbers:
        yield pack(tree_arrays(trees[number], precision) | others[number])


def _fitting(blocks: Iterator[Block], budget: int) -> tuple[tuple[Block, ...], bool]:
    """The first blocks that fit, and whether these are all."""
    kept: list[Block] = []
    used = 0
    for block in blocks:
        used += len(block)
        if used > budget:
            return tuple(kept), False
        kept.append(block)
    return tuple(kept), True


def tree_arrays(tree: Tree, precision: Precision) -> dict[str, NDArray[Any]]:
    """Topology, hyperplanes and leaves of a tree as the page reads them."""
    is_exact = precision == "float32"
    arrays: dict[str, NDArray[Any]] = {
        "isSplit": (tree.left >= 0).astype(np.uint8),
        "bias": tree.bias[tree.split_nodes].astype(np.float64 if is_exact else np.float32),
    }
    if tree.is_linear:  # the score of a class that never reached a leaf is too low for float32
        arrays["leafValues"] = tree.leaf_values.astype(np.float64)
    elif is_exact:
        arrays["leafValues"] = tree.leaf_values.astype(np.float32)
    else:
        one_scale = np.zeros(tree.leaf_values.size, dtype=np.int64)
        arrays |= _rounded("leafValues", tree.leaf_values.ravel(), one_scale, 1, "int16")
    lengths = np.diff(tree.split_indptr)[tree.split_nodes]
    arrays |= _weights("split", lengths, tree.split_indices, tree.split_weights, precision)
    if tree.is_linear:
        lengths = np.diff(tree.leaf_indptr)
        arrays |= _weights("leaf", lengths, tree.leaf_indices, tree.leaf_weights, precision)
    return arrays


def _weights(
    name: str,
    lengths: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32],
    precision: Precision,
) -> dict[str, NDArray[Any]]:
    """Sparse rows of weights: lengths, steps from one index to the next, and values."""
    arrays = {
        f"{name}Lengths": smallest_unsigned(lengths),
        f"{name}Steps": smallest_unsigned(_steps(indices, lengths)),
    }
    if precision == "float32":
        return arrays | {f"{name}Weights": weights.astype(np.float32)}
    row = np.repeat(np.arange(len(lengths)), lengths)
    return arrays | _rounded(f"{name}Weights", weights, row, len(lengths), precision)


def _rounded(
    name: str, values: NDArray[Any], row: NDArray[np.int64], n_rows: int, precision: Precision
) -> dict[str, NDArray[Any]]:
    """Values as whole numbers, each row by a scale of its own: value = number * scale."""
    scales = np.zeros(n_rows)
    np.maximum.at(scales, row, np.abs(values))
    scales = (scales / _LARGEST[precision]).astype(np.float32)
    levels = np.rint(values / np.where(scales > 0, scales, 1.0)[row])
    levels = np.clip(levels, -_LARGEST[precision], _LARGEST[precision])
    return {name: levels.astype(precision), f"{name}Scales": scales}


def _steps(indices: NDArray[np.int32], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each index less the one before it in its row; the first one as it is."""
    steps = indices.astype(np.int64)
    steps[1:] -= indices[:-1]
    starts = (np.cumsum(lengths) - lengths)[lengths > 0]
    steps[starts] = indices[starts]
    return steps


def _rules(tree: Tree, fitted: FittedModel) -> dict[str, NDArray[Any]]:
    """When rows go right at splits of one column of a table, in words.

    UTF-8, a line a split; empty lines for other splits. Nothing if there are no others.
    """
    words = words_of_tree(fitted, tree, _number, SIGNS)
    if not words:
        return {}
    lines = [words[node].text() if node in words else "" for node in tree.split_nodes.tolist()]
    text = "\n".join(" ".join(line.split()) for line in lines)
    return {"rules": np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)}


def _number(value: float) -> str:
    """A threshold as the page writes numbers."""
    return rounded(value, DIGITS).replace("-", "\N{MINUS SIGN}")


def _reached(tree: Tree, fitted: FittedModel, rows: AnsweredRows | None) -> dict[str, NDArray[Any]]:
    """How many rows reach each leaf: by class if classes are known, else in all.

    Pairs of leaf and class are numbered ``leaf * n_classes + class``; those that occur are kept.
    """
    if rows is None:
        return {}
    leaves = tree.leaf_index[apply(tree, rows.native)].astype(np.int64)
    arrays: dict[str, NDArray[Any]] = {}
    keys = leaves
    if fitted.is_classifier and rows.truth is not None:
        keys = leaves * len(fitted.output_names) + rows.truth
    found, counts = np.unique(keys, return_counts=True)
    arrays["reachedSteps"] = smallest_unsigned(np.diff(found, prepend=0))
    arrays["reachedCounts"] = smallest_unsigned(counts)
    if not fitted.is_classifier and rows.truth is not None:
        sums = [np.bincount(leaves, target, tree.n_leaves) for target in rows.truth.T]
        arrays["reachedSums"] = np.stack(sums, axis=1).astype(np.float32)
    return arrays
