"""The trees of a fitted forest, ours or scikit-learn's, in the layout of this library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.tree.convert import from_sklearn
from spinney.tree.forest import Forest
from spinney.tree.structure import Tree, breadth_first, constant_leaves


class UnreadableTreesError(TypeError, AttributeError):
    """The trees of a forest of another library are not of a kind that this library has.

    An AttributeError too, as whoever asks an estimator for its trees finds none.
    """


def own_forest(forest: Any) -> Forest | None:
    """Trees of a fitted estimator of spinney; None if another library has grown them."""
    if hasattr(forest, "leaf_values_"):  # a refined one
        refined: Forest = forest._forest()
        return refined
    if isinstance(getattr(forest, "forest_", None), Forest):
        of_many: Forest = forest.forest_
        return of_many
    tree = getattr(forest, "tree_", None)
    return Forest.of(tree) if isinstance(tree, Tree) else None


def members_of(forest: Any) -> NDArray[np.object_]:
    """Estimators that a forest of scikit-learn holds; gradient boosting has a table of them."""
    return np.ravel(np.asarray(forest.estimators_, dtype=object))


def trees_with_values(
    forest: Any, leaf_ids: list[NDArray[np.int64]], values: NDArray[np.float64]
) -> Iterator[Tree]:
    """Trees of `forest` whose leaves hold `values`.

    Parameters
    ----------
    forest : fitted forest of spinney or scikit-learn
        What was refined.
    leaf_ids : list of ndarray
        Leaves of each tree that have values, in the numbering of `forest`, ascending.
    values : float64 ndarray of shape (n_leaves, n_outputs)
        Values of these leaves, one tree after the other. All other leaves get zeros.
    """
    first = 0
    for (tree, numbers), known in zip(_numbered_trees(forest), leaf_ids, strict=True):
        of_tree = values[first : first + len(known)]
        first += len(known)
        leaves = numbers[tree.leaf_nodes]
        place = np.minimum(np.searchsorted(known, leaves), len(known) - 1)
        found = np.where((known[place] == leaves)[:, None], of_tree[place], 0.0)
        yield replace(tree, **constant_leaves(found))


def _numbered_trees(forest: Any) -> list[tuple[Tree, NDArray[np.int64]]]:
    """Each tree, and what `forest` calls its nodes."""
    own = own_forest(forest)
    if own is not None:
        return [(tree, np.arange(tree.n_nodes, dtype=np.int64)) for tree in own.trees]
    members = members_of(forest) if hasattr(forest, "estimators_") else [forest]
    has_own_columns = hasattr(forest, "estimators_features_")
    if has_own_columns or not all(hasattr(member, "tree_") for member in members):
        raise UnreadableTreesError(
            f"the refined forest={type(forest).__name__} has trees that cannot be read; give a "
            "forest of spinney, or a random forest, extra trees or gradient boosting of "
            "scikit-learn; try refine_leaves on one of these."
        )
    try:
        return [(from_sklearn(member), _old_numbers(member.tree_)) for member in members]
    except ValueError as error:  # split by missing values
        raise UnreadableTreesError(
            f"the refined forest={type(forest).__name__} has trees that cannot be read: {error}"
        ) from error


def _old_numbers(tree: Any) -> NDArray[np.int64]:
    """Number in scikit-learn's tree of each node of ours."""
    order, _, _ = breadth_first(tree.children_left, tree.children_right)
    return order.astype(np.int64)
