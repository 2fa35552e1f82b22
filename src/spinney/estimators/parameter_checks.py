"""Checks of constructor values that several families share, and what such values mean.

Each error says what was wrong with which value, what is accepted, and what to try.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence

import numpy as np

from spinney.data.checks import check_choice, check_integer, check_real, check_share

CLASSIFICATION_LOSSES = ("zero_one", "log_loss")
SCORE_LOSSES = ("squared_hinge", "squared_error", "log_loss")  # of scores that trees add up
REGRESSION_LOSSES = ("squared_error", "absolute_error", "huber")
IMPORTANCE_TYPES = ("gain", "weight")

LEARNING_RATES = (1e-6, 10.0)
"""Beyond these the weights of trees or rows leave the range of numbers."""

DEFAULT_SHARE = 0.9
"""Share of the rows drawn without replacement: the best in bagged TAO, section 6.1."""

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""What a share, written as a decimal or a quotient, times a count may be off by."""

_POWER = re.compile(r"D\*\*([0-9.eE+-]+)")

_FEATURES_ACCEPTED = (
    'give None for all columns, an integer >= 1, a share in (0, 1], "sqrt", or a power of the '
    'number of columns such as "D**0.9"; try max_features=None.'
)

#: What other libraries call the losses.
LOSSES_ELSEWHERE = {
    **dict.fromkeys(("deviance", "logloss", "cross_entropy", "crossentropy"), "log_loss"),
    **dict.fromkeys(("binary", "multiclass", "multinomial", "binomial"), "log_loss"),
    **dict.fromkeys(("mse", "rmse", "l2", "ls", "squared_loss", "regression"), "squared_error"),
    **dict.fromkeys(("mae", "l1", "lad"), "absolute_error"),
    "hinge": "squared_hinge",
}


def check_loss(loss: object, losses: Sequence[str], estimator: str) -> None:
    """Raise unless `loss` suits the task; a loss of the other task gets its own hint."""
    if estimator == "TAOBoostClassifier":
        estimator = "TAOForestClassifier"  # boosting has no regressor
    if isinstance(loss, str) and loss not in losses:
        words = " or ".join(f'"{word}"' for word in losses)
        is_of_classes = loss in {*CLASSIFICATION_LOSSES, *SCORE_LOSSES} - set(REGRESSION_LOSSES)
        if is_of_classes and estimator.endswith("Regressor"):
            raise ValueError(
                f"loss={loss!r} is for classes, this estimator predicts numbers; give {words}; "
                f"try {estimator.replace('Regressor', 'Classifier')} if y holds classes."
            )
        if loss in REGRESSION_LOSSES and estimator.endswith("Classifier"):
            raise ValueError(
                f"loss={loss!r} is for numbers, this estimator predicts classes; give {words}; "
                f"try {estimator.replace('Classifier', 'Regressor')} if y holds numbers."
            )
    meant = LOSSES_ELSEWHERE.get(loss) if isinstance(loss, str) else None
    # The first is the one to try.
    check_choice("loss", loss, sorted(losses, key=lambda word: word != meant))


def check_copies(n_copies: object, dropout: object) -> None:
    """Raise unless rows can be copied so often with such a share of gaps."""
    check_integer("n_copies", n_copies, minimum=0, example="4")
    check_share("dropout", dropout, example="0.2")


def check_learning_rate(
    value: object, bounds: tuple[float, float] = LEARNING_RATES, example: str = "0.1"
) -> None:
    """Raise unless `value` is a number within the bounds."""
    check_real("learning_rate", value, minimum=0.0, is_open=True, example=example)
    low, high = bounds
    if not low <= float(value) <= high:  # type: ignore[arg-type]
        raise ValueError(
            f"learning_rate={value!r} is out of range; give a number from {low:g} to {high:g}; "
            f"try learning_rate={example}."
        )


def check_alpha(alpha: object) -> None:
    """Raise unless `alpha` is a weight of the penalty."""
    check_real("alpha", alpha, minimum=0.0, example="0.1; 0 switches the penalty off")


def count_samples(max_samples: object, n_rows: int, *, bootstrap: bool) -> int:
    """Number of rows to draw for a tree.

    Parameters
    ----------
    max_samples : int, float or None
        A count, a share in (0, 1], or None: 0.9 of the rows without and all with replacement.
    n_rows : int
    bootstrap : bool
    """
    if max_samples is None:
        return n_rows if bootstrap else _share_of(DEFAULT_SHARE, n_rows)
    accepted = "give a share in (0, 1], a count of rows, or None; try max_samples=0.9."
    if isinstance(max_samples, (bool, np.bool_)) or not isinstance(max_samples, numbers.Real):
        raise TypeError(f"max_samples={max_samples!r} is no number; {accepted}")
    if isinstance(max_samples, numbers.Integral):
        if not 1 <= int(max_samples) <= n_rows:
            raise ValueError(f"max_samples={max_samples} with {n_rows} rows; {accepted}")
        return int(max_samples)
    if not 0 < float(max_samples) <= 1:
        raise ValueError(f"max_samples={max_samples!r} is no share; {accepted}")
    return _share_of(float(max_samples), n_rows)


def _share_of(share: float, n_rows: int) -> int:
    """Largest number of rows that is no more than a share of them, but at least one.

    0.29 * 100 is 28.999999999999996: what lies below a whole number by rounding alone counts as it.
    """
    return max(1, math.floor(share * n_rows * (1.0 + ROUNDING)))


def count_features(max_features: object, n_features: int) -> int:
    """Number of columns to draw; 0 for all of them.

    Parameters
    ----------
    max_features : int, float, str or None
        A count, a share in (0, 1], "sqrt", a power "D**a" of the number of columns, or None.
    n_features : int
    """
    if max_features is None:
        return 0
    if isinstance(max_features, str):
        return _drawn(n_features ** _exponent(max_features), n_features)
    if isinstance(max_features, (bool, np.bool_)) or not isinstance(max_features, numbers.Real):
        raise TypeError(f"max_features={max_features!r} is of no use; {_FEATURES_ACCEPTED}")
    if isinstance(max_features, numbers.Integral):
        if not 1 <= int(max_features) <= n_features:
            raise ValueError(
                f"max_features={max_features} with {n_features} columns (those of a table count as "
                f"the numbers that they become); {_FEATURES_ACCEPTED}"
            )
        return _drawn(int(max_features), n_features)
    if not 0 < float(max_features) <= 1:
        raise ValueError(f"max_features={max_features!r} is no share; {_FEATURES_ACCEPTED}")
    return _drawn(float(max_features) * n_features, n_features)


def _drawn(count: float, n_features: int) -> int:
    rounded = max(1, round(count))
    return 0 if rounded >= n_features else rounded


def _exponent(word: str) -> float:
    """Power of the number of columns that a word means."""
    if word == "sqrt":
        return 0.5
    match = _POWER.fullmatch(word.replace(" ", ""))
    try:
        exponent = float(match.group(1)) if match else math.nan
    except ValueError:
        exponent = math.nan
    if not 0 < exponent <= 1:
        raise ValueError(f"max_features={word!r} is not known; {_FEATURES_ACCEPTED}")
    return exponent


def alpha_of_trees(alpha: object, n_trees: int) -> tuple[float, ...]:
    """Penalty of each tree: the same for all, or a path from one end of a pair to the other.

    The path is evenly spaced in logarithms, as in Table 8 of bagged TAO.
    """
    if not isinstance(alpha, (tuple, list)):
        check_alpha(alpha)
        return (float(alpha),) * n_trees  # type: ignore[arg-type]
    if len(alpha) != 2:
        raise ValueError(
            f"alpha={alpha!r} has {len(alpha)} values; give one number, or the two ends of a path "
            "over the trees; try alpha=(0.01, 10.0)."
        )
    for end in alpha:
        check_real("alpha", end, minimum=0.0, is_open=True, example="(0.01, 10.0) for a path")
    low, high = (math.log(float(end)) for end in alpha)
    return tuple(float(value) for value in np.exp(np.linspace(low, high, n_trees)))


def check_n_estimators(n_estimators: object, n_fitted: int) -> None:
    """Raise unless the number of trees is positive and, in a warm start, not lowered."""
    check_integer("n_estimators", n_estimators, minimum=1, example="30")
    if int(n_estimators) < n_fitted:  # type: ignore[call-overload]
        raise ValueError(
            f"n_estimators={n_estimators} with warm_start=True and {n_fitted} trees already "
            f"grown; give at least {n_fitted}; try n_estimators={n_fitted + 10}."
        )
