"""Tell people at a terminal how a fit is doing, one line a sweep."""

from __future__ import annotations

import sys
from collections.abc import Callable

from spinney.optimize.trace import Trace


def sweep_reporter(verbose: int | bool) -> Callable[[Trace], None] | None:
    """Callback that prints the last sweep of a trace; None if `verbose` is 0."""
    return _print_last_sweep if verbose else None


def _print_last_sweep(trace: Trace) -> None:
    sys.stdout.write(
        f"sweep {len(trace):4d} ({trace.phase[-1]})  objective {trace.objective[-1]:.6g}  "
        f"loss {trace.loss[-1]:.6g}  active {trace.n_active[-1]}  {trace.seconds[-1]:.3f} s\n"
    )
