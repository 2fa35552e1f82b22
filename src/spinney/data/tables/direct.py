"""Frames of pandas and polars asked directly, where that is enough.

The general way, through narwhals and scikit-learn's checks, takes milliseconds a call: far longer
than the prediction of a row. What is said here of a frame is what the general way would say; None
stands for all that it had better look at. Neither library is imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_POLARS_NUMBERS = frozenset(
    ["Float32", "Float64"] + [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
)


def is_pandas(X: object) -> bool:
    """Whether X is a frame of pandas itself, not of a library that resembles it."""
    return _is_frame_of("pandas", X)


def has_names(X: Any, names: tuple[str, ...] | None) -> bool:
    """Whether X is a frame of pandas or polars with exactly these columns, in this order."""
    if names is None or not (_is_frame_of("pandas", X) or _is_frame_of("polars", X)):
        return False
    return tuple(X.columns) == names


def plain_numbers(X: Any) -> NDArray[Any] | None:
    """Rows of a frame whose columns are all of numpy's numbers or truth values, else None.

    They are finite or NaN, and there is at least one.
    """
    if _is_frame_of("pandas", X):
        numbers = _numbers_of_pandas(X)
    elif _is_frame_of("polars", X):
        is_plain = {str(dtype) for dtype in X.dtypes} <= _POLARS_NUMBERS
        numbers = X.to_numpy() if is_plain else None
    else:
        return None
    if numbers is None or not len(numbers) or np.isinf(numbers).any():
        return None
    return numbers


def _numbers_of_pandas(X: Any) -> NDArray[Any] | None:
    kinds = {dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in set(X.dtypes)}
    if not kinds <= set("fiub"):
        return None
    # As scikit-learn does: beside truth values, numpy would make objects of numbers.
    numbers: NDArray[Any] = X.to_numpy(dtype=np.float64 if "b" in kinds else None)
    return numbers


def _is_frame_of(library: str, X: object) -> bool:
    kind = type(X)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == library
