"""A tree as text: one rule a split, one answer a leaf.

The text is for reading. Numbers are rounded, so it is no way to store a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data.checks import check_integer
from spinney.data.tables.moments import moment
from spinney.data.wording import rounded
from spinney.inspection.arguments import checked_class_names, checked_spread
from spinney.inspection.fitted_model import FittedModel, fitted_model, value_names
from spinney.inspection.split_words import MOST_LEVELS, words_of_tree
from spinney.tree.readout import holds_scores
from spinney.tree.view import LeafView, NodeView, SplitView, view_tree

INDENT = "    "

#: Scores of a leaf that are written, those that add or take most.
MOST_SCORES = 4


def export_text(
    model: object,
    *,
    tree: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    digits: int = 3,
    max_weights: int | None = None,
    scale: ArrayLike | None = None,
) -> str:
    """Write a tree as nested rules that people can read.

    Parameters
    ----------
    model : Tree or fitted estimator
        An estimator gives its column names and class labels too. One that was fitted to
        categories or missing values speaks of them: ``workclass = Private``, ``age is missing``,
        ``color in {red, blue}``, ``age >= 30.5 or missing``.
    tree : int, optional
        Which tree of a forest to write; needed if there are several. Trees of a refined forest
        have its new leaves, 0 where no training row was.
    feature_names : sequence of str, optional
        One name a coordinate, all different. Default: the estimator's, else ``x0``, ``x1``, ...
        For a tree of a forest, take the forest's ``get_coordinate_names()``.
    class_names : sequence of str, optional
        One name a class. Default: the classifier's ``classes_``. Without names, a tree is taken
        for a regression tree.
    digits : int, default=3
        Significant digits of each number.
    max_weights : int, optional
        Longest sum or set to write; what is left out is counted. Default: all of a sum, six levels
        of a set.
    scale : array-like of shape (n_features,), optional
        Spread of each column, for instance its standard deviation. Terms are sorted by
        ``|weight| * scale``, so that those with most effect come first. Default: all 1.

    Returns
    -------
    str
        Rows for which the rule holds go on in the lines below it, which is the right child. A leaf
        says the class that most of its rows had and their share, ``pos (0.97)``; in forests whose
        trees add up, scores: ``scores pos +0.0499, neg -0.0499``. Dates are compared as dates,
        and sums weigh the days after one: ``0.3*(since - 2020-01-31)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney.estimators import TAOTreeClassifier
    >>> from spinney.export import export_text
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> export_text(tree).splitlines()[0].startswith("if ")
    True
    """
    fitted = fitted_model(model)
    _, shown = fitted.tree(tree)
    labels = checked_class_names(fitted, class_names)
    check_integer("digits", digits, minimum=1, example="3")
    if max_weights is not None:
        check_integer("max_weights", max_weights, minimum=1, example="5")
    root = view_tree(shown, fitted.coordinate_names if feature_names is None else feature_names)
    has_scores = holds_scores(fitted.trees)
    scales, _ = checked_spread(scale, None, shown.n_features)
    spread = dict(zip(root.feature_names, scales.tolist(), strict=True))
    indicators, origins = (frozenset(), {}) if feature_names is not None else _marked(fitted)
    writer = SumWriter(digits, max_weights, spread, indicators, has_scores, origins)
    words = {} if feature_names is not None else words_of_tree(fitted, shown, writer.number)
    said = {node: of_node.text(max_weights or MOST_LEVELS) for node, of_node in words.items()}
    return "\n".join(_lines(root, writer, labels, said)) + "\n"


@dataclass(frozen=True)
class SumWriter:
    """Writes numbers and weighted sums of features.

    Parameters
    ----------
    digits : int
        Significant digits.
    max_weights : int or None
        Longest sum.
    spread : dict
        Spread of each feature by name.
    indicators : frozenset of str
        Features that are 1 where what their name says is true, and 0 elsewhere.
    has_scores : bool
        Whether leaves hold scores of classes that add up, and not class fractions.
    origins : mapping of str to float
        Features that are dates, and what is taken off them, in days since 1970-01-01.
    """

    digits: int
    max_weights: int | None
    spread: dict[str, float]
    indicators: frozenset[str] = frozenset()
    has_scores: bool = False
    origins: Mapping[str, float] = field(default_factory=dict)

    def number(self, value: float) -> str:
        """`value` rounded, without needless zeros."""
        return rounded(value, self.digits)

    def value(self, name: str, value: float) -> str:
        """A value of a feature: a number, or a date."""
        return moment(self.origins[name] + value) if name in self.origins else self.number(value)

    def weighted_sum(self, weights: dict[str, float], constant: float = 0.0) -> str:
        """``2*a - 0.5*b + constant``, the terms of most effect first."""
        names = sorted(weights, key=lambda name: -abs(weights[name]) * self.spread[name])
        shown = names[: self.max_weights]
        parts = [self._term(weights[name], name) for name in shown]
        if len(shown) < len(names):
            parts.append(f"+ … {len(names) - len(shown)} more")
        if constant != 0 or not parts:
            parts.append(self._term(constant))
        text = " ".join(parts)
        return f"-{text[2:]}" if text.startswith("-") else text[2:]

    def _term(self, weight: float, name: str = "") -> str:
        """A signed term, for instance ``- 0.5*b``."""
        size = self.number(abs(weight))
        sign = "-" if weight < 0 else "+"
        if not name:
            return f"{sign} {size}"
        if name in self.indicators:
            name = f"[{name}]"
        if name in self.origins:
            name = f"({name} - {moment(self.origins[name])})"
        return f"{sign} {name}" if size == "1" else f"{sign} {size}*{name}"


def _lines(
    root: NodeView, writer: SumWriter, class_names: Sequence[str] | None, said: dict[int, str]
) -> list[str]:
    """The text of all nodes, on a stack because a tree may be deeper than Python recurses.

    `said` has the conditions of splits that read one column of a table.
    """
    lines: list[str] = []
    waiting: list[tuple[str, NodeView | str]] = [("", root)]
    while waiting:
        margin, item = waiting.pop()
        if isinstance(item, str):
            lines.append(margin + item)
        elif isinstance(item, LeafView):
            lines += [margin + line for line in _answer(item, writer, class_names)]
        else:
            lines.append(f"{margin}if {said.get(item.index) or _rule(item, writer)}:")
            below = margin + INDENT
            waiting += [(below, item.left), (margin, "else:"), (below, item.right)]
    return lines


def _rule(split: SplitView, writer: SumWriter) -> str:
    """The condition under which a row goes right."""
    weights, bias = split.weights, split.bias
    if len(weights) == 1:
        [(name, weight)] = weights.items()
        sign = ">=" if weight > 0 else "<="
        return f"{name} {sign} {writer.value(name, -bias / weight)}"
    return f"{writer.weighted_sum(weights)} >= {writer.number(-bias)}"


def _answer(leaf: LeafView, writer: SumWriter, class_names: Sequence[str] | None) -> list[str]:
    """What a leaf says, in one line or in one line an output."""
    if leaf.tree.is_linear:
        return _formulas(leaf, writer, class_names)
    if class_names is not None and writer.has_scores:
        return [_scores(leaf.value, writer, class_names)]
    if class_names is not None:
        best = int(np.argmax(leaf.value))
        return [f"{class_names[best]} ({writer.number(float(leaf.value[best]))})"]
    values = [writer.number(float(value)) for value in leaf.value]
    return [f"value = {values[0]}" if len(values) == 1 else f"value = [{', '.join(values)}]"]


def _scores(scores: NDArray[np.float64], writer: SumWriter, class_names: Sequence[str]) -> str:
    """The scores of most effect in one line, with their signs."""
    order = np.argsort(-np.abs(scores), kind="stable")
    parts = [
        f"{class_names[k]} {'-' if scores[k] < 0 else '+'}{writer.number(abs(float(scores[k])))}"
        for k in order[:MOST_SCORES].tolist()
    ]
    if len(order) > MOST_SCORES:
        parts.append(f"… {len(order) - MOST_SCORES} more")
    return f"scores {', '.join(parts)}"


def _formulas(leaf: LeafView, writer: SumWriter, class_names: Sequence[str] | None) -> list[str]:
    """One line an output of a linear leaf."""
    sums = [
        writer.weighted_sum(weights, float(intercept))
        for weights, intercept in zip(leaf.weights, leaf.value, strict=True)
    ]
    if class_names is not None:
        return [f"score[{name}] = {text}" for name, text in zip(class_names, sums, strict=True)]
    names = value_names(len(sums))
    return [f"{name} = {text}" for name, text in zip(names, sums, strict=True)]


def _marked(fitted: FittedModel) -> tuple[frozenset[str], dict[str, float]]:
    """Names of coordinates that are indicators, and of dates with their origins."""
    names = fitted.coordinate_names
    described = () if fitted.encoding is None else fitted.encoding.coordinates
    indicators = frozenset(found.name for found in described if found.is_indicator)
    return indicators, {names[k]: origin for k, origin in fitted.date_origins.items()}
