"""The regularisation path: error and size against alpha."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.inspection.plotting.canvas import (
    axes_or_new,
    check_matplotlib,
    figure_of,
    foreground,
    log_scale,
    put_behind,
)
from spinney.inspection.plotting.colors import FEW, QUIET
from spinney.inspection.plotting.lettering import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZES = {"n_parameters": "parameters", "n_leaves": "leaves"}


class PathLike(Protocol):
    """What `spinney.regularization_path` returns: a frozen value, hence properties."""

    @property
    def alphas(self) -> NDArray[np.float64]:
        """Weights of the penalty, in the order of fitting."""

    @property
    def train_error(self) -> NDArray[np.float64]:
        """Mean loss of a training row, one an `alpha`."""

    @property
    def validation_error(self) -> NDArray[np.float64] | None:
        """Mean loss of a row that was not fitted, if there were such."""

    @property
    def validation_standard_error(self) -> NDArray[np.float64] | None:
        """Its standard error."""

    def best_index(self, *, one_standard_error: bool = False) -> int:
        """Place of the tree to use."""


@dataclass(eq=False, repr=False)
class RegularizationPathDisplay:
    """Error and size of trees against `alpha`; made by `from_estimator` or `from_path`.

    Attributes
    ----------
    alphas, train_error : float64 ndarray of shape (n_alphas,)
        By rising `alpha`.
    validation_error, validation_standard_error : float64 ndarray of shape (n_alphas,) or None
    sizes : int64 ndarray of shape (n_alphas,)
        Parameters or leaves.
    best_alpha, simplest_alpha : float or None
        The `alpha` of least validation error, and the largest within one standard error of it.
    path_ : RegularizationPath
        What is drawn, with its trees.
    ax_, figure_ : Axes, Figure
        For the errors.
    ax_size_ : Axes
        The axis on the right, for the sizes.
    """

    alphas: NDArray[np.float64]
    train_error: NDArray[np.float64]
    sizes: NDArray[np.int64]
    validation_error: NDArray[np.float64] | None = None
    validation_standard_error: NDArray[np.float64] | None = None
    best_alpha: float | None = None
    simplest_alpha: float | None = None
    size: str = "n_parameters"
    error_name: str = "mean loss of a row"
    path_: PathLike = field(init=False)
    ax_: Axes = field(init=False)
    ax_size_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        alphas: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        cv: Any = None,
        size: str = "n_parameters",
        ax: Axes | None = None,
    ) -> Self:
        """Fit a regularisation path and draw it, as scikit-learn's validation curve does.

        Parameters
        ----------
        estimator : TAOTreeClassifier or TAOTreeRegressor
            Says how trees are fitted. It need not be fitted, and it is not changed.
        X, y : array-like of shapes (n_rows, n_features) and (n_rows,) or (n_rows, n_outputs)
            Training rows.
        alphas, sample_weight, X_val, y_val, cv : array-like, splitter or None, default=None
            As of :func:`spinney.regularization_path`. Without validation rows and folds only the
            training error is drawn, and no `alpha` is chosen.
        size : {"n_parameters", "n_leaves"}, default="n_parameters"
            What to show of the size.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        RegularizationPathDisplay
            Its `path_` holds the trees, so that none need be fitted again.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOTreeClassifier
        >>> from spinney.inspection.plotting import RegularizationPathDisplay
        >>> tree = TAOTreeClassifier(max_depth=3, random_state=0)
        >>> X, y = load_iris(return_X_y=True)
        >>> display = RegularizationPathDisplay.from_estimator(tree, X, y, alphas=[1, 10], cv=3)
        >>> tree = display.path_.best_estimator()
        """
        # By the public name: displays lie below the estimators, and no other one fits any.
        from spinney import regularization_path

        check_matplotlib()
        _check_size(size)
        path = regularization_path(
            estimator, X, y, alphas=alphas, sample_weight=sample_weight, X_val=X_val, y_val=y_val,
            cv=cv,
        )  # fmt: skip
        return cls.from_path(path, size=size, ax=ax)

    @classmethod
    def from_path(
        cls, path: PathLike, *, size: str = "n_parameters", ax: Axes | None = None
    ) -> Self:
        """Draw a regularisation path.

        Parameters
        ----------
        path : RegularizationPath
            What :func:`spinney.regularization_path` returns.
        size : {"n_parameters", "n_leaves"}, default="n_parameters"
            What to show of the size.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        RegularizationPathDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOTreeClassifier, regularization_path
        >>> from spinney.inspection.plotting import RegularizationPathDisplay
        >>> tree = TAOTreeClassifier(max_depth=3, random_state=0)
        >>> path = regularization_path(tree, *load_iris(return_X_y=True), cv=3)
        >>> display = RegularizationPathDisplay.from_path(path)
        """
        check_matplotlib()
        _check_size(size)
        order = np.argsort(path.alphas, kind="stable")
        error, deviation = path.validation_error, path.validation_standard_error
        has_error = error is not None and deviation is not None
        display = cls(
            alphas=path.alphas[order],
            train_error=path.train_error[order],
            sizes=getattr(path, size)[order],
            validation_error=None if error is None else error[order],
            validation_standard_error=None if deviation is None else deviation[order],
            size=size,
            error_name=_error_name(path),
        )
        display.path_ = path
        if has_error:
            display.best_alpha = float(path.alphas[path.best_index()])
            simplest = path.best_index(one_standard_error=True)
            display.simplest_alpha = float(path.alphas[simplest])
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = figure_of(self.ax_)
        self.ax_size_ = self.ax_.twinx()
        places = self._places(self.alphas)
        style: dict[str, Any] = {"marker": "o", "markersize": 4}
        lines = self.ax_.plot(places, self.train_error, color=FEW[4], label="training", **style)
        if self.validation_error is not None:
            lines += self._draw_validation(places, style)
        lines += self.ax_size_.plot(
            places, self.sizes, color=QUIET, linestyle="--", marker="s", markersize=3,
            label=SIZES[self.size],
        )  # fmt: skip
        self._label_axes()
        labels = [str(line.get_label()) for line in lines]
        # Below the axes: lines of two scales leave no corner free.
        self.ax_.legend(
            lines, labels, frameon=False, fontsize=9, loc="upper center",
            bbox_to_anchor=(0.5, -0.16), ncols=2,
        )  # fmt: skip
        return self

    def _draw_validation(self, places: NDArray[np.float64], style: dict[str, Any]) -> list[Any]:
        """The error on other rows, its standard error, and the choices of alpha."""
        assert self.validation_error is not None
        lines = self.ax_.plot(
            places, self.validation_error, color=FEW[5], label="validation", **style
        )
        if self.validation_standard_error is not None:
            low = self.validation_error - self.validation_standard_error
            high = self.validation_error + self.validation_standard_error
            self.ax_.fill_between(places, low, high, color=FEW[5], alpha=0.15, linewidth=0)
        color = foreground(self.ax_)
        for alpha, name, dash in (
            (self.best_alpha, "least error", "-"),
            (self.simplest_alpha, "within one standard error", ":"),
        ):
            if alpha is not None:
                place = float(self._places(np.array([alpha]))[0])
                label = f"{name}: alpha = {number(alpha)}"
                lines.append(
                    self.ax_.axvline(place, color=color, linewidth=1, linestyle=dash, label=label)
                )
        return lines

    def _places(self, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where to draw each alpha on a logarithmic axis: 0 one decade below all others."""
        return np.where(alphas > 0, alphas, self._place_of_zero())

    def _place_of_zero(self) -> float:
        positive = self.alphas[self.alphas > 0]
        return float(positive.min()) / 10 if len(positive) else 1.0

    def _label_axes(self) -> None:
        log_scale(self.ax_, "x")
        if (self.alphas == 0).any():
            self._tick_zero()
        self.ax_.set_xlabel("alpha (weight of the penalty)")
        self.ax_.set_ylabel(self.error_name)
        self.ax_.set_ylim(bottom=min(0.0, float(self.train_error.min())))
        self.ax_size_.set_ylabel(SIZES[self.size], color=QUIET)
        if self.sizes.min() > 0:
            log_scale(self.ax_size_, "y")
        put_behind(self.ax_size_, self.ax_)
        self.ax_.set_title("Regularisation path")

    def _tick_zero(self) -> None:
        """Decades as ticks, and one for alpha = 0."""
        zero = self._place_of_zero()
        positive = self.alphas[self.alphas > 0]
        if len(positive):
            first = np.ceil(np.log10(positive.min()))
            decades = 10.0 ** np.arange(first, np.log10(positive.max()) + 1e-9)
        else:
            decades = np.empty(0)
        ticks = [zero, *decades.tolist()]
        self.ax_.set_xticks(ticks, ["0", *(number(decade) for decade in decades.tolist())])
        self.ax_.minorticks_off()


def _check_size(size: str) -> None:
    if size not in SIZES:
        raise ValueError(f"size={size!r}; give one of {tuple(SIZES)}; try 'n_parameters'.")


def _error_name(path: PathLike) -> str:
    """The estimator's own loss in words."""
    losses = {getattr(tree, "loss", "") for tree in getattr(path, "estimators", ())}
    if losses == {"zero_one"}:
        return "error (share of rows)"
    if len(losses) != 1:
        return "mean loss of a row"
    return f"mean {losses.pop().replace('_', ' ')} of a row"
