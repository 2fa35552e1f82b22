"""Splits that read one column of a table, told in values of that column.

A hyperplane whose weights all belong to coordinates of one column asks a question about one value:
whether it is in a set, or on which side of a threshold it lies. Read with the encoding of the
table, it says which values go right. Hyperplanes of several columns have no such form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables import Coordinate, TableEncoding
from spinney.data.tables.levels import Level
from spinney.tree.hyperplanes import hyperplane
from spinney.tree.structure import Tree


@dataclass(frozen=True)
class SetSplit:
    """A split that asks whether a value is in a set.

    Attributes
    ----------
    column : int
        Column of the table.
    right, left : tuple of str, or of float
        Levels with a coordinate of their own that go right, and left; in the order of coordinates.
        Both are empty for a column of numbers, of which only the missing flag is read.
    others_go_right : bool
        Side of all other values that are there: pooled levels, levels that training did not have,
        and numbers.
    missing_goes_right : bool
        Side of missing values.
    has_missing : bool
        Whether the column has a coordinate that tells missing values. Without one the split was
        not learned from them.
    """

    column: int
    right: tuple[Level, ...]
    left: tuple[Level, ...]
    others_go_right: bool
    missing_goes_right: bool
    has_missing: bool

    @property
    def listed(self) -> tuple[Level, ...]:
        """Levels of the side that can be listed in full: the one where other values do not go."""
        return self.left if self.others_go_right else self.right

    @property
    def parts_missing(self) -> bool:
        """Whether missing values go to the side that can be listed."""
        return self.has_missing and self.missing_goes_right != self.others_go_right

    @property
    def parts_others(self) -> bool:
        """Whether it only tells other values from all those that have a coordinate."""
        beside = self.right if self.others_go_right else self.left
        return bool(self.listed) and not beside and self.parts_missing == self.has_missing


@dataclass(frozen=True)
class ThresholdSplit:
    """A split that compares a number, a date, a duration or a mean of the target.

    Attributes
    ----------
    column : int
        Column of the table.
    coordinate : Coordinate
        What is compared.
    threshold : float
        In units of the coordinate, from which `coordinate.origin` has been taken off.
    is_right_above : bool
        Whether ``value >= threshold`` goes right; else ``value <= threshold`` does.
    missing_goes_right : bool
        Side of missing values: by what they are filled with, and by the weight of their flag.
    has_missing : bool
        Whether the column has a coordinate that tells missing values.
    """

    column: int
    coordinate: Coordinate
    threshold: float
    is_right_above: bool
    missing_goes_right: bool
    has_missing: bool


ColumnSplit: TypeAlias = SetSplit | ThresholdSplit


def column_split(tree: Tree, node: int, encoding: TableEncoding) -> ColumnSplit | None:
    """What a split asks of one column of a table; None if it has no such form.

    Parameters
    ----------
    tree : Tree
    node : int
        A split of it.
    encoding : TableEncoding
        How the table becomes the coordinates that the tree reads.

    Returns
    -------
    SetSplit, ThresholdSplit or None
        None if it weighs several columns, several numbers of one column, or numbers and levels; if
        it has no weight; or if it sends every value of the column to the same side.
    """
    features, weights = hyperplane(tree, node)
    if not len(features):
        return None
    described, bias = encoding.coordinates, float(tree.bias[node])
    # Features ascend, and so do the columns of coordinates: the ends tell of all between them.
    column = described[features[0]].column
    if column != described[features[-1]].column:
        return None
    weight_of = {described[k]: float(w) for k, w in zip(features.tolist(), weights, strict=True)}
    values = [found for found in weight_of if not found.is_indicator]
    if not values:
        return _set_split(encoding, column, weight_of, bias)
    others = [found.kind for found in weight_of if found.is_indicator]
    if len(values) > 1 or others not in ([], ["is_missing"]):
        return None
    return _threshold_split(encoding, values[0], weight_of, bias)


def n_columns_read(tree: Tree, columns: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Number of columns of the table that each node weighs, int64 of shape (n_nodes,).

    Parameters
    ----------
    tree : Tree
    columns : int64 ndarray of shape (n_features,) or None, default=None
        Column of each coordinate, ascending; None if coordinates are columns.
    """
    n_weights = np.diff(tree.split_indptr)
    if columns is None:
        return n_weights
    nodes, read = np.repeat(np.arange(tree.n_nodes), n_weights), columns[tree.split_indices]
    is_new = np.ones(len(read), dtype=np.bool_)
    is_new[1:] = (read[1:] != read[:-1]) | (nodes[1:] != nodes[:-1])
    return np.bincount(nodes[is_new], minlength=tree.n_nodes)


def _set_split(
    encoding: TableEncoding, column: int, weight_of: dict[Coordinate, float], bias: float
) -> SetSplit | None:
    """The sides of levels: a row has at most one indicator of a column, so its weight decides."""
    rest = [weight for found, weight in weight_of.items() if found.kind == "is_rest"]
    flag = [weight for found, weight in weight_of.items() if found.kind == "is_missing"]
    levels = encoding.levels[column].own if column in encoding.levels else ()
    of_level = {found.level: weight for found, weight in weight_of.items()}
    goes_right = {level: of_level.get(level, 0.0) + bias >= 0 for level in levels}
    split = SetSplit(
        column,
        tuple(level for level in levels if goes_right[level]),
        tuple(level for level in levels if not goes_right[level]),
        others_go_right=sum(rest) + bias >= 0,
        missing_goes_right=sum(flag) + bias >= 0,
        has_missing=bool(encoding.has_missing[column]),
    )
    return split if split.listed or split.parts_missing else None


def _threshold_split(
    encoding: TableEncoding, value: Coordinate, weight_of: dict[Coordinate, float], bias: float
) -> ThresholdSplit:
    weight = weight_of[value]
    flag = sum(weight for found, weight in weight_of.items() if found.kind == "is_missing")
    # As predictions add: products and their sum in float32, the bias in float64.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        product = np.float32(weight) * np.float32(_stand_in(encoding, value))
        score = float(product + np.float32(flag)) + bias
    return ThresholdSplit(
        value.column,
        value,
        threshold=-bias / weight,
        is_right_above=weight > 0,
        missing_goes_right=score >= 0,
        has_missing=bool(encoding.has_missing[value.column]),
    )


def _stand_in(encoding: TableEncoding, value: Coordinate) -> float:
    """What a missing value has in a coordinate that is a number."""
    if value.kind != "target_mean":
        return value.fill
    levels = encoding.levels[value.column]
    return float(levels.means[len(levels.known), value.output])
