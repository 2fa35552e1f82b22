"""Gradient boosting: each tree is the tree of its round, and rounds lower the loss."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from spinney.algorithms import FAOOptions, TAOOptions
from spinney.algorithms.losses import forest_loss
from spinney.data import classification_problem, regression_problem
from spinney.ensembles.gradient import (
    GradientRule,
    first_scores,
    gradient_boost,
    wanted_scores,
)
from spinney.tree.route import apply, outputs
from spinney.tree.structure import complete_topology
from tests import reference

CASES = [(loss, True) for loss in ("log_loss", "squared_hinge", "squared_error")]
CASES += [(loss, False) for loss in ("squared_error", "absolute_error", "huber")]
all_losses = pytest.mark.parametrize(("loss", "is_class"), CASES)
both_steps = pytest.mark.parametrize("step", ["newton", "gradient"])
SEED = 11


def complete_start(problem, seed):
    del problem, seed  # the optimiser draws the hyperplanes
    return complete_topology(2)


def a_problem(is_class, n_rows=150, weights=None):
    weights = np.ones(n_rows) if weights is None else weights
    if is_class:
        X, y = make_classification(n_rows, 5, n_informative=4, n_redundant=0, n_classes=3,
                                   random_state=2)  # fmt: skip
        return classification_problem(X.astype(np.float32), y.astype(np.int32), 3, weights)
    X, Y = make_regression(n_rows, 5, n_targets=2, noise=3.0, random_state=1)
    return regression_problem(X.astype(np.float32), Y + 30 * np.abs(X[:, :2]), weights)


def boost(problem, loss, n_trees=4, given=(), rate=0.5, step="newton", subsample=1.0, **values):
    tao = TAOOptions(**{"alpha": 0.05} | values.pop("tao", {}))
    values = {"leaf_alpha": 0.3, "max_iter": 3} | values
    options = FAOOptions(tao, forest_loss(loss), **values)
    rule = GradientRule(rate, step, subsample)
    trees = gradient_boost(problem, complete_start, options, rule, SEED, given)
    return list(itertools.islice(trees, n_trees))


def losses_of(problem, loss, added):
    """Total loss before any tree and after each."""
    loss = forest_loss(loss)
    wanted = wanted_scores(problem, loss)
    sums = np.tile(first_scores(problem, loss), (problem.n_rows, 1))
    found = []
    for tree in [None, *(of.tree for of in added)]:
        sums = sums if tree is None else sums + outputs(tree, problem.rows)
        scores = sums / problem.target_scale
        found.append(loss.total(wanted, scores, problem.classes, problem.sample_weight))
    return np.array(found)


@all_losses
@both_steps
def test_every_round_lowers_the_loss(loss, is_class, step):
    problem = a_problem(is_class)
    added = boost(problem, loss, n_trees=6, step=step)
    found = losses_of(problem, loss, added)
    assert (np.diff(found) < 0).all()
    assert found[-1] < 0.6 * found[0]


@all_losses
@both_steps
def test_leaves_hold_a_share_of_what_is_best_for_the_loss(loss, is_class, step):
    """No other value of any leaf, the rest as it is, has a lower penalised loss."""
    problem = a_problem(is_class)
    (first,) = boost(problem, loss, n_trees=1, rate=0.5, step=step)
    unit, wanted = problem.target_scale, wanted_scores(problem, forest_loss(loss))
    start = first_scores(problem, forest_loss(loss)) / unit
    leaf = first.tree.leaf_index[apply(first.tree, problem.rows)]
    values = 2.0 * first.tree.leaf_values / unit

    def total(values, number):
        loss_here = sum(
            reference.forest_row_loss(loss, start + values[number], target)
            for target in (problem.classes if is_class else wanted)[leaf == number]
        )
        return loss_here + 0.3 * float((values[number] ** 2).sum())

    slack = 1e-5 if loss == "log_loss" else 1e-9  # a few Newton steps of many end that near
    for number in range(first.tree.n_leaves):
        here = total(values, number)
        for output, change in itertools.product(range(problem.n_outputs), (-1e-3, 1e-3)):
            moved = values.copy()
            moved[number, output] += change
            assert total(moved, number) >= here - slack * (1 + abs(here))


@all_losses
def test_boosting_in_parts_gives_the_same_bits(loss, is_class):
    problem = a_problem(is_class)
    at_once = boost(problem, loss, n_trees=4)
    parts = at_once[:2] + boost(problem, loss, n_trees=2, given=[of.tree for of in at_once[:2]])
    assert all(one.tree.same_as(two.tree) for one, two in zip(at_once, parts, strict=True))


@all_losses
@both_steps
def test_threads_change_nothing(loss, is_class, step):
    problem = a_problem(is_class)
    one = boost(problem, loss, step=step, subsample=0.7)
    three = boost(problem, loss, step=step, subsample=0.7, n_threads=3)
    assert all(a.tree.same_as(b.tree) for a, b in zip(one, three, strict=True))


@both_steps
def test_squared_errors_are_fitted_by_what_is_left_over(step):
    """With the squared loss both steps regress the same residual."""
    problem = a_problem(is_class=False)
    added = boost(problem, "squared_error", step=step, tao={"strict_descent": True})
    other = boost(problem, "squared_error", step="newton", tao={"strict_descent": True})
    assert losses_of(problem, "squared_error", added) == pytest.approx(
        losses_of(problem, "squared_error", other), rel=0.1
    )


def test_a_share_of_the_rows_is_drawn_anew_for_each_tree(monkeypatch):
    import spinney.ensembles.gradient as gradient

    seen = []
    optimize = gradient.optimize_forest

    def spy(problem, *arguments, **values):
        seen.append(problem.sample_weight > 0)
        return optimize(problem, *arguments, **values)

    monkeypatch.setattr(gradient, "optimize_forest", spy)
    boost(a_problem(is_class=True), "log_loss", n_trees=3, subsample=0.4, step="gradient")
    drawn = seen[::2]  # splits, then leaves, of each tree
    assert all(mask.sum() == 60 for mask in seen)
    assert not (drawn[0] == drawn[1]).all()
    assert not (drawn[1] == drawn[2]).all()


@all_losses
def test_first_scores_are_the_best_constant(loss, is_class):
    problem = a_problem(is_class, weights=np.random.default_rng(0).uniform(0.1, 3, 150))
    of = forest_loss(loss, huber_delta=0.05)
    wanted = wanted_scores(problem, of)
    first = first_scores(problem, of) / problem.target_scale

    def total(scores):
        rows = np.tile(scores, (150, 1))
        return of.total(wanted, rows, problem.classes, problem.sample_weight)

    slack = 0.1 if loss in ("huber", "squared_hinge") else 1e-9  # these only begin near it
    for output, change in itertools.product(range(problem.n_outputs), (-0.01, 0.01)):
        moved = first.copy()
        moved[output] += change
        assert total(moved) >= total(first) * (1 - slack)


@all_losses
def test_downhill_is_the_negative_gradient(loss, is_class):
    problem = a_problem(is_class, n_rows=30)
    of = forest_loss(loss, huber_delta=0.4)
    wanted = wanted_scores(problem, of)
    rng = np.random.default_rng(3)
    scores = rng.normal(size=wanted.shape)
    downhill = 2.0 * of.curvature * of.downhill(wanted, scores, problem.classes)
    weights = np.zeros(30)
    for row, output in itertools.product(range(30), range(wanted.shape[1])):
        weights[:] = 0.0
        weights[row] = 1.0
        ahead, behind = scores.copy(), scores.copy()
        ahead[row, output] += 1e-6
        behind[row, output] -= 1e-6
        slope = of.total(wanted, ahead, problem.classes, weights)
        slope -= of.total(wanted, behind, problem.classes, weights)
        assert downhill[row, output] == pytest.approx(-slope / 2e-6, abs=1e-4)
