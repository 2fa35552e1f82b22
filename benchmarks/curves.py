"""Error against the number of trees and against training time, from one fitted forest.

A curve takes the first t trees of the finished forest. Its seconds are those a clock saw after
each round where the library lets one in (LightGBM, XGBoost, CatBoost), the optimiser's own record
for our trees, and equal shares of the whole fit for scikit-learn's forests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_POINTS = 100
Labels = NDArray[np.int64]


class Clock:
    """Seconds since the start, noted after each round of boosting."""

    def __init__(self) -> None:
        self.ticks: list[float] = []
        self._begin = time.perf_counter()

    def tick(self, *_seen: Any) -> bool:
        """Note the time; True asks CatBoost to go on."""
        self.ticks.append(time.perf_counter() - self._begin)
        return True

    after_iteration = tick  # CatBoost's name for it


def fit_with_clock(estimator: Any, X: Any, y: Any) -> list[float]:
    """Fit, and give the seconds after each round; empty where no clock can be let in."""
    kind, clock = _family(estimator), Clock()
    if kind == "lightgbm":
        estimator.fit(X, y, callbacks=[clock.tick])
    elif kind == "catboost":
        estimator.fit(X, y, callbacks=[clock])
    elif kind == "xgboost":
        _fit_xgboost(estimator, X, y, clock)
    else:
        estimator.fit(X, y)
    return clock.ticks


def _fit_xgboost(estimator: Any, X: Any, y: Any, clock: Clock) -> None:
    from xgboost.callback import TrainingCallback

    class Ticking(TrainingCallback):
        def after_iteration(self, *_seen: Any) -> bool:
            clock.tick()
            return False  # go on

    estimator.set_params(callbacks=[Ticking()]).fit(X, y)
    estimator.set_params(callbacks=None)


def curve(
    estimator: Any, data: Any, wall_seconds: float, ticks: list[float]
) -> dict[str, list[Any]] | None:
    """Test and train error in % after so many rounds; None if the forest has no stages."""
    n_rounds = _n_rounds(estimator)
    if n_rounds is None or data.is_regression:
        return None
    points = _points(n_rounds)
    errors = {
        "test_error": _errors(estimator, data.X_test, data.y_test, points),
        "train_error": _errors(estimator, data.X_train, data.y_train, points),
    }
    seconds = _seconds(estimator, n_rounds, wall_seconds, ticks)
    trees = [point * _trees_a_round(estimator) for point in points]
    found = {"rounds": points, "trees": trees, "seconds": [seconds[p - 1] for p in points]}
    parameters = _parameters(estimator)
    if parameters:
        found["parameters"] = [parameters[point - 1] for point in points]
    if _family(estimator) == "trees":
        found["tree_error"] = _tree_errors(estimator, data)
    return {**found, **errors}


def _tree_errors(estimator: Any, data: Any) -> list[float]:
    """Test error in % of each of our trees by itself."""
    found = []
    for tree in _our_trees(estimator, data.X_test):
        labels = estimator.classes_[tree.argmax(axis=1)]
        found.append(100 * float(np.mean(labels != data.y_test)))
    return found


def _points(n_rounds: int) -> list[int]:
    if n_rounds <= N_POINTS:
        return list(range(1, n_rounds + 1))
    return np.unique(np.geomspace(1, n_rounds, N_POINTS).round().astype(int)).tolist()


def _errors(estimator: Any, X: Any, y: Any, points: list[int]) -> list[float]:
    stages = STAGES[_family(estimator)](estimator, X, points)
    return [100 * float(np.mean(labels != y)) for labels in stages]


def _seconds(
    estimator: Any, n_rounds: int, wall_seconds: float, ticks: list[float]
) -> NDArray[np.float64]:
    if len(ticks) == n_rounds:
        return np.asarray(ticks)
    spent = np.ones(n_rounds)
    traces = getattr(estimator, "traces_", ())
    if len(traces) == n_rounds:
        spent = np.array([trace.seconds[-1] for trace in traces])
    # What the optimiser does not see (weights, copies) is shared out in proportion.
    return np.asarray(wall_seconds * np.cumsum(spent) / spent.sum())


def _parameters(estimator: Any) -> list[int] | None:
    """Parameters of the first t trees, for our forests."""
    if not hasattr(estimator, "trees_"):
        return None
    from spinney.tree.size import count_parameters

    return np.cumsum([count_parameters(tree) for tree in estimator.trees_]).tolist()


def _family(estimator: Any) -> str:
    """Which way of making stages fits; "none" if there is none."""
    roots = {cls.__module__.split(".")[0] for cls in type(estimator).__mro__}
    for library in ("lightgbm", "xgboost", "catboost"):
        if library in roots:
            return library
    if hasattr(estimator, "staged_predict"):
        return "staged"
    if hasattr(estimator, "trees_"):
        return "trees"
    return "forest" if hasattr(estimator, "estimators_") else "none"


def _n_rounds(estimator: Any) -> int | None:
    counters: dict[str, Callable[[], int]] = {
        "lightgbm": lambda: int(estimator.booster_.current_iteration()),
        "xgboost": lambda: int(estimator.get_booster().num_boosted_rounds()),
        "catboost": lambda: int(estimator.tree_count_),
        "trees": lambda: len(estimator.trees_),
        "forest": lambda: len(estimator.estimators_),
        "staged": lambda: _n_stages(estimator),
    }
    family = _family(estimator)
    return counters[family]() if family in counters else None


def _n_stages(estimator: Any) -> int:
    for name in ("trees_", "estimators_", "_predictors"):
        if hasattr(estimator, name):
            return len(getattr(estimator, name))
    raise ValueError(f"{type(estimator).__name__} has staged_predict but no list of its trees.")


def _trees_a_round(estimator: Any) -> int:
    """Gradient boosting grows a tree a class in each round; CatBoost's trees serve all classes."""
    family = _family(estimator)
    if family in ("lightgbm", "xgboost") or hasattr(estimator, "_predictors"):
        n_classes = len(estimator.classes_)
        return n_classes if n_classes > 2 else 1
    return 1


def _staged(estimator: Any, X: Any, points: list[int]) -> Iterator[Labels]:
    wanted = set(points)
    for round_, labels in enumerate(estimator.staged_predict(X), start=1):
        if round_ in wanted:
            yield np.asarray(labels).ravel()


def _forest(estimator: Any, X: Any, points: list[int]) -> Iterator[Labels]:
    """scikit-learn's forests: averaged class fractions."""
    wanted, total = set(points), 0.0
    for t, tree in enumerate(estimator.estimators_, start=1):
        total = total + tree.predict_proba(X)
        if t in wanted:
            yield estimator.classes_[np.argmax(total, axis=1)]


def _our_forest(estimator: Any, X: Any, points: list[int]) -> Iterator[Labels]:
    """Our bagged and greedy forests: votes or averaged probabilities of the first trees."""
    voting = getattr(estimator, "voting", "soft")  # greedy forests always average
    is_soft = estimator.trees_[0].is_linear if voting == "auto" else voting == "soft"
    wanted, total = set(points), 0.0
    labels: Labels = np.zeros(0, dtype=np.int64)
    for t, found in enumerate(_our_trees(estimator, X), start=1):
        total = total + (found if is_soft else np.eye(found.shape[1])[found.argmax(axis=1)])
        labels = estimator.classes_[np.argmax(total, axis=1)]
        if t in wanted:
            yield labels
    _check_last_stage(estimator, X, labels)


def _our_trees(estimator: Any, X: Any) -> Iterator[NDArray[np.float64]]:
    """Class probabilities that each of our trees gives."""
    from scipy.special import softmax

    from spinney.data import as_rows
    from spinney.tree.route import outputs

    rows = as_rows(X)
    for tree in estimator.trees_:
        found = outputs(tree, rows)
        yield softmax(found, axis=1) if tree.is_linear else found


def _check_last_stage(estimator: Any, X: Any, labels: Labels) -> None:
    """The vote is counted anew here; it must be the forest's own. Ties may round differently."""
    share = float(np.mean(labels != estimator.predict(X)))
    if share > 0.002:
        raise ValueError(
            f"the last stage of the curve differs from predict in {100 * share:.2f} % of the rows; "
            "the forest combines its trees in a way that benchmarks/curves.py does not know."
        )


def _lightgbm(estimator: Any, X: Any, points: list[int]) -> Iterator[Labels]:
    """Raw scores of stretches of rounds add up, so each tree is walked once."""
    done, total = 0, 0.0
    for point in points:
        stretch = {"start_iteration": done, "num_iteration": point - done}
        total = total + estimator.predict(X, raw_score=True, **stretch)
        done = point
        yield _from_scores(estimator, total)


def _xgboost(estimator: Any, X: Any, points: list[int]) -> Iterator[Labels]:
    for point in points:
        yield np.asarray(estimator.predict(X, iteration_range=(0, point)))


def _catboost(estimator: Any, X: Any, points: list[int]) -> Iterator[Labels]:
    """Raw scores of stretches of rounds add up, so each tree is walked once."""
    done, total = 0, 0.0
    for point in points:
        stretch = {"ntree_start": done, "ntree_end": point}
        total = total + estimator.predict(X, prediction_type="RawFormulaVal", **stretch)
        done = point
        yield _from_scores(estimator, total)


def _from_scores(estimator: Any, scores: Any) -> Labels:
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    return np.asarray(estimator.classes_)[best]


STAGES: dict[str, Callable[[Any, Any, list[int]], Iterator[Labels]]] = {
    "staged": _staged,
    "forest": _forest,
    "trees": _our_forest,
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
}
