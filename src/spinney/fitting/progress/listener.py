"""The protocol of listeners to a fit, and the one of them that asks the user's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spinney.fitting.progress.event import FitEvent

Attributes: TypeAlias = dict[str, Any]

#: Makes the attributes of the model that there would be if the fit ended here. Most listeners never
#: ask, and a model costs a pass over all rows.
Snapshot: TypeAlias = Callable[[], Attributes | None]


@dataclass(frozen=True)
class Plan:
    """What a fit is going to do.

    Attributes
    ----------
    estimator : str
        Name of its class.
    part : {"tree", "round", "iteration", "sweep"}
    total : int or None
        Number of the last part, at most.
    first : int
        Parts there are from an earlier fit.
    n_forests : int or None
        Forests, where parts are counted anew in each.
    first_forest : int
        Forests there are from an earlier fit.
    validation : str
        What is measured on validation rows, "error" or "loss".
    """

    estimator: str
    part: str
    total: int | None
    first: int = 0
    n_forests: int | None = None
    first_forest: int = 0
    validation: str = "error"


class Listener:
    """Gets what happens in a fit, in the thread that called ``fit``; does nothing by itself."""

    wants_models = False  # whether it may ask for the model after each part
    may_stop = False  # whether it may want the fit to end

    def begin(self, plan: Plan) -> None:
        """All has been checked, the work begins."""

    def count(self, forest: int, number: int) -> None:
        """An iteration of a forest is done; forests are at work at once, so in any order."""

    def on_event(self, event: FitEvent, snapshot: Snapshot) -> bool:
        """A part is done, in order; True ends the fit."""
        del event, snapshot
        return False

    def end_forest(self, snapshot: Snapshot) -> bool:
        """The forest of the last events is done; True ends the fit."""
        del snapshot
        return False

    def end(self, snapshot: Snapshot, *, is_stopped: bool) -> None:
        """The fit has come to its end, or was stopped."""

    def close(self) -> None:
        """The fit is over, whether it has come to an end, failed or was interrupted."""


def check_callback(callback: object) -> None:
    """Raise unless it is a function, or None."""
    if callback is not None and not callable(callback):
        raise TypeError(
            f"callback={callback!r} is of type {type(callback).__name__}; give a function of one "
            "FitEvent that returns True to stop; try callback=print."
        )


class Asked(Listener):
    """Asks the user's function, which may stop the fit by returning True."""

    may_stop = True

    def __init__(self, callback: Callable[[FitEvent], bool | None]) -> None:
        self._callback = callback

    def on_event(self, event: FitEvent, snapshot: Snapshot) -> bool:
        """What the function says; anything but True, False or None is a mistake."""
        del snapshot
        answer = self._callback(event)
        if answer is None or isinstance(answer, bool | np.bool_):
            return bool(answer)
        raise TypeError(
            f"callback returned {answer!r} of type {type(answer).__name__}; return True to stop, "
            "False or None to go on."
        )
