"""Nodes for people: a tree as splits and leaves with named features.

Views are made on the way down and hold no copy of the tree. They are for reading, printing and
exploring; algorithms work on the arrays of `Tree`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.tree.hyperplanes import hyperplane, leaf_function
from spinney.tree.structure import Tree


@dataclass(frozen=True, eq=False, repr=False)
class _View:
    tree: Tree
    index: int
    feature_names: tuple[str, ...]

    @property
    def depth(self) -> int:
        """Number of splits above the node."""
        return int(self.tree.depth[self.index])

    def _named(self, indices: NDArray[np.int32], weights: NDArray[np.float64]) -> dict[str, float]:
        names = self.feature_names
        return {names[i]: float(w) for i, w in zip(indices, weights, strict=True)}


class SplitView(_View):
    """A split: a row goes right if ``sum(weights[f] * x[f]) + bias >= 0``, else left."""

    @property
    def weights(self) -> dict[str, float]:
        """Non-zero weights of the hyperplane by feature name."""
        return self._named(*hyperplane(self.tree, self.index))

    @property
    def bias(self) -> float:
        """Offset of the hyperplane."""
        return float(self.tree.bias[self.index])

    @property
    def left(self) -> NodeView:
        """The child for rows with a negative score."""
        return _view(self.tree, int(self.tree.left[self.index]), self.feature_names)

    @property
    def right(self) -> NodeView:
        """The child for rows with a score of 0 or more."""
        return _view(self.tree, int(self.tree.right[self.index]), self.feature_names)

    def __repr__(self) -> str:
        terms = " ".join(f"{weight:+.4g}*{name}" for name, weight in self.weights.items())
        return f"SplitView({self.index}: {terms} {self.bias:+.4g} >= 0)"


class LeafView(_View):
    """A leaf: it answers with `value`, plus `weights` times the row if the tree is linear."""

    @property
    def value(self) -> NDArray[np.float64]:
        """Class fractions or values of a constant leaf, intercepts of a linear one."""
        value: NDArray[np.float64] = self.tree.leaf_values[self.tree.leaf_index[self.index]]
        return value

    @property
    def weights(self) -> list[dict[str, float]]:
        """Non-zero weights of each output by feature name; empty for a constant leaf."""
        leaf = int(self.tree.leaf_index[self.index])
        outputs = range(self.tree.n_outputs)
        return [self._named(*leaf_function(self.tree, leaf, output)) for output in outputs]

    def __repr__(self) -> str:
        return f"LeafView({self.index}: {np.array2string(self.value, precision=4)})"


NodeView = SplitView | LeafView


def view_tree(tree: Tree, feature_names: Sequence[str] | None = None) -> NodeView:
    """View of the root of a tree, from which all nodes can be reached.

    Parameters
    ----------
    tree : Tree
        A valid tree.
    feature_names : sequence of str, optional
        One name a feature, all different. Default: ``x0``, ``x1``, ...

    Returns
    -------
    SplitView or LeafView
        The root.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from spinney.tree import from_sklearn, view_tree
    >>> cart = DecisionTreeClassifier(max_depth=1, random_state=0)
    >>> root = view_tree(from_sklearn(cart.fit(*load_iris(return_X_y=True))))
    >>> root.left.value
    array([1., 0., 0.])
    """
    if feature_names is None:
        feature_names = [f"x{feature}" for feature in range(tree.n_features)]
    names = tuple(str(name) for name in feature_names)
    if len(names) != tree.n_features or len(set(names)) != len(names):
        raise ValueError(
            f"{len(set(names))} different feature_names for {tree.n_features} features; "
            "give one a feature, all different."
        )
    return _view(tree, 0, names)


def walk(node: NodeView) -> Iterator[NodeView]:
    """Yield `node` and all nodes below it, a parent before its children, left before right.

    Parameters
    ----------
    node : SplitView or LeafView
        Where to start.

    Yields
    ------
    SplitView or LeafView
        Each node once.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=1, random_state=0).fit(X, y).tree_
    >>> [type(node).__name__ for node in walk(view_tree(tree))]
    ['SplitView', 'LeafView', 'LeafView']
    """
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, SplitView):
            waiting += [node.right, node.left]


def _view(tree: Tree, index: int, feature_names: tuple[str, ...]) -> NodeView:
    kind = LeafView if tree.left[index] < 0 else SplitView
    return kind(tree, index, feature_names)
