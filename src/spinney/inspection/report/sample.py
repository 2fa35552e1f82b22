"""Which rows a page carries, and their values in few bytes.

A page carries a sample: wrong ones first, up to half of it, then rows drawn at random. Counts,
errors and mixes in the page are of all rows; histograms and lists are of the sample.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spinney.inspection.fitted_model import FittedModel
from spinney.inspection.report.blocks import smallest_unsigned
from spinney.inspection.report.rows import AnsweredRows

#: Bytes that all rows of a page may take before they are packed.
ROW_BYTES = 3_000_000

#: Values of tables that a page may carry as text.
RAW_CELLS = 200_000

#: The same rows for the same data.
SEED = 0


def chosen_rows(fitted: FittedModel, rows: AnsweredRows, max_rows: int) -> NDArray[np.int64]:
    """Numbers of the rows to carry, ascending."""
    n_kept = min(max_rows, rows.n_rows, _affordable(fitted, rows))
    if n_kept == rows.n_rows:
        return np.arange(n_kept)
    rng = np.random.default_rng(SEED)
    order = rng.permutation(rows.n_rows)
    errors = rows.error_of_rows()
    first = np.zeros(0, dtype=np.int64)
    if errors is not None:
        # A stable sort of drawn rows: of equal errors, as of all wrong classes, some are drawn.
        worst = order[np.argsort(-errors[order], kind="stable")]
        first = worst[: n_kept // 2][errors[worst[: n_kept // 2]] > 0]
    others = order[~np.isin(order, first)]
    return np.sort(np.concatenate([first, others[: n_kept - len(first)]]))


def _affordable(fitted: FittedModel, rows: AnsweredRows) -> int:
    """How many rows fit into `ROW_BYTES`, at least one."""
    forest = fitted.forest
    is_dense = isinstance(rows.matrix, np.ndarray)
    values = 4.0 * rows.matrix.size / rows.n_rows * (1 if is_dense else 2)  # CSR has indices too
    each = values + 3.0 * forest.n_trees + 12.0 * forest.n_outputs
    affordable = int(ROW_BYTES / each)
    if fitted.encoding is not None:
        affordable = min(affordable, RAW_CELLS // len(fitted.column_names))
    return max(affordable, 1)


def row_arrays(
    fitted: FittedModel, rows: AnsweredRows, chosen: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """What the page keeps of the chosen rows: values, routes, answers and truth."""
    matrix = rows.matrix_of(chosen)
    part = AnsweredRows(None, matrix, rows.predicted[chosen], None, None)
    forest, readout = fitted.forest, fitted.readout
    arrays: dict[str, NDArray[Any]] = {}
    arrays["totals"] = readout.totals(part.native)
    arrays["predicted"] = _answers(part.predicted)
    if rows.truth is not None:
        arrays["truth"] = _answers(rows.truth[chosen])
    if rows.probabilities is not None:
        arrays["probabilities"] = rows.probabilities[chosen].astype(np.float32)
    arrays["leaves"] = smallest_unsigned(forest.apply(part.native))
    if readout.says == "label":
        arrays["labels"] = smallest_unsigned(forest.labels(part.native))
    return arrays | _values(matrix)


def _answers(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.int32 if values.ndim == 1 else np.float64)


def _values(matrix: Any) -> dict[str, NDArray[Any]]:
    """Values of rows without loss: bytes where they are, and without zeros where most are zero."""
    if sp.issparse(matrix) or np.count_nonzero(matrix) < 0.4 * matrix.size:
        sparse = sp.csr_matrix(matrix)
        return {
            "x": _bytes_if_exact(sparse.data.astype(np.float32)),
            "xBegin": sparse.indptr.astype(np.uint32),
            "xIndices": smallest_unsigned(sparse.indices.astype(np.int64)),
        }
    return {"x": _bytes_if_exact(np.asarray(matrix, dtype=np.float32))}


def _bytes_if_exact(values: NDArray[np.float32]) -> NDArray[Any]:
    with np.errstate(invalid="ignore"):
        small = np.clip(values, 0, 255).astype(np.uint8)
    return small if np.array_equal(small, values) else values


def raw_values(
    fitted: FittedModel, rows: AnsweredRows, chosen: NDArray[np.int64]
) -> list[list[str]] | None:
    """Texts of the values of the chosen rows as they were given; None if they are coordinates."""
    if fitted.encoding is None or sp.issparse(rows.given):
        return None
    frame = nw.from_native(rows.given, pass_through=True)
    numbers = chosen.tolist()
    if isinstance(frame, nw.DataFrame):
        kept = [series[numbers].to_list() for series in frame.iter_columns()]
    else:
        array = np.asarray(rows.given, dtype=object)
        kept = array[numbers].T.tolist()
    return [[_text(value) for value in of_row] for of_row in zip(*kept, strict=True)]


def _text(value: object) -> str:
    """A value for people."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return "missing"
    return f"{value:.7g}" if isinstance(value, float | np.floating) else str(value)
