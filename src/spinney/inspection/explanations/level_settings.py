"""Combinations of levels that a search tries one after the other.

Categories do not move step by step: each combination of levels is a search of its own for the
numbers beside it. Where there are too many combinations, those that change few columns come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice, product

import numpy as np

from spinney.inspection.explanations.branch import PointLimits
from spinney.inspection.explanations.candidate import Setting, level_costs
from spinney.inspection.explanations.change_task import ChangeTask
from spinney.inspection.explanations.space import Space

#: Combinations of levels that are tried, at most.
MOST_COMBINATIONS = 2000


def settings_of(task: ChangeTask) -> list[Setting]:
    """Combinations of levels, those that cost least first."""
    combinations = islice(in_order_of_changes(_spans(task), task.max_changes), MOST_COMBINATIONS)
    settings = [_setting(task, levels) for levels in combinations]
    return sorted(settings, key=lambda setting: setting.level_cost)


def are_all_tried(task: ChangeTask) -> bool:
    """Whether `settings_of` has all combinations of levels."""
    return _n_combinations(_spans(task)) <= MOST_COMBINATIONS


def _spans(task: ChangeTask) -> list[range]:
    """Numbers of the levels of each category; -1 is no change."""
    return [range(-1, len(choice.levels)) for choice in task.choices]


def _n_combinations(spans: Sequence[range]) -> int:
    return math.prod(len(span) for span in spans)


def _setting(task: ChangeTask, levels: tuple[int, ...]) -> Setting:
    """The search for numbers beside these levels."""
    coordinates = task.coordinates.copy()
    for choice, level in zip(task.choices, levels, strict=True):
        if level >= 0:
            coordinates[choice.coordinates] = choice.codes[level]
    steps = np.where(task.moves.is_whole, 1.0 / task.moves.scale, 0.0)
    return Setting(
        Space(task.fitted, task.moves, coordinates),
        task.goal,
        PointLimits(task.norm, steps, task.max_changes - _n_changed(levels)),
        levels,
        level_costs(task.choices, levels, task.norm),
    )


def in_order_of_changes(spans: Sequence[range], max_changes: int) -> Iterable[tuple[int, ...]]:
    """Combinations of levels, those that change few columns first; -1 is no change."""
    most = min(len(spans), max_changes)
    if _n_combinations(spans) <= MOST_COMBINATIONS:
        every = sorted(product(*spans), key=_n_changed)
        yield from (levels for levels in every if _n_changed(levels) <= most)
        return
    for count in range(most + 1):
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


def _n_changed(levels: tuple[int, ...]) -> int:
    """Categories that change."""
    return sum(level >= 0 for level in levels)
