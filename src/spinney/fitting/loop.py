"""The one loop over the parts of a model: take, save, judge, report, and end at enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Generic, TypeVar

from spinney.algorithms.state import Save
from spinney.ensembles.recipe import Outline, Recipe, Step
from spinney.fitting.progress import FitEvent
from spinney.fitting.progress.listener import Attributes
from spinney.fitting.session import Session, model_so_far
from spinney.fitting.validation_curve import Watch

Part = TypeVar("Part")
Run = TypeVar("Run")


def fit_parts(
    recipe: Recipe[Part],
    problem: Any,
    session: Session,
    model: Any,
    store: Callable[[Any, list[Part]], None],
    known: Sequence[Part] = (),
    watch: Watch | None = None,
) -> list[Part]:
    """All parts of a model: those known and those that follow, up to the best number.

    Parameters
    ----------
    recipe : Recipe
        Which parts there are to be.
    problem : Problem or None
        What they are fitted to; None if the recipe has its task already.
    session : Session
        Where they are saved, and who listens.
    model : estimator
        The copy that is fitted.
    store : callable
        ``store(model, parts)`` sets the fitted attributes of a model of these parts. It is called
        for models that listeners ask for; the caller stores the end result.
    known : sequence
        Parts of an earlier fit that this one goes on from.
    watch : Watch or None, default=None
        Judges parts on validation rows, and says when they are enough.
    """
    loop = _Loop(recipe, session, model, store, list(known), watch or Watch(None))
    return loop.run(problem)


class _Loop(Generic[Part]):
    """The parts so far; a recipe reports its steps to it (see `Steps`)."""

    def __init__(
        self,
        recipe: Recipe[Part],
        session: Session,
        model: Any,
        store: Callable[[Any, list[Part]], None],
        known: list[Part],
        watch: Watch,
    ) -> None:
        self._recipe = recipe
        self._session = session
        self._progress = session.progress
        self._model = model
        self._store = store
        self._known = known
        self._parts = list(known)
        self._watch = watch
        self._outline: Outline = recipe.outline(len(known))

    def run(self, problem: Any) -> list[Part]:
        """Take parts until there are enough."""
        for part in self._parts:
            self._watch.see(part)
        self._watch.begin()
        self._progress.begin(**vars(self._outline), validation=self._watch.word)
        n_missing = self._recipe.n_parts - len(self._parts)
        if n_missing > 0:
            self._take_parts(problem, n_missing)
        return self._best_parts()

    def _take_parts(self, problem: Any, n_missing: int) -> None:
        saved = self._session.checkpoint.parts(self._recipe.kind)[:n_missing]
        following = self._recipe.parts(problem, self._known, saved, self)
        # Closed also if a listener fails or Ctrl-C comes between two parts: no worker goes on.
        with closing(following):
            for number, part in enumerate(following):
                is_restored = number < len(saved)
                self._parts.append(part)
                if self._session.is_stopped:
                    return  # at one of its steps: it may not be whole, so it is not saved
                if self._recipe.is_saved_by_part and not is_restored:
                    self._session.checkpoint.add(part)
                self._watch.see(part)
                is_last = len(self._parts) >= self._recipe.n_parts
                if self._report_part(part, is_restored) or self._watch.is_over or is_last:
                    return

    def _best_parts(self) -> list[Part]:
        return self._parts[: self._watch.best]

    def _report_part(self, part: Any, is_restored: bool) -> bool:
        """Tell that a part is done; True if the fit is to end."""
        if self._outline.n_forests is not None:
            return self._progress.end_forest(self._snapshot)
        if self._outline.counts_steps or not self._progress.is_watched:
            return False
        tree, trace = part.tree, part.trace
        event = replace(
            self._progress.event(len(self._parts)),
            n_active=int((tree.left >= 0).sum()),
            n_nodes=tree.n_nodes,
            depth=tree.max_depth,
            validation=self._watch.last,
            restored=is_restored,
        )
        if trace is not None:
            measures = _measured(event, Step.at(trace, len(trace), len(trace)))
            event = replace(measures, n_sweeps=len(trace))
        return self._progress.report(event, self._snapshot)

    def _snapshot(self) -> Attributes:
        """The model of the parts so far."""
        return model_so_far(self._model, lambda model: self._store(model, self._best_parts()))

    # What a recipe asks, see `Steps`.

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        return self._progress.is_watched

    @property
    def wants_parts(self) -> bool:
        """Whether the part after each step is judged, or a listener may ask for the model."""
        return self._watch.judges_steps or self._progress.wants_models

    @property
    def may_stop(self) -> bool:
        """Whether a listener may end the fit."""
        return self._progress.may_stop

    def runs(self, kind: type[Run]) -> dict[int, Run]:
        """States of parts that an earlier call left unfinished."""
        return self._session.checkpoint.runs(kind)

    def saver(self, number: int) -> Save[Any] | None:
        """Takes the states of a part under way."""
        return self._session.checkpoint.saver(number)

    def count(self, part: int, step: int) -> None:
        """A step of any part is done, in any order."""
        self._progress.count(part + 1, step)

    def report(self, part: int, step: Step) -> bool:
        """Tell of a step; True if the fit is to end."""
        event = replace(
            _measured(self._progress.event(step.number), step),
            phase=step.phase,
            validation=self._judged(step),
            forest=None if self._outline.n_forests is None else part + 1,
            restored=step.is_restored,
        )
        return self._progress.report(event, lambda: self._model_at(step))

    def _judged(self, step: Step) -> float | None:
        """What validation rows say of the model as it is after a step."""
        if not self._watch.judges_steps or step.make_part is None:
            return None
        return self._watch.judged_with([*self._parts, step.make_part()])

    def _model_at(self, step: Step) -> Attributes | None:
        """The model as it is after a step; None if that is not known any more."""
        make_part = step.make_part
        if make_part is None:
            return None
        parts = [*self._parts, make_part()]
        return model_so_far(self._model, lambda model: self._store(model, parts))


def _measured(event: FitEvent, step: Step) -> FitEvent:
    return replace(event, objective=step.objective, loss=step.loss, n_active=step.n_active)
