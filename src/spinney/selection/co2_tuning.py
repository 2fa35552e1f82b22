"""Choose the start, the length and the learning rate of CO2 splits on validation rows.

As in [1]_ sections 5 and 6.1: the number of columns `q` comes from random forests, which are quick
to grow; then the grid of ν and η is tried with a few CO2 trees.

References
----------
.. [1] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
   Optimization of Oblique Splits", 2015.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier

from spinney.data.checks import check_integer, check_real
from spinney.data.warn_caller import warn_caller
from spinney.estimators.co2 import CO2ForestClassifier, CO2ForestRegressor
from spinney.estimators.greedy import GreedyForestClassifier, GreedyForestRegressor
from spinney.estimators.parameter_checks import count_features
from spinney.selection.held_out import HeldOut, hold_out, not_empty

CO2Forest = CO2ForestClassifier | CO2ForestRegressor

MAX_FEATURES = ("D**0.5", "D**0.6", "D**0.7", "D**0.8", "D**0.9")
MAX_NORMS = (0.1, 1.0, 4.0, 10.0, 43.0, 100.0)
LEARNING_RATES = (0.03, 0.01, 0.003)

#: Parameters that a random forest has in common with a CO2 forest.
SHARED = (
    "max_depth",
    "min_samples_split",
    "min_weight_fraction_leaf",
    "bootstrap",
    "max_samples",
    "random_state",
    "n_jobs",
    "categorical_features",
    "missing",
)


@dataclass(frozen=True)
class CO2Tuning:
    """What was tried, and the forest that came out of it.

    Attributes
    ----------
    table : list of dict
        One entry a trial: its parameters and `score` (accuracy or R² on the validation rows).
        Trials of random forests have only `max_features`.
    best_params : dict
        `max_features`, `max_norm` and `learning_rate` of the best scores, for ``set_params``.
    best_estimator : CO2ForestClassifier or CO2ForestRegressor
        Fitted with them to all rows.
    """

    table: list[dict[str, Any]]
    best_params: dict[str, Any]
    best_estimator: CO2Forest


def tune_co2(
    estimator: CO2Forest,
    X: ArrayLike,
    y: ArrayLike,
    *,
    max_features: Iterable[int | float | str | None] | None = None,
    max_norms: Iterable[float] | None = None,
    learning_rates: Iterable[float] | None = None,
    n_trees: int = 30,
    n_axis_trees: int = 100,
    sample_weight: ArrayLike | None = None,
    validation_fraction: float = 0.2,
) -> CO2Tuning:
    """Choose `max_features`, `max_norm` and `learning_rate` on validation rows, and fit with them.

    Parameters
    ----------
    estimator : CO2ForestClassifier or CO2ForestRegressor
        Says all else. It need not be fitted and is not changed.
    X, y : array-like
        Training rows, as for ``fit``.
    max_features : iterable or None, default=None
        Numbers of columns, tried with random forests of `n_axis_trees` trees. None takes the
        powers 0.5, 0.6, 0.7, 0.8 and 0.9 of their number, as the paper does.
    max_norms, learning_rates : iterable of float or None, default=None
        Values of ν and η, tried with CO2 forests of `n_trees` trees. None takes those of the
        paper: 0.1, 1, 4, 10, 43, 100 and 0.03, 0.01, 0.003.
    n_trees, n_axis_trees : int, default=30, 100
        Trees of a trial; the paper has 30 and 1000.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows.
    validation_fraction : float, default=0.2
        Share of the rows to judge by, drawn by the estimator's `random_state`, of every class the
        same share. The result is fitted to all rows.

    Returns
    -------
    CO2Tuning

    .. deprecated:: 0.2
       It will be gone in 0.4: two searches of scikit-learn do the same, below, with any splitter,
       any score and more than one fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
    >>> from spinney import CO2ForestClassifier, GreedyForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> held_out = StratifiedShuffleSplit(1, test_size=0.2, random_state=0)
    >>> columns = GridSearchCV(
    ...     GreedyForestClassifier(10, random_state=0), {"max_features": [1, 2]}, cv=held_out
    ... )
    >>> forest = CO2ForestClassifier(5, random_state=0, **columns.fit(X, y).best_params_)
    >>> found = GridSearchCV(forest, {"max_norm": [1.0, 10.0]}, cv=held_out).fit(X, y)
    >>> bool(found.best_estimator_.score(X, y) > 0.9)
    True
    """
    warn_caller(
        "tune_co2 will be gone in 0.4; give GridSearchCV a GreedyForest for max_features, and then "
        "a CO2 forest for max_norm and learning_rate; try help(tune_co2), which shows how.",
        FutureWarning,
    )
    if not isinstance(estimator, CO2Forest):
        raise TypeError(
            f"estimator={type(estimator).__name__} is no CO2 forest; give a CO2ForestClassifier "
            "or CO2ForestRegressor; try sklearn.model_selection.GridSearchCV for others."
        )
    check_integer("n_trees", n_trees, minimum=1, example="30")
    check_integer("n_axis_trees", n_axis_trees, minimum=1, example="100")
    columns = not_empty(
        "max_features", list(MAX_FEATURES if max_features is None else max_features)
    )
    norms = _positive("max_norms", MAX_NORMS if max_norms is None else max_norms)
    rates = _positive(
        "learning_rates", LEARNING_RATES if learning_rates is None else learning_rates
    )
    grid = list(product(norms, rates))
    for max_norm, rate in grid:  # before any work
        clone(estimator).set_params(max_norm=max_norm, learning_rate=rate)._check_parameters()
    for count in columns:
        count_features(count, int(np.shape(X)[1]))
    rows = hold_out(estimator, X, y, sample_weight, validation_fraction)
    axis = _axis_forest(estimator, int(n_axis_trees))
    of_axis = [_trial(axis, rows, {"max_features": count}) for count in columns]
    chosen = {"max_features": _best(of_axis)["max_features"]}
    base = clone(estimator).set_params(n_estimators=int(n_trees), warm_start=False, **chosen)
    of_co2 = [
        _trial(base, rows, {"max_norm": max_norm, "learning_rate": rate}) for max_norm, rate in grid
    ]
    best = _best(of_co2)
    params = chosen | {name: best[name] for name in ("max_norm", "learning_rate")}
    final = clone(estimator).set_params(**params).fit(X, y, sample_weight)
    return CO2Tuning([*of_axis, *of_co2], params, final)


def _axis_forest(estimator: Any, n_trees: int) -> BaseEstimator:
    """A random forest with the rows and limits of a CO2 forest."""
    shared = {name: getattr(estimator, name) for name in SHARED}
    if is_classifier(estimator):
        shared |= {"criterion": estimator.criterion, "class_weight": estimator.class_weight}
        return GreedyForestClassifier(n_trees, **shared)
    return GreedyForestRegressor(n_trees, **shared)


def _trial(base: Any, rows: HeldOut, values: dict[str, Any]) -> dict[str, Any]:
    trial = clone(base).set_params(**values).fit(rows.X_fit, rows.y_fit, rows.weights)
    score = trial.score(rows.X_held, rows.y_held, rows.weights_held)
    return {**values, "score": float(score)}


def _best(table: list[dict[str, Any]]) -> dict[str, Any]:
    """The first entry of the highest score."""
    return max(table, key=lambda entry: float(entry["score"]))


def _positive(name: str, values: Iterable[float]) -> list[float]:
    found = list(values)
    for value in found:
        check_real(name, value, minimum=0.0, is_open=True, example="[1.0, 10.0]")
    return not_empty(name, [float(value) for value in found])
