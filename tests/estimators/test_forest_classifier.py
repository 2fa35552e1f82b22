"""Behaviour of TAOForestClassifier: what sets the trees apart, how they vote, and what stays."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time
import warnings
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import spinney.ensembles.bagging as bagging
import spinney.estimators.sampled_forest as sampled_forest
from spinney import TAOForestClassifier
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import as_rows, classification_problem
from spinney.estimators import RandomStructure, TAOTreeClassifier
from spinney.tree.importance import split_importances
from spinney.tree.route import outputs
from tests import reference

IRIS, CODES = load_iris(return_X_y=True)
NAMES = load_iris().target_names[CODES]
WAYS = [
    {},
    {"split": "axis"},
    {"leaf": "linear", "max_depth": 2},
    {"loss": "log_loss"},
    {"strict_descent": True},
    {"init": "balanced"},
    {"init": "cart"},
    {"init": "random_structure", "max_depth": 5},
    {"start": "same"},
    {"start": "previous"},
    {"alpha": (0.01, 1.0)},
    {"max_samples": 0.5},
    {"bootstrap": True},
    {"max_features": 3},
    {"max_features": "sqrt", "feature_sampling": "global"},
    {"voting": "soft"},
]
all_ways = pytest.mark.parametrize("values", WAYS, ids=str)


def noisy_task() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    X, y = make_classification(200, 9, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
    return X.astype(np.float32), y


X, Y = noisy_task()


def forest(**values: Any) -> TAOForestClassifier:
    defaults = {"n_estimators": 4, "max_depth": 3, "max_iter": 4, "random_state": 0}
    return TAOForestClassifier(**(defaults | values))


def same_forest(one: Any, two: Any) -> bool:
    return all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))


def answers(fitted: Any, rows: NDArray[np.float32] = X) -> list[NDArray[np.float64]]:
    return [outputs(tree, as_rows(rows)) for tree in fitted.trees_]


class Tasks:
    """What the optimiser was given for each tree."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.weights: list[NDArray[np.float64]] = []
        self.options: list[TAOOptions] = []
        self.n_features: list[int] = []
        self.starts: list[Any] = []
        monkeypatch.setattr(bagging, "optimize_tree", self._optimize)

    def _optimize(self, problem: Any, start: Any, options: TAOOptions, callback: Any = None) -> Any:
        self.weights.append(problem.sample_weight)
        self.options.append(options)
        self.n_features.append(problem.n_features)
        self.starts.append(start)
        return optimize_tree(problem, start, options, callback)


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Tasks:
    return Tasks(monkeypatch)


# --- predictions ----------------------------------------------------------------------------


@all_ways
def test_each_way_learns_iris(values: dict[str, Any]) -> None:
    assert forest(**values).fit(IRIS, NAMES).score(IRIS, NAMES) > 0.9


@all_ways
def test_probabilities_agree_with_labels(values: dict[str, Any]) -> None:
    fitted = forest(**values).fit(X, Y)
    shares = fitted.predict_proba(X)
    assert shares.shape == (200, 3)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    assert np.array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(X))
    with np.errstate(divide="ignore"):
        assert np.allclose(fitted.predict_log_proba(X), np.log(shares))


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_hard_vote_counts_trees(leaf: str) -> None:
    fitted = forest(voting="hard", leaf=leaf, calibrate=False).fit(X, Y)
    counts = reference.votes([answer.argmax(axis=1) for answer in answers(fitted)], 3)
    assert np.array_equal(fitted.predict_proba(X), counts / 4)
    assert fitted.predict(X).tolist() == reference.winners(counts)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_soft_vote_averages_probabilities(leaf: str) -> None:
    fitted = forest(leaf=leaf, calibrate=False).fit(X, Y)
    parts = answers(fitted)
    if leaf == "linear":
        parts = [softmax(part, axis=1) for part in parts]
    assert fitted.predict_proba(X) == pytest.approx(sum(parts) / 4, abs=1e-6)


@pytest.mark.parametrize(("leaf", "meant"), [("constant", "hard"), ("linear", "soft")])
def test_auto_vote_depends_on_the_leaves(leaf: str, meant: str) -> None:
    auto, given = (
        forest(leaf=leaf, voting=voting).fit(X, Y).predict_proba(X) for voting in ("auto", meant)
    )
    assert np.array_equal(auto, given)
    other = forest(leaf=leaf, voting="soft" if meant == "hard" else "hard").fit(X, Y)
    assert not np.array_equal(auto, other.predict_proba(X))


def test_unknown_voting_is_refused_after_the_fit() -> None:
    fitted = forest().fit(X, Y).set_params(voting="sfot")
    with pytest.raises(ValueError, match=r"voting='sfot' is not known; give .* try"):
        fitted.predict(X)


def test_voting_can_be_changed_after_the_fit() -> None:
    fitted = forest(voting="hard").fit(X, Y)
    soft = forest(voting="soft").fit(X, Y)
    fitted.set_params(voting="soft")
    assert np.array_equal(fitted.predict(X), soft.predict(X))
    for model in (fitted, soft):  # the map to probabilities stays that of the fit
        model.set_params(calibrate=False)
    assert np.array_equal(fitted.predict_proba(X), soft.predict_proba(X))


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]], ids=str)
def test_classes_of_any_kind_keep_their_labels(labels: list[Any]) -> None:
    y = np.array(labels)[(Y > 0).astype(int)]
    fitted = forest().fit(X, y)
    assert fitted.classes_.tolist() == labels
    assert fitted.predict(X).dtype == y.dtype
    assert fitted.score(X, y) > 0.8


def test_apply_names_the_leaf_in_each_tree() -> None:
    fitted = forest().fit(X, Y)
    leaves = fitted.apply(X)
    assert leaves.shape == (200, 4)
    assert leaves.dtype == np.int32
    for number, tree in enumerate(fitted.trees_):
        expected = reference.apply(tree, X, reference.score_of_products)
        assert np.array_equal(leaves[:, number], expected)


def test_decision_path_has_the_nodes_of_all_trees_side_by_side() -> None:
    fitted = forest().fit(X, Y)
    indicator, n_nodes_ptr = fitted.decision_path(X)
    assert sp.issparse(indicator)
    assert indicator.format == "csr"
    sizes = [tree.n_nodes for tree in fitted.trees_]
    assert n_nodes_ptr.tolist() == [0, *np.cumsum(sizes)]
    assert indicator.shape == (200, sum(sizes))
    expected = [
        reference.decision_path(tree, X, reference.score_of_products) for tree in fitted.trees_
    ]
    assert np.array_equal(indicator.toarray(), np.hstack(expected))


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_batches_are_predicted_as_the_whole(leaf: str) -> None:
    fitted = forest(leaf=leaf).fit(X, Y)
    batches = [fitted.predict_proba(X[start : start + 37]) for start in range(0, 200, 37)]
    assert np.array_equal(np.concatenate(batches), fitted.predict_proba(X))
    assert np.array_equal(fitted.predict_proba(X[:1]), fitted.predict_proba(X)[:1])


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "apply", "decision_path"]
)
def test_unfitted_forest_says_so(method: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(forest(), method)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = forest().trees_


# --- rows of the trees ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "n_drawn"),
    [
        ({}, 180),
        ({"max_samples": None}, 180),
        ({"max_samples": 0.5}, 100),
        ({"max_samples": 33}, 33),
        ({"max_samples": 1}, 1),
        ({"max_samples": 1.0}, 200),
        ({"max_samples": 1e-9}, 1),
        ({"bootstrap": True}, 200),
        ({"bootstrap": True, "max_samples": 0.25}, 50),
        ({"bootstrap": True, "max_samples": 7}, 7),
    ],
    ids=str,
)
def test_max_samples_and_bootstrap_decide_the_rows(
    tasks: Tasks, values: dict[str, Any], n_drawn: int
) -> None:
    forest(max_depth=1, max_iter=1, calibrate=False, **values).fit(X, Y)
    assert [weights.sum() for weights in tasks.weights] == [n_drawn] * 4
    most = max(weights.max() for weights in tasks.weights)
    assert (most > 1) == ("bootstrap" in values and n_drawn > 7)
    if 1 < n_drawn < 200:
        assert len({weights.tobytes() for weights in tasks.weights}) == 4


def test_drawn_counts_multiply_the_sample_weights(tasks: Tasks) -> None:
    weights = np.random.default_rng(0).integers(1, 5, 200).astype(float)
    forest(bootstrap=True).fit(X, Y, sample_weight=weights)
    for drawn in tasks.weights:
        counts = drawn / weights
        assert np.array_equal(counts, np.round(counts))
        assert counts.sum() == 200


def test_one_tree_on_all_rows_is_a_tree_of_the_same_seed(tasks: Tasks) -> None:
    fitted = forest(n_estimators=1, max_samples=1.0).fit(X, Y)
    problem = classification_problem(X, Y.astype(np.int32), 3, np.ones(200))
    alone = optimize_tree(problem, tasks.starts[0], tasks.options[0])
    assert fitted.trees_[0].same_as(alone.tree)


# --- columns of the trees -------------------------------------------------------------------

COLUMN_WORDS = [
    (None, 9),
    (2, 2),
    (9, 9),
    (0.34, 3),
    (1.0, 9),
    (1e-9, 1),
    ("sqrt", 3),
    ("D**0.5", 3),
    ("D**0.9", 7),
    ("D ** 1", 9),
]


@pytest.mark.parametrize(("max_features", "n_columns"), COLUMN_WORDS, ids=str)
def test_local_columns_are_counted_per_split(max_features: Any, n_columns: int) -> None:
    fitted = forest(max_features=max_features, alpha=1e-4, strict_descent=True).fit(X, Y)
    widths = [int(np.diff(tree.split_indptr).max()) for tree in fitted.trees_]
    assert max(widths) == n_columns
    used = np.concatenate([tree.split_indices for tree in fitted.trees_])
    assert len(np.unique(used)) > min(n_columns, 8)


@pytest.mark.parametrize(("max_features", "n_columns"), COLUMN_WORDS, ids=str)
def test_global_columns_are_counted_per_tree(
    tasks: Tasks, max_features: Any, n_columns: int
) -> None:
    fitted = forest(max_features=max_features, feature_sampling="global", alpha=1e-4).fit(X, Y)
    assert tasks.n_features == [n_columns] * 4
    used = [set(tree.split_indices.tolist()) for tree in fitted.trees_]
    assert max(len(columns) for columns in used) <= n_columns
    if n_columns < 8:
        assert any(columns != used[0] for columns in used[1:])


@pytest.mark.parametrize("sampling", ["local", "global"])
def test_linear_leaves_keep_to_the_columns_of_a_tree_only(sampling: str) -> None:
    fitted = forest(leaf="linear", max_features=2, feature_sampling=sampling, alpha=1e-3).fit(X, Y)
    widths = [len(set(tree.leaf_indices.tolist())) for tree in fitted.trees_]
    assert max(widths) > 2 if sampling == "local" else max(widths) <= 2


def test_global_columns_refuse_one_start_for_all() -> None:
    given = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    for values in ({"start": "previous"}, {"init": given}, {"init": given.tree_}):
        with pytest.raises(ValueError, match=r'cannot go with feature_sampling="global".*; try'):
            forest(max_features=3, feature_sampling="global", **values).fit(X, Y)
        forest(max_features=None, feature_sampling="global", **values).fit(X, Y)


# --- starts of the trees --------------------------------------------------------------------


def test_starts_are_own_the_same_or_the_tree_before(tasks: Tasks) -> None:
    for start, n_seeds in (("own", 4), ("same", 1), ("previous", 4)):
        tasks.options.clear()
        tasks.starts.clear()
        fitted = forest(start=start).fit(X, Y)
        assert len({options.start_seed for options in tasks.options}) == n_seeds
        is_given = [not isinstance(given, tuple) for given in tasks.starts]
        assert is_given == [start == "same"] + [start != "own"] * 3
        n_different = len({tree.split_weights.tobytes() for tree in fitted.trees_})
        assert n_different > 2 if start == "previous" else n_different == 4  # may be the best again


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_same_start_grown_in_parts_and_by_any_backend_is_that_of_the_whole(leaf: str) -> None:
    settings = {"start": "same", "leaf": leaf, "n_estimators": 4}
    whole = forest(**settings).fit(X, Y)
    parts = forest(**(settings | {"n_estimators": 1, "warm_start": True})).fit(X, Y)
    assert same_forest(parts.set_params(n_estimators=4).fit(X, Y), whole)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            assert same_forest(forest(**settings).fit(X, Y), whole)


def test_same_start_on_all_rows_gives_equal_trees() -> None:
    fitted = forest(start="same", max_samples=1.0).fit(X, Y)
    assert all(tree.same_as(fitted.trees_[0]) for tree in fitted.trees_)
    assert fitted.score(X, Y) == forest(n_estimators=1, start="same", max_samples=1.0).fit(
        X, Y
    ).score(X, Y)


def test_own_starts_on_all_rows_give_different_trees() -> None:
    fitted = forest(max_samples=1.0).fit(X, Y)
    assert len({tree.split_weights.tobytes() for tree in fitted.trees_}) == 4


@pytest.mark.parametrize("init", ["random_structure", RandomStructure(1, 5, 15)], ids=str)
def test_random_structures_differ_from_tree_to_tree(tasks: Tasks, init: Any) -> None:
    forest(init=init, max_depth=5).fit(X, Y)
    assert len({left.tobytes() for left, _ in tasks.starts}) > 1


def test_all_trees_can_start_from_one_given_tree(tasks: Tasks) -> None:
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    fitted = forest(init=cart, split="axis").fit(X, Y)
    assert all(start.same_as(tasks.starts[0]) for start in tasks.starts)
    assert fitted.score(X, Y) > 0.7


def test_start_of_the_wrong_task_is_refused_before_any_tree(tasks: Tasks) -> None:
    narrow = DecisionTreeClassifier(max_depth=2).fit(X[:, :2], Y)
    with pytest.raises(ValueError, match=r"a tree on 2 columns but X has 9; give .* try"):
        forest(init=narrow).fit(X, Y)
    assert tasks.starts == []


# --- penalties of the trees -----------------------------------------------------------------


def test_pair_of_penalties_is_a_path_even_in_logarithms(tasks: Tasks) -> None:
    fitted = forest(alpha=(0.01, 10.0)).fit(X, Y)
    alphas = [options.alpha for options in tasks.options]
    assert alphas == pytest.approx([0.01, 0.1, 1.0, 10.0])
    sizes = [len(tree.split_weights) for tree in fitted.trees_]
    assert sizes[0] > sizes[-1]
    forest(alpha=[10.0, 0.01], start="previous").fit(X, Y)
    assert [options.alpha for options in tasks.options[4:]] == pytest.approx(alphas[::-1])


def test_one_penalty_is_that_of_all_trees(tasks: Tasks) -> None:
    forest(alpha=0.3).fit(X, Y)
    assert [options.alpha for options in tasks.options] == [0.3] * 4


# --- rows that trees did not see ------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [{}, {"bootstrap": True}, {"voting": "soft"}, {"leaf": "linear"}, {"class_weight": "balanced"}],
    ids=str,
)
def test_out_of_bag_estimate_is_that_of_plain_loops(tasks: Tasks, values: dict[str, Any]) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    fitted = forest(n_estimators=8, max_samples=0.5, oob_score=True, **values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted.fit(X, Y, sample_weight=weights)
    parts = answers(fitted)
    if fitted.leaf == "linear":
        parts = [softmax(part, axis=1) for part in parts]
    elif fitted.voting == "auto":
        parts = [np.eye(3)[part.argmax(axis=1)] for part in parts]
    expected = reference.out_of_bag(parts, tasks.weights)
    assert fitted.oob_decision_function_ == pytest.approx(expected, abs=1e-6, nan_ok=True)
    judged = ~np.isnan(expected[:, 0])
    if fitted.class_weight is None:
        is_right = fitted.oob_decision_function_[judged].argmax(axis=1) == Y[judged]
        assert fitted.oob_score_ == pytest.approx(np.average(is_right, weights=weights[judged]))


def test_rows_that_every_tree_saw_are_nan_with_a_warning() -> None:
    fitted = forest(n_estimators=2, max_samples=0.5, oob_score=True)
    with pytest.warns(UserWarning, match=r"of 200 rows were seen by every tree .*; try more trees"):
        fitted.fit(X, Y)
    is_missing = np.isnan(fitted.oob_decision_function_).all(axis=1)
    assert 0 < is_missing.sum() < 100
    assert not np.isnan(fitted.oob_decision_function_[~is_missing]).any()
    assert 0.4 < fitted.oob_score_ < 1


def test_no_warning_where_every_row_is_judged() -> None:
    fitted = forest(n_estimators=20, max_iter=2, max_samples=0.3, oob_score=True).fit(X, Y)
    assert not np.isnan(fitted.oob_decision_function_).any()
    assert fitted.oob_decision_function_.sum(axis=1) == pytest.approx(np.ones(200))


@pytest.mark.parametrize("max_samples", [1.0, 200])
def test_out_of_bag_estimate_needs_rows_left_out(tasks: Tasks, max_samples: Any) -> None:
    text = r"oob_score=True but every tree sees all 200 rows; leave some out; try max_samples=0.9"
    with pytest.raises(ValueError, match=text):
        forest(max_samples=max_samples, oob_score=True).fit(X, Y)
    assert tasks.weights == []


def test_rows_of_weight_zero_keep_their_place_in_the_out_of_bag_estimate() -> None:
    weights = np.where(np.arange(200) % 4 == 0, 0.0, 1.0)
    settings = {"n_estimators": 20, "max_iter": 2, "max_samples": 0.3, "oob_score": True}
    weighted = forest(**settings).fit(X, Y, sample_weight=weights)
    without = forest(**settings).fit(X[weights > 0], Y[weights > 0])
    assert weighted.oob_score_ == without.oob_score_
    assert weighted.oob_decision_function_.shape == (200, 3)
    assert np.array_equal(
        weighted.oob_decision_function_[weights > 0], without.oob_decision_function_
    )


def test_forest_without_any_row_out_of_bag_is_fitted_without_a_score() -> None:
    fitted = forest(n_estimators=1, bootstrap=True, oob_score=True)
    with pytest.warns(UserWarning, match=r"1 of 1 rows were seen by every tree"):
        fitted.fit(X[:1], Y[:1])
    assert np.isnan(fitted.oob_score_)


def test_fit_without_out_of_bag_estimate_forgets_the_last_one() -> None:
    fitted = forest(n_estimators=20, max_iter=2, max_samples=0.3, oob_score=True).fit(X, Y)
    fitted.set_params(oob_score=False).fit(X, 2 - Y)
    assert not hasattr(fitted, "oob_score_")
    assert not hasattr(fitted, "oob_decision_function_")


# --- fitted attributes ----------------------------------------------------------------------


def test_fitted_attributes_describe_the_forest() -> None:
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    fitted = forest().fit(frame, Y)
    assert isinstance(fitted.trees_, tuple)
    assert len(fitted) == len(fitted.trees_) == len(fitted.traces_) == 4
    for tree, trace in zip(fitted.trees_, fitted.traces_, strict=True):
        tree.check()
        assert tree.max_depth <= 3
        assert 1 <= len(trace) <= 4
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert (fitted.n_classes_, fitted.n_outputs_, fitted.n_features_in_) == (3, 1, 9)
    assert fitted.feature_names_in_.tolist() == list("abcdefghi")


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_sizes_are_sums_over_the_trees(leaf: str) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    fitted = forest(leaf=leaf).fit(X, Y, sample_weight=weights)
    trees = fitted.trees_
    assert fitted.n_parameters_ == sum(reference.count_parameters(tree) for tree in trees)
    met = [sum(reference.row_parameters(tree, x) for tree in trees) for x in X]
    assert fitted.flops_ == pytest.approx(np.average(met, weights=weights))


def test_shares_of_weights_are_means_over_the_trees() -> None:
    fitted = forest(importance_type="weight").fit(X, Y)
    scale = classification_problem(X, Y.astype(np.int32), 3, np.ones(200)).scale
    parts = []
    for tree in fitted.trees_:
        leaves = tree.leaf_index[reference.apply(tree, X, reference.score_of_products)]
        parts.append(
            split_importances(tree, np.bincount(leaves, minlength=tree.n_leaves) * 1.0, scale)
        )
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert fitted.feature_importances_ == pytest.approx(np.mean(parts, axis=0))


def test_forest_of_single_leaves_has_no_importances() -> None:
    fitted = forest(alpha=1e6).fit(X, Y)
    assert np.array_equal(fitted.feature_importances_, np.zeros(9))
    assert fitted.n_parameters_ == 4


def test_verbose_prints_a_line_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    forest(verbose=2).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[:4] for line in lines] == [["tree", k, "of", "4"] for k in "1234"]
    forest().fit(X, Y)
    assert capsys.readouterr() == ("", "")


# --- weights --------------------------------------------------------------------------------


@all_ways
def test_weight_zero_equals_the_row_left_out(values: dict[str, Any]) -> None:
    kept = np.random.default_rng(3).random(200) < 0.7
    weighted = forest(**values).fit(X, Y, sample_weight=kept.astype(float))
    without = forest(**values).fit(X[kept], Y[kept])
    assert same_forest(weighted, without)
    assert np.array_equal(weighted.predict_proba(X), without.predict_proba(X))
    assert weighted.flops_ == without.flops_


def test_weight_k_equals_the_row_repeated_where_trees_see_all_rows() -> None:
    counts = np.random.default_rng(3).integers(0, 4, size=200)
    weighted = forest(max_samples=1.0).fit(X, Y, sample_weight=counts)
    repeated = forest(max_samples=1.0).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-6)
    assert weighted.flops_ == pytest.approx(repeated.flops_)


def test_class_weight_multiplies_the_sample_weight() -> None:
    by_class = forest(class_weight={0: 2.0, 1: 0.5, 2: 0.0}).fit(X, Y)
    by_row = forest().fit(X, Y, sample_weight=np.array([2.0, 0.5, 0.0])[Y])
    assert same_forest(by_class, by_row)
    assert not (by_class.predict(X) == 2).any()


def test_balanced_class_weight_gives_all_classes_the_same_weight(tasks: Tasks) -> None:
    few = np.flatnonzero((Y != 2) | (np.arange(200) % 10 == 0))
    forest(max_samples=1.0, class_weight="balanced").fit(X[few], Y[few])
    totals = np.bincount(Y[few], weights=tasks.weights[0])
    assert totals == pytest.approx(np.full(3, len(few) / 3))


@pytest.mark.parametrize("init", ["balanced", "cart"])
def test_class_of_weight_zero_keeps_its_column(init: str) -> None:
    fitted = forest(init=init).fit(X, Y, sample_weight=(Y != 1).astype(float))
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.predict_proba(X).shape == (200, 3)
    shares = fitted.predict_proba(X)
    assert (shares[:, 1] <= shares[:, [0, 2]].min(axis=1)).all()
    assert not fitted.set_params(calibrate=False).predict_proba(X)[:, 1].any()


# --- the same forest, bit for bit -----------------------------------------------------------


@all_ways
def test_number_of_jobs_changes_nothing(values: dict[str, Any]) -> None:
    one = forest(n_jobs=1, **values).fit(X, Y)
    for n_jobs in (2, 9):
        other = forest(n_jobs=n_jobs, **values).fit(X, Y)
        assert same_forest(one, other)
        assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
        assert np.array_equal(one.feature_importances_, other.feature_importances_)
        assert one.flops_ == other.flops_


@pytest.mark.parametrize("backend", ["threading", "sequential", "loky"])
def test_joblib_backend_changes_nothing(backend: str) -> None:
    ways = ({"max_features": 2}, {"init": "cart", "bootstrap": True})
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = [forest(**values).fit(X, Y) for values in ways]
    for values, other in zip(ways, found, strict=True):
        assert same_forest(forest(**values).fit(X, Y), other)


def test_forests_fitted_side_by_side_do_not_meet() -> None:
    def fit(seed: int) -> TAOForestClassifier:
        return forest(random_state=seed, n_jobs=2).fit(X, Y)

    together = joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(fit)(s) for s in (0, 1))
    for seed, fitted in enumerate(together):
        assert same_forest(fitted, fit(seed))


@all_ways
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_order_and_precision_change_nothing(values: dict[str, Any], order: Any) -> None:
    expected = forest(**values).fit(X, Y)
    rows = np.array(X, dtype=np.float64, order=order)
    copied = forest(**values).fit(rows, Y)
    assert same_forest(copied, expected)
    assert np.array_equal(copied.predict_proba(rows), expected.predict_proba(X))


@all_ways
@pytest.mark.parametrize("density", [1.0, 0.04])
def test_container_changes_nothing(values: dict[str, Any], density: float) -> None:
    thinned = np.where(np.random.default_rng(0).random(X.shape) < density, X, 0)
    dense = forest(**values).fit(thinned, Y)
    sparse = forest(**values).fit(sp.csr_matrix(thinned), Y)
    assert same_forest(dense, sparse)
    for fitted in (dense, sparse):
        shares = fitted.predict_proba(thinned)
        assert np.array_equal(shares, fitted.predict_proba(sp.csr_matrix(thinned)))


def test_seed_decides_the_forest() -> None:
    zero = forest().fit(X, Y)
    assert same_forest(zero, forest().fit(X, Y))
    assert same_forest(zero, forest(random_state=np.random.RandomState(0)).fit(X, Y))
    other = forest(random_state=1).fit(X, Y)
    assert not any(a.same_as(b) for a, b in zip(zero.trees_, other.trees_, strict=True))


def test_generator_that_moves_on_gives_another_forest() -> None:
    generator = np.random.RandomState(0)
    first = forest(random_state=generator).fit(X, Y)
    assert not same_forest(first, forest(random_state=generator).fit(X, Y))


def test_more_trees_keep_the_first_ones() -> None:
    few, many = forest(n_estimators=2).fit(X, Y), forest(n_estimators=5).fit(X, Y)
    assert all(a.same_as(b) for a, b in zip(few.trees_, many.trees_, strict=False))


# --- warm start -----------------------------------------------------------------------------


# A path over more trees has other penalties, so it is not grown on but laid anew.
one_penalty = pytest.mark.parametrize(
    "values", [values for values in WAYS if "alpha" not in values], ids=str
)


@one_penalty
def test_forest_grown_in_parts_equals_the_forest_grown_at_once(values: dict[str, Any]) -> None:
    parts = forest(warm_start=True, **values)
    for n_estimators in (1, 3, 5):
        parts.set_params(n_estimators=n_estimators).fit(X, Y)
    whole = forest(n_estimators=5, **values).fit(X, Y)
    assert same_forest(parts, whole)
    assert len(parts.traces_) == 5
    assert parts.n_parameters_ == whole.n_parameters_
    assert parts.flops_ == whole.flops_
    assert np.array_equal(parts.feature_importances_, whole.feature_importances_)


def test_forest_without_a_seed_is_grown_on_from_its_own() -> None:
    first = forest(n_estimators=1, warm_start=True, random_state=None).fit(X, Y)
    found = []
    for numbers in ((5,), (3, 5)):
        grown = copy.deepcopy(first)
        for n_estimators in numbers:
            grown.set_params(n_estimators=n_estimators).fit(X, Y)
        found.append(grown)
    assert same_forest(*found)
    assert len({tree.split_weights.tobytes() for tree in found[0].trees_}) == 5


def test_out_of_bag_estimate_of_a_forest_grown_in_parts_is_that_of_the_whole() -> None:
    settings = {"n_estimators": 20, "max_iter": 2, "max_samples": 0.3, "oob_score": True}
    parts = forest(**(settings | {"n_estimators": 12, "warm_start": True})).fit(X, Y)
    parts.set_params(n_estimators=20).fit(X, Y)
    whole = forest(**settings).fit(X, Y)
    assert parts.oob_score_ == whole.oob_score_
    assert np.array_equal(parts.oob_decision_function_, whole.oob_decision_function_)


def test_out_of_bag_estimate_refuses_a_warm_start_with_other_samples() -> None:
    fitted = forest(n_estimators=12, max_iter=2, max_samples=0.6, oob_score=True, warm_start=True)
    before = fitted.fit(X, Y).oob_score_
    with pytest.raises(ValueError, match=r"samples have changed .* give the same rows.* try"):
        fitted.set_params(n_estimators=20, max_samples=0.3).fit(X, Y)
    with pytest.raises(ValueError, match=r"samples have changed"):
        fitted.set_params(max_samples=0.6).fit(X[1:], Y[1:])
    assert fitted.oob_score_ == before
    fitted.set_params(max_samples=0.3, oob_score=False, calibrate=False).fit(X, Y)
    assert not hasattr(fitted, "oob_score_")
    with pytest.raises(ValueError, match=r"samples have changed"):  # and it is not forgotten
        fitted.set_params(oob_score=True).fit(X, Y)


OTHER_ROWS = {
    "other values": (X + 1, Y),
    "another order": (X[::-1], Y[::-1]),
    "targets of other rows": (X, np.roll(Y, 1)),
}


def judged_forest(**values: Any) -> TAOForestClassifier:
    settings = {"n_estimators": 12, "max_iter": 2, "max_samples": 0.6, "oob_score": True}
    return forest(**(settings | {"warm_start": True} | values))


@pytest.mark.parametrize("rows", OTHER_ROWS.values(), ids=OTHER_ROWS)
@pytest.mark.parametrize("first", [{}, {"oob_score": False}, {"warm_start": False}], ids=str)
def test_out_of_bag_estimate_refuses_a_warm_start_on_as_many_other_rows(
    rows: Any, first: Any
) -> None:
    fitted = judged_forest(**first).fit(X, Y)
    fitted.set_params(n_estimators=20, oob_score=True, warm_start=True)
    for kept in (fitted, copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        with pytest.raises(ValueError, match=r"rows or their order have changed.* give .* try"):
            kept.fit(*rows)
    assert len(fitted.fit(sp.csr_matrix(X), Y.tolist())) == 20  # the same rows in another form


def test_out_of_bag_estimate_is_not_made_after_a_warm_start_on_other_rows() -> None:
    fitted = judged_forest(oob_score=False, calibrate=False).fit(X, Y)
    fitted.set_params(n_estimators=13).fit(X[::-1], Y[::-1])
    for rows in ((X, Y), (X[::-1], Y[::-1])):
        with pytest.raises(ValueError, match="samples have changed"):
            fitted.set_params(n_estimators=14, oob_score=True).fit(*rows)


def test_out_of_bag_estimate_knows_its_rows_whatever_they_weigh() -> None:
    fitted = judged_forest().fit(X, Y)
    assert len(fitted.set_params(n_estimators=13).fit(X, Y, sample_weight=1.0 + Y)) == 13


def test_out_of_bag_estimate_trusts_the_rows_of_a_model_of_an_older_release() -> None:
    fitted = judged_forest().fit(X, Y)
    del fitted.__dict__["_row_digest"]
    assert len(fitted.set_params(n_estimators=13).fit(X[::-1], Y[::-1])) == 13
    assert fitted._row_digest is None  # it cannot be known for the first trees


def test_failure_between_two_trees_leaves_no_worker_behind() -> None:
    def fail(_: Any) -> None:
        raise OSError("closed pipe")

    n_threads = threading.active_count()
    with pytest.raises(OSError, match="closed pipe"):
        forest(n_estimators=50, n_jobs=2, max_iter=20).fit(X, Y, callback=fail)
    assert threading.active_count() <= n_threads + 3  # idle threads of the pool, none with work
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.15


def test_voting_of_a_fitted_forest_is_that_of_its_leaves() -> None:
    fitted = forest().fit(X, Y)
    before = fitted.predict_proba(X)
    assert np.array_equal(fitted.set_params(leaf="linear").predict_proba(X), before)


def test_warm_start_keeps_the_trees_it_has(tasks: Tasks) -> None:
    fitted = forest(warm_start=True).fit(X, Y)
    before = fitted.trees_
    fitted.set_params(n_estimators=6).fit(X, Y)
    assert all(a is b for a, b in zip(fitted.trees_, before, strict=False))
    assert len(tasks.starts) == 6
    with pytest.warns(UserWarning, match=r"n_estimators=6 .* so that nothing is; give .* try"):
        fitted.fit(X, Y)
    assert len(tasks.starts) == 6


def test_out_of_bag_estimate_of_a_forest_that_is_there_can_be_asked_for() -> None:
    fitted = forest(n_estimators=12, max_samples=0.3, warm_start=True).fit(X, Y)
    fitted.set_params(oob_score=True).fit(X, Y)  # without a warning
    assert fitted.oob_score_ > 0.4
    with pytest.warns(UserWarning, match="so that nothing is") as told:
        fitted.fit(X, Y)
    assert told[0].filename == __file__


def test_warm_start_refuses_fewer_trees_other_classes_and_columns() -> None:
    fitted = forest(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_estimators=2 .* 4 trees already grown; give .* try"):
        fitted.set_params(n_estimators=2).fit(X, Y)
    fitted.set_params(n_estimators=5)
    text = r"classes \[0, 1, 2\] but y holds \[1, 2, 3\]; give .* try warm_start=False"
    with pytest.raises(ValueError, match=text):
        fitted.fit(X, Y + 1)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 9"):
        fitted.fit(X[:, :2], Y)
    assert len(fitted) == 4


def test_without_warm_start_a_second_fit_starts_afresh(tasks: Tasks) -> None:
    fitted = forest().fit(X, Y)
    first = fitted.trees_
    fitted.fit(X, Y)
    assert len(tasks.starts) == 8
    assert all(a.same_as(b) for a, b in zip(first, fitted.trees_, strict=True))
    assert len(fitted.set_params(n_estimators=2).fit(X, Y)) == 2


# --- copies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [{}, {"leaf": "linear"}, {"warm_start": True}], ids=str)
def test_copies_keep_predictions(values: dict[str, Any], tmp_path: Any) -> None:
    fitted = forest(**values).fit(X, Y)
    joblib.dump(fitted, tmp_path / "forest.joblib")
    copies = [
        pickle.loads(pickle.dumps(fitted)),
        copy.deepcopy(fitted),
        copy.copy(fitted),
        joblib.load(tmp_path / "forest.joblib"),
        joblib.load(tmp_path / "forest.joblib", mmap_mode="r"),
    ]
    for other in copies:
        assert same_forest(other, fitted)
        assert np.array_equal(other.predict_proba(X), fitted.predict_proba(X))
        assert np.array_equal(other.apply(X), fitted.apply(X))


def test_copy_can_be_grown_on_without_the_original() -> None:
    fitted = forest(warm_start=True).fit(X, Y)
    grown = pickle.loads(pickle.dumps(fitted)).set_params(n_estimators=6).fit(X, Y)
    assert same_forest(grown, forest(n_estimators=6).fit(X, Y))
    assert len(fitted) == 4


def test_clone_forgets_the_fit_and_keeps_the_values() -> None:
    fitted = forest(init=RandomStructure(1, 3, 9), alpha=(0.1, 1.0), max_features="D**0.9").fit(
        X, Y
    )
    cloned = clone(fitted)
    assert not hasattr(cloned, "forest_")
    assert cloned.get_params() == fitted.get_params()
    assert same_forest(cloned.fit(X, Y), fitted)


def test_grid_search_reaches_the_words_of_the_forest() -> None:
    grid = {"max_features": [None, "sqrt"], "alpha": [0.1, (0.01, 1.0)]}
    search = GridSearchCV(forest(n_estimators=2, max_iter=2), grid, cv=2).fit(IRIS, NAMES)
    assert search.best_score_ > 0.8


# --- transaction ----------------------------------------------------------------------------


# Only the main thread, which alone works with one job, is ever interrupted from the keyboard.
@pytest.mark.parametrize(
    ("error", "n_jobs"),
    [(KeyboardInterrupt, 1), (MemoryError, 1), (ValueError, 1), (MemoryError, 2)],
)
@pytest.mark.parametrize("warm_start", [False, True])
def test_interrupted_fit_leaves_the_forest_as_it_was(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], warm_start: bool, n_jobs: int
) -> None:
    names = list("abcdefghi")
    frame = pd.DataFrame(X, columns=names)
    fitted = forest(warm_start=warm_start, n_jobs=n_jobs).fit(frame, Y)
    fitted.set_params(n_estimators=8)
    before, predicted = dict(vars(fitted)), fitted.predict_proba(frame)
    n_calls = []

    def interrupt(*arguments: Any) -> Any:
        n_calls.append(1)
        if len(n_calls) == 3:
            raise error
        return optimize_tree(*arguments)

    monkeypatch.setattr(bagging, "optimize_tree", interrupt)
    with pytest.raises(error):
        fitted.fit(pd.DataFrame(X[:, ::-1], columns=names), np.roll(Y, 7))
    assert vars(fitted) == before
    assert np.array_equal(fitted.predict_proba(frame), predicted)


def test_error_after_the_trees_leaves_the_forest_unfitted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(sampled_forest, "out_of_bag", fail)
    fitted = forest(oob_score=True, bootstrap=True, n_estimators=20)
    before = dict(vars(fitted))
    with pytest.raises(MemoryError):
        fitted.fit(X, Y)
    assert vars(fitted) == before


def other_threads_end(n_threads: int, within: float) -> bool:
    """Wait until there are no more threads than before."""
    end = time.perf_counter() + within
    while threading.active_count() > n_threads and time.perf_counter() < end:
        time.sleep(0.02)
    return threading.active_count() <= n_threads


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_ends_the_work_of_all_threads(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(8000, 40)).astype(np.float32), rng.integers(5, size=8000)
    fitted = forest(max_depth=6, max_iter=150, tol=0.0, n_jobs=n_jobs)
    before, n_threads = dict(vars(fitted)), threading.active_count()
    sent = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.4, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(rows, labels)
        assert time.perf_counter() - sent[0] < 2
        assert vars(fitted) == before
        assert other_threads_end(n_threads, within=1.5)
    finally:
        timer.cancel()
        other_threads_end(n_threads, within=60.0)  # what is left must not meet the next test


# --- odd data -------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [{}, {"leaf": "linear"}, {"init": "cart"}], ids=str)
def test_one_class_is_predicted_with_certainty(values: dict[str, Any]) -> None:
    fitted = forest(**values).fit(X, np.full(200, "only"))
    assert set(fitted.predict(X)) == {"only"}
    assert np.array_equal(fitted.predict_proba(X), np.ones((200, 1)))
    assert len(fitted) == 4


@pytest.mark.parametrize(
    "values",
    [{}, {"bootstrap": True}, {"max_features": 1}, {"init": "cart"},
     {"max_features": 1, "feature_sampling": "global"}],
    ids=str,
)  # fmt: skip
def test_one_row_is_fitted(values: dict[str, Any]) -> None:
    fitted = forest(**values).fit([[1.0, 2.0]], ["a"])
    assert fitted.predict([[3.0, 4.0]]).tolist() == ["a"]


def test_sample_that_lacks_a_class_keeps_its_column() -> None:
    y = np.where(np.arange(200) == 0, 2, Y % 2)
    fitted = forest(max_samples=5).fit(X, y)
    assert fitted.predict_proba(X).shape == (200, 3)
    assert all(tree.n_outputs == 3 for tree in fitted.trees_)


def test_one_column_is_fitted() -> None:
    fitted = forest(max_features="sqrt", feature_sampling="global").fit(X[:, :1], Y)
    assert fitted.predict(X[:, :1]).shape == (200,)
