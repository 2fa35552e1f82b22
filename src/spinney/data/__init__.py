"""What users pass becomes numbers that the core reads: rows, targets and weights, once checked.

:mod:`spinney.data.problem` holds the frozen result. The other modules are the doors: training rows
(:mod:`~spinney.data.validation`, :mod:`~spinney.data.encoded`), rows to predict
(:mod:`~spinney.data.row_reader`, :mod:`~spinney.data.served_rows`), and columns of any kind
(:mod:`spinney.data.tables`). What ``fit`` and ``predict`` are given comes through them; who takes
rows for a purpose of its own (plots, refined forests, images) checks them where it does.
"""

from spinney.data.problem import (
    LEAST_WIDTH_OF_BYTES,
    SCALE_OF_RANGE,
    SPARSE_BELOW,
    Columns,
    Problem,
    as_compact_rows,
    as_rows,
    check_scales,
    classification_problem,
    column_scales,
    counted_rows,
    regression_problem,
    reweight,
    take_columns,
    take_rows,
)
from spinney.data.tables import Matrix

__all__ = [
    "LEAST_WIDTH_OF_BYTES",
    "SCALE_OF_RANGE",
    "SPARSE_BELOW",
    "Columns",
    "Matrix",
    "Problem",
    "as_compact_rows",
    "as_rows",
    "check_scales",
    "classification_problem",
    "column_scales",
    "counted_rows",
    "regression_problem",
    "reweight",
    "take_columns",
    "take_rows",
]
