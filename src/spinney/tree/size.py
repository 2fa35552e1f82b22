"""How large a tree is and what one prediction costs, counted as in the papers.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020, section 5.1.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.tree.structure import Tree


def count_parameters(tree: Tree) -> int:
    """Number of parameters of a tree ([1], "Total number of parameters").

    Parameters
    ----------
    tree : Tree
        A valid tree.

    Returns
    -------
    int
        The sum over all nodes. A split counts its non-zero weights and its bias: 2 if it compares
        one number, more if it asks for a set of levels or weighs a missing flag too. A constant
        leaf counts 1, however many classes its fractions are kept for. A linear leaf counts its
        non-zero weights and one intercept an output.

    Notes
    -----
    The paper counts ``D * K`` for a softmax leaf: no zeros left out, no intercepts. We count what
    a prediction has to read.
    """
    return int(_node_parameters(tree).sum())


def path_parameters(tree: Tree) -> NDArray[np.int64]:
    """Number of parameters met on the way from the root to each leaf ([1], "Inference FLOPS").

    Parameters
    ----------
    tree : Tree
        A valid tree.

    Returns
    -------
    ndarray of int64, shape (n_leaves,)
        Parameters of the leaf and of all splits above it, counted as in `count_parameters`.
    """
    met = _node_parameters(tree)
    # Down the levels, so that a node's parent has its whole path when the node adds it to its own.
    for nodes in tree.levels[1:]:
        met[nodes] += met[tree.parent[nodes]]
    return met[tree.leaf_nodes]


def count_flops(
    tree: Tree, leaf_rows: NDArray[np.integer[Any]] | NDArray[np.floating[Any]]
) -> float:
    """Mean number of parameters that the prediction of one row reads ([1], "Inference FLOPS").

    Parameters
    ----------
    tree : Tree
        A valid tree.
    leaf_rows : ndarray, shape (n_leaves,)
        Number, or total weight, of the training rows in each leaf.

    Returns
    -------
    float
        The mean of `path_parameters` over the rows.
    """
    rows = np.asarray(leaf_rows, dtype=np.float64)
    if rows.shape != (tree.n_leaves,):
        raise ValueError(
            f"leaf_rows has shape {rows.shape}; one number a leaf is needed, {(tree.n_leaves,)}."
        )
    if not (np.isfinite(rows).all() and (rows >= 0).all() and rows.any()):
        raise ValueError("leaf_rows must be finite, not negative, and not all 0.")
    # "Average over all training instances" [1]: each leaf stands for the rows that reach it.
    return float(np.average(path_parameters(tree), weights=rows))


def _node_parameters(tree: Tree) -> NDArray[np.int64]:
    """Parameters of each node by itself."""
    # "The number of nonzero weights (and the bias)" [1]: hyperplanes hold no zeros, so their length
    # is that number, and a split of one number comes to 2.
    counts = np.diff(tree.split_indptr) + 1
    if tree.is_linear:
        # [1] counts D + 1 for two classes and D K for more; see the notes of `count_parameters`.
        n_weights = np.diff(tree.leaf_indptr).reshape(tree.n_leaves, tree.n_outputs).sum(axis=1)
        counts[tree.leaf_nodes] = n_weights + tree.n_outputs
    else:
        counts[tree.leaf_nodes] = 1  # "one for constant-label leaves" [1]
    return counts
