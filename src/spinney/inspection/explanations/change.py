"""The answer of `nearest_change`: a row a person can act on, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spinney.inspection.explanations.explanation import plain
from spinney.inspection.explanations.origin import plain_value
from spinney.inspection.explanations.words import element, signed, table, value_text


@dataclass(frozen=True)
class FeatureChange:
    """One column that changes.

    Attributes
    ----------
    column : str
    before, after : object
        The values, as the row holds them.
    difference : float or None
        For numbers; of dates and durations in days; None for categories.
    cost : float
        Its part: the difference divided by the scale, in absolute value.
    """

    column: str
    before: Any
    after: Any
    difference: float | None
    cost: float


@dataclass(frozen=True, eq=False)
class NearestChange:
    """The smallest change that was found; made by :func:`spinney.nearest_change`.

    Attributes
    ----------
    is_found : bool
        Whether there is a change.
    is_exact : bool
        Whether it is proven that no smaller one exists or, if none was found, that there is none.
    reason : str
        In words: what was found, or why nothing.
    prediction : object
        What the model says of the row as it is.
    new_prediction : object
        What it says of the changed row; None if there is none.
    changed : object
        The changed row, in the container that the row came in; None if there is none.
    changes : tuple of FeatureChange
        The columns that change, the most costly first.
    cost : float
        Size of the change: the norm of the differences divided by the scale. Infinite if there is
        none.
    norm : {"l2", "l1"}
    n_solved : int
        Programmes solved on the way.
    """

    is_found: bool
    is_exact: bool
    reason: str
    prediction: Any
    new_prediction: Any
    changed: Any
    changes: tuple[FeatureChange, ...]
    cost: float
    norm: str
    n_solved: int

    def __str__(self) -> str:
        return "\n".join([self.reason, *(f"  {_change_text(change)}" for change in self.changes)])

    def _repr_html_(self) -> str:
        """A small version for notebooks."""
        rows = [
            (change.column, _value_text(change.before), _value_text(change.after), _how(change))
            for change in self.changes
        ]
        head = element("p", element("b", self.reason))
        if not rows:
            return element("div", head)
        return element("div", head, table(("column", "now", "instead", "difference"), [*rows]))

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, texts and numbers, ready for JSON, without the changed row."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del told["changed"]
        return {name: plain(value) for name, value in told.items()}


def _change_text(change: FeatureChange) -> str:
    how = _how(change)
    arrow = f"{change.column}: {_value_text(change.before)} -> {_value_text(change.after)}"
    return f"{arrow} ({how})" if how else arrow


def _how(change: FeatureChange) -> str:
    if change.difference is None:
        return ""
    is_time = isinstance(plain_value(change.after), str)
    return f"{signed(change.difference)} days" if is_time else signed(change.difference)


def _value_text(value: Any) -> str:
    return value_text(plain_value(value), digits=6)
