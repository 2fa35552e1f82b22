"""Every estimator fits tables as they are: categories, text, dates and missing values."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from spinney import (
    CO2ForestClassifier,
    FAOForestClassifier,
    GreedyForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOTreeClassifier,
    TAOTreeRegressor,
    export_text,
    refine_leaves,
    regularization_path,
    tune_co2,
    tune_fao,
)
from spinney.data.tables import TableEncoding
from spinney.data.validation import as_float32
from tests.contracts.few_rows import every

TREE = TAOTreeClassifier(max_depth=3, max_iter=5, random_state=0)
REGRESSOR = TAOTreeRegressor(max_depth=3, max_iter=5, random_state=0)
FOREST = TAOForestClassifier(3, max_depth=3, max_iter=5, random_state=0)
N_ROWS = 120


def frame(n_rows: int = N_ROWS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows).round(2),
            "job": rng.choice(["clerk", "cook", "smith"], n_rows),
            "member": rng.random(n_rows) > 0.5,
            "since": pd.Timestamp(2020, 1, 1) + pd.to_timedelta(rng.integers(0, 999, n_rows), "D"),
            "town": [f"town {number}" for number in rng.integers(0, 40, n_rows)],
        }
    )
    table.loc[rng.random(n_rows) < 0.2, "age"] = np.nan
    table.loc[rng.random(n_rows) < 0.2, "job"] = None
    return table


def labels(table: pd.DataFrame) -> NDArray[np.int64]:
    return (table["age"].fillna(0.0) + 2.0 * (table["job"] == "cook") > 0.6).to_numpy(np.int64)


X = frame()
Y = labels(X)
CONTAINERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": pl.from_pandas,
    "arrow": lambda table: pl.from_pandas(table).to_arrow(),
    "nullable": pd.DataFrame.convert_dtypes,
    "category": lambda table: table.astype({"job": "category", "town": "category"}),
}


def same_trees(one: Any, other: Any) -> bool:
    """Whether hyperplanes and leaves are the same, bit for bit."""
    trees = [e.trees_ if hasattr(e, "trees_") else (e.tree_,) for e in (one, other)]
    names = ("left", "right", "bias", "split_indices", "split_weights", "leaf_values")
    return len(trees[0]) == len(trees[1]) and all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes()
        for a, b in zip(*trees, strict=True)
        for name in names
    )


# --- one model from the raw table to the prediction -------------------------------------------


@every
def test_tables_are_fitted_and_predicted(estimator: Any) -> None:
    fitted = clone(estimator).fit(X, Y)
    assert fitted.n_features_in_ == 5
    assert fitted.feature_names_in_.tolist() == list(X.columns)
    assert isinstance(fitted.encoding_, TableEncoding)
    assert fitted.feature_importances_.shape == (5,)
    trees = fitted.trees_ if hasattr(fitted, "trees_") else [fitted.tree_]
    assert {tree.n_features for tree in trees} == {fitted.encoding_.n_coordinates}
    assert len(fitted.get_coordinate_names()) == fitted.encoding_.n_coordinates
    predicted = fitted.predict(X)
    assert predicted.shape == (N_ROWS,)
    assert fitted.apply(X).shape[0] == N_ROWS
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), predicted)
    assert np.array_equal(copy.deepcopy(fitted).predict(X), predicted)
    if not is_regressor(fitted):
        assert fitted.predict_proba(X).shape == (N_ROWS, 2)


@every
def test_missing_numbers_are_fitted_alike_from_arrays_and_sparse_rows(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((60, 4)) < 0.3, 0.0, rng.normal(size=(60, 4)))
    dense[rng.random((60, 4)) < 0.2] = np.nan
    y = (np.nan_to_num(dense[:, 0]) > 0).astype(int)
    one, other = (clone(estimator).fit(form(dense), y) for form in (np.asarray, sp.csr_matrix))
    assert one.encoding_ == other.encoding_
    assert same_trees(one, other)
    assert np.array_equal(one.predict(dense), other.predict(sp.csr_matrix(dense)))
    assert one.encoding_.n_coordinates > 4


@every
def test_numbers_without_holes_have_no_encoding(estimator: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    y = (rows[:, 0] > 0).astype(int)
    forms = (rows, pd.DataFrame(rows, columns=list("abc")), rows.astype(object), rows.tolist())
    fits = [clone(estimator).fit(form, y) for form in forms]
    assert all(fitted.encoding_ is None for fitted in fits)
    assert all(same_trees(fits[0], fitted) for fitted in fits[1:])


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_give_the_same_forest(name: str) -> None:
    one = clone(FOREST).fit(X, Y)
    other = clone(FOREST).fit(CONTAINERS[name](X), Y)
    assert one.encoding_ == other.encoding_
    assert same_trees(one, other)
    later = frame(30, seed=1)
    expected = one.predict_proba(later)
    assert np.array_equal(expected, other.predict_proba(CONTAINERS[name](later)))
    assert np.array_equal(expected, one.predict_proba(CONTAINERS[name](later)))


def test_object_arrays_give_the_same_trees() -> None:
    one, other = clone(FOREST).fit(X, Y), clone(FOREST).fit(X.to_numpy(dtype=object), Y)
    assert same_trees(one, other)
    assert other.encoding_.coordinates[2].name == "x1 = clerk"


@pytest.mark.parametrize("n_jobs", [2])
def test_threads_change_nothing(n_jobs: int) -> None:
    assert same_trees(clone(FOREST).fit(X, Y), clone(FOREST).set_params(n_jobs=n_jobs).fit(X, Y))


def test_missing_values_help_where_they_tell_something() -> None:
    table = X.copy()
    table["age"] = table["age"].mask(np.random.default_rng(3).random(N_ROWS) < 0.5)
    y = table["age"].isna().to_numpy().astype(int)
    assert clone(TREE).fit(table, y).score(table, y) == 1.0


# --- nothing is learned of rows that are not there ---------------------------------------------


def test_rows_of_no_weight_leave_no_trace() -> None:
    strange = pd.concat([X, X.assign(job="spy", town="nowhere", age=1e6)], ignore_index=True)
    weights = np.repeat([1.0, 0.0], N_ROWS)
    one = clone(FOREST).fit(X, Y)
    other = clone(FOREST).fit(strange, np.tile(Y, 2), sample_weight=weights)
    assert one.encoding_ == other.encoding_
    assert same_trees(one, other)


def test_predictions_of_a_row_do_not_depend_on_its_neighbours() -> None:
    fitted = clone(FOREST).fit(X, Y)
    later = frame(20, seed=2)
    later.loc[3, ["job", "town"]] = "unseen"
    together = fitted.predict_proba(later)
    alone = np.vstack([fitted.predict_proba(later.iloc[[row]]) for row in range(20)])
    assert np.array_equal(together, alone)
    assert np.array_equal(fitted.predict_proba(later[::-1]), together[::-1])


def test_targets_of_levels_do_not_leak_into_training() -> None:
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"id": [f"row {number}" for number in rng.integers(0, 400, 800)]})
    y = rng.integers(0, 2, 800)
    forest = TAOForestClassifier(3, max_depth=4, max_iter=5, random_state=0)
    fitted = forest.fit(noise[:400], y[:400])
    assert "target_mean" in {c.kind for c in fitted.encoding_.coordinates}
    # With its own target among the means of a row, rows of one a level would be told apart.
    assert fitted.score(noise[:400], y[:400]) < 0.95
    assert 0.35 < fitted.score(noise[400:], y[400:]) < 0.65


def test_validation_rows_are_encoded_like_any_others() -> None:
    boost = TAOBoostClassifier(5, max_depth=2, max_sweeps=3, n_iter_no_change=2, random_state=0)
    fitted = boost.fit(X, Y, X_val=frame(40, seed=4), y_val=labels(frame(40, seed=4)))
    assert len(fitted.validation_errors_) >= 2
    gradient = TAOGradientBoostingClassifier(4, max_depth=2, n_iter_no_change=2, random_state=0)
    assert len(gradient.fit(X, Y).validation_losses_) >= 2


# --- going on ------------------------------------------------------------------------------------


def test_warm_start_keeps_the_encoding_and_ends_in_the_same_forest() -> None:
    whole = clone(FOREST).set_params(n_estimators=4).fit(X, Y)
    grown = clone(FOREST).set_params(n_estimators=2, warm_start=True).fit(X, Y)
    encoding = grown.encoding_
    grown.set_params(n_estimators=4).fit(X, Y)
    assert grown.encoding_ is encoding
    assert same_trees(whole, grown)


@pytest.mark.parametrize(
    ("first", "second"), [([0], [1]), ([0], None), ([0], "from_dtype"), ("from_dtype", [0])]
)
def test_warm_start_with_other_categories_is_refused(first: Any, second: Any) -> None:
    rows = np.c_[np.arange(20) % 3, np.arange(20)]
    forest = clone(FOREST).set_params(categorical_features=first, warm_start=True)
    forest.fit(rows, HALVES).set_params(n_estimators=4).fit(rows, HALVES)
    before = dict(vars(forest.set_params(categorical_features=second, n_estimators=5)))
    with pytest.raises(
        ValueError, match=r"column 0 of X was (a category|number).* warm_start=False"
    ):
        forest.fit(rows, HALVES)
    assert vars(forest) == before


def test_warm_start_with_other_dtypes_is_refused() -> None:
    numbers = pd.DataFrame({"size": np.arange(20) % 3, "job": ["cook", "clerk"] * 10})
    levels = numbers.assign(size=numbers["size"].astype("category"))
    forest = clone(FOREST).set_params(warm_start=True, n_estimators=1)
    for first, second in ((numbers, levels), (levels, numbers)):
        grown = clone(forest).fit(first, HALVES).set_params(n_estimators=2)
        before = dict(vars(grown))
        with pytest.raises(
            ValueError, match=r"column 0 of X \(size\) was .* its dtype is category;"
        ):
            grown.fit(second, HALVES)
        assert vars(grown) == before
    named = clone(forest).set_params(categorical_features=["size", "job"]).fit(numbers, HALVES)
    named.set_params(categorical_features="from_dtype", n_estimators=2).fit(levels, HALVES)
    assert len(named) == 2


def test_refit_keeps_the_encoding() -> None:
    forest = FAOForestClassifier(1, 2, max_depth=2, max_iter=3, random_state=0).fit(X, Y)
    encoding = forest.encoding_
    other = frame(80, seed=5)
    forest.refit(other, labels(other))
    assert forest.encoding_ is encoding
    assert forest.predict(other).shape == (80,)


def test_a_new_fit_forgets_the_encoding() -> None:
    tree = clone(TREE).fit(X, Y)
    assert tree.fit(X[["since"]].assign(since=np.arange(N_ROWS)), Y).encoding_ is None


def test_a_refused_fit_changes_nothing() -> None:
    tree = clone(TREE).fit(X, Y)
    before = dict(vars(tree))
    with pytest.raises(TypeError, match=r"column 1 of X \(job\) holds a value of type dict"):
        tree.fit(X.assign(job=[{}] * N_ROWS), Y)
    assert vars(tree) == before


def test_starts_must_read_the_same_coordinates() -> None:
    start = clone(TREE).fit(X, Y)
    again = TAOTreeClassifier(init=start, max_iter=2, random_state=0).fit(X, Y)
    assert again.encoding_ == start.encoding_
    with pytest.raises(
        ValueError, match="init=TAOTreeClassifier was fitted to a table that became"
    ):
        TAOTreeClassifier(init=start, max_iter=2).fit(X.assign(job="cook"), Y)


# --- columns are checked -------------------------------------------------------------------------


def test_other_columns_are_refused_in_the_words_of_scikit_learn() -> None:
    fitted = clone(TREE).fit(X, Y)
    for other in (X[X.columns[::-1]], X.rename(columns={"job": "work"}), X.assign(more=1)):
        with pytest.raises(ValueError, match="feature names should match those that were passed"):
            fitted.predict(other)
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(pl.from_pandas(other))
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5 features"):
        clone(TREE).fit(X.to_numpy(dtype=object), Y).predict(X.to_numpy(dtype=object)[:, :4])


def test_record_batches_keep_their_column_names() -> None:
    table = pa.Table.from_pandas(pd.DataFrame(NUMBERS, columns=["a"]).assign(b=-NUMBERS))
    swapped = table.select(["b", "a"])
    for given in (table, table.to_batches()[0]):
        fitted = clone(PLAIN).fit(given, HALVES)
        assert fitted.feature_names_in_.tolist() == ["a", "b"]
        expected = fitted.predict(table)
        assert np.array_equal(fitted.predict(table.to_batches()[0]), expected)
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(swapped.to_batches()[0])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            X.assign(age="old"),
            r"column 0 of X \(age\) holds text \('old' in row 0 and .*\) but held number",
        ),
        (X.assign(job=1.0), r"column 1 of X \(job\) holds number \(1.0 in row 0\) but held text"),
        (X.assign(since=3), r"\(since\) holds number"),
        (X.assign(age=np.inf), "contains infinity"),
        (np.ones((2, 5)), r"\(job\) holds number"),
        (sp.csr_matrix((2, 5)), "X is sparse, but this model reads"),
    ],
)
def test_columns_of_another_kind_are_refused(rows: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        clone(TREE).fit(X, Y).predict(rows)


PLAIN = TAOTreeClassifier(max_depth=1, random_state=0)
NUMBERS, HALVES = np.arange(20.0)[:, None], np.arange(20) // 10


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            np.array([["2020-01-01"]], dtype="M8[D]"),
            r"holds datetime \(18262.0 in row 0\) but held",
        ),
        (np.array([[36]], dtype="m8[h]"), r"holds duration \(1.5 in row 0\) but held number"),
        (np.array([["3"]]), r"column 0 of X holds text \('3' in row 0\) but held number"),
        ([["a"]], r"holds text \('a' in row 0.*\) but held number in training; give values of the"),
    ],
)
def test_models_of_plain_numbers_refuse_other_kinds(rows: Any, text: str) -> None:
    fitted = clone(PLAIN).set_params(warm_start=True).fit(NUMBERS, HALVES)
    with pytest.raises(ValueError, match=text):
        fitted.predict(rows)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match=text):
        fitted.fit(np.repeat(rows, 20, axis=0), HALVES)
    assert vars(fitted) == before


def test_values_that_are_no_numbers_never_become_rows() -> None:
    for values in (np.array([["3"]]), np.array([[1]], dtype="M8[D]"), np.array([[1j]])):
        with pytest.raises(TypeError, match=r"X holds values of dtype .* give numbers"):
            as_float32(values)


def test_models_of_plain_numbers_read_numbers_in_any_container() -> None:
    fitted = clone(PLAIN).fit(NUMBERS, HALVES)
    for form in (NUMBERS.astype(object), NUMBERS.astype(int), NUMBERS > 9, NUMBERS.tolist()):
        assert fitted.predict(form).shape == (20,)
    assert np.array_equal(fitted.predict(NUMBERS.astype(object)), fitted.predict(NUMBERS))
    gaps = pd.DataFrame({"a": pd.arrays.SparseArray(NUMBERS[:, 0])})
    filled = clone(PLAIN).fit(gaps, HALVES)
    assert filled.encoding_ is None
    assert same_trees(filled, fitted)
    assert np.array_equal(filled.predict(gaps), fitted.predict(NUMBERS))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        filled.predict(gaps.astype(object)[:0])


def test_hidden_values_and_lazy_frames_are_refused() -> None:
    hidden = np.ma.masked_array(NUMBERS, mask=NUMBERS > 15)
    lazy = pl.DataFrame({"a": NUMBERS[:, 0]}).lazy()
    plain, table = clone(PLAIN).fit(NUMBERS, HALVES), clone(PLAIN).fit([["a"], ["b"]], [0, 1])
    for rows, text in ((hidden, r"filled\(np\.nan\)"), (lazy, r"lazy frame.* try X\.collect\(\)")):
        for chosen in ("from_dtype", [0]):
            with pytest.raises(TypeError, match=text):
                clone(PLAIN).set_params(categorical_features=chosen).fit(rows, HALVES)
        for fitted in (plain, table):
            with pytest.raises(TypeError, match=text):
                fitted.predict(rows)
    assert np.array_equal(plain.predict(np.ma.masked_array(NUMBERS)), plain.predict(NUMBERS))


def test_columns_of_rare_dtypes_are_fitted_alone() -> None:
    days = pd.date_range("2020", periods=20, tz="America/New_York")
    dates = pa.array([*range(19), None], pa.date32()).cast(pa.date64())
    for table in (pd.DataFrame({"c": days}), pa.table({"c": dates})):
        fitted = clone(PLAIN).fit(table, HALVES)
        assert fitted.encoding_.coordinates[0].kind == "datetime"
        assert fitted.score(table, HALVES) > 0.9
    empty = pd.DataFrame({"c": pd.array([None] * 20, dtype=pd.ArrowDtype(pa.null()))})
    assert clone(PLAIN).fit(empty, HALVES).get_coordinate_names().tolist() == ["c is missing"]


def test_bad_targets_of_tables_are_refused_as_ever() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TREE.fit(X, Y[:-1])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        REGRESSOR.fit(X, np.where(Y > 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="requires y to be passed"):
        TREE.fit(X, None)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        TREE.fit(X[:0], Y[:0])


@pytest.mark.parametrize("chosen", [["code"], [0], [True, False], np.array([0])])
def test_numbers_can_be_named_as_categories(chosen: Any) -> None:
    table = pd.DataFrame({"code": [3, 1, 2] * 20, "size": np.arange(60.0)})
    y = (table["code"] == 2).astype(int)
    fitted = clone(TREE).set_params(categorical_features=chosen).fit(table, y)
    assert fitted.get_coordinate_names().tolist() == ["code = 1", "code = 2", "code = 3", "size"]
    assert fitted.score(table, y) == 1.0
    if not isinstance(chosen[0], str):
        unnamed = clone(fitted).fit(table.to_numpy(), y)
        assert unnamed.encoding_.levels.keys() == {0}
        assert np.array_equal(unnamed.predict(table.to_numpy()), fitted.predict(table))


@pytest.mark.parametrize("chosen", ["from_dtype", [0]])
def test_ids_that_float64_cannot_tell_apart_are_no_categories(chosen: Any) -> None:
    dtype = "category" if chosen == "from_dtype" else "int64"
    large, small = (
        pd.DataFrame({"id": ids * 10}).astype(dtype) for ids in ([2**53, 2**53 + 1], [1, 2**53 - 1])
    )
    y = np.arange(20) % 2
    tree = clone(PLAIN).set_params(categorical_features=chosen)
    with pytest.raises(
        ValueError, match=r"\(id\) holds the category 9007199254740992 .*astype\(str"
    ):
        tree.fit(large, y)
    texts = large.astype(str).astype("category")
    assert tree.fit(texts, y).score(texts, y) == 1.0
    assert tree.fit(small, y).score(small, y) == 1.0
    assert tree.predict(large).shape == (20,)  # levels that training did not have


def test_integers_beyond_float64_are_refused() -> None:
    rows = np.array([[1], [-(10**400)]] * 10, dtype=object)
    for chosen in ("from_dtype", [0]):
        with pytest.raises(ValueError, match="contains infinity or a value too large: column 0"):
            clone(PLAIN).set_params(categorical_features=chosen).fit(rows, HALVES)


@pytest.mark.parametrize("chosen", [["d"], [0], [True]])
@pytest.mark.parametrize("days", [pd.date_range("2020", periods=20), pd.to_timedelta(range(20))])
def test_times_named_as_categories_are_refused(chosen: Any, days: Any) -> None:
    tree = clone(PLAIN).set_params(categorical_features=chosen)
    table = pd.DataFrame({"d": days})
    with pytest.raises(ValueError, match=r"column 0 of X \(d\) holds d.*, but .* astype\(str\)"):
        tree.fit(table, HALVES)
    assert tree.fit(table.astype(str), HALVES).encoding_.kind(0) == "text_levels"


def test_categories_that_are_times_are_told_apart_by_their_text() -> None:
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-03", None, "2020-01-02"] * 5), name="d")
    table = days.astype("category").to_frame()
    y = (days == "2020-01-02").astype(int)
    fitted = clone(TREE).fit(table, y)
    assert fitted.get_coordinate_names().tolist() == [
        "d = 2020-01-01 00:00:00",
        "d = 2020-01-02 00:00:00",
        "d = 2020-01-03 00:00:00",
        "d is missing",
    ]
    assert fitted.score(table, y) == 1.0
    dictionary = pa.table({"d": pa.array(days, pa.timestamp("us")).dictionary_encode()})
    assert np.array_equal(fitted.predict(dictionary), fitted.predict(table))


def test_no_category_means_numbers() -> None:
    table = pd.DataFrame({"code": pd.Categorical([3, 1, 2] * 20)})
    y = (np.arange(60) % 2).astype(int)
    fitted = clone(TREE).set_params(categorical_features=None).fit(table, y)
    assert fitted.encoding_ is None
    with pytest.raises(ValueError, match="holds text, as 'smith', but categorical_features"):
        clone(TREE).set_params(categorical_features=None).fit(X, Y)


def decimal_columns(values: list[Decimal | None]) -> list[Any]:
    """A column of decimals beside one of numbers, in every container that has a type for them."""
    table = pa.table({"d": pa.array(values, pa.decimal128(5, 2)), "x": np.arange(len(values))})
    kind = table["d"].type
    arrow_in_pandas = table.to_pandas(types_mapper={kind: pd.ArrowDtype(kind)}.get)
    return [table, table.to_batches()[0], pl.from_arrow(table), table.to_pandas(), arrow_in_pandas]


@pytest.mark.parametrize("last", [Decimal("9.5"), None])
def test_decimals_are_numbers_in_every_container(last: Decimal | None) -> None:
    values = [*(Decimal(k) / 2 for k in range(19)), last]
    plain = pd.DataFrame({"d": [np.nan if v is None else float(v) for v in values], "x": range(20)})
    expected = clone(PLAIN).fit(plain, HALVES)
    for table in decimal_columns(values):
        fitted = clone(PLAIN).fit(table, HALVES)
        assert same_trees(fitted, expected)
        assert fitted.encoding_ == expected.encoding_
        assert np.array_equal(expected.predict(table), expected.predict(plain))


def test_integers_that_numpy_does_not_have_are_numbers() -> None:
    short = pl.DataFrame({"a": np.arange(20) % 7, "b": np.arange(20)})
    long = short.cast(pl.Int128)
    wanted, found = clone(PLAIN).fit(short, HALVES), clone(PLAIN).fit(long, HALVES)
    assert found.encoding_ is None
    assert same_trees(wanted, found)
    np.testing.assert_array_equal(found.predict(long), found.predict(short))


@pytest.mark.parametrize("chosen", ["auto", 1.5, ["unknown"]])
def test_bad_categorical_features_are_refused(chosen: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="categorical_features"):
        clone(TREE).set_params(categorical_features=chosen).fit(X, Y)


def test_errors_of_units_name_the_column_of_the_table() -> None:
    table = pd.DataFrame(
        {"job": ["cook", "clerk", "smith", None] * 5, "size": NUMBERS[:, 0] * 1e-30}
    )
    with pytest.raises(ValueError, match=r"and column 1 of X \(size\) by about"):
        TAOTreeRegressor(leaf="linear", max_depth=1).fit(table, NUMBERS[:, 0] * 1e30)
    with pytest.raises(ValueError, match=r"^column 1 of X \(size\) varies by about"):
        CO2ForestClassifier(1, max_depth=1).fit(table, HALVES)
    wide = pd.DataFrame({f"is {n}": [True, False] * 10 for n in range(70)} | dict(table))
    for model in (clone(FOREST), TAOTreeRegressor(max_depth=1)):
        with pytest.raises(ValueError, match=r"^column 71 of X \(size\) varies by about"):
            model.fit(wide, HALVES)
    plain = pd.DataFrame({f"n {n}": NUMBERS[:, 0] * (1e-25 if n == 69 else 1) for n in range(70)})
    with pytest.raises(ValueError, match=r"^column 69 of X \(n 69\) varies by about"):
        clone(FOREST).fit(plain, HALVES)


# --- what is told of columns -----------------------------------------------------------------


def test_importances_are_summed_over_the_coordinates_of_a_column() -> None:
    fitted = clone(TREE).fit(X, Y)
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert fitted.feature_importances_.argmax() in (0, 1)


def test_texts_speak_of_levels_and_holes() -> None:
    text = export_text(clone(TREE).set_params(split="axis").fit(X, Y))
    assert "job = cook:" in text
    names = clone(TREE).fit(X, Y).get_coordinate_names().tolist()
    assert names[:7] == [
        "age",
        "age is missing",
        "job = clerk",
        "job = cook",
        "job = smith",
        "job is missing",
        "member",
    ]
    oblique = export_text(clone(TREE).fit(X, Y))
    assert "*[job = cook]" in oblique
    rows = X[["age"]].fillna(0.0)
    assert clone(TREE).fit(rows, Y).get_coordinate_names().tolist() == ["age"]
    assert clone(TREE).fit(rows.to_numpy(), Y).get_coordinate_names().tolist() == ["x0"]


# --- inside scikit-learn -------------------------------------------------------------------------


def test_pipelines_and_searches_take_tables() -> None:
    numbers = make_column_selector(dtype_include="number")
    scaled = ColumnTransformer(
        [("scale", StandardScaler(), numbers)],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(scaled, clone(FOREST))
    assert cross_val_score(pipeline, X, Y, cv=3).min() > 0.6
    search = GridSearchCV(clone(TREE), {"max_depth": [1, 3]}, cv=2).fit(pl.from_pandas(X), Y)
    assert search.best_score_ > 0.6
    polars = pl.from_pandas(X)
    identity = FunctionTransformer().set_output(transform="polars")
    assert make_pipeline(identity, clone(TREE)).fit(polars, Y).score(polars, Y) > 0.8


def test_weights_are_routed_through_searches() -> None:
    with config_context(enable_metadata_routing=True):
        tree = clone(TREE).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=2)
        weights = np.where(np.arange(N_ROWS) % 3, 1.0, 0.0)
        search.fit(X, Y, sample_weight=weights)
        expected = clone(TREE).set_params(**search.best_params_).fit(X, Y, sample_weight=weights)
        assert same_trees(search.best_estimator_, expected)


@pytest.mark.filterwarnings("ignore:tune_co2 will be gone")
def test_tools_around_estimators_take_tables() -> None:
    path = regularization_path(clone(TREE), X, Y, alphas=[0.1, 1.0], cv=3)
    assert path.validation_error is not None
    path = regularization_path(clone(REGRESSOR), pl.from_pandas(X), Y, alphas=[0.1], cv=2)
    assert path.estimators[0].encoding_ is not None
    forest = CO2ForestClassifier(2, max_depth=2, max_epochs=2, random_state=0)
    found = tune_co2(forest, X, Y, max_features=[2], max_norms=[1.0], learning_rates=[0.03])
    assert found.best_estimator.encoding_ is not None
    averaged = FAOForestClassifier(1, 2, max_depth=2, max_iter=2, random_state=0)
    assert tune_fao(averaged, X, Y, alphas=[1.0]).best_estimator.score(X, Y) > 0.5
    refined = refine_leaves(GreedyForestClassifier(3, max_depth=3, random_state=0).fit(X, Y), X, Y)
    assert refined.predict(X).shape == (N_ROWS,)


def test_several_targets_have_a_mean_each() -> None:
    targets = np.column_stack([Y, 1 - Y, np.arange(N_ROWS)])
    forest = TAOForestRegressor(2, max_depth=2, max_iter=2, random_state=0).fit(X, targets)
    means = [c for c in forest.encoding_.coordinates if c.kind == "target_mean"]
    assert [coordinate.output for coordinate in means] == [0, 1, 2]
    assert forest.predict(X).shape == targets.shape


# --- what is typical ---------------------------------------------------------------------------


@every
def test_every_fit_stores_what_is_typical(estimator: Any) -> None:
    numbers = np.random.default_rng(0).normal(3.0, 1.0, (60, 3)).astype(np.float32)
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    plain = clone(estimator).fit(numbers, numbers[:, 0] > 3, weights)
    means = np.average(numbers.astype(float), axis=0, weights=weights)
    np.testing.assert_allclose(plain.typical_.coordinates, means, rtol=1e-6)
    fitted = clone(estimator).fit(X, Y)
    assert fitted.typical_.levels == {1: X["job"].mode()[0], 4: X["town"].mode()[0]}
    assert fitted.typical_.had_missing.tolist() == [True, True, False, False, False]
    assert pickle.loads(pickle.dumps(fitted)).typical_ == fitted.typical_


def test_sparse_rows_have_the_typical_row_of_dense_ones() -> None:
    rows = np.where(np.random.default_rng(0).random((80, 30)) < 0.97, 0.0, 2.5)
    rows[:, 0] = np.arange(80) % 2
    dense, sparse = (clone(TREE).fit(made, rows[:, 0]) for made in (rows, sp.csr_matrix(rows)))
    assert dense.typical_ == sparse.typical_
    np.testing.assert_allclose(dense.typical_.coordinates, rows.mean(axis=0), rtol=1e-6)
