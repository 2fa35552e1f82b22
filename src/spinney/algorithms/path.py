"""A path of trees over the sparsity weight ``alpha``, each started from the one before.

Along the path trees lose or gain weights and nodes; which of them to keep is decided by the caller,
who has rows that the path has not seen.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020, section 3 ("Finally, as TAO
   iterates ...").
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from spinney.algorithms.tao import OptimizedTree, TAOOptions, optimize_tree
from spinney.data import Problem
from spinney.tree.structure import Topology, Tree


def optimize_path(
    problem: Problem,
    start: Topology | Tree,
    options: TAOOptions,
    alphas: Sequence[float],
) -> Generator[OptimizedTree, None, None]:
    """One optimised tree for each of `alphas`, in the order given, as they are done.

    Parameters
    ----------
    problem : Problem
    start : (left, right) or Tree
        Start of the first tree. The others start from the tree before, taken unpruned, so that a
        branch that died under a large `alpha` can come back under a smaller one.
    options : TAOOptions
        Its `alpha` is not used. Each tree gets `max_iter` sweeps.
    alphas : sequence of float
        The λ of [1]_ eq. (1); increasing, decreasing or in any order.

    Notes
    -----
    The objective of a tree is never above that of the tree before it under the same `alpha`, also
    under a limit on weights, which the tree before it keeps, too. With
    ``strict_descent`` it never rises, else the best tree of the run, its start included, is kept.
    """
    for alpha in alphas:
        # Eq. (1) of [1] with the next lambda, from where the last one ended.
        found = optimize_tree(problem, start, replace(options, alpha=float(alpha)))
        yield found
        start = found.unpruned
