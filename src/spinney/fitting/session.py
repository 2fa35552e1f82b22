"""What stands around one call of ``fit``: the file it is saved to, who listens, whether to stop.

Made anew for each call and thrown away at its end, so that no estimator carries state that it has
only while it is fitted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.data import Problem
from spinney.fitting.checkpoint import Checkpoint
from spinney.fitting.fingerprint import generator_state, identity_of
from spinney.fitting.progress import (
    Asked,
    FitEvent,
    Listener,
    Progress,
    check_callback,
    display_for,
)
from spinney.fitting.progress.listener import Attributes
from spinney.fitting.sklearn_callbacks import CALLBACKS, PARENT, Tasks, has_tasks
from spinney.tree.structure import Tree

Callback: TypeAlias = Callable[[FitEvent], bool | None]
CheckpointPath: TypeAlias = str | os.PathLike[str]


class Fittable(Protocol):
    """An estimator, as a session sees it."""

    verbose: int
    random_state: Any
    stopped_by_callback_: bool

    def _forget(self) -> None: ...


@dataclass
class Session:
    """One call of ``fit``, or of another method that fits.

    Attributes
    ----------
    call : str
        Name of the method: others do something else with the same data.
    goes_on : bool
        Whether the fit goes on from what the last one has stored.
    checkpoint : Checkpoint
    progress : Progress
    is_kept : bool ndarray of shape (n_rows,)
        Which of the given rows have a weight; set when they are read.
    """

    call: str = "fit"
    goes_on: bool = False
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    progress: Progress = field(default_factory=Progress)
    is_kept: NDArray[np.bool_] = field(default_factory=lambda: np.ones(0, dtype=np.bool_))

    def begin(
        self,
        estimator: Any,
        problem: Problem,
        draw_seed: Callable[[], int],
        *,
        known_trees: Iterable[Tree] = (),
        may_change: tuple[str, ...] = (),
        validation: Iterable[Any] = (),
    ) -> int:
        """Open the checkpoint, if there is one, and return its seed, or a new one.

        Parameters
        ----------
        estimator : estimator
        problem : Problem
        draw_seed : callable
        known_trees : iterable of Tree
            Those that the fit goes on from.
        may_change : tuple of str
            Parameters that a resumed fit may change: they say only how many parts there are.
        validation : iterable
            Rows and targets that the fit is judged by.
        """
        return self.checkpoint.begin(
            lambda: identity_of(
                estimator, self.call, self.is_kept, problem, validation, known_trees, may_change
            ),
            draw_seed,
            lambda: generator_state(estimator.random_state),
            (problem.n_features, problem.n_outputs),
        )

    @property
    def is_stopped(self) -> bool:
        """Whether a listener wanted the fit to end."""
        return self.progress.is_stopped


def run_fit(
    estimator: Fittable,
    work: Callable[[Any, Session], None],
    data: Sequence[Any],
    *,
    call: str,
    goes_on: bool,
    checkpoint: CheckpointPath | Checkpoint | None,
    callback: Callback | None,
) -> Any:
    """A fitted copy of an estimator; the estimator itself is not touched.

    Parameters
    ----------
    estimator : estimator
    work : callable
        ``work(copy, session)`` reads the data, fits and stores.
    data : X, y and what else ``fit`` was given
        For scikit-learn's callbacks.
    call, goes_on
        See `Session`.
    checkpoint : path, Checkpoint or None
        A Checkpoint is that of another fit, which this one is a part of.
    callback : callable or None
    """
    check_callback(callback)
    fitted = _copied(estimator)
    fitted.__dict__.pop("stopped_by_callback_", None)
    if not goes_on:
        fitted._forget()
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    progress = Progress(type(estimator).__name__, _listeners(estimator, data, callback))
    session = Session(call, goes_on, checkpoint, progress)
    with closing(checkpoint), closing(progress):
        work(fitted, session)
        if session.is_stopped:
            fitted.stopped_by_callback_ = True
        progress.end(lambda: state_of(fitted))
    return fitted


def model_so_far(estimator: Any, store: Callable[[Any], None]) -> Attributes:
    """Fitted attributes of the model that `store` stores in a copy of an estimator."""
    model = _copied(estimator)
    store(model)
    return state_of(model)


def _copied(estimator: Any) -> Any:
    """A shallow copy; ``copy.copy`` would ask whether the state is of an older release."""
    made = object.__new__(type(estimator))
    made.__dict__.update(vars(estimator))
    return made


def state_of(estimator: Any) -> Attributes:
    """All that makes an estimator what it is, apart from those who listen to its fit."""
    passing = (CALLBACKS, PARENT)
    return {name: value for name, value in vars(estimator).items() if name not in passing}


def _listeners(
    estimator: Fittable, data: Sequence[Any], callback: Callback | None
) -> list[Listener]:
    """The listeners of a fit: people, scikit-learn's callbacks, the user's function."""
    found: list[Listener] = []
    if (display := display_for(getattr(estimator, "verbose", 0))) is not None:
        found.append(display)
    if has_tasks(estimator):
        found.append(Tasks(estimator, *data[:3]))
    if callback is not None:
        found.append(Asked(callback))
    return found
