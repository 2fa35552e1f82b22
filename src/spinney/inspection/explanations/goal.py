"""What a prediction is to become."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.explanations.projection import Floats
from spinney.inspection.fitted_model import FittedModel


@dataclass(frozen=True, eq=False)
class Goal:
    """What the prediction is to become: other classes, or an interval of one output."""

    fitted: FittedModel
    is_wanted: NDArray[np.bool_]
    low: float = -math.inf
    high: float = math.inf
    output: int = 0

    def is_met(self, totals: Floats) -> NDArray[np.bool_]:
        """Whether totals of shape (n_rows, n_outputs) give a wanted prediction."""
        readout = self.fitted.readout
        if readout.classes is None:
            numbers = readout.finished(totals)[:, self.output]
            return np.asarray((numbers >= self.low) & (numbers <= self.high))
        best = totals.argmax(axis=1)
        wanted: NDArray[np.bool_] = self.is_wanted[best]
        if readout.reject_label is None:
            return wanted
        return np.asarray(wanted & (readout.labels(totals) == readout.classes[best]))


def read_goal(fitted: FittedModel, totals: Floats, target: object, output: int) -> Goal:
    """What the prediction is to become.

    Raises
    ------
    ValueError
        If `target` is no class, or no interval for a regression.
    """
    classes = fitted.readout.classes
    if classes is None:
        return _interval_goal(fitted, target, output)
    is_wanted = np.ones(len(classes), dtype=np.bool_)
    if target is None:
        is_wanted[classes == fitted.readout.labels(totals)[0]] = False
        return Goal(fitted, is_wanted)
    is_wanted = np.array([bool(label == target) for label in classes.tolist()], dtype=np.bool_)
    if not is_wanted.any():
        raise ValueError(
            f"target={target!r} is no class of the model; give one of {classes[:10].tolist()!r}, "
            "or None for any other than the present one."
        )
    return Goal(fitted, is_wanted)


def _interval_goal(fitted: FittedModel, target: object, output: int) -> Goal:
    n_outputs = fitted.forest.n_outputs
    if not isinstance(output, numbers.Integral) or not 0 <= output < n_outputs:
        raise ValueError(f"output={output!r}; give the number of an output, 0 to {n_outputs - 1}.")
    if not isinstance(target, Sequence) or isinstance(target, str) or len(target) != 2:
        raise ValueError(
            f"target={target!r} of a regression; give the interval (low, high) that the prediction "
            "is to be in, with None where there is no bound; try target=(10.0, None)."
        )
    low, high = target
    ends = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
    if not ends[0] <= ends[1]:
        raise ValueError(f"target={target!r}; the first number must not be above the second.")
    return Goal(fitted, np.ones(n_outputs, dtype=np.bool_), *ends, int(output))
