"""A learning task in the form the native core reads.

Checked rows, targets and weights become one frozen :class:`Problem` with the scaling under which
hyperplanes are solved and penalised. Whether rows are stored dense or sparse is decided by their
values, not by the container they came in, so that both containers give the same model, bit for bit.
What users pass is checked before it comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney import _core
from spinney.data.tables.encoding import NO_FLAG, Matrix, ReadColumn

#: Rows with a smaller share of non-zeros are solved from CSR: skipping zeros then beats the
#: vector instructions of dense rows (`benchmarks/solvers.py`).
SPARSE_BELOW = 0.05

#: Wide rows of whole numbers from 0 to 255, as of images, are solved from bytes: the same bits at a
#: quarter of the memory traffic, which is what wide rows wait for. Narrow rows do not wait.
LEAST_WIDTH_OF_BYTES = 65

#: Columns of a smaller scale count as constant: their weights would overflow float32.
LEAST_SCALE = 1e-30

#: Scales that wide rows may have; squares of them must fit into float32.
SCALES_OF_WIDE_ROWS = (1e-18, 1e18)

#: A column's scale as a share of its range, so that columns of one unit, as pixels, stay of one
#: unit. The standard deviation would blow up columns that are almost always zero: a pixel at the
#: border or a rare word would be preferred to all others. `docs/algorithms/tao.md` has figures.
SCALE_OF_RANGE = 0.25

Label = Callable[[int], str]
"""How messages speak of a column: by its place, or by what it was made of."""

PLACE: Label = "column {} of X".format

Columns: TypeAlias = tuple[ReadColumn, ...] | None

#: Rows that are copied at once.
ROWS_AT_ONCE = 1 << 13

_NO_CLASSES = np.zeros(0, dtype=np.int32)
_NO_VALUES = np.zeros((0, 1))


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, targets and weights of one task.

    Attributes
    ----------
    matrix : float32 ndarray or CSR matrix of shape (n, n_features)
        The checked rows; their values, not the user's container, decide which of the two.
    rows : native rows
        The same rows as the core reads them; may borrow `matrix`. Not pickled but made anew.
    targets : int32[n] of class codes, or float64[n, n_outputs]
    sample_weight : float64[n]
        Rows of weight 0 are left out of everything that is learned, but keep their numbers: the
        trees of a forest share one table and differ in the weights.
    n_classes : int
        0 for regression.
    mean, scale : float64[n_features]
        Centre and scale of the columns; the centre is 0 where rows are sparse, the scale of a
        constant column is 0 and it never gets a weight.
    deviation : float64[n_features]
        Root mean square distance of each column from its centre.
    squared_length : float
        Mean squared length of a row in units of the scale, about the centre.
    target_scale : float
        Deviation of the targets. Losses are measured in this unit, so that `alpha` means the same
        whether y is in metres or in miles. 1 for classes.
    columns : tuple of ReadColumn, or None
        What an axis-aligned split may read; None is one column a coordinate.
    """

    matrix: Matrix
    rows: _core.Rows
    targets: NDArray[np.int32] | NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    n_classes: int
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    deviation: NDArray[np.float64]
    squared_length: float
    target_scale: float = 1.0
    columns: Columns = None

    def __getstate__(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        del values["rows"]
        return values

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights, columns = state["sample_weight"], state["columns"]
        self.__dict__.update(state, rows=_training_rows(state["matrix"], weights, columns))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.rows.n_features

    @property
    def n_outputs(self) -> int:
        """Numbers a leaf holds: classes, or regression targets."""
        return self.n_classes or int(self.targets.shape[1])

    @property
    def classes(self) -> NDArray[np.int32]:
        """Class codes; empty for regression."""
        return self.targets.astype(np.int32, copy=False) if self.n_classes else _NO_CLASSES

    @property
    def values(self) -> NDArray[np.float64]:
        """Real targets in units of `target_scale`; empty for classification."""
        return _NO_VALUES if self.n_classes else self.targets / self.target_scale

    @property
    def inverse_scale(self) -> NDArray[np.float64]:
        """1 / scale, and 0 for constant columns."""
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)


def as_rows(X: Matrix) -> _core.Rows:
    """Native view of checked rows; a matrix in C-ordered float32 or canonical CSR is not copied."""
    if isinstance(X, np.ndarray):
        return _core.dense_rows(np.ascontiguousarray(X, dtype=np.float32))
    return _core.sparse_rows(
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=np.float32),
        X.shape[1],
    )


def classification_problem(
    X: Matrix,
    codes: NDArray[np.int32],
    n_classes: int,
    sample_weight: NDArray[np.float64],
    *,
    columns: Columns = None,
    n_threads: int = 1,
    label_of: Label = PLACE,
) -> Problem:
    """Problem with class codes 0, ..., n_classes - 1."""
    targets = np.ascontiguousarray(codes, dtype=np.int32)
    return _problem(X, targets, sample_weight, n_classes, columns, n_threads, label_of)


def regression_problem(
    X: Matrix,
    targets: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    *,
    columns: Columns = None,
    n_threads: int = 1,
    label_of: Label = PLACE,
) -> Problem:
    """Problem with real targets of shape (n_rows, n_outputs)."""
    values = np.ascontiguousarray(targets, dtype=np.float64)
    problem = _problem(X, values, sample_weight, 0, columns, n_threads, label_of)
    return replace(problem, target_scale=_deviation(values, problem.sample_weight))


def _problem(
    X: Matrix,
    targets: NDArray[np.int32] | NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    n_classes: int,
    columns: Columns,
    n_threads: int,
    label_of: Label = PLACE,
) -> Problem:
    X = _container(X)
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    rows = _training_rows(X, weights, columns)
    scaling = _scaling(rows, weights, n_threads, label_of)
    return Problem(X, rows, targets, weights, n_classes, *scaling, columns=columns)


def _scaling(
    rows: _core.Rows, weights: NDArray[np.float64], n_threads: int, label_of: Label
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Centre, scale and deviation of columns, and the mean squared length of a row in scales."""
    mean, deviation, low, high = _core.column_moments(rows, weights, n_threads)
    # Halves, because the range of a float32 column may overflow float32.
    half_range = 0.5 * high.astype(np.float64) - 0.5 * low.astype(np.float64)
    scale = 2.0 * SCALE_OF_RANGE * half_range
    scale[scale < LEAST_SCALE] = 0.0
    if len(scale) >= LEAST_WIDTH_OF_BYTES:
        check_scales(scale, label_of=label_of)
    if rows.is_sparse:
        deviation = np.where(scale > 0, np.hypot(deviation, mean), deviation)
        mean = np.where(scale > 0, 0.0, mean)
    lengths = np.divide(deviation, scale, out=np.zeros_like(scale), where=scale > 0)
    return mean, scale, deviation, float(lengths @ lengths)


def column_means(problem: Problem, *, n_threads: int = 1) -> NDArray[np.float64]:
    """Weighted mean of each column, also where rows are sparse and their centre is 0."""
    if not problem.rows.is_sparse:
        return problem.mean
    means: NDArray[np.float64] = _core.column_moments(
        problem.rows, problem.sample_weight, n_threads
    )[0]
    return means


def column_scales(X: Matrix, sample_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale of each column as in a `Problem` of these rows, in which weights are compared."""
    return _scaling(as_compact_rows(_container(X)), sample_weight, 1, PLACE)[1]


def reweight(
    problem: Problem,
    weights: NDArray[np.float64],
    *,
    n_threads: int = 1,
    label_of: Label = PLACE,
) -> Problem:
    """The same task with other weights, scaled anew: rows of weight 0 leave no trace."""
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    mean, scale, deviation, squared_length = _scaling(problem.rows, weights, n_threads, label_of)
    target_scale = 1.0
    if not problem.n_classes:
        target_scale = _deviation(problem.targets.astype(np.float64, copy=False), weights)
    return replace(
        problem,
        sample_weight=weights,
        mean=mean,
        scale=scale,
        deviation=deviation,
        squared_length=squared_length,
        target_scale=target_scale,
    )


def take_columns(problem: Problem, columns: NDArray[np.intp], *, n_threads: int = 1) -> Problem:
    """The same task on some of its columns, scaled anew."""
    X = problem.matrix
    X = _columns_of(X, columns) if isinstance(X, np.ndarray) else sp.csr_matrix(X[:, columns])
    kept = None if problem.columns is None else _kept_columns(problem.columns, columns)
    part = _problem(X, problem.targets, problem.sample_weight, problem.n_classes, kept, n_threads)
    return replace(part, target_scale=problem.target_scale)


def _kept_columns(columns: tuple[ReadColumn, ...], kept: NDArray[np.intp]) -> Columns:
    """What is left of columns of which some coordinates are kept, ascending."""
    place = {int(coordinate): number for number, coordinate in enumerate(kept)}
    left = []
    for column in columns:
        flag = place.get(column.flag, NO_FLAG)
        places = [place[j] for j in column.coordinates if j in place and j != column.flag]
        if places:
            left.append(ReadColumn(places[0], len(places) if column.n_levels else 0, flag))
        elif flag != NO_FLAG:
            left.append(ReadColumn(flag, 0, NO_FLAG))
    return tuple(left)


def take_rows(X: Matrix, numbers: NDArray[np.intp]) -> Matrix:
    """``X[numbers]``, in pieces: as one step of NumPy it would keep Ctrl-C waiting."""
    if not isinstance(X, np.ndarray):
        return X[numbers]
    taken = np.empty((len(numbers), X.shape[1]), dtype=X.dtype)
    for part in _pieces(len(numbers)):
        taken[part] = X[numbers[part]]
    return taken


def _columns_of(X: NDArray[np.float32], columns: NDArray[np.intp]) -> NDArray[np.float32]:
    taken = np.empty((len(X), len(columns)), dtype=X.dtype)
    for part in _pieces(len(X)):
        taken[part] = X[part, columns]
    return taken


def _pieces(n_rows: int) -> Iterator[slice]:
    return (slice(first, first + ROWS_AT_ONCE) for first in range(0, n_rows, ROWS_AT_ONCE))


def _deviation(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Root mean square distance of the targets from their means; 1 if they are constant."""
    if (values == values[0]).all():
        return 1.0
    centred = values - np.average(values, axis=0, weights=weights)
    deviation = float(np.sqrt(np.average(np.mean(centred**2, axis=1), weights=weights)))
    return deviation if deviation > 0 else 1.0


def counted_rows(sample_weight: NDArray[np.float64]) -> float:
    """Number of rows that sample weights stand for.

    Their sum, since weight k counts a row k times. Weights may also be shares that sum to 1; then
    it is the number of equally weighted rows of the same spread, which does not depend on the unit.
    """
    shares = sample_weight / sample_weight.max()
    return float(max(sample_weight.sum(), shares.sum() ** 2 / (shares @ shares)))


def check_scales(scale: NDArray[np.float64], why: str = "", label_of: Label = PLACE) -> None:
    """Raise if a column, spoken of by its label, has a scale that a solver cannot square."""
    low, high = SCALES_OF_WIDE_ROWS
    is_bad = (scale > 0) & ((scale < low) | (scale > high))
    if is_bad.any():
        column = int(is_bad.argmax())
        why = why or f"with more than {LEAST_WIDTH_OF_BYTES - 1} columns"
        raise ValueError(
            f"{label_of(column)} varies by about {scale[column]:.3g}; {why} give scales between "
            f"{low:g} and {high:g}; try measuring the column in another unit."
        )


def _container(X: Matrix) -> Matrix:
    """Rows as CSR if few values are not zero, else as an array, whatever they came in."""
    n_nonzero = np.count_nonzero(X) if isinstance(X, np.ndarray) else X.count_nonzero()
    if n_nonzero >= SPARSE_BELOW * X.shape[0] * X.shape[1]:
        return X if isinstance(X, np.ndarray) else X.toarray()
    sparse = sp.csr_matrix(X)
    if n_nonzero < sparse.nnz:  # stored zeros would take part in the streaming solver's steps
        sparse = sparse.copy()
        sparse.eliminate_zeros()
    return sparse


def _training_rows(X: Matrix, sample_weight: NDArray[np.float64], columns: Columns) -> _core.Rows:
    rows = as_compact_rows(X)
    return rows if columns is None else _core.with_columns(rows, columns, sample_weight)


def as_compact_rows(X: Matrix) -> _core.Rows:
    """Rows as training reads them: arrays padded, as bytes if they are wide and fit."""
    if not isinstance(X, np.ndarray):
        return as_rows(X)
    X = np.ascontiguousarray(X, dtype=np.float32)
    bytes_or_none = _core.byte_rows(X) if X.shape[1] >= LEAST_WIDTH_OF_BYTES else None
    return _core.padded_rows(X) if bytes_or_none is None else bytes_or_none
