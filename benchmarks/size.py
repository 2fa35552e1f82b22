"""Parameters, FLOPS, trees, leaves and depth of a fitted forest, counted as in the papers.

Parameters: the non-zero weights and the bias of each split (2 if axis-aligned) and 1 a constant
leaf. FLOPS: the parameters that the prediction of one row meets, averaged over training rows.
Counted in the fitted model itself; None where a library does not show it.

References
----------
Bagged TAO, section 5.1.3; boosted TAO, section V.A.d.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

# Rows used where FLOPS can only be had by walking rows through the trees.
N_WALKED = 2000


@dataclass(frozen=True)
class Size:
    """Size of a forest; numbers that cannot be read are None."""

    n_parameters: int | None = None
    flops: float | None = None
    n_trees: int | None = None
    n_leaves: int | None = None
    depth: int | None = None


def size(estimator: Any, X: Any) -> dict[str, Any]:
    """Size of a fitted model; `X` holds the training rows."""
    for cls in type(estimator).__mro__:
        if cls.__name__ in COUNTERS:
            return asdict(COUNTERS[cls.__name__](estimator, X))
    return asdict(_spinney(estimator) if hasattr(estimator, "n_parameters_") else Size())


def _spinney(estimator: Any) -> Size:
    """Our trees and forests, and the LIBLINEAR version, count themselves."""
    trees = list(getattr(estimator, "trees_", [])) or [getattr(estimator, "tree_", None)]
    known = trees[0] is not None
    return Size(
        n_parameters=int(estimator.n_parameters_),
        flops=float(estimator.flops_) if hasattr(estimator, "flops_") else None,
        n_trees=len(trees),
        n_leaves=sum(t.n_leaves for t in trees) if known else estimator.n_leaves_,
        depth=max(t.max_depth for t in trees) if known else None,
    )


def _total(parts: list[Size]) -> Size:
    """Size of a forest from those of its trees."""
    return Size(
        sum(part.n_parameters or 0 for part in parts),
        sum(part.flops or 0.0 for part in parts),
        sum(part.n_trees or 0 for part in parts),
        sum(part.n_leaves or 0 for part in parts),
        max(part.depth or 0 for part in parts),
    )


def _axis_tree(n_leaves: int, splits_met: float, depth: int) -> Size:
    """A tree with one feature a split: 2 parameters a split, 1 a leaf."""
    return Size(3 * n_leaves - 2, 2 * splits_met + 1, 1, n_leaves, depth)


def _sklearn_tree(estimator: Any, _X: Any) -> Size:
    tree = estimator.tree_
    is_split = tree.children_left >= 0
    # Rows counted where they pass: the mean number of splits that a training row meets.
    met = tree.n_node_samples[is_split].sum() / tree.n_node_samples[0]
    return _axis_tree(int(tree.n_leaves), float(met), int(tree.max_depth))


def _sklearn_forest(estimator: Any, X: Any) -> Size:
    return _total([_sklearn_tree(tree, X) for tree in estimator.estimators_])


def _hist_boosting(estimator: Any, _X: Any) -> Size:
    return _total([_hist_tree(tree.nodes) for trees in estimator._predictors for tree in trees])


def _hist_tree(nodes: Any) -> Size:
    is_leaf = nodes["is_leaf"].astype(bool)
    met = nodes["count"][~is_leaf].sum() / max(1, nodes["count"][0])
    return _axis_tree(int(is_leaf.sum()), float(met), int(nodes["depth"].max()))


def _lightgbm(estimator: Any, _X: Any) -> Size:
    # The text form is read, not the data frame: 26000 trees take seconds, not minutes.
    text = estimator.booster_.model_to_string()
    return _total([_lightgbm_tree(tree) for tree in text.split("\nTree=")[1:]])


def _lightgbm_tree(text: str) -> Size:
    n_leaves = int(re.search(r"num_leaves=(\d+)", text)[1])  # type: ignore[index]
    if n_leaves == 1:
        return _axis_tree(1, 0.0, 0)
    counts = _numbers(text, "internal_count")
    left, right = _numbers(text, "left_child"), _numbers(text, "right_child")
    depth = np.zeros(len(counts), dtype=np.int64)
    for node in range(len(counts)):  # a child split has a higher number than its parent
        for child in (left[node], right[node]):
            if child >= 0:
                depth[child] = depth[node] + 1
    return _axis_tree(n_leaves, float(counts.sum() / counts[0]), int(depth.max()) + 1)


def _numbers(text: str, key: str) -> Any:
    found = re.search(rf"^{key}=(.*)$", text, re.MULTILINE)
    return np.array(found[1].split(), dtype=np.int64)  # type: ignore[index]


def _xgboost(estimator: Any, X: Any) -> Size:
    booster = estimator.get_booster()
    depths = [_xgboost_depths(json.loads(t)) for t in booster.get_dump(dump_format="json")]
    # Its covers are sums of curvatures, not rows, so rows are sent down the trees.
    leaves = np.asarray(estimator.apply(X[:N_WALKED]), dtype=np.int64).reshape(-1, len(depths))
    parts = []
    for tree, reached in zip(depths, leaves.T, strict=True):
        met = float(np.mean([tree[leaf] for leaf in reached]))
        parts.append(_axis_tree(len(tree), met, max(tree.values())))
    return _total(parts)


def _xgboost_depths(node: dict[str, Any], depth: int = 0) -> dict[int, int]:
    """Depth of each leaf by its number."""
    if "leaf" in node:
        return {node["nodeid"]: depth}
    depths: dict[int, int] = {}
    for child in node["children"]:
        depths |= _xgboost_depths(child, depth + 1)
    return depths


def _catboost(estimator: Any, _X: Any) -> Size:
    """Oblivious trees: one split a level, a value a class in each leaf."""
    leaves = np.asarray(estimator.get_tree_leaf_counts(), dtype=np.int64)
    levels = np.round(np.log2(leaves)).astype(np.int64)
    n_classes = len(getattr(estimator, "classes_", ()))
    n_values = n_classes if n_classes > 2 else 1
    return Size(
        n_parameters=int((2 * levels + n_values * leaves).sum()),
        flops=float((2 * levels + n_values).sum()),
        n_trees=len(leaves),
        n_leaves=int(leaves.sum()),
        depth=int(levels.max()),
    )


def _ydf(estimator: Any, _X: Any) -> Size:
    return _total([_ydf_tree(tree.root) for tree in estimator.model_.iter_trees()])


def _ydf_tree(root: Any) -> Size:
    n_leaves = n_parameters = deepest = 0
    met = 0.0
    open_nodes = [(root, 0, 0)]
    n_rows = 0.0
    while open_nodes:
        node, depth, above = open_nodes.pop()
        if hasattr(node, "condition"):
            # An oblique split keeps a weight a feature, a plain one its feature; both a threshold.
            own = len(getattr(node.condition, "weights", [1])) + 1
            children = (node.neg_child, node.pos_child)
            open_nodes += [(child, depth + 1, above + own) for child in children]
        else:
            own, rows = 1, float(node.value.num_examples)
            n_leaves, deepest = n_leaves + 1, max(deepest, depth)
            met, n_rows = met + rows * (above + own), n_rows + rows
        n_parameters += own
    return Size(n_parameters, met / n_rows, 1, n_leaves, deepest)


COUNTERS: dict[str, Callable[[Any, Any], Size]] = {
    "DecisionTreeClassifier": _sklearn_tree,
    "DecisionTreeRegressor": _sklearn_tree,
    "BaseForest": _sklearn_forest,
    "AdaBoostClassifier": _sklearn_forest,
    "BaseHistGradientBoosting": _hist_boosting,
    "LGBMModel": _lightgbm,
    "XGBModel": _xgboost,
    "CatBoost": _catboost,
    "YDFObliqueForest": _ydf,
}
