"""The least change: known distances, brute force, and what every estimator must keep."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import TAOTreeClassifier, nearest_change
from spinney.data import as_rows
from spinney.tree.route import apply, outputs
from tests.contracts.served import SERVED, fitted, rows_for
from tests.inspection.explanations.trees import (
    as_classifier,
    as_regressor,
    as_voting_forest,
    diagonal_tree,
    tree_of,
    with_linear_leaves,
)
from tests.reference import least_change
from tests.strategies import quarters, trees

FINE = sorted(set(SERVED) - {"tree of one leaf", "wide tree", "wide linear tree"})
ONE_A_FAMILY = (
    "tree",
    "linear tree",
    "tree regressor",
    "hard forest",
    "soft linear forest",
    "linear forest regressor",
    "samme",
    "gradient boosting",
    "fao",
    "co2",
    "greedy regressor",
    "refined",
)
each_model = pytest.mark.parametrize("name", FINE)


def ask(name, number=3, **options):
    """A change of a row of a model, and both."""
    model, x = fitted(name), rows_for(name)[number]
    if not hasattr(model, "classes_"):
        options = {"target": (float(np.ravel(model.predict(x[None]))[0]) + 0.1, None), **options}
    return nearest_change(model, x, **{"scale": 1.0, "budget": 20.0, **options}), model, x


# --- worked out on paper ------------------------------------------------------------------------


def test_the_way_to_one_hyperplane_is_its_normal():
    change = nearest_change(as_classifier(diagonal_tree()), [0.0, 0.0], scale=1.0)
    assert change.is_exact
    assert change.cost == pytest.approx(1 / math.sqrt(2), rel=1e-5)
    np.testing.assert_allclose(change.changed, [0.5, 0.5], rtol=1e-5)


def test_the_scale_is_what_a_change_of_one_is():
    change = nearest_change(as_classifier(diagonal_tree()), [0.0, 0.0], scale=[1.0, 2.0])
    # The least a**2 + (b / 2)**2 with a + b = 1 is at b = 4 a.
    np.testing.assert_allclose(change.changed, [0.2, 0.8], rtol=1e-5)
    assert change.cost == pytest.approx(math.sqrt(0.2), rel=1e-5)


def test_data_give_the_scale():
    data = np.array([[-1.0, -2.0], [1.0, 2.0]])
    change = nearest_change(as_classifier(diagonal_tree()), [0.0, 0.0], data=data)
    np.testing.assert_allclose(change.changed, [0.2, 0.8], rtol=1e-5)


def test_l1_changes_the_column_that_pays_most():
    model = as_classifier(tree_of([({0: 1.0, 1: 2.0}, -1.0)], [[1, 0], [0, 1]]))
    change = nearest_change(model, [0.0, 0.0], scale=1.0, norm="l1")
    assert [one.column for one in change.changes] == ["x1"]
    assert change.cost == pytest.approx(0.5, rel=1e-5)


def test_a_corner_of_two_splits_is_reached():
    # Class 1 only where x0 >= 2 and x1 >= 1.
    tree = tree_of([({0: 1.0}, -2.0), ({1: 1.0}, -1.0)], [[1, 0], [1, 0], [0, 1]])
    change = nearest_change(as_classifier(tree), [0.0, 0.0], scale=1.0)
    np.testing.assert_array_equal(change.changed, [2.0, 1.0])
    assert change.cost == pytest.approx(math.sqrt(5))


def test_the_right_side_begins_on_the_boundary_and_the_left_below_it():
    model = as_classifier(tree_of([({0: 1.0}, -30.0)], [[1, 0], [0, 1]]))
    up = nearest_change(model, np.array([29]))
    assert up.changed.dtype.kind == "i"
    assert up.changed.tolist() == [30]
    down = nearest_change(model, np.array([30]))
    assert down.changed.tolist() == [29]
    float_down = nearest_change(model, np.array([30.0]))
    assert 29.99 < float_down.changed[0] < 30


def test_whole_numbers_may_be_asked_for_or_not():
    model = as_classifier(diagonal_tree())
    whole = nearest_change(model, [-0.5, 0.0], scale=[1.0, 3.0], integer=[1])
    assert whole.changed[1] == 1
    loose = nearest_change(model, np.array([0, 0]), scale=1.0, integer=[])
    np.testing.assert_allclose(loose.changed, [0.5, 0.5], rtol=1e-5)


def test_bounds_and_directions_turn_the_way():
    model = as_classifier(diagonal_tree())
    bounded = nearest_change(model, [0.0, 0.0], scale=1.0, bounds={0: (None, 0.25)})
    np.testing.assert_allclose(bounded.changed, [0.25, 0.75], rtol=1e-5)
    down = nearest_change(model, [0.0, 0.0], scale=1.0, directions={"x0": "down"})
    np.testing.assert_allclose(down.changed, [0.0, 1.0], rtol=1e-5)
    held = nearest_change(model, [0.0, 0.0], features=["x1"])
    assert [one.column for one in held.changes] == ["x1"]


def test_bounds_of_data_keep_a_row_among_them():
    data = np.array([[-9.0, -9.0], [0.25, 9.0], [0.1, 0.0]])
    change = nearest_change(
        as_classifier(diagonal_tree()), [0.0, 0.0], data=data, scale=1.0, bounds="data"
    )
    np.testing.assert_allclose(change.changed, [0.25, 0.75], rtol=1e-5)


def test_linear_leaves_are_parted_by_their_scores():
    # One leaf: class 1 where x0 + 2 x1 > 1, by scores 0 and x0 + 2 x1 - 1.
    tree = tree_of([({0: 1.0, 1: 1.0}, 100.0)], [[0, 0], [0, -1]])
    tree = with_linear_leaves(tree, [[0, 0], [0, 0], [0, 0], [1, 2]])
    change = nearest_change(as_classifier(tree), [0.0, 0.0], scale=1.0)
    assert change.is_exact
    np.testing.assert_allclose(change.changed, [0.2, 0.4], rtol=1e-4)


def test_a_number_of_linear_leaves_gets_into_the_interval():
    tree = tree_of([({0: 1.0, 1: 1.0}, 100.0)], [[0.0], [-1.0]])
    tree = with_linear_leaves(tree, [[0, 0], [3, 4]])
    change = nearest_change(as_regressor(tree), [0.0, 0.0], scale=1.0, target=(9.0, 11.0))
    assert change.is_exact
    assert change.cost == pytest.approx(2.0, rel=1e-5)
    assert 9 <= change.new_prediction <= 11


def test_the_class_to_reach_may_be_farther():
    tree = tree_of([({0: 1.0}, -1.0), ({0: 1.0}, -2.0)], np.eye(3))
    model = as_classifier(tree, ["low", "mid", "high"])
    assert nearest_change(model, [0.0]).new_prediction == "mid"
    far = nearest_change(model, [0.0], target="high")
    assert far.new_prediction == "high"
    assert far.changed[0] == pytest.approx(2.0, rel=1e-5)


# --- when there is none -------------------------------------------------------------------------


def test_no_change_is_needed_for_what_is_so_already():
    change = nearest_change(as_classifier(diagonal_tree()), [0.0, 0.0], target=0, scale=1.0)
    assert change.is_found
    assert change.cost == 0
    assert change.changes == ()
    np.testing.assert_array_equal(change.changed, [0.0, 0.0])


@pytest.mark.parametrize(
    "options",
    [
        {"bounds": {0: (0, 0.4), 1: (0, 0.4)}},
        {"directions": {0: "down", 1: "down"}},
        {"features": []},
    ],
    ids=["bounds", "directions", "no features"],
)
def test_no_change_exists_where_bounds_forbid_it(options):
    for model in (
        as_classifier(diagonal_tree()),
        as_voting_forest([diagonal_tree(), diagonal_tree(), diagonal_tree()]),
    ):
        change = nearest_change(model, [0.0, 0.0], scale=1.0, **options)
        assert not change.is_found
        assert change.is_exact
        assert change.changed is None
        assert change.cost == math.inf
        assert "no change" in str(change)


def test_a_model_of_one_class_has_no_other():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = TAOTreeClassifier(max_depth=1).fit(X, np.zeros(20))
    change = nearest_change(model, X[0], scale=1.0)
    assert not change.is_found
    assert change.is_exact
    assert "no other class" in change.reason


def test_a_tree_of_one_leaf_always_says_the_same():
    change = nearest_change(fitted("tree of one leaf"), np.zeros(5), scale=1.0)
    assert not change.is_found
    assert change.is_exact


def test_a_number_out_of_reach_is_not_found():
    change = nearest_change(
        as_regressor(tree_of([({0: 1.0}, 0.0)], [[1], [2]])), [1.0], target=(5, 9)
    )
    assert not change.is_found
    assert change.is_exact


# --- brute force --------------------------------------------------------------------------------


def judged(tree, x, goal, margin):
    values = tree.leaf_values[:, 0]
    return least_change(
        [tree], lambda leaves: goal(values[tree.leaf_index[leaves[0]]]), x, margin=margin
    )


@given(
    trees(kinds=("constant",), max_features=3, max_outputs=1, max_splits=5),
    st.lists(quarters, min_size=3, max_size=3),
)
@settings(max_examples=80, deadline=None)
def test_no_leaf_is_nearer_than_the_least_change(tree, values):
    x = np.array(values[: tree.n_features])
    change = nearest_change(as_regressor(tree), x, target=(0.5, None), scale=1.0)
    # Left sides are open, and leaves without an inside need not be found: between both judges.
    closed, inner = (judged(tree, x, lambda value: value >= 0.5, m) for m in (0.0, 1e-4))
    assert change.is_exact
    assert change.cost >= closed - 1e-5
    assert change.cost <= inner + 1e-5
    if change.is_found:
        native = as_rows(np.asarray(change.changed, dtype=np.float32)[None, :])
        assert outputs(tree, native)[0, 0] >= 0.5


@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("kind", ["constant", "linear"])
@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_a_grid_is_nearer(seed, kind, norm):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(200, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X.sum(axis=1) > 1)
    model = TAOTreeClassifier(max_depth=3, leaf=kind, random_state=seed).fit(X, y)
    ticks = np.linspace(-4, 4, 401)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    said = model.predict(grid)
    for x in X[:4]:
        change = nearest_change(model, x, scale=1.0, norm=norm)
        apart = np.abs(grid - x)
        costs = apart.sum(axis=1) if norm == "l1" else np.sqrt((apart**2).sum(axis=1))
        best = costs[said != model.predict(x[None])[0]].min()
        assert change.is_exact
        # No grid point is nearer, and the nearest is less than a cell farther.
        assert best - 0.04 <= change.cost <= best + 1e-5


@pytest.mark.parametrize("seed", range(3))
def test_whole_and_few_changes_are_the_least_of_all(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-6, 7, size=(150, 3))
    y = (X @ [1, -2, 1] + X[:, 0] * X[:, 1] // 3 > 0).astype(int)
    model = TAOTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    grid = np.stack(np.meshgrid(*[np.arange(-12, 13)] * 3), axis=-1).reshape(-1, 3)
    said = model.predict(grid)
    for x in X[:4]:
        is_other = said != model.predict(x[None])[0]
        costs = np.linalg.norm(grid - x, axis=1)
        assert nearest_change(model, x, scale=1.0).cost == pytest.approx(costs[is_other].min())
        is_few = np.count_nonzero(grid != x, axis=1) <= 1
        few = nearest_change(model, x, scale=1.0, max_changes=1)
        assert len(few.changes) == 1
        assert few.cost == pytest.approx(costs[is_other & is_few].min())


# --- every estimator ----------------------------------------------------------------------------


@each_model
def test_the_change_flips_the_prediction_of_the_model(name):
    change, model, x = ask(name)
    assert change.is_found
    before, after = model.predict(x[None]), model.predict(change.changed[None])
    if hasattr(model, "classes_"):
        assert before[0] != after[0]
        assert change.new_prediction == after[0]
    else:
        assert np.ravel(after)[0] >= np.ravel(before)[0] + 0.1
    assert change.cost == pytest.approx(np.linalg.norm(change.changed.astype(float) - x))
    assert change.changed.dtype == x.dtype


@pytest.mark.parametrize("name", ONE_A_FAMILY)
def test_bounds_directions_and_features_are_kept(name):
    x = rows_for(name)[8]
    bounds = {0: (float(x[0]) - 1.5, float(x[0]) + 1.5), 2: (None, float(x[2]) + 0.5)}
    change, model, x = ask(
        name, 8, bounds=bounds, directions={1: "up", 3: "down"}, features=[0, 1, 2, 3], norm="l1"
    )
    if not change.is_found:
        return
    moved = change.changed.astype(float) - x
    assert abs(moved[0]) <= 1.5 + 1e-6
    assert moved[2] <= 0.5 + 1e-6
    assert moved[1] >= 0
    assert moved[3] <= 0
    assert moved[4] == 0
    assert not np.array_equal(model.predict(change.changed[None]), model.predict(x[None]))


@pytest.mark.parametrize("name", ["hard forest", "fao", "forest regressor", "co2", "soft forest"])
def test_few_columns_change_in_forests_too(name):
    change, _, _ = ask(name, max_changes=1)
    assert len(change.changes) == 1


def test_ties_that_are_rejected_are_no_answer():
    change, model, x = ask("ho that rejects")
    assert change.new_prediction in model.classes_
    assert model.predict(change.changed[None])[0] != model.predict(x[None])[0]


@pytest.mark.parametrize("name", ["tree regressor of outputs", "forest regressor of outputs"])
def test_the_output_to_change_can_be_chosen(name):
    model, x = fitted(name), rows_for(name)[3]
    wanted = float(model.predict(x[None])[0, 1]) + 0.2
    change = nearest_change(model, x, scale=1.0, target=(wanted, None), output=1)
    assert model.predict(change.changed[None])[0, 1] >= wanted
    assert change.new_prediction[1] >= wanted


def test_the_same_question_has_the_same_answer():
    first, second = ask("co2")[0], ask("co2")[0]
    np.testing.assert_array_equal(first.changed, second.changed)


def test_sparse_rows_come_back_sparse():
    model, x = fitted("tree"), rows_for("tree")[3]
    change = nearest_change(model, sp.csr_matrix(x), scale=1.0)
    assert sp.isspmatrix_csr(change.changed)
    assert change.changed.shape == (1, 5)
    assert model.predict(change.changed)[0] != model.predict(x[None])[0]
    assert change.cost == pytest.approx(nearest_change(model, x, scale=1.0).cost, rel=1e-5)


def test_narrow_floats_stay_within_their_bounds():
    model, x = fitted("tree"), rows_for("tree")[3].astype(np.float16)
    bounds = {column: (float(x[column]), float(x[column]) + 0.7) for column in range(5)}
    change = nearest_change(model, x, scale=1.0, bounds=bounds)
    assert change.changed.dtype == np.float16
    assert (change.changed >= x).all()
    assert (change.changed.astype(float) <= x.astype(float) + 0.7).all()
    assert model.predict(change.changed[None])[0] != model.predict(x[None])[0]


def test_a_small_dtype_is_not_left():
    model = as_classifier(tree_of([({0: 1.0}, -200.0)], [[1, 0], [0, 1]]))
    assert not nearest_change(model, np.array([100], dtype=np.int8)).is_found
    assert nearest_change(model, np.array([100], dtype=np.int16)).changed.tolist() == [200]


# --- words --------------------------------------------------------------------------------------


def test_a_change_reads_as_a_list_of_changes():
    table = pd.DataFrame({"a": [0.0], "b": [0.0]})
    model = as_classifier(diagonal_tree(), ["no", "yes"])
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    change = nearest_change(model, table, scale=1.0)
    first, *rest = str(change).splitlines()
    assert first == "the smallest change from no to yes, of size 0.7071 (l2)"
    assert rest[0].strip().startswith("a: 0 -> 0.5")
    told = json.loads(json.dumps(change.to_dict(), allow_nan=False))
    assert told["changes"][0]["column"] == "a"
    assert told["new_prediction"] == "yes"


def test_html_of_a_change_is_escaped():
    model = as_classifier(diagonal_tree(), ["<i>no</i>", "yes"])
    model.feature_names_in_ = np.array(["<script>", "b"], dtype=object)
    change = nearest_change(model, pd.DataFrame([[0.0, 0.0]], columns=["<script>", "b"]), scale=1.0)
    html = change._repr_html_()
    assert "<script>" not in html
    assert "<i>" not in html
    assert "&lt;script&gt;" in html


# --- bad arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "2 numbers may change, but nothing says how"),
        ({"target": 7, "scale": 1.0}, ValueError, "target=7 is no class"),
        ({"scale": 0.0}, ValueError, "scale of 'x0' is 0.0; give a number above 0"),
        ({"scale": [1.0]}, ValueError, r"scale has shape \(1,\)"),
        ({"scale": {"z": 1.0}}, ValueError, "scale names the column 'z'"),
        ({"features": ["z"], "scale": 1.0}, ValueError, "features names the column 'z'"),
        ({"features": "x0", "scale": 1.0}, TypeError, "features='x0'; give a list"),
        ({"features": [5], "scale": 1.0}, ValueError, "features names the column 5"),
        ({"bounds": {0: 3}, "scale": 1.0}, ValueError, r"bounds\['x0'\]=3"),
        ({"bounds": {0: (3, 1)}, "scale": 1.0}, ValueError, "must not be above"),
        ({"bounds": [1], "scale": 1.0}, TypeError, "bounds is of type list"),
        ({"bounds": "data", "scale": 1.0}, ValueError, "without data"),
        ({"directions": {0: "left"}, "scale": 1.0}, ValueError, "'left'; give \"up\""),
        ({"norm": "l3", "scale": 1.0}, ValueError, "norm='l3'"),
        ({"max_changes": 0, "scale": 1.0}, ValueError, "max_changes=0"),
        ({"max_changes": True, "scale": 1.0}, ValueError, "max_changes=True"),
        ({"budget": 0, "scale": 1.0}, ValueError, "budget=0"),
    ],
)
def test_bad_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        nearest_change(as_classifier(diagonal_tree()), [0.0, 0.0], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "target=None of a regression; give the interval"),
        ({"target": 3.0}, "target=3.0 of a regression"),
        ({"target": (3, 1)}, "must not be above"),
        ({"target": (3, None), "output": 2}, "output=2; give the number of an output"),
    ],
)
def test_bad_targets_of_numbers_are_refused(options, message):
    model = as_regressor(tree_of([({0: 1.0}, 0.0)], [[1], [2]]))
    with pytest.raises(ValueError, match=message):
        nearest_change(model, [0.0], **options)


def test_several_rows_are_refused():
    with pytest.raises(ValueError, match="x has 2 rows; give one row"):
        nearest_change(as_classifier(diagonal_tree()), np.zeros((2, 2)), scale=1.0)


def test_routes_of_changed_rows_are_those_of_the_tree():
    tree = diagonal_tree()
    change = nearest_change(as_classifier(tree), [0.3, 0.1], scale=1.0)
    row = np.asarray(change.changed, dtype=np.float32)[None, :]
    assert apply(tree, as_rows(row))[0] == tree.right[0]
