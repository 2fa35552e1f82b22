"""A tidy place for each node of a tree, so that nothing overlaps and nothing is wasted.

The tree grows to the right. Nodes of one depth share a column; within it, nodes may be of different
heights. A parent is in the middle between its children, a subtree is drawn alike wherever it is,
and two subtrees are as close as their outlines allow [1].

References
----------
.. [1] Reingold and Tilford, "Tidier drawings of trees", IEEE Transactions on Software Engineering
   SE-7(2), 1981.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Outline: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Upper and lower end of a subtree at each depth below its root, measured from its root."""


def tidy_heights(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    heights: NDArray[np.float64],
    gap: float,
) -> NDArray[np.float64]:
    """Vertical place of the middle of each node; the uppermost end is at 0, down is positive.

    Parameters
    ----------
    left, right : int32 ndarray of shape (n_nodes,)
        Children, -1 at a node that is drawn without any; children come after their parents. The
        left child is the upper one.
    heights : float64 ndarray of shape (n_nodes,)
        Height of each node.
    gap : float
        Least distance between two nodes of one column.

    Returns
    -------
    float64 ndarray of shape (n_nodes,)
        Nodes that cannot be reached from node 0 are at 0.
    """
    outlines: dict[int, Outline] = {}
    spread = np.zeros(len(left))  # distance of the two children of each split
    for node in range(len(left) - 1, -1, -1):
        own = np.array([0.5 * heights[node]])
        upper, lower = -own, own
        if left[node] >= 0:
            above, below = outlines.pop(int(left[node])), outlines.pop(int(right[node]))
            spread[node] = _distance(above, below) + gap
            ends = _side_by_side(above, below, 0.5 * spread[node])
            upper, lower = np.concatenate([upper, ends[0]]), np.concatenate([lower, ends[1]])
        outlines[node] = upper, lower
    middle = np.zeros(len(left))
    middle[0] = -outlines[0][0].min()
    for node in np.flatnonzero(left >= 0).tolist():
        middle[left[node]] = middle[node] - 0.5 * spread[node]
        middle[right[node]] = middle[node] + 0.5 * spread[node]
    return middle


def _distance(above: Outline, below: Outline) -> float:
    """Least distance of two roots at which the outlines of their subtrees touch."""
    n_common = min(len(above[1]), len(below[0]))
    return float((above[1][:n_common] - below[0][:n_common]).max())


def _side_by_side(above: Outline, below: Outline, half: float) -> Outline:
    """Outline of two subtrees, the one moved up and the other down by `half`."""
    upper = _first_then_rest(above[0] - half, below[0] + half)
    lower = _first_then_rest(below[1] + half, above[1] - half)
    return upper, lower


def _first_then_rest(first: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """`first`, and what `rest` has beyond its end."""
    return np.concatenate([first, rest[len(first) :]])
