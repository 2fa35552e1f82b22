"""Choose the shape, the penalty and the iterations of averaged FAO forests on validation rows.

One forest of many trees fits best and overfits first, many forests of few trees average best
([1]_ section 5 and fig. 4). Which of them, how strong a penalty and how many iterations depends
on the data. One run tells the error after each of its iterations, so those come for free,
unless the run follows a schedule of its length.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from spinney.data.checks import check_choice, check_integer, check_share
from spinney.estimators.fao import FAOForestClassifier, FAOForestRegressor
from spinney.estimators.parameter_checks import check_alpha
from spinney.selection.held_out import HeldOut, hold_out, not_empty

FAOForest = FAOForestClassifier | FAOForestRegressor

#: Factors on `alpha`, and trees a forest, that are tried by default.
FACTORS = (0.3, 1.0, 3.0)
SIZES = (5, 10, 20, 30, 60)

#: What `alpha` may be chosen on.
CHOSEN_ON = ("forest", "tree")


@dataclass(frozen=True)
class FAOTuning:
    """What was tried, and the forest that came out of it.

    Attributes
    ----------
    table : list of dict
        One entry a trial: `alpha`, `n_trees` (T), `n_forests` (Q), `max_iter` (the best number of
        iterations), `loss` (mean loss on the validation rows then), `score` (accuracy or R²
        then) and `losses` (after each iteration). With ``alpha_on="tree"`` the trials of single
        trees come first.
    best_params : dict
        The parameters of least validation loss, ready for ``set_params``.
    best_estimator : FAOForestClassifier or FAOForestRegressor
        Fitted with them to all rows.
    """

    table: list[dict[str, Any]]
    best_params: dict[str, Any]
    best_estimator: FAOForest


def tune_fao(
    estimator: FAOForest,
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: Iterable[float] | None = None,
    trees_per_forest: Iterable[int] | None = None,
    alpha_on: str = "forest",
    sample_weight: ArrayLike | None = None,
    validation_fraction: float = 0.2,
) -> FAOTuning:
    """Choose `alpha`, T against Q and `max_iter` on validation rows, and fit with them.

    Parameters
    ----------
    estimator : FAOForestClassifier or FAOForestRegressor
        Says all else, and with `n_forests` * `n_trees` how many trees there are in all. It need
        not be fitted and is not changed. `max_iter` is the most iterations that are tried; with
        `max_weights` or `average_last`, by which the end of a run differs from its middle, whole
        runs are judged, and it stays as it is.
    X, y : array-like
        Training rows, as for ``fit``.
    alphas : iterable of float or None, default=None
        Values of `alpha`. None takes 0.3, 1 and 3 times that of the estimator; 0 stays 0.
    trees_per_forest : iterable of int or None, default=None
        Values of `n_trees`, each a divisor of the number of all trees. None takes those among 5,
        10, 20, 30 and 60, that of the estimator, and one forest of all trees.
    alpha_on : {"forest", "tree"}, default="forest"
        Try every `alpha` with every shape, or choose it once on a single tree and take it for all
        shapes, as in section 6 of the FAO paper: far fewer fits, but one tree may want another
        penalty than a forest.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows, both of those that are trained on and of those to judge by.
    validation_fraction : float, default=0.2
        Share of the rows to judge by, drawn by the estimator's `random_state`, of every class the
        same share. The result is fitted to all rows.

    Returns
    -------
    FAOTuning

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import FAOForestClassifier, tune_fao
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = FAOForestClassifier(2, 2, max_depth=2, max_iter=5, random_state=0)
    >>> found = tune_fao(forest, X, y, alphas=[0.1, 1.0], trees_per_forest=[2, 4])
    >>> len(found.table), found.best_params["n_trees"] in (2, 4)
    (4, True)
    """
    if not isinstance(estimator, FAOForest):
        raise TypeError(
            f"estimator={type(estimator).__name__} is no FAO forest; give a FAOForestClassifier "
            "or FAOForestRegressor; try sklearn.model_selection.GridSearchCV for others."
        )
    check_share("validation_fraction", validation_fraction, example="0.2")
    shapes = _shapes(estimator, trees_per_forest)
    wanted = _alphas(estimator, alphas)
    check_choice("alpha_on", alpha_on, CHOSEN_ON)
    rows = hold_out(estimator, X, y, sample_weight, validation_fraction)
    on_trees = [_trial(estimator, rows, alpha, 1, 1) for alpha in wanted if alpha_on == "tree"]
    if on_trees:
        wanted = [_best(on_trees)["alpha"]]
    total = estimator.n_forests * estimator.n_trees
    on_forests = [
        _trial(estimator, rows, alpha, total // n_trees, n_trees)
        for alpha, n_trees in product(wanted, shapes)
    ]
    best = _best(on_forests)
    params = {name: best[name] for name in ("alpha", "n_trees", "n_forests", "max_iter")}
    chosen = clone(estimator).set_params(early_stopping=False, **params)
    return FAOTuning([*on_trees, *on_forests], params, chosen.fit(X, y, sample_weight))


def _trial(
    estimator: FAOForest, rows: HeldOut, alpha: float, n_forests: int, n_trees: int
) -> dict[str, Any]:
    """One entry of the table: fitted to one part of the rows, judged on the other."""
    values = {"alpha": alpha, "n_trees": n_trees, "n_forests": n_forests}
    stops = not _follows_a_schedule(estimator)
    trial = clone(estimator).set_params(early_stopping=stops, warm_start=False, **values)
    data = rows.X_fit, rows.y_fit, rows.weights, rows.X_held, rows.y_held, rows.weights_held
    trial._transact(data, type(trial)._fit)
    score = trial.score(rows.X_held, rows.y_held, rows.weights_held)
    return _entry(values, trial, float(score))


def _best(table: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry of least validation loss."""
    return min(table, key=lambda entry: float(entry["loss"]))


def _follows_a_schedule(estimator: FAOForest) -> bool:
    """Whether a run of n iterations is another one than the first n iterations of a longer run."""
    return estimator.max_weights is not None or estimator.average_last != 1


def _entry(values: dict[str, Any], trial: FAOForest, score: float) -> dict[str, Any]:
    losses = trial.validation_losses_
    n_iterations = int(trial.n_iter_) if trial.early_stopping else int(trial.max_iter)
    return {
        **values,
        "max_iter": n_iterations,
        "loss": float(losses[trial.n_iter_ - 1]),
        "score": score,
        "losses": losses,
    }


def _alphas(estimator: FAOForest, alphas: Iterable[float] | None) -> list[float]:
    if alphas is None:
        check_alpha(estimator.alpha)
        return list(dict.fromkeys(factor * float(estimator.alpha) for factor in FACTORS))
    found = list(alphas)
    for alpha in found:
        check_alpha(alpha)
    return not_empty("alphas", found)


def _shapes(estimator: FAOForest, trees_per_forest: Iterable[int] | None) -> list[int]:
    """Numbers of trees a forest, all of which divide the number of all trees."""
    check_integer("n_forests", estimator.n_forests, minimum=1, example="5")
    check_integer("n_trees", estimator.n_trees, minimum=1, example="10")
    total = int(estimator.n_forests) * int(estimator.n_trees)
    if trees_per_forest is None:
        own = int(estimator.n_trees)
        return sorted({size for size in (*SIZES, own, total) if total % size == 0})
    found = list(trees_per_forest)
    for size in found:
        check_integer("trees_per_forest", size, minimum=1, example="[5, 10]")
        if total % int(size):
            raise ValueError(
                f"trees_per_forest holds {size}, but {total} trees in all cannot be dealt out to "
                f"forests of {size}; give divisors of n_forests * n_trees; try [{total}]."
            )
    return not_empty("trees_per_forest", [int(size) for size in found])
