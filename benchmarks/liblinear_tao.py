"""TAO the papers' own way: Python, and scikit-learn's LIBLINEAR at every decision node.

This is the yardstick of the speed figures, so it wastes nothing: one matrix product routes all
rows through all splits, only the sibling subtree is walked, and a node is sent to LIBLINEAR only
if its care points disagree. What is left is the time of `LogisticRegression.fit` itself.

Constant leaves, 0/1 loss, complete tree, root-first sweeps, every surrogate solution accepted,
the best tree of the run returned, as in our own optimiser.

References
----------
Bagged TAO, sections 3 and 5.1.2; boosted TAO, section IV, algorithm 2 and eq. (4).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sklearn
from hyperplanes import (
    Hyperplanes,
    Scaling,
    balanced_start,
    decisions,
    level_nodes,
    walk,
)
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Sweep:
    """What one sweep over the tree left behind."""

    objective: float
    loss: float
    n_active: int
    n_problems: int
    seconds: float


@dataclass
class State:
    """The tree being optimised and where its rows are."""

    planes: Hyperplanes
    labels: Ints
    leaf: Ints


class LiblinearTAO:
    """One oblique TAO tree whose node problems are solved by LIBLINEAR.

    Parameters
    ----------
    max_depth : int
        Levels of splits of the complete tree (the papers' delta).
    alpha : float
        Weight of the l1 norm (the papers' lambda); LIBLINEAR gets C = 1 / alpha.
    max_iter : int
        Number of sweeps.
    start : Hyperplanes or None
        Initial hyperplanes over standardised features; None draws a balanced random start.
    random_state : int
        Seed of the start and of LIBLINEAR's coordinate order.

    Notes
    -----
    LIBLINEAR penalises the bias as one more weight, our objective does not count it. A bias
    column of 10 instead of 1 makes that penalty small: on Letter the objective was lower after
    each of six sweeps (1709 against 1739 after the last; one seed, alpha = 0.1).
    """

    def __init__(
        self,
        *,
        max_depth: int = 8,
        alpha: float = 0.1,
        max_iter: int = 40,
        start: Hyperplanes | None = None,
        random_state: int = 0,
        solver_tol: float = 1e-4,
        solver_max_iter: int = 100,
        intercept_scaling: float = 10.0,
    ) -> None:
        self.max_depth = max_depth
        self.alpha = alpha
        self.max_iter = max_iter
        self.start = start
        self.random_state = random_state
        self.solver_tol = solver_tol
        self.solver_max_iter = solver_max_iter
        self.intercept_scaling = intercept_scaling

    def fit(self, X: NDArray[Any], y: NDArray[Any], sample_weight: Any = None) -> LiblinearTAO:
        """Optimise a complete tree on rows `X` with class labels `y`."""
        begin = time.perf_counter()
        self.scaling_ = Scaling.of(X)
        self._Z = self.scaling_.apply(X)
        self.classes_, self._y = np.unique(y, return_inverse=True)
        self._weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.trace_: list[Sweep] = []
        self.n_unconverged_ = 0
        best: tuple[float, Hyperplanes, Ints] | None = None
        state = self._initial_state()
        with (
            warnings.catch_warnings(),
            sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
        ):
            # Counted in n_unconverged_ instead: thousands of small solves, one warning each.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for _ in range(self.max_iter):
                n_problems = self._sweep(state)
                pruned = self._record(state, n_problems, begin)
                if best is None or self.trace_[-1].objective < best[0]:
                    best = (self.trace_[-1].objective, pruned, state.labels.copy())
        if best is None:
            raise ValueError(f"max_iter={self.max_iter} makes no sweep; give an integer >= 1.")
        self.objective_, self.planes_, self.labels_ = best
        del self._Z, self._y, self._weight
        return self

    def _initial_state(self) -> State:
        planes = self.start
        if planes is None:
            planes = balanced_start(self._Z, self.max_depth, self.random_state)
        planes = planes.copy()
        rows = np.arange(len(self._Z))
        leaf = walk(decisions(self._Z, planes), rows, np.zeros_like(rows), planes.depth)
        state = State(planes, np.zeros(planes.n_splits + 1, dtype=np.int64), leaf)
        self._refit_leaves(state)
        return state

    def _sweep(self, state: State) -> int:
        """Re-solve every split, root first, then every leaf; gives the problems solved."""
        planes = state.planes
        table = decisions(self._Z, planes)
        rows = np.arange(len(self._Z))
        node = np.zeros_like(rows)
        n_problems = 0
        for level in range(planes.depth):
            was_right = table[rows, node]
            # A row's own leaf is known, so only its sibling subtree is walked.
            sibling = 2 * node + 2 - was_right
            other_leaf = walk(table, rows, sibling, planes.depth - level - 1)
            is_right = was_right.copy()
            n_problems += self._solve_level(state, level, node, is_right, other_leaf)
            state.leaf = np.where(is_right != was_right, other_leaf, state.leaf)
            node = 2 * node + 1 + is_right
        self._refit_leaves(state)
        return n_problems

    def _solve_level(
        self, state: State, level: int, node: Ints, is_right: NDArray[np.bool_], other_leaf: Ints
    ) -> int:
        """Solve the reduced problems of one level; `is_right` becomes the new decisions."""
        wrong_here = self._wrong(state.labels, state.leaf)
        cares = wrong_here != self._wrong(state.labels, other_leaf)
        # Pseudo-label: the child with the lower loss; stay if the row is right where it is.
        wants_right = is_right ^ wrong_here
        order = np.argsort(node, kind="stable")
        nodes = range(*level_nodes(level).indices(state.planes.n_splits))
        bounds = np.searchsorted(node[order], np.arange(nodes.start, nodes.stop + 1))
        n_problems = 0
        for i, first, last in zip(nodes, bounds[:-1], bounds[1:], strict=True):
            reduced = order[first:last]
            care = reduced[cares[reduced]]
            if len(care) == 0:
                continue
            n_problems += self._solve_node(state.planes, i, care, wants_right[care])
            score = self._Z[reduced] @ state.planes.weights[i] + state.planes.biases[i]
            is_right[reduced] = score >= 0
        return n_problems

    def _solve_node(
        self, planes: Hyperplanes, node: int, care: Ints, wants_right: NDArray[np.bool_]
    ) -> int:
        """Set one split from its care points; gives 1 if LIBLINEAR was called."""
        n_right = int(wants_right.sum())
        if n_right in (0, len(care)):
            planes.weights[node] = 0.0
            planes.biases[node] = 1.0 if n_right else -1.0
            return 0
        solver = LogisticRegression(
            solver="liblinear",
            l1_ratio=1.0,
            C=1.0 / self.alpha,
            tol=self.solver_tol,
            max_iter=self.solver_max_iter,
            intercept_scaling=self.intercept_scaling,
            random_state=self.random_state,
        )
        weight = None if self._weight is None else self._weight[care]
        solver.fit(self._Z[care], wants_right, sample_weight=weight)
        self.n_unconverged_ += int(solver.n_iter_[0] >= self.solver_max_iter)
        planes.weights[node] = solver.coef_[0]
        planes.biases[node] = solver.intercept_[0]
        return 1

    def _wrong(self, labels: Ints, leaf: Ints) -> NDArray[np.bool_]:
        return np.asarray(labels[leaf - (len(labels) - 1)] != self._y)

    def _refit_leaves(self, state: State) -> None:
        """Majority class of each leaf; a leaf without rows keeps its label."""
        n_classes, n_leaves = len(self.classes_), len(state.labels)
        cell = (state.leaf - (n_leaves - 1)) * n_classes + self._y
        votes = np.bincount(cell, weights=self._weight, minlength=n_leaves * n_classes)
        votes = votes.reshape(n_leaves, n_classes)
        reached = votes.sum(axis=1) > 0
        state.labels[reached] = votes[reached].argmax(axis=1)

    def _record(self, state: State, n_problems: int, begin: float) -> Hyperplanes:
        """Append the sweep to the trace; gives the pruned hyperplanes."""
        wrong = self._wrong(state.labels, state.leaf)
        loss = float(wrong.sum() if self._weight is None else self._weight[wrong].sum())
        pruned = prune(state)
        objective = loss + self.alpha * float(np.abs(pruned.weights).sum())
        active = int(pruned.weights.any(axis=1).sum())
        seconds = time.perf_counter() - begin
        self.trace_.append(Sweep(objective, loss, active, n_problems, seconds))
        return pruned

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Class of each row of `X`."""
        rows = np.arange(len(X))
        table = decisions(self.scaling_.apply(X), self.planes_)
        leaf = walk(table, rows, np.zeros_like(rows), self.planes_.depth)
        return np.asarray(self.classes_[self.labels_[leaf - self.planes_.n_splits]])

    @property
    def n_leaves_(self) -> int:
        """Leaves of the pruned tree."""
        return int(self.planes_.weights.any(axis=1).sum()) + 1

    @property
    def n_parameters_(self) -> int:
        """Non-zero weights and biases of splits, plus one per leaf (bagged TAO, 5.1.3)."""
        n_splits = self.n_leaves_ - 1
        return int(np.count_nonzero(self.planes_.weights)) + n_splits + self.n_leaves_

    def trace_dicts(self) -> list[dict[str, float]]:
        """The trace as plain dictionaries."""
        return [asdict(sweep) for sweep in self.trace_]


def prune(state: State) -> Hyperplanes:
    """Hyperplanes with zero weights wherever pruning would remove the node.

    Those are the nodes that send all training rows one way, and those below which every row
    gets the same label. Training predictions stay as they are.
    """
    planes = state.planes.copy()
    n_leaves = len(state.labels)
    reached = np.bincount(state.leaf - (n_leaves - 1), minlength=n_leaves) > 0
    label = np.where(reached, state.labels, -1)  # -1: no rows, -2: several labels below
    for level in reversed(range(planes.depth)):
        left, right = label[0::2], label[1::2]
        is_split = (left != right) & (left != -1) & (right != -1) | (left == -2) & (right == -2)
        nodes = level_nodes(level)
        planes.weights[nodes][~is_split] = 0.0
        # A removed node sends its rows to the child that had them.
        planes.biases[nodes] = np.where(
            is_split, planes.biases[nodes], np.where(left == -1, 1.0, -1.0)
        )
        zero = ~planes.weights[nodes].any(axis=1)
        label = np.where(is_split & ~zero, -2, np.where(left == -1, right, left))
    return planes
