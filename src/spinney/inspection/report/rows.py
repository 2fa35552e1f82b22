"""Rows and targets that came with a report: checked, and answered by the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from spinney.inspection.report.subject import Rows, Subject


def answered_rows(subject: Subject, X: Any, y: ArrayLike | None) -> Rows | None:
    """Rows with the model's own answers; None if none were given."""
    if X is None:
        if y is not None:
            raise ValueError(
                "y is given but X is None; a report shows rows with their targets; give both, or "
                "neither."
            )
        return None
    matrix = subject.coordinates_of(X)
    n_rows = int(matrix.shape[0])
    said = subject.model.predict(X)
    if subject.is_classifier:
        predicted: NDArray[Any] = codes_of(subject, said)
        shares = np.asarray(subject.model.predict_proba(X), dtype=np.float64)
        truth = None if y is None else _known_codes(subject, y, n_rows)
        return Rows(X, matrix, predicted, shares, truth)
    numbers = np.asarray(said, dtype=np.float64).reshape(n_rows, -1)
    return Rows(
        X, matrix, numbers, None, None if y is None else _numbers(y, n_rows, numbers.shape[1])
    )


def codes_of(subject: Subject, labels: Any) -> NDArray[np.int64]:
    """Place of each label among the classes, -1 if it is none of them."""
    assert subject.readout.classes is not None
    code = {label: number for number, label in enumerate(subject.readout.classes.tolist())}
    given = np.asarray(labels).ravel().tolist()
    return np.array([code.get(label, -1) for label in given], dtype=np.int64)


def _known_codes(subject: Subject, y: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    labels = column_or_1d(y)
    _check_length(len(labels), n_rows)
    codes = codes_of(subject, labels)
    if (codes < 0).any():
        unknown = labels.tolist()[int(np.flatnonzero(codes < 0)[0])]
        raise ValueError(
            f"y holds {unknown!r}, which is no class of the model; give some of "
            f"{subject.output_names[:10]}; try the rows of these classes alone."
        )
    return codes


def _numbers(y: ArrayLike, n_rows: int, n_outputs: int) -> NDArray[np.float64]:
    values = np.asarray(y, dtype=np.float64)
    _check_length(len(values), n_rows)
    if values.size != n_rows * n_outputs:
        raise ValueError(
            f"y has shape {values.shape}, but the model predicts {n_outputs} number(s) a row; give "
            "as many."
        )
    if not np.isfinite(values).all():
        raise ValueError("y holds NaN or infinity; give finite numbers; try leaving rows out.")
    return values.reshape(n_rows, n_outputs)


def _check_length(n_targets: int, n_rows: int) -> None:
    if n_targets != n_rows:
        raise ValueError(f"y has {n_targets} values for {n_rows} rows of X; give one a row.")
