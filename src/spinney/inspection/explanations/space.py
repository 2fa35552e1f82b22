"""The trees of a model as half-spaces in the changes that are allowed.

A change is a vector ``u``, one entry a number that may move, divided by its scale. With all else
held, the score of every split is ``scores + normals @ u``. A leaf is the set of changes with the
right signs on its way, a linear leaf's answer is linear in ``u`` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.inspection.explanations.goal import Goal
from spinney.inspection.explanations.moves import Moves
from spinney.inspection.explanations.projection import Floats, Polyhedron
from spinney.inspection.fitted_model import FittedModel
from spinney.tree.hyperplanes import hyperplanes, leaf_functions
from spinney.tree.readout import UNSEEN
from spinney.tree.sparse_rows import row_offsets

#: Bound on the relative error of a rounded coordinate, a rounded product and a float32 sum.
ROUNDING = 2.0**-21

#: Numbers of a dense copy of the hyperplanes, at most: 32 MB.
MOST_DENSE = 4_000_000


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """Changes with ``scores + normals @ u >= 0``.

    Attributes
    ----------
    normals : float64 ndarray of shape (n_rows, n_moves)
    scores : float64 ndarray of shape (n_rows,)
    sizes : float64 ndarray of shape (n_rows,)
        Sum of the absolute values that make up a score: rounding is a part of it.
    """

    normals: Floats
    scores: Floats
    sizes: Floats

    def polyhedron(self, moves: Moves, margins: Floats | float = 0.0) -> Polyhedron:
        """The changes within the bounds that clear the half-spaces by some margins."""
        return Polyhedron(self.normals, margins - self.scores, moves.least, moves.most)

    def rounding(self, u: Floats) -> Floats:
        """How far the float32 score of each row may be from the exact one at `u`."""
        return np.asarray(ROUNDING * (self.sizes + np.abs(self.normals) @ np.abs(u)))

    def __add__(self, other: HalfSpaces) -> HalfSpaces:
        return HalfSpaces(
            np.vstack([self.normals, other.normals]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.sizes, other.sizes]),
        )


@dataclass(frozen=True, eq=False)
class Space:
    """A model around one row, categories chosen.

    Attributes
    ----------
    fitted : FittedModel
    moves : Moves
    coordinates : float32 ndarray of shape (n_coordinates,)
        What the trees read if no number moves.
    """

    fitted: FittedModel
    moves: Moves
    coordinates: NDArray[np.float32]

    @cached_property
    def start(self) -> Floats:
        """The coordinates; numbers that may move before they are rounded to float32."""
        start = self.coordinates.astype(np.float64)
        start[self.moves.coordinates] = self.moves.start - self.moves.origin
        return start

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """First node of each tree, numbered through all trees, and the number of all."""
        return row_offsets([tree.n_nodes for tree in self.fitted.trees])

    @cached_property
    def _planes(self) -> HyperPlanes:
        trees = self.fitted.trees
        return HyperPlanes.of(
            sp.vstack([hyperplanes(tree) for tree in trees], format="csr").astype(np.float64),
            np.concatenate([tree.bias for tree in trees]),
            self,
        )

    def nearness(self, norm: str) -> Floats:
        """Distance of the unchanged row from each hyperplane, inf where none can be crossed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.abs(self._planes.scores) / self._dual_sizes(norm)
        return np.where(np.isnan(apart), np.inf, apart)

    def normals(self, nodes: NDArray[np.int64]) -> Floats:
        """Normals of some hyperplanes, nodes numbered through all trees."""
        return np.asarray(self._planes.normals[nodes].toarray())

    def _dual_sizes(self, norm: str) -> Floats:
        return self._l2_sizes if norm == "l2" else self._planes.dual_sizes(norm)

    @cached_property
    def _l2_sizes(self) -> Floats:
        return self._planes.dual_sizes("l2")

    def all_scores(self, u: Floats) -> Floats:
        """Score of a changed row at each node of all trees."""
        return np.asarray(self._planes.scores + self._planes.normals @ u)

    def no_half_spaces(self) -> HalfSpaces:
        """Nothing but the bounds."""
        return HalfSpaces(np.empty((0, len(self.moves))), np.empty(0), np.empty(0))

    def on_way(self, number: int, leaf: int) -> HalfSpaces:
        """The half-spaces on the way to a leaf of a tree."""
        tree = self.fitted.trees[number]
        nodes, signs = [], []
        while (above := int(tree.parent[leaf])) >= 0:
            nodes.append(above + int(self.first[number]))
            signs.append(1.0 if leaf == tree.right[above] else -1.0)
            leaf = above
        return self._planes.take(np.array(nodes, dtype=np.int64), np.array(signs))

    def leaf_distances(self, number: int, norm: str, scores: Floats | None = None) -> Floats:
        """Lower bound of the change that leads to each node of a tree: that to one half-space.

        Parameters
        ----------
        number : int
            The tree.
        norm : {"l2", "l1"}
        scores : ndarray, optional
            From where; as of `all_scores`. Default: from no change.
        """
        tree = self.fitted.trees[number]
        nodes = slice(int(self.first[number]), int(self.first[number + 1]))
        scores = (self._planes.scores if scores is None else scores)[nodes]
        sizes = self._dual_sizes(norm)[nodes]
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.where(scores == 0, 0.0, np.abs(scores) / sizes)
        distances = np.zeros(tree.n_nodes)
        for level in tree.levels:
            splits = level[tree.left[level] >= 0]
            to_left = np.where(scores[splits] > 0, apart[splits], 0.0)
            to_right = np.where(scores[splits] < 0, apart[splits], 0.0)
            distances[tree.left[splits]] = np.maximum(distances[splits], to_left)
            distances[tree.right[splits]] = np.maximum(distances[splits], to_right)
        return distances

    @cached_property
    def _leaf_functions(self) -> list[sp.csr_matrix]:
        return [leaf_functions(tree).astype(np.float64) for tree in self.fitted.trees]

    def leaf_functions(self, number: int, leaf: int) -> HyperPlanes:
        """Outputs of a linear leaf as functions of the change."""
        tree = self.fitted.trees[number]
        first = int(tree.leaf_index[leaf]) * tree.n_outputs
        weights = self._leaf_functions[number][first : first + tree.n_outputs]
        return HyperPlanes.of(weights, tree.leaf_values[tree.leaf_index[leaf]], self)


@dataclass(frozen=True, eq=False)
class HyperPlanes:
    """Linear functions of the change: ``scores + normals @ u``."""

    normals: sp.csr_matrix
    scores: Floats
    sizes: Floats

    @classmethod
    def of(cls, weights: sp.csr_matrix, constants: Floats, space: Space) -> HyperPlanes:
        """Functions of coordinates as functions of the change."""
        normals = weights[:, space.moves.coordinates] @ sp.diags_array(space.moves.scale)
        sizes = np.abs(weights) @ np.abs(space.start) + np.abs(constants)
        return cls(normals.tocsr(), weights @ space.start + constants, sizes)

    def take(self, rows: NDArray[np.int64], signs: Floats) -> HalfSpaces:
        """Half-spaces where some of the functions are at least 0, or at most 0."""
        normals = self.normals[rows].toarray() if self._dense is None else self._dense[rows]
        return HalfSpaces(normals * signs[:, None], signs * self.scores[rows], self.sizes[rows])

    @cached_property
    def _dense(self) -> Floats | None:
        """The normals as an array, unless it were large: rows of it are found much faster."""
        is_small = self.normals.shape[0] * self.normals.shape[1] <= MOST_DENSE
        return np.asarray(self.normals.toarray()) if is_small else None

    def dual_sizes(self, norm: str) -> Floats:
        """How fast each function can change with the norm of ``u``."""
        if norm == "l2":
            squared = self.normals.multiply(self.normals).sum(axis=1)
            return np.asarray(np.sqrt(np.ravel(squared)))
        if self.normals.shape[1] == 0:
            return np.zeros(self.normals.shape[0])
        return np.asarray(np.ravel(abs(self.normals).max(axis=1).toarray()))


def answer_regions(space: Space, goal: Goal, leaf: int) -> list[HalfSpaces]:
    """Where the linear leaf of a model of one tree gives a wanted answer, beside being reached.

    The set of changes with the class k is where its score is the largest: K - 1 half-spaces. An
    interval of a number is two.
    """
    functions = space.leaf_functions(0, leaf)
    readout = space.fitted.readout
    weight = float(readout.tree_weights[0])
    if readout.says != "label":
        functions = HyperPlanes(
            functions.normals * weight,
            functions.scores * weight + readout.offsets,
            functions.sizes * abs(weight) + np.abs(readout.offsets),
        )
    if readout.classes is None:
        return [_interval(functions, goal)]
    return [
        _largest(functions, int(label))
        for label in np.flatnonzero(goal.is_wanted)
        if functions.scores[label] > UNSEEN
    ]


def _interval(functions: HyperPlanes, goal: Goal) -> HalfSpaces:
    normal = functions.normals[[goal.output]].toarray()
    score, size = functions.scores[goal.output], functions.sizes[goal.output]
    ends = [(1.0, goal.low), (-1.0, goal.high)]
    known = [(sign, end) for sign, end in ends if np.isfinite(end)]
    return HalfSpaces(
        np.vstack([np.empty((0, normal.shape[1])), *(sign * normal for sign, _ in known)]),
        np.array([sign * (score - end) for sign, end in known]),
        np.array([size + abs(end) for _, end in known]),
    )


def _largest(functions: HyperPlanes, label: int) -> HalfSpaces:
    """Where the score of one class is at least that of each other that the leaf has seen."""
    others = np.flatnonzero(functions.scores > UNSEEN)
    others = others[others != label]
    normals = functions.normals[[label]].toarray() - functions.normals[others].toarray()
    return HalfSpaces(
        normals,
        functions.scores[label] - functions.scores[others],
        functions.sizes[label] + functions.sizes[others],
    )
