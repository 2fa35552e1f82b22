"""Look at a model: one figure of each kind, written into a folder.

The folder is `plots`, or the one named on the command line. What each figure shows is told in
`docs/guide/plots.md`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_moons,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from spinney import (
    FAOForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
    regularization_path,
)
from spinney.plotting import (
    DecisionRegionsDisplay,
    ErrorCurveDisplay,
    FeatureImportanceDisplay,
    HyperplaneGalleryDisplay,
    RegularizationPathDisplay,
    TraceDisplay,
    plot_tree,
)


def main(folder: Path = Path("plots")) -> None:
    """Draw every kind of plot and say how long it took."""
    mpl.use("Agg")  # figures go into files, no window opens
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    for part in (digits, table, numbers, plane):
        for name, display in part():
            path = folder / f"{name}.png"
            display.figure_.savefig(path, dpi=100)
            plt.close(display.figure_)
            print(path)
    print(f"{time.perf_counter() - began:.1f} s")


def digits() -> Iterator[tuple[str, Any]]:
    """Pictures: hyperplanes, the optimisation, errors as trees are added."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    tree = TAOTreeClassifier(max_depth=4, alpha=1.0, random_state=0).fit(X_train, y_train)
    yield "tree_of_pictures", plot_tree(tree, X_test, y_test, image_shape=(8, 8))
    yield "trace_of_a_tree", TraceDisplay.from_estimator(tree)

    options = {"max_depth": 4, "max_iter": 10, "random_state": 0}
    bagged = TAOForestClassifier(n_estimators=15, **options).fit(X_train, y_train)
    gallery = HyperplaneGalleryDisplay.from_estimator(
        bagged, X_train, y_train, image_shape=(8, 8), sort_by="importance"
    )
    yield "hyperplanes", gallery
    yield "traces_of_a_forest", TraceDisplay.from_estimator(bagged)

    models = {
        "one tree": tree,
        "bagged": bagged,
        "boosted": TAOBoostClassifier(15, max_depth=4, random_state=0).fit(X_train, y_train),
        "FAO": FAOForestClassifier(n_forests=3, n_trees=5, **options).fit(X_train, y_train),
        "random forest": RandomForestClassifier(40, random_state=0).fit(X_train, y_train),
    }
    errors = ErrorCurveDisplay.from_estimators(models, X_test, y_test)
    yield "error_against_trees", errors
    yield "error_against_parameters", errors.plot(against="parameters")
    yield "confusion", ConfusionMatrixDisplay.from_estimator(models["FAO"], X_test, y_test)


def table() -> Iterator[tuple[str, Any]]:
    """Tables with names: bars, importances, the choice of alpha."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(data.data, labels, random_state=0)
    forest = TAOForestClassifier(n_estimators=15, max_depth=3, max_iter=10, random_state=0)
    forest.fit(X_train, y_train)
    yield (
        "importance",
        FeatureImportanceDisplay.from_estimator(forest, X_train, y_train, max_features=12),
    )
    found = permutation_importance(forest, X_test, y_test, n_repeats=5, random_state=0)
    yield (
        "importance_by_permutation",
        FeatureImportanceDisplay.from_importances(
            found.importances.T,
            feature_names=data.feature_names,
            max_features=12,
            what="loss of accuracy (share of rows)",
        ),
    )

    wine = load_wine(as_frame=True)
    small = TAOTreeClassifier(max_depth=3, max_iter=10, alpha=0.1, random_state=0)
    tree = small.fit(wine.data, wine.target_names[wine.target])
    yield "tree_of_bars", plot_tree(tree, wine.data, wine.target_names[wine.target])
    path = regularization_path(small, wine.data, wine.target, cv=4)
    yield "regularization_path", RegularizationPathDisplay.from_path(path)


def numbers() -> Iterator[tuple[str, Any]]:
    """A regression: values in leaves, partial dependence."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = TAOTreeRegressor(max_depth=3, alpha=3.0, random_state=0).fit(X, y)
    yield "tree_of_numbers", plot_tree(tree, X, y)
    forest = TAOForestRegressor(n_estimators=10, max_depth=3, max_iter=5, random_state=0).fit(X, y)
    _, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    display = PartialDependenceDisplay.from_estimator(
        forest, X, ["bmi", "s5", ("bmi", "s5")], grid_resolution=15, ax=axes
    )
    yield "partial_dependence", display


def plane() -> Iterator[tuple[str, Any]]:
    """Two columns: what is predicted where, which split decides it, and how sure it is."""
    X, y = make_moons(300, noise=0.25, random_state=0)
    tree = TAOTreeClassifier(max_depth=4, alpha=0.5, random_state=0).fit(X, y)
    yield "regions_of_a_tree", DecisionRegionsDisplay.from_estimator(tree, X, y)
    forest = TAOForestClassifier(n_estimators=20, max_depth=4, max_iter=10, random_state=0)
    forest.fit(X, y)
    yield "regions_of_a_forest", DecisionRegionsDisplay.from_estimator(forest, X, y)
    X_test, y_test = make_moons(2000, noise=0.25, random_state=1)
    yield "calibration", CalibrationDisplay.from_estimator(forest, X_test, y_test, n_bins=8)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
