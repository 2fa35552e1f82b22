"""Grown forests: each tree is what its plan says, and no two of Ho's share a subspace."""

from __future__ import annotations

import threading
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import spinney.ensembles.greedy as greedy
from spinney.algorithms.grow import GrowOptions, grow_tree
from spinney.data import classification_problem, take_columns
from spinney.ensembles.greedy import SubspacePlan, count_subspaces, grow_forest
from spinney.ensembles.plan import SamplePlan
from spinney.ensembles.stop import StoppedError
from spinney.tree.route import outputs
from tests.strategies import seeds

N_ROWS, N_COLUMNS = 120, 8
OPTIONS = GrowOptions(split="projections")


def a_problem(kind="dense"):
    X, y = make_classification(N_ROWS, N_COLUMNS, n_informative=5, n_classes=3, random_state=0)
    rng = np.random.default_rng(0)
    if kind == "sparse":
        wide = np.hstack([X, np.zeros((N_ROWS, 40))])
        X = np.where(rng.random(wide.shape) < 0.2, wide, 0)
    if kind == "bytes":
        X = np.hstack([np.clip(np.round(128 + 20 * X), 0, 255), rng.integers(0, 256, (N_ROWS, 60))])
    return classification_problem(X.astype(np.float32), y.astype(np.int32), 3, np.ones(N_ROWS))


def a_plan(kind=SamplePlan, **values):
    defaults = {
        "seed": 5,
        "n_samples": N_ROWS,
        "with_replacement": True,
        "n_columns": 0,
        "is_global": False,
    }
    return kind(**(defaults | values))


def same_trees(one, two):
    return all(a.same_as(b) for a, b in zip(one, two, strict=True))


# --- subspaces -----------------------------------------------------------------------------------


@given(st.integers(0, 12), st.data())
def test_subspaces_are_counted_as_in_combinatorics(n_features, data):
    n_columns = data.draw(st.integers(0, n_features))
    assert count_subspaces(n_features, n_columns) == (comb(n_features, n_columns) or 1)


@given(seeds(), st.integers(2, 8), st.data())
def test_no_two_subspaces_are_the_same(seed, n_features, data):
    n_columns = data.draw(st.integers(1, n_features - 1))
    n_trees = data.draw(st.integers(1, count_subspaces(n_features, n_columns)))
    plan = a_plan(SubspacePlan, seed=seed, n_columns=n_columns, is_global=True)
    drawn = plan.subspaces(range(n_trees), n_features)
    assert len({tuple(columns) for columns in drawn}) == n_trees
    for columns in drawn:
        assert len(columns) == n_columns
        assert np.all(np.diff(columns) > 0)
        assert 0 <= columns.min() <= columns.max() < n_features
    first = data.draw(st.integers(0, n_trees))
    rest = plan.subspaces(range(first, n_trees), n_features)
    assert [tuple(columns) for columns in rest] == [tuple(columns) for columns in drawn[first:]]


def test_all_subspaces_are_drawn_evenly():
    firsts = [
        tuple(a_plan(SubspacePlan, seed=s, n_columns=2).subspaces(range(1), 4)[0])
        for s in range(600)
    ]
    _, counts = np.unique(firsts, axis=0, return_counts=True)
    assert len(counts) == 6
    assert abs(counts - 100).max() < 55  # six deviations


# --- trees of a plan -----------------------------------------------------------------------------


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse", "bytes"])
def test_each_tree_is_grown_on_the_rows_of_its_plan(kind, with_replacement):
    problem = a_problem(kind)
    plan = a_plan(n_samples=80, with_replacement=with_replacement)
    for number, tree in enumerate(grow_forest(problem, OPTIONS, plan, range(3))):
        counts = plan.row_counts(number, N_ROWS)
        alone = replace(problem, sample_weight=counts)
        assert tree.same_as(grow_tree(alone, replace(OPTIONS, seed=plan.tree_seed(number))))
        drawn = counts > 0
        if kind != "sparse":  # sparse rows without any entry are alike
            said = outputs(tree, problem.rows)
            assert np.array_equal(said.argmax(axis=1)[drawn], problem.targets[drawn])


@pytest.mark.parametrize("split", ["axis", "central_axis", "co2"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "bytes"])
def test_a_tree_reads_its_columns_and_no_others(kind, split):
    problem = a_problem(kind)
    options = replace(OPTIONS, split=split, max_depth=4)
    plan = a_plan(SubspacePlan, n_columns=6, is_global=True, with_replacement=False)
    subspaces = plan.subspaces(range(3), problem.n_features)
    for number, tree in enumerate(grow_forest(problem, options, plan, range(3))):
        columns = subspaces[number]
        assert np.array_equal(plan.columns(number, problem.n_features), columns)
        assert tree.check().n_features == problem.n_features
        assert set(tree.split_indices) <= set(columns)
        # But for last bits it is the tree on these columns alone.
        alone = grow_tree(
            take_columns(problem, columns), replace(options, seed=plan.tree_seed(number))
        )
        first = slice(tree.split_indptr[1])
        assert np.array_equal(tree.split_indices[first], columns[alone.split_indices[first]])
        assert np.allclose(tree.split_weights[first], alone.split_weights[first], rtol=1e-3)


@pytest.mark.parametrize("plan", [a_plan(), a_plan(SubspacePlan, n_columns=3, is_global=True)])
@pytest.mark.parametrize("split", ["axis", "co2", "perceptron"])
def test_number_of_jobs_changes_no_bit(plan, split):
    options = replace(OPTIONS, split=split)
    found = [
        list(grow_forest(a_problem(), options, plan, range(3), n_jobs=n)) for n in (1, 2, 8, -1)
    ]
    for other in found[1:]:
        assert same_trees(found[0], other)


@pytest.mark.parametrize("plan", [a_plan(), a_plan(SubspacePlan, n_columns=3, is_global=True)])
def test_forest_can_be_grown_in_parts(plan):
    whole = list(grow_forest(a_problem(), OPTIONS, plan, range(5)))
    parts = [
        tree
        for numbers in (range(2), range(2, 2), range(2, 5))
        for tree in grow_forest(a_problem(), OPTIONS, plan, numbers)
    ]
    assert same_trees(whole, parts)


def test_threads_that_are_left_over_help_within_a_tree(monkeypatch):
    seen = []

    def spy(problem, options, *rest):
        seen.append(options.n_threads)
        return grow_tree(problem, options, *rest)

    monkeypatch.setattr(greedy, "grow_tree", spy)
    for n_trees, n_jobs in ((1, 6), (2, 6), (4, 6), (9, 6)):
        list(grow_forest(a_problem(), OPTIONS, a_plan(), range(n_trees), n_jobs=n_jobs))
    assert seen == [6] + [3] * 2 + [1] * 4 + [1] * 9


# --- ends before the end -------------------------------------------------------------------------


def test_trees_come_one_by_one(monkeypatch):
    grown = []

    def count(*arguments):
        grown.append(1)
        return grow_tree(*arguments)

    monkeypatch.setattr(greedy, "grow_tree", count)
    trees = grow_forest(a_problem(), OPTIONS, a_plan(), range(6), n_jobs=1)
    next(trees)
    assert len(grown) < 6
    trees.close()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_error_of_one_tree_stops_the_others(monkeypatch, n_jobs):
    stopped = threading.Event()
    lock, numbers = threading.Lock(), []

    def grow(*arguments):
        with lock:
            numbers.append(1)
            is_first = len(numbers) == 1
        if is_first:
            raise MemoryError("no room")
        try:
            while True:
                grow_tree(*arguments)
        except StoppedError:
            stopped.set()
            raise

    monkeypatch.setattr(greedy, "grow_tree", grow)
    with pytest.raises(MemoryError, match="no room"):
        list(grow_forest(a_problem(), OPTIONS, a_plan(), range(2), n_jobs=n_jobs))
    assert stopped.is_set() or len(numbers) == 1
