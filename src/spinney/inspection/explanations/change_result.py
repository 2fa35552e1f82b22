"""The answer of a search for the least change, checked once more on the row that is returned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spinney.inspection.explanations.candidate import Candidate, Search
from spinney.inspection.explanations.change import FeatureChange, NearestChange
from spinney.inspection.explanations.change_task import ChangeTask
from spinney.inspection.explanations.explain_row import prediction_of
from spinney.inspection.explanations.row import OneRow, Value, read_row


def result_of(task: ChangeTask, search: Search, prediction: Any, is_exact: bool) -> NearestChange:
    """What a search has found, or that it has found nothing."""
    best = search.best
    if best is None:
        reason = _why_none(is_exact)
        return no_change(reason, prediction, task.norm, is_exact, search.n_solved)
    changed = task.row.with_values(_values(task, best))
    again = read_row(changed, task.row.n_columns)
    totals = task.fitted.totals(task.fitted.dense_coordinates(again.matrix))
    if not task.goal.is_met(totals)[0]:
        raise RuntimeError(
            "the changed row, written back into its container, has another prediction than "
            "before; please report this with the model and the row; try a row of float64."
        )
    new = prediction_of(task.fitted, totals)
    how = "the smallest change" if is_exact else "a small change, not proven the smallest"
    return NearestChange(
        is_found=True,
        is_exact=is_exact,
        reason=f"{how} from {prediction} to {new}, of size {best.cost:.4g} ({task.norm})",
        prediction=prediction,
        new_prediction=new,
        changed=changed,
        changes=_changes(task, best, again),
        cost=best.cost,
        norm=task.norm,
        n_solved=search.n_solved,
    )


def no_change_needed(row: OneRow, prediction: Any, norm: str) -> NearestChange:
    """The row itself, whose prediction is a wanted one."""
    reason = f"the prediction is {prediction} already, no change is needed"
    changed = row.with_values({})
    return NearestChange(True, True, reason, prediction, prediction, changed, (), 0.0, norm, 0)


def no_change(
    reason: str, prediction: Any, norm: str, is_exact: bool, n_solved: int = 0
) -> NearestChange:
    """That there is no change, or that none was found."""
    return NearestChange(
        False, is_exact, reason, prediction, None, None, (), math.inf, norm, n_solved
    )


def _values(task: ChangeTask, best: Candidate) -> dict[int, Value]:
    """New values of the columns that change."""
    values = task.moves.values(best.numbers)
    for choice, level in zip(task.choices, best.levels, strict=True):
        if level >= 0:
            values[choice.column] = choice.levels[level]
    return values


def _changes(task: ChangeTask, best: Candidate, changed: OneRow) -> tuple[FeatureChange, ...]:
    """The columns that changed, the most costly first."""
    moves, names = task.moves, task.fitted.column_names
    found = []
    for place in np.flatnonzero(best.numbers != moves.start):
        column = int(moves.columns[place])
        difference = float(best.numbers[place] - moves.start[place])
        before, after = task.row.value(column), changed.value(column)
        cost = abs(difference) / float(moves.scale[place])
        found.append(FeatureChange(names[column], before, after, difference, cost))
    for choice, level in zip(task.choices, best.levels, strict=True):
        if level >= 0:
            before, after = task.row.value(choice.column), changed.value(choice.column)
            found.append(FeatureChange(names[choice.column], before, after, None, choice.cost))
    return tuple(sorted(found, key=lambda change: -change.cost))


def _why_none(is_exact: bool) -> str:
    if is_exact:
        return "no change of these columns within their bounds leads to a wanted prediction"
    return (
        "no change was found, but one may exist: try more features, wider bounds, a larger budget, "
        "or data with rows of a wanted prediction"
    )
