"""Behaviour of TAOForestClassifier: what sets the trees apart, how they vote, and what stays."""

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
from scipy.special import softmax
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from spinney import TAOBoostClassifier, TAOForestClassifier, TAOForestRegressor
from spinney.algorithms.tao import TAOOptions, optimize_tree
from spinney.data import as_rows, classification_problem
from spinney.estimators import RandomStructure, TAOTreeClassifier
from spinney.tree.importance import split_importances
from spinney.tree.route import outputs
from tests import reference
from tests.spies import replace_everywhere

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
        replace_everywhere(monkeypatch, optimize_tree, self._optimize)

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


def test_generator_that_moves_on_gives_another_forest() -> None:
    generator = np.random.RandomState(0)
    first = forest(random_state=generator).fit(X, Y)
    assert not same_forest(first, forest(random_state=generator).fit(X, Y))


# --- warm start -----------------------------------------------------------------------------


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


# --- copies ---------------------------------------------------------------------------------


def test_grid_search_reaches_the_words_of_the_forest() -> None:
    grid = {"max_features": [None, "sqrt"], "alpha": [0.1, (0.01, 1.0)]}
    search = GridSearchCV(forest(n_estimators=2, max_iter=2), grid, cv=2).fit(IRIS, NAMES)
    assert search.best_score_ > 0.8


# --- transaction ----------------------------------------------------------------------------


def test_error_after_the_trees_leaves_the_forest_unfitted() -> None:
    fitted = forest(oob_score=True, n_estimators=1)
    before = dict(vars(fitted))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="rows were seen by every tree"):
            fitted.fit(X, Y)
    assert vars(fitted) == before


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


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TAOForestClassifier, {"max_samples": np.float32(0.5), "max_features": np.int16(2)}),
        (TAOForestClassifier, {"alpha": [np.float64(0.1), 1], "bootstrap": np.bool_(True)}),
        (TAOForestRegressor, {"max_samples": np.int64(50), "max_features": np.float32(0.5)}),
        (TAOBoostClassifier, {"learning_rate": np.float32(0.5), "resample": np.bool_(True)}),
        (TAOBoostClassifier, {"n_iter_no_change": np.int8(3), "learning_rate": 1}),
    ],
    ids=str,
)
def test_numpy_scalars_are_as_good_as_python_numbers(kind: Any, values: dict[str, Any]) -> None:
    estimator = kind(n_estimators=np.int32(2), max_depth=np.int64(2), **values)
    assert 1 <= len(estimator.fit(X, Y)) <= 2
