"""What makes a tree valid: every rule of the layout of `Tree`, one function a group of rules.

A tree can come from a file or from a user, so nothing is taken for granted: each check relies only
on the checks before it. Each error names the array, the value found and what is accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from spinney.tree.structure import Tree

FORMS: dict[str, tuple[type[np.generic], int]] = {
    "left": (np.int32, 1),
    "right": (np.int32, 1),
    "bias": (np.float64, 1),
    "split_indptr": (np.int64, 1),
    "split_indices": (np.int32, 1),
    "split_weights": (np.float32, 1),
    "leaf_values": (np.float64, 2),
    "leaf_indptr": (np.int64, 1),
    "leaf_indices": (np.int32, 1),
    "leaf_weights": (np.float32, 1),
}
"""Type and number of dimensions of each array of a tree."""

LEAF_KINDS = ("constant", "linear")


def check_tree(tree: Tree) -> None:
    """Raise ValueError if `tree` breaks a rule of its layout.

    Parameters
    ----------
    tree : Tree
        Any tree, however broken.
    """
    _check_forms(tree)
    _check_topology(tree)
    _check_splits(tree)
    _check_leaves(tree)


def _check_forms(tree: Tree) -> None:
    """Types, dimensions, and the two fields that are not arrays."""
    if isinstance(tree.n_features, bool) or not isinstance(tree.n_features, int | np.integer):
        raise ValueError(f"n_features={tree.n_features!r}; an integer >= 1 is needed.")
    if tree.n_features < 1:
        raise ValueError(f"n_features={tree.n_features}; an integer >= 1 is needed.")
    if tree.leaf_kind not in LEAF_KINDS:
        raise ValueError(f"leaf_kind={tree.leaf_kind!r}; it must be one of {LEAF_KINDS}.")
    for name, (dtype, ndim) in FORMS.items():
        _check_form(name, getattr(tree, name), np.dtype(dtype), ndim)


def _check_form(name: str, array: object, dtype: np.dtype[Any], ndim: int) -> None:
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is a {type(array).__name__}; a numpy array is needed.")
    if array.dtype != dtype or array.ndim != ndim or not array.flags.c_contiguous:
        raise ValueError(
            f"{name} has type {array.dtype} and shape {array.shape}; "
            f"it must be a C-contiguous array of {dtype} with {ndim} dimension(s)."
        )


def _check_topology(tree: Tree) -> None:
    """One root, two children a split, numbered breadth first: 2k + 1 and 2k + 2 for split k."""
    n_nodes = len(tree.left)
    if n_nodes == 0:
        raise ValueError("left is empty; a tree has at least one node.")
    _check_length("right", tree.right, n_nodes)
    splits = np.flatnonzero(tree.left != -1)
    _check_length("left", tree.left, 2 * len(splits) + 1, why=f"for {len(splits)} splits")
    first = 2 * np.arange(len(splits)) + 1
    # A split whose number is not below its children's would be its own ancestor.
    _check_all("left", splits, splits < first, "a split must come before its children")
    for name, found, wanted in (
        ("left", tree.left[splits], first),
        ("right", tree.right[splits], first + 1),
    ):
        _check_all(name, found, found == wanted, "children must be numbered breadth first")
    at_leaves = np.delete(tree.right, splits)
    _check_all("right", at_leaves, at_leaves == -1, "it must be -1 where left is -1")


def _check_splits(tree: Tree) -> None:
    """Finite hyperplanes at the splits, nothing at the leaves."""
    is_leaf = tree.left < 0
    _check_length("bias", tree.bias, tree.n_nodes)
    _check_all("bias", tree.bias, np.isfinite(tree.bias), "it must be finite")
    _check_all("bias", tree.bias[is_leaf], tree.bias[is_leaf] == 0, "it must be 0 at a leaf")
    _check_rows(tree, "split", tree.n_nodes)
    n_weights = np.diff(tree.split_indptr)[is_leaf]
    _check_all("split_indptr", n_weights, n_weights == 0, "a leaf must have no split weights")


def _check_leaves(tree: Tree) -> None:
    """One row of finite values a leaf; weights only for linear leaves."""
    n_leaves = int(np.count_nonzero(tree.left < 0))
    _check_length("leaf_values", tree.leaf_values, n_leaves)
    if tree.n_outputs == 0:
        raise ValueError("leaf_values has 0 columns; at least one output is needed.")
    finite = np.isfinite(tree.leaf_values)
    _check_all("leaf_values", tree.leaf_values, finite, "it must be finite")
    _check_rows(tree, "leaf", n_leaves * tree.n_outputs)
    if not tree.is_linear and tree.leaf_weights.size:
        raise ValueError(
            f"leaf_weights has {tree.leaf_weights.size} values; constant leaves have none."
        )


def _check_rows(tree: Tree, prefix: str, n_rows: int) -> None:
    """Check the CSR rows `prefix`_indptr, `prefix`_indices, `prefix`_weights."""
    indptr = getattr(tree, f"{prefix}_indptr")
    indices = getattr(tree, f"{prefix}_indices")
    weights = getattr(tree, f"{prefix}_weights")
    _check_length(f"{prefix}_indptr", indptr, n_rows + 1)
    if indptr[0] != 0:
        raise ValueError(f"{prefix}_indptr starts with {indptr[0]}; it must start with 0.")
    # Compared, not subtracted: the difference of two hostile numbers can overflow.
    _check_all(f"{prefix}_indptr", indptr[1:], indptr[1:] >= indptr[:-1], "it must not fall")
    _check_length(f"{prefix}_indices", indices, indptr[-1])
    _check_length(f"{prefix}_weights", weights, indptr[-1])
    in_range = indices.view(np.uint32) < tree.n_features  # a negative index becomes a huge one
    _check_all(
        f"{prefix}_indices", indices, in_range, f"it must be from 0 to {tree.n_features - 1}"
    )
    rises = np.ones(len(indices), dtype=bool)
    rises[1:] = indices[1:] > indices[:-1]
    starts = indptr[:-1]
    rises[starts[starts < len(indices)]] = True
    _check_all(f"{prefix}_indices", indices, rises, "it must rise within a row")
    usable = np.isfinite(weights) & (weights != 0)
    _check_all(f"{prefix}_weights", weights, usable, "it must be finite and not 0")


def _check_length(name: str, array: NDArray[Any], wanted: int, why: str = "") -> None:
    if len(array) != wanted:
        raise ValueError(f"{name} has length {len(array)}; {wanted} is needed {why}".rstrip() + ".")


def _check_all(name: str, values: NDArray[Any], good: NDArray[np.bool_], rule: str) -> None:
    if not good.all():
        first_bad = np.flatnonzero(~good.ravel())[0]
        raise ValueError(f"{name} holds {values.ravel()[first_bad]}; {rule}.")
