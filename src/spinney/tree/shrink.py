"""Leaves drawn towards the nodes above them.

A leaf of a full-grown tree has seen a few rows and is sure of itself. Hierarchical shrinkage [1]_
lets the means of the nodes on its way have a say, the more the fewer rows they part. The splits
stay as they are.

References
----------
.. [1] Agarwal, Tan, Ronen, Singh and Yu, "Hierarchical Shrinkage: improving the accuracy and
   interpretability of tree-based methods", ICML 2022, section 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.tree.importance import node_reach
from spinney.tree.structure import Tree


def shrink_leaves(tree: Tree, leaf_rows: NDArray[np.float64], strength: float) -> Tree:
    """The tree with leaf values ``mean(root) + sum (mean(v) - mean(u)) / (1 + strength / n(u))``.

    The sum is over the steps from a node u to its child v on the way to the leaf, n(u) the weight
    of the rows in u, and means those of the leaf values below.

    Parameters
    ----------
    tree : Tree
        With constant leaves.
    leaf_rows : float64 ndarray of shape (n_leaves,)
        Total row weight in each leaf, more than 0.
    strength : float
        In rows: a step out of a node of so many rows counts half. 0 changes nothing.
    """
    if strength == 0:
        return tree
    # The sum above, by parts. With c(u) = 1 / (1 + strength / n(u)) of the nodes u = 0 .. L
    # on the way to a leaf, it is (1 - c_0) m_0 + (c_0 - c_1) m_1 + ... + c_{L-1} m_L, where m_L is
    # the value of the leaf. `share` of a node is the c of its parent, 1 at the root.
    n_rows = node_reach(tree, leaf_rows)
    means = node_reach(tree, leaf_rows[:, None] * tree.leaf_values) / n_rows[:, None]
    share = np.ones((tree.n_nodes, 1))
    from_above = np.zeros_like(means)
    for nodes in tree.levels[1:]:
        parents = tree.parent[nodes]
        share[nodes, 0] = n_rows[parents] / (n_rows[parents] + strength)
        # No term is negative, so fractions of classes stay fractions to the last bit.
        above = share[parents] - share[nodes]
        from_above[nodes] = from_above[parents] + above * means[parents]
    leaves = tree.leaf_nodes
    return replace(tree, leaf_values=from_above[leaves] + share[leaves] * tree.leaf_values)
