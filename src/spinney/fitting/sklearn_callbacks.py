"""Speak scikit-learn's callback protocol, where it is there: scikit-learn 1.9 and later.

The fit is a task, its trees, rounds or sweeps are tasks below it, and the iterations of an FAO
forest are below that of the forest. Hooks get the estimator as it was before the fit, which is a
transaction, and on request a fitted one as it would be if the fit ended there.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from spinney.fitting.progress import FitEvent, Listener, Plan
from spinney.fitting.progress.listener import Snapshot

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for what is not there: estimators have no `set_callbacks`."""

    with_callbacks = None  # type: ignore[assignment]

__all__ = ["CALLBACKS", "CallbackSupportMixin", "Tasks", "has_tasks"]

#: Where scikit-learn keeps the callbacks of an estimator; clones and pickles have them too.
CALLBACKS = "_skl_callbacks"

#: Where a search or a pipeline says which of its tasks the fit is.
PARENT = "_parent_callback_ctx"


def has_tasks(estimator: Any) -> bool:
    """Whether anybody listens to the tasks of a fit."""
    return with_callbacks is not None and bool(getattr(estimator, CALLBACKS, ()))


class Tasks(Listener):
    """The tree of tasks of a fit.

    Parameters
    ----------
    estimator : estimator
        The one that ``fit`` was called of, not the copy that is fitted.
    X, y, sample_weight
        As they were given.
    """

    wants_models = may_stop = True

    def __init__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> None:
        self._estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._given = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._open: list[Any] = []  # contexts from the fit down to the part at work
        self._n_forests_left = 0

    def begin(self, plan: Plan) -> None:
        """Begin the task of the fit, and that of its first part."""
        self._plan = plan
        n_tasks = plan.total if plan.total is None else plan.total - plan.first
        if plan.n_forests is not None:
            n_tasks = self._n_forests_left = plan.n_forests - plan.first_forest
        root = self._estimator._init_callback_context(max_subtasks=n_tasks)
        self._enter(root)
        if n_tasks == 0:
            return
        if plan.n_forests is None:
            self._enter_part()
        else:
            self._enter_forest()

    def on_event(self, event: FitEvent, snapshot: Snapshot) -> bool:
        """End the task of a part, and begin the next one unless it was the last."""
        wants_end = self._leave(snapshot)
        if not wants_end and event.number != event.total:
            self._enter_part()
        return wants_end

    def end_forest(self, snapshot: Snapshot) -> bool:
        """End the task of a forest, and begin the next one unless it was the last."""
        self._leave_down_to(2)
        wants_end = self._leave(snapshot)
        if not wants_end and self._n_forests_left > 0:
            self._enter_forest()
        return wants_end

    def end(self, snapshot: Snapshot, *, is_stopped: bool) -> None:
        """End what is open: a part that was not needed, a forest that was stopped, the fit."""
        del is_stopped
        self._leave_down_to(1)
        self._leave(snapshot)

    def close(self) -> None:
        """Tear the callbacks down."""
        with_callbacks(_nothing)(self._estimator)

    def _enter_forest(self) -> None:
        self._n_forests_left -= 1
        self._enter(self._open[-1].subcontext(task_name="forest", max_subtasks=self._plan.total))
        self._enter_part()

    def _enter_part(self) -> None:
        self._enter(self._open[-1].subcontext(task_name=self._plan.part))

    def _enter(self, context: Any) -> None:
        self._open.append(context)
        context.call_on_fit_task_begin(**self._given)

    def _leave(self, snapshot: Snapshot | None) -> bool:
        context = self._open.pop()
        return bool(context.call_on_fit_task_end(**self._given, reconstruction_attributes=snapshot))

    def _leave_down_to(self, depth: int) -> None:
        """End tasks that have nothing to show."""
        while len(self._open) > depth:
            self._leave(None)


def _nothing(estimator: Any) -> None:
    """What is left to do when callbacks are torn down."""
