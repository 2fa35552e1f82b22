"""A tree as a diagram: hyperplanes as bars or pictures, leaves with what they say.

This file collects what is drawn; `spinney.inspection.plotting.tree_nodes` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Matrix
from spinney.inspection.arguments import (
    Names,
    checked_class_names,
    checked_count,
    checked_names,
    checked_spread,
    checked_targets,
)
from spinney.inspection.fitted_model import FittedModel, fitted_model
from spinney.inspection.plotting.canvas import axes_or_new, check_matplotlib, figure_of
from spinney.inspection.plotting.hyperplane import Hyperplane, checked_image_shape, hyperplane_of
from spinney.inspection.plotting.lettering import number
from spinney.inspection.plotting.reached import node_totals
from spinney.inspection.split_words import words_of_tree
from spinney.tree.readout import holds_scores
from spinney.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEEPEST = 6
"""Depth to which a full tree can be read on a large sheet."""

MOST_WEIGHTS = 4
"""Bars of a hyperplane."""

SIGNS = ("≥", "≤")


@dataclass(eq=False, repr=False)
class TreeDisplay:
    """Diagram of one tree; made by `from_estimator` or by `plot_tree`.

    The root is on the left. Each split shows its largest weights as bars, or all of them as a
    picture, and the rule by which a row goes on: *no* is the left child, above, *yes* the right
    child, below. A split of one column is told by its rule alone. Each leaf shows what it says.

    Attributes
    ----------
    tree : Tree
        The tree.
    nodes : int32 ndarray
        Nodes that are drawn.
    clipped : int32 ndarray
        Those of them whose children are not drawn, because they are at `max_depth`.
    hyperplanes : dict from int to Hyperplane
        Of each split that is drawn: features, names, weights and lengths of bars.
    n_rows : int64 ndarray of shape (n_nodes,) or None
        Rows of X that reach each node.
    class_counts : int64 ndarray of shape (n_nodes, n_classes) or None
        Rows of each class that reach each node, if y was given.
    means : float64 ndarray of shape (n_nodes, n_outputs) or None
        Mean of y over the rows that reach each node of a regression; NaN where there are none.
    class_names : list of str or None
        Names of the classes, None of a regression.
    has_scores : bool
        Whether leaves hold scores of classes that add up, and not class fractions.
    image_shape : tuple of int or None
        Height and width of pictures.
    scaled_by : str or None
        What weights were multiplied by.
    ax_, figure_ : Axes, Figure
        Where it was drawn.
    """

    tree: Tree
    nodes: NDArray[np.int32]
    clipped: NDArray[np.int32]
    hyperplanes: dict[int, Hyperplane]
    n_rows: NDArray[np.int64] | None = None
    class_counts: NDArray[np.int64] | None = None
    means: NDArray[np.float64] | None = None
    class_names: list[str] | None = None
    has_scores: bool = False
    image_shape: tuple[int, int] | None = None
    scaled_by: str | None = None
    max_weights: int = MOST_WEIGHTS
    title: str = ""
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        tree: int | None = None,
        max_depth: int | None = DEEPEST,
        max_weights: int = MOST_WEIGHTS,
        image_shape: tuple[int, int] | None = None,
        feature_names: Names | None = None,
        class_names: Names | None = None,
        scale: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a tree of a fitted model; see :func:`plot_tree` for the parameters."""
        check_matplotlib()
        fitted = fitted_model(model)
        place, shown = fitted.tree(tree)
        own = fitted.coordinate_names
        names = checked_names("feature_names", feature_names, own, "coordinates")
        shape = checked_image_shape(image_shape, shown.n_features)
        rows = None if X is None else fitted.coordinates(X)
        spread, scaled_by = checked_spread(scale, rows, shown.n_features)
        nodes, clipped = _drawn_nodes(shown, max_depth)
        splits = [int(node) for node in nodes if shown.left[node] >= 0 and node not in clipped]
        # Other names may mean other things: these are names of coordinates, not of columns.
        words = {} if feature_names is not None else words_of_tree(fitted, shown, number, SIGNS)
        display = cls(
            tree=shown,
            nodes=nodes,
            clipped=clipped,
            hyperplanes={
                node: hyperplane_of(
                    shown, node, names, spread, fitted.date_origins, words.get(node)
                )
                for node in splits
            },
            class_names=checked_class_names(fitted, class_names),
            has_scores=holds_scores(fitted.trees),
            image_shape=shape,
            scaled_by=scaled_by,
            max_weights=checked_count("max_weights", max_weights, least=1),
            title=f"{fitted.model_name}, tree {place}" if tree is not None else "",
        )
        if rows is not None:
            display._count(fitted, rows, y)
        elif y is not None:
            raise ValueError("y was given without X; give the rows that it belongs to.")
        return display.plot(ax=ax)

    def _count(self, fitted: FittedModel, rows: Matrix, y: ArrayLike | None) -> None:
        """See which rows reach each node."""
        self.n_rows = node_totals(self.tree, rows).astype(np.int64)
        if y is None:
            return
        targets = checked_targets(fitted, rows, y)
        totals = node_totals(self.tree, rows, targets)
        if self.class_names is not None:
            self.class_counts = totals.astype(np.int64)
            return
        with np.errstate(invalid="ignore"):
            self.means = totals / self.n_rows[:, None]

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; letters shrink with it. None makes a figure in which they have 7.5
            points.

        Returns
        -------
        self
        """
        from spinney.inspection.plotting.tree_nodes import NodeWriter

        writer = NodeWriter(self)
        self.ax_ = axes_or_new(ax, writer.figure_size)
        self.figure_ = figure_of(self.ax_)
        if ax is None:
            writer.draw_in_new(self.ax_)
        else:
            writer.draw(self.ax_)
        return self


def plot_tree(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    tree: int | None = None,
    max_depth: int | None = DEEPEST,
    max_weights: int = MOST_WEIGHTS,
    image_shape: tuple[int, int] | None = None,
    feature_names: Names | None = None,
    class_names: Names | None = None,
    scale: ArrayLike | None = None,
    ax: Axes | None = None,
) -> TreeDisplay:
    """Draw a tree of a fitted model as a diagram.

    Parameters
    ----------
    model : Tree or fitted estimator
        Any tree or forest of the library.
    X : frame, array-like or sparse matrix, optional
        Rows to count at each node. With them weights are drawn times the standard deviation of
        their columns: what a hyperplane weighs, not the unit it is measured in.
    y : array-like, optional
        Targets of these rows: nodes show their classes, or their mean.
    tree : int, optional
        Which tree of a forest; needed there.
    max_depth : int or None, default=6
        Deepest nodes to draw; of what is below, the number of leaves is told. None draws all.
    max_weights : int, default=4
        Most bars of a split; the number of the others is told.
    image_shape : tuple of int, optional
        Height and width of images whose pixels are the columns: hyperplanes are drawn as
        pictures, red where bright pixels lead to *yes*, blue where they lead to *no*.
    feature_names, class_names : sequence of str, optional
        One name a coordinate of the hyperplanes, and one a class. Default: the model's own.
    scale : array-like of shape (n_coordinates,), optional
        What weights are multiplied by before they are compared and drawn. Default: the standard
        deviations in X, or 1 without X.
    ax : Axes, optional
        Where to draw. Default: a new figure as large as the tree needs.

    Returns
    -------
    TreeDisplay

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier
    >>> from spinney.inspection.plotting import plot_tree
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> display = plot_tree(tree, X, y)
    >>> display.figure_.savefig("tree.png")  # doctest: +SKIP
    """
    return TreeDisplay.from_estimator(
        model,
        X,
        y,
        tree=tree,
        max_depth=max_depth,
        max_weights=max_weights,
        image_shape=image_shape,
        feature_names=feature_names,
        class_names=class_names,
        scale=scale,
        ax=ax,
    )


def _drawn_nodes(tree: Tree, max_depth: int | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Nodes that are not too deep, and those of them that would have children."""
    deepest = tree.max_depth
    if max_depth is not None:
        deepest = checked_count("max_depth", max_depth, least=0)
    nodes = np.flatnonzero(tree.depth <= deepest).astype(np.int32)
    return nodes, nodes[(tree.depth[nodes] == deepest) & (tree.left[nodes] >= 0)]
