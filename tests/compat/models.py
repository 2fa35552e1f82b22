"""One small fitted model of every family, for tests of files, of the compatibility, and of fuzz.

All are fitted to the same few rows, so that a file takes a few kilobytes and a fit a few
milliseconds. The numbers are exact in float32. What is here stays as it is: the stored files and
pickles of every release hold these models. What may change is in `tests/contracts`.
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
from spinney.images import NeighborFeatures, PixelLabeler

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


def table(X: np.ndarray) -> pd.DataFrame:
    """A column of every kind, made from rows of numbers of any size, with holes."""
    steps = np.floor(X[:, :3] * 4).astype(np.int64)
    is_hole = steps % 5 == 0
    days = pd.Timestamp(2020, 1, 1) + pd.to_timedelta(steps[:, 0] % 99, "D")
    hours = pd.Series(pd.to_timedelta(steps[:, 2] % 50, "h"))
    return pd.DataFrame(
        {
            "size": np.where(is_hole[:, 0], np.nan, steps[:, 0] % 40 / 4),
            "job": pd.array(np.array(["cook", "smith", None], dtype=object)[steps[:, 1] % 3]),
            "town": pd.array([f"town {step % 9}" for step in steps[:, 2]]),
            "member": steps[:, 1] % 2 == 0,
            "since": pd.Series(days).where(~is_hole[:, 1]),
            "away": hours.where(~is_hole[:, 2]),
            "nothing": np.full(len(X), np.nan),
            "grade": pd.Categorical(steps[:, 0] % 3),
        }
    )


N_TABLE_COLUMNS = 8


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
def tao_forest_of_a_table() -> Any:
    return bagged().fit(table(rows()), classes())


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
    model = spinney.TAOBoostClassifier(3, max_depth=1, max_sweeps=2, random_state=0)
    return model.fit(rows(), classes(), X_val=rows()[:9], y_val=classes()[:9])


@family
def tao_gradient_boosting_classifier() -> Any:
    model = spinney.TAOGradientBoostingClassifier(
        3, max_depth=2, max_sweeps=2, random_state=0, n_iter_no_change=2, validation_fraction=0.2
    )
    return model.fit(rows(), classes())


@family
def tao_gradient_boosting_regressor() -> Any:
    model = spinney.TAOGradientBoostingRegressor(3, max_depth=2, max_sweeps=2, random_state=0)
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
    model = spinney.CO2ForestClassifier(2, max_depth=3, max_epochs=5, random_state=0)
    return model.fit(rows(), classes())


@family
def co2_forest_regressor() -> Any:
    model = spinney.CO2ForestRegressor(2, max_depth=2, max_epochs=5, random_state=0)
    return model.fit(rows(), numbers())


@family
def co2_tree_classifier() -> Any:
    return spinney.CO2TreeClassifier(max_depth=2, max_epochs=5, random_state=0).fit(
        rows(), classes()
    )


@family
def co2_tree_regressor() -> Any:
    return spinney.CO2TreeRegressor(max_depth=2, max_epochs=5, random_state=0).fit(
        rows(), numbers()
    )


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


def pictures(n_pictures: int, height: int, width: int, n_channels: int) -> list[np.ndarray]:
    """Images on a grid of eighths."""
    shape = (n_pictures, height, width, n_channels)
    return list(np.random.default_rng(7).integers(-16, 17, shape) / 8.0)


def labels_of(images: list[np.ndarray]) -> list[np.ndarray]:
    """Two labels of pixels, and pixels without a label."""
    found = [np.where(image[..., 0] > image[..., -1], 7, 3) for image in images]
    for labels in found:
        labels[0, :4] = -1
    return found


@family
def pixel_labeler() -> Any:
    images = pictures(3, 6, 5, 2)
    model = PixelLabeler(
        bagged(n_estimators=2, random_state=None), (1, 3), n_windows=50, random_state=0
    )
    return model.fit(images, labels_of(images))


@family
def pixel_labeler_of_a_rare_class() -> Any:
    """One class was not drawn, no column was scaled, and images go on beyond their border."""
    images = pictures(2, 6, 5, 1)
    labels = [np.where(image[..., 0] > 0, 1, 2) for image in images]
    labels[0][3, 3] = 5
    estimator = spinney.GreedyForestClassifier(2, max_depth=2, random_state=0)
    model = PixelLabeler(
        estimator, (3, 1), n_windows=30, border="reflect", balance=False, standardize=False,
        ignore_label=9, random_state=0,
    )  # fmt: skip
    return model.fit(images, labels)


@family
def pixel_labeler_of_a_frozen_forest() -> Any:
    images = pictures(2, 4, 4, 1)
    forest = bagged(n_estimators=1).fit(rows(), classes() % 2)
    model = PixelLabeler(FrozenEstimator(forest), (3, 1), n_windows=20, random_state=0)
    return model.fit(images, [image[..., 0] > 0 for image in images])


@family
def neighbor_features() -> Any:
    frame = pd.DataFrame(np.ones((1, 30)), columns=[f"p{place}" for place in range(30)])
    return NeighborFeatures((5, 6), step=1).set_output(transform="pandas").fit(frame)


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

#: Trees and forests: estimators that take rows of numbers, neither images nor tables.
FORESTS = [
    name
    for name in ESTIMATORS
    if not name.startswith(("pixel", "neighbor", "tao_forest_of_a_table"))
]


def answers(model: Any, X: Any = None) -> dict[str, np.ndarray]:
    """Everything that a model says of rows, by the method that says it.

    Models of images are asked about five pictures of a size that suits them, those of a table about
    one that is made of the rows.
    """
    X = rows() if X is None else X
    if isinstance(model, PixelLabeler):
        height, width = model.window_
        images = pictures(5, height + 3, width + 2, model.n_channels_)
        return {
            name: np.stack(getattr(model, name)(images)) for name in ("predict", "predict_proba")
        }
    if isinstance(model, NeighborFeatures):
        images = np.random.default_rng(7).integers(0, 2, (5, model.n_features_in_))
        if hasattr(model, "feature_names_in_"):
            images = pd.DataFrame(images).set_axis(model.feature_names_in_, axis=1)
        return {"transform": np.asarray(model.transform(images))}
    if isinstance(model, spinney.Tree):
        from spinney.data import as_rows
        from spinney.tree.route import apply, outputs

        native = as_rows(np.ascontiguousarray(X, dtype=np.float32))
        return {"apply": apply(model, native), "outputs": outputs(model, native)}
    if isinstance(model, spinney.RegularizationPath):
        said = [answers(tree, X) for tree in model.estimators]
        return {f"{n}.{k}": v for n, of_tree in enumerate(said) for k, v in of_tree.items()}
    if hasattr(model, "feature_names_in_"):
        is_table = model.n_features_in_ == N_TABLE_COLUMNS
        frame = table(X) if is_table else pd.DataFrame(X)
        X = frame.set_axis(model.feature_names_in_, axis=1)
    methods = ("predict", "predict_proba", "decision_function", "apply")
    return {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}
