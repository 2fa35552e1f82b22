"""Linear leaves against scikit-learn's linear models, on a tree of one leaf."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import HuberRegressor, Lasso, LogisticRegression, QuantileRegressor, Ridge

from spinney import TAOTreeRegressor, load, save
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import as_rows, classification_problem, regression_problem
from spinney.tree import complete_topology
from spinney.tree.forest import Forest
from spinney.tree.route import outputs

EXACT = {"max_newton": 200, "tolerance": 1e-10, "step": 0.3}


def fit_leaf(problem, **options):
    """One leaf, fitted long enough to be compared with an exact solution."""
    chosen = TAOOptions(leaf="linear", max_iter=1, leaf_epochs=400, solver=EXACT, **options)
    return optimize_tree(problem, complete_topology(0), chosen).tree


def weights_of(tree):
    """Leaf weights, shape (n_outputs, n_features)."""
    parts = (tree.leaf_weights, tree.leaf_indices, tree.leaf_indptr)
    return sp.csr_matrix(parts, shape=(tree.n_outputs, tree.n_features)).toarray()


def matrix(rng, n_rows=150, n_features=6):
    spread = 1 + np.arange(n_features) % 3
    return (spread * (0.5 + rng.normal(size=(n_rows, n_features)))).astype(np.float32)


class RegressionTask:
    def __init__(self, seed, n_features=6, n_outputs=1):
        rng = np.random.default_rng(seed)
        self.X = matrix(rng, n_features=n_features)
        noise = rng.normal(size=(len(self.X), n_outputs))
        self.Y = self.X @ rng.normal(size=(n_features, n_outputs)) + 3 * noise + 5
        self.weights = rng.uniform(0.2, 2, size=len(self.X))
        self.problem = regression_problem(self.X, self.Y, self.weights)
        # The judges see standardised columns: there the penalty is the one of the leaf.
        self.Z = (self.X.astype(np.float64) - self.problem.mean) / self.problem.scale

    def loss(self, predicted, loss):
        residuals = np.abs(self.Y - predicted.reshape(self.Y.shape))
        losses = {
            "squared_error": residuals**2,
            "absolute_error": residuals,
            "huber": np.where(residuals <= 1, 0.5 * residuals**2, residuals - 0.5),
        }
        return float(np.sum(self.weights[:, None] * losses[loss]))


def lasso(task, alpha):
    """The judge: it weighs its rows to a mean of 1 and halves the mean square."""
    unit = task.problem.target_scale  # losses shrink by its square, weights by itself
    return Lasso(alpha=alpha * unit / (2 * task.weights.sum()), tol=1e-10, max_iter=100_000)


@pytest.mark.parametrize("alpha", [0.1, 5.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_l1_regression_leaf_is_the_lasso(seed, alpha):
    task = RegressionTask(seed)
    tree = fit_leaf(task.problem, loss="squared_error", alpha=alpha)
    judge = lasso(task, alpha)
    judge.fit(task.Z, task.Y[:, 0], task.weights)
    assert weights_of(tree)[0] * task.problem.scale == pytest.approx(judge.coef_, abs=1e-3)
    assert outputs(tree, task.problem.rows)[:, 0] == pytest.approx(judge.predict(task.Z), abs=1e-3)


@pytest.mark.parametrize("alpha", [0.5, 20.0, 500.0])
def test_l2_regression_leaf_is_the_ridge(alpha):
    task = RegressionTask(0, n_outputs=2)
    tree = fit_leaf(task.problem, loss="squared_error", alpha=alpha, leaf_penalty="l2")
    judge = Ridge(alpha=alpha / 2).fit(task.Z, task.Y, task.weights)  # ours is alpha/2 |w|^2
    assert weights_of(tree) * task.problem.scale == pytest.approx(judge.coef_, abs=1e-3)
    assert outputs(tree, task.problem.rows) == pytest.approx(judge.predict(task.Z), abs=1e-3)


def test_wide_regression_leaf_comes_near_the_lasso():
    task = RegressionTask(0, n_features=110)
    tree = fit_leaf(task.problem, loss="squared_error", alpha=50.0)
    judge = lasso(task, 50.0)
    judge.fit(task.Z, task.Y[:, 0], task.weights)

    def objective(predicted, coef):
        unit = task.problem.target_scale
        return task.loss(predicted, "squared_error") / unit**2 + 50.0 * np.abs(coef).sum() / unit

    found = objective(outputs(tree, task.problem.rows), weights_of(tree)[0] * task.problem.scale)
    assert found == pytest.approx(objective(judge.predict(task.Z), judge.coef_), rel=0.01)


@pytest.mark.parametrize("case", ["plain", "alike", "far out"])
def test_wide_regression_leaf_never_overshoots(case):
    # The streaming solver steps by the mean length of a row. Slopes of a squared loss grow with
    # the weights, so rows that are alike or far out would blow them up, were the step too long.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 100))
    if case == "alike":
        X = 0.1 * X + 3 * rng.normal(size=100)
    elif case == "far out":
        X[:4] *= 30
    y = X @ rng.normal(size=100) + 0.1 * rng.normal(size=400)
    problem = regression_problem(X, y[:, None], np.ones(400))
    tree = optimize_tree(
        problem, complete_topology(1), TAOOptions(loss="squared_error", leaf="linear", max_iter=20)
    ).tree
    residuals = y - outputs(tree, problem.rows)[:, 0]
    assert np.mean(residuals**2) < 0.05 * np.var(y)


def test_absolute_leaf_comes_near_quantile_regression():
    task = RegressionTask(0)
    tree = fit_leaf(task.problem, loss="absolute_error", alpha=0.01)
    judge = QuantileRegressor(alpha=0).fit(task.X, task.Y[:, 0], task.weights)
    found = task.loss(outputs(tree, task.problem.rows), "absolute_error")
    assert found <= 1.01 * task.loss(judge.predict(task.X), "absolute_error")


def test_huber_leaf_resists_outliers():
    task = RegressionTask(0)
    clean = task.Y.copy()
    task.Y[::10] += 1000
    problem = regression_problem(task.X, task.Y, task.weights)
    tree = fit_leaf(problem, loss="huber", alpha=0.01)
    judge = HuberRegressor(epsilon=1.0, alpha=0, max_iter=1000, tol=1e-8)
    judge.fit(task.Z, task.Y[:, 0], task.weights)
    found = outputs(tree, problem.rows)
    assert np.median(np.abs(found - clean)) < 5
    assert task.loss(found, "huber") <= 1.01 * task.loss(judge.predict(task.Z), "huber")


@pytest.mark.parametrize("leaf_penalty", ["l1", "l2"])
@pytest.mark.parametrize("unit", [1e-2, 1e-30, 1e-44])
def test_weights_that_underflow_are_left_out(unit, leaf_penalty, tmp_path):
    """The core measures y in its deviation: a small weight may be zero in the unit of y."""
    rng = np.random.default_rng(19)
    X = rng.normal(size=(300, 5))
    y = unit * rng.normal(size=300)
    model = TAOTreeRegressor(leaf="linear", leaf_penalty=leaf_penalty, random_state=19).fit(X, y)
    assert np.all(model.tree_.leaf_weights != 0)
    assert np.isfinite(model.predict(X)).all()
    save(model, tmp_path / "tree.spinney")
    assert np.array_equal(load(tmp_path / "tree.spinney").predict(X), model.predict(X))


# --- classes -----------------------------------------------------------------------------------


class ClassTask:
    def __init__(self, seed, n_classes, n_features=5):
        rng = np.random.default_rng(seed)
        self.X = matrix(rng, n_features=n_features)
        scores = self.X @ rng.normal(size=(n_features, n_classes))
        noise = 2 * rng.gumbel(size=scores.shape)
        self.y = (scores - scores.mean(axis=0) + noise).argmax(axis=1).astype(np.int32)
        self.n_classes = n_classes
        self.weights = rng.uniform(0.2, 2, size=len(self.X))
        self.problem = classification_problem(self.X, self.y, n_classes, self.weights)
        self.Z = (self.X.astype(np.float64) - self.problem.mean) / self.problem.scale

    def objective(self, alpha, scores, coef):
        shifted = scores - scores.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(shifted).sum(axis=1))
        losses = log_sum - shifted[np.arange(len(self.y)), self.y]
        return float(np.sum(self.weights * losses) + alpha * np.abs(coef).sum())


@pytest.mark.parametrize("alpha", [0.5, 5.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(2))
def test_softmax_leaf_reaches_the_objective_of_saga(seed, n_classes, alpha):
    task = ClassTask(seed, n_classes)
    tree = fit_leaf(task.problem, loss="log_loss", alpha=alpha)
    coef = weights_of(tree) * task.problem.scale
    found = task.objective(alpha, outputs(tree, task.problem.rows), coef)
    judge = LogisticRegression(
        l1_ratio=1, C=1 / alpha, solver="saga", tol=1e-8, max_iter=20_000, random_state=0
    ).fit(task.Z, task.y, task.weights)
    scores = judge.decision_function(task.Z)
    if n_classes == 2:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    assert found == pytest.approx(task.objective(alpha, scores, judge.coef_), rel=2e-3)


def test_two_classes_need_one_hyperplane():
    task = ClassTask(0, 2)
    tree = fit_leaf(task.problem, loss="log_loss", alpha=0.5)
    first, second = weights_of(tree)
    assert not first.any()
    assert second.any()


def test_class_without_rows_is_never_predicted():
    task = ClassTask(0, 3)
    problem = classification_problem(task.X, task.y, 4, task.weights)
    scores = outputs(fit_leaf(problem, loss="log_loss", alpha=0.5), problem.rows)
    assert np.all(scores[:, 3] < scores[:, :3].min(axis=1))


@pytest.mark.parametrize("size", [1e3, 1e30, 3e38])
@pytest.mark.parametrize("n_features", [6, 90], ids=["narrow", "wide"])
def test_far_rows_have_finite_scores_and_no_unseen_class(size, n_features):
    rng = np.random.default_rng(0)
    X = matrix(rng, n_features=n_features)
    y = rng.integers(0, 3, size=len(X)).astype(np.int32)
    problem = classification_problem(X, y, 4, np.ones(len(X)))
    tree = fit_leaf(problem, loss="log_loss", alpha=1e-3)
    far = (size * rng.choice([-1.0, 1.0], size=(40, n_features))).astype(np.float32)
    scores = outputs(tree, as_rows(far))
    exact = far.astype(float) @ weights_of(tree).T.astype(float) + tree.leaf_values
    assert scores == pytest.approx(exact, rel=1e-3, abs=1e-3 * np.abs(exact[:, :3]).max())
    assert np.all(scores[:, 3] < scores[:, :3].min(axis=1))
    forest = Forest((tree, tree))
    assert np.array_equal(forest.sums(as_rows(far), np.ones(2)), 2 * scores)


def test_large_alpha_leaves_the_class_fractions():
    task = ClassTask(0, 3)
    tree = fit_leaf(task.problem, loss="log_loss", alpha=1e5)
    assert tree.leaf_weights.size == 0
    odds = np.exp(tree.leaf_values[0])
    fractions = np.bincount(task.y, task.weights) / task.weights.sum()
    assert odds / odds.sum() == pytest.approx(fractions, abs=1e-4)
