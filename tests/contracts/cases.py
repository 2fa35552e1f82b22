"""What a contract is tested on: an estimator and its data; and when two models are the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris, make_classification, make_regression

from tests.bits import same

IRIS = load_iris(return_X_y=True)
NUMBERS = tuple(part[:150] for part in load_diabetes(return_X_y=True))
TWO_NUMBERS = make_regression(100, 5, n_targets=2, noise=9.0, random_state=0)
SPARSE = sp.csr_matrix(np.where(IRIS[0] > 2, IRIS[0], 0)), IRIS[1]
TWO_CLASSES = IRIS[0][:100], IRIS[1][:100]
VALIDATION = {"X_val": IRIS[0][::3], "y_val": IRIS[1][::3]}


def _frame() -> pd.DataFrame:
    """Numbers with holes, levels, text and dates."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(90) < 0.2, np.nan, rng.normal(size=90)),
            "few": pd.Categorical(rng.choice(["a", "b", None], size=90)),
            "many": rng.choice([f"level {place}" for place in range(30)], size=90),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, 90), unit="D"),
        }
    )


FRAME = _frame(), np.random.default_rng(1).integers(0, 2, 90)


def _noisy_classes() -> tuple[NDArray[np.float32], NDArray[np.str_]]:
    X, y = make_classification(150, 9, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
    return X.astype(np.float32), np.array(["ash", "elm", "oak"])[y]


def _noisy_numbers() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    X, y = make_regression(150, 6, n_targets=2, noise=5.0, random_state=1)
    bend = 100 * np.abs(X[:, :1])  # no single hyperplane will do
    return X.astype(np.float32), y + bend + [100.0, 0.0]


NOISY_CLASSES = _noisy_classes()
NOISY_NUMBERS = _noisy_numbers()
NOISY_NUMBER = NOISY_NUMBERS[0], NOISY_NUMBERS[1][:, 0]


class Case(NamedTuple):
    """An estimator, the rows and targets, further arguments of `fit`, number of events."""

    estimator: BaseEstimator
    data: tuple[Any, Any]
    given: dict[str, Any] = {}  # noqa: RUF012 - never changed
    n_events: int = 0

    def new(self, **parameters: Any) -> Any:
        """The estimator as it was, not fitted."""
        return clone(self.estimator).set_params(**parameters)

    def with_values(self, **parameters: Any) -> Case:
        """The same task for an estimator with other parameters."""
        return self._replace(estimator=self.new(**parameters))

    def fit(self, callback: Any = None, checkpoint: Any = None, **parameters: Any) -> Any:
        told = {"callback": callback, "checkpoint": checkpoint}
        told = {name: value for name, value in told.items() if value is not None}
        return self.new(**parameters).fit(*self.data, **self.given, **told)


def kind_of(case: Case) -> str:
    return type(case.estimator).__name__


def named(
    cases: dict[str, Case],
    *,
    having: str = "",
    classes: bool = False,
    in_a_hurry: dict[str, Case] | None = None,
) -> Any:
    """Parametrises a test by cases; those with a parameter only, or classifiers only.

    Where it is told which cases are enough in a hurry, all others are slow tests.
    """
    enough = [id(case) for case in (cases if in_a_hurry is None else in_a_hurry).values()]
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=name, marks=[] if id(case) in enough else pytest.mark.slow)
            for name, case in cases.items()
            if (not having or having in case.estimator.get_params(deep=False))
            and (not classes or is_classifier(case.estimator))
        ],
    )


def trees_of(model: Any) -> list[Any]:
    """All trees of a fitted model."""
    return list(model.trees_)


def same_trees(one: Any, two: Any) -> bool:
    return all(a.same_as(b) for a, b in zip(trees_of(one), trees_of(two), strict=True))


def said(model: Any, X: Any) -> dict[str, NDArray[Any]]:
    """What a model says of rows, by the method that says it."""
    methods = ("predict", "predict_proba", "decision_function", "apply")
    return {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}


def says_the_same(one: Any, two: Any, X: Any, same_rows: Any = None) -> bool:
    """Whether two models predict the same bits, the second perhaps from rows in another form."""
    return same(said(one, X), said(two, X if same_rows is None else same_rows))
