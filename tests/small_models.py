"""One small fitted model of every family, for tests of files, of the compatibility, and of fuzz.

All are fitted to the same few rows, so that a file takes a few kilobytes and a fit a few
milliseconds. The numbers are exact in float32.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator

import spinney
from spinney import RandomStructure

N_ROWS, N_FEATURES = 48, 3


def rows() -> np.ndarray:
    """Rows on a grid of quarters."""
    return np.random.default_rng(5).integers(-12, 13, (N_ROWS, N_FEATURES)) / 4.0


def classes() -> np.ndarray:
    """Three classes that oblique splits part."""
    X = rows()
    return (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] - X[:, 0] > 1)


def numbers() -> np.ndarray:
    """Two targets."""
    X = rows()
    return np.column_stack([X[:, 0] * 2 - X[:, 1], X[:, 2] ** 2])


def tree(**options: Any) -> spinney.TAOTreeClassifier:
    return spinney.TAOTreeClassifier(max_depth=2, max_iter=3, random_state=0, **options)


def bagged(**options: Any) -> spinney.TAOForestClassifier:
    options = {"n_estimators": 3, "max_depth": 2, "max_iter": 3, "random_state": 0, **options}
    return spinney.TAOForestClassifier(**options)


MAKERS: dict[str, Callable[[], Any]] = {}


def family(make: Callable[[], Any]) -> Callable[[], Any]:
    MAKERS[make.__name__] = make
    return make


@family
def tao_tree_classifier() -> Any:
    return tree().fit(rows(), classes())


@family
def tao_tree_linear_leaves() -> Any:
    return tree(leaf="linear", loss="log_loss").fit(rows(), classes())


@family
def tao_tree_regressor() -> Any:
    return spinney.TAOTreeRegressor(max_depth=2, max_iter=3, random_state=0).fit(rows(), numbers())


@family
def tao_forest_classifier() -> Any:
    model = bagged(bootstrap=True, oob_score=True, class_weight={0: 1.0, 1: 2.0, 2: 0.5})
    return model.fit(rows(), classes())


@family
def tao_forest_of_strings_and_names() -> Any:
    frame = pd.DataFrame(rows(), columns=["width", "höhe", "c"])
    return bagged(alpha=(0.1, 1.0), start="previous").fit(frame, np.array(list("xyz"))[classes()])


@family
def tao_forest_of_holes_and_levels() -> Any:
    X = rows()
    X[::5, 0] = np.nan
    X[::7, 2] = np.nan
    return bagged(categorical_features=[2]).fit(X, classes())


@family
def tao_forest_of_bools() -> Any:
    return bagged(init=RandomStructure(1, 2, 5), random_state=np.random.RandomState(3)).fit(
        rows(), classes() > 0
    )


@family
def tao_forest_from_a_tree() -> Any:
    return bagged(init=FrozenEstimator(tree().fit(rows(), classes()))).fit(rows(), classes())


@family
def tao_forest_regressor() -> Any:
    model = spinney.TAOForestRegressor(
        2, max_depth=2, max_iter=2, leaf="linear", bootstrap=True, oob_score=True, random_state=0
    )
    return model.fit(rows(), numbers()[:, 0])


@family
def tao_boost_classifier() -> Any:
    model = spinney.TAOBoostClassifier(3, max_depth=1, max_iter=2, random_state=0)
    return model.fit(rows(), classes(), X_val=rows()[:9], y_val=classes()[:9])


@family
def tao_gradient_boosting_classifier() -> Any:
    model = spinney.TAOGradientBoostingClassifier(
        3, max_depth=2, max_iter=2, random_state=0, n_iter_no_change=2, validation_fraction=0.2
    )
    return model.fit(rows(), classes())


@family
def tao_gradient_boosting_regressor() -> Any:
    model = spinney.TAOGradientBoostingRegressor(3, max_depth=2, max_iter=2, random_state=0)
    return model.fit(rows(), numbers())


@family
def fao_forest_classifier() -> Any:
    model = spinney.FAOForestClassifier(2, 2, max_depth=2, max_iter=2, random_state=0)
    return model.fit(rows(), classes())


@family
def fao_forest_from_a_forest() -> Any:
    start = bagged(n_estimators=4).fit(rows(), classes())
    model = spinney.FAOForestClassifier(2, 2, max_iter=2, random_state=0, init=start)
    return model.fit(rows(), classes())


@family
def fao_forest_regressor() -> Any:
    model = spinney.FAOForestRegressor(2, 2, max_depth=2, max_iter=2, random_state=0)
    return model.fit(rows(), numbers())


@family
def co2_forest_classifier() -> Any:
    model = spinney.CO2ForestClassifier(2, max_depth=3, max_iter=5, random_state=0)
    return model.fit(rows(), classes())


@family
def co2_forest_regressor() -> Any:
    model = spinney.CO2ForestRegressor(2, max_depth=2, max_iter=5, random_state=0)
    return model.fit(rows(), numbers())


@family
def co2_tree_classifier() -> Any:
    return spinney.CO2TreeClassifier(max_depth=2, max_iter=5, random_state=0).fit(rows(), classes())


@family
def co2_tree_regressor() -> Any:
    return spinney.CO2TreeRegressor(max_depth=2, max_iter=5, random_state=0).fit(rows(), numbers())


@family
def random_decision_forest_classifier() -> Any:
    return spinney.RandomDecisionForestClassifier(3, max_features=2, random_state=0).fit(
        rows(), classes()
    )


@family
def greedy_forest_classifier() -> Any:
    return spinney.GreedyForestClassifier(3, max_depth=3, random_state=0).fit(rows(), classes())


@family
def greedy_forest_regressor() -> Any:
    return spinney.GreedyForestRegressor(3, max_depth=3, random_state=0).fit(rows(), numbers())


@family
def refined_forest_classifier() -> Any:
    return spinney.refine_leaves(bagged().fit(rows(), classes()), rows(), classes())


@family
def refined_forest_regressor() -> Any:
    forest = spinney.GreedyForestRegressor(2, max_depth=2, random_state=0).fit(rows(), numbers())
    return spinney.refine_leaves(forest, rows(), numbers())


@family
def regularization_path() -> Any:
    return spinney.regularization_path(tree(), rows(), classes(), alphas=[0.1, 1.0], cv=2)


@family
def bare_tree() -> Any:
    return tao_tree_classifier().tree_


@cache
def small_model(name: str) -> Any:
    """The model of a family, fitted once; do not change it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some rows may be in every bag
        return MAKERS[name]()


ESTIMATORS = sorted(set(MAKERS) - {"regularization_path", "bare_tree"})


def answers(model: Any, X: Any = None) -> dict[str, np.ndarray]:
    """Everything that a model says of rows, by the method that says it."""
    X = rows() if X is None else X
    if isinstance(model, spinney.Tree):
        from spinney.data import as_rows
        from spinney.tree.route import apply, outputs

        native = as_rows(np.ascontiguousarray(X, dtype=np.float32))
        return {"apply": apply(model, native), "outputs": outputs(model, native)}
    if isinstance(model, spinney.RegularizationPath):
        said = [answers(tree, X) for tree in model.estimators]
        return {f"{n}.{k}": v for n, of_tree in enumerate(said) for k, v in of_tree.items()}
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model.feature_names_in_)
    methods = ("predict", "predict_proba", "decision_function", "apply")
    return {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}
