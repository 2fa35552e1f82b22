"""The way of a row, told in full: numbers that add up and agree with the model."""

from __future__ import annotations

import importlib.util
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import spinney
from spinney import TAOForestClassifier, TAOTreeClassifier, explain
from tests.compat.models import FORESTS, classes, rows, small_model
from tests.contracts.served import fitted, rows_for
from tests.inspection.explanations.trees import as_classifier, as_regressor, diagonal_tree, tree_of
from tests.reference import path_of_row
from tests.strategies import trees_with_rows

MORE = ("linear tree", "soft linear forest", "linear forest regressor", "ho that rejects")
each_model = pytest.mark.parametrize("name", [*FORESTS, *MORE])


def model_and_row(name, number=5):
    if name in MORE:
        return fitted(name), rows_for(name)[number]
    model, X = small_model(name), rows()
    if hasattr(model, "feature_names_in_"):
        return model, pd.DataFrame(X, columns=model.feature_names_in_).iloc[[number]]
    return model, X[[number]]


@each_model
def test_the_prediction_is_that_of_the_model(name):
    model, x = model_and_row(name)
    said = model.predict(np.atleast_2d(x) if isinstance(x, np.ndarray) else x)[0]
    np.testing.assert_array_equal(np.ravel(explain(model, x).prediction), np.ravel(said))


@each_model
def test_contributions_add_up_to_the_score_at_every_split(name):
    model, x = model_and_row(name)
    steps = [step for tree in explain(model, x).trees for step in tree.steps]
    for step in steps:
        total = step.base + sum(part.amount for part in step.contributions)
        scale = abs(step.base) + sum(abs(part.amount) for part in step.contributions)
        assert abs(total - step.score) <= 1e-12 * scale
        assert sum(step.by_column.values()) == pytest.approx(step.score - step.base, abs=1e-12)
        for part in step.contributions:
            moved = part.value - part.typical
            assert part.amount == pytest.approx(part.weight * moved, rel=1e-9, abs=1e-9)
        assert (step.score >= 0) == (step.goes == "right") or abs(step.score) < 1e-6 * scale


@each_model
def test_trees_and_offsets_add_up_to_the_totals(name):
    why = explain(*model_and_row(name))
    total = np.sum([tree.adds for tree in why.trees], axis=0) + why.offsets
    np.testing.assert_allclose(total, why.totals, rtol=1e-12, atol=1e-14)


@each_model
def test_the_answer_is_that_of_the_model(name):
    model, x = model_and_row(name)
    X = np.atleast_2d(x) if isinstance(x, np.ndarray) else x
    said = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    np.testing.assert_allclose(explain(model, x).answer, np.ravel(said), rtol=1e-12)


@each_model
def test_the_way_is_the_decision_path(name):
    model, x = model_and_row(name)
    if not hasattr(model, "decision_path"):
        pytest.skip("refined forests have no decision_path")
    X = np.atleast_2d(x) if isinstance(x, np.ndarray) else x
    path = model.decision_path(X)
    path, first = path if isinstance(path, tuple) else (path, [0])
    told = [
        first[tree.number] + node
        for tree in explain(model, x).trees
        for node in [*(step.node for step in tree.steps), tree.leaf.node]
    ]
    assert sorted(told) == sorted(path.indices.tolist())


@each_model
def test_shares_of_the_columns_add_up_to_one(name):
    why = explain(*model_and_row(name))
    pushes = [abs(column.push) for column in why.features]
    assert sum(column.share for column in why.features) == pytest.approx(float(any(pushes)))
    assert pushes == sorted(pushes, reverse=True)
    assert [c.share * sum(pushes) for c in why.features] == pytest.approx(pushes)


@each_model
def test_a_dict_of_an_explanation_survives_json(name):
    why = explain(*model_and_row(name))
    told = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert told["totals"] == list(why.totals)
    assert len(told["trees"]) == len(why.trees)
    assert told["trees"][0]["leaf"]["node"] == why.trees[0].leaf.node


@pytest.mark.parametrize("name", ["linear tree", "soft linear forest", "linear forest regressor"])
@pytest.mark.parametrize("with_data", [False, True])
def test_contributions_in_linear_leaves_add_up_to_their_outputs(name, with_data):
    model, x = model_and_row(name)
    why = explain(model, x, data=rows_for(name)[:50] if with_data else None)
    for tree in why.trees:
        for output, terms in enumerate(tree.leaf.contributions):
            total = tree.leaf.bases[output] + math.fsum(part.amount for part in terms)
            assert total == pytest.approx(tree.leaf.outputs[output], rel=1e-5, abs=1e-5)
            plain = tree.leaf.intercepts[output] + sum(part.weight * part.value for part in terms)
            assert plain == pytest.approx(tree.leaf.outputs[output], rel=1e-5, abs=1e-5)


@given(trees_with_rows(min_rows=1, kinds=("constant",)))
@settings(max_examples=60, deadline=None)
def test_nodes_are_those_of_a_slow_walk(drawn):
    tree, X = drawn
    [told] = explain(as_regressor(tree), X[0]).trees
    walked = [*(step.node for step in told.steps), told.leaf.node]
    assert walked == path_of_row(tree, X[0])


def test_data_moves_the_base_and_keeps_score_and_side():
    model, x = model_and_row("tao_forest_classifier")
    plain, relative = explain(model, x), explain(model, x, data=rows()[:10])
    assert plain.is_relative
    assert relative.is_relative
    mean = rows()[:10].mean(axis=0)
    for before, after in zip(plain.trees, relative.trees, strict=True):
        for one, other in zip(before.steps, after.steps, strict=True):
            assert other.score == pytest.approx(one.score, abs=1e-9)
            assert (other.goes, other.bias) == (one.goes, one.bias)
            weights = {part.name: part.weight for part in one.contributions}
            at_mean = one.bias + sum(weights.get(f"x{j}", 0.0) * mean[j] for j in range(3))
            assert other.base == pytest.approx(at_mean, abs=1e-6)


def test_the_distance_is_that_from_the_hyperplane():
    [tree] = explain(as_classifier(diagonal_tree()), [0.0, 0.0]).trees
    assert tree.steps[0].distance == pytest.approx(1 / math.sqrt(2))
    [tree] = explain(
        as_classifier(diagonal_tree()), [0.0, 0.0], data=[[-3.0, -4.0], [3.0, 4.0]]
    ).trees
    assert tree.steps[0].distance == pytest.approx(1 / 5)


def test_a_split_reads_as_an_inequality():
    model = as_classifier(tree_of([({0: 2.0, 1: -0.5}, 1.0)], [[1, 0], [0, 1]]), ["no", "yes"])
    why = explain(model, [1.0, 2.0])
    assert why.trees[0].steps[0].text() == (
        "2*x0 - 0.5*x1 = 1 >= -1 -> right (by 2, 0.9701 from the hyperplane)"
    )
    assert str(why).splitlines()[:2] == [
        "TAOTreeClassifier says yes (1)",
        "of the typical row it says 1 for yes; the columns of this row add +0:",
    ]


def test_columns_that_are_not_written_are_counted():
    weights = {column: 1.0 + column for column in range(11)}
    model = as_classifier(tree_of([(weights, 0.5)], [[1, 0], [0, 1]]), ["no", "yes"])
    why = explain(model, [1.0] * 11)
    left_out = sum(feature.push for feature in why.features[8:])
    line = f"… 3 more columns, {left_out:+.3f}"
    assert f"  {line}" in str(why).splitlines()
    assert line in why._repr_html_()
    few = as_classifier(tree_of([({0: 1.0}, 0.5)], [[1, 0], [0, 1]]), ["no", "yes"])
    assert "more column" not in str(explain(few, [1.0]))


@pytest.mark.parametrize(
    ("weight", "bias", "value", "text"),
    [
        (1.0, -3.0, 4.0, "x0 = 4 >= 3 -> right (1 from the hyperplane)"),
        (1.0, -3.0, 2.0, "x0 = 2 < 3 -> left (1 from the hyperplane)"),
        (-2.0, 6.0, 2.0, "x0 = 2 <= 3 -> right (1 from the hyperplane)"),
        (-2.0, 6.0, 4.0, "x0 = 4 > 3 -> left (1 from the hyperplane)"),
    ],
)
def test_a_split_of_one_column_reads_as_a_bound(weight, bias, value, text):
    model = as_classifier(tree_of([({0: weight}, bias)], [[1, 0], [0, 1]]))
    assert explain(model, [value]).trees[0].steps[0].text() == text


def test_a_row_on_the_hyperplane_goes_right():
    [tree] = explain(as_classifier(diagonal_tree()), [0.5, 0.5]).trees
    assert tree.steps[0].goes == "right"
    assert tree.steps[0].score == 0


def test_a_tree_of_one_leaf_has_nothing_on_the_way():
    why = explain(fitted("tree of one leaf"), rows_for("tree of one leaf")[0])
    assert why.trees[0].steps == ()
    assert why.features == ()
    assert "says" in str(why)


@pytest.mark.parametrize(
    ("name", "combination"),
    [
        ("tree", "one tree"),
        ("hard forest", "hard vote"),
        ("soft forest", "soft vote"),
        ("samme", "weighted vote"),
        ("gradient boosting", "sum"),
        ("fao", "weighted sum"),
        ("forest regressor", "average"),
    ],
)
def test_the_combination_is_named(name, combination):
    assert explain(fitted(name), rows_for(name)[0]).combination == combination


def test_votes_of_the_trees_are_whole():
    why = explain(fitted("hard forest"), rows_for("hard forest")[0])
    assert all(sorted(tree.says) == [0, 0, 1] for tree in why.trees)
    assert why.prediction == why.output_names[why.output]


def frame_model():
    table = pd.DataFrame(rows(), columns=["a", "b", "c"])
    return TAOTreeClassifier(max_depth=2, random_state=0).fit(table, classes()), table


def test_every_container_of_a_row_gives_the_same_explanation():
    X = rows()
    model = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, classes())
    x = X[7]
    wanted = explain(model, x).to_dict()
    for given_row in (
        x[None, :],
        x.tolist(),
        [x.tolist()],
        sp.csr_matrix(x),
        sp.csc_array(x[None]),
    ):
        assert explain(model, given_row).to_dict() == wanted
    named, table = frame_model()
    wanted = explain(named, table.iloc[[7]]).to_dict()
    for given_row in (table.iloc[7], pl.from_pandas(table)[7:8]):
        assert explain(named, given_row).to_dict() == wanted


def test_one_hot_coordinates_are_summed_to_their_column():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"n": rng.normal(size=90), "job": rng.choice(["cook", "smith", "nun"], 90)}
    )
    y = (table["n"] + (table["job"] == "cook") > 0.5).astype(int)
    model = TAOTreeClassifier(max_depth=1, random_state=0).fit(table, y)
    step = explain(model, table.iloc[[0]]).trees[0].steps[0]
    of_job = [part for part in step.contributions if part.column == "job"]
    assert len(of_job) > 1
    assert step.by_column["job"] == pytest.approx(sum(part.amount for part in of_job))
    assert f"[{of_job[0].name}]" in step.text(max_terms=9)


def test_html_escapes_names_and_labels():
    table = pd.DataFrame(rows(), columns=["<script>alert(1)</script>", '"quoted"', "c&d"])
    labels = np.array(["<b>one</b>", "two", "three"])[classes()]
    model = TAOForestClassifier(2, max_depth=2, random_state=0).fit(table, labels)
    for number in range(4):
        html = explain(model, table.iloc[[number]])._repr_html_()
        assert "<script" not in html
        assert "<b>one" not in html
        assert "c&d" not in html
    assert "&lt;script&gt;" in html


def test_a_long_forest_is_cut_short():
    model, x = fitted("hard forest"), rows_for("hard forest")[0]
    text = explain(model, x).text(max_trees=2, max_terms=1)
    assert text.count("\ntree ") == 2
    assert "… 4 more trees" in text
    assert "more = " in text


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 5)), "x has 2 rows; give one row"),
        (np.zeros((0, 5)), "x has 0 rows"),
        (np.zeros((1, 1, 5)), "x has shape"),
        (np.zeros(4), "x has 4 columns, the model was fitted to 5"),
        ([0, 0, np.inf, 0, 0], "infinity"),
    ],
)
def test_rows_that_are_none_are_refused(x, message):
    with pytest.raises(ValueError, match=message):
        explain(fitted("tree"), x)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="LogisticRegression is no tree or forest of spinney"):
        explain(LogisticRegression(), [0.0])
    with pytest.raises(NotFittedError):
        explain(TAOTreeClassifier(), [0.0])
    with pytest.raises(TypeError, match="x is of type int"):
        explain(fitted("tree"), 3)


def test_explain_is_no_package_of_the_same_name():
    assert callable(spinney.explain)
    assert importlib.util.find_spec("spinney.explain") is None
