"""The linear node solver against scikit-learn's LIBLINEAR and SAGA, by objective."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from spinney import _core
from spinney.data import as_rows
from tests import reference
from tests.strategies import seeds


class Task:
    """A small weighted logistic problem with columns of different scale and centre."""

    def __init__(self, seed, n_rows=120, n_features=5, *, is_centred=True, density=1.0):
        rng = np.random.default_rng(seed)
        spread = 1 + np.arange(n_features) % 3
        X = spread * (0.5 + rng.normal(size=(n_rows, n_features)))
        X[rng.random(X.shape) >= density] = 0
        self.X = X.astype(np.float32)
        noisy = self.X @ rng.normal(size=n_features) + 2 * rng.normal(size=n_rows)
        self.labels = np.where(noisy > np.median(noisy), 1, -1).astype(np.int8)
        self.weights = rng.uniform(0.2, 2, size=n_rows)
        self.scale = self.X.astype(np.float64).std(axis=0)
        self.mean = self.X.astype(np.float64).mean(axis=0) * is_centred

    def solve(self, alpha, solver, *, rows=None, **options):
        effort = {"max_newton": 100, "epochs": 150, "step": 1 / 3, "tolerance": 1e-10, "seed": 0}
        return _core.logistic_split(
            rows=as_rows(self.X) if rows is None else rows,
            mean=self.mean,
            inverse_scale=1 / self.scale,
            labels=self.labels,
            weights=self.weights,
            alpha=alpha,
            solver=solver,
            **effort | options,
        )

    def objective(self, alpha, w, bias):
        task = (self.X, self.labels, self.weights, alpha, self.scale)
        return reference.logistic_objective(*task, w, bias)

    def alpha_max(self):
        """Least alpha at which all weights are zero: the largest gradient at the best bias."""
        share = np.average(self.labels > 0, weights=self.weights)
        slopes = self.weights * ((self.labels > 0) - share)
        return np.abs((self.X.astype(np.float64) / self.scale).T @ slopes).max()


def judge(task, alpha, solver):
    """scikit-learn's answer, with weights back in the units of the raw columns."""
    Z = (task.X.astype(np.float64) - task.mean) / task.scale
    # LIBLINEAR penalises the intercept too; as weight of a huge constant column it is nearly free.
    options = {"intercept_scaling": 1e4} if solver == "liblinear" else {}
    model = LogisticRegression(
        l1_ratio=1, C=1 / alpha, solver=solver, tol=1e-10, max_iter=20000, random_state=0, **options
    ).fit(Z, task.labels, task.weights)
    w = model.coef_[0] / task.scale
    return task.objective(alpha, w, model.intercept_[0] - w @ task.mean)


@pytest.mark.parametrize("judge_solver", ["liblinear", "saga"])
@pytest.mark.parametrize("alpha", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_newton_reaches_the_objective_of_scikit_learn(seed, alpha, judge_solver):
    task = Task(seed)
    found = task.objective(alpha, *task.solve(alpha, "newton"))
    assert found == pytest.approx(judge(task, alpha, judge_solver), rel=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_streaming_reaches_the_objective_of_scikit_learn(seed, alpha):
    task = Task(seed)
    found = task.objective(alpha, *task.solve(alpha, "stream"))
    assert found == pytest.approx(judge(task, alpha, "liblinear"), rel=1e-3)


@pytest.mark.parametrize("alpha", [0.5, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_streaming_of_sparse_rows_reaches_the_objective_of_newton(seed, alpha):
    task = Task(seed, 300, 30, is_centred=False, density=0.1)
    # Rows differ much in length here, and the step is set by their mean.
    w, bias = task.solve(alpha, "stream", rows=as_rows(sp.csr_matrix(task.X)), step=0.1)
    best = task.objective(alpha, *task.solve(alpha, "newton"))
    assert task.objective(alpha, w, bias) == pytest.approx(best, rel=1e-3)


@given(seeds(), st.floats(0.1, 20))
@settings(max_examples=50)
def test_newton_meets_the_optimality_conditions(seed, alpha):
    task = Task(seed, 60, 4)
    w, bias = task.solve(alpha, "newton")
    Z = (task.X.astype(np.float64) - task.mean) / task.scale
    margins = task.labels * (task.X.astype(np.float64) @ w.astype(np.float64) + bias)
    slopes = -task.weights * task.labels / (1 + np.exp(margins))
    gradient = Z.T @ slopes
    assert abs(slopes.sum()) <= 1e-3
    assert np.all(np.abs(gradient) <= alpha + 1e-3)
    used = w != 0
    assert np.allclose(gradient[used], -alpha * np.sign(w[used]), atol=1e-3)


@pytest.mark.parametrize("solver", ["newton", "stream"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_max_is_where_the_last_weight_goes(seed, solver):
    task = Task(seed)
    at_zero, _ = task.solve(1.01 * task.alpha_max(), solver)
    assert not at_zero.any()
    below, _ = task.solve(0.9 * task.alpha_max(), solver)
    assert below.any()


def test_zero_weights_leave_the_log_odds_as_bias():
    task = Task(0)
    _, bias = task.solve(1e6, "newton")
    share = np.average(task.labels > 0, weights=task.weights)
    assert bias == pytest.approx(np.log(share / (1 - share)), abs=1e-4)


def test_constant_column_gets_no_weight():
    task = Task(0)
    rows = np.column_stack([task.X, np.full(len(task.X), 7, dtype=np.float32)])
    for solver in ("newton", "stream"):
        w, _ = _core.logistic_split(
            as_rows(rows), np.append(task.mean, 7.0), np.append(1 / task.scale, 0.0), task.labels,
            task.weights, 0.1, solver, 20, 20, 0.3, 1e-6, 0,
        )  # fmt: skip
        assert w[-1] == 0
        assert w[:-1].all()


@given(seeds())
@settings(max_examples=20)
def test_weight_k_is_the_row_k_times(seed):
    task = Task(seed, 40, 3)
    task.weights = np.random.default_rng(seed).integers(1, 4, size=40).astype(np.float64)
    w, bias = task.solve(1.0, "newton")
    repeats = task.weights.astype(int)
    task.X, task.labels = task.X.repeat(repeats, axis=0), task.labels.repeat(repeats)
    task.weights = np.ones(len(task.X))
    again, bias_again = task.solve(1.0, "newton")
    assert w == pytest.approx(again, abs=1e-5)
    assert bias == pytest.approx(bias_again, abs=1e-5)


def test_separable_rows_end_with_finite_weights():
    task = Task(0)
    task.labels = np.where(task.X[:, 0] > 0, 1, -1).astype(np.int8)
    for solver in ("newton", "stream"):
        w, bias = task.solve(1e-3, solver)
        assert np.isfinite(w).all()
        assert np.isfinite(bias)
        assert np.mean((task.X @ w + bias > 0) == (task.labels > 0)) > 0.98


def test_arrays_that_do_not_fit_the_rows_are_refused():
    task = Task(0)
    task.labels = task.labels[:-1]
    with pytest.raises(ValueError, match="agree with the rows"):
        task.solve(1.0, "newton")
