"""The search for the least change: all combinations of levels, and the numbers beside each.

A model of one tree is searched exactly. Of a forest a good change is found first, which is then
proven to be the least, or improved where the proof does not end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spinney.inspection.explanations.candidate import Search, Setting
from spinney.inspection.explanations.change_task import ChangeTask
from spinney.inspection.explanations.forest_search import search_forest
from spinney.inspection.explanations.level_settings import are_all_tried, settings_of
from spinney.inspection.explanations.projection import Floats
from spinney.inspection.explanations.proof import prove
from spinney.inspection.explanations.tree_search import search_tree

#: Combinations of levels for which a forest is searched where a proof does not end.
MOST_SEARCHES = 16

#: Rows of `data` that a search for a forest begins at.
MOST_HINTS = 200


def search_change(task: ChangeTask, search: Search, data: Any) -> bool:
    """Search all settings; whether the best change is proven to be the least."""
    settings = settings_of(task)
    if len(task.fitted.trees) == 1:
        _search_tree(search, settings)
        is_proven = True
    else:
        _try_levels(task, search, settings)
        is_proven = len(task.moves) == 0 or _search_forest(task, search, settings, data)
    return is_proven and are_all_tried(task) and not search.is_cut


def _worthwhile(search: Search, settings: list[Setting]) -> Iterator[Setting]:
    """The settings, until none can be cheaper than the best change or the time is over."""
    for setting in settings:
        if setting.level_cost >= search.limit or search.is_late():
            return
        yield setting


def _search_tree(search: Search, settings: list[Setting]) -> None:
    for setting in _worthwhile(search, settings):
        search_tree(setting, search)


def _try_levels(task: ChangeTask, search: Search, settings: list[Setting]) -> None:
    """Offer changes of categories alone."""
    for setting in _worthwhile(search, settings):
        search.offer(setting, np.zeros(len(task.moves)))


def _search_forest(task: ChangeTask, search: Search, settings: list[Setting], data: Any) -> bool:
    """Search and prove the first setting; prove the others, or search them if that fails."""
    hints, is_proven = _hints(task, data), True
    for number, setting in enumerate(_worthwhile(search, settings)):
        is_first = number == 0
        if is_first:
            search_forest(setting, search, hints)
        if prove(setting, search):
            continue
        is_proven = False
        if not is_first and number < MOST_SEARCHES:
            search_forest(setting, search, hints)
    return is_proven


def _hints(task: ChangeTask, data: Any) -> Floats:
    """Changes towards the nearest of the given rows that have a wanted prediction."""
    moves = task.moves
    if data is None or len(moves) == 0:
        return np.empty((0, len(moves)))
    rows = task.fitted.dense_coordinates(data)
    is_wanted = task.goal.is_met(task.fitted.totals(rows))
    values = rows[is_wanted][:, moves.coordinates].astype(np.float64)
    changes = (values + moves.origin - moves.start) / moves.scale
    order = np.argsort(np.linalg.norm(changes, axis=1), kind="stable")[:MOST_HINTS]
    return np.asarray(changes[order])
