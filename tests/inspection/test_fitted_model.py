"""One view of every fitted model: names, coordinates and answers are those of the model itself."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import spinney
from spinney.inspection.fitted_model import FittedModel, fitted_estimator, fitted_model, value_names
from spinney.inspection.plotting import plot_tree
from spinney.inspection.report.rows import answered_rows
from spinney.tree import Tree
from tests.compat.models import FORESTS, classes, numbers, rows, small_model, table
from tests.inspection.plotting.models import rows_for


def forest_inside(model: Any) -> Any:
    """The model itself, or what it refines."""
    return getattr(model, "forest", model)


@pytest.mark.parametrize("name", FORESTS)
def test_every_family_answers_as_the_model_does(name: str) -> None:
    model = small_model(name)
    X, fitted = rows_for(model), fitted_model(model)
    coordinates = fitted.coordinates(X)
    assert coordinates.dtype == np.float32
    assert coordinates.shape[1] == len(fitted.coordinate_names) == fitted.forest.n_features
    answers = fitted.answers(coordinates)
    assert answers.shape[1] == len(fitted.output_names) == fitted.forest.n_outputs
    if fitted.is_classifier:
        np.testing.assert_allclose(answers, model.predict_proba(X), rtol=1e-12)
        assert fitted.output_names == tuple(map(str, model.classes_.tolist()))
    else:
        said = model.predict(X).reshape(len(answers), -1)
        np.testing.assert_allclose(answers, said, rtol=1e-12)
        assert fitted.output_names == value_names(said.shape[1])


@pytest.mark.parametrize("name", FORESTS)
def test_names_and_columns_are_those_of_the_model(name: str) -> None:
    model = small_model(name)
    fitted, inner = fitted_model(model), forest_inside(model)
    assert list(fitted.coordinate_names) == inner.get_coordinate_names().tolist()
    assert fitted.n_columns == len(fitted.column_names) == len(fitted.column_kinds)
    assert fitted.n_columns == model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        assert fitted.given_names == fitted.column_names == tuple(model.feature_names_in_)
    else:
        assert fitted.given_names is None
        assert fitted.column_names == tuple(f"x{k}" for k in range(model.n_features_in_))
    assert fitted.encoding is inner.encoding_
    assert fitted.typical is inner.typical_
    assert fitted.columns.shape == (fitted.forest.n_features,)
    assert fitted.model_name == type(model).__name__


@pytest.mark.parametrize("name", ["tao_forest_classifier", "tao_boost_classifier"])
def test_trees_and_importances_are_those_of_the_model(name: str) -> None:
    model = small_model(name)
    fitted = fitted_model(model)
    assert fitted.trees == model.trees_
    assert fitted.forest is model.forest_
    np.testing.assert_array_equal(fitted.importances, model.feature_importances_)


def test_a_bare_tree_is_a_model_of_one_tree_without_names() -> None:
    tree = small_model("tao_tree_regressor").tree_
    fitted = fitted_model(tree)
    assert fitted.trees == (tree,)
    assert fitted.tree(None) == fitted.tree(0) == (0, tree)
    assert fitted.output_names == ("value[0]", "value[1]")
    assert fitted.coordinate_names == fitted.column_names == ("x0", "x1", "x2")
    assert (fitted.encoding, fitted.typical, fitted.class_names) == (None, None, None)
    said = small_model("tao_tree_regressor").predict(rows())
    np.testing.assert_array_equal(fitted.answers(fitted.coordinates(rows())), said)
    sparse = fitted.coordinates(sp.coo_matrix(rows()))
    assert (sparse.format, sparse.dtype) == ("csr", np.float32)
    np.testing.assert_array_equal(fitted.totals(sparse), said)


def test_a_single_tree_needs_no_number_and_a_forest_does() -> None:
    model = small_model("tao_forest_classifier")
    fitted = fitted_model(model)
    assert fitted.tree(np.int64(2)) == (2, model.trees_[2])
    for number in (None, 3, -1, True, 1.0, "0"):
        words = re.escape(f"tree={number!r} of a forest of 3 trees; give the number of one")
        with pytest.raises(ValueError, match=words):
            fitted.tree(number)  # type: ignore[arg-type]


def test_levels_and_dates_become_coordinates_with_names() -> None:
    model = small_model("tao_forest_of_a_table")
    fitted = fitted_model(model)
    frame = table(rows())
    assert fitted.column_names == tuple(frame.columns)
    kinds = dict(zip(fitted.column_names, fitted.column_kinds, strict=True))
    assert (kinds["since"], kinds["away"], kinds["job"], kinds["nothing"]) == (
        "datetime",
        "duration",
        "text_levels",
        "empty",
    )
    owners = [fitted.column_names[column] for column in fitted.columns]
    for name, owner in zip(fitted.coordinate_names, owners, strict=True):
        assert owner in name
    [(date, origin)] = fitted.date_origins.items()
    assert fitted.coordinate_names[date] == "since"
    days = (frame.since - pd.Timestamp(1970, 1, 1)) / pd.Timedelta(days=1)
    there = days.notna().to_numpy()
    found = fitted.dense_coordinates(frame)[:, date]
    np.testing.assert_allclose(found[there] + origin, days[there], atol=1e-3)


def test_a_refined_forest_of_ours_reads_rows_as_the_forest_inside() -> None:
    frame = table(rows())
    forest = spinney.TAOForestClassifier(2, max_depth=2, max_iter=2, random_state=0)
    refined = spinney.refine_leaves(forest.fit(frame, classes()), frame, classes())
    fitted, inner = fitted_model(refined), fitted_model(forest)
    assert fitted.encoding is forest.encoding_
    assert fitted.typical is forest.typical_
    assert fitted.coordinate_names == inner.coordinate_names
    assert fitted.given_names == inner.given_names
    np.testing.assert_array_equal(fitted.coordinates(frame), inner.coordinates(frame))
    assert not np.array_equal(fitted.trees[0].leaf_values, inner.trees[0].leaf_values)
    assert fitted.importances is None


@pytest.mark.parametrize("is_named", [True, False])
def test_a_refined_forest_of_scikit_learn_has_trees_of_ours(is_named: bool) -> None:
    X: Any = pd.DataFrame(rows(), columns=["a", "b", "c"]) if is_named else rows()
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, classes())
    refined = spinney.refine_leaves(forest, X, classes())
    fitted = fitted_model(refined)
    assert len(fitted.trees) == 3
    assert fitted.column_names == (("a", "b", "c") if is_named else ("x0", "x1", "x2"))
    assert (fitted.encoding, fitted.typical) == (None, None)
    found = fitted.answers(fitted.coordinates(X))
    np.testing.assert_allclose(found, refined.predict_proba(X), rtol=1e-12)
    with pytest.raises(ValueError, match="X holds missing values"):
        fitted.coordinates(np.full((1, 3), np.nan) if not is_named else X * np.nan)


def test_weighed_coordinates_are_those_that_a_tree_reads() -> None:
    X = np.column_stack([rows(), np.zeros(len(rows()))])
    y = rows()[:, 0]
    tree = spinney.TAOTreeRegressor(max_depth=1, leaf="linear", random_state=0).fit(X, y)
    is_weighed = fitted_model(tree).is_weighed
    assert is_weighed[0]
    assert not is_weighed[3]


def test_an_output_has_one_name_everywhere() -> None:
    one = spinney.TAOTreeRegressor(max_depth=1, random_state=0).fit(rows(), numbers()[:, 0])
    two = small_model("tao_tree_regressor")
    assert fitted_model(one).output_names == ("value",)
    assert spinney.explain(one, rows()[0]).output_names == ("value",)
    assert "value = " in spinney.export_text(one)
    assert fitted_model(two).output_names == ("value[0]", "value[1]")
    assert spinney.explain(two, rows()[0]).output_names == ("value[0]", "value[1]")


def test_the_view_is_made_once_and_passes_through() -> None:
    model = small_model("tao_forest_classifier")
    fitted = fitted_model(model)
    assert isinstance(fitted, FittedModel)
    assert fitted_model(fitted) is fitted
    assert fitted_estimator(fitted).model is model
    assert spinney.export_text(fitted, tree=0) == spinney.export_text(model, tree=0)
    assert answered_rows(fitted, rows(), None) is not None
    assert plot_tree(fitted, tree=0).title == "TAOForestClassifier, tree 0"


@pytest.mark.parametrize(
    "other", ["tree", None, DecisionTreeClassifier(), spinney.TAOTreeClassifier, Tree]
)
def test_other_things_are_refused(other: object) -> None:
    with pytest.raises(TypeError, match="holds no spinney tree; give a Tree or a fitted"):
        fitted_model(other)
    with pytest.raises(TypeError, match="is no tree or forest of spinney; give a fitted tree or"):
        fitted_estimator(other)


def test_who_needs_predictions_takes_no_bare_tree_and_no_pipeline() -> None:
    tree = small_model("tao_tree_regressor").tree_
    for view in (tree, fitted_model(tree), make_pipeline(spinney.TAOTreeClassifier())):
        with pytest.raises(TypeError, match="no tree or forest of spinney"):
            fitted_estimator(view)


def test_what_is_not_fitted_says_so() -> None:
    with pytest.raises(NotFittedError, match="TAOTreeClassifier is not fitted; try fit"):
        fitted_model(spinney.TAOTreeClassifier())


def test_refined_forests_whose_trees_cannot_be_read_are_refused() -> None:
    forest = RandomForestRegressor(2, max_depth=2, random_state=0).fit(rows(), numbers()[:, 0])
    refined = spinney.refine_leaves(forest, rows(), numbers()[:, 0])
    forest.estimators_features_ = [[0, 1, 2], [0, 1, 2]]
    with pytest.raises(TypeError, match="trees that cannot be read"):
        fitted_model(refined)


def test_traces_are_those_of_the_fit() -> None:
    tree, boosted = small_model("tao_tree_regressor"), small_model("tao_boost_classifier")
    assert fitted_model(tree).traces == (tree.trace_,)
    assert fitted_model(boosted).traces == tuple(boosted.traces_)
    assert fitted_model(small_model("greedy_forest_classifier")).traces == ()
    assert fitted_model(tree.tree_).traces == ()


def test_importances_say_what_they_are_of_and_what_each_tree_counts() -> None:
    boosted, tree = (
        fitted_model(small_model("tao_boost_classifier")),
        small_model("tao_tree_regressor"),
    )
    assert boosted.importance_type == "gain"
    np.testing.assert_array_equal(boosted.importance_weights, boosted.model.estimator_weights_)
    assert fitted_model(tree.tree_).importance_type == "weight"
    assert fitted_model(tree).importance_weights.tolist() == [1.0]
