"""Watch the validation error of a forest as it grows, to know its best number of trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from spinney import _core
from spinney.data import Problem, as_rows
from spinney.ensembles.seeds import VALIDATION, stream
from spinney.estimators.validation import check_known_labels, check_rows
from spinney.tree.route import outputs
from spinney.tree.structure import Tree


class Judged(NamedTuple):
    """Rows to judge by: codes of unknown classes are -1 and always count as wrong."""

    rows: _core.Rows
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]


def given_rows(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike) -> Judged:
    """Validation rows that the user gave."""
    rows = check_rows(estimator, X)
    labels: NDArray[Any] = column_or_1d(y)
    check_consistent_length(rows, labels)
    assert_all_finite(labels, input_name="y_val")
    check_classification_targets(labels)
    check_known_labels(estimator.classes_, labels)
    code_of = {label: code for code, label in enumerate(estimator.classes_.tolist())}
    codes = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.int32)
    return Judged(as_rows(rows), codes, np.ones(len(codes)))


def set_aside(problem: Problem, fraction: float, seed: int) -> tuple[Judged, NDArray[np.float64]]:
    """Part of the training rows to judge by, and the weights that leave them out of training.

    The same share of every class is set aside, at random.
    """
    n_rows = problem.n_rows
    shuffled = stream(seed, 0, VALIDATION).permutation(n_rows)
    order = shuffled[np.argsort(problem.classes[shuffled], kind="stable")]
    sizes = np.bincount(problem.classes, minlength=problem.n_classes)
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_aside = np.zeros(n_rows, dtype=np.bool_)
    n_aside = np.minimum(np.round(fraction * sizes), sizes - 1)  # every class is left to train on
    is_aside[order] = np.arange(n_rows) - firsts < np.repeat(n_aside, sizes)
    if not is_aside.any():
        raise ValueError(
            f"validation_fraction={fraction} of {n_rows} rows in {problem.n_classes} classes "
            "leaves no row to validate; give a share that rounds to at least one of several rows "
            "of a class; try more rows, or X_val and y_val."
        )
    judged = np.where(is_aside, problem.sample_weight, 0.0)
    trained = np.where(is_aside, 0.0, problem.sample_weight)
    return Judged(problem.rows, problem.classes, judged), trained


class Watch:
    """Error of a weighted vote after each tree, and whether it has stopped falling.

    Parameters
    ----------
    judged : Judged or None
        None watches nothing.
    n_classes : int
    patience : int or None
        Trees without progress after which growing is over; None never ends it.
    """

    def __init__(self, judged: Judged | None, n_classes: int, patience: int | None) -> None:
        self.judged = judged
        self.patience = patience
        self.errors: list[float] = []
        n_rows = 0 if judged is None else len(judged.codes)
        self._votes = np.zeros((n_rows, n_classes))

    def see(self, tree: Tree, weight: float, n_threads: int) -> None:
        """Add a tree to the vote."""
        if self.judged is None:
            return
        labels = outputs(tree, self.judged.rows, n_threads).argmax(axis=1)
        self._votes[np.arange(len(labels)), labels] += weight
        is_wrong = self._votes.argmax(axis=1) != self.judged.codes
        self.errors.append(float(np.average(is_wrong, weights=self.judged.weights)))

    @property
    def best(self) -> int | None:
        """Number of trees with the least error, the fewest if several; None without patience."""
        if self.patience is None or not self.errors:
            return None
        return int(np.argmin(self.errors)) + 1

    @property
    def is_over(self) -> bool:
        """Whether the last `patience` trees brought nothing."""
        return self.best is not None and len(self.errors) - self.best >= (self.patience or 0)

    @property
    def says(self) -> str:
        """The last error, for people."""
        return f"  validation error {self.errors[-1]:.4f}" if self.errors else ""
