"""Copies of rows with gaps: what they hold, what they weigh, and that seeds alone decide them."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from spinney import FAOForestClassifier, FAOForestRegressor, TAOBoostClassifier
from spinney.algorithms.fao import optimize_forest
from spinney.algorithms.tao import optimize_tree
from spinney.data import classification_problem, regression_problem
from spinney.ensembles import averaging, boosting
from spinney.ensembles.copies import GappedCopies

DIGITS = load_digits(return_X_y=True)


def rows_of(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 200, (n_rows, n_columns)).astype(np.float32)
    X[rng.uniform(size=X.shape) < 0.7] = 0.0
    return X, rng.integers(0, 3, n_rows).astype(np.int32), rng.uniform(0.5, 2, n_rows)


def copied(X, y, weight, n_copies=2, dropout=0.3, seed=1):
    problem = classification_problem(X, y, 3, weight)
    return problem, GappedCopies(n_copies, dropout).added_to(problem, np.random.default_rng(seed))


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@settings(max_examples=30, deadline=None)
@given(
    n_rows=st.integers(1, 30),
    n_columns=st.integers(1, 80),
    n_copies=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_a_copy_is_its_row_with_gaps_and_shares_its_weight(n_rows, n_columns, n_copies, seed):
    X, y, weight = rows_of(n_rows, n_columns, seed)
    problem, more = copied(X, y, weight, n_copies)
    parts = dense(more.matrix).reshape(n_copies + 1, n_rows, n_columns)
    assert np.array_equal(parts[0], X)
    assert np.all((parts[1:] == X) | (parts[1:] == 0))
    assert np.array_equal(more.targets, np.tile(y, n_copies + 1))
    np.testing.assert_allclose(
        more.sample_weight.reshape(n_copies + 1, -1).sum(axis=0), weight, rtol=1e-12
    )
    assert np.array_equal(more.scale, problem.scale)
    assert more.n_rows == len(parts) * n_rows


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_the_wanted_share_of_values_is_left_out(container):
    X, y, weight = rows_of(2000, 70)
    X = X if container is np.asarray else np.where(np.arange(70) < 60, 0, X).astype(np.float32)
    _, more = copied(container(X), y, weight, n_copies=1, dropout=0.25)
    assert sp.issparse(more.matrix) == (container is sp.csr_matrix)
    kept = np.count_nonzero(dense(more.matrix)[2000:]) / np.count_nonzero(X)
    assert kept == pytest.approx(0.75, abs=0.01)


def test_no_copies_are_the_task_itself():
    X, y, weight = rows_of(5, 4)
    problem, same = copied(X, y, weight, n_copies=0)
    assert same is problem


def test_several_targets_are_copied_with_their_rows():
    X, _, weight = rows_of(6, 4)
    targets = np.arange(12.0).reshape(6, 2)
    problem = regression_problem(X, targets, weight)
    more = GappedCopies(1, 0.5).added_to(problem, np.random.default_rng(0))
    assert np.array_equal(more.targets, np.vstack([targets, targets]))
    assert more.target_scale == problem.target_scale


def fitted(**values):
    X, y = DIGITS
    given = {"n_trees": 3, "max_depth": 3, "max_iter": 3, "n_copies": 2, "random_state": 0}
    return FAOForestClassifier(2, **{**given, **values}).fit(X[:400], y[:400])


def boosted(**values):
    X, y = DIGITS
    given = {"max_depth": 3, "max_sweeps": 3, "n_copies": 2, "random_state": 0}
    return TAOBoostClassifier(3, **{**given, **values}).fit(X[:400], y[:400])


def is_same(one, two):
    return all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))


@pytest.mark.parametrize("fit", [fitted, boosted])
def test_jobs_change_nothing(fit):
    assert is_same(fit(), fit(n_jobs=2))


@pytest.mark.parametrize(
    ("fit", "module", "optimize"),
    [(fitted, averaging, optimize_forest), (boosted, boosting, optimize_tree)],
    ids=["forest", "boosted tree"],
)
def test_every_one_has_copies_of_its_own(fit, module, optimize, monkeypatch):
    seen = []

    def optimize_and_note(problem, *args, **kwargs):
        seen.append(problem.matrix)
        return optimize(problem, *args, **kwargs)

    monkeypatch.setattr(module, optimize.__name__, optimize_and_note)
    fit()
    one, two = (dense(matrix) for matrix in seen[:2])
    assert np.array_equal(one[:400], two[:400])
    assert not np.array_equal(one[400:], two[400:])


@pytest.mark.parametrize("fit", [fitted, boosted])
def test_copies_change_the_forest_and_what_they_are_decides_how(fit):
    assert not is_same(fit(), fit(n_copies=0))
    assert not is_same(fit(), fit(dropout=0.4))
    assert is_same(fit(n_copies=0), fit(n_copies=0, dropout=0.4))


def test_boosting_counts_the_errors_of_rows_not_of_copies():
    X, y = DIGITS
    labels = next(boosted().staged_predict(X[:400]))
    assert boosted().estimator_errors_[0] == pytest.approx(np.mean(labels != y[:400]))


def test_boosting_goes_on_with_the_copies_it_would_have_had():
    begun = boosted(warm_start=True)
    at_once = boosted().set_params(n_estimators=5).fit(DIGITS[0][:400], DIGITS[1][:400])
    on = begun.set_params(n_estimators=5).fit(DIGITS[0][:400], DIGITS[1][:400])
    assert is_same(on, at_once)


def test_the_strict_mode_stays_strict():
    for trace in fitted(strict_descent=True, max_iter=5).traces_:
        assert np.all(np.diff(trace.objective) <= 1e-9 * (1 + abs(trace.objective[0])))


@pytest.mark.parametrize("estimator", [FAOForestClassifier, FAOForestRegressor, TAOBoostClassifier])
@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"n_copies": -1}, ValueError, "n_copies=-1 is too small; give an integer >= 0"),
        ({"n_copies": 1.5}, TypeError, "n_copies=1.5 is of type float"),
        ({"dropout": 0.0}, ValueError, "dropout=0.0 is too small"),
        ({"dropout": 1}, ValueError, "dropout=1 is too large; give a share between 0 and 1"),
        ({"dropout": "much"}, TypeError, "dropout='much' is of type str"),
    ],
)
def test_values_of_no_use_are_refused_before_any_work(estimator, values, error, message):
    with pytest.raises(error, match=message):
        estimator(**values).fit([[0.0], [1.0]], [0, 1])


def test_copies_of_one_tree_are_gone_before_those_of_the_next(monkeypatch):
    made, add = [], GappedCopies.added_to

    def watched(copies, problem, random):
        gc.collect()
        assert [matrix for matrix in made if matrix() is not None] == []
        more = add(copies, problem, random)
        made.append(weakref.ref(more.matrix))
        return more

    monkeypatch.setattr(GappedCopies, "added_to", watched)
    X, y = DIGITS
    boost = TAOBoostClassifier(3, max_depth=3, max_sweeps=2, n_copies=1, random_state=0)
    boost.set_params(calibrate=False).fit(X[:200], y[:200])
    assert len(made) == 3
