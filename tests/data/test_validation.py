"""Plain arrays take a short way through the checks, and end as by scikit-learn's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context

import spinney.data.validation as validation
from spinney import GreedyForestRegressor, TAOTreeClassifier, TAOTreeRegressor
from tests.contracts.few_rows import N_COLUMNS, N_ROWS, labels, rows, with_value


def _read_only(X: NDArray[Any]) -> NDArray[Any]:
    X.flags.writeable = False
    return X


def told(estimator: Any, X: Any) -> Any:
    """Bits of the checked rows, or the error; and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            checked = validation.check_rows(estimator, X)
        except (ValueError, TypeError) as error:
            result: Any = (type(error), str(error))
        else:
            if sp.issparse(checked):
                checked = checked.toarray()
            assert checked.dtype == np.float32
            assert checked.flags.c_contiguous
            assert checked.flags.aligned
            result = (checked.shape, checked.tobytes())
    return result, [(warning.category, str(warning.message)) for warning in caught]


def plain_and_other_rows() -> dict[str, Any]:
    X = rows()
    spaced = np.zeros((2 * N_ROWS, 3 * N_COLUMNS))
    spaced[::2, ::3] = X
    packed = np.zeros(N_ROWS, dtype=[("flag", "i1"), ("x", "f8", N_COLUMNS)])
    packed["x"] = X
    return {
        "float32": X.astype(np.float32),
        "float64": X,
        "float16": X.astype(np.float16),
        "longdouble": X.astype(np.longdouble),
        "big-endian": X.astype(">f8"),
        "int": X.astype(int),
        "bool": X > 0,
        "object": X.astype(object),
        "complex": X.astype(complex),
        "strings": X.astype(str),
        "words": np.full(X.shape, "red"),
        "Fortran": np.asfortranarray(X),
        "strided": spaced[::2, ::3],
        "unaligned": packed["x"],
        "read-only": _read_only(X.copy()),
        "one row": X[:1],
        "matrix": X.view(np.matrix),
        "masked": np.ma.masked_array(X, X > 9),
        "list": X.tolist(),
        "csr": sp.csr_matrix(X),
        "frame": pd.DataFrame(X),
        "named frame": pd.DataFrame(X, columns=list("abcd")),
        "nan": with_value(np.nan),
        "nan float32": with_value(np.nan).astype(np.float32),
        "inf": with_value(np.inf),
        "-inf": with_value(-np.inf),
        "nan and inf": np.where(np.eye(N_ROWS, N_COLUMNS) > 0, np.nan, with_value(np.inf)),
        "too large": with_value(1e40),
        "too small": with_value(-1e40),
        "tiny": with_value(1e-300),
        "largest": with_value(np.finfo(np.float32).max),
        "narrow": X[:, :3],
        "wide": np.hstack([X, X]),
        "no columns": X[:, :0],
        "no rows": X[:0],
        "no rows float32": X[:0].astype(np.float32),
        "one-dimensional": X[:, 0],
        "as many as columns": X[0],
        "three-dimensional": X[None],
        "number": np.float64(3.0),
        "None": None,
        "word": "rows",
    }


@pytest.mark.parametrize("has_names", [False, True])
@pytest.mark.parametrize("assumes_finite", [False, True])
@pytest.mark.parametrize("name", plain_and_other_rows())
def test_plain_arrays_are_judged_as_by_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, name: str, has_names: bool, assumes_finite: bool
) -> None:
    X = rows()
    trained = pd.DataFrame(X, columns=list("abcd")) if has_names else X
    estimator = TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(trained, labels())
    given = plain_and_other_rows()[name]
    with config_context(assume_finite=assumes_finite):
        found = told(estimator, given)
        monkeypatch.setattr(validation, "_is_plain", lambda *_: False)
        assert found == told(estimator, given)


def test_plain_arrays_take_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(rows(), labels())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("scikit-learn was asked")

    monkeypatch.setattr(validation, "validate_data", refuse)
    for X in (rows(), rows().astype(np.float32), np.asfortranarray(rows()), rows()[:1]):
        assert estimator.predict(X).shape == (len(X),)


def test_plain_float32_rows_are_not_copied() -> None:
    estimator = TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(rows(), labels())
    X = rows().astype(np.float32)
    assert np.shares_memory(validation.check_rows(estimator, X), X)


def test_finite_values_whose_squares_are_not_are_rows() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    tree = TAOTreeClassifier(max_depth=1, max_iter=1).fit(X, X[:, 0] > 0)
    for value in (1e30, -3e38):
        assert told(tree, np.array([[value, 0.0]]))[0][0] == (1, 2)
    with pytest.raises(ValueError, match="float32"):
        tree.predict(np.array([[1e200, 0.0]]))


@pytest.mark.parametrize("kind", [TAOTreeRegressor, GreedyForestRegressor])
def test_a_target_that_is_none_is_refused_with_its_row(kind: Any) -> None:
    y: Any = np.arange(20.0).astype(object)
    y[7] = None
    with pytest.raises(ValueError, match=r"Input y contains NaN: y\[7\] is None; give .* try"):
        kind().fit(np.arange(40.0).reshape(20, 2), y)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", "b", None, "a"] * 5, dtype=object),
        ["a", "b", None, "a"] * 5,
        pd.Series(["a", "b", pd.NA, "a"] * 5, dtype="string"),
        np.array(["a", "b", np.nan, "a"] * 5, dtype=object),
    ],
    ids=["objects", "list", "string", "nan"],
)
def test_a_missing_label_is_refused_with_its_row(y: Any) -> None:
    with pytest.raises(ValueError, match=r"Input y contains NaN: y\[2\] is .*; give .* try"):
        TAOTreeClassifier().fit(np.arange(40.0).reshape(20, 2), y)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"a": 1.0, "b": "x"}, TypeError, r"X is a dict; give .* compile\(\)"),
        ([{"a": 1.0, "b": "x"}], ValueError, r"X is of type list and has shape \(1,\), .* try"),
        (pd.Series({"a": 1.0, "b": "x"}), ValueError, "X is of type Series .* no table; give"),
        (None, ValueError, "X is of type NoneType, which is no table; give .* try"),
        (np.zeros((2, 2, 2)), ValueError, r"has shape \(2, 2, 2\), which is no table; give"),
    ],
    ids=["dict", "dicts", "series", "none", "cube"],
)
def test_what_is_no_table_is_refused_by_models_of_tables(
    given: Any, error: type[Exception], message: str
) -> None:
    frame = pd.DataFrame({"a": np.arange(20.0), "b": list("xy") * 10})
    tree = TAOTreeClassifier(max_depth=1, max_iter=1).fit(frame, list("uv") * 10)
    with pytest.raises(error, match=message):
        tree.predict(given)
