"""The way of one row through the trees of a model, told with every number that decided it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import as_rows
from spinney.explanations.explanation import (
    Contribution,
    Explanation,
    FeatureSummary,
    LeafAnswer,
    SplitStep,
    TreeExplanation,
)
from spinney.explanations.reading import Floats, Reading, read_model
from spinney.explanations.row import read_row
from spinney.tree import Tree
from spinney.tree.route import apply


def explain(model: object, x: ArrayLike, *, data: ArrayLike | None = None) -> Explanation:
    """Tell why a model predicts what it predicts for one row.

    For each tree: the splits on the row's way as inequalities with the contribution
    ``w_j * x_j`` of each feature and the distance from the hyperplane, what the leaf says, and how
    the trees' answers add up. And, over all of it, how much each column had a part in.

    Parameters
    ----------
    model : fitted estimator of spinney
        Any tree or forest, also one made by `refine_leaves`.
    x : array-like of shape (n_features,) or (1, n_features), sparse row, frame of one row
        The row, as ``predict`` takes it; also a pandas Series or a list.
    data : frame, array-like or sparse matrix of shape (n_rows, n_features), optional
        Rows to compare with, for instance those of training. Contributions are then
        ``w_j * (x_j - mean_j)``: what the row's difference from the mean row does. Distances are in
        standard deviations. Default: contributions of the values as they are, which depend on
        where the zero of a column is, and distances in units of the columns.

    Returns
    -------
    Explanation
        ``print`` it, or read its values; ``to_dict()`` is ready for JSON.

    Notes
    -----
    A row goes right at a split if ``w . x + bias >= 0``, else left. The model sums in float32; the
    numbers shown are sums in float64 of the same float32 products, and agree within rounding.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import spinney
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> why = spinney.explain(tree, X.iloc[[100]])
    >>> why.prediction
    2
    >>> step = why.trees[0].steps[0]
    >>> abs(step.base + sum(part.amount for part in step.contributions) - step.score) < 1e-9
    True
    """
    reading = read_model(model)
    row = read_row(x, len(reading.column_names))
    coordinates = reading.encode(row.matrix)
    origin, spread = _origin_and_spread(reading, data)
    told = _Told(reading, coordinates, origin, spread)
    totals = reading.totals(coordinates)
    best = int(totals[0].argmax()) if reading.is_classifier else 0
    trees = tuple(told.tree(number) for number in range(reading.forest.n_trees))
    return Explanation(
        model=type(model).__name__,
        prediction=prediction_of(reading, totals),
        is_classifier=reading.is_classifier,
        is_relative=data is not None,
        output_names=reading.output_names,
        output=best,
        combination=reading.combination,
        trees=trees,
        offsets=_floats(reading.readout.offsets),
        totals=_floats(totals[0]),
        answer=_floats(reading.readout.finished(totals)[0]),
        features=_summary(trees, best),
    )


def prediction_of(reading: Reading, totals: Floats) -> Any:
    """The label of the only row, its number, or its numbers as a tuple."""
    said = reading.predictions(totals)[0]
    if reading.is_classifier:
        return said.item() if hasattr(said, "item") else said
    return float(said[0]) if reading.readout.is_flat else _floats(said)


def _origin_and_spread(reading: Reading, data: ArrayLike | None) -> tuple[Floats, Floats]:
    """What coordinates are measured from, and the unit of distances."""
    n_coordinates = reading.forest.n_features
    if data is None:
        return np.zeros(n_coordinates), np.ones(n_coordinates)
    rows = reading.encode(data).astype(np.float64)
    return rows.mean(axis=0), rows.std(axis=0)


@dataclass(frozen=True, eq=False)
class _Told:
    """One row on its way through the trees."""

    reading: Reading
    coordinates: NDArray[np.float32]
    origin: Floats
    spread: Floats

    def tree(self, number: int) -> TreeExplanation:
        """The way through one tree."""
        tree = self.reading.forest.trees[number]
        leaf = int(apply(tree, as_rows(self.coordinates))[0])
        outputs, says = self.reading.said(tree, self.coordinates)
        return TreeExplanation(
            number=number,
            steps=tuple(self._step(tree, *step) for step in _way(tree, leaf)),
            leaf=self._leaf(tree, leaf, outputs[0]),
            says=_floats(says[0]),
            weight=float(self.reading.readout.tree_weights[number]),
        )

    def _step(self, tree: Tree, node: int, child: int) -> SplitStep:
        used = slice(*tree.split_indptr[node : node + 2])
        features, weights = tree.split_indices[used], tree.split_weights[used].astype(np.float64)
        parts = self._contributions(features, weights)
        base = math.fsum([float(tree.bias[node]), *(weights * self.origin[features]).tolist()])
        score = math.fsum([base, *(part.amount for part in parts)])
        steepness = float(np.linalg.norm(weights * self.spread[features]))
        distance = abs(score) / steepness if steepness > 0 else math.inf
        goes = "right" if child == tree.right[node] else "left"
        return SplitStep(node, parts, base, score, distance, goes)  # type: ignore[arg-type]

    def _leaf(self, tree: Tree, leaf: int, outputs: Floats) -> LeafAnswer:
        if not tree.is_linear:
            return LeafAnswer(leaf, _floats(outputs))
        place = int(tree.leaf_index[leaf])
        intercepts, contributions = [], []
        for output in range(tree.n_outputs):
            first = place * tree.n_outputs + output
            used = slice(*tree.leaf_indptr[first : first + 2])
            features = tree.leaf_indices[used]
            weights = tree.leaf_weights[used].astype(np.float64)
            at_origin = (weights * self.origin[features]).tolist()
            intercepts.append(math.fsum([float(tree.leaf_values[place, output]), *at_origin]))
            contributions.append(self._contributions(features, weights))
        return LeafAnswer(leaf, _floats(outputs), tuple(intercepts), tuple(contributions))

    def _contributions(
        self, features: NDArray[np.int32], weights: Floats
    ) -> tuple[Contribution, ...]:
        """Terms of a weighted sum, the largest first."""
        values = self.coordinates[0, features].astype(np.float64) - self.origin[features]
        amounts = weights * values
        names, columns = self.reading.coordinate_names, self.reading.column_names
        return tuple(
            Contribution(
                names[features[k]],
                columns[self.reading.columns[features[k]]],
                float(values[k]),
                float(weights[k]),
                float(amounts[k]),
            )
            for k in np.argsort(-np.abs(amounts), kind="stable")
        )


def _way(tree: Tree, leaf: int) -> list[tuple[int, int]]:
    """Splits above a leaf, each with the child that follows, from the root down."""
    way = []
    while (above := int(tree.parent[leaf])) >= 0:
        way.append((above, leaf))
        leaf = above
    return way[::-1]


def _summary(trees: tuple[TreeExplanation, ...], output: int) -> tuple[FeatureSummary, ...]:
    """Each column over all splits and linear leaves on the way; see `FeatureSummary`."""
    shares: dict[str, float] = defaultdict(float)
    pushes: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    in_leaves: dict[str, float] = defaultdict(float)
    # A split at which every contribution is 0 was decided by its base alone: no column had a part.
    decisive = [[step for step in tree.steps if _size(step) > 0] for tree in trees]
    total = sum(abs(tree.weight) for tree, steps in zip(trees, decisive, strict=True) if steps)
    for tree, steps in zip(trees, decisive, strict=True):
        for step in steps:
            part = abs(tree.weight) / total / len(steps) / _size(step)
            sign = 1.0 if step.goes == "right" else -1.0
            for column, amount in step.by_column.items():
                shares[column] += part * abs(amount)
                pushes[column] += part * sign * amount
                counts[column] += 1
        for contribution in tree.leaf.contributions[output : output + 1]:
            for term in contribution:
                in_leaves[term.column] += tree.weight * term.amount
    columns = sorted({*shares, *in_leaves}, key=lambda name: (-shares[name], name))
    return tuple(
        FeatureSummary(name, shares[name], pushes[name], counts[name], in_leaves[name])
        for name in columns
    )


def _size(step: SplitStep) -> float:
    return sum(abs(amount) for amount in step.by_column.values())


def _floats(values: NDArray[Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
