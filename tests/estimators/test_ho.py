"""What is special to Ho's forests: subspaces of their own, perfect trees, and rejected rows."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_digits, load_iris

from spinney import RandomDecisionForestClassifier
from spinney.data import as_rows
from spinney.tree.route import outputs
from tests import reference
from tests.strategies import classification_rows, seeds

DIGITS, LABELS = load_digits(return_X_y=True)
TRAIN, TEST = slice(0, 500), slice(900, 1500)
IRIS, CODES = load_iris(return_X_y=True)
both_splits = pytest.mark.parametrize("split", ["central_axis", "perceptron"])


def forest(**values: Any) -> RandomDecisionForestClassifier:
    return RandomDecisionForestClassifier(**({"n_estimators": 5, "random_state": 0} | values))


def columns_of(tree: Any) -> tuple[int, ...]:
    return tuple(sorted(set(tree.split_indices.tolist())))


# --- trees ----------------------------------------------------------------------------------


@both_splits
def test_every_tree_predicts_its_distinct_rows_perfectly(split: str) -> None:
    X, y = DIGITS[TRAIN], LABELS[TRAIN]
    fitted = forest(split=split).fit(X, y)
    for tree in fitted.trees_:
        assert np.array_equal(outputs(tree, as_rows(X.astype(np.float32))), np.eye(10)[y])
    assert fitted.score(X, y) == 1.0


@both_splits
@settings(max_examples=25)
@given(rows=classification_rows(max_features=4), seed=seeds())
def test_rows_that_are_distinct_in_a_subspace_are_told_apart(
    split: str, rows: Any, seed: int
) -> None:
    """Rows of one leaf are alike in the columns of the tree, or of one class."""
    fitted = forest(n_estimators=1, split=split, random_state=seed, max_features=0.6)
    fitted.fit(rows.X, rows.y, sample_weight=rows.sample_weight)
    n_columns = max(1, round(0.6 * rows.X.shape[1]))
    leaves = fitted.apply(rows.X)[:, 0]
    used = list(columns_of(fitted.trees_[0]))
    assert len(used) <= n_columns
    for leaf in set(leaves):
        own = leaves == leaf
        n_alike = len(np.unique(rows.X[own][:, used], axis=0)) if used else 1
        assert len(set(rows.y[own])) == 1 or n_alike == 1


def test_perceptrons_make_smaller_trees() -> None:
    sizes = [
        sum(tree.n_leaves for tree in forest(split=split).fit(DIGITS[TRAIN], LABELS[TRAIN]).trees_)
        for split in ("central_axis", "perceptron")
    ]
    assert sizes[1] < sizes[0]


def test_more_trees_are_better_on_unseen_rows() -> None:
    fitted = forest(n_estimators=1, warm_start=True)
    scores = []
    for n_estimators in (1, 25):
        fitted.set_params(n_estimators=n_estimators).fit(DIGITS[TRAIN], LABELS[TRAIN])
        scores.append(fitted.score(DIGITS[TEST], LABELS[TEST]))
    assert scores[0] + 0.05 < scores[1]
    assert scores[1] > 0.88


def test_root_of_a_tree_is_the_central_axis_of_its_subspace() -> None:
    fitted = forest(n_estimators=4, max_features=3, max_depth=1, n_steps=30).fit(IRIS, CODES)
    X = IRIS.astype(np.float32)
    for tree in fitted.trees_:
        used = list(columns_of(tree))
        width = np.ptp(X[:, used].astype(np.float64), axis=0)
        Z = X[:, used] / width
        axis, stop = reference.central_axis_split(Z, CODES, np.ones(150), 30)
        assert tree.split_weights == pytest.approx(axis / width, rel=1e-4)
        assert -tree.bias[0] == pytest.approx(stop, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "values"), [("n_steps", (2, 50)), ("max_features", (0.2, 0.5)), ("max_depth", (2, 3))]
)
def test_words_reach_the_grower(name: str, values: Any) -> None:
    one, two = (forest(**{name: value}).fit(DIGITS[TRAIN], LABELS[TRAIN]) for value in values)
    assert not one.trees_[0].same_as(two.trees_[0])


def test_passes_of_the_perceptron_reach_the_grower() -> None:
    one, two = (
        forest(split="perceptron", max_epochs=n).fit(DIGITS[TRAIN], LABELS[TRAIN]) for n in (1, 30)
    )
    assert not one.trees_[0].same_as(two.trees_[0])


@both_splits
def test_nodes_may_have_subspaces_of_their_own(split: str) -> None:
    X, y = DIGITS[TRAIN], LABELS[TRAIN]
    fitted = forest(split=split, max_features=12, feature_sampling="local").fit(X, y)
    for tree in fitted.trees_:
        n_columns = np.diff(tree.split_indptr)
        assert n_columns.max() == 12
        assert len(columns_of(tree)) > 30
        assert np.array_equal(outputs(tree, as_rows(X.astype(np.float32))), np.eye(10)[y])


def test_nodes_on_all_columns_are_as_trees_on_all_columns() -> None:
    one, two = (
        forest(max_features=None, n_estimators=1, feature_sampling=word).fit(IRIS, CODES)
        for word in ("global", "local")
    )
    assert one.trees_[0].same_as(two.trees_[0])


def test_there_are_as_many_trees_as_wanted_where_nodes_draw_their_columns() -> None:
    fitted = forest(n_estimators=9, max_features=1, feature_sampling="local").fit(IRIS, CODES)
    assert len(fitted.trees_) == 9


# --- subspaces ------------------------------------------------------------------------------


def test_no_subspace_is_used_twice() -> None:
    fitted = forest(n_estimators=6, max_features=2).fit(IRIS, CODES)
    assert len({columns_of(tree) for tree in fitted.trees_}) == 6


def test_no_subspace_is_used_twice_across_warm_starts() -> None:
    fitted = forest(n_estimators=2, max_features=2, warm_start=True)
    for n_estimators in (2, 3, 6):
        fitted.set_params(n_estimators=n_estimators).fit(IRIS, CODES)
    assert len({columns_of(tree) for tree in fitted.trees_}) == 6
    copied = copy.deepcopy(fitted).set_params(n_estimators=7)
    with pytest.warns(UserWarning, match=r"n_estimators=7, but 4 columns have only 6 subspaces"):
        copied.fit(IRIS, CODES)
    assert len(copied) == 6


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"n_estimators": 7, "max_features": 2}, r"only 6 subspaces of max_features=2"),
        ({"n_estimators": 5, "max_features": 3}, r"only 4 subspaces of max_features=3"),
        ({"n_estimators": 2, "max_features": None}, r"only 1 subspaces of max_features=None"),
        ({"n_estimators": 2, "max_features": 1.0}, r"only 1 subspaces of max_features=1.0"),
    ],
    ids=str,
)
def test_there_are_no_more_trees_than_subspaces(values: dict[str, Any], text: str) -> None:
    with pytest.warns(UserWarning, match=text + r".*; (\d) trees are grown; try another") as seen:
        fitted = forest(**values).fit(IRIS, CODES)
    assert f"; {len(fitted)} trees are grown" in str(seen[0].message)
    assert seen[0].filename == __file__


@pytest.mark.parametrize("split", ["central_axis", "perceptron"])
def test_trees_in_subspaces_fit_rows_far_from_zero(split: str) -> None:
    rng = np.random.default_rng(0)
    X = (1e4 + rng.integers(0, 4096, (1000, 40)) / 1024).astype(np.float32)
    y = rng.integers(0, 3, 1000)
    fitted = forest(n_estimators=4, max_features=9, split=split).fit(X, y)
    for tree in fitted.trees_:
        assert np.array_equal(outputs(tree, as_rows(X)).argmax(axis=1), y)


@pytest.mark.parametrize("split", ["central_axis", "perceptron"])
@pytest.mark.parametrize("weight", [0.1, 1 / 3, 7.3])
def test_unit_of_the_weights_changes_nothing(split: str, weight: float) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 3, 300)
    one = forest(n_estimators=1, max_features=None, split=split).fit(X, y)
    other = forest(n_estimators=1, max_features=None, split=split).fit(X, y, np.full(300, weight))
    assert np.array_equal(one.trees_[0].left, other.trees_[0].left)
    assert np.allclose(one.trees_[0].bias, other.trees_[0].bias, rtol=1e-6)


def test_one_tree_may_use_all_columns() -> None:
    fitted = forest(n_estimators=1, max_features=None).fit(IRIS, CODES)
    assert columns_of(fitted.trees_[0]) == (0, 1, 2, 3)


# --- ties -----------------------------------------------------------------------------------


def two_trees(labels: Any = LABELS, **values: Any) -> RandomDecisionForestClassifier:
    """Two trees tie wherever they disagree."""
    return forest(n_estimators=2, **values).fit(DIGITS[TRAIN], labels[TRAIN])


def disagreement(fitted: Any) -> np.ndarray:
    rows = as_rows(DIGITS[TEST].astype(np.float32))
    one, two = (outputs(tree, rows).argmax(axis=1) for tree in fitted.trees_)
    return one != two


def test_tied_rows_get_the_first_class_or_are_rejected() -> None:
    fitted = two_trees()
    is_tied = disagreement(fitted)
    assert 0.1 < is_tied.mean() < 0.9
    first = fitted.predict(DIGITS[TEST])
    assert np.array_equal(first, fitted.predict_proba(DIGITS[TEST]).argmax(axis=1))
    rejecting = fitted.set_params(on_tie="reject").predict(DIGITS[TEST])
    assert np.array_equal(rejecting == -1, is_tied)
    assert np.array_equal(rejecting[~is_tied], first[~is_tied])
    assert rejecting.dtype == first.dtype
    assert fitted.reject_rate(DIGITS[TEST]) == is_tied.mean()


def test_rejected_rows_count_as_wrong() -> None:
    fitted = two_trees(on_tie="reject")
    truth, is_tied = LABELS[TEST], disagreement(fitted)
    is_right = fitted.predict(DIGITS[TEST]) == truth
    assert fitted.score(DIGITS[TEST], truth) == pytest.approx(is_right.mean())
    assert not is_right[is_tied].any()
    weights = np.random.default_rng(0).uniform(size=600)
    weighted = fitted.score(DIGITS[TEST], truth, sample_weight=weights)
    assert weighted == pytest.approx(np.average(is_right, weights=weights))
    assert fitted.set_params(on_tie="first").score(DIGITS[TEST], truth) > is_right.mean()


@pytest.mark.parametrize(
    ("names", "reject_label", "expected"),
    [
        (np.arange(10), None, -1),
        (np.arange(10), "?", "?"),
        (np.arange(10), "0", "0"),
        (np.arange(10), 99, 99),
        (np.arange(10.0), None, -1),
        (np.arange(10), 0.5, 0.5),
        (np.arange(10, dtype=np.uint8), None, -1),
        (np.array([f"d{k}" for k in range(10)]), None, "rejected"),
        (np.array([f"d{k}" for k in range(10)]), "none of them", "none of them"),
        (np.array([f"d{k}" for k in range(10)]), -1, -1),
        (np.array([f"d{k}" for k in range(10)], dtype=object), None, "rejected"),
    ],
    ids=str,
)
def test_labels_keep_their_kind_beside_that_of_rejects(
    names: Any, reject_label: Any, expected: Any
) -> None:
    truth = names[LABELS]
    fitted = two_trees(truth, on_tie="reject", reject_label=reject_label)
    found = fitted.predict(DIGITS[TEST])
    is_tied = disagreement(fitted)
    assert set(found[is_tied].tolist()) == {expected}
    kept = fitted.set_params(on_tie="first").predict(DIGITS[TEST])[~is_tied]
    assert found[~is_tied].tolist() == kept.tolist()
    fitted.set_params(on_tie="reject")
    assert fitted.score(DIGITS[TEST], truth[TEST]) == pytest.approx(
        (kept == truth[TEST][~is_tied]).sum() / 600
    )


def test_kind_of_the_labels_does_not_depend_on_the_rows() -> None:
    fitted = two_trees(on_tie="reject", reject_label="?")
    is_tied = disagreement(fitted)
    kinds = {fitted.predict(DIGITS[TEST][rows]).dtype for rows in (is_tied, ~is_tied)}
    assert len(kinds) == 1


@pytest.mark.parametrize(
    ("names", "reject_label"),
    [(np.arange(10), 3), (np.arange(-1, 9), None), (np.arange(10), True), (np.arange(10.0), 2)],
    ids=str,
)
def test_class_may_not_have_the_name_of_rejects(names: Any, reject_label: Any) -> None:
    with pytest.raises(ValueError, match=r"reject_label=.* which is a class; give .* try"):
        two_trees(names[LABELS], on_tie="reject", reject_label=reject_label)
    fitted = two_trees(names[LABELS], reject_label=reject_label)  # nobody is rejected
    with pytest.raises(ValueError, match=r"which is a class; give a label that is none"):
        fitted.set_params(on_tie="reject").predict(DIGITS[TEST])


@pytest.mark.parametrize("reject_label", [("a", "b"), [1], np.zeros(2)], ids=str)
def test_rejects_have_a_single_label(reject_label: Any) -> None:
    with pytest.raises(TypeError, match=r"reject_label=.* give a single label; try"):
        two_trees(on_tie="reject", reject_label=reject_label)


def test_unknown_word_for_ties_is_refused_after_the_fit() -> None:
    with pytest.raises(ValueError, match=r"on_tie='last' is not known; give .* try"):
        two_trees().set_params(on_tie="last").predict(DIGITS[TEST])


def test_fractions_whose_sums_round_differently_are_tied() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last bit."""
    shares = np.array([[0.1, 0.3, 0.6], [0.2, 0.2, 0.6], [0.3, 0.1, 0.6]])
    votes = np.array([shares.sum(axis=0)])
    votes[:, 2] = 0.0
    assert votes[0, 0] != votes[0, 1]
    fitted = forest(n_estimators=3, max_features=2, max_depth=1, on_tie="reject").fit(IRIS, CODES)
    assert fitted._readout().labels(votes).tolist() == [-1]


def test_one_class_is_never_tied() -> None:
    fitted = forest(n_estimators=2, on_tie="reject").fit(IRIS, np.full(150, "only"))
    assert set(fitted.predict(IRIS)) == {"only"}
    assert fitted.reject_rate(IRIS) == 0.0


# --- score ----------------------------------------------------------------------------------


def test_score_refuses_labels_that_do_not_belong_to_the_rows() -> None:
    fitted = forest(max_features=2).fit(IRIS, CODES)
    assert fitted.score(IRIS, CODES.tolist()) == 1.0
    assert fitted.score(IRIS, CODES[:, None]) == 1.0
    for labels in (CODES[:1], CODES[:20]):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            fitted.score(IRIS, labels)
    with pytest.raises(ValueError, match="1d array"):
        fitted.score(IRIS, np.column_stack([CODES, CODES]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted.score(IRIS, CODES, sample_weight=np.ones(3))
