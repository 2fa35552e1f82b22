"""Tell people at a terminal how a fit is doing, one line a sweep or a tree."""

from __future__ import annotations

import sys
from collections.abc import Callable

from spinney.optimize.trace import Trace
from spinney.tree.structure import Tree


def sweep_reporter(verbose: int | bool) -> Callable[[Trace], None] | None:
    """Callback that prints the last sweep of a trace; None if `verbose` is 0."""
    return _print_last_sweep if verbose else None


def _print_last_sweep(trace: Trace) -> None:
    sys.stdout.write(
        f"sweep {len(trace):4d} ({trace.phase[-1]})  objective {trace.objective[-1]:.6g}  "
        f"loss {trace.loss[-1]:.6g}  active {trace.n_active[-1]}  {trace.seconds[-1]:.3f} s\n"
    )


def report_tree(
    verbose: int | bool, number: int, n_trees: int, trace: Trace, *, says: str = ""
) -> None:
    """Print one line about a finished tree of a forest if `verbose` is not 0."""
    if verbose:
        sys.stdout.write(
            f"tree {number:4d} of {n_trees}  sweeps {len(trace)}  objective "
            f"{trace.objective[-1]:.6g}  active {trace.n_active[-1]}  "
            f"{trace.seconds[-1]:.3f} s{says}\n"
        )


def report_grown_tree(verbose: int | bool, number: int, n_trees: int, tree: Tree) -> None:
    """Print one line about a grown tree of a forest if `verbose` is not 0."""
    if verbose:
        sys.stdout.write(
            f"tree {number:4d} of {n_trees}  nodes {tree.n_nodes}  depth {tree.max_depth}\n"
        )


def report_forest(verbose: int | bool, number: int, n_forests: int, trace: Trace) -> None:
    """Print one line about a finished forest of an average if `verbose` is not 0."""
    if verbose:
        n_iterations = trace.phase.count("leaves")
        sys.stdout.write(
            f"forest {number:3d} of {n_forests}  iterations {n_iterations}  objective "
            f"{trace.objective[-1]:.6g}  loss {trace.loss[-1]:.6g}  active {trace.n_active[-1]}  "
            f"{trace.seconds[-1]:.3f} s\n"
        )
