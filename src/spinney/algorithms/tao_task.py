"""What one run of TAO optimises, and what comes out of it.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.tao_options import TAOOptions
from spinney.algorithms.trace import Trace
from spinney.algorithms.tree_optimizer import core_task, native_optimizer, tree_of
from spinney.algorithms.weight_limits import WeightLimits
from spinney.data import Problem
from spinney.tree.prune import is_kept, prune
from spinney.tree.structure import Topology, Tree

#: Share of the sweeps that are guarded in the default schedule.
SETTLE_SHARE = 0.2

#: Squared penalty of relaxed leaves, as a share of the mean squared length of a row: just enough to
#: keep weights finite where the classes of a leaf can be separated.
RELAXED_RIDGE = 1e-3


@dataclass(frozen=True)
class DrawnSplits:
    """Hyperplanes drawn beforehand, from which several trees start.

    What starts from them ends as if it had drawn them itself. A tree to improve is another thing:
    it is the best so far, and its leaves are kept.
    """

    tree: Tree


@dataclass(frozen=True)
class OptimizedTree:
    """The pruned tree, the same tree before pruning, and how it came about.

    Nodes that pruning removes cost nothing: where the trace ends with this tree, and not with a
    sweep that went up again, its last objective is that of the pruned tree.
    """

    tree: Tree
    unpruned: Tree
    trace: Trace


@dataclass(frozen=True, eq=False)
class TreeTask:
    """What is optimised, for what and for how long; the state of the tree is in the core.

    Attributes
    ----------
    problem : Problem
    options : TAOOptions
    left, right : int32[n_nodes]
        Shape of the tree, which stays until it is pruned.
    native : TreeOptimizer
    limits : WeightLimits
    has_tree : bool
        Whether the start is a tree that may be the best one to the end.
    n_exploring : int
        Sweeps that accept every solution, unless every sweep is guarded.
    """

    problem: Problem
    options: TAOOptions
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    native: _core.TreeOptimizer
    limits: WeightLimits
    has_tree: bool
    n_exploring: int

    @staticmethod
    def of(problem: Problem, start: Topology | Tree | DrawnSplits, options: TAOOptions) -> TreeTask:
        """The task of a tree of this shape, its splits still to be set."""
        left, right = _topology_of(start)
        native = native_optimizer(problem, left, right, core_task(problem, options), options)
        n_features = problem.n_features
        limits = WeightLimits(options.max_weights, options.max_leaf_weights, n_features)
        has_tree = isinstance(start, Tree) and limits.allow(start, options.leaf)
        n_exploring = max(options.max_iter - _n_settling(options, has_tree=has_tree), 0)
        return TreeTask(
            problem,
            options,
            left,
            right,
            native,
            limits,
            has_tree=has_tree,
            n_exploring=n_exploring,
        )

    def present(self, trace: Trace, best: float) -> OptimizedTree:
        """The tree of the core, for good: its leaves are relaxed, if they are to be."""
        reach = self.native.reach()
        trace = self._closed_trace(trace, best, reach)
        if self.options.relax_leaves:
            self.native.relax_leaves(RELAXED_RIDGE * self.problem.squared_length)
        tree = self._tree()
        # Dead branches, pure subtrees and splits without weights go ([1] section 3).
        return OptimizedTree(prune(tree, reach), tree, trace)

    def _closed_trace(self, trace: Trace, best: float, reach: NDArray[np.int64]) -> Trace:
        """The trace, which ends without the penalties of nodes that pruning removes."""
        trace = trace.copied()
        if trace.objective[-1] == best:  # else the last sweep went up, and is not kept
            counts = is_kept(self._tree(), reach).astype(np.uint8)
            trace.objective[-1] = sum(self.native.objective(counts))
        return trace

    def _tree(self) -> Tree:
        return tree_of(self.native, self.left, self.right, self.problem, self.options)


def _topology_of(start: Topology | Tree | DrawnSplits) -> Topology:
    if isinstance(start, DrawnSplits):
        start = start.tree
    return (start.left, start.right) if isinstance(start, Tree) else start


def _n_settling(options: TAOOptions, *, has_tree: bool) -> int:
    """At least one, so that the trace ends with the tree: the best one may be an earlier one.

    A single sweep settles only where there is a tree to improve.
    """
    least = 1 if has_tree or options.max_iter > 1 else 0
    return max(least, round(SETTLE_SHARE * options.max_iter))
