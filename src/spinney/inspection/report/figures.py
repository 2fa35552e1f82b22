"""The figures of the first page: errors, confusion, calibration, importances, training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.fitted_model import FittedModel
from spinney.inspection.report.rows import AnsweredRows, codes_of

N_BINS = 10

#: Curves of training that are drawn; more would be a carpet.
MOST_TRACES = 100

ERROR_NAMES = {True: "error", False: "RMSE"}


def scores(fitted: FittedModel, rows: AnsweredRows) -> list[dict[str, Any]]:
    """Names and values of the usual measures on all rows; empty without targets."""
    if rows.truth is None:
        return []
    if fitted.is_classifier:
        return _class_scores(rows)
    residuals = rows.predicted - rows.truth
    spread = rows.truth - rows.truth.mean(axis=0)
    unexplained = float((residuals**2).sum()), float((spread**2).sum())
    found = [
        ("RMSE", error_of(rows.predicted, rows.truth)),
        ("mean absolute error", float(np.abs(residuals).mean())),
    ]
    if unexplained[1] > 0:
        found.append(("R²", 1.0 - unexplained[0] / unexplained[1]))
    return [{"name": name, "value": value} for name, value in found]


def _class_scores(rows: AnsweredRows) -> list[dict[str, Any]]:
    assert rows.truth is not None
    assert rows.probabilities is not None
    wrong = error_of(rows.predicted, rows.truth)
    of_truth = rows.probabilities[np.arange(rows.n_rows), rows.truth]
    log_loss = float(-np.log(np.maximum(of_truth, np.finfo(np.float64).eps)).mean())
    found = [
        {"name": "error", "value": wrong, "isShare": True},
        {"name": "wrong rows", "value": int((rows.predicted != rows.truth).sum()), "isCount": True},
        {"name": "log loss", "value": log_loss},
    ]
    n_rejected = int((rows.predicted < 0).sum())
    if n_rejected:
        found.append({"name": "rejected rows", "value": n_rejected, "isCount": True})
    return found


def error_of(predicted: NDArray[Any], truth: NDArray[Any]) -> float:
    """Share of wrong classes, or root mean squared error over rows and outputs."""
    if predicted.ndim == 1:
        return float((predicted != truth).mean())
    return float(np.sqrt(((predicted - truth) ** 2).mean()))


def compared(
    fitted: FittedModel, rows: AnsweredRows | None, baselines: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Errors of the model, of what needs no model, and of the baselines, on the same rows."""
    if rows is None or rows.truth is None:
        if baselines:
            raise ValueError(
                "baselines are compared on rows with targets; give X and y too, or leave "
                "baselines out."
            )
        return []
    own = {"name": fitted.model_name, "error": error_of(rows.predicted, rows.truth)}
    found = [own | {"isModel": True}, _trivial(fitted, rows)]
    for name, baseline in (baselines or {}).items():
        found.append({"name": str(name), "error": _baseline_error(fitted, rows, name, baseline)})
    return found


def _trivial(fitted: FittedModel, rows: AnsweredRows) -> dict[str, Any]:
    """The best constant answer to these rows."""
    assert rows.truth is not None
    if fitted.is_classifier:
        code = int(np.bincount(rows.truth).argmax())
        error = float((rows.truth != code).mean())
        return {"name": f"always “{fitted.output_names[code]}”", "error": error}
    mean = np.broadcast_to(rows.truth.mean(axis=0), rows.truth.shape)
    return {"name": "always the mean", "error": error_of(mean, rows.truth)}


def _baseline_error(fitted: FittedModel, rows: AnsweredRows, name: str, baseline: Any) -> float:
    """Error of a fitted estimator on the rows, or the number that was given."""
    assert rows.truth is not None
    if isinstance(baseline, int | float | np.number) and not isinstance(baseline, bool):
        if not (math.isfinite(baseline) and baseline >= 0):
            raise ValueError(
                f"baselines[{name!r}]={baseline}; give an error of 0 or more, or a fitted "
                "estimator."
            )
        return float(baseline)
    if not hasattr(baseline, "predict"):
        raise TypeError(
            f"baselines[{name!r}] is of type {type(baseline).__name__}; give a fitted estimator, "
            f"or its {ERROR_NAMES[fitted.is_classifier]} on these rows as a number."
        )
    said = baseline.predict(rows.given)
    if fitted.is_classifier:
        return error_of(codes_of(fitted, said), rows.truth)
    return error_of(np.asarray(said, dtype=np.float64).reshape(rows.truth.shape), rows.truth)


def confusion(fitted: FittedModel, rows: AnsweredRows) -> list[list[int]] | None:
    """Class, answer and number of rows of each pair that occurs; -1 is the answer of rejects."""
    if rows.truth is None or not fitted.is_classifier:
        return None
    pairs, counts = np.unique(
        np.column_stack([rows.truth, rows.predicted]), axis=0, return_counts=True
    )
    found: list[list[int]] = np.column_stack([pairs, counts]).tolist()
    return found


def calibration(rows: AnsweredRows) -> list[dict[str, float]]:
    """Share of right rows where the most probable class has a probability of some bin."""
    if rows.truth is None or rows.probabilities is None:
        return []
    confidence = rows.probabilities.max(axis=1)
    is_right = rows.probabilities.argmax(axis=1) == rows.truth
    bins = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    found = []
    for number in np.unique(bins):
        here = bins == number
        found.append(
            {
                "confidence": float(confidence[here].mean()),
                "accuracy": float(is_right[here].mean()),
                "rows": int(here.sum()),
            }
        )
    return found


def importances(fitted: FittedModel) -> list[float] | None:
    """Importance of each given column, if the model knows it."""
    known = fitted.importances
    return None if known is None else [float(value) for value in known]


def training(fitted: FittedModel) -> dict[str, Any]:
    """Objectives by sweep of each trace, and errors on validation rows if there were any."""
    model, traces = fitted.model, fitted.traces
    known = {"validation_errors_": "validation error", "validation_losses_": "validation loss"}
    name = next((name for name in known if getattr(model, name, None) is not None), None)
    values = [] if name is None else np.asarray(getattr(model, name), dtype=float).tolist()
    return {
        "objectives": [list(trace.objective) for trace in traces[:MOST_TRACES]],
        "nTraces": len(traces),
        "validation": values,
        "validationName": "" if name is None else known[name],
    }


def spreads(rows: AnsweredRows | None, n_coordinates: int) -> NDArray[np.float32]:
    """Standard deviation of each coordinate; all 1 without rows."""
    if rows is None:
        return np.ones(n_coordinates, dtype=np.float32)
    matrix = rows.matrix
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix.std(axis=0, dtype=np.float64), dtype=np.float32)
    mean = np.asarray(matrix.mean(axis=0), dtype=np.float64).ravel()
    square = np.asarray(matrix.multiply(matrix).mean(axis=0), dtype=np.float64).ravel()
    return np.sqrt(np.maximum(square - mean**2, 0.0)).astype(np.float32)
