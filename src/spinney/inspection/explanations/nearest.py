"""The smallest change of a row that changes what a model says of it."""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data.tables import warned_once
from spinney.inspection.explanations.branch import Steps
from spinney.inspection.explanations.candidate import Candidate, Search, Setting, level_costs
from spinney.inspection.explanations.change import FeatureChange, NearestChange
from spinney.inspection.explanations.change_limits import (
    Asked,
    chosen_columns,
    read_bounds,
    read_directions,
    read_scale,
)
from spinney.inspection.explanations.goal import Goal, read_goal
from spinney.inspection.explanations.many_trees import search_forest
from spinney.inspection.explanations.moves import Choice, Moves
from spinney.inspection.explanations.one_tree import search_tree
from spinney.inspection.explanations.paths import prediction_of
from spinney.inspection.explanations.projection import SOLVERS, Floats
from spinney.inspection.explanations.proof import prove
from spinney.inspection.explanations.row import OneRow, Value, read_row
from spinney.inspection.explanations.space import Space
from spinney.inspection.fitted_model import FittedModel, fitted_estimator

#: Combinations of levels that are tried, at most.
MOST_COMBINATIONS = 2000

#: Combinations of levels for which a forest is searched where a proof does not end.
MOST_SEARCHES = 16

#: Rows of `data` that a search for a forest begins at.
MOST_HINTS = 200

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
    row = read_row(x, len(fitted.column_names))
    coordinates = fitted.dense_coordinates(row.matrix)
    _check_options(norm, max_changes, budget)
    totals = fitted.totals(coordinates)
    goal = read_goal(fitted, totals, target, output)
    asked = _read_asked(fitted, row, features, bounds, directions, integer, scale, data)
    moves, choices = asked.moves(), asked.choices()
    if scale is None and data is None and len(moves) > 1:
        raise ValueError(
            f"{len(moves)} numbers may change, but nothing says how changes of them compare; give "
            "data, whose standard deviations are the scale, or scale; try data=X_train."
        )
    prediction = prediction_of(fitted, totals)
    if goal.is_met(totals)[0]:
        return _already(row, prediction, norm)
    if not goal.is_wanted.any():
        return _none("the model knows no other class", prediction, norm, is_exact=True)
    most = len(moves) + len(choices) if max_changes is None else int(max_changes)
    problem = _Problem(fitted, row, coordinates[0], goal, moves, choices, norm, most)
    search = Search(time.monotonic() + budget)
    is_exact = problem.run(search, data)
    return problem.result(search, prediction, is_exact)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Everything that does not change during the search."""

    fitted: FittedModel
    row: OneRow
    coordinates: NDArray[np.float32]
    goal: Goal
    moves: Moves
    choices: list[Choice]
    norm: str
    max_changes: int

    @property
    def has_all_levels(self) -> bool:
        """Whether all combinations of levels are tried."""
        n_combinations = math.prod(len(choice.levels) + 1 for choice in self.choices)
        return n_combinations <= MOST_COMBINATIONS

    def settings(self) -> list[Setting]:
        """Combinations of levels, those that cost least first."""
        spans = [range(-1, len(choice.levels)) for choice in self.choices]
        combinations = _in_order_of_changes(spans, self.max_changes)
        found = [self._setting(levels) for levels in islice(combinations, MOST_COMBINATIONS)]
        return sorted(found, key=lambda setting: setting.level_cost)

    def _setting(self, levels: tuple[int, ...]) -> Setting:
        coordinates = self.coordinates.copy()
        for choice, level in zip(self.choices, levels, strict=True):
            if level >= 0:
                coordinates[choice.coordinates] = choice.codes[level]
        n_left = self.max_changes - sum(level >= 0 for level in levels)
        steps = np.where(self.moves.is_whole, 1.0 / self.moves.scale, 0.0)
        return Setting(
            Space(self.fitted, self.moves, coordinates),
            self.goal,
            Steps(self.norm, steps, n_left),
            levels,
            level_costs(self.choices, levels, self.norm),
        )

    def run(self, search: Search, data: Any) -> bool:
        """Search all settings; whether the best change is proven to be the least."""
        settings = self.settings()
        if self.fitted.forest.n_trees == 1:
            is_proven = self._search_tree(search, settings)
        else:
            self._try_levels(search, settings)
            is_proven = len(self.moves) == 0 or self._search_forest(search, settings, data)
        return is_proven and self.has_all_levels and not search.is_cut

    def _search_tree(self, search: Search, settings: list[Setting]) -> bool:
        for setting in settings:
            if setting.level_cost >= search.limit or search.is_late():
                break
            search_tree(setting, search)
        return True

    def _search_forest(self, search: Search, settings: list[Setting], data: Any) -> bool:
        """Search and prove the first setting; prove the others, or search them if that fails."""
        hints, is_proven = self._hints(data), True
        for number, setting in enumerate(settings):
            if setting.level_cost >= search.limit or search.is_late():
                break
            is_searched = number == 0
            if is_searched:
                search_forest(setting, search, hints)
            if not prove(setting, search):
                is_proven = False
                if not is_searched and number < MOST_SEARCHES:
                    search_forest(setting, search, hints)
        return is_proven

    def _try_levels(self, search: Search, settings: list[Setting]) -> None:
        """Offer changes of categories alone."""
        for setting in settings:
            if setting.level_cost >= search.limit or search.is_late():
                return
            search.offer(setting, np.zeros(len(self.moves)))

    def _hints(self, data: Any) -> Floats:
        """Changes towards the nearest of the given rows that have a wanted prediction."""
        if data is None or len(self.moves) == 0:
            return np.empty((0, len(self.moves)))
        rows = self.fitted.dense_coordinates(data)
        is_wanted = self.goal.is_met(self.fitted.totals(rows))
        values = rows[is_wanted][:, self.moves.coordinates].astype(np.float64)
        changes = (values + self.moves.origin - self.moves.start) / self.moves.scale
        order = np.argsort(np.linalg.norm(changes, axis=1), kind="stable")[:MOST_HINTS]
        return np.asarray(changes[order])

    def result(self, search: Search, prediction: Any, is_exact: bool) -> NearestChange:
        """What was found, checked once more on the row that is returned."""
        if search.best is None:
            return _none(_why_none(is_exact), prediction, self.norm, is_exact, search.n_solved)
        best = search.best
        changed = self.row.with_values(self._values(best))
        again = read_row(changed, self.row.n_columns)
        totals = self.fitted.totals(self.fitted.dense_coordinates(again.matrix))
        if not self.goal.is_met(totals)[0]:
            raise RuntimeError(
                "the changed row, written back into its container, has another prediction than "
                "before; please report this with the model and the row; try a row of float64."
            )
        new = prediction_of(self.fitted, totals)
        changes = _told(self, best, again)
        how = "the smallest change" if is_exact else "a small change, not proven the smallest"
        reason = f"{how} from {prediction} to {new}, of size {best.cost:.4g} ({self.norm})"
        return NearestChange(
            True, is_exact, reason, prediction, new, changed, changes, best.cost, self.norm,
            search.n_solved,
        )  # fmt: skip

    def _values(self, best: Candidate) -> dict[int, Value]:
        values = self.moves.values(best.numbers)
        for choice, level in zip(self.choices, best.levels, strict=True):
            if level >= 0:
                values[choice.column] = choice.levels[level]
        return values


def _read_asked(
    fitted: FittedModel,
    row: OneRow,
    features: Any,
    bounds: Any,
    directions: Any,
    integer: Any,
    scale: Any,
    data: Any,
) -> Asked:
    """Arguments by column."""
    n_columns = len(fitted.column_names)
    chosen = None if features is None else chosen_columns(fitted, features, "features")
    return Asked(
        fitted,
        row,
        list(range(n_columns)) if chosen is None else chosen,
        chosen is not None,
        read_bounds(fitted, row, bounds, data),
        read_directions(fitted, directions),
        None if integer is None else set(chosen_columns(fitted, integer, "integer")),
        read_scale(fitted, scale, data) or {},
    )


def _check_options(norm: str, max_changes: int | None, budget: float) -> None:
    if norm not in SOLVERS:
        raise ValueError(f'norm={norm!r}; give "l2" or "l1".')
    is_count = isinstance(max_changes, numbers.Integral) and not isinstance(max_changes, bool)
    if max_changes is not None and (not is_count or max_changes < 1):
        raise ValueError(f"max_changes={max_changes!r}; give an integer >= 1, or None for any.")
    if not isinstance(budget, numbers.Real) or not budget > 0:
        raise ValueError(f"budget={budget!r}; give seconds above 0.")


def _in_order_of_changes(spans: Sequence[range], max_changes: int) -> Iterable[tuple[int, ...]]:
    """Combinations of levels, those that change few columns first; -1 is no change."""
    n_changes = range(min(len(spans), max_changes) + 1)
    if math.prod(len(span) for span in spans) <= MOST_COMBINATIONS:
        every = sorted(product(*spans), key=lambda levels: sum(level >= 0 for level in levels))
        yield from (levels for levels in every if sum(k >= 0 for k in levels) <= n_changes[-1])
        return
    for count in n_changes:
        yield from _changing(spans, count)


def _changing(spans: Sequence[range], count: int) -> Iterable[tuple[int, ...]]:
    """Combinations of levels in which `count` columns change."""
    if not spans:
        if count == 0:
            yield ()
        return
    if count <= len(spans) - 1:
        yield from ((-1, *rest) for rest in _changing(spans[1:], count))
    if count >= 1:
        for level in spans[0][1:]:
            yield from ((level, *rest) for rest in _changing(spans[1:], count - 1))


def _told(problem: _Problem, best: Candidate, changed: OneRow) -> tuple[FeatureChange, ...]:
    """The columns that changed, the most costly first."""
    moves, names = problem.moves, problem.fitted.column_names
    told = []
    for place in np.flatnonzero(best.numbers != moves.start):
        column = int(moves.columns[place])
        difference = float(best.numbers[place] - moves.start[place])
        before, after = problem.row.value(column), changed.value(column)
        cost = abs(difference) / float(moves.scale[place])
        told.append(FeatureChange(names[column], before, after, difference, cost))
    for choice, level in zip(problem.choices, best.levels, strict=True):
        if level >= 0:
            before, after = problem.row.value(choice.column), changed.value(choice.column)
            told.append(FeatureChange(names[choice.column], before, after, None, choice.cost))
    return tuple(sorted(told, key=lambda change: -change.cost))


def _already(row: OneRow, prediction: Any, norm: str) -> NearestChange:
    reason = f"the prediction is {prediction} already, no change is needed"
    changed = row.with_values({})
    return NearestChange(True, True, reason, prediction, prediction, changed, (), 0.0, norm, 0)


def _none(
    reason: str, prediction: Any, norm: str, is_exact: bool, n_solved: int = 0
) -> NearestChange:
    return NearestChange(
        False, is_exact, reason, prediction, None, None, (), math.inf, norm, n_solved
    )


def _why_none(is_exact: bool) -> str:
    if is_exact:
        return "no change of these columns within their bounds leads to a wanted prediction"
    return (
        "no change was found, but one may exist: try more features, wider bounds, a larger budget, "
        "or data with rows of a wanted prediction"
    )
