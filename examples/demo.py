"""Optimised oblique trees and small forests of them beside the usual ones, on bundled data.

Prints a table for a classification and for a regression task. Writes ``demo.png`` to the current
folder: the upper splits of one digits tree, and the error of the digits forests as they grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from spinney import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    FAOForestClassifier,
    FAOForestRegressor,
    RandomDecisionForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    TAOTreeClassifier,
    TAOTreeRegressor,
)
from spinney.tree import Tree, count_parameters, from_sklearn

PICTURE = Path("demo.png")
SEED = 0
N_CALLS = 20

CLASSIFIERS = {
    "TAO tree, constant leaves": TAOTreeClassifier(max_depth=6, random_state=SEED),
    "TAO tree, linear leaves": TAOTreeClassifier(max_depth=3, leaf="linear", random_state=SEED),
    "TAO forest": TAOForestClassifier(max_depth=6, random_state=SEED),
    "TAO boosting": TAOBoostClassifier(max_depth=6, random_state=SEED),
    "TAO gradient boosting": TAOGradientBoostingClassifier(
        n_estimators=50, max_depth=4, random_state=SEED
    ),
    "FAO forests": FAOForestClassifier(n_trees=6, max_depth=4, random_state=SEED),
    "CO2 forest": CO2ForestClassifier(random_state=SEED),
    "Ho's random decision forest": RandomDecisionForestClassifier(random_state=SEED),
    "CART of the same depth": DecisionTreeClassifier(max_depth=6, random_state=SEED),
    "random forest": RandomForestClassifier(random_state=SEED),
    "AdaBoost of CART, depth 8": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=8), n_estimators=100, random_state=SEED
    ),
    "gradient boosting": HistGradientBoostingClassifier(random_state=SEED),
}
REGRESSORS = {
    "TAO tree, constant leaves": TAOTreeRegressor(max_depth=6, random_state=SEED),
    "TAO tree, linear leaves": TAOTreeRegressor(max_depth=4, leaf="linear", random_state=SEED),
    "TAO forest, linear leaves": TAOForestRegressor(
        n_estimators=10, max_depth=4, leaf="linear", random_state=SEED
    ),
    "TAO gradient boosting": TAOGradientBoostingRegressor(random_state=SEED),
    "FAO forests": FAOForestRegressor(max_depth=4, random_state=SEED),
    "CO2 forest": CO2ForestRegressor(random_state=SEED),
    "CART of the same depth": DecisionTreeRegressor(max_depth=6, random_state=SEED),
    "random forest": RandomForestRegressor(random_state=SEED),
    "gradient boosting": HistGradientBoostingRegressor(random_state=SEED),
}


def main() -> None:
    """Compare the models on both tasks with one thread each, then draw the first one."""
    with threadpool_limits(limits=1):
        run()


def run() -> None:
    """Fit, print and draw."""
    digits = train_test_split(*load_digits(return_X_y=True), random_state=SEED)
    compare("Digits: 1347 training rows, 64 features, 10 classes", CLASSIFIERS, digits)
    friedman = make_friedman1(n_samples=4000, noise=1.0, random_state=SEED)
    split = train_test_split(*friedman, random_state=SEED)
    compare("Friedman's function 1: 3000 training rows, 10 features, noise 1", REGRESSORS, split)
    draw(CLASSIFIERS, digits, PICTURE)
    print(f"The upper splits of the first tree, and the forests as they grow, are in {PICTURE}.")


def compare(title: str, models: dict[str, BaseEstimator], data: list[np.ndarray]) -> None:
    """Fit each model and print a line about it."""
    X_train, X_test, y_train, y_test = data
    measure = "error" if is_classifier(next(iter(models.values()))) else "RMSE"
    print(f"\n{title}\n")
    print(
        f"{'model':<28}{'test ' + measure:>12}{'trees':>7}{'depth':>7}{'parameters':>12}"
        f"{'fit s':>8}{'one row µs':>12}"
    )
    for name, model in models.items():
        start = perf_counter()
        model.fit(X_train, y_train)
        seconds = perf_counter() - start
        error = error_text(model, X_test, y_test)
        n_trees, depth, n_parameters = size_of(model)
        print(
            f"{name:<28}{error:>12}{n_trees:>7,}{depth:>7}{n_parameters:>12,}"
            f"{seconds:>8.2f}{microseconds_of_a_row(model, X_test[:1]):>12,.0f}"
        )
    print()


def error_text(model: BaseEstimator, X: np.ndarray, y: np.ndarray) -> str:
    """Share of wrong labels, or root of the mean squared error, as text."""
    predicted = model.predict(X)
    if is_classifier(model):
        return f"{np.mean(predicted != y):.2%}"
    return f"{np.sqrt(np.mean((predicted - y) ** 2)):.3f}"


def microseconds_of_a_row(model: BaseEstimator, row: np.ndarray) -> float:
    """Time of one prediction, the median of some."""
    seconds = []
    for _ in range(N_CALLS):
        start = perf_counter()
        model.predict(row)
        seconds.append(perf_counter() - start)
    return 1e6 * median(seconds)


def size_of(model: BaseEstimator) -> tuple[int, int, int]:
    """Number of trees, depth of the deepest leaf, and parameters, counted alike for all models."""
    if hasattr(model, "_predictors"):  # gradient boosting: a split has a feature and a threshold
        trees = [tree.nodes for round_ in model._predictors for tree in round_]
        sizes = [2 * len(nodes) - nodes["is_leaf"].sum() for nodes in trees]
        return len(trees), max(int(nodes["depth"].max()) for nodes in trees), int(sum(sizes))
    trees = list(trees_of(model))
    return len(trees), max(tree.max_depth for tree in trees), sum(map(count_parameters, trees))


def trees_of(model: BaseEstimator) -> Iterator[Tree]:
    """All trees of a model in the form of this library."""
    if hasattr(model, "trees_"):
        yield from model.trees_
        return
    for member in getattr(model, "estimators_", [model]):
        yield member.tree_ if isinstance(member.tree_, Tree) else from_sklearn(member)


def draw(models: dict[str, BaseEstimator], data: list[np.ndarray], path: Path) -> None:
    """Draw the splits of the first model, its trace, and the forests among the models."""
    _, X_test, _, y_test = data
    first = models["TAO tree, constant leaves"]
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplot_mosaic(
        [
            [".", "0", "0", ".", "forests", "forests", "forests"],
            ["1", "1", "2", "2", "forests", "forests", "forests"],
            ["3", "4", "5", "6", "trace", "trace", "trace"],
        ]
    )
    draw_splits(axes, first.tree_)
    draw_trace(axes["trace"], first.trace_)
    for name, model in models.items():
        errors = [np.mean(labels != y_test) for labels in stages(model, X_test)]
        if errors:
            n_trees = size_of(model)[0] * np.arange(1, len(errors) + 1) / len(errors)
            axes["forests"].plot(n_trees, 100 * np.array(errors), label=name)
    axes["forests"].set(xscale="log", ylim=(0, 15), xlabel="trees", ylabel="test error %")
    axes["forests"].legend()
    axes["forests"].set_title("forests as they grow", fontsize=9)
    axes["trace"].set_title("the tree on the left as it is optimised", fontsize=9)
    figure.suptitle("Upper splits of a digits tree: red pixels send right, blue ones left")
    figure.savefig(path, dpi=120)


def stages(model: BaseEstimator, X: np.ndarray) -> Iterator[np.ndarray]:
    """Labels by the first tree of a forest, the first two, and so on; nothing for one tree."""
    if hasattr(model, "staged_predict"):
        yield from model.staged_predict(X)
        return
    sums = 0.0
    for said in votes(model, X):
        sums = sums + said
        yield model.classes_[np.argmax(sums, axis=1)]


def votes(model: BaseEstimator, X: np.ndarray) -> Iterator[np.ndarray]:
    """What each tree of a bagged forest adds to the sums from which the forest decides."""
    if isinstance(model, TAOForestClassifier):
        leaves = model.apply(X)
        for number, tree in enumerate(model.trees_):
            fractions = tree.leaf_values[tree.leaf_index[leaves[:, number]]]
            yield np.eye(len(model.classes_))[fractions.argmax(axis=1)]
    else:
        for tree in getattr(model, "estimators_", []):
            yield tree.predict_proba(X)


def draw_splits(axes: dict, tree: Tree) -> None:
    """Draw the root, its children and theirs; a place stays empty below a leaf."""
    shape = (tree.n_nodes, tree.n_features)
    weights = csr_matrix((tree.split_weights, tree.split_indices, tree.split_indptr), shape)
    nodes = [0]
    for place in range(7):
        node = nodes[place]
        is_split = node >= 0 and tree.left[node] >= 0
        nodes += [tree.left[node], tree.right[node]] if is_split else [-1, -1]
        axes[str(place)].set_axis_off()
        if is_split:
            pixels = weights[[node]].toarray().reshape(8, 8)
            limit = np.abs(pixels).max()
            axes[str(place)].imshow(pixels, cmap="RdBu_r", vmin=-limit, vmax=limit)
            axes[str(place)].set_title(f"split {node}", fontsize=9)


def draw_trace(axis, trace) -> None:
    """Draw objective and loss against the number of sweeps."""
    axis.plot(trace.objective, marker=".", label="objective")
    axis.plot(trace.loss, marker=".", label="training loss")
    axis.set_xlabel("sweep")
    axis.set_ylim(bottom=0)
    axis.legend()


if __name__ == "__main__":
    main()
