"""Boosting: weights and errors are those of algorithm 1, and it ends where the paper says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_classification

import spinney.ensembles.boosting as boosting
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import classification_problem
from spinney.ensembles.boosting import BoostingRule, boost_trees, labels_of, reweighted
from spinney.ensembles.seeds import tree_seed
from spinney.tree.structure import complete_topology
from tests import reference

OPTIONS = TAOOptions(max_iter=3)
SEED = 11
both = pytest.mark.parametrize("algorithm", ["samme", "m1"])


def complete_start(problem, seed):
    del problem, seed  # the optimiser draws the hyperplanes
    return complete_topology(3)


def a_problem(weights=None, n_rows=120):
    X, y = make_classification(
        n_rows, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=2
    )
    weights = np.ones(n_rows) if weights is None else weights
    return classification_problem(X.astype(np.float32), y.astype(np.int32), 3, weights)


def hopeless_problem():
    """Three classes of equal weight, and no column that tells them apart."""
    y = np.arange(60, dtype=np.int32) % 3
    return classification_problem(np.ones((60, 2), dtype=np.float32), y, 3, np.ones(60))


def boost(problem, n_trees, algorithm="samme", eta=0.5, resample=False, given=(), options=OPTIONS):
    rule = BoostingRule(algorithm, eta, problem.n_classes, resample)
    trees = boost_trees(problem, complete_start, options, rule, SEED, given)
    return list(itertools.islice(trees, n_trees))


def spy_on_tasks(monkeypatch):
    """Problems that the optimiser gets, and the seeds it gets with them."""
    seen = []

    def spy(problem, start, options, callback=None):
        seen.append((problem, options.seed))
        return optimize_tree(problem, start, options, callback)

    monkeypatch.setattr(boosting, "optimize_tree", spy)
    return seen


# --- the rule ------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@given(share=st.floats(0.01, 0.99), eta=st.sampled_from([0.1, 1.0]))
def test_weight_of_a_tree_is_alpha_of_algorithm_1(algorithm, n_classes, share, eta):
    rule = BoostingRule(algorithm, eta, n_classes)
    error = share * reference.boosting_limit(algorithm, n_classes)
    expected = reference.boosting_weight(error, algorithm, n_classes, eta, n_rows=1000)
    assert rule.tree_weight(error, 1000.0) == pytest.approx(expected)
    assert rule.tree_weight(error, 1000.0) > 0


@both
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_boosting_stops_where_a_tree_is_as_bad_as_chance(algorithm, n_classes):
    rule = BoostingRule(algorithm, 0.1, n_classes)
    limit = reference.boosting_limit(algorithm, n_classes)
    assert rule.worst_error == pytest.approx(limit)
    assert rule.is_weak(limit)
    assert rule.is_weak(1.0)
    assert not rule.is_weak(limit - 1e-9)
    assert not rule.is_weak(0.0)


@both
def test_tree_without_errors_counts_as_half_a_row(algorithm):
    rule = BoostingRule(algorithm, 0.3, 4)
    expected = reference.boosting_weight(0.0, algorithm, 4, 0.3, n_rows=50)
    assert rule.tree_weight(0.0, 50.0) == pytest.approx(expected)
    assert math.isfinite(expected)
    assert rule.tree_weight(0.0, 50.0) > rule.tree_weight(0.02, 50.0)


@both
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("total", [1e-6, 0.5, 1.0, 3.0, 1e6])
def test_every_tree_better_than_chance_has_a_say(algorithm, n_classes, total):
    """Also where the sample weights sum to 1 or less."""
    rule = BoostingRule(algorithm, 0.1, n_classes)
    for error in (0.0, 0.1, 0.4, 0.499):
        assert math.isfinite(rule.tree_weight(error, total))
        assert rule.tree_weight(error, total) > 0


def test_one_tree_is_enough_for_one_class():
    rule = BoostingRule("samme", 0.1, 1)
    assert rule.worst_error == 0
    assert rule.is_weak(0.0)


@given(
    hnp.arrays(np.float64, 8, elements=st.floats(0.01, 1.0)),
    hnp.arrays(np.bool_, 8),
    st.floats(0.0, 5.0),
)
def test_wrong_rows_gain_and_weights_sum_to_one(weights, is_wrong, alpha):
    weights = weights / weights.sum()
    found = reweighted(weights, is_wrong, alpha)
    raised = [w * math.exp(alpha * wrong) for w, wrong in zip(weights, is_wrong, strict=True)]
    assert found == pytest.approx([w / sum(raised) for w in raised])
    assert found.sum() == pytest.approx(1)


@given(hnp.arrays(np.float64, 8, elements=st.floats(0.01, 1.0)), st.floats(0.0, 20.0))
def test_tree_without_errors_changes_no_weight(weights, alpha):
    weights = weights / weights.sum()
    assert reweighted(weights, np.zeros(8, bool), alpha) == pytest.approx(weights)


# --- rounds --------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_rounds_are_those_of_algorithm_1(algorithm, resample, is_weighted):
    weights = np.random.default_rng(0).integers(1, 4, 120).astype(float) if is_weighted else None
    problem = a_problem(weights)
    found = boost(problem, 6, algorithm, 0.5, resample)
    labels = [labels_of(member.tree, problem) for member in found]
    errors, tree_weights, _ = reference.boosting(
        labels, problem.classes, problem.sample_weight, algorithm, 3, 0.5
    )
    assert [member.error for member in found] == pytest.approx(errors)
    assert [member.weight for member in found] == pytest.approx(tree_weights)
    assert len(found) == 6


def test_labels_are_those_of_plain_routing():
    problem = a_problem()
    tree = boost(problem, 1)[0].tree
    answers = reference.outputs(tree, problem.matrix, reference.score_of_products)
    assert labels_of(tree, problem).tolist() == answers.argmax(axis=1).tolist()


def test_each_task_has_the_weights_of_its_round(monkeypatch):
    seen = spy_on_tasks(monkeypatch)
    start_weights = np.random.default_rng(0).uniform(0.5, 2, 120)
    problem = a_problem(start_weights)
    found = boost(problem, 4)
    total = start_weights.sum()
    for number, (task, seed) in enumerate(seen):
        assert seed == tree_seed(SEED, number)
        labels = [labels_of(member.tree, problem) for member in found[:number]]
        *_, weights = reference.boosting(labels, problem.classes, start_weights, "samme", 3, 0.5)
        assert task.sample_weight / total == pytest.approx(weights)
        assert task.sample_weight.sum() == pytest.approx(total)  # alpha means the same every time


def test_resampled_tasks_count_drawn_rows(monkeypatch):
    seen = spy_on_tasks(monkeypatch)
    problem = a_problem(np.full(120, 2.0))
    boost(problem, 3, resample=True)
    samples = [task.sample_weight / 2.0 for task, _ in seen]  # the total is twice the rows
    for counts in samples:
        assert counts == pytest.approx(np.round(counts))
        assert counts.sum() == pytest.approx(120)
        assert (counts == 0).any()
    assert not np.array_equal(samples[0], samples[1])


def test_resampling_follows_the_weights(monkeypatch):
    seen = spy_on_tasks(monkeypatch)
    weights = np.where(np.arange(120) < 60, 0.0, 1.0)
    boost(a_problem(weights), 2, resample=True)
    assert all(not task.sample_weight[:60].any() for task, _ in seen)


def test_perfect_trees_do_not_end_boosting(monkeypatch):
    """The weights stay, the starts differ, and every tree has the same finite say."""
    seen = spy_on_tasks(monkeypatch)
    X = np.arange(40, dtype=np.float32)[:, None] * np.ones((1, 2), dtype=np.float32)
    problem = classification_problem(X, (np.arange(40) >= 20).astype(np.int32), 2, np.ones(40))
    found = boost(problem, 3, options=TAOOptions(max_iter=20, alpha=0.0))
    assert [member.error for member in found] == [0, 0, 0]
    expected = reference.boosting_weight(0, "samme", 2, 0.5, n_rows=40)
    assert [member.weight for member in found] == pytest.approx([expected] * 3)
    assert all(task.sample_weight == pytest.approx(np.ones(40)) for task, _ in seen)
    assert len({seed for _, seed in seen}) == 3


# --- the end -------------------------------------------------------------------------------------


@both
def test_tree_as_bad_as_chance_is_the_last(algorithm):
    found = boost(hopeless_problem(), 5, algorithm)
    assert len(found) == 1
    assert found[0].weight == 0
    assert found[0].error == pytest.approx(2 / 3)


def test_m1_ends_at_one_half_where_samme_goes_on():
    """A tree of error 1/2 is better than chance among four classes, but not than a coin."""
    y = np.repeat(np.arange(4, dtype=np.int32), 25)
    X = (np.arange(100) < 25).astype(np.float32)[:, None]  # tells class 0 from the others
    problem = classification_problem(X, y, 4, np.ones(100))
    assert [member.weight for member in boost(problem, 3, "m1")] == [0.0]
    samme = boost(problem, 3, "samme")
    assert samme[0].error == pytest.approx(0.5)
    assert len(samme) > 1
    assert samme[0].weight > 0


@both
@pytest.mark.parametrize("resample", [False, True])
def test_boosting_goes_on_where_it_stopped(algorithm, resample):
    whole = boost(a_problem(), 5, algorithm, resample=resample)
    given = [(member.tree, member.weight) for member in whole[:3]]
    rest = boost(a_problem(), 2, algorithm, resample=resample, given=given)
    for one, two in zip(rest, whole[3:], strict=True):
        assert one.tree.same_as(two.tree)
        assert (one.error, one.weight) == (two.error, two.weight)


def test_threads_change_no_bit():
    one = boost(a_problem(), 3)
    two = boost(a_problem(), 3, options=TAOOptions(max_iter=3, n_threads=3))
    assert all(a.tree.same_as(b.tree) and a.error == b.error for a, b in zip(one, two, strict=True))
