"""Linear leaves refitted on the features they use, without the penalty that chose these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from spinney import TAOForestClassifier, TAOTreeClassifier
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.algorithms.tao_task import RELAXED_RIDGE
from spinney.data import classification_problem, regression_problem
from spinney.tree import complete_topology
from spinney.tree.route import outputs
from tests.algorithms.test_tao_linear_leaves import ClassTask, RegressionTask, weights_of
from tests.reference import relaxed_softmax_objective, softmax_objective

LEAF = TAOOptions(leaf="linear", loss="log_loss", max_iter=1, leaf_epochs=50)


def fit_both(problem, options, depth=0):
    """The same tree with its leaves as they are, and relaxed."""
    topology = complete_topology(depth)
    return [
        optimize_tree(problem, topology, replace(options, relax_leaves=is_relaxed)).tree
        for is_relaxed in (False, True)
    ]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_classes_are_fitted_on_the_features_used_as_well_as_by_a_plain_minimiser(seed, n_classes):
    task = ClassTask(seed, n_classes)
    penalised, relaxed = fit_both(task.problem, replace(LEAF, alpha=8.0))
    support = weights_of(penalised) != 0
    assert 0 < support.sum() < support.size
    assert np.array_equal(weights_of(relaxed) != 0, support)
    ridge = RELAXED_RIDGE * task.problem.squared_length
    scores = outputs(relaxed, task.problem.rows)
    weights = weights_of(relaxed) * task.problem.scale
    found = softmax_objective(scores, task.y, task.weights, weights, ridge)
    judge = relaxed_softmax_objective(task.Z, task.y, task.weights, support, ridge)
    assert found == pytest.approx(judge, rel=1e-4)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_numbers_are_fitted_on_the_features_used_by_weighted_least_squares(n_outputs):
    task = RegressionTask(0, n_outputs=n_outputs)
    options = replace(LEAF, loss="squared_error", alpha=40.0)
    penalised, relaxed = fit_both(task.problem, options)
    ridge = RELAXED_RIDGE * task.problem.squared_length
    assert not weights_of(penalised).all()
    for k, weights in enumerate(weights_of(penalised)):
        used = weights != 0
        design = np.column_stack([task.Z[:, used], np.ones(len(task.Z))])
        gram = design.T @ (task.weights[:, None] * design)
        gram[np.diag_indices(used.sum())] += ridge / 2  # the loss is the square, not its half
        solution = np.linalg.solve(gram, design.T @ (task.weights * task.Y[:, k]))
        found = outputs(relaxed, task.problem.rows)[:, k]
        assert found == pytest.approx(design @ solution, abs=1e-2 * task.Y[:, k].std())


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_other_losses_fall_too(loss):
    task = RegressionTask(1)
    options = replace(LEAF, loss=loss, alpha=2.0)
    penalised, relaxed = fit_both(task.problem, options)
    before, after = (task.loss(outputs(t, task.problem.rows), loss) for t in (penalised, relaxed))
    assert after < before


def wide_task(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, size=(400, 80)).astype(np.float32)
    if kind == "float":
        X += 0.5
    elif kind == "sparse":
        X[rng.random(X.shape) < 0.96] = 0
    scores = X @ rng.normal(size=(80, 3))
    y = (scores - scores.mean(axis=0)).argmax(axis=1).astype(np.int32)
    return X, y


@pytest.mark.parametrize("kind", ["byte", "float", "sparse"])
def test_wide_rows_of_any_storage_gain(kind):
    X, y = wide_task(kind)
    problem = classification_problem(X, y, 3, np.ones(len(y)))
    assert problem.rows.is_sparse == (kind == "sparse")
    trees = fit_both(problem, replace(LEAF, alpha=3.0, max_iter=5), depth=1)
    before, after = (
        softmax_objective(outputs(t, problem.rows), y, problem.sample_weight) for t in trees
    )
    assert after < 0.7 * before
    assert np.array_equal(trees[0].leaf_indices, trees[1].leaf_indices)


def test_leaves_of_one_class_stay_as_they_are():
    X = np.repeat([[0.0], [1.0]], 20, axis=0).astype(np.float32)
    y = np.repeat([0, 1], 20)
    tree = TAOTreeClassifier(max_depth=1, leaf="linear", relax_leaves=True, random_state=0)
    probabilities = tree.fit(X, y).predict_proba(X)
    assert np.isfinite(probabilities).all()
    assert tree.score(X, y) == 1


def test_a_column_of_zeros_and_a_leaf_without_weights_are_no_trouble():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.zeros(100)]).astype(np.float32)
    y = rng.normal(size=(100, 1)) + 1
    problem = regression_problem(X, y, np.ones(100))
    options = replace(LEAF, loss="squared_error", alpha=1e6)
    _, relaxed = fit_both(problem, options)
    assert not weights_of(relaxed).any()
    assert outputs(relaxed, problem.rows) == pytest.approx(y.mean(), abs=1e-6)


def test_same_bits_for_any_threads_and_container():
    X, y = wide_task("sparse")
    settings = {"max_depth": 2, "leaf": "linear", "relax_leaves": True, "random_state": 0}
    one = TAOForestClassifier(3, **settings).fit(X, y)
    two = TAOForestClassifier(3, **settings, n_jobs=2).fit(sp.csr_matrix(X), y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_weight_two_is_the_row_twice():
    task = ClassTask(0, 3)
    counts = np.random.default_rng(1).integers(1, 4, size=len(task.y))
    weighted = classification_problem(task.X, task.y, 3, counts.astype(float))
    repeated = classification_problem(
        np.repeat(task.X, counts, axis=0), np.repeat(task.y, counts), 3, np.ones(counts.sum())
    )
    options = replace(LEAF, alpha=3.0)
    found = [
        outputs(fit_both(problem, options)[1], task.problem.rows)
        for problem in (weighted, repeated)
    ]
    assert found[0] == pytest.approx(found[1], abs=0.05)
