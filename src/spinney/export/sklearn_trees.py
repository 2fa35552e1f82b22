"""Axis-aligned trees and forests as fitted estimators of scikit-learn.

The estimators are fitted to a few made-up rows first, which gives them every attribute that their
version of scikit-learn wants; then their trees are replaced through the state that pickle uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney.export.boundary import axis_thresholds
from spinney.inspection.fitted_model import FittedModel, fitted_estimator
from spinney.tree.readout import Readout
from spinney.tree.structure import Tree


@dataclass(frozen=True, eq=False)
class _Columns:
    """Names of the columns, and what a value that is missing counts as; None if not known."""

    names: NDArray[np.object_] | None
    typical: NDArray[np.float32] | None


def to_sklearn(model: object) -> Any:
    """Turn an axis-aligned model into a fitted estimator of scikit-learn.

    Parameters
    ----------
    model : fitted estimator
        A tree or forest of which every split reads at most one column and every leaf is constant,
        for instance one fitted with ``split="axis"``.

    Returns
    -------
    estimator
        A decision tree for a tree, a random forest for trees that vote or are averaged, a
        `VotingClassifier` for boosted trees. Every row reaches the same leaves. Labels and
        probabilities are equal; numbers that are sums over trees are equal up to rounding. NaN in
        dense rows goes the way of what it is filled with by ``predict``, without a word and
        whatever `missing` says; scikit-learn's trees refuse NaN in sparse rows, and those of 1.2
        and before all NaN.

    Raises
    ------
    ValueError
        If a split is oblique or a leaf is linear: which. If scikit-learn has no estimator that
        would say the same.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier, to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=2, split="axis", random_state=0).fit(X, y)
    >>> bool((to_sklearn(tree).predict(X) == tree.predict(X)).all())
    True
    """
    fitted = fitted_estimator(model)
    readout, names, typical = fitted.readout, fitted.given_names, fitted.typical
    _check_reads_numbers(fitted)
    for number, tree in enumerate(readout.forest.trees):
        _check_tree(tree, number)
    columns = _Columns(
        None if names is None else np.array(names, dtype=object),
        None if typical is None else typical.coordinates,
    )
    if readout.classes is None:
        return _regressor(readout, columns, is_tree=hasattr(fitted.model, "tree_"))
    return _classifier(readout, columns, is_tree=hasattr(fitted.model, "tree_"))


def _check_reads_numbers(fitted: FittedModel) -> None:
    """Raise if the model reads frames of mixed columns, which scikit-learn's trees cannot."""
    if fitted.encoding is not None:
        raise ValueError(
            f"to_sklearn reads rows of numbers, but this {fitted.model_name} was fitted to a table "
            "with categories or missing values; give a model of plain numbers; try encoding the "
            "columns before fit, or to_onnx and to_c, which take tables."
        )


def _check_tree(tree: Tree, number: int) -> None:
    """Raise unless scikit-learn can hold the tree."""
    n_weights = np.diff(tree.split_indptr)
    if (n_weights > 1).any():
        node = int(n_weights.argmax())
        raise ValueError(
            f"node {node} of tree {number} is oblique, it reads {n_weights[node]} columns; "
            "scikit-learn has splits of one column; give an axis-aligned model; try "
            'split="axis", or to_onnx and to_c, which take any.'
        )
    if tree.is_linear:
        raise ValueError(
            f"tree {number} has linear leaves; scikit-learn has constant ones; give a model with "
            'constant leaves; try leaf="constant", or to_onnx and to_c, which take any.'
        )


def _classifier(readout: Readout, columns: _Columns, *, is_tree: bool) -> Any:
    if readout.reject_label is not None or readout.finish in ("softmax", "nearest"):
        what = "rejected rows" if readout.reject_label is not None else "sums of class scores"
        raise ValueError(
            f"the model answers with {what}, which no forest of scikit-learn does; give another "
            "model; try to_onnx or to_c, which take any."
        )
    if readout.finish == "powers":
        raise ValueError(
            "the model's probabilities come from a map that forests of scikit-learn do not have; "
            "give one without; try to_sklearn(model.set_params(calibrate=False)), whose classes "
            "are the same and whose probabilities are the trees' shares, or to_onnx and to_c."
        )
    assert readout.classes is not None
    n_trees = readout.forest.n_trees
    if is_tree:
        scaffold: Any = DecisionTreeClassifier(max_depth=1)
    elif readout.finish == "shares":
        members = [(f"tree{t}", DecisionTreeClassifier(max_depth=1)) for t in range(n_trees)]
        scaffold = VotingClassifier(members, voting="soft", weights=readout.tree_weights)
    else:
        scaffold = RandomForestClassifier(n_trees, max_depth=1, bootstrap=False)
    rows = np.zeros((len(readout.classes), readout.forest.n_features), dtype=np.float32)
    scaffold.fit(rows, readout.classes)
    outputs = [_shares(tree, readout)[:, None, :] for tree in readout.forest.trees]
    return _with_trees(scaffold, readout, outputs, columns)


def _regressor(readout: Readout, columns: _Columns, *, is_tree: bool) -> Any:
    n_trees, n_outputs = readout.forest.n_trees, readout.forest.n_outputs
    scaffold: Any = (
        DecisionTreeRegressor(max_depth=1)
        if is_tree
        else RandomForestRegressor(n_trees, max_depth=1, bootstrap=False)
    )
    targets = np.zeros((2, n_outputs))
    rows = np.zeros((2, readout.forest.n_features), dtype=np.float32)
    scaffold.fit(rows, targets[:, 0] if readout.is_flat else targets)
    # A random forest divides by the number of trees, a sum of trees does not.
    factors = readout.tree_weights * (1 if readout.finish == "mean" or is_tree else n_trees)
    outputs = [
        factor * tree.leaf_values
        for factor, tree in zip(factors, readout.forest.trees, strict=True)
    ]
    outputs[0] = outputs[0] + readout.offsets * (1 if is_tree else n_trees)
    return _with_trees(scaffold, readout, [values[:, :, None] for values in outputs], columns)


def _shares(tree: Tree, readout: Readout) -> NDArray[np.float64]:
    """What each leaf of a tree says of the classes."""
    if readout.says != "label":
        return tree.leaf_values
    votes: NDArray[np.float64] = np.eye(tree.n_outputs)[tree.leaf_values.argmax(axis=1)]
    return votes


def _with_trees(
    scaffold: Any,
    readout: Readout,
    outputs: list[NDArray[np.float64]],
    columns: _Columns,
) -> Any:
    """The fitted estimator with our trees in place of its own."""
    members = list(getattr(scaffold, "estimators_", [scaffold]))
    for member, tree, values in zip(members, readout.forest.trees, outputs, strict=True):
        member.tree_ = _native_tree(member.tree_, tree, values, columns)
    is_named = [scaffold, *members] if isinstance(scaffold, VotingClassifier) else [scaffold]
    for each in is_named if columns.names is not None else []:
        each.feature_names_in_ = columns.names
    return scaffold


def _native_tree(like: Any, tree: Tree, leaf_values: NDArray[np.float64], columns: _Columns) -> Any:
    """A tree of scikit-learn's own type, of which `like` is one with the same outputs."""
    state = like.__getstate__()
    values = _node_values(tree, leaf_values)
    nodes = np.zeros(tree.n_nodes, dtype=state["nodes"].dtype)
    nodes["left_child"], nodes["right_child"], nodes["feature"], nodes["threshold"] = _splits(tree)
    if columns.typical is not None and "missing_go_to_left" in nodes.dtype.names:
        splits = tree.split_nodes
        typical = columns.typical[nodes["feature"][splits]]
        nodes["missing_go_to_left"][splits] = typical <= nodes["threshold"][splits]
    nodes["n_node_samples"] = nodes["weighted_n_node_samples"] = _leaves_below(tree)
    n_classes = np.asarray(like.n_classes, dtype=np.intp)
    made = type(like)(int(tree.n_features), n_classes, int(like.n_outputs))
    made.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": np.ascontiguousarray(values),
        }
    )
    return made


def _splits(
    tree: Tree,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
    """Children, columns and thresholds: scikit-learn sends ``x <= threshold`` left."""
    splits = tree.split_nodes
    has_weight = np.diff(tree.split_indptr)[splits] == 1
    weights = np.zeros(len(splits), dtype=np.float32)
    weights[has_weight] = tree.split_weights
    cuts, is_right_above = axis_thresholds(weights, tree.bias[splits])
    below = np.nextafter(cuts, np.float32(-np.inf))
    left, right = tree.left.copy(), tree.right.copy()
    left[splits] = np.where(is_right_above, tree.left[splits], tree.right[splits])
    right[splits] = np.where(is_right_above, tree.right[splits], tree.left[splits])
    columns = np.full(tree.n_nodes, -2, dtype=np.int64)  # scikit-learn's mark of a leaf
    columns[splits] = 0
    columns[splits[has_weight]] = tree.split_indices
    thresholds = np.full(tree.n_nodes, -2.0)
    thresholds[splits] = np.where(is_right_above, below, cuts)
    return left, right, columns, thresholds


def _leaves_below(tree: Tree) -> NDArray[np.int64]:
    """Number of leaves under each node, in place of the rows that are not known any more."""
    counts = (tree.left < 0).astype(np.int64)
    for node in tree.split_nodes[::-1]:
        counts[node] = counts[tree.left[node]] + counts[tree.right[node]]
    return counts


def _node_values(tree: Tree, leaf_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leaf values, and at splits the mean over the leaves below, which only drawings show."""
    counts = _leaves_below(tree)
    sums = np.zeros((tree.n_nodes, *leaf_values.shape[1:]))
    sums[tree.leaf_nodes] = leaf_values
    for node in tree.split_nodes[::-1]:
        sums[node] = sums[tree.left[node]] + sums[tree.right[node]]
    return sums / counts.reshape(-1, *[1] * (sums.ndim - 1))
