"""What columns add to an answer: exactly the difference, with a sign that is about the answer."""

from __future__ import annotations

import copy
import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from spinney import (
    TAOForestClassifier,
    TAOForestRegressor,
    TAOTreeClassifier,
    explain,
    load,
    save,
)
from spinney.data.tables.typical import typical_of_numbers
from spinney.inspection.explanations.attribution import MOST_EXACT, MOST_ORDERS, attribute
from spinney.inspection.explanations.words import signed
from tests.compat.models import FORESTS, rows, small_model
from tests.compat.models import table as small_table
from tests.contracts.served import SERVED, fitted, rows_for
from tests.inspection.explanations.test_tables import MODELS, labels, table
from tests.inspection.explanations.trees import (
    as_regressor,
    as_voting_forest,
    tree_of,
    with_linear_leaves,
)
from tests.reference import path_of_row, shapley_values
from tests.strategies import forests_with_rows, trees_with_rows


def check_sums(why):
    """What columns add is the answer less that of the typical row, for every class or output."""
    adds = np.sum([column.adds for column in why.features], axis=0) if why.features else 0.0
    difference = np.subtract(why.answer, why.typical_answer)
    scale = 1 + np.abs(why.answer).max() + np.abs(why.typical_answer).max()
    np.testing.assert_allclose(adds, difference, rtol=0, atol=1e-9 * scale)
    for column in why.features:
        assert column.push == column.adds[why.output]


def as_given(model, X):
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


@pytest.mark.parametrize("name", FORESTS)
def test_columns_add_up_to_the_difference_for_every_family(name):
    model = small_model(name)
    X = as_given(model, rows())
    for number in (0, 5, 11):
        check_sums(explain(model, X[number : number + 1]))


@pytest.mark.parametrize("name", sorted(set(SERVED) - {"refined extra trees"}))
def test_columns_add_up_to_the_difference_for_every_kind(name):
    model = fitted(name)
    data = None if hasattr(model, "typical_") else rows_for(name)[:240]
    data = None if hasattr(getattr(model, "forest", None), "typical_") else data
    for number in (3, 700):
        check_sums(explain(model, rows_for(name)[number], data=data))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("has_data", [False, True])
def test_columns_of_tables_add_up_to_the_difference(name, has_data):
    frame = table()
    for number in (0, 7, 36, 100):
        why = explain(MODELS[name], frame.iloc[[number]], data=frame[:60] if has_data else None)
        check_sums(why)
        assert {column.column for column in why.features} <= set(frame)


@given(forests_with_rows(max_trees=3))
@settings(max_examples=60, deadline=None)
def test_columns_add_what_all_orders_say(drawn):
    forest, X, _ = drawn
    assume_rows = X if len(X) else np.ones((1, forest.n_features), np.float32)
    start, end = np.full(forest.n_features, 0.5, np.float32), assume_rows[0]
    ask = lambda rows: answers_of(forest, rows)  # noqa: E731
    columns = np.arange(forest.n_features)
    found = attribute(ask, start, end, columns, np.ones(len(columns), dtype=bool))
    for output in range(forest.n_outputs):
        slow = shapley_values(
            lambda row, k=output: ask(np.array([row], np.float32))[0, k], start, end, columns
        )
        np.testing.assert_allclose(found.adds[:, output], slow, atol=1e-9)
    assert (found.adds[start == end] == 0).all()
    assert not found.errors.any()


def answers_of(forest, X):
    """Sums of constant or linear leaves, in float64 and one row at a time."""
    found = np.zeros((len(X), forest.n_outputs))
    for number, x in enumerate(X):
        for tree in forest.trees:
            leaf = int(tree.leaf_index[path_of_row(tree, x)[-1]])
            found[number] += tree.leaf_values[leaf]
            for k in range(forest.n_outputs if tree.is_linear else 0):
                used = slice(*tree.leaf_indptr[leaf * forest.n_outputs + k :][:2])
                found[number, k] += tree.leaf_weights[used] @ x[tree.leaf_indices[used]]
    return found


@given(trees_with_rows(min_rows=1))
@settings(max_examples=60, deadline=None)
def test_typical_values_and_unweighed_columns_add_nothing(drawn):
    tree, X = drawn
    model = as_regressor(tree)
    model.typical_ = typical_of_numbers(X[-1].astype(np.float64))
    why = explain(model, X[0])
    check_sums(why)
    weighed = {f"x{j}" for j in (*tree.split_indices, *tree.leaf_indices)}
    for column in why.features:
        j = int(column.column[1:])
        assert column.push == 0 or (X[0, j] != X[-1, j] and column.column in weighed)
        assert (column.value, column.typical) == (X[0, j], X[-1, j])


def test_what_argues_against_the_answer_is_negative_on_either_side_of_a_split():
    for flip in (1.0, -1.0):  # the same model with its children exchanged
        values = [[0.9, 0.1], [0.2, 0.8]][:: int(flip)]
        weights = {0: flip * 1.0, 1: flip * -2.0}  # income, debt
        model = as_voting_forest([tree_of([(weights, flip * -1.0)], values)] * 3)
        model.classes_ = np.array(["fails", "pays"])
        model.typical_ = typical_of_numbers(np.array([2.0, 0.25]))
        why = explain(model, [9.0, 3.0])
        pushes = {column.column: column.push for column in why.features}
        assert why.prediction == "pays"
        assert pushes["x0"] == 0.5
        assert pushes["x1"] == -0.5
        refused = explain(model, [2.0, 3.0])
        assert refused.prediction == "fails"
        assert {c.column: c.push for c in refused.features} == {"x0": 0.0, "x1": 1.0}


def test_a_column_far_from_zero_that_hardly_moves_has_no_part():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(600, 3)), rng.normal(1000, 1, 600)])
    model = TAOTreeClassifier(max_depth=3, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    shares = [
        column.share
        for x in X[:40]
        for column in explain(model, x).features
        if column.column == "x3"
    ]
    assert np.sum(shares) / 40 < 0.1


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 14)).astype(np.float32)
    y = X @ np.arange(14.0) + 3 * (X[:, 0] * X[:, 13] > 0)
    return TAOForestRegressor(4, max_depth=3, random_state=0).fit(X, y), X


def test_many_columns_are_shared_over_drawn_orders_always_the_same(wide):
    model, X = wide
    why = explain(model, X[0])
    check_sums(why)
    assert why.n_orders == MOST_ORDERS
    assert explain(model, X[0]) == why
    assert max(column.error for column in why.features) > 0
    assert "standard errors up to" in str(why)
    few = X[0].copy()
    few[MOST_EXACT:] = model.typical_.coordinates[MOST_EXACT:]
    exact = explain(model, few)
    assert exact.n_orders == 0
    check_sums(exact)
    assert "standard errors" not in str(exact)


def test_drawn_orders_agree_with_all_orders_within_their_errors(wide, monkeypatch):
    model, X = wide
    few = X[0].copy()
    few[MOST_EXACT:] = model.typical_.coordinates[MOST_EXACT:]
    exact = {column.column: column.push for column in explain(model, few).features}
    monkeypatch.setattr("spinney.inspection.explanations.attribution.MOST_EXACT", 0)
    drawn = explain(model, few).features
    error = max(column.error for column in drawn)
    assert error < 0.05 * abs(drawn[0].push)
    for column in drawn:
        assert abs(column.push - exact[column.column]) <= 4 * error


def test_a_linear_model_is_shared_as_its_weights_say():
    weights = np.arange(20) / 4
    tree = tree_of([({0: 1.0, 19: 1.0}, 0.0)], [[1.0], [1.0]])
    model = as_regressor(with_linear_leaves(tree, [weights, weights]))
    x = np.linspace(-3, 3, 20).astype(np.float32)
    why = explain(model, x)
    assert why.n_orders == MOST_ORDERS
    for column in why.features:
        j = int(column.column[1:])
        assert column.push == pytest.approx(weights[j] * x[j], abs=1e-5)


def test_models_without_a_typical_row_say_so():
    model = copy.copy(small_model("tao_tree_classifier"))
    del model.typical_
    with pytest.warns(UserWarning, match=r"knows no typical row.*try data=X_train"):
        why = explain(model, rows()[5])
    assert not why.is_relative
    check_sums(why)
    assert "of a row of zeros it says" in str(why)
    assert "this model knows no typical row; try data=X" in str(why)
    assert explain(model, rows()[5], data=rows()).is_relative


def test_a_refined_forest_has_the_typical_row_of_its_forest():
    refined = small_model("refined_forest_classifier")
    typical = {c.column: c.typical for c in explain(refined.forest, rows()[1]).features}
    assert typical == {c.column: c.typical for c in explain(refined, rows()[1]).features}


def test_stored_and_given_rows_agree_on_what_is_typical():
    frame = table()
    for model in MODELS.values():
        stored, given = explain(model, frame[:1]), explain(model, frame[:1], data=frame)
        assert stored.typical_answer == pytest.approx(given.typical_answer, abs=1e-6)
        for column, other in zip(stored.features, given.features, strict=True):
            assert other.column == column.column
            assert other.push == pytest.approx(column.push, abs=1e-6)
            if column.column not in ("since", "city"):  # rounded; a level without a coordinate
                assert other.typical == pytest.approx(column.typical, abs=1e-5)


def test_a_sparse_row_starts_from_the_typical_row_too():
    X = rows()
    model = TAOForestClassifier(2, max_depth=2, random_state=0).fit(X, X[:, 0] > X[:, 1])
    assert explain(model, sp.csr_matrix(X[3:4])) == explain(model, X[3])


def test_values_are_told_as_they_were_given():
    frame = table()
    row = frame[frame["debt"].isna() & frame["owner"]].iloc[[0]]
    why = explain(MODELS["tree"], row)
    told = {column.column: (column.value, column.typical) for column in why.features}
    assert told["debt"][0] is None
    assert told["age"][0] == row["age"].iloc[0]
    assert told["job"] == (row["job"].iloc[0], frame["job"].mode()[0])
    assert told["owner"][0] is True
    assert told["since"][0] == str(row["since"].iloc[0].date())
    mean = frame["since"].mean()
    assert datetime.datetime.fromisoformat(told["since"][1]).date() == mean.date()
    assert "debt missing (typical " in str(why)
    assert f"job = {row['job'].iloc[0]} (typical " in str(why)
    assert "debt</td><td>missing</td>" in why._repr_html_()


def test_cuts_are_told_in_values_as_they_are():
    frame = table()[["since", "debt"]]
    y = frame["since"] >= pd.Timestamp("2022-06-01")
    tree = TAOTreeClassifier(max_depth=1, split="axis", random_state=0).fit(frame, y)
    [step] = explain(tree, frame.iloc[[3]]).trees[0].steps
    assert step.text().startswith(f"since = {frame['since'].iloc[3].date()} ")
    assert "2022-05-31" in step.text() or "2022-06-01" in step.text()
    tree = TAOTreeClassifier(max_depth=1, alpha=0.1, random_state=0).fit(frame, labels(table()))
    [step] = explain(tree, frame.iloc[[3]]).trees[0].steps
    assert f"*(since - {frame['since'].min().date()})" in step.text()
    y = frame["debt"].fillna(frame["debt"].mean()) > 8
    tree = TAOTreeClassifier(max_depth=1, split="axis", random_state=0).fit(frame, y)
    hole = frame[frame["debt"].isna()].iloc[[0]]
    [step] = explain(tree, hole).trees[0].steps
    assert step.text().startswith("debt is missing, taken as 10.")


def test_columns_of_every_kind_are_told_and_survive_a_file(tmp_path):
    model, frame = small_model("tao_forest_of_a_table"), small_table(rows())
    for number in (0, 9, 4):
        why = explain(model, frame.iloc[[number]])
        check_sums(why)
        told = {column.column: column.typical for column in why.features}
        assert told["away"].endswith(" days")
        assert "nothing" not in told
    save(model, tmp_path / "m.spinney")
    assert explain(load(tmp_path / "m.spinney"), frame.iloc[[4]]) == why
    text = why.text()
    assert f"away = {frame['away'].iloc[4] / pd.Timedelta(days=1):.4g} days (typical " in text


def test_leaves_that_add_up_are_told_as_scores():
    why = explain(small_model("fao_forest_classifier"), rows()[3])
    tree = max(why.trees, key=lambda tree: abs(tree.adds[why.output]))
    k = int(np.argmax(np.abs(tree.leaf.outputs)))
    line = next(line for line in str(why).splitlines() if line.startswith(f"tree {tree.number}, "))
    assert f": scores {why.output_names[k]} {signed(tree.leaf.outputs[k], 3)}, " in line
    assert why.has_scores
    shares = explain(small_model("tao_forest_classifier"), rows()[3])
    assert not shares.has_scores
    assert "scores" not in str(shares)
    assert not explain(small_model("tao_gradient_boosting_regressor"), rows()[3]).has_scores
