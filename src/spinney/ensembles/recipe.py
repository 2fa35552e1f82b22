"""What a fit follows: which parts a model is made of, in order, as a value.

A recipe knows rows, seeds and starts. It knows nothing of files, of listeners or of estimators:
the loop that follows it (:mod:`spinney.fitting.loop`) saves its parts, reports them and ends it
where enough is enough. Long parts also report their steps: a tree its sweeps, a forest of FAO its
iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from spinney.algorithms.state import Save
from spinney.algorithms.trace import Trace

Part = TypeVar("Part")
Run = TypeVar("Run")


@dataclass(frozen=True)
class Outline:
    """What is going to be done, as listeners are told before it begins.

    Attributes
    ----------
    word : {"tree", "round", "iteration", "sweep"}
        What is counted.
    total : int or None
        Number of the last one, at most.
    first : int
        How many there are from an earlier fit.
    n_forests : int or None
        Forests, where iterations are counted anew in each.
    first_forest : int
        Forests there are from an earlier fit.
    """

    word: str
    total: int | None
    first: int = 0
    n_forests: int | None = None
    first_forest: int = 0

    @property
    def counts_steps(self) -> bool:
        """Whether steps inside the parts are counted, and not the parts themselves."""
        return self.word in ("iteration", "sweep")


@dataclass(frozen=True)
class Step:
    """A sweep or an iteration inside a part.

    Attributes
    ----------
    number : int
        From 1.
    objective, loss : float
    n_active : int or None
        Splits that rows decide.
    phase : str or None
        What kind of sweep it was.
    make_part : callable or None
        Makes the part as it is after the step; None if that is not known any more.
    make_run : callable or None
        Makes the state from which the part goes on after the step; None if not known.
    is_restored : bool
        Whether it was done in an earlier call, and comes from a checkpoint.
    """

    number: int
    objective: float
    loss: float
    n_active: int | None = None
    phase: str | None = None
    make_part: Callable[[], Any] | None = None
    make_run: Callable[[], Any] | None = None
    is_restored: bool = False

    @classmethod
    def at(cls, trace: Trace, entry: int, number: int, **others: Any) -> Step:
        """What a trace says of a step; entry 0 is the start."""
        measures = trace.objective[entry], trace.loss[entry], trace.n_active[entry]
        return cls(number, *measures, **others)


class Steps(Protocol):
    """The loop as a recipe sees it: where parts were left, and where steps are reported."""

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens; if not, steps need not be reported."""

    @property
    def wants_parts(self) -> bool:
        """Whether the part as it is after each step may be asked for."""

    @property
    def may_stop(self) -> bool:
        """Whether somebody may want the fit to end after a step."""

    def runs(self, kind: type[Run]) -> dict[int, Run]:
        """States of parts that an earlier call left unfinished, by their number in this fit."""

    def saver(self, number: int) -> Save[Any] | None:
        """Takes the states of a part under way; None if nothing is saved."""

    def count(self, part: int, step: int) -> None:
        """A step of any part is done, in any order."""

    def report(self, part: int, step: Step) -> bool:
        """The next step, in order; True ends the fit after it."""


class Recipe(Protocol[Part]):
    """The parts of a model and how they come about."""

    @property
    def kind(self) -> type[Part]:
        """What a part is."""

    @property
    def is_saved_by_part(self) -> bool:
        """Whether a checkpoint stores finished parts; False where the states of one part do."""

    @property
    def n_parts(self) -> int:
        """How many parts there are to be."""

    def outline(self, n_known: int) -> Outline:
        """What is going to be done after `n_known` parts of an earlier fit."""

    def parts(
        self, problem: Any, known: Sequence[Part], saved: Sequence[Part], steps: Steps
    ) -> Generator[Part, None, None]:
        """The parts that follow the known ones, as they are done; first those saved, as they are.

        They may be more than wanted: whoever takes them says when there are enough.
        """


class NoSteps:
    """A loop that saves nothing and that nobody listens to."""

    has_listeners = wants_parts = may_stop = False

    def runs(self, kind: type[Run]) -> dict[int, Run]:
        """No part has been left unfinished."""
        del kind
        return {}

    def saver(self, number: int) -> None:
        """Nothing is saved."""
        del number

    def count(self, part: int, step: int) -> None:
        """Nobody counts."""

    def report(self, part: int, step: Step) -> bool:
        """Nobody wants the fit to end."""
        del part, step
        return False


NO_STEPS = NoSteps()
