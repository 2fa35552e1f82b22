"""Columns of windows to mean 0 and variance 1, in place.

There are too many windows for a second copy. A model file builds the same scaler again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler


def new_scaler() -> StandardScaler:
    """A scaler that writes to the rows it is given, whatever output is the custom elsewhere."""
    return StandardScaler(copy=False).set_output(transform="default")


def standardize(rows: NDArray[np.float32], batch_size: int) -> StandardScaler:
    """Scale the columns in place, and return the scaler that does it again."""
    scaler = new_scaler()
    for start in range(0, len(rows), batch_size):
        scaler.partial_fit(rows[start : start + batch_size])
    scale_columns(scaler, rows)
    return scaler


def scale_columns(scaler: StandardScaler, rows: NDArray[np.float32]) -> None:
    """Scale the columns in place as was learned.

    Mean and scale are rounded to float32 first. So does ``transform`` of some releases of
    scikit-learn but not of all, and a labeler must give the same bits under each of them.
    """
    rows -= scaler.mean_.astype(np.float32)
    rows /= scaler.scale_.astype(np.float32)
