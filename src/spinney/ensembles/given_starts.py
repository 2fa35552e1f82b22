"""Turn the ``init`` argument of a jointly optimised forest into the trees it starts from.

Besides what one tree may start from (:mod:`spinney.ensembles.tree_start`), a forest may start from
trees that are bagged or boosted first, or from the trees of a fitted forest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaseEnsemble
from sklearn.utils.validation import check_is_fitted

from spinney.algorithms.fao import kind_of_split
from spinney.ensembles.fitted_trees import members_of, own_forest
from spinney.ensembles.plan import widen
from spinney.ensembles.tree_start import check_init, check_splits, unfrozen
from spinney.tree.convert import from_sklearn
from spinney.tree.structure import Tree

FOREST_WORDS = ("bagged", "boosted", "bagged_with_leaves", "boosted_with_leaves")

#: What a forest may start from, as errors say it.
ACCEPTED = (
    'give "bagged", "boosted", a fitted forest of spinney or scikit-learn, "bagged_with_leaves", '
    '"boosted_with_leaves", or what each tree may start from: "supervised", "balanced", "random", '
    '"cart", "random_structure", a RandomStructure, a spinney Tree or a fitted tree estimator'
)


def is_forest_word(init: object) -> bool:
    """Whether `init` names trees that are grown before they are optimised together."""
    return isinstance(init, str) and init in FOREST_WORDS


def is_forest(init: object) -> bool:
    """Whether `init` is a forest of this library or of scikit-learn."""
    given = unfrozen(init)
    # Our forests have this property before they are fitted, too; our single trees do not have it.
    return isinstance(given, BaseEnsemble) or hasattr(type(given), "trees_")


def check_forest_init(init: object, n_trees: int) -> None:
    """Raise unless a forest, or several, of `n_trees` trees in all can start from `init`."""
    if is_forest_word(init):
        return
    if not is_forest(init):
        check_init(init, ACCEPTED)
        return
    forest = unfrozen(init)
    name = type(forest).__name__
    try:
        check_is_fitted(forest)
    except ValueError as error:
        raise ValueError(
            f"init={name} is not fitted; give a fitted forest; try calling its fit first, or wrap "
            "it in sklearn.frozen.FrozenEstimator where estimators are cloned."
        ) from error
    own = own_forest(forest)
    n_given = len(members_of(forest)) if own is None else own.n_trees
    if n_given < n_trees:
        raise ValueError(
            f"init={name} has {n_given} trees, but n_forests * n_trees is {n_trees}; give a forest "
            "of at least as many trees; try smaller n_forests or n_trees."
        )


def given_starts(
    init: object,
    n_forests: int,
    n_trees: int,
    n_features: int,
    split: str,
    columns: NDArray[np.int64] | None = None,
) -> tuple[tuple[Tree, ...], ...]:
    """Trees of a fitted forest, dealt out to `n_forests` forests; empty if `init` is none.

    `columns` is the column of the table that each coordinate comes from; None if they are the same.
    """
    if not is_forest(init):
        return ()
    trees = list(_trees(unfrozen(init)))[: n_forests * n_trees]
    for number, tree in enumerate(trees):
        kind = kind_of_split(split, number % n_trees)
        of_mixed = f', which split="mixed" wants {kind},' if split == "mixed" else ""
        check_splits(tree, n_features, kind, f"tree {number} of init{of_mixed}", columns)
    return tuple(tuple(trees[first : first + n_trees]) for first in range(0, len(trees), n_trees))


def _trees(forest: Any) -> Iterator[Tree]:
    """Trees of a fitted forest, in order; those of gradient boosting one class after the other."""
    own = own_forest(forest)
    if own is not None:
        yield from own.trees
        return
    members = members_of(forest)
    columns = getattr(forest, "estimators_features_", [None] * len(members))
    for member, used in zip(members, columns, strict=True):
        if not hasattr(member, "tree_"):
            raise TypeError(
                f"init={type(forest).__name__} holds {type(member).__name__}; give a forest of "
                "decision trees; try RandomForestClassifier or TAOForestClassifier."
            )
        tree = from_sklearn(member)
        yield tree if used is None else widen(tree, np.asarray(used), int(forest.n_features_in_))
