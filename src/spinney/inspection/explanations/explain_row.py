"""What each column of a row adds to the answer, and the way of the row through the trees."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import as_rows
from spinney.data.tables import warned_once
from spinney.inspection.explanations.attribution import Attribution, attribute
from spinney.inspection.explanations.explanation import (
    Contribution,
    Explanation,
    FeatureSummary,
    LeafAnswer,
    SplitStep,
    TreeExplanation,
)
from spinney.inspection.explanations.origin import Origin, Value, plain_value, read_origin
from spinney.inspection.explanations.projection import Floats
from spinney.inspection.explanations.row import OneRow, read_row
from spinney.inspection.explanations.words import number
from spinney.inspection.fitted_model import FittedModel, fitted_estimator
from spinney.inspection.split_words import split_words
from spinney.tree import Tree
from spinney.tree.hyperplanes import hyperplane, leaf_function
from spinney.tree.readout import Readout, holds_scores
from spinney.tree.route import apply, outputs

Side = Literal["left", "right"]


@warned_once
def explain(model: object, x: ArrayLike, *, data: ArrayLike | None = None) -> Explanation:
    """Tell why a model predicts what it predicts for one row.

    How much each column of the row has to do with the answer: what it adds, beside the typical row
    of training, to the probability of the predicted class or to the predicted number. And for each
    tree: the splits on the row's way as inequalities with the contribution
    ``w_j * (x_j - typical_j)`` of each coordinate and the distance from the hyperplane, what the
    leaf says, and how the trees' answers add up.

    Parameters
    ----------
    model : fitted estimator of spinney
        Any tree or forest, also one made by `refine_leaves`.
    x : array-like of shape (n_features,) or (1, n_features), sparse row, frame of one row
        The row, as ``predict`` takes it; also a pandas Series or a list.
    data : frame, array-like or sparse matrix of shape (n_rows, n_features), optional
        Rows to compare with instead of those of training: what is typical of them is the start.
        Distances are then in their standard deviations. Default: the typical row that the fit
        stored, the mean of each number and the most frequent level of each category, and distances
        in units of the columns.

    Returns
    -------
    Explanation
        ``print`` it, or read its values; ``to_dict()`` is ready for JSON.

    Warns
    -----
    UserWarning
        If the model was saved before fits stored a typical row and there is no `data`: all is then
        measured from zeros, which are typical of few columns.

    Notes
    -----
    What a column adds is its Shapley value: the mean change of the answer when the column goes from
    its typical value to that of the row, over the orders in which the columns can do that. They add
    up to what the model says of the row less what it says of the typical row. Up to 12 columns that
    differ all orders are counted; beyond, at most 512 are drawn, always the same.

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
    >>> total = sum(column.push for column in why.features)
    >>> abs(total - (why.answer[2] - why.typical_answer[2])) < 1e-9
    True
    """
    fitted = fitted_estimator(model)
    row = read_row(x, len(fitted.column_names))
    coordinates = fitted.dense_coordinates(row.matrix)
    walk = _RowInTrees(fitted, row, coordinates, read_origin(fitted, data))
    totals = fitted.totals(coordinates)
    best = int(totals[0].argmax()) if fitted.is_classifier else 0
    trees = tuple(walk.tree(number) for number in range(fitted.forest.n_trees))
    attribution = walk.attribution()
    return Explanation(
        model=type(model).__name__,
        prediction=prediction_of(fitted, totals),
        is_classifier=fitted.is_classifier,
        is_relative=walk.origin.is_known,
        output_names=fitted.output_names,
        output=best,
        combination=combination_of(fitted.readout),
        has_scores=fitted.is_classifier and holds_scores(fitted.trees),
        trees=trees,
        offsets=_floats(fitted.readout.offsets),
        totals=_floats(totals[0]),
        answer=_floats(fitted.readout.finished(totals)[0]),
        typical_answer=_floats(fitted.answers(walk.origin.coordinates[None, :])[0]),
        features=walk.features(trees, attribution, best),
        n_orders=attribution.n_orders,
    )


def prediction_of(fitted: FittedModel, totals: Floats) -> Any:
    """The label of the only row, its number, or its numbers as a tuple."""
    said = fitted.readout.answers(totals)[0]
    if fitted.is_classifier:
        return said.item() if hasattr(said, "item") else said
    return float(said) if fitted.readout.is_flat else _floats(said)


def combination_of(readout: Readout) -> str:
    """How the trees' answers become one, in words."""
    weights = readout.tree_weights
    if readout.n_trees == 1:
        return "one tree"
    if readout.says == "label":
        return "hard vote" if bool((weights == weights[0]).all()) else "weighted vote"
    if readout.says == "probabilities":
        return "soft vote"
    if readout.finish == "mean":
        return "average"
    return "sum" if bool((weights == 1).all()) else "weighted sum"


@dataclass(frozen=True, eq=False)
class _RowInTrees:
    """One row on its way through the trees."""

    fitted: FittedModel
    row: OneRow
    coordinates: NDArray[np.float32]
    origin: Origin

    @cached_property
    def is_missing(self) -> tuple[bool, ...]:
        """Columns in which the row has no value."""
        return tuple(bool(column.is_missing[0]) for column in self.row.table.columns)

    def attribution(self) -> Attribution:
        """What the columns add to the answer of the model."""
        return attribute(
            self.fitted.answers,
            self.origin.coordinates,
            self.coordinates[0],
            self.fitted.columns,
            self.fitted.is_weighed,
        )

    def features(
        self, trees: tuple[TreeExplanation, ...], attribution: Attribution, output: int
    ) -> tuple[FeatureSummary, ...]:
        """Each column that adds something or is weighed on the way, the largest push first."""
        pushes = attribution.adds[:, output]
        total = float(np.abs(pushes).sum())
        counts = Counter(name for tree in trees for step in tree.steps for name in step.by_column)
        names = self.fitted.column_names
        weighed = {name for tree in trees for name in tree.leaf.columns} | set(counts)
        return tuple(
            FeatureSummary(
                column=names[k],
                value=self._value(k),
                typical=self.origin.values[k],
                push=float(pushes[k]),
                share=float(abs(pushes[k])) / total if total > 0 else 0.0,
                adds=_floats(attribution.adds[k]),
                error=float(attribution.errors[k, output]),
                n_splits=counts[names[k]],
            )
            for k in np.argsort(-np.abs(pushes), kind="stable").tolist()
            if attribution.adds[k].any() or names[k] in weighed
        )

    def tree(self, number: int) -> TreeExplanation:
        """The way through one tree."""
        tree = self.fitted.trees[number]
        leaf = int(apply(tree, as_rows(self.coordinates))[0])
        answer = outputs(tree, as_rows(self.coordinates))
        says = self.fitted.readout.said_for(tree, answer)
        return TreeExplanation(
            number=number,
            steps=tuple(self._step(tree, *step) for step in _way(tree, leaf)),
            leaf=self._leaf(tree, leaf, answer[0]),
            says=_floats(says[0]),
            weight=float(self.fitted.readout.tree_weights[number]),
        )

    def _step(self, tree: Tree, node: int, child: int) -> SplitStep:
        features, weights = hyperplane(tree, node)
        parts, bias = self._contributions(features, weights), float(tree.bias[node])
        base = math.fsum([bias, *(weights * self.origin.coordinates[features]).tolist()])
        score = math.fsum([base, *(part.amount for part in parts)])
        goes: Side = "right" if child == tree.right[node] else "left"
        words = split_words(self.fitted, tree, node, number)
        if words is None:
            distance = self._distance(features, weights, score)
            return SplitStep(node, parts, bias, base, score, distance, goes)
        value = self._value(int(self.fitted.columns[features[0]]))
        # A flag does not move by little: of a number that is there it is left out, which is last.
        is_number = value is not None and any(not part.is_indicator for part in parts)
        moved = slice(1) if is_number else slice(None)
        distance = self._distance(features[moved], weights[moved], score)
        return SplitStep(node, parts, bias, base, score, distance, goes, words.text(), value)

    def _distance(self, features: NDArray[np.int32], weights: Floats, score: float) -> float:
        """Distance of the row from the hyperplane of these weights."""
        steepness = float(np.linalg.norm(weights * self.origin.spread[features]))
        return abs(score) / steepness if steepness > 0 else math.inf

    def _value(self, column: int) -> Value:
        """What the row has in a column; None where it is missing."""
        return None if self.is_missing[column] else plain_value(self.row.value(column))

    def _leaf(self, tree: Tree, leaf: int, answer: Floats) -> LeafAnswer:
        if not tree.is_linear:
            return LeafAnswer(leaf, _floats(answer))
        place = int(tree.leaf_index[leaf])
        bases, contributions = [], []
        for output in range(tree.n_outputs):
            features, weights = leaf_function(tree, place, output)
            at_origin = (weights * self.origin.coordinates[features]).tolist()
            bases.append(math.fsum([float(tree.leaf_values[place, output]), *at_origin]))
            contributions.append(self._contributions(features, weights))
        intercepts = _floats(tree.leaf_values[place])
        return LeafAnswer(leaf, _floats(answer), intercepts, tuple(bases), tuple(contributions))

    def _contributions(
        self, features: NDArray[np.int32], weights: Floats
    ) -> tuple[Contribution, ...]:
        """Terms of a weighted sum beside those of the typical row, the largest first."""
        values = self.coordinates[0, features].astype(np.float64)
        amounts = weights * (values - self.origin.coordinates[features])
        order = np.argsort(-np.abs(amounts), kind="stable")
        return tuple(
            self._contribution(int(features[k]), float(weights[k]), float(amounts[k]))
            for k in order
        )

    def _contribution(self, coordinate: int, weight: float, amount: float) -> Contribution:
        fitted, column = self.fitted, int(self.fitted.columns[coordinate])
        kind, shift = "number", 0.0
        if fitted.encoding is not None:
            described = fitted.encoding.coordinates[coordinate]
            kind, shift = described.kind, described.origin
        return Contribution(
            fitted.coordinate_names[coordinate],
            fitted.column_names[column],
            float(self.coordinates[0, coordinate]) + shift,
            float(self.origin.coordinates[coordinate]) + shift,
            weight,
            amount,
            kind,
            self.is_missing[column],
            shift,
        )


def _way(tree: Tree, leaf: int) -> list[tuple[int, int]]:
    """Splits above a leaf, each with the child that follows, from the root down."""
    way = []
    while (above := int(tree.parent[leaf])) >= 0:
        way.append((above, leaf))
        leaf = above
    return way[::-1]


def _floats(values: NDArray[Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
