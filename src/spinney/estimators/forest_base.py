"""Ways to read a fitted forest, shared by all estimators of forests."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from spinney.algorithms.trace import Trace
from spinney.data import Problem, as_rows
from spinney.data.checks import check_boolean
from spinney.data.warn_caller import warn_caller
from spinney.ensembles.calibration import ProbabilityMap
from spinney.estimators.base import Classification, Estimator
from spinney.estimators.tao_base import TAOEstimator
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout
from spinney.tree.route import apply
from spinney.tree.size import count_flops
from spinney.tree.structure import Tree


class ForestEstimator(Estimator):
    """Leaves, paths and sizes of the trees of a forest."""

    forest_: Forest

    def _forest(self) -> Forest:
        return self.forest_

    _parts = "n_estimators"  # parameter that says how many parts a forest is fitted in

    @property
    def trees_(self) -> tuple[Tree, ...]:
        """The trees, in the order they were grown."""
        check_is_fitted(self, "forest_")
        return self.forest_.trees

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Node number of the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        int32 ndarray of shape (n_rows, n_trees)
        """
        rows = self._checked_rows(X)
        return self.forest_.apply(as_rows(rows), n_threads=self._n_threads())

    def decision_path(self, X: ArrayLike) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
        """Nodes that each row passes in all trees, as a sparse 0/1 matrix.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        indicator : CSR matrix of shape (n_rows, n_nodes of all trees)
        n_nodes_ptr : int64 ndarray of shape (n_trees + 1,)
            Columns ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]`` belong to tree t.
        """
        rows = self._checked_rows(X)
        return self.forest_.decision_path(as_rows(rows), n_threads=self._n_threads())

    def __len__(self) -> int:
        """Number of trees; 0 before ``fit``."""
        return self.forest_.n_trees if hasattr(self, "forest_") else 0

    def __bool__(self) -> bool:
        """True, also while there are no trees."""
        return True

    def _is_continued(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "forest_")

    def _n_parts(self) -> int:
        """How many parts are fitted."""
        return len(self)

    def _warn_if_complete(self) -> None:
        """Warn of a warm start that has all it was asked for; to be called by ``_fit``."""
        name, n_parts = self._parts, self._n_parts() if self._is_continued() else 0
        if n_parts == getattr(self, name):
            warn_caller(
                f"{name}={n_parts} with warm_start=True, and as many are fitted already, so that "
                f"nothing is; give more; try {name}={n_parts + 10}, or warm_start=False.",
            )

    def _known_trees(self) -> Iterable[Tree]:
        return self.trees_ if self._is_continued() else ()

    def _store_trees(
        self, trees: list[Tree], problem: Problem, shares: NDArray[np.float64]
    ) -> None:
        """Set the attributes that describe the trees; `shares` weight their importances."""
        forest = Forest(tuple(trees))
        importances = self._importances(problem)
        flops = 0.0
        for number, tree in enumerate(trees):
            # One tree after the other: leaves of all rows in all trees may be gigabytes.
            leaf_nodes = apply(tree, problem.rows, self._n_threads())
            leaves = tree.leaf_index[leaf_nodes]
            leaf_rows = _total_weights(leaves, problem.sample_weight, tree.n_leaves)
            flops += count_flops(tree, leaf_rows)
            importances.add(tree, leaf_nodes, float(shares[number]))
        self.forest_ = forest
        self.n_parameters_ = forest.n_parameters
        self.flops_ = flops
        self.feature_importances_ = self._importances_of_columns(importances.shares())


class TracedForest(ForestEstimator, TAOEstimator):
    """A forest of TAO trees that tells how each of them was optimised."""

    traces_: list[Trace]

    def _store_forest(
        self, trees: list[Tree], traces: list[Trace], problem: Problem, shares: NDArray[np.float64]
    ) -> None:
        """Set the attributes that describe the trees; `shares` weight their importances."""
        self._store_trees(trees, problem, shares)
        self.traces_ = traces
        self.n_iter_ = self._count_iterations(traces)

    def _count_iterations(self, traces: list[Trace]) -> int:
        """Sweeps of the longest optimisation."""
        return max(len(trace) for trace in traces)


class VotingForest(ForestEstimator, Classification):
    """Classifies by the largest entry of what the trees say together."""

    calibrate = False  # models of older releases know no map
    probability_slope_: float
    probability_votes_: float

    def _changeable(self) -> object:
        return self.calibrate

    def _check_calibrate(self) -> None:
        check_boolean("calibrate", self.calibrate)

    def _store_map(self, found: ProbabilityMap | None) -> None:
        """Keep a map to probabilities, in place of that of an earlier fit; None is no map."""
        for name in ("probability_slope_", "probability_votes_"):
            self.__dict__.pop(name, None)
        if found is not None:
            self.probability_slope_ = found.slope
            self.probability_votes_ = found.shared

    def _calibrated(self, readout: Readout) -> Readout:
        """The readout with the map to probabilities, if there is one and it is wanted."""
        self._check_calibrate()  # it may be changed after ``fit``
        if not (self.calibrate and hasattr(self, "probability_slope_")):
            return readout
        return readout.calibrated(self.probability_slope_, self.probability_votes_)


def _total_weights(
    groups: NDArray[np.int32], weights: NDArray[np.float64], n_groups: int
) -> NDArray[np.float64]:
    return np.asarray(np.bincount(groups, weights=weights, minlength=n_groups), dtype=np.float64)
