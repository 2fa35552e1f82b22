"""How rows lie in memory, of which type, and in which container, changes no bit of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from tests.bits import differences
from tests.contracts.cases import Case, named, says_the_same
from tests.contracts.ways import EACH, WAYS

SPARSE_FORMS = [
    sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.csc_array, sp.coo_array,
]  # fmt: skip
DTYPES = ["int8", "uint8", "int64", "bool", "float16", ">f4", ">f8", "O"]


def layouts(X: NDArray[np.float32], directory: Path) -> dict[str, NDArray[Any]]:
    """The same rows, in every way in which numpy can hold them."""
    (n_rows, n_columns), file = X.shape, directory / "rows.dat"
    X.tofile(file)
    read_only = X.copy()
    read_only.flags.writeable = False
    spaced = np.zeros((2 * n_rows, 3 * n_columns), dtype=np.float32)
    spaced[::2, ::3] = X
    packed = np.zeros(n_rows, dtype=[("flag", "i1"), ("x", "f4", n_columns)])
    packed["x"] = X
    return {
        "float64": X.astype(np.float64),
        "Fortran": np.asfortranarray(X),
        "Fortran float64": np.asfortranarray(X, dtype=np.float64),
        "read-only": read_only,
        "read-only float64": np.frombuffer(X.astype(np.float64).tobytes()).reshape(X.shape),
        "memory-mapped": np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape),
        "strided": spaced[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "unaligned": packed["x"],
    }


@named(WAYS, in_a_hurry=EACH)
def test_the_layout_of_the_rows_changes_nothing(case: Case, tmp_path: Path) -> None:
    X, y = case.data
    wanted = case.fit()
    targets = np.asfortranarray(y)
    for name, rows in layouts(X, tmp_path).items():
        found = case.new().fit(rows, targets)
        assert differences(wanted, found) == [], name
        assert says_the_same(wanted, found, X, rows), name


@pytest.mark.filterwarnings("ignore:.*and boosting needs less than")
@named(WAYS, in_a_hurry=EACH)
@pytest.mark.parametrize("density", [1.0, 0.3, 0.04])
def test_sparse_rows_are_dense_rows(case: Case, density: float) -> None:
    X, y = case.data
    thinned = np.where(np.random.default_rng(0).random(X.shape) < density, X, 0)
    dense, sparse = case.new().fit(thinned, y), case.new().fit(sp.csr_matrix(thinned), y)
    assert differences(dense, sparse) == []
    assert says_the_same(dense, sparse, thinned, sp.csr_array(thinned))
    assert says_the_same(dense, sparse, sp.csr_matrix(thinned), thinned)


@named(EACH)
def test_any_sparse_form_gives_the_same_model(case: Case) -> None:
    X, y = case.data
    thinned = np.where(np.abs(X) < 0.7, 0, X)
    wanted = case.new().fit(thinned, y)
    for form in SPARSE_FORMS:
        found = case.new().fit(form(thinned), y)
        assert differences(wanted, found) == [], form
        assert says_the_same(wanted, found, thinned, form(thinned)), form


def messy_csr(X: NDArray[np.float32]) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """CSR with unsorted columns, a duplicate entry, a stored zero and 64-bit indices."""
    thinned = np.zeros(X.shape)
    thinned[:, 0], thinned[:, 3] = X[:, 0], 3.0 * np.round(X[:, 3]) + 0.0  # no -0.0
    indices = np.tile(np.array([3, 0, 3, 1], dtype=np.int64), len(X))
    entries = [thinned[:, 3] / 3, thinned[:, 0], thinned[:, 3] * 2 / 3, np.zeros(len(X))]
    indptr = np.arange(0, 4 * len(X) + 1, 4, dtype=np.int64)
    data = np.column_stack(entries).ravel()
    return sp.csr_array((data, indices, indptr), shape=X.shape), thinned


@named(EACH)
def test_messy_csr_is_read_but_not_written(case: Case) -> None:
    X, y = case.data
    messy, thinned = messy_csr(X)
    before = messy.copy()
    wanted = case.new().fit(sp.csr_matrix(thinned), y)
    for rows in (messy, thinned):
        assert differences(wanted, case.new().fit(rows, y)) == []
    assert says_the_same(wanted, wanted, thinned, messy)
    assert np.array_equal(messy.indices, before.indices)
    assert np.array_equal(messy.data, before.data)


@named(EACH)
def test_read_only_csr_is_read(case: Case) -> None:
    X, y = case.data
    rows = sp.csr_matrix(X)
    for array in (rows.data, rows.indices, rows.indptr):
        array.flags.writeable = False
    found = case.new().fit(rows, y)
    assert differences(case.fit(), found) == []
    assert says_the_same(found, found, X, rows)


@named(EACH)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_numeric_dtype_is_read_as_float32(case: Case, dtype: str) -> None:
    X, y = case.data
    wanted = case.new().fit((X > 0).astype(np.float32), y)
    found = case.new().fit((X > 0).astype(dtype), y)
    assert differences(wanted, found) == []
    assert says_the_same(wanted, found, X > 0, (X > 0).astype(dtype))


@named(WAYS, in_a_hurry=EACH)
def test_wide_whole_numbers_are_read_alike_in_any_dtype(case: Case) -> None:
    """More than 64 columns of 0 .. 255 are held as bytes."""
    X, y = case.data
    steps = np.clip(np.round(128 + 20 * X), 0, 255)
    rows = np.hstack([steps, np.random.default_rng(0).integers(0, 256, (len(X), 60))])
    case = forest_of_wide_rows(case, rows, y)
    wanted = case.new().fit(rows.astype(np.uint8), y)
    for other in (rows.astype(np.float64), rows.astype(np.int64), sp.csr_matrix(rows)):
        found = case.new().fit(other, y)
        assert differences(wanted, found) == []
        assert says_the_same(wanted, found, rows, other)


def forest_of_wide_rows(case: Case, rows: NDArray[Any], y: NDArray[Any]) -> Case:
    """A forest whose leaves are refined has to know these columns."""
    if "forest" not in case.estimator.get_params(deep=False):
        return case
    return case.with_values(forest=type(case.estimator.forest)(3, random_state=0).fit(rows, y))


@named(EACH)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_fitted_with_their_names(case: Case, frame: Any) -> None:
    X, y = case.data
    names = list("abcdefghi")[: X.shape[1]]
    named_rows = frame({name: X[:, place] for place, name in enumerate(names)})
    if "forest" in case.estimator.get_params(deep=False):
        kind = type(case.estimator.forest)
        plain = case.with_values(forest=kind(3, random_state=0).fit(X, y)).fit()
        case = case.with_values(forest=kind(3, random_state=0).fit(named_rows, y))
    else:
        plain = case.fit()
    found = case.new().fit(named_rows, y)
    assert set(differences(plain, found)) <= {"feature_names_in_", "forest"}
    assert found.feature_names_in_.tolist() == names
    assert says_the_same(plain, found, X, named_rows)


@named(EACH)
def test_what_is_given_is_never_written(case: Case) -> None:
    X, y, weights = case.data[0].copy(), case.data[1].copy(), np.ones(len(case.data[0]))
    model = case.new().fit(X, y, sample_weight=weights)
    model.predict(X)
    assert np.array_equal(X, case.data[0])
    assert np.array_equal(y, case.data[1])
    assert np.array_equal(weights, np.ones(len(X)))
