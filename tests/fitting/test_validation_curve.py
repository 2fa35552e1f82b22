"""Validation rows and the error on them as a forest grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from spinney.algorithms.trace import Trace
from spinney.data import Problem, as_rows, classification_problem
from spinney.ensembles.boosting import BoostedTree
from spinney.estimators import TAOTreeClassifier
from spinney.fitting.validation_curve import Judged, VoteWatch, Watch, given_classes, set_aside
from spinney.tree.route import outputs
from spinney.tree.structure import Tree
from tests import reference
from tests.strategies import seeds

X, Y = load_iris(return_X_y=True)
X = X.astype(np.float32)


def a_problem(codes: Any, weights: Any = None) -> Problem:
    codes = np.asarray(codes, dtype=np.int32)
    rows = np.arange(2.0 * len(codes), dtype=np.float32).reshape(-1, 2)
    weights = np.ones(len(codes)) if weights is None else weights
    return classification_problem(rows, codes, int(codes.max()) + 1, weights)


def some_trees(n_trees: int) -> list[Tree]:
    return [
        TAOTreeClassifier(max_depth=2, max_iter=1, init="random", random_state=seed).fit(X, Y).tree_
        for seed in range(n_trees)
    ]


# --- given rows -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "labels", "codes"),
    [
        ([0, 1, 2], [2, 0, 1, 1], [2, 0, 1, 1]),
        ([0, 1, 2], [-5, 0, 7, 2], [-1, 0, -1, 2]),
        ([0, 1, 2], [7.0, 1.0, 2.0, 9.0], [-1, 1, 2, -1]),
        (["a", "c", "e"], ["b", "c", "f", ""], [-1, 1, -1, -1]),
        (["a", "c", "e"], ["aa", "a", "e", "cat"], [-1, 0, 2, -1]),
        ([False, True], [True, False, True, True], [1, 0, 1, 1]),
    ],
    ids=str,
)
def test_labels_become_codes_and_unknown_ones_minus_one(
    classes: list[Any], labels: list[Any], codes: list[int]
) -> None:
    y = np.array(classes)[np.arange(150) % len(classes)]
    tree = TAOTreeClassifier(max_depth=1, max_iter=1).fit(X, y)
    judged = given_classes(tree, X[:4], np.array(labels))
    assert judged.targets.tolist() == codes
    assert judged.targets.dtype == np.int32
    assert judged.weights.tolist() == [1.0] * 4
    assert judged.rows.n_rows == 4


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["0", "1", "2", "0"], r"holds none of the classes \[0, 1, 2\], .* give labels .* try"),
        ([0.0, np.nan, 1.0, 2.0], "y_val contains NaN"),
        ([0.5, 1.25, 0.1, 0.2], "Unknown label type"),
    ],
    ids=str,
)
def test_labels_of_another_kind_are_refused(labels: list[Any], message: str) -> None:
    tree = TAOTreeClassifier(max_depth=1, max_iter=1).fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match=message):
        given_classes(tree, X[:4], np.array(labels))


# --- rows set aside -------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 2), min_size=20, max_size=60), st.floats(0.05, 0.95), seeds(), st.data()
)
def test_rows_are_split_in_two_and_keep_their_weights(
    codes: list[int], fraction: float, seed: int, data: Any
) -> None:
    weights = np.array(data.draw(st.lists(st.floats(0.1, 9), min_size=len(codes),
                                          max_size=len(codes))))  # fmt: skip
    problem = a_problem(codes, weights)
    sizes = [codes.count(code) for code in range(problem.n_classes)]
    expected = [max(0, min(round(fraction * size), size - 1)) for size in sizes]
    if sum(expected) == 0:
        with pytest.raises(ValueError, match=r"leaves no row to validate; give .* try"):
            set_aside(problem, fraction, seed)
        return
    judged, trained = set_aside(problem, fraction, seed)
    assert np.array_equal(judged.weights + trained, weights)
    assert not (judged.weights * trained).any()
    aside = np.bincount(problem.classes[judged.weights > 0], minlength=problem.n_classes)
    assert aside.tolist() == expected
    assert judged.rows is problem.rows
    assert np.array_equal(judged.targets, problem.classes)


def test_every_class_is_left_to_train_on() -> None:
    problem = a_problem([0] * 10 + [1])
    _, trained = set_aside(problem, 0.6, 0)
    assert set(problem.classes[trained > 0]) == {0, 1}


def test_seed_decides_the_rows_set_aside() -> None:
    problem = a_problem(np.arange(60) % 3)
    masks = [set_aside(problem, 0.3, seed)[1].tobytes() for seed in (1, 1, 2, 3)]
    assert masks[0] == masks[1]
    assert len(set(masks)) == 3


def test_every_row_can_be_set_aside() -> None:
    problem = a_problem(np.arange(30) % 3)
    seen = sum(set_aside(problem, 0.3, seed)[0].weights for seed in range(60))
    assert seen.min() > 0
    assert seen.sum() == 60 * 9


@pytest.mark.parametrize(("codes", "fraction"), [([0, 1], 0.1), ([0, 1, 2], 0.9), ([0], 0.5)])
def test_too_few_rows_are_refused(codes: list[int], fraction: float) -> None:
    text = rf"validation_fraction={fraction} of {len(codes)} rows .*; give a share .*; try"
    with pytest.raises(ValueError, match=text):
        set_aside(a_problem(codes), fraction, 0)


# --- the watch ------------------------------------------------------------------------------


def test_errors_are_those_of_the_weighted_vote() -> None:
    weights = np.random.default_rng(0).uniform(0, 1, 150)
    codes = np.where(np.arange(150) % 10 == 0, -1, Y).astype(np.int32)
    watch = VoteWatch(Judged(as_rows(X), codes, weights), 3, None)
    trees, says = some_trees(4), [0.3, 1.0, 0.2, 0.6]
    labels = []
    for number, (tree, weight) in enumerate(zip(trees, says, strict=True), start=1):
        watch.see(BoostedTree(tree, Trace(), 0.0, weight))
        labels.append(outputs(tree, as_rows(X)).argmax(axis=1))
        votes = reference.votes(labels, 3, says[:number])
        is_wrong = np.array(reference.winners(votes)) != codes
        assert watch.errors[-1] == pytest.approx(np.average(is_wrong, weights=weights))
        assert watch.last == watch.errors[-1]
    assert len(watch.errors) == 4
    assert min(watch.errors) >= weights[codes == -1].sum() / weights.sum()


def test_watch_without_rows_sees_nothing_and_never_ends() -> None:
    watch = VoteWatch(None, 3, 1)
    watch.see(BoostedTree(some_trees(1)[0], Trace(), 0.0, 1.0))
    assert watch.errors == []
    assert watch.best is None
    assert not watch.is_over
    assert watch.last is None


@pytest.mark.parametrize(
    ("errors", "patience", "best", "is_over"),
    [
        ([0.5], 1, 1, False),
        ([0.5, 0.5], 1, 1, True),
        ([0.5, 0.4], 1, 2, False),
        ([0.5, 0.4, 0.4], 2, 2, False),
        ([0.5, 0.4, 0.4, 0.6], 2, 2, True),
        ([0.5, 0.6, 0.3, 0.3, 0.3], 3, 3, False),
        ([0.0, 0.0, 0.0, 0.0], 3, 1, True),
        ([0.5, 0.6, 0.7], None, None, False),
        ([], 3, None, False),
    ],
    ids=str,
)
def test_best_number_is_the_fewest_of_the_least_error(
    errors: list[float], patience: int | None, best: int | None, is_over: bool
) -> None:
    watch = Watch(patience)
    watch.errors = errors
    assert watch.best == best
    assert watch.is_over == is_over


@given(st.lists(st.floats(0, 1), max_size=9), st.lists(st.floats(0, 1), max_size=9))
def test_trees_of_an_earlier_fit_use_up_no_patience(before: list[float], new: list[float]) -> None:
    watch = Watch(3)
    watch.errors = before.copy()
    watch.begin()
    for number, error in enumerate(new, 1):
        watch.errors.append(error)
        old, last = watch.errors[:-3], watch.errors[-3:]
        assert watch.is_over == (number >= 3 and min(old, default=np.inf) <= min(last))


@pytest.mark.parametrize(
    ("errors", "is_over"),
    [([0.5], False), ([0.5, 0.5], False), ([0.5, 0.5, 0.5], True), ([0.5, 0.5, 0.4], False)],
    ids=str,
)
def test_a_vote_is_not_over_before_a_third_tree_can_tip_it(
    errors: list[float], is_over: bool
) -> None:
    watch = VoteWatch(None, 2, 1)
    watch.errors = errors
    assert watch.is_over == is_over
