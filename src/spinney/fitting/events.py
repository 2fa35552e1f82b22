"""Turn what a fit has just done into an event, and the present state into a model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spinney.algorithms.trace import Trace
from spinney.fitting.progress import FitEvent, Progress
from spinney.fitting.progress.listener import Attributes, Snapshot
from spinney.fitting.sklearn_callbacks import CALLBACKS, PARENT
from spinney.tree.structure import Tree

#: What is of use during a fit only.
PASSING = ("_is_kept", "_checkpoint", "_progress")


def nothing_yet() -> None:
    """There is no model to show."""


def model_so_far(estimator: Any, store: Callable[[Any], None]) -> Snapshot:
    """Makes the fitted attributes of a model that `store` stores in a copy of an estimator."""

    def attributes() -> Attributes:
        model = copy.copy(estimator)
        store(model)
        return fitted_attributes(model)

    return attributes


def fitted_attributes(estimator: Any) -> Attributes:
    """All that makes an estimator what it is, apart from those who listen to its fit."""
    passing = (*PASSING, CALLBACKS, PARENT)
    return {name: value for name, value in vars(estimator).items() if name not in passing}


def tell_tree(
    progress: Progress,
    number: int,
    tree: Tree,
    trace: Trace | None,
    snapshot: Snapshot,
    *,
    validation: float | None = None,
    restored: bool = False,
) -> bool:
    """Tell that a tree of a forest is done; True if the fit is to end."""
    if not progress.is_watched:
        return False
    event = replace(
        progress.event(number),
        n_active=int((tree.left >= 0).sum()),
        n_nodes=tree.n_nodes,
        depth=tree.max_depth,
        validation=validation,
        restored=restored,
    )
    if trace is not None:
        event = replace(measured(event, trace, len(trace)), n_sweeps=len(trace))
    return progress.tell(event, snapshot)


def tell_sweep(
    progress: Progress, trace: Trace, number: int, snapshot: Snapshot, *, restored: bool = False
) -> bool:
    """Tell that a sweep of a trace is done; True if the fit is to end."""
    if not progress.is_watched:
        return False
    event = measured(progress.event(number), trace, number)
    phase = trace.phase[number]
    return progress.tell(replace(event, phase=phase, restored=restored), snapshot)


def measured(event: FitEvent, trace: Trace, entry: int) -> FitEvent:
    """An event with what a trace says at an entry, 0 being the start."""
    return replace(
        event,
        objective=trace.objective[entry],
        loss=trace.loss[entry],
        n_active=trace.n_active[entry],
    )
