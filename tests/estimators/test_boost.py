"""Behaviour of TAOBoostClassifier: rounds, stages, early stopping and the ends of boosting."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from spinney import TAOBoostClassifier
from spinney.algorithms.tao import optimize_tree
from spinney.data import as_rows, classification_problem
from spinney.estimators import RandomStructure
from spinney.tree.importance import split_importances
from spinney.tree.route import outputs
from tests import reference
from tests.spies import replace_everywhere

IRIS, CODES = load_iris(return_X_y=True)
NAMES = load_iris().target_names[CODES]
WAYS = [
    {},
    {"algorithm": "m1"},
    {"learning_rate": 1.0},
    {"resample": True},
    {"split": "axis"},
    {"leaf": "linear"},
    {"loss": "log_loss"},
    {"strict_descent": True},
    {"init": "balanced"},
    {"init": "cart"},
    {"init": RandomStructure(1, 4, 9)},
    {"class_weight": "balanced"},
]
all_ways = pytest.mark.parametrize("values", WAYS, ids=str)


def noisy_task() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    X, y = make_classification(260, 8, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
    return X.astype(np.float32), y


ROWS, LABELS = noisy_task()
X, Y = ROWS[:180], LABELS[:180]
X_VAL, Y_VAL = ROWS[180:], LABELS[180:]
SEPARABLE = np.arange(60.0)[:, None] * np.ones(2), np.repeat(["a", "b"], 30)


def boost(**values: Any) -> TAOBoostClassifier:
    defaults = {"n_estimators": 5, "max_depth": 3, "max_sweeps": 4, "random_state": 0}
    return TAOBoostClassifier(**(defaults | values))


def same_forest(one: Any, two: Any) -> bool:
    same_trees = all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))
    return same_trees and np.array_equal(one.estimator_weights_, two.estimator_weights_)


def labels_of(fitted: Any, rows: NDArray[np.float32] = X) -> list[NDArray[np.intp]]:
    return [outputs(tree, as_rows(rows)).argmax(axis=1) for tree in fitted.trees_]


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Problems that the optimiser is given, one a tree."""
    seen: list[Any] = []

    def spy(problem: Any, start: Any, options: Any, callback: Any = None) -> Any:
        seen.append(problem)
        return optimize_tree(problem, start, options, callback)

    replace_everywhere(monkeypatch, optimize_tree, spy)
    return seen


# --- rounds ---------------------------------------------------------------------------------


@all_ways
def test_each_way_learns_iris(values: dict[str, Any]) -> None:
    assert boost(**values).fit(IRIS, NAMES).score(IRIS, NAMES) > 0.9


@pytest.mark.parametrize("algorithm", ["samme", "m1"])
@pytest.mark.parametrize("eta", [0.1, 0.7])
@pytest.mark.parametrize("resample", [False, True])
def test_errors_and_weights_are_those_of_algorithm_1(
    algorithm: str, eta: float, resample: bool
) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 180)
    fitted = boost(algorithm=algorithm, learning_rate=eta, resample=resample)
    fitted.fit(X, Y, sample_weight=weights)
    errors, tree_weights, _ = reference.boosting(labels_of(fitted), Y, weights, algorithm, 3, eta)
    assert fitted.estimator_errors_ == pytest.approx(errors)
    assert fitted.estimator_weights_ == pytest.approx(tree_weights)
    assert len(fitted) == 5


def test_vote_is_that_of_algorithm_1() -> None:
    fitted = boost(calibrate=False).fit(X, Y)
    votes = reference.votes(labels_of(fitted, X_VAL), 3, fitted.estimator_weights_)
    shares = votes / fitted.estimator_weights_.sum()
    assert fitted.predict_proba(X_VAL) == pytest.approx(shares)
    assert fitted.decision_function(X_VAL) == pytest.approx(shares)
    assert fitted.predict(X_VAL).tolist() == reference.winners(votes)


def test_decision_of_two_classes_is_the_difference_of_their_shares() -> None:
    y = np.where(Y > 0, "yes", "no")
    fitted = boost(calibrate=False).fit(X, y)
    shares, decision = fitted.predict_proba(X), fitted.decision_function(X)
    assert decision.shape == (180,)
    assert decision == pytest.approx(shares[:, 1] - shares[:, 0])
    assert np.array_equal(np.where(decision > 0, "yes", "no"), fitted.predict(X))


def test_perfect_tree_does_not_end_boosting() -> None:
    fitted = boost(n_estimators=6, max_sweeps=20, alpha=0.0, learning_rate=0.1).fit(*SEPARABLE)
    assert len(fitted) == 6
    assert fitted.estimator_errors_.tolist() == [0.0] * 6
    expected = reference.boosting_weight(0, "samme", 2, 0.1, n_rows=60)
    assert fitted.estimator_weights_ == pytest.approx([expected] * 6)
    assert fitted.score(*SEPARABLE) == 1
    assert len({tree.bias.tobytes() for tree in fitted.trees_}) > 1


def test_penalty_means_the_same_in_every_round(tasks: list[Any]) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 180)
    boost(learning_rate=1.0, calibrate=False).fit(X, Y, sample_weight=weights)
    totals = [problem.sample_weight.sum() for problem in tasks]
    assert totals == pytest.approx([weights.sum()] * 5)
    assert not np.allclose(tasks[0].sample_weight, tasks[1].sample_weight)


def test_resampling_optimises_drawn_rows(tasks: list[Any]) -> None:
    boost(resample=True, calibrate=False).fit(X, Y)
    for problem in tasks:
        assert problem.sample_weight == pytest.approx(np.round(problem.sample_weight))
        assert problem.sample_weight.sum() == pytest.approx(180)
        assert (problem.sample_weight == 0).any()


# --- stages ---------------------------------------------------------------------------------


@all_ways
def test_last_stage_is_the_forest_bit_for_bit(values: dict[str, Any]) -> None:
    fitted = boost(**values).fit(X, Y)
    labels, shares = list(fitted.staged_predict(X_VAL)), list(fitted.staged_predict_proba(X_VAL))
    assert len(labels) == len(shares) == len(fitted)
    assert np.array_equal(labels[-1], fitted.predict(X_VAL))
    assert np.array_equal(shares[-1], fitted.predict_proba(X_VAL))


def test_stages_are_the_smaller_forests() -> None:
    fitted = boost(learning_rate=0.7, calibrate=False).fit(X, Y)
    labels = list(fitted.staged_predict(X_VAL))
    shares = list(fitted.staged_predict_proba(X_VAL))
    scores = list(fitted.staged_score(X_VAL, Y_VAL))
    for number in range(1, 6):
        smaller = boost(learning_rate=0.7, n_estimators=number, calibrate=False).fit(X, Y)
        assert np.array_equal(labels[number - 1], smaller.predict(X_VAL))
        assert np.array_equal(shares[number - 1], smaller.predict_proba(X_VAL))
        assert scores[number - 1] == smaller.score(X_VAL, Y_VAL)


def test_staged_score_counts_weighted_rows() -> None:
    weights = np.random.default_rng(0).uniform(0, 1, len(Y_VAL))
    fitted = boost().fit(X, Y)
    scores = list(fitted.staged_score(X_VAL, Y_VAL, sample_weight=weights))
    expected = [
        np.average(labels == Y_VAL, weights=weights) for labels in fitted.staged_predict(X_VAL)
    ]
    assert scores == pytest.approx(expected)
    assert all(type(score) is float for score in scores)


# --- leaves, sizes and other attributes ------------------------------------------------------


def test_leaves_and_paths_are_those_of_the_trees() -> None:
    fitted = boost().fit(X, Y)
    leaves = fitted.apply(X)
    indicator, n_nodes_ptr = fitted.decision_path(X)
    assert leaves.shape == (180, 5)
    assert indicator.shape == (180, n_nodes_ptr[-1])
    for number, tree in enumerate(fitted.trees_):
        expected = reference.apply(tree, X, reference.score_of_products)
        assert np.array_equal(leaves[:, number], expected)
        part = indicator[:, n_nodes_ptr[number] : n_nodes_ptr[number + 1]]
        met = reference.decision_path(tree, X, reference.score_of_products)
        assert np.array_equal(part.toarray(), met)


def test_sizes_are_sums_over_the_trees() -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 180)
    fitted = boost().fit(X, Y, sample_weight=weights)
    trees = fitted.trees_
    assert len(fitted.traces_) == 5
    assert fitted.n_parameters_ == sum(reference.count_parameters(tree) for tree in trees)
    met = [sum(reference.row_parameters(tree, x) for tree in trees) for x in X]
    assert fitted.flops_ == pytest.approx(np.average(met, weights=weights))


def test_shares_of_weights_are_means_with_the_weights_of_the_trees() -> None:
    fitted = boost(importance_type="weight").fit(X, Y)
    scale = classification_problem(X, Y.astype(np.int32), 3, np.ones(180)).scale
    total = np.zeros(8)
    for tree, weight in zip(fitted.trees_, fitted.estimator_weights_, strict=True):
        leaves = tree.leaf_index[reference.apply(tree, X, reference.score_of_products)]
        leaf_rows = np.bincount(leaves, minlength=tree.n_leaves) * 1.0
        total += weight * split_importances(tree, leaf_rows, scale)
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert fitted.feature_importances_ == pytest.approx(total / total.sum())


def test_fitted_attributes_describe_the_data() -> None:
    names = list("abcdefgh")
    fitted = boost().fit(pd.DataFrame(X, columns=names), np.array(["u", "v", "w"])[Y])
    assert fitted.classes_.tolist() == ["u", "v", "w"]
    assert (fitted.n_classes_, fitted.n_outputs_, fitted.n_features_in_) == (3, 1, 8)
    assert fitted.feature_names_in_.tolist() == names
    assert not hasattr(fitted, "validation_errors_")
    assert fitted.estimator_weights_.shape == fitted.estimator_errors_.shape == (5,)


def test_verbose_prints_a_line_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    boost(verbose=2).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[:4] for line in lines] == [["round", k, "of", "5"] for k in "12345"]
    assert all("validation error" in line for line in lines)
    boost().fit(X, Y)
    assert capsys.readouterr() == ("", "")


# --- the ends of boosting -------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["samme", "m1"])
def test_first_tree_as_bad_as_chance_is_kept_with_a_warning(algorithm: str) -> None:
    fitted = boost(algorithm=algorithm)
    text = (
        r"tree 1 has a weighted error of 0.5, .* less than 0.5; the forest is this tree alone; try"
    )
    with pytest.warns(ConvergenceWarning, match=text):
        fitted.fit(np.ones((40, 2)), np.arange(40) % 2)
    assert len(fitted) == 1
    assert fitted.estimator_weights_.tolist() == [1.0]
    assert fitted.estimator_errors_ == pytest.approx([0.5])
    assert fitted.predict_proba(np.ones((3, 2))) == pytest.approx(0.5, abs=0.26)


@pytest.mark.parametrize("n_classes", [3, 5, 7])
def test_chance_is_met_among_any_number_of_classes(n_classes: int) -> None:
    """1 - 1/K and the sum of the weights of the wrong rows are rounded differently."""
    fitted = boost()
    with pytest.warns(ConvergenceWarning, match=r"tree 1 .* this tree alone"):
        fitted.fit(np.ones((10 * n_classes, 2)), np.arange(10 * n_classes) % n_classes)
    assert len(fitted) == 1


def later_weak_task() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Equal rows of two classes: the first tree takes the larger one, and the weights even out."""
    return np.ones((30, 2)), np.repeat([0, 1], [20, 10])


def test_later_tree_as_bad_as_chance_is_left_out_with_a_warning() -> None:
    fitted = boost(n_estimators=50, learning_rate=1.0)
    text = r"tree 2 has a weighted error of 0.5, .*; the forest is the 1 trees before it; try"
    with pytest.warns(ConvergenceWarning, match=text) as caught:
        fitted.fit(*later_weak_task())
    assert caught[0].filename == __file__  # it points at the call of fit
    assert len(fitted) == 1
    assert fitted.estimator_errors_ == pytest.approx([1 / 3])
    assert fitted.estimator_weights_ == pytest.approx([np.log(2)])


def test_m1_ends_at_one_half_where_samme_goes_on() -> None:
    rows = (np.arange(100) < 25).astype(float)[:, None]  # tells the first class from the others
    y = np.repeat(["a", "b", "c", "d"], 25)
    with pytest.warns(ConvergenceWarning, match=r"error of 0.5, and boosting needs less than 0.5"):
        m1 = boost(algorithm="m1").fit(rows, y)
    assert len(m1) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        samme = boost(algorithm="samme").fit(rows, y)
    assert samme.estimator_errors_[0] == pytest.approx(0.5)
    assert len(samme) > 1


def test_one_class_is_one_tree_without_a_warning() -> None:
    fitted = boost().fit(X, np.full(180, "only"))
    assert len(fitted) == 1
    assert set(fitted.predict(X)) == {"only"}
    assert np.array_equal(fitted.predict_proba(X), np.ones((180, 1)))
    assert np.array_equal(fitted.decision_function(X), np.ones((180, 1)))
    assert len(list(fitted.staged_predict(X))) == 1


def test_one_row_is_fitted() -> None:
    assert boost().fit([[1.0, 2.0]], ["a"]).predict([[3.0, 4.0]]).tolist() == ["a"]


# --- early stopping -------------------------------------------------------------------------


def test_validation_errors_are_those_of_the_stages() -> None:
    fitted = boost().fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert len(fitted) == 5
    expected = [1 - score for score in fitted.staged_score(X_VAL, Y_VAL)]
    assert fitted.validation_errors_ == pytest.approx(expected)


def test_given_rows_do_not_change_the_trees() -> None:
    assert same_forest(boost().fit(X, Y, X_val=X_VAL, y_val=Y_VAL), boost().fit(X, Y))


@pytest.mark.parametrize("patience", [1, 3])
def test_early_stopping_keeps_the_best_number_of_trees(patience: int, tasks: list[Any]) -> None:
    settings = {"n_estimators": 40, "learning_rate": 1.0, "max_sweeps": 2}
    stopped = boost(n_iter_no_change=patience, **settings).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    errors = stopped.validation_errors_
    assert len(tasks) == len(errors) < 40
    assert len(stopped) == int(np.argmin(errors)) + 1
    assert len(errors) == max(len(stopped) + patience, 3)
    assert len(stopped.estimator_weights_) == len(stopped.traces_) == len(stopped)
    whole = boost(**settings).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert np.array_equal(errors, whole.validation_errors_[: len(errors)])
    assert all(a.same_as(b) for a, b in zip(stopped.trees_, whole.trees_, strict=False))


def test_least_patience_tries_the_first_tree_that_can_tip_the_vote() -> None:
    digits, classes = load_digits(return_X_y=True)
    fitted = boost(n_iter_no_change=1, max_depth=5).fit(digits, classes)
    first, second, third, *_ = fitted.validation_errors_
    assert third < first == second
    assert len(fitted) >= 3


@pytest.mark.parametrize("n_first", [1, 2, 3])
def test_least_patience_in_parts_is_that_of_the_whole(n_first: int) -> None:
    settings = {"n_iter_no_change": 1, "learning_rate": 1.0, "max_sweeps": 2}
    parts = boost(warm_start=True, n_estimators=n_first, **settings).fit(X, Y)
    parts.set_params(n_estimators=20).fit(X, Y)
    assert same_forest(parts, boost(n_estimators=20, **settings).fit(X, Y))


def test_patience_that_never_ends_still_keeps_the_best_number() -> None:
    fitted = boost(n_iter_no_change=99).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert len(fitted.validation_errors_) == 5
    assert len(fitted) == int(np.argmin(fitted.validation_errors_)) + 1


def test_held_out_rows_are_a_share_of_every_class(tasks: list[Any]) -> None:
    fitted = boost(n_iter_no_change=5, validation_fraction=0.25).fit(X, Y)
    is_aside = tasks[0].sample_weight == 0
    for code in range(3):
        assert is_aside[code == Y].sum() == np.round(0.25 * (code == Y).sum())
    for problem in tasks:
        assert np.array_equal(problem.sample_weight == 0, is_aside)
    wrong = next(fitted.staged_predict(X))[is_aside] != Y[is_aside]
    assert fitted.validation_errors_[0] == pytest.approx(wrong.mean())


def test_held_out_rows_are_weighted_in_the_validation_error(tasks: list[Any]) -> None:
    weights = np.random.default_rng(0).uniform(0.1, 3, 180)
    fitted = boost(n_iter_no_change=5).fit(X, Y, sample_weight=weights)
    is_aside = tasks[0].sample_weight == 0
    wrong = next(fitted.staged_predict(X))[is_aside] != Y[is_aside]
    assert fitted.validation_errors_[0] == pytest.approx(
        np.average(wrong, weights=weights[is_aside])
    )


def test_training_never_sees_the_held_out_rows(tasks: list[Any]) -> None:
    """Moving them moves nothing but the validation error."""
    first = boost(n_estimators=1, n_iter_no_change=5).fit(X, Y)
    is_aside = tasks[0].sample_weight == 0
    moved = X.copy()
    moved[is_aside] = 100 * X[is_aside][::-1]
    second = boost(n_estimators=1, n_iter_no_change=5).fit(moved, Y)
    assert first.trees_[0].same_as(second.trees_[0])
    assert np.array_equal(first.estimator_errors_, second.estimator_errors_)


def test_held_out_rows_count_in_no_attribute(tasks: list[Any]) -> None:
    fitted = boost(n_iter_no_change=5).fit(X, Y)
    trained = tasks[0].sample_weight > 0
    rows = X[trained]
    met = [sum(reference.row_parameters(tree, x) for tree in fitted.trees_) for x in rows]
    assert fitted.flops_ == pytest.approx(np.mean(met))
    errors, *_ = reference.boosting(
        labels_of(fitted, rows), Y[trained], np.ones(len(rows)), "samme", 3, 0.1
    )
    assert fitted.estimator_errors_ == pytest.approx(errors)


def test_unknown_labels_count_as_wrong() -> None:
    y_val = np.where(Y_VAL == 2, 77, Y_VAL)
    fitted = boost().fit(X, Y, X_val=X_VAL, y_val=y_val)
    expected = [np.mean(labels != y_val) for labels in fitted.staged_predict(X_VAL)]
    assert fitted.validation_errors_ == pytest.approx(expected)
    assert fitted.validation_errors_.min() >= (Y_VAL == 2).mean()


def test_validation_rows_may_be_sparse_or_a_frame() -> None:
    expected = boost().fit(X, Y, X_val=X_VAL, y_val=Y_VAL).validation_errors_
    names = list("abcdefgh")
    sparse = boost().fit(X, Y, X_val=sp.csr_matrix(X_VAL), y_val=Y_VAL.tolist())
    assert np.array_equal(sparse.validation_errors_, expected)
    frame = boost().fit(
        pd.DataFrame(X, columns=names),
        pd.Series(Y),
        X_val=pd.DataFrame(X_VAL, columns=names),
        y_val=pd.Series(Y_VAL),
    )
    assert np.array_equal(frame.validation_errors_, expected)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"X_val": X_VAL}, r"X_val is given but y_val is None; give both or neither; try"),
        ({"y_val": Y_VAL}, r"y_val is given but X_val is None; give both or neither; try"),
        (
            {"X_val": X_VAL[:, :3], "y_val": Y_VAL},
            r"X_val: X has 3 features, but .* is expecting 8",
        ),
        ({"X_val": X_VAL[:5], "y_val": Y_VAL}, r"y_val: .*inconsistent .*: \[5, 80\]"),
        ({"X_val": X_VAL[:0], "y_val": Y_VAL[:0]}, r"X_val: Found array with 0 sample"),
        ({"X_val": X_VAL, "y_val": np.c_[Y_VAL, Y_VAL]}, r"y_val: y should be a 1d array"),
    ],
    ids=["no y", "no X", "columns", "lengths", "empty", "two outputs"],
)
def test_bad_validation_rows_are_refused_before_any_tree(
    given: dict[str, Any], text: str, tasks: list[Any]
) -> None:
    fitted = boost()
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match=text):
        fitted.fit(X, Y, **given)
    assert tasks == []
    assert vars(fitted) == before


def test_too_few_rows_to_set_aside_are_refused(tasks: list[Any]) -> None:
    text = r"validation_fraction=0.1 of 4 rows in 2 classes .*; give a share .*; try more rows"
    with pytest.raises(ValueError, match=text):
        boost(n_iter_no_change=2).fit(X[:4], [0, 1, 0, 1])
    assert tasks == []


def test_fit_without_validation_forgets_the_last_errors() -> None:
    fitted = boost().fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert not hasattr(fitted.fit(X, Y), "validation_errors_")


# --- weights --------------------------------------------------------------------------------


def test_weight_k_equals_the_row_repeated() -> None:
    counts = np.random.default_rng(3).integers(1, 4, 180)
    weighted = boost().fit(X, Y, sample_weight=counts)
    repeated = boost().fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    assert weighted.estimator_errors_ == pytest.approx(repeated.estimator_errors_, abs=1e-6)
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-4)


@pytest.mark.parametrize("total", [1.0, 1e-6])
def test_weights_of_a_small_sum_are_fitted(total: float) -> None:
    y = (Y > 0).astype(int)
    fitted = boost(alpha=0.0).fit(X, y, sample_weight=np.full(180, total / 180))
    assert (fitted.estimator_weights_ > 0).all()
    assert np.isfinite(fitted.predict_proba(X)).all()


def test_unit_of_the_weights_does_not_matter_without_penalties() -> None:
    settings = {"alpha": 0.0, "ridge": 0.0, "learning_rate": 1.0}
    whole = boost(**settings).fit(X, Y)
    shares = boost(**settings).fit(X, Y, sample_weight=np.full(180, 1 / 256))
    assert shares.estimator_weights_ == pytest.approx(whole.estimator_weights_)
    tiny = boost(**settings).fit(X, Y, sample_weight=np.full(180, 1e-20))
    assert np.isfinite(tiny.predict_proba(X)).all()


# --- the same forest, bit for bit -----------------------------------------------------------


# --- warm start -----------------------------------------------------------------------------


def test_early_stopping_in_parts_holds_out_the_same_rows() -> None:
    settings = {"n_iter_no_change": 99, "learning_rate": 0.7}
    parts = boost(warm_start=True, n_estimators=2, **settings).fit(X, Y)
    parts.set_params(n_estimators=5).fit(X, Y)
    whole = boost(**settings).fit(X, Y)
    assert np.array_equal(parts.validation_errors_, whole.validation_errors_)
    assert same_forest(parts, whole)


@pytest.mark.parametrize(
    "first", [{}, {"n_iter_no_change": 9, "validation_fraction": 0.3}], ids=str
)
def test_trees_that_know_the_rows_to_set_aside_are_not_judged_by_them(
    first: dict[str, Any],
) -> None:
    fitted = boost(warm_start=True, n_estimators=2, **first).fit(X, Y)
    before = fitted.trees_
    fitted.set_params(n_estimators=4, n_iter_no_change=9, validation_fraction=0.1)
    with pytest.raises(ValueError, match=r"the last fit had 0.* give X_val .* try warm_start"):
        fitted.fit(X, Y)
    assert fitted.trees_ is before
    assert len(fitted.fit(X, Y, X_val=X_VAL, y_val=Y_VAL).validation_errors_) == 4


@pytest.mark.parametrize("order", [slice(None, None, -1), slice(1, None)], ids=str)
def test_rows_that_may_have_been_trained_on_are_not_set_aside(order: slice) -> None:
    fitted = boost(warm_start=True, n_estimators=2, n_iter_no_change=9).fit(X, Y)
    fitted.set_params(n_estimators=4)
    for kept in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        with pytest.raises(ValueError, match=r"not those of the last fit.* give X_val .* try"):
            kept.fit(X[order], Y[order])
        assert len(kept.fit(X[order], Y[order], X_val=X_VAL, y_val=Y_VAL).validation_errors_) == 4


def test_rows_of_a_model_of_an_older_release_are_set_aside_as_before() -> None:
    fitted = boost(warm_start=True, n_estimators=2, n_iter_no_change=9).fit(X, Y)
    del fitted.__dict__["_row_digest"]
    fitted.set_params(n_estimators=4).fit(X[::-1], Y[::-1])
    assert fitted._row_digest is None  # it cannot be known for the first trees


def test_patience_begins_where_a_warm_start_goes_on() -> None:
    settings = {"learning_rate": 1.0, "max_sweeps": 2}
    whole = boost(n_estimators=14, **settings).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    errors = whole.validation_errors_
    assert int(np.argmin(errors[:8])) < 5  # patience would have ended among the first trees
    fitted = boost(n_estimators=8, warm_start=True, **settings).fit(X, Y)
    fitted.set_params(n_estimators=14, n_iter_no_change=3).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    seen = fitted.validation_errors_
    assert np.array_equal(seen, errors[: len(seen)])
    best = int(np.argmin(seen)) + 1
    assert len(fitted) == best
    assert len(seen) == min(max(8, best) + 3, 14)
    assert all(a.same_as(b) for a, b in zip(fitted.trees_, whole.trees_, strict=False))


def test_a_warm_start_without_new_trees_is_told_of_unless_it_judges_those_there_are() -> None:
    fitted = boost(n_estimators=2, warm_start=True).fit(X, Y)
    with pytest.warns(
        UserWarning, match=r"n_estimators=2 .* so that nothing is; give .* try"
    ) as told:
        fitted.fit(X, Y)
    assert told[0].filename == __file__
    assert len(fitted.fit(X, Y, X_val=X_VAL, y_val=Y_VAL).validation_errors_) == 2


def test_change_of_the_algorithm_keeps_the_trees() -> None:
    """SAMME accepts a first tree that AdaBoost.M1 would not."""
    digits, classes = load_digits(return_X_y=True)
    fitted = boost(max_depth=2, n_estimators=3, warm_start=True).fit(digits, classes)
    assert fitted.estimator_errors_[0] > 0.5
    first = fitted.trees_
    with pytest.warns(ConvergenceWarning, match=r'or algorithm="samme"'):
        fitted.set_params(algorithm="m1", n_estimators=5).fit(digits, classes)
    assert len(fitted) >= 3
    assert all(tree.same_as(old) for tree, old in zip(fitted.trees_, first, strict=False))


def test_boosting_that_ended_stays_ended() -> None:
    """A warm start does not grow past a tree at which boosting at once would have ended."""
    hopeless = np.ones((40, 2)), np.arange(40) % 2
    for task in (hopeless, later_weak_task()):
        parts = boost(warm_start=True, n_estimators=2, learning_rate=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            parts.fit(*task)
            parts.set_params(n_estimators=6).fit(*task)
            whole = boost(n_estimators=6, learning_rate=1.0).fit(*task)
        assert same_forest(parts, whole)


def test_one_class_stays_one_tree_in_a_warm_start() -> None:
    fitted = boost(warm_start=True, n_estimators=2).fit(X, np.zeros(180))
    assert len(fitted.set_params(n_estimators=5).fit(X, np.zeros(180))) == 1


# --- copies and transaction -----------------------------------------------------------------


def test_grid_search_reaches_the_rule() -> None:
    grid = {"algorithm": ["samme", "m1"], "learning_rate": [0.1, 1.0]}
    search = GridSearchCV(boost(n_estimators=2, max_sweeps=2), grid, cv=2).fit(IRIS, NAMES)
    assert search.best_score_ > 0.8
