"""Where in the plane each split of a tree acts: cells as polygons, hyperplanes as pieces of lines.

A node's cell is the frame cut by the hyperplanes above it. It is convex, so a line meets it in one
piece, and each of its sides is convex again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.tree.hyperplanes import hyperplane
from spinney.tree.structure import Tree

Polygon = NDArray[np.float64]
"""Corners in order, shape (n_corners, 2)."""


@dataclass(frozen=True, eq=False)
class Segments:
    """Pieces of lines, one for each split whose line crosses its own cell.

    Attributes
    ----------
    nodes, depths, trees : int64 ndarray of shape (n_segments,)
        The split, its depth, and the number of its tree.
    ends : float64 ndarray of shape (n_segments, 2, 2)
        The two ends of each piece; the last axis is x and y.
    """

    nodes: NDArray[np.int64]
    depths: NDArray[np.int64]
    trees: NDArray[np.int64]
    ends: NDArray[np.float64]


def split_segments(
    tree: Tree, coordinates: tuple[int, int], frame: tuple[float, float, float, float], number: int
) -> Segments:
    """Pieces of the lines at which the splits of a tree act.

    Parameters
    ----------
    tree : Tree
        A tree whose other coordinates are 0.
    coordinates : tuple of int
        Coordinates on the x and the y axis.
    frame : tuple of float
        Least x, largest x, least y, largest y.
    number : int
        Number of the tree, to be told with the segments.
    """
    x_low, x_high, y_low, y_high = frame
    cells: dict[int, Polygon] = {
        0: np.array([[x_low, y_low], [x_high, y_low], [x_high, y_high], [x_low, y_high]])
    }
    found: list[tuple[int, NDArray[np.float64]]] = []
    for node in tree.split_nodes.tolist():  # parents come before their children
        if node not in cells:
            continue
        cell = cells.pop(node)
        normal, bias = _line(tree, node, coordinates)
        scores = cell @ normal + bias
        crossing = _crossing(cell, scores)
        if crossing is not None:
            found.append((node, crossing))
        # A score of 0 goes right, also all over a cell.
        if scores.min() < 0:
            cells[int(tree.left[node])] = _cut(cell, -scores)
        if scores.max() > 0 or scores.min() == 0:
            cells[int(tree.right[node])] = _cut(cell, scores)
    nodes = np.array([node for node, _ in found], dtype=np.int64)
    return Segments(
        nodes,
        tree.depth[nodes].astype(np.int64),
        np.full(len(nodes), number, dtype=np.int64),
        np.array([ends for _, ends in found]).reshape(len(found), 2, 2),
    )


def _line(tree: Tree, node: int, coordinates: tuple[int, int]) -> tuple[NDArray[np.float64], float]:
    """Weights of the two coordinates, and the bias."""
    features, weights = hyperplane(tree, node)
    of_feature = dict(zip(features.tolist(), weights.tolist(), strict=True))
    normal = np.array([of_feature.get(coordinate, 0.0) for coordinate in coordinates])
    return normal, float(tree.bias[node])


def _cut(cell: Polygon, scores: NDArray[np.float64]) -> Polygon:
    """The part of a convex polygon where the score, known at its corners, is not negative.

    One corner after the other, as Sutherland and Hodgman do.
    """
    corners: list[NDArray[np.float64]] = []
    for place in range(len(cell)):
        if scores[place - 1] * scores[place] < 0:
            corners.append(_zero(cell, scores, place))
        if scores[place] >= 0:
            corners.append(cell[place])
    return np.array(corners)


def _crossing(cell: Polygon, scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Where the line of score 0 enters and leaves a convex polygon; None if it does not."""
    if not scores.min() < 0 < scores.max():
        return None
    ends = [cell[place] for place in np.flatnonzero(scores == 0)]
    ends += [
        _zero(cell, scores, place)
        for place in range(len(cell))
        if scores[place - 1] * scores[place] < 0
    ]
    return np.array(ends) if len(ends) == 2 else None


def _zero(cell: Polygon, scores: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Where the score is 0 on the side that ends in the corner `place`."""
    share = scores[place - 1] / (scores[place - 1] - scores[place])
    point: NDArray[np.float64] = cell[place - 1] + share * (cell[place] - cell[place - 1])
    return point
