"""How good predictions are, of classes and of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Largest table of confusions that people can read.
MOST_CLASSES_SHOWN = 30


def main_score(model: Any, X: Any, y: NDArray[Any]) -> float:
    """Share of wrong labels, or root of the mean squared error."""
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        return float(np.mean(predicted != y))
    return rmse(y, predicted)


def rmse(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((np.asarray(y) - predicted) ** 2)))


def score_text(measure: str, value: float) -> str:
    """An error as a percentage, other measures with four digits."""
    return f"{100 * value:.2f} %" if measure == "error" else f"{value:.4g}"


def class_scores(model: Any, X: Any, y: NDArray[np.str_]) -> dict[str, Any]:
    """Error, AUC, log loss and confusions of a classifier, by labels as text.

    Labels that the model does not know count as errors. AUC and log loss are None where they mean
    nothing: with unknown labels, or, AUC, if a class has no row.
    """
    predicted = np.asarray(model.predict(X)).astype(np.str_)
    texts = [str(label) for label in model.classes_]
    place = {label: number for number, label in enumerate(texts)}
    unknown = sorted(set(y.tolist()) - set(texts))
    found: dict[str, Any] = {
        "rows": len(y),
        "error": float(np.mean(predicted != y)),
        "baseline_error": 1 - float(np.unique(y, return_counts=True)[1].max()) / len(y),
        "auc": None,
        "log_loss": None,
        "classes": texts,
        "unknown_labels": unknown,
        "confusion": _confusion(texts + unknown, y, predicted),
    }
    if not unknown and len(texts) > 1 and hasattr(model, "predict_proba"):
        codes = np.array([place[label] for label in y.tolist()])
        found.update(_probability_scores(model.predict_proba(X), codes))
    return found


def _probability_scores(shares: NDArray[np.float64], codes: NDArray[Any]) -> dict[str, Any]:
    from sklearn.metrics import log_loss, roc_auc_score

    n_classes = shares.shape[1]
    every = np.arange(n_classes)
    found: dict[str, Any] = {"log_loss": float(log_loss(codes, shares, labels=every))}
    if len(np.unique(codes)) == n_classes:
        if n_classes == 2:
            found["auc"] = float(roc_auc_score(codes, shares[:, 1]))
        else:
            found["auc"] = float(roc_auc_score(codes, shares, multi_class="ovr", labels=every))
    return found


def _confusion(labels: list[str], y: NDArray[Any], predicted: NDArray[Any]) -> list[list[int]]:
    """Rows by true label, columns by predicted label."""
    place = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for true, said in zip(y.tolist(), predicted.tolist(), strict=True):
        if said in place:  # a forest may reject rows
            counts[place[true], place[said]] += 1
    return [[int(count) for count in row] for row in counts]


def number_scores(model: Any, X: Any, y: NDArray[np.float64]) -> dict[str, Any]:
    """RMSE, MAE and R2 of a regression, over all outputs."""
    from sklearn.metrics import mean_absolute_error, r2_score

    predicted = model.predict(X)
    centred = y - y.mean(axis=0)
    return {
        "rows": len(y),
        "rmse": rmse(y, predicted),
        "baseline_rmse": float(np.sqrt(np.mean(centred**2))),
        "mae": float(mean_absolute_error(y, predicted)),
        "r2": float(r2_score(y, predicted)) if len(y) > 1 else None,
    }
