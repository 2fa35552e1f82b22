"""Turn the ``init`` argument of a jointly optimised forest into the trees it starts from.

Besides what one tree may start from (:mod:`spinney.estimators.start`), a forest may start from
trees that are bagged or boosted first, or from the trees of a fitted forest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaseEnsemble
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from spinney.estimators.forest_base import ForestEstimator
from spinney.estimators.start import check_init
from spinney.tree.convert import from_sklearn
from spinney.tree.structure import Tree

FOREST_WORDS = ("bagged", "boosted")


def is_forest(init: object) -> bool:
    """Whether `init` is a forest of this library or of scikit-learn."""
    return isinstance(_unfrozen(init), ForestEstimator | BaseEnsemble)


def check_forest_init(init: object, n_trees: int) -> None:
    """Raise unless a forest, or several, of `n_trees` trees in all can start from `init`."""
    if isinstance(init, str) and init in FOREST_WORDS:
        return
    if not is_forest(init):
        check_init(init)
        return
    forest = _unfrozen(init)
    name = type(forest).__name__
    try:
        check_is_fitted(forest)
    except ValueError as error:
        raise ValueError(
            f"init={name} is not fitted; give a fitted forest; try calling its fit first, or wrap "
            "it in sklearn.frozen.FrozenEstimator where estimators are cloned."
        ) from error
    n_given = sum(1 for _ in _trees(forest))
    if n_given < n_trees:
        raise ValueError(
            f"init={name} has {n_given} trees, but n_forests * n_trees is {n_trees}; give a forest "
            "of at least as many trees; try smaller n_forests or n_trees."
        )


def given_starts(
    init: object, n_forests: int, n_trees: int, n_features: int, split: str
) -> tuple[tuple[Tree, ...], ...]:
    """Trees of a fitted forest, dealt out to `n_forests` forests; empty if `init` is none."""
    if not is_forest(init):
        return ()
    trees = list(_trees(_unfrozen(init)))[: n_forests * n_trees]
    for number, tree in enumerate(trees):
        _check_tree(tree, number, n_features, split)
    return tuple(tuple(trees[first : first + n_trees]) for first in range(0, len(trees), n_trees))


def _unfrozen(init: object) -> object:
    return init.estimator if isinstance(init, FrozenEstimator) else init


def _trees(forest: BaseEstimator) -> Iterator[Tree]:
    """Trees of a fitted forest, in order; those of gradient boosting one class after the other."""
    if isinstance(forest, ForestEstimator):
        yield from forest.trees_
        return
    members = np.ravel(np.asarray(forest.estimators_, dtype=object))
    columns = getattr(forest, "estimators_features_", [None] * len(members))
    for member, used in zip(members, columns, strict=True):
        if not hasattr(member, "tree_"):
            raise TypeError(
                f"init={type(forest).__name__} holds {type(member).__name__}; give a forest of "
                "decision trees; try RandomForestClassifier or TAOForestClassifier."
            )
        tree = from_sklearn(member)
        if used is not None:
            numbers = np.asarray(used, dtype=np.int32)
            indices = numbers[tree.split_indices]
            tree = replace(tree, n_features=int(forest.n_features_in_), split_indices=indices)
        yield tree


def _check_tree(tree: Tree, number: int, n_features: int, split: str) -> None:
    """Raise unless a tree reads the columns there are, in splits that are wanted."""
    if tree.n_features != n_features:
        raise ValueError(
            f"init holds trees on {tree.n_features} columns but X has {n_features}; give a forest "
            "on the same columns; try fitting it to this X."
        )
    widest = int(np.diff(tree.split_indptr).max(initial=0))
    if split != "oblique" and widest > 1:
        raise ValueError(
            f'tree {number} of init has {widest} weights in a split but split="{split}"; give a '
            'forest with one weight a split; try split="oblique".'
        )
