"""Importance of the columns, and how far the trees of a forest agree on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.inspection.arguments import Names, checked_count, checked_names
from spinney.inspection.fitted_model import fitted_model
from spinney.inspection.plotting.canvas import axes_or_new, check_matplotlib, figure_of, foreground
from spinney.inspection.plotting.colors import FEW, QUIET
from spinney.inspection.plotting.lettering import plain
from spinney.inspection.plotting.tree_importances import (
    TYPES,
    checked_type,
    gain_shares,
    weight_shares,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DOTS = 50
"""Most trees that are drawn as dots of their own."""


@dataclass(eq=False, repr=False)
class FeatureImportanceDisplay:
    """Mean importance of each column as a bar, its spread as a line, each tree as a dot.

    Attributes
    ----------
    importances : float64 ndarray of shape (n_trees, n_columns)
        Importance of each column in each tree.
    mean, spread : float64 ndarray of shape (n_columns,)
        Mean over the trees, by their weights in the model, and standard deviation about it.
    names : list of str
        Names of the columns.
    order : intp ndarray
        Columns that are drawn, the most important first.
    ax_, figure_ : Axes, Figure
    bars_ : BarContainer
    """

    importances: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    names: list[str]
    order: NDArray[np.intp]
    what: str = "importance"
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)
    bars_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        importance_type: str | None = None,
        max_features: int = 20,
        feature_names: Names | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the importances of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            Any tree or forest of the library.
        X : frame, array-like or sparse matrix of shape (n_rows, n_columns)
            Rows by which the trees are judged.
        y : array-like or None, default=None
            Their targets. With ``importance_type="gain"`` they are needed to tell the trees apart:
            without, the bars are `feature_importances_`, and no tree has a dot. With the training
            rows and targets, all of one weight, the means are `feature_importances_` too; where
            categories became means of the target, nearly so.
        importance_type : {"gain", "weight"} or None, default=None
            How much the splits on a column lower the loss, beyond chance, or its share in the
            weights of the splits, which needs no targets. None is that of the model.
        max_features : int, default=20
            Most columns to draw.
        feature_names : sequence of str, optional
            One name a column. Default: the model's own.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        FeatureImportanceDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOForestClassifier
        >>> from spinney.inspection.plotting import FeatureImportanceDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = TAOForestClassifier(n_estimators=4, max_depth=2, random_state=0).fit(X, y)
        >>> display = FeatureImportanceDisplay.from_estimator(forest, X, y)
        >>> display.importances.shape
        (4, 4)
        """
        check_matplotlib()
        fitted = fitted_model(model)
        names = checked_names("feature_names", feature_names, fitted.column_names, "columns")
        kind = checked_type(fitted, importance_type)
        found = gain_shares(fitted, X, y) if kind == "gain" else weight_shares(fitted, X)
        return cls._of(*found, list(names), max_features, TYPES[kind], ax)

    @classmethod
    def from_importances(
        cls,
        importances: ArrayLike,
        *,
        feature_names: Names | None = None,
        max_features: int = 20,
        what: str = "importance",
        ax: Axes | None = None,
    ) -> Self:
        """Draw importances that were found elsewhere, for instance by permutations.

        Parameters
        ----------
        importances : array-like of shape (n_repeats, n_columns)
            One row a tree or a repetition. The `importances` that scikit-learn's
            ``permutation_importance`` returns are the other way round: give ``importances.T``.
        feature_names : sequence of str, optional
            One name a column. Default: ``x0``, ``x1``, ...
        max_features : int, default=20
            Most columns to draw.
        what : str, default="importance"
            What is on the horizontal axis, with its unit.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        FeatureImportanceDisplay
        """
        check_matplotlib()
        values = np.asarray(importances, dtype=np.float64)
        if values.ndim != 2 or 0 in values.shape:
            raise ValueError(
                f"importances has shape {values.shape}; give (n_repeats, n_columns); try "
                "result.importances.T."
            )
        unnamed = [f"x{column}" for column in range(values.shape[1])]
        names = [str(name) for name in (unnamed if feature_names is None else feature_names)]
        if len(names) != values.shape[1]:
            raise ValueError(
                f"feature_names has {len(names)} names for {values.shape[1]} columns; give one "
                "each; try result.importances.T if importances are the other way round."
            )
        shares = np.full(len(values), 1.0 / len(values))
        return cls._of(values, shares, names, max_features, what, ax)

    @classmethod
    def _of(
        cls,
        importances: NDArray[np.float64],
        shares: NDArray[np.float64],
        names: list[str],
        max_features: int,
        what: str,
        ax: Axes | None,
    ) -> Self:
        """Means and spreads, and the plot of them."""
        mean = shares @ importances
        spread = np.sqrt(shares @ (importances - mean) ** 2)
        n_drawn = checked_count("max_features", max_features, least=1)
        order = np.argsort(-mean, kind="stable")[:n_drawn]
        return cls(importances, mean, spread, names, order, what).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        self
        """
        n_trees, n_drawn = len(self.importances), len(self.order)
        self.ax_ = axes_or_new(ax, (6.4, 1.3 + 0.26 * n_drawn))
        self.figure_ = figure_of(self.ax_)
        places = np.arange(n_drawn)
        self.bars_ = self.ax_.barh(
            places,
            self.mean[self.order],
            xerr=self.spread[self.order] if n_trees > 1 else None,
            color=FEW[4],
            error_kw={"ecolor": foreground(self.ax_), "elinewidth": 1, "capsize": 2},
            height=0.75,
        )
        if 1 < n_trees <= MOST_DOTS:
            values = self.importances[:, self.order]
            height = np.tile(places, (n_trees, 1))
            self.ax_.plot(
                values.ravel(), height.ravel(), ".", color=FEW[0], markersize=3, alpha=0.6
            )
        self.ax_.set_yticks(places, [plain(self.names[column]) for column in self.order])
        self.ax_.set_ylim(n_drawn - 0.4, -0.6)
        self.ax_.axvline(0, color=QUIET, linewidth=0.8)
        self.ax_.set_xlabel(plain(self.what, 60))
        n_all = len(self.mean)
        self.ax_.set_title("Importance" if n_drawn == n_all else f"{n_drawn} of {n_all} columns")
        if self.importances.min() >= 0:
            self.ax_.set_xlim(left=0)
        return self
