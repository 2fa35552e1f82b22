"""What a fitted model does with a row, in one form for every estimator.

Explanations see a model through its public attributes and its readout: which trees, what a tree
adds for a row, what that counts and how totals become an answer. Nothing here is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney.data import as_rows
from spinney.data.tables import TableEncoding, TypicalRow
from spinney.tree import Forest, Tree
from spinney.tree.readout import Readout
from spinney.tree.route import outputs

Floats = NDArray[np.float64]

#: Score of a class that no training row of a linear leaf had is below this.
UNSEEN = -1e199


@dataclass(frozen=True, eq=False)
class Reading:
    """A fitted model as trees, names and a way to add up.

    Attributes
    ----------
    model : fitted estimator
    readout : Readout
    encoding : TableEncoding or None
        How columns become the coordinates that hyperplanes weigh; None if they are the same.
    column_names, coordinate_names : tuple of str
    columns : int64 ndarray
        Column of each coordinate.
    typical : TypicalRow or None
        What is typical of each column in training; None if the model does not know it.
    """

    model: Any
    readout: Readout
    encoding: TableEncoding | None
    column_names: tuple[str, ...]
    coordinate_names: tuple[str, ...]
    columns: NDArray[np.int64]
    typical: TypicalRow | None = None

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self.readout.forest

    @property
    def is_classifier(self) -> bool:
        """Whether the answer is a class."""
        return self.readout.classes is not None

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """Names of the classes or of the outputs of a regression."""
        if self.readout.classes is not None:
            return tuple(str(label) for label in self.readout.classes.tolist())
        if self.readout.is_flat:
            return ("value",)
        return tuple(f"value[{output}]" for output in range(self.forest.n_outputs))

    @property
    def combination(self) -> str:
        """How the trees' answers become one, in words."""
        readout = self.readout
        if self.forest.n_trees == 1:
            return "one tree"
        if readout.says == "label":
            is_even = bool((readout.tree_weights == readout.tree_weights[0]).all())
            return "hard vote" if is_even else "weighted vote"
        if readout.says == "probabilities":
            return "soft vote"
        if readout.finish == "mean":
            return "average"
        is_plain = bool((readout.tree_weights == 1).all())
        return "sum" if is_plain else "weighted sum"

    def encode(self, X: object) -> NDArray[np.float32]:
        """Coordinates of rows as the trees read them, checked as by ``predict``."""
        reader = self.model if hasattr(self.model, "_checked_rows") else self.model.forest
        if hasattr(reader, "_checked_rows"):
            rows = reader._checked_rows(X)
        else:  # a refined forest of another library
            rows = validate_data(reader, X, reset=False, dtype=np.float32, accept_sparse="csr")
        dense = rows.toarray() if sp.issparse(rows) else rows
        return np.ascontiguousarray(dense, dtype=np.float32)

    def totals(self, coordinates: NDArray[np.float32]) -> Floats:
        """What the trees say together, (n_rows, n_outputs)."""
        rows, readout = as_rows(coordinates), self.readout
        if readout.says == "label":
            sums = readout.forest.votes(rows, readout.tree_weights)
        else:
            is_softmax = readout.says == "probabilities"
            sums = readout.forest.sums(rows, readout.tree_weights, is_softmax=is_softmax)
        return sums + readout.offsets

    def answers(self, coordinates: NDArray[np.float32]) -> Floats:
        """Probabilities, or numbers, of shape (n_rows, n_outputs)."""
        return self.readout.finished(self.totals(coordinates))

    @cached_property
    def is_weighed(self) -> NDArray[np.bool_]:
        """Coordinates that a hyperplane or a linear leaf of any tree weighs."""
        is_weighed = np.zeros(self.forest.n_features, dtype=np.bool_)
        for tree in self.forest.trees:
            is_weighed[tree.split_indices] = True
            is_weighed[tree.leaf_indices] = True
        return is_weighed

    def predictions(self, totals: Floats) -> NDArray[Any]:
        """Labels, or numbers of shape (n_rows, n_outputs)."""
        return self.readout.labels(totals) if self.is_classifier else self.readout.finished(totals)

    def said(self, tree: Tree, coordinates: NDArray[np.float32]) -> tuple[Floats, Floats]:
        """Outputs of the leaf of each row, and what the tree adds for it before its weight."""
        answer = outputs(tree, as_rows(coordinates))
        return answer, self.adds(tree, answer)

    def adds(self, tree: Tree, answer: Floats) -> Floats:
        """What a tree adds for outputs of its leaves, before its weight."""
        if self.readout.says == "label":
            return cast(Floats, np.eye(tree.n_outputs)[answer.argmax(axis=1)])
        if self.readout.says == "probabilities" and tree.is_linear:
            shares = np.exp(answer - answer.max(axis=1, keepdims=True))
            return cast(Floats, shares / shares.sum(axis=1, keepdims=True))
        return answer


def read_model(model: object) -> Reading:
    """A fitted estimator of this library, ready to be asked about a row.

    Raises
    ------
    TypeError
        If it is something else, or a refined forest whose trees cannot be read.
    NotFittedError
        If it is not fitted.
    """
    if isinstance(model, type) or not hasattr(model, "_readout"):
        raise TypeError(
            f"model={type(model).__name__} is no estimator of spinney; give a fitted tree or "
            "forest; of a pipeline, try its last step and the row as the steps before it make it."
        )
    check_is_fitted(model)
    readout = cast(Readout, model._readout())
    inner = getattr(model, "forest", None)
    encoding: TableEncoding | None = getattr(model, "encoding_", getattr(inner, "encoding_", None))
    typical: TypicalRow | None = getattr(model, "typical_", getattr(inner, "typical_", None))
    n_columns = readout.forest.n_features if encoding is None else encoding.n_columns
    names = getattr(model, "feature_names_in_", [f"x{column}" for column in range(n_columns)])
    column_names = tuple(str(name) for name in names)
    if encoding is None:
        columns = np.arange(n_columns, dtype=np.int64)
        return Reading(model, readout, None, column_names, column_names, columns, typical)
    names_of_coordinates = tuple(coordinate.name for coordinate in encoding.coordinates)
    return Reading(
        model, readout, encoding, column_names, names_of_coordinates, encoding.columns, typical
    )
