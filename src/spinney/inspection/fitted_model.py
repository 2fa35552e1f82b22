"""A fitted model as everyone sees it who shows or explains it.

Text, plots, reports, explanations, exports and the command line ask the same of a model: its trees,
what they are combined to, and what columns, coordinates, classes and outputs are called. They all
ask a `FittedModel`. It holds no state of its own: a refined forest reads rows as the forest inside
it does, and a bare tree is a model of one tree whose columns have no names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spinney.algorithms.trace import Trace
from spinney.data import Matrix, as_rows
from spinney.data.row_reader import encoding_of, typical_of
from spinney.data.tables import TableEncoding, TypicalRow
from spinney.data.tables.columns import DATETIME, NUMBER
from spinney.data.wording import counted
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout
from spinney.tree.structure import Tree


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Trees, names, and the way from rows to what the trees read; made by `fitted_model`.

    Attributes
    ----------
    model : Tree or fitted estimator
        What was given; it predicts, unless it is a bare tree.
    readout : Readout
        The trees, and how they become a prediction.
    encoding : TableEncoding or None
        How columns become the coordinates that hyperplanes weigh; None if they are the same.
    typical : TypicalRow or None
        What is typical of each column in training; None if the model does not know it.
    given_names : tuple of str or None
        Names of the columns that ``fit`` was given; None if they had none.
    """

    model: Any
    readout: Readout
    encoding: TableEncoding | None = None
    typical: TypicalRow | None = None
    given_names: tuple[str, ...] | None = None

    @property
    def model_name(self) -> str:
        """Name of the model's class."""
        return type(self.model).__name__

    @property
    def forest(self) -> Forest:
        """The trees as the core walks them."""
        return self.readout.forest

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All trees."""
        return self.readout.forest.trees

    def tree(self, number: int | None) -> tuple[int, Tree]:
        """One tree and its number, which may be left out if there is but one."""
        n_trees = len(self.trees)
        if number is None and n_trees == 1:
            number = 0
        is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if number is None or not is_whole or not 0 <= number < n_trees:
            raise ValueError(
                f"tree={number!r} of a forest of {counted(n_trees, 'tree')}; give the number of "
                f"one, from 0 to {n_trees - 1}; try tree=0."
            )
        return int(number), self.trees[number]

    @property
    def n_columns(self) -> int:
        """Columns of a row, as it is given."""
        return self.forest.n_features if self.encoding is None else self.encoding.n_columns

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns; ``x0``, ``x1``, ... if they have none."""
        if self.given_names is not None:
            return self.given_names
        return tuple(f"x{column}" for column in range(self.n_columns))

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of what the hyperplanes weigh."""
        if self.encoding is None:
            return self.column_names
        return tuple(coordinate.name for coordinate in self.encoding.coordinates)

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """Column of each coordinate."""
        if self.encoding is None:
            return np.arange(self.n_columns, dtype=np.int64)
        return self.encoding.columns

    @cached_property
    def column_kinds(self) -> tuple[str, ...]:
        """What each column held in training: numbers, dates, durations, text or levels."""
        if self.encoding is None:
            return (NUMBER,) * self.n_columns
        return tuple(self.encoding.kind(column) for column in range(self.n_columns))

    @cached_property
    def date_origins(self) -> dict[int, float]:
        """What is taken off each coordinate that is a date, in days since 1970-01-01."""
        described = () if self.encoding is None else self.encoding.coordinates
        return {k: found.origin for k, found in enumerate(described) if found.kind == DATETIME}

    @property
    def is_classifier(self) -> bool:
        """Whether the model predicts classes."""
        return self.readout.classes is not None

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Names of the classes; None of a regression."""
        classes = self.readout.classes
        return None if classes is None else tuple(str(label) for label in classes.tolist())

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """Names of the classes, or of the numbers that are predicted: ``value``, ``value[0]``."""
        return self.class_names or value_names(self.forest.n_outputs)

    @property
    def importances(self) -> NDArray[np.float64] | None:
        """Importance of each column in training; None if the model does not know it."""
        known = getattr(self.model, "feature_importances_", None)
        return None if known is None else np.asarray(known, dtype=np.float64)

    @property
    def importance_type(self) -> str:
        """What the importances are of: "gain" or "weight"."""
        return str(getattr(self.model, "importance_type", "weight"))

    @property
    def importance_weights(self) -> NDArray[np.float64]:
        """What each tree counts in the importances: its weight in boosting, else 1."""
        even = np.ones(len(self.trees))
        return np.asarray(getattr(self.model, "estimator_weights_", even), dtype=np.float64)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Objective and time of each optimisation; none where trees are not optimised in sweeps."""
        single = (self.model.trace_,) if hasattr(self.model, "trace_") else ()
        return tuple(getattr(self.model, "traces_", single))

    @cached_property
    def is_weighed(self) -> NDArray[np.bool_]:
        """Coordinates that a hyperplane or a linear leaf of any tree weighs."""
        is_weighed = np.zeros(self.forest.n_features, dtype=np.bool_)
        for tree in self.trees:
            is_weighed[tree.split_indices] = True
            is_weighed[tree.leaf_indices] = True
        return is_weighed

    def coordinates(self, X: Any) -> Matrix:
        """Rows as the trees read them, checked as by ``predict``: float32, dense or CSR."""
        if isinstance(self.model, Tree):
            is_sparse = sp.issparse(X)
            return sp.csr_matrix(X, dtype=np.float32) if is_sparse else _dense(X)
        return cast(Matrix, self.model._checked_rows(X))

    def dense_coordinates(self, X: Any) -> NDArray[np.float32]:
        """The same without a sparse form."""
        rows = self.coordinates(X)
        return _dense(rows if isinstance(rows, np.ndarray) else rows.toarray())

    def totals(self, coordinates: Matrix) -> NDArray[np.float64]:
        """What the trees give rows together, of shape (n_rows, n_outputs)."""
        return self.readout.totals(as_rows(coordinates))

    def answers(self, coordinates: Matrix) -> NDArray[np.float64]:
        """Probabilities, or numbers, of shape (n_rows, n_outputs)."""
        return self.readout.finished(self.totals(coordinates))


def fitted_model(model: object) -> FittedModel:
    """A bare tree or a fitted estimator of this library, ready to be asked.

    Raises
    ------
    TypeError
        If it is something else, or a refined forest whose trees cannot be read.
    NotFittedError
        If it is not fitted.
    """
    if isinstance(model, FittedModel):
        return model
    if isinstance(model, Tree):
        return FittedModel(model, _readout_of_tree(model))
    if not _is_estimator(model):
        raise TypeError(
            f"model={type(model).__name__} holds no spinney tree; give a Tree or a fitted "
            "estimator; try fit first, or spinney.tree.from_sklearn for a scikit-learn tree."
        )
    return fitted_estimator(model)


def fitted_estimator(model: object) -> FittedModel:
    """A fitted estimator of this library; a bare tree is refused, as it does not predict."""
    if isinstance(model, FittedModel):
        model = model.model
    if not _is_estimator(model):
        is_around = hasattr(model, "estimator_")  # as a labeler of pixels around its classifier
        instead = "model.estimator_" if is_around else "TAOForestClassifier().fit(X, y)"
        raise TypeError(
            f"model={type(model).__name__} is no tree or forest of spinney; give a fitted tree or "
            "forest; of a pipeline, its last step and the row as the steps before it make it; "
            f"try {instead}."
        )
    check_is_fitted(model, msg="model=%(name)s is not fitted; try fit(X, y) first.")
    estimator = cast(Any, model)
    inner = getattr(estimator, "forest", None)  # of refined forests
    names = getattr(estimator, "feature_names_in_", getattr(inner, "feature_names_in_", None))
    return FittedModel(
        estimator,
        estimator._readout(),
        encoding_of(estimator),
        typical_of(estimator),
        None if names is None else tuple(str(name) for name in names),
    )


def value_names(n_outputs: int) -> tuple[str, ...]:
    """Names of the numbers that a regression predicts."""
    if n_outputs == 1:
        return ("value",)
    return tuple(f"value[{output}]" for output in range(n_outputs))


def _is_estimator(model: object) -> bool:
    return hasattr(model, "_readout") and not isinstance(model, type)


def _readout_of_tree(tree: Tree) -> Readout:
    """Outputs of the leaves as they are."""
    is_flat, weights = tree.n_outputs == 1, np.ones(1)
    offsets = np.zeros(tree.n_outputs)
    return Readout(Forest.of(tree), "outputs", "identity", weights, offsets, is_flat=is_flat)


def _dense(rows: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(rows, dtype=np.float32)
