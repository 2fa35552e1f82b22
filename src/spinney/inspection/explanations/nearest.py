"""The smallest change of a row that changes what a model says of it.

The arguments become a `ChangeTask`: a goal, numbers that may move and categories that may change.
:mod:`~spinney.inspection.explanations.change_search` searches it, and
:mod:`~spinney.inspection.explanations.change_result` writes the best change into the row.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from spinney.data.tables import warned_once
from spinney.inspection.explanations.candidate import Search
from spinney.inspection.explanations.change import NearestChange
from spinney.inspection.explanations.change_arguments import read_limits
from spinney.inspection.explanations.change_result import no_change, no_change_needed, result_of
from spinney.inspection.explanations.change_search import search_change
from spinney.inspection.explanations.change_task import ChangeTask
from spinney.inspection.explanations.explain_row import prediction_of
from spinney.inspection.explanations.goal import read_goal
from spinney.inspection.explanations.projection import SOLVERS
from spinney.inspection.explanations.row import read_row
from spinney.inspection.fitted_model import fitted_estimator

Key = str | int


@warned_once
def nearest_change(
    model: object,
    x: ArrayLike,
    *,
    target: object = None,
    output: int = 0,
    features: Iterable[Key] | None = None,
    bounds: Mapping[Key, Any] | str | None = None,
    directions: Mapping[Key, str] | None = None,
    integer: Iterable[Key] | None = None,
    max_changes: int | None = None,
    norm: str = "l2",
    scale: float | ArrayLike | Mapping[Key, float] | None = None,
    data: ArrayLike | None = None,
    budget: float = 5.0,
) -> NearestChange:
    """Find the smallest change of a row that changes its prediction.

    For a model of one tree it is exact: each leaf with a wanted answer is a polyhedron, and the
    nearest point of each is found by a small quadratic or linear programme. For a forest it is a
    good change that the model confirms, which nothing tried could shorten.

    Parameters
    ----------
    model : fitted estimator of spinney
    x : array-like of shape (n_features,) or (1, n_features), sparse row, frame of one row
        The row, as ``predict`` takes it; also a pandas Series or a list.
    target : label, or (low, high)
        The class to reach; None is any other than the present one. For regression an interval,
        with None where there is no bound.
    output : int, default=0
        Which number of a regression with several is to get into the interval.
    features : iterable of names or numbers, optional
        Columns that may change. Default: all.
    bounds : dict or "data", optional
        From columns to (low, high), None for no bound; of categories, a list of allowed levels.
        "data": every number stays in the range that it has in `data`.
    directions : dict, optional
        From columns to "up", "down" or "both".
    integer : iterable of names or numbers, optional
        Columns that change by whole numbers. Default: those whose dtype says so, integers, truth
        values and dates without a time.
    max_changes : int, optional
        Most columns that may change. Default: any number.
    norm : {"l2", "l1"}, default="l2"
        Size of a change: the root of the sum of squares, or the sum; "l1" tends to few columns.
    scale : float, array-like of shape (n_features,) or dict, optional
        What counts as a change of 1 in each column. A category that changes counts 1 / scale, by
        default 1. Default: standard deviations in `data`. One of the two is needed, unless at most
        one number may change.
    data : frame, array-like or sparse matrix of shape (n_rows, n_features), optional
        Rows whose standard deviations are the scale, for instance those of training. Columns that
        are constant there stay. For a forest they are starts of the search as well.
    budget : float, default=5.0
        Seconds after which a search ends with what it has.

    Returns
    -------
    NearestChange
        The changed row in the container of `x`, and what changed. It also says if there is none.

    Notes
    -----
    A number that is missing in x stays missing. Categories change to levels that training had.
    Up to 2000 combinations of levels are tried, those of few changes first; with more of them, the
    result is not exact. Whole numbers and `max_changes` are found by branch and bound.

    One side of a hyperplane is open, and rows are float32: the change ends just beyond the
    boundary, by some 1e-6 of the sums there, and is confirmed by the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import spinney
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> change = spinney.nearest_change(
    ...     tree, X.iloc[[100]], data=X, features=["petal length (cm)", "petal width (cm)"]
    ... )
    >>> change.is_exact, change.prediction, change.new_prediction
    (True, 2, 1)
    >>> bool(tree.predict(change.changed)[0] == 1)
    True
    """
    fitted = fitted_estimator(model)
    row = read_row(x, fitted.n_columns)
    coordinates = fitted.dense_coordinates(row.matrix)
    _check_options(norm, max_changes, budget)
    totals = fitted.totals(coordinates)
    goal = read_goal(fitted, totals, target, output)
    limits = read_limits(fitted, row, features, bounds, directions, integer, scale, data)
    moves, choices = limits.moves(), limits.choices()
    if scale is None and data is None and len(moves) > 1:
        raise ValueError(
            f"{len(moves)} numbers may change, but nothing says how changes of them compare; give "
            "data, whose standard deviations are the scale, or scale; try data=X_train."
        )
    prediction = prediction_of(fitted, totals)
    if goal.is_met(totals)[0]:
        return no_change_needed(row, prediction, norm)
    if not goal.is_wanted.any():
        return no_change("the model knows no other class", prediction, norm, is_exact=True)
    most = len(moves) + len(choices) if max_changes is None else int(max_changes)
    task = ChangeTask(fitted, row, coordinates[0], goal, moves, choices, norm, most)
    search = Search(time.monotonic() + budget)
    is_exact = search_change(task, search, data)
    return result_of(task, search, prediction, is_exact)


def _check_options(norm: str, max_changes: int | None, budget: float) -> None:
    if norm not in SOLVERS:
        raise ValueError(f'norm={norm!r}; give "l2" or "l1".')
    is_count = isinstance(max_changes, numbers.Integral) and not isinstance(max_changes, bool)
    if max_changes is not None and (not is_count or max_changes < 1):
        raise ValueError(f"max_changes={max_changes!r}; give an integer >= 1, or None for any.")
    if not isinstance(budget, numbers.Real) or not budget > 0:
        raise ValueError(f"budget={budget!r}; give seconds above 0.")
