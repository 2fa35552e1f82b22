"""What a model of two columns predicts over the plane, with the lines of its splits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.inspection.arguments import (
    Names,
    check_predicts,
    checked_class_names,
    checked_count,
    checked_names,
)
from spinney.inspection.fitted_model import FittedModel, fitted_model
from spinney.inspection.plotting.canvas import axes_or_new, check_matplotlib, figure_of
from spinney.inspection.plotting.cells import Segments, split_segments
from spinney.inspection.plotting.colors import SEQUENTIAL, class_colors
from spinney.inspection.plotting.lettering import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 0.06
"""Room around the rows, as a share of their range."""

MOST_CLASSES_NAMED = 12


@dataclass(eq=False, repr=False)
class DecisionRegionsDisplay:
    """Predictions over the plane, and where splits act; made by `from_estimator`.

    The line of a split is drawn only inside the cell of its node, where it decides anything. Lines
    of deeper splits are thinner.

    Attributes
    ----------
    xx0, xx1 : float64 ndarray of shape (grid_resolution, grid_resolution)
        The grid: first and second column.
    response : ndarray of the same shape
        What the model predicts there: numbers, or places of classes in `class_names`.
    segments : Segments
        Lines of the splits: nodes, depths, trees and ends.
    class_names : list of str or None
        None of a regression.
    points, targets : ndarray or None
        Rows to draw over it, and the places of their classes or their numbers.
    ax_, figure_ : Axes, Figure
    surface_ : QuadMesh
        The regions.
    lines_ : LineCollection
        The segments.
    """

    xx0: NDArray[np.float64]
    xx1: NDArray[np.float64]
    response: NDArray[Any]
    segments: Segments
    class_names: list[str] | None = None
    points: NDArray[np.float64] | None = None
    targets: NDArray[Any] | None = None
    labels: tuple[str, str] = ("x0", "x1")
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)
    surface_: Any = field(init=False)
    lines_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        trees: str | int | None = "all",
        grid_resolution: int = 300,
        feature_names: Names | None = None,
        class_names: Names | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the regions of a model of two columns.

        Parameters
        ----------
        model : fitted estimator
            Fitted to two columns of numbers, for one target.
        X : frame or array-like of shape (n_rows, 2)
            Rows; they say how far the plane goes, and are drawn if y is given.
        y : array-like of shape (n_rows,), optional
            Targets of the rows, as their colours.
        trees : "all", int or None, default="all"
            Trees whose lines are drawn: all, one of them, or none.
        grid_resolution : int, default=300
            Points of the grid in each direction.
        feature_names, class_names : sequence of str, optional
            Default: the model's own.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        DecisionRegionsDisplay

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from spinney import TAOTreeClassifier
        >>> from spinney.inspection.plotting import DecisionRegionsDisplay
        >>> X, y = make_moons(noise=0.2, random_state=0)
        >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        >>> display = DecisionRegionsDisplay.from_estimator(tree, X, y)
        >>> display.segments.ends.shape[1:]
        (2, 2)
        """
        check_matplotlib()
        fitted = fitted_model(model)
        _check_plane(fitted)
        points = _as_points(X)
        n_points = checked_count("grid_resolution", grid_resolution, least=2)
        axes = [_stretch(points[:, column], n_points) for column in (0, 1)]
        xx0, xx1 = np.meshgrid(*axes)
        said = np.asarray(model.predict(_like(X, fitted, xx0.ravel(), xx1.ravel())))
        if said.ndim > 1:
            raise ValueError(
                f"the model predicts {said.shape[1]} numbers a row; give a model of one target."
            )
        classes = fitted.readout.classes
        frame = (axes[0][0], axes[0][-1], axes[1][0], axes[1][-1])
        labels = checked_names("feature_names", feature_names, fitted.column_names, "columns")
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=_places(said, classes).reshape(xx0.shape),
            segments=_segments(fitted, trees, frame),
            class_names=checked_class_names(fitted, class_names),
            points=None if y is None else points,
            targets=None if y is None else _places(np.asarray(y), classes),
            labels=(labels[0], labels[1]),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the regions.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax, (5.6, 4.6))
        self.figure_ = figure_of(self.ax_)
        colors = self._colors()
        self.surface_ = self.ax_.pcolormesh(
            self.xx0, self.xx1, self.response, shading="nearest", rasterized=True, **colors,
            alpha=0.4 if self.class_names else 1.0, linewidth=0, antialiased=False,
        )  # fmt: skip
        self._draw_lines()
        if self.points is not None:
            self.ax_.scatter(
                self.points[:, 0], self.points[:, 1], c=self.targets, s=16, linewidth=0.5, **colors,
                edgecolor="white" if self.class_names else "black",
            )  # fmt: skip
        self.ax_.set(xlim=self.xx0[0, [0, -1]], ylim=self.xx1[[0, -1], 0])
        self.ax_.set_xlabel(plain(self.labels[0], 50))
        self.ax_.set_ylabel(plain(self.labels[1], 50))
        self._draw_key()
        return self

    def _colors(self) -> dict[str, Any]:
        """Colours of regions and of rows alike."""
        if self.class_names is None:
            shown = [self.response.ravel(), *([] if self.targets is None else [self.targets])]
            values = np.concatenate(shown)
            return {"cmap": SEQUENTIAL, "vmin": float(values.min()), "vmax": float(values.max())}
        from matplotlib.colors import ListedColormap

        n_classes = len(self.class_names)
        # Rejected rows have no class and are grey.
        palette = ListedColormap(class_colors(n_classes)).with_extremes(under="#BBBBBB")
        return {"cmap": palette, "vmin": -0.5, "vmax": n_classes - 0.5}

    def _draw_lines(self) -> None:
        from matplotlib.collections import LineCollection

        n_trees = max(len(np.unique(self.segments.trees)), 1)
        widths = np.maximum(2.2 * 0.75**self.segments.depths, 0.6) / (1 if n_trees == 1 else 2)
        # Lines of many trees lie over each other: together they are as dark as those of one.
        self.lines_ = LineCollection(
            list(self.segments.ends),
            linewidths=widths.tolist(),
            colors="black" if self.class_names else "white",
            alpha=max(0.12, min(0.85, 2.0 / n_trees)),
            capstyle="round",
        )
        self.ax_.add_collection(self.lines_, autolim=False)

    def _draw_key(self) -> None:
        """Names of the classes, or the scale of the numbers."""
        if self.class_names is None:
            self.figure_.colorbar(self.surface_, ax=self.ax_, label="prediction (unit of y)")
            return
        if len(self.class_names) > MOST_CLASSES_NAMED:
            return
        from matplotlib.patches import Patch

        colors = class_colors(len(self.class_names))
        self.ax_.legend(
            [Patch(color=color) for color in colors],
            [plain(name) for name in self.class_names],
            fontsize=8,
            framealpha=0.9,
            loc="best",
        )


def _check_plane(fitted: FittedModel) -> None:
    """Raise unless a model reads two columns of numbers."""
    check_predicts(fitted.model)
    if fitted.n_columns != 2:
        raise ValueError(
            f"the model reads {fitted.n_columns} columns; regions are drawn for 2; try a "
            "model of two columns, or sklearn.inspection.DecisionBoundaryDisplay."
        )
    if fitted.encoding is not None and not fitted.encoding.is_numeric:
        raise ValueError(
            "the model reads categories, text or dates, which are no axis of a plane; give a model "
            "of two columns of numbers."
        )


def _segments(
    fitted: FittedModel, trees: str | int | None, frame: tuple[float, float, float, float]
) -> Segments:
    """Lines of the chosen trees, tree by tree."""
    if trees is None:
        chosen = []
    elif trees == "all":
        chosen = list(enumerate(fitted.trees))
    elif isinstance(trees, str):
        raise ValueError(f"trees={trees!r}; give 'all', the number of a tree, or None.")
    else:
        chosen = [fitted.tree(trees)]
    coordinates = _coordinates(fitted.encoding)
    parts = [split_segments(tree, coordinates, frame, number) for number, tree in chosen]
    none = np.empty(0, dtype=np.int64)
    return Segments(
        np.concatenate([none, *(part.nodes for part in parts)]),
        np.concatenate([none, *(part.depths for part in parts)]),
        np.concatenate([none, *(part.trees for part in parts)]),
        np.concatenate([np.empty((0, 2, 2)), *(part.ends for part in parts)]),
    )


def _coordinates(encoding: Any) -> tuple[int, int]:
    """Coordinates of the two columns; flags of missing values are 0 all over the plane."""
    return (0, 1) if encoding is None else (int(encoding.first[0]), int(encoding.first[1]))


def _as_points(X: Any) -> NDArray[np.float64]:
    dense = X.toarray() if hasattr(X, "toarray") else X
    points = np.asarray(dense, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise ValueError(f"X has shape {points.shape}; give rows of two columns, (n_rows, 2).")
    return points


def _stretch(values: NDArray[np.float64], n_points: int) -> NDArray[np.float64]:
    """Evenly spaced points over the range of the values and a little more."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = MARGIN * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, n_points)


def _like(
    X: Any, fitted: FittedModel, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Any:
    """Rows in a frame if the model knows the names of its columns, else in an array."""
    if fitted.given_names is None:
        return np.column_stack([first, second])
    import narwhals as nw

    columns = dict(zip(fitted.given_names, (first, second), strict=True))
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return np.column_stack([first, second])
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def _places(values: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    """Place of each class, -1 for rows without one; numbers as they are."""
    if classes is None:
        return values.astype(np.float64)
    is_class = values[:, None] == np.asarray(classes)[None, :]
    return np.where(is_class.any(axis=1), is_class.argmax(axis=1), -1)
