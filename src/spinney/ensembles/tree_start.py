"""Turn the ``init`` argument into the tree from which the optimiser starts.

A start is either a topology ``(left, right)``, whose hyperplanes the optimiser draws, or a full
:class:`~spinney.tree.structure.Tree`. How topologies are drawn and trees converted is the matter
of :mod:`spinney.tree`; this module only chooses and checks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from spinney.data import Problem
from spinney.data.checks import check_integer, check_real
from spinney.data.tables import TableEncoding
from spinney.tree.column_splits import n_columns_read
from spinney.tree.convert import from_sklearn
from spinney.tree.start import (
    LARGEST_STRUCTURE,
    complete_size,
    expected_nodes,
    random_topology,
    split_probability,
)
from spinney.tree.structure import Topology, Tree, complete_topology

INIT_WORDS = ("supervised", "balanced", "random", "cart", "random_structure")
_ACCEPTED = (
    'give "supervised", "balanced", "random", "cart", "random_structure", a RandomStructure, a '
    "spinney Tree or a fitted tree estimator"
)


@dataclass(frozen=True)
class RandomStructure:
    """A random tree structure: complete to one depth, then split by chance to another.

    It has depths of its own: `max_depth` of the estimator that it is given to is not used.

    Parameters
    ----------
    min_depth : int
        All levels down to this one are complete (the paper's Δ1). At least 1.
    max_depth : int
        No node lies deeper (the paper's Δ2). At least `min_depth`.
    expected_nodes : float or None, default=None
        Mean number of nodes, splits and leaves, over the random structures. It must lie between
        the sizes of the complete trees of depth `min_depth` and `max_depth`.
    split_probability : float or None, default=None
        How likely a node between the two depths splits (the paper's p), from 0 to 1. Give either
        this or `expected_nodes`, from which it follows.

    References
    ----------
    Bagged TAO forests, section 8.3.1, eqs. (2) and (3).

    Examples
    --------
    >>> from spinney.estimators import RandomStructure
    >>> RandomStructure(min_depth=3, max_depth=8, expected_nodes=100)
    RandomStructure(min_depth=3, max_depth=8, expected_nodes=100)
    """

    min_depth: int
    max_depth: int
    expected_nodes: float | None = None
    split_probability: float | None = None

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"RandomStructure({', '.join(given)})"

    @classmethod
    def of_depth(cls, max_depth: int) -> RandomStructure:
        """Profile meant by the plain word: half the depth complete, half the nodes expected."""
        min_depth = max(1, max_depth // 2)
        fewest = complete_size(min_depth)
        return cls(min_depth, max_depth, max(fewest, complete_size(max_depth) / 2))

    def check(self) -> None:
        """Raise unless the profile exists."""
        check_integer("min_depth", self.min_depth, minimum=1, example="3")
        check_integer("max_depth", self.max_depth, minimum=1, example="8")
        if self.max_depth < self.min_depth:
            raise ValueError(
                f"max_depth={self.max_depth} of RandomStructure is below its "
                f"min_depth={self.min_depth}; give max_depth >= min_depth; try swapping them."
            )
        if (self.expected_nodes is None) == (self.split_probability is None):
            raise ValueError(
                f"{self} has {'neither' if self.expected_nodes is None else 'both'} of "
                "expected_nodes and split_probability, and each follows from the other; give "
                "exactly one of them; try split_probability=0.5."
            )
        if self.expected_nodes is None:
            self._check_probability()
        else:
            self._check_size()

    def _check_size(self) -> None:
        check_real("expected_nodes", self.expected_nodes, minimum=1.0, example="100")
        fewest, most = complete_size(self.min_depth), complete_size(self.max_depth)
        assert self.expected_nodes is not None, "that is what is checked"
        if not fewest <= self.expected_nodes <= most:
            raise ValueError(
                f"expected_nodes={self.expected_nodes} cannot be reached between depths "
                f"{self.min_depth} and {self.max_depth}; give a number from {fewest} to {most}; "
                f"try expected_nodes={(fewest + most) // 2}."
            )

    def _check_probability(self) -> None:
        check_real("split_probability", self.split_probability, minimum=0.0, example="0.5")
        p = float(self.split_probability or 0.0)
        if p > 1:
            raise ValueError(
                f"split_probability={p!r} is no probability; give a number from 0 to 1; try "
                "split_probability=0.5."
            )
        n_nodes, most = expected_nodes(self.min_depth, self.max_depth, p), LARGEST_STRUCTURE
        if n_nodes > most:
            raise ValueError(
                f"split_probability={p!r} between depths {self.min_depth} and {self.max_depth} "
                f"gives about {n_nodes:.3g} nodes; give values for at most {most}; try a smaller "
                "max_depth."
            )

    def draw(self, seed: int) -> Topology:
        """One random structure as child arrays ``(left, right)``."""
        p = self.split_probability
        if p is None:
            assert self.expected_nodes is not None, "one of the two is given"
            p = split_probability(self.min_depth, self.max_depth, self.expected_nodes)
        return random_topology(self.min_depth, self.max_depth, p, np.random.default_rng(seed))


def drawn_start(init: object) -> str:
    """How hyperplanes are drawn where `init` does not give them."""
    is_way_to_draw = isinstance(init, str) and init in ("random", "supervised")
    return str(init) if is_way_to_draw else "balanced"


def check_init(init: object, accepted: str = _ACCEPTED) -> None:
    """Raise unless `init` is a word, a structure, a tree or a fitted tree estimator.

    `accepted` is what the error says may be given; a forest may start from more.
    """
    if isinstance(init, str):
        if init not in INIT_WORDS:
            raise ValueError(f'init={init!r} is not known; {accepted}; try init="supervised".')
    elif isinstance(init, RandomStructure | Tree):
        init.check()
    elif isinstance(init, BaseEstimator):
        _check_fitted_tree(unfrozen(init), accepted)
    else:
        raise TypeError(
            f'init={init!r} is of type {type(init).__name__}; {accepted}; try init="supervised".'
        )


def _check_fitted_tree(estimator: Any, accepted: str) -> None:
    """Raise unless the estimator is a tree that has been fitted."""
    name = type(estimator).__name__
    # Single trees can count their leaves, here and in scikit-learn; forests and others cannot.
    if not hasattr(estimator, "get_n_leaves"):
        raise TypeError(
            f"init={name} is not a tree estimator; {accepted}; try a fitted "
            "DecisionTreeClassifier or DecisionTreeRegressor."
        )
    try:
        check_is_fitted(estimator, "tree_")
    except ValueError as error:
        raise ValueError(
            f"init={name} is not fitted; give a fitted tree; try calling its fit first, or wrap "
            "it in sklearn.frozen.FrozenEstimator where estimators are cloned (as in a grid "
            "search), because a clone is not fitted."
        ) from error


def check_same_encoding(init: object, encoding: TableEncoding | None) -> None:
    """Raise if `init` is an estimator whose trees read other coordinates than those there are."""
    given = unfrozen(init)
    if hasattr(given, "encoding_") and given.encoding_ != encoding:
        raise ValueError(
            f"init={type(given).__name__} was fitted to a table that became other coordinates than "
            "this one; give an estimator that was fitted to the same rows and weights; try "
            'init="supervised".'
        )


def unfrozen(estimator: Any) -> Any:
    """The estimator inside a FrozenEstimator, or the estimator itself."""
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


@dataclass(frozen=True)
class Start:
    """Rule that makes the start of a tree, or of each tree of a forest.

    Parameters
    ----------
    init : str, RandomStructure, Tree or fitted tree estimator
        Checked by :func:`check_init`.
    max_depth : int or None
        Depth of the structure; a given tree keeps its own.
    split : {"oblique", "axis"}
        Kind of split that is wanted.
    classes : ndarray of shape (n_classes,) or None
        Class labels, None for regression.
    columns : int64 ndarray of shape (n_features,) or None, default=None
        Column of the table that each coordinate comes from; None if coordinates are columns.
    """

    init: object
    max_depth: int | None
    split: str
    classes: NDArray[np.generic] | None
    columns: NDArray[np.int64] | None = None

    def __call__(self, problem: Problem, seed: int) -> Topology | Tree:
        """Topology or tree from which the optimiser starts on `problem`.

        `seed` draws the random structure and breaks CART's ties.
        """
        if isinstance(self.init, str):
            return _start_from_word(self.init, self.max_depth, seed, problem)
        if isinstance(self.init, RandomStructure):
            return self.init.draw(seed)
        if isinstance(self.init, Tree):
            tree = self.init
        else:
            tree = _tree_of(unfrozen(self.init), problem, self.classes)
        check_fits(tree, problem, self.split, "init", self.columns)
        return tree


def _start_from_word(
    word: str, max_depth: int | None, seed: int, problem: Problem
) -> Topology | Tree:
    """Start meant by one of the words of ``INIT_WORDS``."""
    if word == "cart":
        return _cart(max_depth, seed, problem)
    assert max_depth is not None, "only CART chooses its own depth"
    if word == "random_structure":
        structure = RandomStructure.of_depth(max_depth)
        return structure.draw(seed)
    return complete_topology(max_depth)


def _cart(max_depth: int | None, seed: int, problem: Problem) -> Tree:
    """Scikit-learn's CART tree of the same depth on the same weighted rows."""
    kind = DecisionTreeClassifier if problem.n_classes else DecisionTreeRegressor
    cart = kind(max_depth=max_depth, random_state=seed)
    cart.fit(problem.matrix, problem.targets, sample_weight=problem.sample_weight)
    tree = from_sklearn(cart)
    return _with_all_classes(tree, cart.classes_, problem.n_classes) if problem.n_classes else tree


def _with_all_classes(tree: Tree, codes: NDArray[np.int32], n_classes: int) -> Tree:
    """Tree with a column for every class, also for those whose rows all have weight 0."""
    fractions = np.zeros((tree.n_leaves, n_classes))
    fractions[:, codes] = tree.leaf_values
    return replace(
        tree, leaf_values=fractions, leaf_indptr=np.zeros(fractions.size + 1, dtype=np.int64)
    )


def _tree_of(estimator: Any, problem: Problem, classes: NDArray[np.generic] | None) -> Tree:
    """Tree of a fitted estimator, which must have solved the same kind of task."""
    if is_classifier(estimator) != bool(problem.n_classes):
        wanted = "classifier" if problem.n_classes else "regressor"
        raise ValueError(
            f"init={type(estimator).__name__} solves another task; give a fitted {wanted}; try "
            f"DecisionTree{wanted.capitalize()}."
        )
    if classes is not None and not np.array_equal(estimator.classes_, classes):
        raise ValueError(
            f"init knows the classes {np.asarray(estimator.classes_).tolist()!r} but y holds "
            f"{classes.tolist()!r}; give a tree of the same classes; try fitting it to this y."
        )
    if isinstance(estimator.tree_, Tree):
        return estimator.tree_
    return from_sklearn(estimator)


def check_fits(
    tree: Tree,
    problem: Problem,
    split: str,
    name: str,
    columns: NDArray[np.int64] | None = None,
) -> None:
    """Raise unless the tree suits the problem's columns and outputs, and may be split so."""
    check_splits(tree, problem.n_features, split, name, columns)
    n_outputs = problem.n_classes or problem.targets.shape[1]
    if tree.n_outputs != n_outputs:
        raise ValueError(
            f"{name} is a tree with {tree.n_outputs} outputs but y needs {n_outputs}; give a tree "
            "with one output per class or per target; try fitting it to this y."
        )


def check_splits(
    tree: Tree,
    n_features: int,
    split: str,
    name: str,
    columns: NDArray[np.int64] | None = None,
) -> None:
    """Raise unless the tree reads so many columns and may be split so.

    A split that no sweep improves stays as it was, so an oblique start would leave oblique splits
    in a tree that is meant to have axis-aligned ones. Several weights are of one column if
    `columns`, the column of the table that each coordinate comes from, says so: a set of levels, or
    a number and its missing flag.
    """
    if tree.n_features != n_features:
        raise ValueError(
            f"{name} is a tree on {tree.n_features} columns but X has {n_features}; give "
            "a tree on the same columns; try fitting it to this X."
        )
    widest = int(n_columns_read(tree, columns).max(initial=0))
    if split != "oblique" and widest > 1:
        raise ValueError(
            f'{name} is a tree with {widest} columns in a split but split="{split}"; give a tree '
            'with one column a split; try split="oblique", or init="cart".'
        )


def check_starts_apart(init: object, start: str) -> None:
    """Raise if trees on different columns would have to start from one and the same tree."""
    if start == "previous":
        raise ValueError(
            'start="previous" cannot go with feature_sampling="global", whose trees have different '
            'columns; give start="own" or "same"; try feature_sampling="local".'
        )
    if isinstance(init, Tree | BaseEstimator):
        raise ValueError(
            f'init={type(init).__name__} cannot go with feature_sampling="global", whose trees '
            'have different columns; give a word or a RandomStructure; try init="supervised".'
        )
