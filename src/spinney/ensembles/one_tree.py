"""Recipe of a single tree that TAO optimises; its sweeps are what is reported."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spinney.algorithms.state import TreeRun
from spinney.algorithms.tao import AfterSweep, OptimizedTree, TAOOptions, optimize_tree
from spinney.algorithms.trace import Trace
from spinney.data import Problem
from spinney.ensembles.recipe import NO_STEPS, Outline, Step, Steps
from spinney.tree.structure import Topology, Tree


@dataclass(frozen=True, eq=False)
class OneTree:
    """A tree, from where it starts."""

    start: Topology | Tree
    options: TAOOptions
    kind: ClassVar[type[OptimizedTree]] = OptimizedTree
    n_parts: ClassVar[int] = 1
    is_saved_by_part: ClassVar[bool] = False  # but by sweep

    def outline(self, n_known: int) -> Outline:
        """Sweeps are counted."""
        del n_known
        return Outline("sweep", self.options.max_iter)

    def parts(
        self,
        problem: Problem,
        known: Sequence[OptimizedTree] = (),
        saved: Sequence[OptimizedTree] = (),
        steps: Steps = NO_STEPS,
    ) -> Generator[OptimizedTree, None, None]:
        """The tree; a run that was interrupted goes on."""
        del known, saved  # a checkpoint holds the run, never the finished tree
        run = steps.runs(TreeRun).get(0)
        last = None if run is None else _report_again(run.trace, steps)
        if last is not None:  # there is no state of that sweep
            yield optimize_tree(problem, self.start, self.options, after_sweep=_stops_after(last))
            return
        yield optimize_tree(
            problem,
            self.start,
            self.options,
            resume=run,
            save=steps.saver(0),
            after_sweep=_reporter(steps) if steps.has_listeners else None,
        )


def _reporter(steps: Steps) -> AfterSweep:
    """Reports one sweep; returns True to stop."""

    def after_sweep(trace: Trace, so_far: Callable[[], OptimizedTree]) -> bool:
        return steps.report(0, _sweep(trace, len(trace), make_part=so_far))

    return after_sweep


def _report_again(trace: Trace, steps: Steps) -> int | None:
    """Report the sweeps of a checkpoint; the number of the one to stop after, if any."""
    if not steps.has_listeners:
        return None
    for number in range(1, len(trace) + 1):
        if steps.report(0, _sweep(trace, number, is_restored=True)):
            return number
    return None


def _sweep(
    trace: Trace,
    number: int,
    make_part: Callable[[], OptimizedTree] | None = None,
    is_restored: bool = False,
) -> Step:
    return Step.at(
        trace,
        number,
        number,
        phase=trace.phase[number],
        make_part=make_part,
        is_restored=is_restored,
    )


def _stops_after(last: int) -> AfterSweep:
    """Ends a run after so many sweeps."""
    return lambda trace, _: len(trace) >= last
