"""What is said of one prediction: a tree of frozen values, as text, HTML or a dict.

Numbers are float64. At a split the contributions and the base add up to the score; the outputs of a
linear leaf are the sums of theirs; what the trees add and the offsets add up to the totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from spinney.explanations.words import Markup, element, number, plural, signed, table

Row = tuple[float, ...]

#: Columns that people are shown; `features` has all of them.
MOST_COLUMNS = 8


@dataclass(frozen=True)
class Contribution:
    """One term of a weighted sum.

    Attributes
    ----------
    name : str
        The coordinate, such as ``age``, ``age is missing`` or ``job = cook``.
    column : str
        The column of X that it comes from.
    value : float
        The row's coordinate, less that of the mean row if `explain` was given data.
    weight : float
    amount : float
        weight * value.
    """

    name: str
    column: str
    value: float
    weight: float
    amount: float


@dataclass(frozen=True)
class SplitStep:
    """A split on the way of the row: it goes right if ``score >= 0``, else left.

    Attributes
    ----------
    node : int
        Number of the node in its tree.
    contributions : tuple of Contribution
        Largest first.
    base : float
        What is there before any contribution: the bias, or the score of the mean row.
    score : float
        ``base`` plus all contributions.
    distance : float
        Euclidean distance from the hyperplane, in units of the columns, or in standard deviations
        if `explain` was given data. Infinite if the hyperplane has no weight.
    goes : {"left", "right"}
        As the model routes the row. It sums in float32: within rounding of the hyperplane the side
        may differ from the sign of `score`.
    """

    node: int
    contributions: tuple[Contribution, ...]
    base: float
    score: float
    distance: float
    goes: Literal["left", "right"]

    @property
    def by_column(self) -> dict[str, float]:
        """Contribution of each column, the largest first: coordinates of one column summed."""
        return _by_column(self.contributions)

    def text(self, max_terms: int = 4) -> str:
        """The inequality in one line.

        Parameters
        ----------
        max_terms : int, default=4
            Longest sum to write; what is left out is counted.
        """
        distance = f"{number(self.distance)} from the hyperplane"
        if len(self.contributions) == 1:
            return f"{self._cut_text(self.contributions[0])} -> {self.goes} ({distance})"
        sign = ">=" if self.goes == "right" else "<"
        sum_text = _sum_text(self.contributions, max_terms)
        return (
            f"{sum_text} = {number(self.score - self.base)} {sign} {number(-self.base)} -> "
            f"{self.goes} (by {number(abs(self.score))}, {distance})"
        )

    def _cut_text(self, part: Contribution) -> str:
        """A split of one coordinate as a bound on its value."""
        signs = (">=", "<") if part.weight > 0 else ("<=", ">")
        sign = signs[0] if self.goes == "right" else signs[1]
        return (
            f"{_shown_name(part)} = {number(part.value)} {sign} {number(-self.base / part.weight)}"
        )


@dataclass(frozen=True)
class LeafAnswer:
    """The leaf that the row reaches.

    Attributes
    ----------
    node : int
    outputs : tuple of float
        What it says: class fractions, numbers, or scores of a linear leaf.
    intercepts : tuple of float
        Of a linear leaf; empty for a constant one.
    contributions : tuple of tuple of Contribution
        Terms of each output of a linear leaf, largest first; empty for a constant one.
    """

    node: int
    outputs: Row
    intercepts: Row = ()
    contributions: tuple[tuple[Contribution, ...], ...] = ()


@dataclass(frozen=True)
class TreeExplanation:
    """The way of the row through one tree.

    Attributes
    ----------
    number : int
        Place of the tree in the forest.
    steps : tuple of SplitStep
        From the root down.
    leaf : LeafAnswer
    says : tuple of float
        What the tree adds, before its weight: a vote, probabilities, scores or numbers.
    weight : float
    """

    number: int
    steps: tuple[SplitStep, ...]
    leaf: LeafAnswer
    says: Row
    weight: float

    @property
    def adds(self) -> Row:
        """``weight * says``: the tree's part of the totals."""
        return tuple(self.weight * part for part in self.says)


@dataclass(frozen=True)
class FeatureSummary:
    """One column over all splits on the way of the row.

    Attributes
    ----------
    column : str
    share : float
        Its part of the decisions: at each split the size of its contribution, divided by the sum of
        the sizes over all columns, averaged over the splits of a path, and over the trees by the
        size of their weights. Shares of all columns add up to 1, unless no tree has a split.
    push : float
        The same with a sign: positive where it pulled the row to the side it went, negative where
        it pulled the other way.
    n_splits : int
        Splits on the way that weigh it.
    in_leaves : float
        What it adds to the explained output in linear leaves, trees by their weights; 0 if leaves
        are constant.
    """

    column: str
    share: float
    push: float
    n_splits: int
    in_leaves: float


@dataclass(frozen=True)
class Explanation:
    """Why a model says what it says of one row; made by :func:`spinney.explain`.

    Attributes
    ----------
    model : str
        Name of the estimator's class.
    prediction : object
        What ``predict`` says: a label, a number, or a tuple of numbers.
    is_classifier : bool
    is_relative : bool
        Whether contributions are of the difference from the mean row.
    output_names : tuple of str
        Classes, or outputs of a regression.
    output : int
        Place of the output that is told of most: the predicted class, or the first number.
    combination : str
        "one tree", "hard vote", "weighted vote", "soft vote", "sum", "weighted sum" or "average".
    trees : tuple of TreeExplanation
    offsets : tuple of float
        Added to what the trees add.
    totals : tuple of float
        What the trees add, summed, and the offsets.
    answer : tuple of float
        Probabilities, or the numbers to predict.
    features : tuple of FeatureSummary
        Columns that are weighed on the way, the largest share first.
    """

    model: str
    prediction: Any
    is_classifier: bool
    is_relative: bool
    output_names: tuple[str, ...]
    output: int
    combination: str
    trees: tuple[TreeExplanation, ...]
    offsets: Row
    totals: Row
    answer: Row
    features: tuple[FeatureSummary, ...]

    def text(self, max_trees: int = 3, max_terms: int = 4) -> str:
        """All of it in lines for people.

        Parameters
        ----------
        max_trees : int, default=3
            Trees to write in full; those that add most to the explained output come first.
        max_terms : int, default=4
            Longest sum to write.

        Returns
        -------
        str
        """
        lines = [self._headline()]
        if self.is_relative:
            lines.append("values are differences from the mean row, distances are in deviations")
        for tree in self._most_decisive()[:max_trees]:
            lines += ["", *_tree_lines(self, tree, max_terms)]
        if len(self.trees) > max_trees:
            lines += ["", f"… {plural(len(self.trees) - max_trees, 'more tree')}"]
        if len(self.trees) > 1:
            lines += ["", *self._sum_lines()]
        if self.features:
            lines += ["", "columns on the way: share of the decisions, and which way they pulled"]
            shown = self.features[:MOST_COLUMNS]
            lines += [f"  {f.share:6.1%} {f.push:+7.1%}  {f.column}" for f in shown]
            lines += [f"  {rest}" for rest in self._columns_left_out()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """A small version for notebooks."""
        parts: list[Markup] = [element("p", element("b", self._headline()))]
        for tree in self._most_decisive()[:3]:
            head, *rest = _tree_lines(self, tree, 4)
            items = (element("li", line.strip()) for line in rest)
            parts += [element("p", head), element("ul", *items)]
        rows: list[tuple[str, ...]] = [
            (f.column, f"{f.share:.1%}", f"{f.push:+.1%}", str(f.n_splits))
            for f in self.features[:MOST_COLUMNS]
        ]
        parts.append(table(("column", "share", "push", "splits"), rows))
        parts += [element("p", rest) for rest in self._columns_left_out()]
        return element("div", *parts)

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, texts and numbers, ready for JSON; no number is rounded."""
        return plain(self)  # type: ignore[no-any-return]

    def _headline(self) -> str:
        said = f"{self.model} says {_shown(self.prediction)}"
        if self.is_classifier:
            said += f" ({number(self.answer[self.output], 3)})"
        if len(self.trees) == 1:
            return said
        return f"{said}: {self.combination} of {plural(len(self.trees), 'tree')}"

    def _columns_left_out(self) -> list[str]:
        """A line on the columns that are not shown, if there are any."""
        left_out = self.features[MOST_COLUMNS:]
        share = sum(feature.share for feature in left_out)
        return [f"… {plural(len(left_out), 'more column')}, {share:.1%}"] if left_out else []

    def _most_decisive(self) -> list[TreeExplanation]:
        """Trees that add most to the explained output first; of equal ones the first."""
        return sorted(self.trees, key=lambda tree: -abs(tree.adds[self.output]))

    def _sum_lines(self) -> list[str]:
        """How the trees add up, an output a line, the largest first."""
        order = sorted(range(len(self.totals)), key=lambda k: -self.totals[k])[:5]
        lines = [f"{self.combination}, over all trees:"]
        lines += [f"  {self.output_names[k]}: {self._total_text(k)}" for k in order]
        if len(order) < len(self.totals):
            lines.append(f"  … {len(self.totals) - len(order)} more")
        return lines

    def _total_text(self, output: int) -> str:
        total, answer = number(self.totals[output]), number(self.answer[output])
        said = f"{self._parts_text(output)} = {total}"
        return said if answer == total else f"{said}, which is {answer}"

    def _parts_text(self, output: int) -> str:
        """What adds up to one of the totals, the largest parts first."""
        if "vote" in self.combination and self.combination != "soft vote":
            n_for = sum(tree.adds[output] > 0 for tree in self.trees)
            return f"votes of {plural(n_for, 'tree')}"
        trees = sorted(self.trees, key=lambda tree: -abs(tree.adds[output]))
        parts = [f"tree {tree.number} {signed(tree.adds[output])}" for tree in trees[:4]]
        if len(trees) > 4:
            parts.append(f"… {len(trees) - 4} more")
        if self.offsets[output]:
            parts.insert(0, f"start {signed(self.offsets[output])}")
        return ", ".join(parts)


def plain(value: Any) -> Any:
    """Dataclasses, tuples and numpy numbers as what JSON knows."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return _finite(float(value))
    if value is None or isinstance(value, bool | int | str):
        return value
    return plain(value.item()) if hasattr(value, "item") else str(value)


def _finite(value: float) -> float | str:
    """JSON has no infinity."""
    return value if abs(value) < float("inf") else str(value)


def _by_column(contributions: tuple[Contribution, ...]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for part in contributions:
        sums[part.column] = sums.get(part.column, 0.0) + part.amount
    return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))


def _shown(prediction: Any) -> str:
    if isinstance(prediction, tuple):
        return "[" + ", ".join(number(float(value)) for value in prediction) + "]"
    return number(float(prediction)) if isinstance(prediction, float) else str(prediction)


def _shown_name(part: Contribution) -> str:
    """A column's name, or what is true or false of it in brackets: ``[job = cook]``."""
    return part.name if part.name == part.column else f"[{part.name}]"


def _sum_text(contributions: tuple[Contribution, ...], max_terms: int, constant: float = 0) -> str:
    """``2*a - 0.5*b``, the largest contributions first."""
    parts = [
        f"{'-' if part.weight < 0 else '+'} {number(abs(part.weight))}*{_shown_name(part)}"
        for part in contributions[:max_terms]
    ]
    if len(contributions) > max_terms:
        parts.append(f"+ … {len(contributions) - max_terms} more")
    if constant or not parts:
        parts.append(f"{'-' if constant < 0 else '+'} {number(abs(constant))}")
    text = " ".join(parts)
    return f"-{text[2:]}" if text.startswith("-") else text[2:]


def _tree_lines(explanation: Explanation, tree: TreeExplanation, max_terms: int) -> list[str]:
    """One tree: its answer, then its splits from the root down, then its linear leaf."""
    lines = [f"tree {tree.number}, leaf {tree.leaf.node}: {_leaf_text(explanation, tree)}"]
    for step in tree.steps:
        lines.append(f"  {step.text(max_terms)}")
        shown = list(step.by_column.items())[:max_terms]
        if len(step.contributions) > 1:
            lines.append("      " + ", ".join(f"{name} {signed(part)}" for name, part in shown))
    if tree.leaf.contributions:
        k = explanation.output
        sum_text = _sum_text(tree.leaf.contributions[k], max_terms, tree.leaf.intercepts[k])
        name = explanation.output_names[k]
        lines.append(f"  {name} = {sum_text} = {number(tree.leaf.outputs[k])}")
    return lines


def _leaf_text(explanation: Explanation, tree: TreeExplanation) -> str:
    """What the leaf says, and what that counts."""
    outputs = tree.leaf.outputs
    if explanation.is_classifier:
        best = max(range(len(outputs)), key=outputs.__getitem__)
        said = f"{explanation.output_names[best]} ({number(outputs[best], 3)})"
    else:
        said = ", ".join(number(value) for value in outputs)
    return said if tree.weight == 1 else f"{said}, times {number(tree.weight)}"
