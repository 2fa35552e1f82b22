"""What is said of one prediction: a tree of frozen values, as text, HTML or a dict.

Numbers are float64. What the columns add is the difference between the answers for the row and for
the typical row. At a split the contributions and the base add up to the score; the outputs of a
linear leaf are the sums of theirs; what the trees add and the offsets add up to the totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from spinney.data.tables.moments import moment
from spinney.data.wording import counted
from spinney.inspection.explanations.words import (
    Markup,
    element,
    number,
    signed,
    span,
    table,
    value_text,
)
from spinney.tree.readout import UNSEEN

Row = tuple[float, ...]

#: Scores of a leaf that people are shown.
MOST_SCORES = 4

#: Columns that people are shown; `features` has all of them.
MOST_COLUMNS = 8


@dataclass(frozen=True)
class Contribution:
    """One term of a weighted sum, beside that of the typical row.

    Attributes
    ----------
    name : str
        The coordinate, such as ``age``, ``age is missing`` or ``job = cook``.
    column : str
        The column of X that it comes from.
    value, typical : float
        The coordinate of the row and of the typical row: numbers in their own units, days since
        1970-01-01 of a date, 0 or 1 of what is true or false.
    weight : float
    amount : float
        ``weight * (value - typical)``.
    kind : str
        "number", "datetime" or "duration"; "is_level", "is_rest" or "is_missing" of what is true or
        false; "target_mean".
    is_missing : bool
        Whether the row has no value in the column. `value` is then what stands in for it.
    origin : float
        What the trees take off a date, in days: sums weigh ``value - origin``.
    """

    name: str
    column: str
    value: float
    typical: float
    weight: float
    amount: float
    kind: str = "number"
    is_missing: bool = False
    origin: float = 0.0

    @property
    def is_indicator(self) -> bool:
        """Whether it is 1 where something is true, and 0 elsewhere."""
        return self.kind.startswith("is_")


@dataclass(frozen=True)
class SplitStep:
    """A split on the way of the row: it goes right if ``score >= 0``, else left.

    Attributes
    ----------
    node : int
        Number of the node in its tree.
    contributions : tuple of Contribution
        Largest first.
    bias : float
        Offset of the hyperplane: the score is this and the sum of ``weight * coordinate``.
    base : float
        Score of the typical row.
    score : float
        ``base`` plus all contributions.
    distance : float
        Euclidean distance from the hyperplane, in units of the columns, or in standard deviations
        if `explain` was given data. Infinite if the hyperplane has no weight. If it weighs a number
        and its missing flag, the distance of the number from its threshold.
    goes : {"left", "right"}
        As the model routes the row. It sums in float32: within rounding of the hyperplane the side
        may differ from the sign of `score`.
    rule : str
        When a row goes right, of a split that reads one column of a table, as `export_text` writes
        it: ``color in {red, blue}``. Empty for others.
    value : float, str, bool or None
        Of such a split, what the row has in the column; None where it is missing.
    """

    node: int
    contributions: tuple[Contribution, ...]
    bias: float
    base: float
    score: float
    distance: float
    goes: Literal["left", "right"]
    rule: str = ""
    value: float | str | bool | None = None

    @property
    def by_column(self) -> dict[str, float]:
        """Contribution of each column, the largest first: coordinates of one column summed."""
        return _by_column(self.contributions)

    def text(self, max_terms: int = 4) -> str:
        """The inequality in one line, in values as they are.

        Parameters
        ----------
        max_terms : int, default=4
            Longest sum to write; what is left out is counted.
        """
        distance = f"{number(self.distance)} from the hyperplane"
        if self.rule and (self._number is None or self._is_flagged):
            return f"{self._value_text()} -> {self.goes} (right if {self.rule})"
        if self._number is not None and (self.rule or len(self.contributions) == 1):
            return f"{self._cut_text(self._number)} -> {self.goes} ({distance})"
        sign = ">=" if self.goes == "right" else "<"
        sum_text = _sum_text(self.contributions, max_terms)
        return (
            f"{sum_text} = {number(self.score - self.bias)} {sign} {number(-self.bias)} -> "
            f"{self.goes} (by {number(abs(self.score))}, {distance})"
        )

    @property
    def _number(self) -> Contribution | None:
        """The first term that is a number."""
        return next((part for part in self.contributions if not part.is_indicator), None)

    @property
    def _is_flagged(self) -> bool:
        """Whether the weight of a flag, and not what stands in for a missing value, decides."""
        return len(self.contributions) > 1 and self.value is None

    def _value_text(self) -> str:
        """What the row has in the only column that is read."""
        column = self.contributions[0].column
        has = "is missing" if self.value is None else f"= {value_text(self.value)}"
        return f"{column} {has}"

    def _cut_text(self, part: Contribution) -> str:
        """A split of one coordinate as a bound on its value."""
        signs = (">=", "<") if part.weight > 0 else ("<=", ">")
        sign = signs[0] if self.goes == "right" else signs[1]
        threshold = part.value - self.score / part.weight
        shown = [_in_words(part.kind, value) for value in (part.value, threshold)]
        if part.is_missing and part.kind != "is_missing":
            return f"{_shown_name(part)} is missing, taken as {shown[0]} {sign} {shown[1]}"
        return f"{_shown_name(part)} = {shown[0]} {sign} {shown[1]}"

    def _beside_text(self, max_terms: int) -> str:
        """What the columns add to the score of the typical row."""
        side = "right" if self.base >= 0 else "left"
        shown = list(self.by_column.items())[:max_terms]
        parts = ", ".join(f"{name} {signed(part)}" for name, part in shown)
        return f"the typical row has {signed(self.base)} ({side}); {parts}"


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
    bases : tuple of float
        What a linear leaf would say of the typical row: with the contributions they add up to the
        outputs. Empty for a constant one.
    contributions : tuple of tuple of Contribution
        Terms of each output of a linear leaf, largest first; empty for a constant one.
    """

    node: int
    outputs: Row
    intercepts: Row = ()
    bases: Row = ()
    contributions: tuple[tuple[Contribution, ...], ...] = ()

    @property
    def columns(self) -> set[str]:
        """Columns that a linear leaf weighs."""
        return {part.column for of_output in self.contributions for part in of_output}


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
    """What one column has to do with the answer.

    Attributes
    ----------
    column : str
    value, typical : float, str, bool or None
        The value of the row as it was given, and the typical one; None where it is missing, dates
        as text.
    push : float
        What the column adds to the explained output: positive where it argues for the answer,
        negative where it argues against. The pushes of all columns add up to what the model says of
        the row less what it says of the typical row.
    share : float
        Size of the push, divided by the sum of the sizes over all columns; 0 if all are 0.
    adds : tuple of float
        The same as `push` for every class or output.
    error : float
        Standard error of the push from the drawn orders; 0 if it is exact.
    n_splits : int
        Splits on the way of the row that weigh the column.
    """

    column: str
    value: float | str | bool | None
    typical: float | str | bool | None
    push: float
    share: float
    adds: Row
    error: float
    n_splits: int


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
        Whether there is a typical row to start from; False if zeros stand in for it, because the
        model does not know it and `explain` was given no data.
    output_names : tuple of str
        Classes, or outputs of a regression.
    output : int
        Place of the output that is told of most: the predicted class, or the first number.
    combination : str
        "one tree", "hard vote", "weighted vote", "soft vote", "sum", "weighted sum" or "average".
    has_scores : bool
        Whether leaves hold scores of classes that add up, and not class fractions.
    trees : tuple of TreeExplanation
    offsets : tuple of float
        Added to what the trees add.
    totals : tuple of float
        What the trees add, summed, and the offsets.
    answer : tuple of float
        Probabilities, or the numbers to predict.
    typical_answer : tuple of float
        What the model says of the typical row, as `answer`.
    features : tuple of FeatureSummary
        Columns that add something or are weighed on the way, the largest share first.
    n_orders : int
        Orders of the columns over which pushes are means; 0 if they are exact.
    """

    model: str
    prediction: Any
    is_classifier: bool
    is_relative: bool
    output_names: tuple[str, ...]
    output: int
    combination: str
    has_scores: bool
    trees: tuple[TreeExplanation, ...]
    offsets: Row
    totals: Row
    answer: Row
    typical_answer: Row
    features: tuple[FeatureSummary, ...]
    n_orders: int

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
        lines = [self._headline(), *self._push_lines()]
        for tree in self._most_decisive()[:max_trees]:
            lines += ["", *_tree_lines(self, tree, max_terms)]
        if len(self.trees) > max_trees:
            lines += ["", f"… {counted(len(self.trees) - max_trees, 'more tree')}"]
        if len(self.trees) > 1:
            lines += ["", *self._sum_lines()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """A small version for notebooks."""
        parts: list[Markup] = [element("p", element("b", self._headline()))]
        rows: list[tuple[str, ...]] = [
            (f.column, value_text(f.value), value_text(f.typical), self._push_text(f.push))
            for f in self.features[:MOST_COLUMNS]
        ]
        parts += [element("p", line) for line in self._push_head()]
        parts.append(table(("column", "value", "typical", "adds"), rows))
        parts += [element("p", rest) for rest in self._columns_left_out()]
        for tree in self._most_decisive()[:3]:
            head, *rest = _tree_lines(self, tree, 4)
            items = (element("li", line.strip()) for line in rest)
            parts += [element("p", head), element("ul", *items)]
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
        return f"{said}: {self.combination} of {counted(len(self.trees), 'tree')}"

    def _push_lines(self) -> list[str]:
        """What the columns add, the largest first, in words and figures."""
        shown = self.features[:MOST_COLUMNS]
        figures = [self._push_text(feature.push) for feature in shown]
        width = max(map(len, figures), default=0)
        lines = [
            f"  {figure:>{width}}  {_value_text(feature)}"
            for figure, feature in zip(figures, shown, strict=True)
        ]
        return [*self._push_head(), *lines, *(f"  {rest}" for rest in self._columns_left_out())]

    def _push_head(self) -> list[str]:
        """From what the model says of the typical row to what it says of this one."""
        k = self.output
        about = f" for {self.output_names[k]}" if self.is_classifier else ""
        typical = number(self.typical_answer[k], 3)
        start = "the typical row" if self.is_relative else "a row of zeros"
        known = [] if self.is_relative else ["this model knows no typical row; try data=X"]
        if not self.features:
            return [*known, f"of {start} it says {typical}{about}"]
        difference = signed(self.answer[k] - self.typical_answer[k], 3)
        head = f"of {start} it says {typical}{about}; the columns of this row add {difference}:"
        if not self.n_orders:
            return [*known, head]
        error = number(max(feature.error for feature in self.features), 1)
        return [*known, f"{head[:-1]} (standard errors up to {error}):"]

    def _columns_left_out(self) -> list[str]:
        """A line on the columns that are not shown, if there are any."""
        left_out = self.features[MOST_COLUMNS:]
        push = sum(feature.push for feature in left_out)
        if not left_out:
            return []
        return [f"… {counted(len(left_out), 'more column')}, {self._push_text(push)}"]

    def _push_text(self, push: float) -> str:
        """A part of a probability, or of a number."""
        return f"{push:+.3f}" if self.is_classifier else signed(push)

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
            return f"votes of {counted(n_for, 'tree')}"
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


def _weighed_name(part: Contribution) -> str:
    """What a weight is multiplied by: of a date its days after the origin."""
    if part.kind == "datetime":
        return f"({part.name} - {moment(part.origin)})"
    return _shown_name(part)


def _sum_text(contributions: tuple[Contribution, ...], max_terms: int, constant: float = 0) -> str:
    """``2*a - 0.5*b``, the largest contributions first."""
    parts = [
        f"{'-' if part.weight < 0 else '+'} {number(abs(part.weight))}*{_weighed_name(part)}"
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
        if len(step.contributions) > 1 and not step.rule:
            lines.append(f"      {step._beside_text(max_terms)}")
    if tree.leaf.contributions:
        k = explanation.output
        sum_text = _sum_text(tree.leaf.contributions[k], max_terms, tree.leaf.intercepts[k])
        name = explanation.output_names[k]
        lines.append(f"  {name} = {sum_text} = {number(tree.leaf.outputs[k])}")
    return lines


def _leaf_text(explanation: Explanation, tree: TreeExplanation) -> str:
    """What the leaf says, and what that counts."""
    outputs = tree.leaf.outputs
    if explanation.is_classifier and explanation.has_scores:
        said = _scores_text(explanation.output_names, outputs)
    elif explanation.is_classifier:
        best = max(range(len(outputs)), key=outputs.__getitem__)
        said = f"{explanation.output_names[best]} ({number(outputs[best], 3)})"
    else:
        said = ", ".join(number(value) for value in outputs)
    return said if tree.weight == 1 else f"{said}, times {number(tree.weight)}"


def _scores_text(names: tuple[str, ...], scores: Row) -> str:
    """Scores of the classes that a leaf speaks of most, with their signs."""
    order = sorted(range(len(scores)), key=lambda k: -abs(scores[k]))
    order = [k for k in order if scores[k] > UNSEEN]
    parts = [f"{names[k]} {signed(scores[k], 3)}" for k in order[:MOST_SCORES]]
    if len(order) > MOST_SCORES:
        parts.append(f"… {len(order) - MOST_SCORES} more")
    return f"scores {', '.join(parts)}"


def _value_text(feature: FeatureSummary) -> str:
    """``age = 25 (typical 40.2)``, or what is missing."""
    value = "missing" if feature.value is None else f"= {value_text(feature.value)}"
    return f"{feature.column} {value} (typical {value_text(feature.typical)})"


def _in_words(kind: str, value: float) -> str:
    """A coordinate as a date, a duration or a number."""
    if kind == "datetime":
        return moment(value)
    return span(value) if kind == "duration" else number(value)
