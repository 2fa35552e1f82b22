"""The grower: any split leads to pure leaves, and each split is what its paper says."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_classification, make_regression

from spinney.algorithms.grow import SPLITS, CO2Options, GrowOptions, grow_tree
from spinney.data import SCALE_OF_RANGE, as_rows, classification_problem, regression_problem
from spinney.tree.route import apply, decision_path, outputs
from tests import reference
from tests.strategies import LabelledRows, classification_rows, regression_rows, seeds

KINDS = ["dense", "sparse", "bytes"]
FAST = {"co2": CO2Options(max_epochs=5), "max_epochs": 5, "n_restarts": 1, "n_jumps": 1}

all_splits = pytest.mark.parametrize("split", SPLITS)


def options(split="axis", **values):
    return GrowOptions(split=split, **(FAST | values))


def classes_of(rows):
    X, codes, weights = rows
    return classification_problem(X, codes, int(codes.max()) + 1, weights)


def numbers_of(rows):
    return regression_problem(*rows)


def same_targets_for_same_rows(rows):
    """Rows that are alike get the target of the first of them."""
    _, first, which = np.unique(rows.X, axis=0, return_index=True, return_inverse=True)
    return rows._replace(y=rows.y[first][which.ravel()])


def labelled_rows(kind="dense", n_rows=150):
    """Rows that the core holds as floats, as CSR or as bytes."""
    X, y = make_classification(n_rows, 8, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
    rng = np.random.default_rng(0)
    if kind == "sparse":
        wide = np.hstack([X, np.zeros((n_rows, 40))])
        X = np.where(rng.random(wide.shape) < 0.2, wide, 0)
    if kind == "bytes":
        steps = np.clip(np.round(128 + 20 * X), 0, 255)
        X = np.hstack([steps, rng.integers(0, 256, (n_rows, 60))])
    weights = rng.choice([0.5, 1.0, 2.0], n_rows)
    rows = LabelledRows(X.astype(np.float32), y.astype(np.int32), weights)
    return same_targets_for_same_rows(rows)  # sparse rows without any entry are alike


def as_numbers(rows):
    """The same rows with two numbers to predict."""
    targets = np.column_stack([rows.y, rows.X.sum(axis=1)]).astype(np.float64)
    return rows._replace(y=targets)


def reached(tree, problem):
    """Leaf number of each row, by the walk that predicts."""
    return tree.leaf_index[apply(tree, problem.rows)]


# --- leaves --------------------------------------------------------------------------------------


@all_splits
@settings(max_examples=12)
@given(classification_rows(), seeds())
def test_distinct_rows_are_predicted_perfectly(split, rows, seed):
    rows = same_targets_for_same_rows(rows)
    problem = classes_of(rows)
    tree = grow_tree(problem, options(split, seed=seed)).check()
    assert np.array_equal(outputs(tree, problem.rows), np.eye(problem.n_classes)[rows.y])


@all_splits
@settings(max_examples=12)
@given(regression_rows(), seeds())
def test_numbers_of_distinct_rows_are_predicted_perfectly(split, rows, seed):
    rows = same_targets_for_same_rows(rows)
    problem = numbers_of(rows)
    tree = grow_tree(problem, options(split, seed=seed)).check()
    assert outputs(tree, problem.rows) == pytest.approx(rows.y, abs=1e-12)


@all_splits
@settings(max_examples=12)
@given(classification_rows(), st.integers(1, 3), st.integers(2, 8), seeds())
def test_leaves_partition_the_rows_and_hold_their_fractions(split, rows, depth, least, seed):
    problem = classes_of(rows)
    tree = grow_tree(
        problem, options(split, max_depth=depth, min_samples_split=least, seed=seed)
    ).check()
    leaves = reached(tree, problem)
    assert set(leaves) == set(range(tree.n_leaves))
    for leaf in range(tree.n_leaves):
        own = leaves == leaf
        totals = np.bincount(rows.y[own], rows.sample_weight[own], minlength=problem.n_classes)
        assert tree.leaf_values[leaf] == pytest.approx(totals / totals.sum())


@all_splits
@settings(max_examples=12)
@given(regression_rows(), st.integers(1, 3), seeds())
def test_leaves_hold_the_means_of_their_rows(split, rows, depth, seed):
    problem = numbers_of(rows)
    tree = grow_tree(problem, options(split, max_depth=depth, seed=seed)).check()
    leaves = reached(tree, problem)
    assert set(leaves) == set(range(tree.n_leaves))
    for leaf in range(tree.n_leaves):
        own = leaves == leaf
        mean = np.average(rows.y[own], axis=0, weights=rows.sample_weight[own])
        assert tree.leaf_values[leaf] == pytest.approx(mean, abs=1e-12)


@all_splits
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_predicted_as_they_were_grown_however_they_are_held(split, kind):
    """Training may read CSR or bytes, a prediction floats: rows must reach the same leaves."""
    rows = labelled_rows(kind)
    problem = classes_of(rows)
    tree = grow_tree(problem, options(split, seed=3)).check()
    said = outputs(tree, as_rows(rows.X))
    assert np.array_equal(said, outputs(tree, problem.rows))
    assert np.array_equal(said, np.eye(3)[rows.y])


def test_rows_that_are_alike_share_a_leaf_of_their_fractions():
    X = np.array([[1.0, 2.0]] * 4 + [[3.0, 0.0]] * 2, dtype=np.float32)
    rows = LabelledRows(X, np.array([0, 1, 1, 1, 0, 0], dtype=np.int32), np.ones(6))
    for split in SPLITS:
        tree = grow_tree(classes_of(rows), options(split))
        assert tree.n_leaves == 2
        assert outputs(tree, as_rows(X))[0].tolist() == [0.25, 0.75]


@all_splits
def test_constant_columns_and_one_row_give_one_leaf(split):
    for X, y in ((np.ones((6, 3)), [0, 1, 0, 1, 1, 1]), (np.ones((1, 2)), [0])):
        codes = np.array(y, dtype=np.int32)
        rows = LabelledRows(X.astype(np.float32), codes, np.ones(len(X)))
        tree = grow_tree(classes_of(rows), options(split)).check()
        assert tree.n_nodes == 1
        assert tree.leaf_values[0] == pytest.approx(np.bincount(codes) / len(codes))


# --- limits --------------------------------------------------------------------------------------


@all_splits
def test_limits_of_growth_are_kept(split):
    rows = labelled_rows()
    problem = classes_of(rows)
    full = grow_tree(problem, options(split))
    assert full.max_depth > 3
    assert grow_tree(problem, options(split, max_depth=3)).max_depth == 3
    assert grow_tree(problem, options(split, max_depth=1000)).same_as(full)
    tree = grow_tree(problem, options(split, min_samples_split=30))
    assert (reference.reach(tree, rows.X)[tree.split_nodes] >= 30).all()
    assert grow_tree(problem, options(split, min_samples_split=1000)).n_nodes == 1


# --- the best column -----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@settings(max_examples=20)
@given(classification_rows(max_rows=20), seeds())
def test_every_split_is_the_best_of_all_columns(criterion, rows, seed):
    tree = grow_tree(classes_of(rows), options(criterion=criterion, seed=seed))
    expect_best_columns(tree, rows, criterion)


@settings(max_examples=20)
@given(regression_rows(max_rows=20), seeds())
def test_every_split_of_numbers_is_the_best_of_all_columns(rows, seed):
    expect_best_columns(grow_tree(numbers_of(rows), options(seed=seed)), rows, "squared_error")


def expect_best_columns(tree, rows, criterion):
    for node, reached in enumerate(reference.decision_path(tree, rows.X).T):
        own = reached > 0
        X, y, weights = rows.X[own], rows.y[own], rows.sample_weight[own]
        best = reference.best_column_cut(X, y, weights, criterion)
        if tree.left[node] < 0:
            assert best is None or (y == y[0]).all()
            continue
        goes_right = np.array([reference.score(tree, node, x) >= 0 for x in X])
        assert reference.split_cost(goes_right, y, weights, criterion) == pytest.approx(best[0])


@pytest.mark.parametrize("criterion", ["entropy", "gini", "squared_error"])
def test_tree_of_nodes_without_ties_is_that_of_plain_recursion(criterion):
    """Small nodes often have several columns that part them perfectly; large ones have not."""
    rows = labelled_rows()
    rows = rows._replace(sample_weight=np.random.default_rng(0).uniform(1, 2, 150))
    if criterion == "squared_error":
        rows = as_numbers(rows)
        tree = grow_tree(numbers_of(rows), options(min_samples_split=20))
    else:
        tree = grow_tree(classes_of(rows), options(criterion=criterion, min_samples_split=20))
    expected = reference.grow_axis_tree(rows.X, rows.y, rows.sample_weight, criterion, 20)
    leaves = tree.leaf_index[apply(tree, as_rows(rows.X))]
    found = {tuple(np.flatnonzero(leaves == leaf).tolist()) for leaf in range(tree.n_leaves)}
    assert len(found) > 8
    assert found == expected


def test_few_candidates_are_drawn_anew_at_each_node():
    tree = grow_tree(classes_of(labelled_rows()), options(n_candidates=1))
    assert (np.diff(tree.split_indptr) <= 1).all()
    assert len(set(tree.split_indices.tolist())) == 8


# --- Ho's splits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [2, 7, 100])
@pytest.mark.parametrize("seed", range(4))
def test_central_axis_of_the_root_is_that_of_the_paper(n_steps, seed):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(60, 5)) * [1, 20, 0.1, 3, 1] + [0, 5, 0, -9, 1]).astype(np.float32)
    rows = LabelledRows(X, rng.integers(4, size=60).astype(np.int32), rng.choice([1.0, 2.0], 60))
    tree = grow_tree(classes_of(rows), options("central_axis", n_steps=n_steps, max_depth=1))
    width = np.ptp(X.astype(np.float64), axis=0)
    axis, stop = reference.central_axis_split(X / width, rows.y, rows.sample_weight, n_steps)
    assert tree.split_indices.tolist() == list(range(5))
    assert tree.split_weights == pytest.approx(axis / width, rel=1e-5)
    assert -tree.bias[0] == pytest.approx(stop, abs=1e-5)
    goes_right = X / width @ axis >= stop
    assert np.array_equal(apply(tree, as_rows(X)) == tree.right[0], goes_right)


def test_central_axis_takes_the_middle_of_equal_stops():
    X = np.array([[0.0], [0.0], [8.0], [8.0]], dtype=np.float32)
    rows = LabelledRows(X, np.array([0, 0, 1, 1], dtype=np.int32), np.ones(4))
    tree = grow_tree(classes_of(rows), options("central_axis", n_steps=8))
    assert -tree.bias[0] / tree.split_weights[0] == pytest.approx(4)


def test_classes_whose_means_meet_are_parted_by_a_column():
    X = np.array([[-1, -1], [1, 1], [-1, 1], [1, -1]], dtype=np.float32)
    rows = LabelledRows(X, np.array([0, 0, 1, 1], dtype=np.int32), np.ones(4))
    for split in ("central_axis", "perceptron"):
        tree = grow_tree(classes_of(rows), options(split))
        assert tree.n_leaves == 4
        assert np.array_equal(outputs(tree, as_rows(X)), np.eye(2)[rows.y])


@pytest.mark.parametrize("seed", range(5))
def test_perceptron_parts_the_sets_of_the_farthest_classes(seed):
    """Blobs far apart along a line: the two sets can be parted, so they are."""
    rng = np.random.default_rng(seed)
    line = rng.normal(size=4)
    centres = np.array([-9.0, -5.0, 4.0, 10.0])[:, None] * line / np.linalg.norm(line)
    X, y = make_blobs([30, 20, 10, 40], 4, centers=centres, cluster_std=0.3, random_state=seed)
    rows = LabelledRows(X.astype(np.float32), y.astype(np.int32), np.ones(100))
    width = np.ptp(rows.X.astype(np.float64), axis=0)
    sides = reference.perceptron_sets(rows.X / width, rows.y, rows.sample_weight)
    tree = grow_tree(classes_of(rows), options("perceptron", max_depth=1, max_epochs=50))
    goes_right = apply(tree, as_rows(rows.X)) == tree.right[0]
    assert np.array_equal(goes_right, np.array([sides[label] > 0 for label in rows.y]))


# --- other oblique splits ------------------------------------------------------------------------


def test_probes_are_differences_of_two_columns():
    rows = labelled_rows()
    tree = grow_tree(classes_of(rows), options("probes", max_depth=4))
    widths = np.ptp(rows.X, axis=0)
    for node in tree.split_nodes:
        (a, v), (b, w) = reference.split_terms(tree, node)
        assert v * widths[a] == pytest.approx(-w * widths[b], rel=1e-5)


@pytest.mark.parametrize("most_columns", [1, 3, 50])
def test_projections_are_signed_sums_of_a_few_columns(most_columns):
    rows = labelled_rows()
    tree = grow_tree(
        classes_of(rows), options("projections", most_columns=most_columns, max_depth=5)
    )
    sizes = np.diff(tree.split_indptr)[tree.split_nodes]
    assert sizes.max() <= min(most_columns, 8)
    assert most_columns == 1 or len(set(sizes)) > 1
    scaled = np.abs(tree.split_weights * np.ptp(rows.X, axis=0)[tree.split_indices])
    assert scaled == pytest.approx(np.ones(len(scaled)), rel=1e-5)


@pytest.mark.parametrize("split", ["ridge", "lda", "logistic"])
def test_linear_models_use_no_more_columns_than_drawn(split):
    tree = grow_tree(classes_of(labelled_rows()), options(split, n_candidates=3, max_depth=4))
    sizes = np.diff(tree.split_indptr)[tree.split_nodes]
    assert sizes.max() == 3
    assert len(set(tree.split_indices.tolist())) > 3


@pytest.mark.parametrize("split", ["oc1", "ridge", "lda", "logistic", "co2", "perceptron"])
def test_oblique_splits_part_what_no_column_does(split):
    rng = np.random.default_rng(0)
    along, across = 4 * rng.normal(size=300), rng.uniform(0.3, 1, 300)
    y = (np.arange(300) % 2).astype(np.int32)
    across = np.where(y, across, -across)
    X = np.column_stack([along + across, along - across]).astype(np.float32)
    co2 = CO2Options(learning_rate=0.1, max_epochs=200)
    tree = grow_tree(
        classes_of(LabelledRows(X, y, np.ones(300))),
        options(split, max_depth=1, co2=co2, max_epochs=50),
    )
    assert (outputs(tree, as_rows(X)).argmax(axis=1) == y).mean() > 0.95


# --- CO2 -----------------------------------------------------------------------------------------


def hyperplane_in_scaled_space(tree, node, mean, unit):
    """Weights and bias for columns about their means in some unit."""
    w = np.zeros(tree.n_features)
    for column, weight in reference.split_terms(tree, node):
        w[column] = float(weight)
    return w * unit, tree.bias[node] + w @ mean


@pytest.mark.parametrize("scale", ["range", "deviation"])
@pytest.mark.parametrize("max_norm", [0.1, 10.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_length_of_a_co2_split_is_kept(kind, max_norm, scale):
    problem = classes_of(labelled_rows(kind))
    unit = problem.scale / SCALE_OF_RANGE if scale == "range" else problem.deviation
    co2 = CO2Options(max_norm=max_norm, max_epochs=20, learning_rate=0.1)
    tree = grow_tree(problem, options("co2", scale=scale, co2=co2))
    used = problem.scale > 0
    reached = decision_path(tree, problem.rows).toarray().astype(bool)
    for node in tree.split_nodes:
        # About the mean of the rows of the node, where rows are not sparse.
        mean = problem.mean
        if not problem.rows.is_sparse:
            here = reached[:, node]
            weights = problem.sample_weight[here]
            mean = np.average(problem.matrix[here], axis=0, weights=weights)
        w, bias = hyperplane_in_scaled_space(tree, node, mean, np.where(used, unit, 0))
        is_column = len(reference.split_terms(tree, node)) == 1  # where CO2 parts nothing
        assert is_column or w @ w + bias**2 <= max_norm * (1 + 1e-4)


def least_bound(scores, y):
    """CO2's bound with the best of some predictors in the two leaves."""
    shares = [np.array([1 - p, p]) for p in (0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98)]
    bounds = []
    for left, right in product(shares, shares):
        losses = reference.log_losses(left, y), reference.log_losses(right, y)
        bound = reference.co2_bound(scores, *losses)
        assert bound >= np.where(scores < 0, *losses).sum() - 1e-9
        assert reference.co2_bound(2 * scores, *losses) <= bound + 1e-9
        bounds.append(bound)
    return min(bounds)


def test_co2_lowers_its_bound_from_the_best_column():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 6)).astype(np.float32)
    y = (X @ [1, -1, 1, 1, -1, 1] + 0.3 * rng.normal(size=200) > 0).astype(np.int32)
    problem = classes_of(LabelledRows(X, y, np.ones(200)))
    bounds = []
    for split in ("axis", "co2"):
        tree = grow_tree(problem, options(split, scale="deviation", max_depth=1, co2=CO2Options()))
        w, bias = hyperplane_in_scaled_space(tree, 0, problem.mean, problem.deviation)
        scores = (X - problem.mean) / problem.deviation @ w + bias
        bounds.append(least_bound(scores * np.sqrt(10.0 / (w @ w + bias**2)), y))
    assert bounds[1] < 0.7 * bounds[0]


def test_most_passes_are_kept_however_long_a_tangent_is():
    problem = classes_of(labelled_rows())
    trees = [
        grow_tree(problem, options("co2", co2=CO2Options(max_epochs=4, refresh_epochs=passes)))
        for passes in (4, 5, 10**12)
    ]
    assert trees[0].same_as(trees[1])
    assert trees[0].same_as(trees[2])


def test_options_of_co2_reach_the_core():
    problem = classes_of(labelled_rows())
    changes = {"max_norm": 1.0, "learning_rate": 0.1, "batch_size": 7, "momentum": 0.5,
               "refresh_epochs": 2, "relabel_epochs": 5, "max_epochs": 61, "tol": 0.5}  # fmt: skip
    plain = grow_tree(problem, options("co2", co2=CO2Options(max_epochs=60)))
    for name, value in changes.items():
        co2 = replace(CO2Options(max_epochs=60), **{name: value})
        assert not grow_tree(problem, options("co2", co2=co2)).same_as(plain), name


def test_rows_on_the_wrong_side_lead_away_from_a_column_of_two_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (500, 11)).astype(np.float32)
    y = (X.sum(axis=1) > 5).astype(np.int32)
    problem = classes_of(LabelledRows(X, y, np.ones(500)))

    def accuracy(relabel_epochs):
        co2 = CO2Options(max_norm=100.0, learning_rate=0.01, relabel_epochs=relabel_epochs)
        tree = grow_tree(problem, options("co2", max_depth=1, co2=co2))
        return (outputs(tree, problem.rows).argmax(axis=1) == y).mean()

    assert accuracy(0) < 0.75  # the column it started from
    assert accuracy(25) > 0.95


# --- judges --------------------------------------------------------------------------------------


def drawn_and_judges(has_classes, seed, n_rows=90):
    """A noisy task, of which a third of the rows was not drawn, and the weights of those rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32)
    scores = X @ [1.0, 1.0, 0.0, 0.0, 0.0] + rng.normal(size=n_rows)
    weights = rng.choice([0.5, 1.0, 2.0], n_rows)
    is_drawn = rng.random(n_rows) < 2 / 3
    drawn, judges = np.where(is_drawn, weights, 0.0), np.where(is_drawn, 0.0, weights)
    if has_classes:
        codes = np.digitize(scores, [-1.0, 1.0]).astype(np.int32)
        return classification_problem(X, codes, 3, drawn), judges
    return regression_problem(X, scores[:, None], drawn), judges


def judged_by_hand(problem, tree, judges):
    """Loss of the judges in the two leaves of a stump, shrunk towards its root."""
    leaf = apply(tree, problem.rows)
    y = problem.classes if problem.n_classes else problem.targets[:, 0]
    return sum(
        reference.judged_leaf_loss(
            y, problem.sample_weight, leaf == side, np.where(leaf == side, judges, 0.0),
            problem.n_classes,
        )
        for side in np.unique(leaf)
    )  # fmt: skip


@pytest.mark.parametrize("has_classes", [True, False])
def test_judges_take_the_column_where_it_serves_them_better(has_classes):
    n_columns = 0
    for seed in range(30):
        problem, judges = drawn_and_judges(has_classes, seed)
        stump = {"max_depth": 1, "n_candidates": 2, "seed": seed, "co2": CO2Options()}
        column = grow_tree(problem, options("axis", **stump))
        optimised = grow_tree(problem, options("co2", **stump))
        chosen = grow_tree(problem, options("co2", **stump), judge_weights=judges)
        losses = [judged_by_hand(problem, tree, judges) for tree in (column, optimised)]
        is_column = losses[0] < losses[1]
        assert chosen.same_as(column if is_column else optimised)
        n_columns += is_column
    assert 3 <= n_columns <= 27


def test_judges_judge_only_the_nodes_that_they_reach():
    n_looks = 0
    for seed in range(20):
        problem, judges = drawn_and_judges(True, seed)
        values = {"max_depth": 2, "seed": seed, "n_candidates": 2}
        tree = grow_tree(problem, options("co2", **values), judge_weights=judges)
        reached = decision_path(tree, problem.rows).toarray().astype(bool)
        for child in {int(tree.left[0]), int(tree.right[0])} & set(tree.split_nodes.tolist()):
            here = np.where(reached[:, child], judges, 0.0)
            other = grow_tree(problem, options("co2", **values), judge_weights=here)
            is_same_root = reference.split_terms(other, 0) == reference.split_terms(tree, 0)
            if is_same_root and other.left[child] >= 0:
                n_looks += 1
                assert reference.split_terms(other, child) == reference.split_terms(tree, child)
    assert n_looks > 10


@all_splits
def test_no_judges_and_judges_without_weight_change_nothing(split):
    problem = classes_of(labelled_rows())
    plain = grow_tree(problem, options(split))
    for judges in (np.zeros(0), np.zeros(150)):
        assert grow_tree(problem, options(split), judge_weights=judges).same_as(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_judged_trees_are_the_same_for_any_number_of_threads(kind):
    problem = classes_of(labelled_rows(kind))
    judges = np.random.default_rng(0).integers(0, 2, 150).astype(np.float64)
    problem = replace(problem, sample_weight=problem.sample_weight * (judges == 0))
    one, two = (
        grow_tree(problem, options("co2", n_threads=n), judge_weights=judges) for n in (1, 3)
    )
    assert one.same_as(two)
    assert not one.same_as(grow_tree(problem, options("co2")))


def test_weights_of_judges_that_do_not_belong_to_the_rows_are_refused():
    with pytest.raises(ValueError, match="weights of judges must be one for each row, or none"):
        grow_tree(classes_of(labelled_rows()), options("co2"), judge_weights=np.ones(3))


# --- weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["axis", "central_axis"])
@settings(max_examples=40)
@given(classification_rows(), seeds(), st.data())
def test_weight_k_equals_the_row_repeated(split, rows, seed, data):
    counts = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(rows.X), max_size=len(rows.X)))
    )
    weighted = classes_of(rows._replace(sample_weight=counts * 1.0))
    X, y = np.repeat(rows.X, counts, axis=0), np.repeat(rows.y, counts)
    repeated = classes_of(LabelledRows(X, y, np.ones(len(X))))
    assume(weighted.rows.is_sparse == repeated.rows.is_sparse)
    assert grow_tree(weighted, options(split, seed=seed)).same_as(
        grow_tree(repeated, options(split, seed=seed))
    )


@all_splits
@pytest.mark.parametrize("has_classes", [True, False])
def test_rows_of_weight_zero_leave_no_trace(split, has_classes):
    rows = labelled_rows()
    kept = np.arange(150) % 3 > 0
    make = classes_of if has_classes else numbers_of
    rows = rows if has_classes else as_numbers(rows)
    without = make(LabelledRows(rows.X[kept], rows.y[kept], rows.sample_weight[kept]))
    whole = make(rows._replace(sample_weight=rows.sample_weight * kept))
    whole = replace(
        whole, mean=without.mean, deviation=without.deviation, target_scale=without.target_scale
    )
    assert np.array_equal(whole.scale, without.scale)
    assert grow_tree(whole, options(split)).same_as(grow_tree(without, options(split)))


@pytest.mark.parametrize("unit", [1e-30, 1e-3, 1e30])
@pytest.mark.parametrize("split", [split for split in SPLITS if split != "co2"])
def test_unit_of_the_weights_changes_no_leaf(split, unit):
    """CO2 has a prior of some rows in its leaves and may differ."""
    rows = labelled_rows()
    unit = 2.0 ** round(np.log2(unit))  # exact, so that nothing but the unit differs
    trees = [
        grow_tree(classes_of(rows._replace(sample_weight=rows.sample_weight * u)), options(split))
        for u in (1.0, unit)
    ]
    one, other = (apply(tree, as_rows(rows.X)) for tree in trees)
    assert np.array_equal(one, other)


# --- the same tree, bit for bit ------------------------------------------------------------------


@all_splits
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_bit(split, kind):
    rows = labelled_rows(kind)
    problem = classes_of(rows)
    one = grow_tree(problem, options(split, max_depth=5))
    for n_threads in (2, 5):
        other = grow_tree(problem, options(split, max_depth=5, n_threads=n_threads))
        assert one.same_as(other)


@pytest.mark.parametrize("split", [split for split in SPLITS if split != "central_axis"])
def test_seed_decides_the_tree(split):
    problem = classes_of(labelled_rows())
    trees = [grow_tree(problem, options(split, seed=s, n_candidates=3)) for s in (1, 1, 2)]
    assert trees[0].same_as(trees[1])
    assert not trees[0].same_as(trees[2])


def test_copied_problem_gives_the_same_tree():
    for kind in KINDS:
        problem = classes_of(labelled_rows(kind))
        again = pickle.loads(pickle.dumps(problem))
        assert grow_tree(problem, options("co2")).same_as(grow_tree(again, options("co2")))


@all_splits
def test_bytes_and_floats_give_the_same_tree(split):
    rows = labelled_rows("bytes", n_rows=600)
    problem = classes_of(rows)
    floats = replace(problem, rows=as_rows(rows.X))
    assert type(problem.rows) is type(floats.rows)
    few = {"max_depth": 3, "n_candidates": 10, "n_restarts": 0}
    assert grow_tree(problem, options(split, **few)).same_as(
        grow_tree(floats, options(split, **few))
    )


# --- OC1 ------------------------------------------------------------------------------------------


def oc1_sizes(offset, **values):
    """Nodes of OC1 trees on two classes that overlap, and a third one far from both."""
    sizes = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(160, 4))
        y = (X @ rng.normal(size=4) + 0.3 * rng.normal(size=160) > 0).astype(np.int32)
        y[:40], X[:40] = 2, X[:40] + offset
        problem = classification_problem(X.astype(np.float32), y, 3, np.ones(160))
        found = grow_tree(problem, options("oc1", seed=seed, **{"n_restarts": 0, **values}))
        sizes.append(len(found.left))
    return np.mean(sizes)


def test_oc1_turns_about_the_middle_of_a_node():
    """Far rows move the mean of all, not that of the nodes to which they do not go."""
    assert oc1_sizes(100.0) < 1.15 * oc1_sizes(10.0)


def test_jumps_of_oc1_make_smaller_trees():
    assert oc1_sizes(10.0, n_jumps=40) < oc1_sizes(10.0, n_jumps=0)


# --- numbers -------------------------------------------------------------------------------------


@all_splits
def test_several_outputs_are_learned(split):
    X, Y = make_regression(200, 5, n_targets=3, random_state=0)
    problem = regression_problem(X.astype(np.float32), Y, np.ones(200))
    tree = grow_tree(problem, options(split, max_depth=5))
    error = ((outputs(tree, problem.rows) - Y) ** 2).sum() / ((Y - Y.mean(axis=0)) ** 2).sum()
    assert error < 0.6


@all_splits
def test_unit_of_the_targets_changes_no_split(split):
    X, Y = make_regression(80, 4, n_targets=2, random_state=0)
    X = X.astype(np.float32)
    trees = [
        grow_tree(regression_problem(X, Y * unit, np.ones(80)), options(split))
        for unit in (1.0, 2.0**60, 2.0**-60)
    ]
    for tree, unit in zip(trees[1:], (2.0**60, 2.0**-60), strict=True):
        assert np.array_equal(tree.split_weights, trees[0].split_weights)
        assert np.array_equal(tree.leaf_values, trees[0].leaf_values * unit)


@all_splits
def test_outputs_that_cancel_are_parted(split):
    """Their sum says nothing, which is what splits into two groups look at."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    Y = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [-2.0, 2.0]])
    tree = grow_tree(regression_problem(X, Y, np.ones(4)), options(split))
    assert outputs(tree, as_rows(X)) == pytest.approx(Y)


# --- ends before the end -------------------------------------------------------------------------


class LeavingError(Exception):
    """What the callbacks of these tests raise."""


@pytest.mark.parametrize("error", [LeavingError, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("patience", [0, 5])
def test_what_the_callback_raises_ends_the_growth(error, n_threads, patience):
    calls = []

    def leave():
        calls.append(1)
        if len(calls) > patience:
            raise error("enough")
        time.sleep(0.06)  # longer than the core leaves between two looks

    with pytest.raises(error, match="enough"):
        grow_tree(classes_of(labelled_rows()), options(n_threads=n_threads), leave)
    assert len(calls) == patience + 1


@pytest.mark.parametrize(
    ("split", "changes"),
    [
        ("co2", {"co2": CO2Options(max_epochs=10**9, tol=0.0, learning_rate=1e-8)}),
        ("perceptron", {"max_epochs": 10**9}),
        ("oc1", {"n_restarts": 10**9}),
        ("probes", {"n_candidates": 10**9}),
    ],
)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_one_long_split_can_be_left(split, changes, n_threads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    problem = classes_of(LabelledRows(X, rng.integers(0, 3, 200).astype(np.int32), np.ones(200)))
    calls = []

    def leave():
        calls.append(1)
        if len(calls) > 2:
            raise LeavingError("enough")

    with pytest.raises(LeavingError, match="enough"):
        grow_tree(problem, options(split, max_depth=1, n_threads=n_threads, **changes), leave)


def test_quiet_callback_changes_nothing():
    problem = classes_of(labelled_rows())
    assert grow_tree(problem, options(), lambda: None).same_as(grow_tree(problem, options()))


def test_unknown_words_are_refused():
    problem = classes_of(labelled_rows())
    with pytest.raises(ValueError, match="split='diagonal' is not known"):
        grow_tree(problem, options("diagonal"))
    with pytest.raises(ValueError, match="criterion='chance' is not known; give entropy or gini"):
        grow_tree(problem, options(criterion="chance"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"sample_weight": np.ones(3)}, "targets and weights must agree with the rows"),
        ({"targets": np.zeros(3, dtype=np.int32)}, "targets and weights must agree"),
        ({"targets": np.full(150, 3, dtype=np.int32)}, "class code out of range"),
        ({"targets": np.full(150, -1, dtype=np.int32)}, "class code out of range"),
        ({"mean": np.zeros(2)}, "scaling must agree with the rows"),
        ({"sample_weight": np.zeros(150)}, "some weight must be positive"),
    ],
    ids=str,
)
def test_arrays_that_do_not_belong_together_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        grow_tree(replace(classes_of(labelled_rows()), **change), options())
