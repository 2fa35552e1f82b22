"""Values to predict that are missing where none was in training: filled aloud, or refused."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import spinney
from spinney import MissingValuesWarning, TAOForestClassifier, explain, nearest_change
from tests.compat.models import MAKERS
from tests.contracts.few_rows import every, labels, rows

NAMES = ["a", "b", "c", "d"]
FORMS = [
    np.asarray,
    np.float32,
    np.asfortranarray,
    sp.csr_matrix,
    sp.csc_array,
    lambda X: X.tolist(),
]
FRAMES = [
    lambda X: pd.DataFrame(X, columns=NAMES),
    lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    lambda X: pl.DataFrame(X, schema=NAMES),
    lambda X: pa.table(pd.DataFrame(X, columns=NAMES)),
]


def holed() -> np.ndarray:
    """Rows with holes in two columns, one of which is 0 in most rows."""
    X = rows()
    X[3, 2] = X[5, 2] = X[5, 0] = np.nan
    return X


def filled(model: Any) -> np.ndarray:
    """The same rows with what is typical instead, told by the slow obvious way."""
    X = holed().astype(np.float32)
    typical = spinney.data.row_reader.typical_of(model).coordinates
    for row, column in np.argwhere(np.isnan(X)):
        X[row, column] = typical[column]
    return X


def warned(call: Any) -> tuple[Any, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer = call()
    return answer, told


@every
@pytest.mark.parametrize("form", FORMS)
def test_holes_are_filled_with_what_is_typical(estimator: Any, form: Any) -> None:
    estimator.fit(rows(), labels())
    found, told = warned(lambda: estimator.predict(form(holed())))
    assert np.array_equal(found, estimator.predict(filled(estimator)))
    assert [warning.category for warning in told] == [MissingValuesWarning]


@pytest.mark.parametrize("form", FRAMES)
def test_holes_of_frames_are_filled_as_those_of_arrays(form: Any) -> None:
    forest = TAOForestClassifier(2, max_depth=2, random_state=0)
    forest.fit(pd.DataFrame(rows(), columns=NAMES), labels())
    complete = pd.DataFrame(filled(forest), columns=NAMES)
    with pytest.warns(MissingValuesWarning, match=r"column 0 of X \(a\) in 1 row, column 2 of X "):
        found = forest.predict_proba(form(holed()))
    assert np.array_equal(found, forest.predict_proba(complete))


def test_a_warning_names_columns_and_rows_and_points_at_the_user() -> None:
    forest = TAOForestClassifier(2, max_depth=2, random_state=0).fit(rows(), labels())
    _, told = warned(lambda: forest.predict(holed()))
    assert told[0].filename == __file__
    text = str(told[0].message)
    assert "column 0 of X in 1 row, column 2 of X in 2 rows; numbers were filled" in text
    assert "missing='error'" in text


@every
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_matrix, pd.DataFrame])
def test_missing_error_refuses_holes_where_training_had_none(estimator: Any, form: Any) -> None:
    strict = clone(estimator).set_params(missing="error").fit(rows(), labels())
    with pytest.raises(ValueError, match=r"Input X contains NaN: X\[3, 2\] is missing, but no"):
        strict.predict(form(holed()))
    assert np.array_equal(strict.predict(rows()), estimator.fit(rows(), labels()).predict(rows()))


@every
def test_other_words_are_refused_by_fit(estimator: Any) -> None:
    with pytest.raises(ValueError, match="missing='drop' is not known; give \"fill\" or"):
        clone(estimator).set_params(missing="drop").fit(rows(), labels())


def test_rows_without_holes_are_answered_without_a_word() -> None:
    forest = TAOForestClassifier(2, max_depth=2, random_state=0).fit(rows(), labels())
    assert warned(lambda: forest.predict(rows()))[1] == []


CALLS: dict[str, Any] = {
    "predict": lambda model, X: model.predict(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "decision_function": lambda model, X: model.decision_function(X),
    "apply": lambda model, X: model.apply(X),
    "decision_path": lambda model, X: model.decision_path(X)[0].toarray(),
    "score": lambda model, X: model.score(X, labels()),
    "staged_predict": lambda model, X: list(model.staged_predict(X)),
    "staged_predict_proba": lambda model, X: list(model.staged_predict_proba(X)),
    "staged_score": lambda model, X: list(model.staged_score(X, labels())),
}


@every
def test_every_way_to_ask_fills_and_warns_once(estimator: Any) -> None:
    estimator.fit(rows(), labels())
    for call in [call for name, call in CALLS.items() if hasattr(estimator, name)]:
        found, told = warned(lambda call=call: call(estimator, holed()))
        assert [warning.category for warning in told] == [MissingValuesWarning]
        np.testing.assert_array_equal(found, call(estimator, filled(estimator)))


@pytest.mark.parametrize("how", [explain, lambda model, x: nearest_change(model, x, data=rows())])
def test_explanations_fill_and_warn_once(how: Any) -> None:
    forest = TAOForestClassifier(3, max_depth=2, random_state=0).fit(rows(), labels())
    said, told = warned(lambda: how(forest, holed()[3:4]))
    wanted = how(forest, filled(forest)[3:4])
    assert [(warning.category, warning.filename) for warning in told] == [
        (MissingValuesWarning, __file__)
    ]
    assert said.prediction == wanted.prediction


def test_a_hole_stays_a_hole_in_a_changed_row() -> None:
    forest = TAOForestClassifier(3, max_depth=2, random_state=0).fit(rows(), labels())
    said, _ = warned(lambda: nearest_change(forest, holed()[3], data=rows()))
    assert np.isnan(said.changed[2])
    answer, _ = warned(lambda: forest.predict(said.changed[None, :])[0])
    assert answer == said.new_prediction != said.prediction


def test_an_explanation_says_that_the_value_is_missing() -> None:
    forest = TAOForestClassifier(3, max_depth=2, random_state=0).fit(rows(), labels())
    said, _ = warned(lambda: explain(forest, holed()[3]))
    hole = next(column for column in said.features if column.column == "x2")
    assert hole.value is None
    assert hole.push == 0


def test_a_report_fills_and_warns_once(tmp_path: Path) -> None:
    forest = TAOForestClassifier(2, max_depth=2, random_state=0).fit(rows(), labels())
    _, told = warned(lambda: forest.report(tmp_path / "page.html", holed(), labels()))
    assert [warning.category for warning in told] == [MissingValuesWarning]


@pytest.mark.parametrize("is_table", [False, True])
def test_refined_forests_fill_as_their_forest(is_table: bool) -> None:
    X = pd.DataFrame(rows(), columns=NAMES)
    gaps = pd.DataFrame(holed(), columns=NAMES)
    if is_table:
        X["job"] = gaps["job"] = np.where(labels() > 0, "cook", "smith")
    forest = TAOForestClassifier(3, max_depth=2, random_state=0).fit(X, labels())
    refined = spinney.refine_leaves(forest, X, labels())
    means = rows().mean(axis=0).astype(np.float32)
    complete = gaps.fillna(dict(zip(NAMES, means, strict=True)))
    for name in ("predict", "predict_proba", "decision_function"):
        found, told = warned(lambda name=name: getattr(refined, name)(gaps))
        assert len(told) == 1
        assert np.array_equal(found, getattr(refined, name)(complete))
    forest.missing = "error"
    with pytest.raises(ValueError, match="missing='error' refuses such holes"):
        refined.predict(gaps)


def test_leaves_are_refined_on_rows_with_new_holes() -> None:
    forest = TAOForestClassifier(3, max_depth=2, random_state=0).fit(rows(), labels())
    refined, told = warned(lambda: spinney.refine_leaves(forest, holed(), labels()))
    wanted = spinney.refine_leaves(forest, filled(forest), labels())
    assert np.array_equal(refined.leaf_values_, wanted.leaf_values_)
    assert [warning.category for warning in told] == [MissingValuesWarning]


def test_fits_go_on_from_rows_with_new_holes() -> None:
    forest = spinney.FAOForestClassifier(1, 2, max_depth=2, max_iter=2, random_state=0)
    one, other = forest.fit(rows(), labels()), pickle.loads(pickle.dumps(forest))
    complete = filled(forest)
    _, told = warned(lambda: one.refit(holed(), labels()))
    other.refit(complete, labels())
    assert [warning.category for warning in told] == [MissingValuesWarning]
    assert np.array_equal(one.decision_function(rows()), other.decision_function(rows()))


def test_rows_to_judge_by_may_have_new_holes() -> None:
    boost = spinney.TAOBoostClassifier(3, max_depth=1, max_sweeps=2, random_state=0)
    _, told = warned(lambda: boost.fit(rows(), labels(), X_val=holed(), y_val=labels()))
    assert [warning.category for warning in told] == [MissingValuesWarning]
    other = clone(boost).fit(rows(), labels(), X_val=filled(boost), y_val=labels())
    assert np.array_equal(boost.validation_errors_, other.validation_errors_)


def test_one_missing_value_does_not_break_cross_validation() -> None:
    X = rows()
    X[3, 2] = np.nan
    scores, told = warned(
        lambda: cross_val_score(TAOForestClassifier(2, max_depth=2, random_state=0), X, labels())
    )
    assert np.isfinite(scores).all()
    assert [warning.category for warning in told] == [MissingValuesWarning]


# --- tables ---------------------------------------------------------------------------------


def table() -> pd.DataFrame:
    """A number, a number with holes, few levels, many levels, and dates."""
    places = np.arange(60)
    return pd.DataFrame(
        {
            "age": places % 17 + 20.0,
            "weight": np.where(places % 5 == 0, np.nan, places % 13),
            "job": np.array(["cook", "smith", "clerk"])[places % 3],
            "town": [f"town {place % 9}" for place in places],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(places, "D"),
        }
    )


def test_a_table_warns_of_columns_that_had_no_holes_alone() -> None:
    X, y = table(), np.arange(60) % 2
    tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    known = X.assign(weight=np.nan)
    assert warned(lambda: tree.predict(known))[1] == []
    gaps = known.copy()
    gaps.loc[:4, ["age", "job", "town"]] = None
    gaps["since"] = pd.NaT
    wanted = tree.encoding_.encode(spinney.data.tables.read_table(gaps))
    found, told = warned(lambda: tree.apply(gaps))
    assert "(age) in 5 rows, column 2 of X (job) in 5 rows, " in str(told[0].message)
    assert str(told[0].message).count("1 more") == 1
    leaves = spinney.tree.Forest.of(tree.tree_).apply(spinney.data.as_rows(wanted))[:, 0]
    assert np.array_equal(found, leaves)


def test_missing_error_refuses_new_holes_of_tables_alone() -> None:
    X, y = table(), np.arange(60) % 2
    tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0, missing="error").fit(X, y)
    assert len(tree.predict(X.assign(weight=np.nan))) == len(X)
    X.loc[7, "job"] = None
    with pytest.raises(ValueError, match=r"X\[7, 2\] is missing, but no value of column 2"):
        tree.predict(X)


# --- models of older releases ---------------------------------------------------------------


def test_models_that_know_nothing_typical_refuse_and_say_why() -> None:
    forest = TAOForestClassifier(2, max_depth=2, random_state=0).fit(rows(), labels())
    state = forest.__getstate__()
    del state["typical_"], state["missing"]
    old = TAOForestClassifier.__new__(TAOForestClassifier)
    old.__setstate__(state)
    assert old.missing == "fill"
    with pytest.raises(ValueError, match=r"does not know what is typical of .* older releases"):
        old.predict(holed())


def test_files_that_know_nothing_typical_refuse_and_say_why() -> None:
    old = spinney.load(Path(__file__).parents[1] / "compat" / "v1" / "tao_tree_regressor.spinney")
    with pytest.raises(ValueError, match=r"does not know what is typical of .* older releases"):
        old.predict(np.full((1, 3), np.nan))


def test_older_models_of_tables_fill_as_they_always_did() -> None:
    X, y = table(), np.arange(60) % 2
    tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    gaps = X.assign(age=np.nan)
    wanted, _ = warned(lambda: tree.predict(gaps))
    del tree.typical_
    assert np.array_equal(tree.predict(gaps), wanted)
    tree.missing = "error"
    with pytest.raises(ValueError, match="older releases"):
        tree.predict(gaps)


OF_NUMBERS = ["tao_tree_linear_leaves", "tao_forest_of_strings_and_names", "fao_forest_regressor"]
OF_NUMBERS += ["tao_forest_of_holes_and_levels", "refined_forest_classifier"]


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_stored_models_fill_as_before(name: str) -> None:
    model = MAKERS[name]()
    again = spinney.from_dict(spinney.to_dict(model))
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[::3, 1] = np.nan
    names = getattr(model, "feature_names_in_", None)
    given = X if names is None else pd.DataFrame(X, columns=names)
    found, told = warned(lambda: again.predict(given))
    assert len(told) == 1
    assert np.array_equal(found, warned(lambda: model.predict(given))[0])
