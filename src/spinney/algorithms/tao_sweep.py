"""One sweep of TAO over the nodes of a tree, and the guard that may undo it.

Nodes of one depth are independent given the rest (separability condition, [1]_ section 3), so the
core solves a level in one call, its nodes in parallel: each split by its reduced problem, each leaf
on the rows that reach it.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020.
.. [2] Gabidolla, Zharmagambetov and Carreira-Perpiñán, "Improved multiclass AdaBoost using sparse
   oblique decision trees", IJCNN 2022.
.. [3] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from spinney import _core
from spinney.algorithms.tao_options import StrictDescent, TAOOptions

#: Context in which a level is solved.
AroundLevel: TypeAlias = Callable[[_core.TreeOptimizer], AbstractContextManager[object]]


def sweep_tree(
    native: _core.TreeOptimizer, number: int, options: TAOOptions, *, is_guarded: bool
) -> None:
    """Every node of the tree once, from the leaves up or from the root down.

    One pass of the outer loop of [2]_ algorithm 2, which goes from the root down
    (``order="root_first"``), or of [3]_ section 3, which goes from the leaves up.

    Parameters
    ----------
    native : TreeOptimizer
    number : int
        Of the sweep; random numbers of its nodes follow from it.
    options : TAOOptions
        Its `order` and `strict_descent`.
    is_guarded : bool
        Whether a node keeps its old parameters where new ones would raise the objective (footnote
        2 of [1]_).
    """

    def sweep(is_guarded: bool) -> None:
        if options.order == "leaves_first":
            native.fit_leaves(number, is_guarded)
        solve_splits(native, number, options.order, is_guarded=is_guarded)
        if is_guarded:
            # The least penalty of leaves without rows, as of splits. Exploring keeps what they say,
            # for rows may come back.
            native.clear_empty_leaves()

    guard_sweep(native, sweep, options.strict_descent, is_guarded=is_guarded)


def guard_sweep(
    native: _core.TreeOptimizer,
    sweep: Callable[[bool], None],
    strict_descent: StrictDescent,
    *,
    is_guarded: bool,
) -> None:
    """Sweep, with the guard that `strict_descent` asks for.

    With "sweep" the nodes are free as long as the whole sweep lowers the objective; if it does not,
    it is undone and done again with a guard on every node.

    Parameters
    ----------
    native : TreeOptimizer
    sweep : callable
        Told whether nodes are guarded.
    strict_descent : bool or "sweep"
    is_guarded : bool
        Whether nodes are guarded otherwise.
    """
    if strict_descent == "sweep" and lowers_objective(native, lambda: sweep(False)):
        return
    sweep(is_guarded)


def solve_splits(
    native: _core.TreeOptimizer,
    sweep: int,
    order: str,
    *,
    is_guarded: bool,
    around_level: AroundLevel = nullcontext,
) -> None:
    """Every level once, in the given order, then the leaves.

    After the splits moved the leaves are always refitted: a sweep ends consistent.
    """
    is_root_first = order == "root_first"
    levels = range(native.n_levels)
    for level in levels if is_root_first else reversed(levels):
        with around_level(native):
            # The reduced problem of each of its splits: eqs. (3) and (4) of [2].
            native.solve_level(level, sweep, is_guarded, is_root_first)
    native.fit_leaves(sweep, is_guarded)


def lowers_objective(native: _core.TreeOptimizer, step: Callable[[], None]) -> bool:
    """Whether a step lowers the objective of the tree, eq. (1) of [1]_; else it is undone."""
    before = sum(native.objective())
    native.keep()
    step()
    if sum(native.objective()) < before:
        return True
    native.restore()
    return False
