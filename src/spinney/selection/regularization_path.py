"""The regularisation path: trees over a grid of ``alpha``, and the choice of one of them.

The path itself is :func:`spinney.algorithms.path.optimize_path`. Here data are checked, errors are
measured on rows that the trees have not seen, and each tree becomes a fitted estimator.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import _safe_indexing

from spinney.algorithms.path import optimize_path
from spinney.algorithms.tao import OptimizedTree, TAOOptions
from spinney.data import Problem
from spinney.data.checks import check_real
from spinney.data.validation import check_sample_weight
from spinney.ensembles.recipe import Outline, Steps
from spinney.estimators.tree import (
    TAOTreeClassifier,
    TAOTreeRegressor,
    store_tree,
    tree_recipe,
)
from spinney.fitting.loop import fit_parts
from spinney.fitting.progress import Progress, display_for
from spinney.fitting.session import Session
from spinney.selection.row_loss import TAOTree, check_labelled_rows, mean_loss
from spinney.tree.structure import Topology, Tree

Folds: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]]

DEFAULT_ALPHAS = tuple(float(alpha) for alpha in np.geomspace(0.01, 100.0, 9))
"""Two values a decade, from hardly any penalty to a few leaves on most data."""


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """Fitted trees over a grid of `alpha`, and how well each of them does.

    Attributes
    ----------
    alphas : float64 ndarray of shape (n_alphas,)
        The papers' λ, in the order in which the trees were fitted.
    estimators : tuple of fitted estimators
        One an `alpha`, each fitted to all training rows.
    n_parameters, n_leaves : int64 ndarrays of shape (n_alphas,)
    train_error : float64 ndarray of shape (n_alphas,)
        Mean loss of a training row, by the estimator's own `loss`.
    validation_error : float64 ndarray of shape (n_alphas,) or None
        Mean loss of a row that the tree was not fitted to; None without validation rows or folds.
    validation_standard_error : float64 ndarray of shape (n_alphas,) or None
        Standard error of that mean, over the validation rows or over the folds.
    """

    alphas: NDArray[np.float64]
    estimators: tuple[TAOTree, ...]
    n_parameters: NDArray[np.int64]
    n_leaves: NDArray[np.int64]
    train_error: NDArray[np.float64]
    validation_error: NDArray[np.float64] | None = None
    validation_standard_error: NDArray[np.float64] | None = None

    @property
    def best_alpha(self) -> float:
        """The `alpha` of least validation error; the largest if several tie."""
        return float(self.alphas[self.best_index()])

    def best_estimator(self, *, one_standard_error: bool = False) -> TAOTree:
        """The fitted tree at :meth:`best_index`."""
        return self.estimators[self.best_index(one_standard_error=one_standard_error)]

    def best_index(self, *, one_standard_error: bool = False) -> int:
        """Place in the path of the tree to use.

        Parameters
        ----------
        one_standard_error : bool, default=False
            If False, the tree of least validation error. If True, the tree of largest `alpha`
            whose error is within one standard error of the least: smaller, and as good as far as
            the data can tell.
        """
        if self.validation_error is None or self.validation_standard_error is None:
            raise ValueError(
                "this path has no validation error to choose alpha by; give X_val and y_val, or "
                "cv; try regularization_path(estimator, X, y, cv=5)."
            )
        least = int(np.argmin(self.validation_error))
        slack = self.validation_standard_error[least] if one_standard_error else 0.0
        is_good = self.validation_error <= self.validation_error[least] + slack
        return int(np.argmax(np.where(is_good, self.alphas, -1.0)))


def regularization_path(
    estimator: TAOTree,
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    cv: Folds | None = None,
) -> RegularizationPath:
    """Trees over a grid of `alpha` with warm starts, judged on held-out rows.

    Parameters
    ----------
    estimator : TAOTreeClassifier or TAOTreeRegressor
        Says how trees are fitted. Its `alpha` is not used, it need not be fitted, and it is not
        changed. Each `alpha` gets `max_iter` sweeps, each tree starts from the one before. A
        `leaf_alpha` stays the same along the path.
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,) or (n_rows, n_outputs)
        Training rows, as for ``fit``.
    alphas : array-like of shape (n_alphas,) or None, default=None
        Values of `alpha` in the order of fitting. An increasing order measures best, because a
        large tree can shrink but a collapsed one hardly grows. None takes nine from 0.01 to 100.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the training rows. They count in the folds' errors too.
    X_val, y_val : array-like or None, default=None
        Validation rows that no tree is fitted to.
    cv : int, splitter, iterable of (train, test) row numbers, or None, default=None
        Folds of the training rows, in place of validation rows. Each fold fits a path of its
        own; the trees that are returned are fitted to all rows.

    Returns
    -------
    RegularizationPath

    Notes
    -----
    Errors are means of the estimator's own `loss`, so ``loss="log_loss"`` chooses by
    probabilities and ``loss="zero_one"`` by labels. `class_weight` counts as in ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier, regularization_path
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=3, random_state=0)
    >>> path = regularization_path(tree, X, y, alphas=[0.1, 1.0, 1000.0], cv=3)
    >>> len(path.estimators), int(path.n_leaves[-1])
    (3, 1)
    >>> tree = path.best_estimator(one_standard_error=True)
    """
    _check_estimator(estimator)
    _check_held_out(X_val, y_val, cv)
    grid = _checked_alphas(alphas)
    task = _Task.of(estimator, X, y, sample_weight)
    error: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    if X_val is not None and y_val is not None:
        check_labelled_rows(task.blank, X_val, y_val)
        trees = task.fitted_path(grid)
        error, deviation = np.array([mean_loss(tree, X_val, y_val) for tree in trees]).T
    elif cv is not None:
        targets = np.asarray(y)
        splitter = check_cv(cv, targets, classifier=is_classifier(estimator))
        folds = list(splitter.split(X, targets))
        trees = task.fitted_path(grid)
        weights = check_sample_weight(sample_weight, len(targets))
        error, deviation = _fold_errors(estimator, X, targets, weights, grid, folds)
    else:
        trees = task.fitted_path(grid)
    return RegularizationPath(
        alphas=grid,
        estimators=tuple(trees),
        n_parameters=np.array([tree.n_parameters_ for tree in trees], dtype=np.int64),
        n_leaves=np.array([tree.get_n_leaves() for tree in trees], dtype=np.int64),
        train_error=np.array([mean_loss(tree, X, y, sample_weight).mean for tree in trees]),
        validation_error=error,
        validation_standard_error=deviation,
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """Checked data, the start on them, and an estimator that knows the data but has no tree."""

    blank: TAOTree
    problem: Problem
    start: Topology | Tree
    options: TAOOptions

    @classmethod
    def of(
        cls, estimator: TAOTree, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> _Task:
        # Not `clone`, which would also clone, and so unfit, a fitted tree given as `init`.
        blank = type(estimator)(**estimator.get_params(deep=False))
        session = Session()
        problem = blank._read(session, X, y, sample_weight)
        recipe = tree_recipe(blank, session, problem)
        return cls(blank, problem, recipe.start, recipe.options)

    def fitted_path(self, alphas: NDArray[np.float64]) -> list[TAOTree]:
        """One fitted estimator an `alpha`."""
        path = self._path(alphas)
        trees = []
        for alpha, found in zip(alphas.tolist(), path, strict=True):
            tree = copy.copy(self.blank)
            tree.alpha = alpha
            store_tree(tree, found, self.problem)
            trees.append(tree)
        return trees

    def _path(self, alphas: NDArray[np.float64]) -> list[OptimizedTree]:
        """Optimised trees, and on request how far they are."""
        display = display_for(self.blank.verbose)
        progress = Progress("regularization_path", [] if display is None else [display])
        recipe = _TreesOfPath(self.start, self.options, alphas)
        with closing(progress):
            path = fit_parts(recipe, self.problem, Session(progress=progress), None, _store_nothing)
            progress.end(lambda: None)
        return path


@dataclass(frozen=True, eq=False)
class _TreesOfPath:
    """Recipe of a tree for each alpha, each from the one before it."""

    start: Topology | Tree
    options: TAOOptions
    alphas: NDArray[np.float64]
    kind: ClassVar[type[OptimizedTree]] = OptimizedTree
    is_saved_by_part: ClassVar[bool] = False

    @property
    def n_parts(self) -> int:
        return len(self.alphas)

    def outline(self, n_known: int) -> Outline:
        """Trees are counted."""
        return Outline("tree", len(self.alphas), first=n_known)

    def parts(
        self,
        problem: Problem,
        known: Sequence[OptimizedTree],
        saved: Sequence[OptimizedTree],
        steps: Steps,
    ) -> Generator[OptimizedTree, None, None]:
        """The trees in the order of their alphas."""
        del known, saved, steps
        return optimize_path(problem, self.start, self.options, self.alphas.tolist())


def _store_nothing(model: object, parts: list[OptimizedTree]) -> None:
    """Nobody who listens to a path asks for models."""


def _fold_errors(
    estimator: TAOTree,
    X: ArrayLike,
    targets: NDArray[Any],
    weights: NDArray[np.float64],
    alphas: NDArray[np.float64],
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean error of each `alpha` over the folds, and its standard error.

    Rows are those that the user gave: each fold learns by itself how columns become numbers.
    """
    errors = np.empty((len(folds), len(alphas)))
    for fold, (train, test) in enumerate(folds):
        X_fit, X_held = _safe_indexing(X, train), _safe_indexing(X, test)
        task = _Task.of(estimator, X_fit, targets[train], weights[train])
        for place, tree in enumerate(task.fitted_path(alphas)):
            errors[fold, place] = mean_loss(tree, X_held, targets[test], weights[test]).mean
    if len(errors) == 1:
        return errors[0], np.zeros(len(alphas))
    return errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))


def _check_estimator(estimator: object) -> None:
    if not isinstance(estimator, TAOTreeClassifier | TAOTreeRegressor):
        raise TypeError(
            f"estimator={type(estimator).__name__} has no regularisation path here; give a "
            "TAOTreeClassifier or a TAOTreeRegressor; try GridSearchCV over alpha for a pipeline."
        )


def _checked_alphas(alphas: ArrayLike | None) -> NDArray[np.float64]:
    """The grid as a float64 vector of finite numbers >= 0."""
    if alphas is None:
        return np.array(DEFAULT_ALPHAS)
    values = np.asarray(alphas)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"alphas has shape {values.shape}; give a list of at least one number; try "
            "alphas=[0.1, 1, 10]."
        )
    for place, value in enumerate(values.tolist()):
        check_real(f"alphas[{place}]", value, minimum=0.0, example="0.1")
    return values.astype(np.float64)


def _check_held_out(X_val: object, y_val: object, cv: object) -> None:
    """Raise unless there is at most one way to measure the validation error."""
    if (X_val is None) != (y_val is None):
        missing = "X_val" if X_val is None else "y_val"
        raise ValueError(
            f"{missing} is missing; give both X_val and y_val, or neither; try cv=5 if there are "
            "no rows to spare."
        )
    if X_val is not None and cv is not None:
        raise ValueError(
            f"cv={cv!r} was given beside X_val and y_val; give one of the two; try leaving out cv."
        )
