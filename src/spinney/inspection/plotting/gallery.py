"""Many hyperplanes of a tree or a forest side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Matrix
from spinney.data.wording import counted
from spinney.inspection.arguments import (
    Names,
    checked_count,
    checked_names,
    checked_spread,
    checked_targets,
)
from spinney.inspection.fitted_model import FittedModel, fitted_model
from spinney.inspection.plotting.canvas import axes_or_new, check_matplotlib, figure_of
from spinney.inspection.plotting.colors import PALE, QUIET, weight_colors
from spinney.inspection.plotting.hyperplane import (
    Hyperplane,
    checked_image_shape,
    draw_picture,
    hyperplane_of,
    picture_of,
)
from spinney.inspection.plotting.lettering import count, fitted_to, plain
from spinney.inspection.plotting.reached import node_totals
from spinney.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT_SIZE = 7.0
"""Points."""

ORDERS = ("rows", "importance", "tree")


@dataclass(eq=False, repr=False)
class HyperplaneGalleryDisplay:
    """Hyperplanes in a grid, as pictures or as bars; made by `from_estimator`.

    Attributes
    ----------
    hyperplanes : list of Hyperplane
        Those that are drawn, in their order.
    trees : int64 ndarray of shape (n_drawn,)
        Number of the tree of each.
    n_rows : int64 ndarray of shape (n_drawn,) or None
        Rows of X that reach each.
    importances : float64 ndarray of shape (n_drawn,) or None
        How much each parts the targets, if y was given: the decrease of the Gini impurity, or of
        the variance in units of that of y, times the share of the rows that reach the split.
    axes_ : ndarray of Axes
        One a hyperplane.
    ax_, figure_ : Axes, Figure
        The axes that hold them all, and their figure.
    """

    hyperplanes: list[Hyperplane]
    trees: NDArray[np.int64]
    n_rows: NDArray[np.int64] | None = None
    importances: NDArray[np.float64] | None = None
    image_shape: tuple[int, int] | None = None
    scaled_by: str | None = None
    n_columns: int = 6
    max_weights: int = 6
    n_all: int = 0
    axes_: NDArray[Any] = field(init=False)
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
        sort_by: str | None = None,
        max_planes: int = 24,
        n_columns: int | None = None,
        max_weights: int = 6,
        image_shape: tuple[int, int] | None = None,
        feature_names: Names | None = None,
        scale: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the hyperplanes of a fitted model.

        Parameters
        ----------
        model : Tree or fitted estimator
        X : frame, array-like or sparse matrix, optional
            Rows to count. With them weights are drawn times the standard deviation of their
            columns.
        y : array-like, optional
            Targets of these rows.
        tree : int, optional
            Take only this tree of a forest.
        sort_by : {"rows", "importance", "tree"}, optional
            Most rows first; largest decrease of impurity first, for which y is needed; or tree
            by tree from the root down. Default: "rows" with X, else "tree".
        max_planes : int, default=24
            Most hyperplanes to draw.
        n_columns : int, optional
            Columns of the grid. Default: 6 for pictures, 4 for bars.
        max_weights : int, default=6
            Most bars of one hyperplane.
        image_shape : tuple of int, optional
            Height and width of images whose pixels are the columns.
        feature_names : sequence of str, optional
            One name a coordinate of the hyperplanes. Default: the model's own.
        scale : array-like of shape (n_coordinates,), optional
            What weights are multiplied by. Default: standard deviations in X, or 1 without X.
        ax : Axes, optional
            Where to put the grid. Default: a new figure.

        Returns
        -------
        HyperplaneGalleryDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from spinney import TAOForestClassifier
        >>> from spinney.inspection.plotting import HyperplaneGalleryDisplay
        >>> X, y = load_digits(return_X_y=True)
        >>> forest = TAOForestClassifier(n_estimators=2, max_depth=3, random_state=0).fit(X, y)
        >>> display = HyperplaneGalleryDisplay.from_estimator(forest, X, image_shape=(8, 8))
        >>> int(display.n_rows[0])
        1797
        """
        check_matplotlib()
        fitted = fitted_model(model)
        chosen = list(enumerate(fitted.trees)) if tree is None else [fitted.tree(tree)]
        n_features = fitted.forest.n_features
        shape = checked_image_shape(image_shape, n_features)
        own = fitted.coordinate_names
        names = checked_names("feature_names", feature_names, own, "coordinates")
        rows = None if X is None else fitted.coordinates(X)
        spread, scaled_by = checked_spread(scale, rows, n_features)
        splits = _splits_of(chosen, fitted, rows, y)
        order = splits.order(sort_by)[: checked_count("max_planes", max_planes, least=1)]
        by_number = dict(chosen)
        planes = [
            hyperplane_of(by_number[number], node, names, spread)
            for number, node in zip(splits.trees[order], splits.nodes[order], strict=True)
        ]
        if n_columns is None:
            n_columns = 6 if shape else 4
        display = cls(
            hyperplanes=planes,
            trees=splits.trees[order],
            n_rows=None if splits.n_rows is None else splits.n_rows[order],
            importances=None if splits.importances is None else splits.importances[order],
            image_shape=shape,
            scaled_by=scaled_by,
            n_columns=checked_count("n_columns", n_columns, least=1),
            max_weights=checked_count("max_weights", max_weights, least=1),
            n_all=len(splits.trees),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the grid.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to put it. None makes a figure.

        Returns
        -------
        self
        """
        n_columns = max(min(self.n_columns, len(self.hyperplanes)), 1)
        n_lines = max(-(-len(self.hyperplanes) // n_columns), 1)
        width, height = (1.25, 1.5) if self.image_shape else (2.7, 1.55)
        size = max(width * n_columns, 4.5), height * n_lines + 0.6
        self.ax_ = axes_or_new(ax, size)
        self.figure_ = figure_of(self.ax_)
        self.ax_.set_axis_off()
        self.ax_.set_title(self._title(), fontsize=10)
        self.axes_ = np.array(
            [
                self._draw(place, _cell(self.ax_, divmod(place, n_columns), n_lines, n_columns))
                for place in range(len(self.hyperplanes))
            ],
            dtype=object,
        )
        return self

    def _draw(self, place: int, ax: Axes) -> Axes:
        """One hyperplane."""
        plane = self.hyperplanes[place]
        title = f"tree {self.trees[place]}, #{plane.node}"
        if self.n_rows is not None:
            title += f"\nn = {count(float(self.n_rows[place]))}"
        ax.set_title(title, fontsize=7.5, color=QUIET, pad=3)
        if self.image_shape is None:
            _draw_bars(ax, plane, self.max_weights)
        else:
            draw_picture(ax, picture_of(plane, self.image_shape), aspect="equal")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_color(PALE)
        return ax

    def _title(self) -> str:
        n_drawn = len(self.hyperplanes)
        which = f"{count(n_drawn)} of " if n_drawn < self.n_all else ""
        drawn = "weights" if self.scaled_by is None else f"weights × {self.scaled_by}"
        return f"{which}{counted(self.n_all, 'hyperplane')}: {drawn}"


@dataclass(frozen=True, eq=False)
class _Splits:
    """All splits of some trees, tree by tree."""

    trees: NDArray[np.int64]
    nodes: NDArray[np.int64]
    n_rows: NDArray[np.int64] | None
    importances: NDArray[np.float64] | None

    def order(self, sort_by: str | None) -> NDArray[np.intp]:
        """Places of the splits, those to draw first first."""
        if sort_by not in (None, *ORDERS):
            raise ValueError(f"sort_by={sort_by!r}; give one of {ORDERS}; try 'rows'.")
        if sort_by == "importance":
            if self.importances is None:
                raise ValueError("sort_by='importance' needs targets; give X and y.")
            return np.argsort(-self.importances, kind="stable")
        if sort_by == "rows" and self.n_rows is None:
            raise ValueError("sort_by='rows' needs rows to count; give X.")
        if sort_by == "tree" or self.n_rows is None:
            return np.arange(len(self.trees))
        return np.argsort(-self.n_rows, kind="stable")


def _splits_of(
    chosen: list[tuple[int, Tree]], fitted: FittedModel, rows: Matrix | None, y: ArrayLike | None
) -> _Splits:
    """All splits of the chosen trees, and what the rows and targets tell of them."""
    n_rows: list[NDArray[np.float64]] = []
    importances: list[NDArray[np.float64]] = []
    if rows is not None:
        n_rows = [node_totals(tree, rows)[tree.split_nodes] for _, tree in chosen]
    if y is not None:
        if rows is None:
            raise ValueError("y was given without X; give the rows that it belongs to.")
        targets = checked_targets(fitted, rows, y)
        importances = [impurity_decreases(tree, rows, targets) for _, tree in chosen]
    numbers = [np.full(len(tree.split_nodes), number) for number, tree in chosen]
    return _Splits(
        np.concatenate(numbers),
        np.concatenate([tree.split_nodes.astype(np.int64) for _, tree in chosen]),
        np.concatenate(n_rows).astype(np.int64) if n_rows else None,
        np.concatenate(importances) if importances else None,
    )


def impurity_decreases(
    tree: Tree, rows: Matrix, targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Decrease of the squared deviation of the targets at each split, as a share of all of it.

    Of 0/1 columns of classes the squared deviation is the Gini impurity.
    """
    centred = targets - targets.mean(axis=0)  # variances by the difference of squares lose less
    total = float((centred**2).sum()) or 1.0
    n_rows = node_totals(tree, rows)
    sums = node_totals(tree, rows, centred)
    explained = np.divide(
        (sums**2).sum(axis=1), n_rows, out=np.zeros(tree.n_nodes), where=n_rows > 0
    )
    splits = tree.split_nodes
    gained = explained[tree.left[splits]] + explained[tree.right[splits]] - explained[splits]
    decreases: NDArray[np.float64] = np.maximum(gained, 0.0) / total
    return decreases


def _cell(ax: Axes, place: tuple[int, int], n_lines: int, n_columns: int) -> Axes:
    """Axes in one cell of a grid inside `ax`."""
    line, column = place
    width, height = 1.0 / n_columns, 1.0 / n_lines
    inner = 0.06 * width, 0.08 * height
    return ax.inset_axes(
        (
            column * width + inner[0],
            1 - (line + 1) * height + inner[1],
            width - 2 * inner[0],
            0.74 * height,
        )
    )


def _draw_bars(ax: Axes, plane: Hyperplane, max_weights: int) -> None:
    """The largest weights with their names inside the axes, on the free side of each bar."""
    shown = plane.shown[:max_weights]
    places = np.arange(len(shown))
    ax.barh(places, shown, color=weight_colors(shown), height=0.75)
    ax.axvline(0, color=QUIET, linewidth=0.8)
    largest = float(np.abs(plane.shown).max()) if len(plane.shown) else 1.0
    half_width = 0.5 * ax.get_window_extent().width / figure_of(ax).dpi
    for place, (name, weight) in enumerate(zip(plane.names, shown.tolist(), strict=False)):
        is_right = weight > 0
        ax.text(
            -0.03 * largest if is_right else 0.03 * largest,
            place,
            plain(fitted_to(name, 0.92 * half_width, FONT_SIZE)),
            ha="right" if is_right else "left",
            va="center",
            fontsize=FONT_SIZE,
            clip_on=True,
        )
    ax.set_xlim(-1.05 * largest, 1.05 * largest)
    ax.set_ylim(max_weights - 0.4, -0.6)
