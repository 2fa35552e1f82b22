"""One optimised oblique tree beside a greedy tree and a forest, on data bundled with scikit-learn.

Prints a table for a classification and for a regression task, and writes a picture of the upper
splits of the digits tree, ``demo.png``, to the current folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney import TAOTreeClassifier, TAOTreeRegressor
from spinney.tree import Tree, count_parameters, from_sklearn

PICTURE = Path("demo.png")
SEED = 0

CLASSIFIERS = {
    "TAO tree, constant leaves": TAOTreeClassifier(max_depth=6, random_state=SEED),
    "TAO tree, linear leaves": TAOTreeClassifier(max_depth=3, leaf="linear", random_state=SEED),
    "CART of the same depth": DecisionTreeClassifier(max_depth=6, random_state=SEED),
    "random forest, 100 trees": RandomForestClassifier(random_state=SEED),
}
REGRESSORS = {
    "TAO tree, constant leaves": TAOTreeRegressor(max_depth=6, random_state=SEED),
    "TAO tree, linear leaves": TAOTreeRegressor(max_depth=4, leaf="linear", random_state=SEED),
    "CART of the same depth": DecisionTreeRegressor(max_depth=6, random_state=SEED),
    "random forest, 100 trees": RandomForestRegressor(random_state=SEED),
}


def main() -> None:
    """Compare the models on both tasks, then draw the first one."""
    digits = train_test_split(*load_digits(return_X_y=True), random_state=SEED)
    compare("Digits: 1347 training rows, 64 features, 10 classes", CLASSIFIERS, digits)
    friedman = make_friedman1(n_samples=4000, noise=1.0, random_state=SEED)
    split = train_test_split(*friedman, random_state=SEED)
    compare("Friedman's function 1: 3000 training rows, 10 features, noise 1", REGRESSORS, split)
    draw(CLASSIFIERS["TAO tree, constant leaves"], PICTURE)
    print(f"The upper splits of the first tree are drawn in {PICTURE}.")


def compare(title: str, models: dict[str, BaseEstimator], data: list[np.ndarray]) -> None:
    """Fit each model and print a line about it."""
    X_train, X_test, y_train, y_test = data
    measure = "error" if is_classifier(next(iter(models.values()))) else "RMSE"
    print(f"\n{title}\n")
    print(f"{'model':<28}{'test ' + measure:>12}{'parameters':>12}{'depth':>7}{'seconds':>9}")
    for name, model in models.items():
        start = perf_counter()
        model.fit(X_train, y_train)
        seconds = perf_counter() - start
        error = error_text(model, X_test, y_test)
        trees = list(trees_of(model))
        n_parameters = sum(map(count_parameters, trees))
        depth = max(tree.max_depth for tree in trees)
        print(f"{name:<28}{error:>12}{n_parameters:>12,}{depth:>7}{seconds:>9.2f}")
    print()


def error_text(model: BaseEstimator, X: np.ndarray, y: np.ndarray) -> str:
    """Share of wrong labels, or root of the mean squared error, as text."""
    predicted = model.predict(X)
    if is_classifier(model):
        return f"{np.mean(predicted != y):.2%}"
    return f"{np.sqrt(np.mean((predicted - y) ** 2)):.3f}"


def trees_of(model: BaseEstimator) -> Iterable[Tree]:
    """All trees of a model in the form of this library, so that sizes are counted alike."""
    for member in getattr(model, "estimators_", [model]):
        yield member.tree_ if isinstance(member.tree_, Tree) else from_sklearn(member)


def draw(model: TAOTreeClassifier, path: Path) -> None:
    """Hyperplanes of the three upper levels as 8 x 8 pictures, and the trace of the objective."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplot_mosaic(
        [
            [".", "0", "0", ".", "trace", "trace"],
            ["1", "1", "2", "2", "trace", "trace"],
            ["3", "4", "5", "6", "trace", "trace"],
        ]
    )
    draw_splits(axes, model.tree_)
    draw_trace(axes["trace"], model.trace_)
    figure.suptitle("The upper splits of a digits tree: red pixels send right, blue ones left")
    figure.savefig(path, dpi=120)


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
