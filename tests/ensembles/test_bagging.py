"""Bagged trees: each is what its plan says, whoever grows it and whatever came before."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression

import spinney.ensembles.bagging as bagging
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import classification_problem, regression_problem, take_columns
from spinney.ensembles.bagging import BaggingPlan, bag_tree, bag_trees
from spinney.ensembles.plan import out_of_bag
from spinney.ensembles.tree_start import RandomStructure, Start, drawn_start
from spinney.tree.route import outputs
from spinney.tree.structure import complete_topology
from tests import reference
from tests.strategies import seeds

N_ROWS, N_COLUMNS, N_CLASSES = 150, 8, 3
KINDS = ["dense", "sparse", "bytes"]
OPTIONS = TAOOptions(max_iter=4)


def complete_start(problem, seed):
    del problem, seed  # the optimiser draws the hyperplanes
    return complete_topology(3)


def labelled_rows(kind="dense"):
    """Rows that the core holds as floats, as CSR or as bytes."""
    X, y = make_classification(
        N_ROWS, N_COLUMNS, n_informative=5, n_classes=N_CLASSES, flip_y=0.2, random_state=0
    )
    rng = np.random.default_rng(0)
    if kind == "sparse":
        wide = np.hstack([X, np.zeros((N_ROWS, 40))])
        X = np.where(rng.random(wide.shape) < 0.2, wide, 0)
    if kind == "bytes":
        steps = np.clip(np.round(128 + 20 * X), 0, 255)
        X = np.hstack([steps, rng.integers(0, 256, (N_ROWS, 60))])
    return X.astype(np.float32), y.astype(np.int32)


def a_problem(kind="dense", weights=None, drawn=slice(None)):
    X, y = labelled_rows(kind)
    weights = np.ones(N_ROWS) if weights is None else weights
    problem = classification_problem(X[drawn], y[drawn], N_CLASSES, weights[drawn])
    assert problem.rows.is_sparse == (kind == "sparse")
    return problem


def a_plan(n_trees=3, **values):
    defaults = {
        "seed": 5,
        "n_samples": 100,
        "with_replacement": False,
        "n_columns": 0,
        "is_global": False,
        "start": "own",
        "alphas": (0.1,) * n_trees,
    }
    return BaggingPlan(**(defaults | values))


def same_trees(one, two):
    pairs = zip(one, two, strict=True)
    return all(a.tree.same_as(b.tree) and a.unpruned.same_as(b.unpruned) for a, b in pairs)


# --- rows ----------------------------------------------------------------------------------------


@given(seeds(), st.integers(0, 50), st.integers(1, 40), st.booleans(), st.data())
def test_counts_of_rows_are_those_of_the_draw(seed, tree, n_rows, with_replacement, data):
    n_samples = data.draw(st.integers(1, n_rows))
    plan = a_plan(seed=seed, n_samples=n_samples, with_replacement=with_replacement)
    counts = plan.row_counts(tree, n_rows)
    assert counts.shape == (n_rows,)
    assert counts.dtype == np.float64
    assert counts.sum() == n_samples
    assert np.array_equal(counts, np.round(counts))
    assert with_replacement or counts.max() <= 1


def test_bootstrap_repeats_rows_and_leaves_others_out():
    counts = a_plan(n_samples=1000, with_replacement=True).row_counts(0, 1000)
    assert counts.max() > 1
    assert (counts == 0).mean() == pytest.approx(np.exp(-1), abs=0.05)


def test_all_rows_without_replacement_are_all_rows():
    assert np.array_equal(a_plan(n_samples=30).row_counts(2, 30), np.ones(30))


def test_rows_are_drawn_evenly():
    plan = a_plan(n_samples=30)
    total = sum(plan.row_counts(tree, 60) for tree in range(400))
    assert total.mean() == 200
    assert abs(total - 200).max() < 60  # six deviations of a fair coin


def test_samples_differ_between_trees_and_seeds():
    samples = [a_plan(seed=s).row_counts(t, N_ROWS).tobytes() for s in (1, 2) for t in range(5)]
    assert len(set(samples)) == 10


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_tree_learns_from_its_sample_alone(kind, with_replacement):
    """Bit for bit the tree on a table that holds the sample and nothing else, scaled alike."""
    plan = a_plan(with_replacement=with_replacement)
    whole = a_problem(kind, weights=np.random.default_rng(1).uniform(0.5, 2, N_ROWS))
    counts = plan.row_counts(1, N_ROWS)
    part = a_problem(kind, weights=whole.sample_weight * counts, drawn=counts > 0)
    part = replace(part, mean=whole.mean, scale=whole.scale, squared_length=whole.squared_length)
    alone = optimize_tree(
        part, complete_topology(3), replace(OPTIONS, seed=plan.tree_seed(1), alpha=0.1)
    )
    found = bag_tree(whole, complete_start, OPTIONS, plan, 1)
    assert found.tree.same_as(alone.tree)
    assert found.trace.objective == alone.trace.objective


# --- columns -------------------------------------------------------------------------------------


@given(seeds(), st.integers(0, 50), st.integers(2, 30), st.data())
def test_columns_of_a_tree_are_some_ascending_columns(seed, tree, n_features, data):
    n_columns = data.draw(st.integers(1, n_features))
    columns = a_plan(seed=seed, n_columns=n_columns).columns(tree, n_features)
    assert len(columns) == n_columns
    assert np.all(np.diff(columns) > 0)
    assert columns.min() >= 0
    assert columns.max() < n_features


@pytest.mark.parametrize("leaf", ["constant", "linear"])
@pytest.mark.parametrize("kind", KINDS)
def test_global_columns_give_the_tree_on_those_columns(kind, leaf):
    plan = a_plan(n_columns=5, is_global=True)
    options = replace(OPTIONS, leaf=leaf, alpha=0.1)
    problem = a_problem(kind)
    for number, found in enumerate(bag_trees(problem, complete_start, options, plan)):
        columns = plan.columns(number, problem.n_features)
        sample = replace(problem, sample_weight=plan.row_counts(number, N_ROWS))
        narrow = take_columns(sample, columns)
        alone = optimize_tree(
            narrow, complete_topology(3), replace(options, seed=plan.tree_seed(number))
        )
        found.tree.check()
        assert found.tree.n_features == problem.n_features
        assert set(found.tree.split_indices) | set(found.tree.leaf_indices) <= set(columns)
        here = outputs(found.tree, problem.rows)
        assert np.allclose(here, outputs(alone.tree, narrow.rows), rtol=1e-5, atol=1e-5)
        assert found.trace.objective == alone.trace.objective


def test_local_columns_differ_between_splits_and_trees():
    plan = a_plan(n_columns=2, alphas=(1e-3,) * 3)
    used = []
    for found in bag_trees(a_problem(), complete_start, OPTIONS, plan):
        tree = found.unpruned
        assert np.diff(tree.split_indptr).max() <= 2
        used.append([tuple(j for j, _ in reference.split_terms(tree, node))
                     for node in tree.split_nodes])  # fmt: skip
    assert all(len(set(tree_columns)) > 2 for tree_columns in used)
    assert used[0] != used[1]


# --- starts and penalties ------------------------------------------------------------------------


def roots_of_starts(monkeypatch, plan, start=complete_start):
    """Trees before the first sweep: an optimiser that is stopped at once."""
    seen = []

    def spy(problem, start, options, callback=None):
        seen.append((start, options))
        return optimize_tree(problem, start, options, callback)

    monkeypatch.setattr(bagging, "optimize_tree", spy)
    trees = list(bag_trees(a_problem(), start, OPTIONS, plan))
    return seen, trees


def test_own_starts_have_own_seeds(monkeypatch):
    seen, _ = roots_of_starts(monkeypatch, a_plan(start="own"))
    assert len({options.seed for _, options in seen}) == 3


def test_same_start_has_one_seed_and_other_rows(monkeypatch):
    seen, trees = roots_of_starts(monkeypatch, a_plan(start="same"))
    assert len({options.start_seed for _, options in seen}) == 1
    assert len({options.seed for _, options in seen}) == 3
    assert not trees[0].tree.same_as(trees[1].tree)
    _, alike = roots_of_starts(monkeypatch, a_plan(start="same", n_samples=N_ROWS))
    assert alike[0].tree.same_as(alike[1].tree)


INITS = ["supervised", "balanced", "random", "random_structure", RandomStructure(1, 5, 20), "cart"]


@pytest.mark.parametrize("init", INITS, ids=str)
@pytest.mark.parametrize("values", [{}, {"with_replacement": True}, {"n_columns": 2}], ids=str)
def test_same_start_is_one_tree_of_all_rows(monkeypatch, init, values):
    plan, start = a_plan(start="same", **values), Start(init, 4, "oblique", None)
    options = replace(OPTIONS, init=drawn_start(init))
    starts = []

    def spy(problem, start, options, callback=None):
        starts.append(start if init == "cart" else start.tree)
        return optimize_tree(problem, start, options, callback)

    monkeypatch.setattr(bagging, "optimize_tree", spy)
    for n_jobs in (1, 2):
        list(bag_trees(a_problem(), start, options, plan, n_jobs=n_jobs))
    assert len(starts) == 6
    assert all(tree.same_as(starts[0]) for tree in starts)
    on_all_rows = a_plan(start="same", n_samples=N_ROWS, **({"n_columns": 0} | values))
    list(bag_trees(a_problem(), start, options, on_all_rows))
    assert starts[-1].same_as(starts[0])


def test_same_start_keeps_to_the_number_of_columns():
    plan = a_plan(start="same", n_columns=2, alphas=(1e-3,) * 3)
    for found in bag_trees(a_problem(), complete_start, OPTIONS, plan):
        assert np.diff(found.unpruned.split_indptr).max() <= 2


def test_same_start_of_trees_on_different_columns_is_one_seed(monkeypatch):
    plan = a_plan(start="same", n_columns=4, is_global=True)
    seen, _ = roots_of_starts(monkeypatch, plan)
    assert all(isinstance(start, tuple) for start, _ in seen)
    assert len({options.start_seed for _, options in seen}) == 1


def test_previous_start_is_the_unpruned_tree_before(monkeypatch):
    seen, trees = roots_of_starts(monkeypatch, a_plan(start="previous"))
    assert isinstance(seen[0][0], tuple)
    for number in (1, 2):
        assert seen[number][0].same_as(trees[number - 1].unpruned)


def test_each_tree_has_its_own_penalty(monkeypatch):
    alphas = (0.01, 1.0, 100.0)
    seen, trees = roots_of_starts(monkeypatch, a_plan(start="same", alphas=alphas))
    assert tuple(options.alpha for _, options in seen) == alphas
    sizes = [len(found.tree.split_weights) for found in trees]
    assert sizes[0] > sizes[1] > sizes[2]


def test_random_structures_differ_between_trees():
    start = Start(RandomStructure(1, 5, 20), None, "oblique", None)
    trees = [found.unpruned for found in bag_trees(a_problem(), start, OPTIONS, a_plan())]
    assert len({tree.left.tobytes() for tree in trees}) == 3


# --- who grows the trees -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [{}, {"with_replacement": True}, {"n_columns": 2}, {"n_columns": 2, "is_global": True},
     {"start": "same"}, {"start": "previous"}],
    ids=str,
)  # fmt: skip
def test_number_of_jobs_changes_no_bit(values):
    plan = a_plan(**values)
    found = [
        list(bag_trees(a_problem(), complete_start, OPTIONS, plan, n_jobs=n)) for n in (1, 2, 8)
    ]
    assert same_trees(found[0], found[1])
    assert same_trees(found[0], found[2])


@pytest.mark.parametrize("start", ["own", "same", "previous"])
def test_trees_can_be_grown_in_parts(start):
    plan = a_plan(n_trees=4, start=start)
    whole = list(bag_trees(a_problem(), complete_start, OPTIONS, plan))
    last = whole[1].unpruned
    rest = list(bag_trees(a_problem(), complete_start, OPTIONS, plan, first=2, last_tree=last))
    assert same_trees(rest, whole[2:])


def test_no_tree_is_left_to_grow():
    assert list(bag_trees(a_problem(), complete_start, OPTIONS, a_plan(), first=3)) == []


def test_trees_come_one_by_one(monkeypatch):
    grown = []

    def count(*arguments, **options):
        grown.append(arguments[-1])
        return bag_tree(*arguments, **options)

    monkeypatch.setattr(bagging, "bag_tree", count)
    trees = bag_trees(a_problem(), complete_start, OPTIONS, a_plan(n_trees=6), n_jobs=1)
    next(trees)
    assert len(grown) < 6
    trees.close()


def test_problem_and_rows_survive_the_way_to_a_worker():
    for kind in KINDS:
        problem = a_problem(kind)
        copy = pickle.loads(pickle.dumps(problem))
        one = bag_tree(problem, complete_start, OPTIONS, a_plan(), 0)
        assert bag_tree(copy, complete_start, OPTIONS, a_plan(), 0).tree.same_as(one.tree)


# --- rows that trees did not see -----------------------------------------------------------------


@pytest.mark.parametrize("with_replacement", [False, True])
def test_out_of_bag_sums_are_those_of_plain_loops(with_replacement):
    plan = a_plan(n_samples=120, with_replacement=with_replacement)
    problem = a_problem()
    trees = tuple(found.tree for found in bag_trees(problem, complete_start, OPTIONS, plan))
    answers = [outputs(tree, problem.rows) for tree in trees]
    sums, counts = out_of_bag(trees, plan, N_ROWS, lambda tree: outputs(tree, problem.rows))
    drawn = [plan.row_counts(number, N_ROWS) for number in range(3)]
    expected = reference.out_of_bag(answers, drawn)
    assert np.array_equal(counts == 0, np.isnan(expected[:, 0]))
    assert np.array_equal(counts, sum(part == 0 for part in drawn))
    assert not sums[counts == 0].any()
    assert sums[counts > 0] / counts[counts > 0, None] == pytest.approx(expected[counts > 0])


def test_out_of_bag_values_of_a_regression_have_all_outputs():
    X, Y = make_regression(60, 4, n_targets=2, random_state=0)
    problem = regression_problem(X.astype(np.float32), Y, np.ones(60))
    plan = a_plan(n_samples=30)
    options = replace(OPTIONS, loss="squared_error")
    trees = tuple(found.tree for found in bag_trees(problem, complete_start, options, plan))
    sums, counts = out_of_bag(trees, plan, 60, lambda tree: outputs(tree, problem.rows))
    assert sums.shape == (60, 2)
    assert counts.sum() == 3 * 30
