"""Error against the number of trees, or of parameters, of one or several models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from spinney.inspection.arguments import check_predicts
from spinney.inspection.plotting.canvas import (
    axes_or_new,
    check_matplotlib,
    figure_of,
    log_scale,
    whole_numbers,
)
from spinney.inspection.plotting.colors import FEW, line_colors
from spinney.inspection.plotting.lettering import number, plain
from spinney.inspection.plotting.staged import Stage, staged_parameters, staged_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Metric: TypeAlias = Callable[[Any, Any], float]

AGAINST = {"trees": "trees", "parameters": "parameters"}
SHARE_WRONG, ROOT_MEAN_SQUARE = "error (% of rows)", "root mean squared error (unit of y)"
LINESTYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Error of one model as it grows.

    Attributes
    ----------
    name : str
    n_trees : int64 ndarray of shape (n_stages,)
    errors : float64 ndarray of shape (n_stages,)
    n_parameters : int64 ndarray of shape (n_stages,) or None
    """

    name: str
    n_trees: NDArray[np.int64]
    errors: NDArray[np.float64]
    n_parameters: NDArray[np.int64] | None = None


@dataclass(eq=False, repr=False)
class ErrorCurveDisplay:
    """Error against trees or parameters, one line a model.

    Attributes
    ----------
    curves : list of ErrorCurve
        The numbers behind the lines.
    against : {"trees", "parameters"}
    error_name : str
        What is on the vertical axis.
    ax_, figure_ : Axes, Figure
    lines_ : list of Line2D
    """

    curves: list[ErrorCurve]
    against: str = "trees"
    error_name: str = SHARE_WRONG
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)
    lines_: list[Any] = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike,
        *,
        against: str = "trees",
        metric: Metric | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the error of one model; see `from_estimators` for the parameters."""
        named = {type(model).__name__ if name is None else name: model}
        return cls.from_estimators(named, X, y, against=against, metric=metric, ax=ax)

    @classmethod
    def from_estimators(
        cls,
        models: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        against: str = "trees",
        metric: Metric | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the errors of several models on the same rows.

        Parameters
        ----------
        models : mapping from name to fitted estimator
            Trees and forests of this library; random forests, extra trees and boosting of
            scikit-learn beside them. A single tree, and a forest whose trees mean nothing without
            each other, is a point; FAO forests have a point for each forest.
        X, y : rows and their targets
            Rows that the models were not fitted to.
        against : {"trees", "parameters"}, default="trees"
            What is on the horizontal axis. Parameters are counted as in `n_parameters_`, and the
            axis is logarithmic.
        metric : callable ``(y, predictions) -> float``, optional
            Default: share of wrong rows, or for numbers the root mean squared error.
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        ErrorCurveDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOBoostClassifier
        >>> from spinney.inspection.plotting import ErrorCurveDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> boosting = TAOBoostClassifier(5, max_depth=2, random_state=0).fit(X[::2], y[::2])
        >>> display = ErrorCurveDisplay.from_estimator(boosting, X[1::2], y[1::2])
        >>> display.curves[0].n_trees.tolist()
        [1, 2, 3, 4, 5]
        """
        check_matplotlib()
        _check_against(against)
        if not models:
            raise ValueError("models is empty; give at least one.")
        for model in models.values():
            check_predicts(model)
        measure, error_name = _measure(metric, list(models.values()))
        curves = []
        for name, model in models.items():
            n_parameters = staged_parameters(model)
            curves.append(_curve(name, staged_predictions(model, X), y, measure, n_parameters))
        return cls(curves, against, error_name).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        predictions: Iterable[ArrayLike],
        *,
        metric: Metric | None = None,
        name: str = "model",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the error of predictions of one tree, two trees, and so on.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Targets.
        predictions : iterable of array-like of shape (n_rows,)
            What a model predicts after each tree, for instance its ``staged_predict(X)``.
        metric : callable ``(y, prediction) -> float``, optional
            Default: the share of wrong rows.
        name : str, default="model"
        ax : Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        ErrorCurveDisplay
        """
        check_matplotlib()
        measure = share_wrong if metric is None else metric
        stages = ((number, np.asarray(said)) for number, said in enumerate(predictions, start=1))
        error_name = SHARE_WRONG if metric is None else _name_of(metric)
        return cls([_curve(name, stages, y, measure)], "trees", error_name).plot(ax=ax)

    def plot(self, *, against: str | None = None, ax: Axes | None = None) -> Self:
        """Draw the lines.

        Parameters
        ----------
        against : {"trees", "parameters"} or None, default=None
            What is on the horizontal axis. None: as before.
        ax : Axes or None, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        self
        """
        if against is not None:
            _check_against(against)
            self.against = against
        places = [self._places(curve) for curve in self.curves]
        self.ax_ = axes_or_new(ax)
        self.figure_ = figure_of(self.ax_)
        colors = line_colors(len(self.curves))
        self.lines_ = [
            self.ax_.plot(
                places[number],
                curve.errors,
                color=colors[number],
                **_style(len(curve.errors), number // len(FEW)),
            )[0]
            for number, curve in enumerate(self.curves)
        ]
        self._label()
        return self

    def _places(self, curve: ErrorCurve) -> NDArray[np.int64]:
        if self.against == "trees":
            return curve.n_trees
        if curve.n_parameters is None:
            raise ValueError(
                f"the parameters of {curve.name!r} cannot be counted; give models of spinney, or "
                "random forests of scikit-learn; try against='trees'."
            )
        return curve.n_parameters

    def _label(self) -> None:
        from matplotlib.ticker import FuncFormatter

        self.ax_.set_xlabel(AGAINST[self.against])
        self.ax_.set_ylabel(self.error_name)
        if self.error_name == SHARE_WRONG:
            self.ax_.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(100 * value)))
        if self.against == "parameters":
            log_scale(self.ax_, "x")
        else:
            whole_numbers(self.ax_)
        self.ax_.grid(alpha=0.3)
        self.ax_.set_title(f"Error against {AGAINST[self.against]}")
        names = [plain(curve.name) for curve in self.curves]
        self.ax_.legend(self.lines_, names, frameon=False, fontsize=9)


def share_wrong(y: ArrayLike, predictions: ArrayLike) -> float:
    """Share of rows whose class is wrong."""
    return float(np.mean(np.asarray(y) != np.asarray(predictions)))


def root_mean_square(y: ArrayLike, predictions: ArrayLike) -> float:
    """Root of the mean squared error, over all outputs."""
    return float(np.sqrt(np.mean((np.asarray(y, float) - np.asarray(predictions, float)) ** 2)))


def _curve(
    name: str,
    stages: Iterable[Stage],
    y: ArrayLike,
    measure: Metric,
    n_parameters: NDArray[np.int64] | None = None,
) -> ErrorCurve:
    """Errors of all stages."""
    measured = [(number, float(measure(y, said))) for number, said in stages]
    n_trees = np.array([number for number, _ in measured], dtype=np.int64)
    errors = np.array([error for _, error in measured])
    if n_parameters is not None:
        n_parameters = n_parameters[n_trees - 1]
    return ErrorCurve(str(name), n_trees, errors, n_parameters)


def _measure(metric: Metric | None, models: list[Any]) -> tuple[Metric, str]:
    """How errors are measured, and what that is called."""
    if metric is not None:
        return metric, _name_of(metric)
    are_classifiers = {bool(is_classifier(model)) for model in models}
    if len(are_classifiers) > 1:
        raise ValueError(
            "models predict classes and numbers; give models of one kind; try two plots."
        )
    if are_classifiers.pop():
        return share_wrong, SHARE_WRONG
    return root_mean_square, ROOT_MEAN_SQUARE


def _name_of(metric: Metric) -> str:
    return plain(getattr(metric, "__name__", "error").replace("_", " "))


def _style(n_points: int, n_rounds: int) -> dict[str, Any]:
    """A star for a single point, else a line, with dots if they are few.

    Lines are of another kind in each round through the colours.
    """
    if n_points == 1:
        return {"marker": "*", "markersize": 11, "linestyle": "none"}
    line = {"linestyle": LINESTYLES[n_rounds % len(LINESTYLES)]}
    return {"marker": "o", "markersize": 3.5, **line} if n_points <= 30 else line


def _check_against(against: str) -> None:
    if against not in AGAINST:
        raise ValueError(f"against={against!r}; give one of {tuple(AGAINST)}; try 'trees'.")
