"""Turn what users pass as X, y and sample_weight into plain checked arrays.

Rows become C-ordered float32, dense or CSR, because that is what the native core reads. Arrays
already in that form are borrowed, not copied, and no input is ever written to. Shapes, infinite
values and column names are judged by scikit-learn, so its usual messages appear. Columns that are
no numbers, and missing values, are the matter of :mod:`spinney.data.tables`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_X_y, validate_data

from spinney.data.problem import Problem, take_rows
from spinney.data.row_reader import row_reader
from spinney.data.tables import (
    Matrix,
    Table,
    check_is_table,
    encode_training,
    has_names,
    holds_numbers,
    names_columns,
    plain_numbers,
    read_table,
    unbatched,
)
from spinney.data.target_texts import check_no_missing_labels, check_numeric_texts, doubt_of_labels
from spinney.data.warn_caller import warn_caller

LARGEST = float(np.finfo(np.float32).max)

#: How scikit-learn is to check rows of numbers.
_NUMBERS: dict[str, Any] = {
    "dtype": "numeric",
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "ensure_all_finite": "allow-nan",
}

#: Largest slope of y over a column, in units of their deviations, that leaves room for weights of
#: some hundreds of deviations in float32.
LARGEST_SLOPE = 1e36

_PLAIN = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


def check_rows(estimator: Any, X: object) -> Matrix:
    """Rows to predict, as float32; their columns must be those seen in ``fit``.

    A plain array of finite floats needs no more than a look at its shape: scikit-learn's checks
    take longer than the prediction of a row. All else, and all that is wrong, goes through them.
    """
    if _is_plain(estimator, X):
        return as_float32(X)
    return row_reader(estimator).coordinates(_given_rows(estimator, X))


def check_training_rows(
    estimator: Any,
    X: object,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Matrix:
    """Training rows of a fitted estimator, encoded as its fit encoded them.

    Means of levels are those of other folds: those that rows to predict get hold the row's own
    target. Rows of weight 0 had no part in the fit and are encoded as any others.
    """
    given = _given_rows(estimator, X)
    rows = row_reader(estimator).coordinates(given)
    is_kept = weights > 0
    if estimator.encoding_ is not None and isinstance(given, Table) and is_kept.any():
        kept = drop_zero_weight(given, targets, weights)
        rows[is_kept] = encode_training(estimator.encoding_, *kept)
    return rows


def _given_rows(estimator: Any, X: object) -> Matrix | Table:
    """Rows with the columns seen in ``fit``, before they become coordinates."""
    X = unbatched(X)
    names = column_names(estimator)
    known = _rows_of_known_columns(estimator, X, names)
    if known is not None:
        return known
    if not _reads_numbers(estimator):
        check_is_table(X)
    elif holds_numbers(X):
        return as_float32(validate_data(estimator, X, reset=False, **_NUMBERS), names)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return read_table(X, names)


def _rows_of_known_columns(
    estimator: Any, X: object, names: tuple[str, ...] | None
) -> Matrix | Table | None:
    """Rows of a frame of which scikit-learn would find nothing to say, else None."""
    if not has_names(X, names):
        return None
    if not _reads_numbers(estimator):
        return read_table(X, names)
    numbers = plain_numbers(X)
    return None if numbers is None else as_float32(numbers, names)


def _is_plain(estimator: Any, X: object) -> bool:
    """Whether scikit-learn would find nothing to say about the rows."""
    return (
        type(X) is np.ndarray
        and X.dtype in _PLAIN
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and estimator.encoding_ is None
        and (_has_finite_square(X) or _is_finite(X))
    )


def check_known_labels(classes: NDArray[Any], labels: NDArray[Any]) -> None:
    """Raise if none of the labels to validate by is a class: they are coded in another way."""
    known = set(classes.tolist())
    if not any(label in known for label in labels.tolist()):
        raise ValueError(
            f"y_val holds none of the classes {classes.tolist()!r}, its first label is "
            f"{labels[:1].tolist()!r}; give labels as in y; try the same encoding for both."
        )


def check_rows_and_classes(
    estimator: Any, X: object, y: object, *, reset: bool
) -> tuple[Matrix | Table, NDArray[Any], NDArray[np.int32]]:
    """Training rows, the sorted class labels, and each row's position among them."""
    check_no_missing_labels(y)
    rows, labels = _rows_and_targets(estimator, X, y, reset=reset)
    check_classification_targets(labels)
    if (doubt := doubt_of_labels(labels, y)) is not None:
        warn_caller(doubt)
    classes, codes = np.unique(labels, return_inverse=True)
    return rows, classes, codes.astype(np.int32)


def check_rows_and_targets(
    estimator: Any, X: object, y: object, *, reset: bool
) -> tuple[Matrix | Table, NDArray[np.float64]]:
    """Training rows and their numeric targets, float64 of shape (n_rows, n_outputs)."""
    check_numeric_texts(y)
    rows, targets = _rows_and_targets(
        estimator, X, y, reset=reset, multi_output=True, y_numeric=True
    )
    numbers = check_targets(targets)
    if not np.isfinite(numbers).all():  # None among objects: those of floats are refused before
        row = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])
        raise ValueError(
            f"Input y contains NaN: y[{row}] is {np.asarray(y, dtype=object)[row]!r}; give a "
            "number for each row; try leaving out such rows."
        )
    return rows, numbers


def _rows_and_targets(
    estimator: Any, X: object, y: object, *, reset: bool, **options: bool
) -> tuple[Matrix | Table, NDArray[Any]]:
    """Training rows, of which values may be missing, and their targets."""
    X = unbatched(X)
    is_matrix = holds_numbers(X) and not names_columns(estimator.categorical_features)
    if is_matrix and (reset or _reads_numbers(estimator)):
        rows, targets = validate_data(estimator, X, y, reset=reset, **_NUMBERS, **options)
        return as_float32(rows, column_names(estimator)), targets
    validate_data(estimator, X, y, reset=reset, skip_check_array=True)
    table = read_table(X, column_names(estimator))
    unused = np.zeros((table.n_rows, 1), dtype=np.float32)
    return table, check_X_y(unused, y, estimator=estimator, **options)[1]


def _reads_numbers(estimator: Any) -> bool:
    """Whether all columns in training were numbers."""
    return estimator.encoding_ is None or bool(estimator.encoding_.is_numeric)


def check_targets(y: object) -> NDArray[np.float64]:
    """Targets as a float64 matrix whose squares stay finite."""
    if sp.issparse(y):
        raise TypeError(
            "y is a sparse matrix; give a dense array of numbers; try y.toarray() first."
        )
    values = np.asarray(y)
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"y holds values of dtype {values.dtype}; give numbers; try TAOTreeClassifier if y "
            "holds classes."
        )
    if values.ndim > 2 or values.size == 0:
        raise ValueError(
            f"y has shape {values.shape}; give (n_rows,) or (n_rows, n_outputs) with at least "
            "one output; try y.reshape(len(y), -1)."
        )
    targets = np.array(values.reshape(len(values), -1), dtype=np.float64, order="C")
    if max(targets.max(), -targets.min()) > LARGEST:
        row = int(np.abs(targets).max(axis=1).argmax())
        raise ValueError(
            f"y[{row}]={targets[row].tolist()} is too large, its square could overflow; give "
            f"numbers between -{LARGEST:.3g} and {LARGEST:.3g}; try dividing y by a constant."
        )
    return targets


def as_float32(X: object, column_names: Sequence[str] | None = None) -> Matrix:
    """C-ordered float32 rows, NaN as it is; values that overflow are refused by name and value."""
    if type(X) is np.ndarray and X.dtype == np.float32 and X.flags.carray:
        return X
    if sp.issparse(X):
        return _sparse_as_float32(X, column_names)
    dense = np.asarray(X)
    if dense.dtype.kind not in "fiub":
        raise TypeError(
            f"X holds values of dtype {dense.dtype}; give numbers; try converting the columns."
        )
    with np.errstate(over="ignore", under="ignore"):
        rows = np.require(dense, np.float32, ["C", "A", "E"])
    if dense.dtype.kind == "f" and dense.dtype.itemsize > 4 and not _is_finite(rows):
        for row, column in np.argwhere(np.isinf(rows))[:1].tolist():
            _raise_overflow(dense[row, column], row, column, column_names)
    return rows


def _sparse_as_float32(X: sp.csr_matrix, column_names: Sequence[str] | None) -> sp.csr_matrix:
    """CSR rows in canonical form: sorted, no duplicates, no stored zeros, narrow indices."""
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(
            f"X has {X.shape[1]} columns; at most {np.iinfo(np.int32).max} are accepted; try "
            "hashing the columns, for instance with FeatureHasher."
        )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    with np.errstate(over="ignore", under="ignore"):
        data = np.require(X.data, np.float32, ["C", "A", "E"])
    for place in np.flatnonzero(np.isinf(data))[:1].tolist():
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        _raise_overflow(X.data[place], row, int(X.indices[place]), column_names)
    return _without_stored_zeros(X, data)


def _without_stored_zeros(X: sp.csr_matrix, data: NDArray[np.float32]) -> sp.csr_matrix:
    """CSR with the values `data` at the places of `X`, zeros removed, sharing what it can."""
    width = np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64
    indices = np.require(X.indices, width, ["C", "A", "E"])
    indptr = np.require(X.indptr, width, ["C", "A", "E"])
    if np.count_nonzero(data) == len(data):
        return sp.csr_matrix((data, indices, indptr), shape=X.shape, copy=False)
    rows = sp.csr_matrix((data, indices, indptr), shape=X.shape, copy=True)
    rows.eliminate_zeros()
    return rows


def _has_finite_square(values: NDArray[Any]) -> bool:
    """Whether all values are finite, by a look that takes a third of the time for few of them.

    It may say no of finite values whose squares are not, or which do not lie in order.
    """
    return values.flags.c_contiguous and math.isfinite(np.vdot(values, values))


def _is_finite(values: NDArray[Any]) -> bool:
    """True if no value is infinite or missing; allocates no mask, unlike np.isfinite."""
    return values.size == 0 or (math.isfinite(values.min()) and math.isfinite(values.max()))


def _raise_overflow(
    value: float, row: int, column: int, column_names: Sequence[str] | None
) -> None:
    """Say which value does not fit into float32."""
    name = "" if column_names is None else f" ({column_names[column]})"
    raise ValueError(
        f"X[{row}, {column}]={value:.6g} in column {column}{name} is too large for float32; give "
        f"values between -{LARGEST:.3g} and {LARGEST:.3g}; try dividing the column by a constant."
    )


def column_names(estimator: Any) -> tuple[str, ...] | None:
    """Names of the columns if the data had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(names.tolist())


def check_sample_weight(sample_weight: object, n_rows: int) -> NDArray[np.float64]:
    """Weights as a float64 vector: finite, none negative, not all zero; None means ones."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = cast(
        "NDArray[np.float64]",
        check_array(
            sample_weight, dtype=np.float64, ensure_2d=False, order="C", input_name="sample_weight"
        ),
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; give one weight per row, shape "
            f"({n_rows},); try np.ones({n_rows}) to start from."
        )
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(
            f"sample_weight[{row}]={weights[row]:.6g} is negative; give weights >= 0; try 0 to "
            "leave a row out."
        )
    check_total_weight(weights)
    return weights


def check_total_weight(weights: NDArray[np.float64]) -> None:
    """Raise unless some weight is positive and their sum is a moderate number."""
    total = float(weights.sum())
    if total == 0:
        raise ValueError(
            "sample_weight is zero for all rows; give at least one weight > 0; try "
            "sample_weight=None to count every row once."
        )
    if not total <= LARGEST:
        raise ValueError(
            f"the weights sum to {total:.3g}, too large to compute with; give weights whose sum "
            f"is at most {LARGEST:.3g}; try dividing them by their mean."
        )


def drop_zero_weight(
    rows: Matrix | Table, targets: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[Matrix | Table, NDArray[Any], NDArray[np.float64]]:
    """Rows of positive weight only: a row of weight 0 must count as a row left out."""
    is_kept = weights > 0
    if is_kept.all():
        return rows, targets, weights
    is_table = isinstance(rows, Table)
    kept = rows.take(is_kept) if is_table else take_rows(rows, np.flatnonzero(is_kept))
    return kept, targets[is_kept], weights[is_kept]


def has_missing(rows: Matrix) -> bool:
    """Whether a value of checked rows is missing."""
    return not _is_finite(rows if isinstance(rows, np.ndarray) else rows.data)


def check_units(problem: Problem, label_of: Callable[[int], str]) -> None:
    """Raise if a linear leaf may need a slope of y over a column that does not fit a float32."""
    column = int(problem.inverse_scale.argmax())
    slope = problem.target_scale * problem.inverse_scale[column]
    if slope > LARGEST_SLOPE:
        raise ValueError(
            f"y varies by about {problem.target_scale:.3g} and {label_of(column)} by about "
            f"{problem.scale[column]:.3g}: weights of linear leaves could overflow; give a ratio "
            f'below {LARGEST_SLOPE:g}; try other units, or leaf="constant".'
        )
