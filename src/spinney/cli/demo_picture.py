"""The picture of ``spinney demo``: splits of a tree as images, and forests as they grow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import TAOForestClassifier, Trace, Tree
from spinney.cli.demo_models import size_of


def draw(models: dict[str, Any], data: list[NDArray[Any]], path: Path) -> None:
    """Draw the splits of the first model, its trace, and the forests among the models."""
    X_train, X_test, _, y_test = data
    from matplotlib.figure import Figure

    first = models["TAO tree, constant leaves"]
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes: dict[str, Any] = figure.subplot_mosaic(
        [
            [".", "0", "0", ".", "forests", "forests", "forests"],
            ["1", "1", "2", "2", "forests", "forests", "forests"],
            ["3", "4", "5", "6", "trace", "trace", "trace"],
        ]
    )
    draw_splits(axes, first.tree_, X_train.std(axis=0))
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
    figure.suptitle(
        "Upper splits of a digits tree, weight × deviation: red pixels send right, blue ones left"
    )
    figure.savefig(path, dpi=120)


def stages(model: Any, X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Labels by the first tree of a forest, the first two, and so on; nothing for one tree."""
    if hasattr(model, "staged_predict"):
        yield from model.staged_predict(X)
        return
    sums: Any = 0.0
    for said in votes(model, X):
        sums = sums + said
        yield model.classes_[np.argmax(sums, axis=1)]


def votes(model: Any, X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """What each tree of a bagged forest adds to the sums from which the forest decides."""
    if isinstance(model, TAOForestClassifier):
        leaves = model.apply(X)
        for number, tree in enumerate(model.trees_):
            fractions = tree.leaf_values[tree.leaf_index[leaves[:, number]]]
            yield np.eye(len(model.classes_))[fractions.argmax(axis=1)]
    else:
        for tree in getattr(model, "estimators_", []):
            yield tree.predict_proba(X)


def draw_splits(axes: dict[str, Any], tree: Tree, deviations: NDArray[np.float64]) -> None:
    """Draw the root, its children and theirs, as `plot_tree` does; below a leaf nothing is drawn.

    Weights are multiplied by the deviations of their pixels: those of pixels that are nearly always
    dark may be large, and weigh nothing.
    """
    from spinney.inspection.plotting.hyperplane import draw_picture, hyperplane_of, picture_of

    names = [f"x{pixel}" for pixel in range(tree.n_features)]
    nodes = [0]
    for place in range(7):
        node = nodes[place]
        is_split = node >= 0 and tree.left[node] >= 0
        nodes += [int(tree.left[node]), int(tree.right[node])] if is_split else [-1, -1]
        if is_split:
            plane = hyperplane_of(tree, node, names, deviations)
            draw_picture(axes[str(place)], picture_of(plane, (8, 8)))
            axes[str(place)].set_title(f"split {node}", fontsize=9)
        axes[str(place)].set_axis_off()


def draw_trace(axis: Any, trace: Trace) -> None:
    """Draw objective and loss against the number of sweeps."""
    axis.plot(trace.objective, marker=".", label="objective")
    axis.plot(trace.loss, marker=".", label="training loss")
    axis.set_xlabel("sweep")
    axis.set_ylim(bottom=0)
    axis.legend()
