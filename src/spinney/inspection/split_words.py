"""Splits that read one column of a table, in words: ``color in {red, blue}``, ``age >= 30.5``.

Texts, plots, reports and explanations say the same. Other hyperplanes are sums, which each of them
writes in its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spinney.data.tables import TableEncoding
from spinney.data.tables.columns import DATETIME
from spinney.data.tables.levels import Level
from spinney.data.tables.moments import moment
from spinney.inspection.fitted_model import FittedModel
from spinney.tree.column_splits import ColumnSplit, SetSplit, ThresholdSplit, column_split
from spinney.tree.structure import Tree

#: Levels of a set that are written before the others are counted.
MOST_LEVELS = 6

#: Characters that would make a level look like several, or like the end of the set.
_SEPARATORS = frozenset(',{}"')


@dataclass(frozen=True)
class SplitWords:
    """When a row goes right at a split that reads one column.

    Attributes
    ----------
    subject : str
        What is asked about: ``age``, ``color``, ``color = red``.
    relation : str
        What is asked, with a space before it: ``" >= 30.5 or missing"``, ``" not in"``; empty where
        the subject says all.
    levels : tuple of str
        The set that follows in braces; empty if there is none.
    """

    subject: str
    relation: str = ""
    levels: tuple[str, ...] = ()

    def text(self, most_levels: int = MOST_LEVELS) -> str:
        """All of it in one line, with so many levels of a longer set."""
        return f"{self.subject}{self.end(most_levels)}"

    def end(self, most_levels: int = MOST_LEVELS) -> str:
        """What follows the subject."""
        if not self.levels:
            return self.relation
        return f"{self.relation} {braces(self.levels, most_levels)}"


def braces(levels: tuple[str, ...], most_levels: int) -> str:
    """``{red, blue, … 12 more}``."""
    shown = [*levels[:most_levels]]
    if len(shown) < len(levels):
        shown.append(f"… {len(levels) - len(shown)} more")
    return f"{{{', '.join(shown)}}}"


def split_words(
    fitted: FittedModel,
    tree: Tree,
    node: int,
    number: Callable[[float], str],
    signs: tuple[str, str] = (">=", "<="),
) -> SplitWords | None:
    """When a row goes right at a split of a model that reads a table.

    Parameters
    ----------
    fitted : FittedModel
    tree : Tree
    node : int
        A split of the tree.
    number : callable
        Writes a threshold.
    signs : tuple of str
        How "at least" and "at most" are written.

    Returns
    -------
    SplitWords or None
        None for hyperplanes of several columns, and for models that read plain numbers.
    """
    if fitted.encoding is None:
        return None
    found = column_split(tree, node, fitted.encoding)
    return None if found is None else words_of(found, fitted.encoding, number, signs)


def words_of_tree(
    fitted: FittedModel,
    tree: Tree,
    number: Callable[[float], str],
    signs: tuple[str, str] = (">=", "<="),
) -> dict[int, SplitWords]:
    """Words of all splits of a tree that have some, as `split_words`, by node."""
    if fitted.encoding is None:
        return {}
    each = ((node, split_words(fitted, tree, node, number, signs)) for node in tree.split_nodes)
    return {int(node): words for node, words in each if words is not None}


def words_of(
    split: ColumnSplit,
    encoding: TableEncoding,
    number: Callable[[float], str],
    signs: tuple[str, str],
) -> SplitWords:
    """What a split of one column asks, in words."""
    if isinstance(split, ThresholdSplit):
        return _words_of_threshold(split, number, signs)
    return _words_of_set(split, encoding)


def _words_of_threshold(
    split: ThresholdSplit, number: Callable[[float], str], signs: tuple[str, str]
) -> SplitWords:
    value, threshold = split.coordinate, split.threshold
    shown = moment(value.origin + threshold) if value.kind == DATETIME else number(threshold)
    # A missing value is on no side of a threshold, so it is told of only where it goes right.
    missing = " or missing" if split.has_missing and split.missing_goes_right else ""
    sign = signs[0] if split.is_right_above else signs[1]
    return SplitWords(value.name, f" {sign} {shown}{missing}")


def _words_of_set(split: SetSplit, encoding: TableEncoding) -> SplitWords:
    name = _column_name(encoding, split.column)
    levels = tuple(_level_text(level) for level in split.listed)
    if split.parts_others:
        return _asserted(f"{name} is another", is_true=split.others_go_right)
    if not levels:
        return _asserted(f"{name} is missing", is_true=not split.others_go_right)
    if split.parts_missing:
        relation = "neither missing nor in" if split.others_go_right else "missing or in"
        return SplitWords(name, f" is {relation}", levels)
    if len(levels) == 1:
        said = f"{name} = {_plain_level(split.listed[0])}"
        return _asserted(said, is_true=not split.others_go_right)
    return SplitWords(name, " not in" if split.others_go_right else " in", levels)


def _asserted(said: str, *, is_true: bool) -> SplitWords:
    """What is said, or that it is not so, in the words of single indicators."""
    return SplitWords(said if is_true else f"not [{said}]")


def _column_name(encoding: TableEncoding, column: int) -> str:
    return f"x{column}" if encoding.names is None else encoding.names[column]


def _level_text(level: Level) -> str:
    """A level in a set; in quotes if it could be taken for several."""
    text = _plain_level(level)
    return f'"{text}"' if _SEPARATORS & set(text) else text


def _plain_level(level: Level) -> str:
    return level if isinstance(level, str) else f"{level:.15g}"
