"""What is special to the baselines: kinds of split, drawn columns and rows out of the bag."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

from spinney import GreedyForestClassifier, GreedyForestRegressor
from spinney.algorithms.grow import COLUMN_SPLITS, DIRECTION_SPLITS, GrowOptions, grow_tree
from spinney.data import as_rows, classification_problem
from spinney.ensembles.plan import SamplePlan
from spinney.tree.route import outputs
from tests import reference

X, Y = make_classification(200, 9, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
X = X.astype(np.float32)
ALL_ROWS = {"bootstrap": False, "max_samples": 1.0}


def forest(**values: Any) -> GreedyForestClassifier:
    defaults = {"n_estimators": 4, "random_state": 0, "n_restarts": 1, "n_jumps": 1}
    return GreedyForestClassifier(**(defaults | values))


def widths(fitted: Any) -> np.ndarray:
    """Columns of each split of a forest."""
    sizes = [np.diff(tree.split_indptr)[tree.split_nodes] for tree in fitted.trees_]
    return np.concatenate(sizes)


def same_forest(one: Any, two: Any) -> bool:
    return all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))


# --- trees ----------------------------------------------------------------------------------


@pytest.mark.parametrize("split", [*COLUMN_SPLITS, *DIRECTION_SPLITS])
def test_trees_on_all_rows_predict_them_perfectly(split: str) -> None:
    fitted = forest(split=split, **ALL_ROWS).fit(X, Y)
    for tree in fitted.trees_:
        assert np.array_equal(outputs(tree, as_rows(X)), np.eye(3)[Y])
    assert len({tree.bias.tobytes() for tree in fitted.trees_}) == 4


@pytest.mark.parametrize("split", ["axis", "ridge", "probes"])
def test_bootstrap_trees_predict_their_own_rows_perfectly(split: str) -> None:
    fitted = forest(split=split).fit(X, Y)
    plan = SamplePlan(fitted._seed, 200, True, 3, False)
    for number, tree in enumerate(fitted.trees_):
        drawn = plan.row_counts(number, 200) > 0
        said = outputs(tree, as_rows(X)).argmax(axis=1)
        assert np.array_equal(said[drawn], Y[drawn])
        assert not np.array_equal(said, Y)


def test_forest_is_made_of_trees_that_the_grower_grows() -> None:
    fitted = forest(split="projections", max_columns=5, **ALL_ROWS).fit(X, Y)
    problem = classification_problem(X, Y.astype(np.int32), 3, np.ones(200))
    plan = SamplePlan(fitted._seed, 200, False, 3, False)
    for number, tree in enumerate(fitted.trees_):
        seed = plan.tree_seed(number)
        alone = GrowOptions(split="projections", n_candidates=3, most_columns=5, seed=seed)
        assert tree.same_as(grow_tree(problem, alone))


def test_axis_forest_is_as_good_as_that_of_scikit_learn() -> None:
    train, test = slice(0, 600), slice(600, None)
    rows, y = make_classification(1500, 12, n_informative=8, n_classes=4, random_state=3)
    ours = forest(n_estimators=30).fit(rows[train], y[train]).score(rows[test], y[test])
    theirs = RandomForestClassifier(30, criterion="entropy", random_state=0)
    assert ours > theirs.fit(rows[train], y[train]).score(rows[test], y[test]) - 0.03


def test_grid_search_reaches_the_words_of_the_forest() -> None:
    grid = {"split": ["axis", "probes"], "max_features": [None, "sqrt", "D**0.7"]}
    search = GridSearchCV(forest(n_estimators=2), grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0.5


# --- words of the splits --------------------------------------------------------------------


def test_kinds_of_split_have_their_numbers_of_columns() -> None:
    assert set(widths(forest(split="axis").fit(X, Y))) == {1}
    assert set(widths(forest(split="probes").fit(X, Y))) <= {1, 2}
    assert set(widths(forest(split="projections", max_columns=4).fit(X, Y))) == {1, 2, 3, 4}
    for split in ("ridge", "lda", "logistic"):
        assert widths(forest(split=split, max_features=5).fit(X, Y)).max() == 5
    assert widths(forest(split="oc1", max_features=2).fit(X, Y)).max() == 9


@pytest.mark.parametrize(
    ("split", "name", "values"),
    [
        ("oc1", "n_restarts", (0, 3)),
        ("oc1", "n_jumps", (0, 3)),
        ("projections", "max_columns", (1, 5)),
        ("projections", "n_candidates", (None, 40)),
        ("probes", "n_candidates", (1, 40)),
        ("ridge", "ridge", (0.0, 10.0)),
        ("logistic", "ridge", (0.0, 10.0)),
    ],
)
def test_words_of_a_split_reach_the_grower(split: str, name: str, values: Any) -> None:
    one, two = (forest(split=split, max_depth=3, **{name: value}).fit(X, Y) for value in values)
    assert not same_forest(one, two)


@pytest.mark.parametrize("split", ["axis", "ridge", "lda"])
def test_words_of_other_splits_change_nothing(split: str) -> None:
    other = {"n_restarts": 9, "n_jumps": 9, "max_columns": 9}
    assert same_forest(forest(split=split).fit(X, Y), forest(split=split, **other).fit(X, Y))


def test_oc1_has_no_restarts_by_default() -> None:
    """They fit each node better, and forests are the worse for it."""
    fitted = GreedyForestClassifier(2, split="oc1", max_depth=3, random_state=0).fit(X, Y)
    assert same_forest(fitted, clone(fitted).set_params(n_restarts=0).fit(X, Y))
    assert not same_forest(fitted, clone(fitted).set_params(n_restarts=4).fit(X, Y))


def test_more_candidates_find_better_splits() -> None:
    costs = []
    for n_candidates in (1, 200):
        fitted = forest(split="probes", n_candidates=n_candidates, max_depth=1, **ALL_ROWS)
        goes_right = fitted.fit(X, Y).apply(X) == 2
        sides = goes_right.T
        costs.append(sum(reference.split_cost(side, Y, np.ones(200), "entropy") for side in sides))
    assert costs[1] < costs[0]


# --- columns --------------------------------------------------------------------------------


def test_local_columns_are_drawn_for_each_split_and_global_for_each_tree() -> None:
    local = forest(max_features=2).fit(X, Y)
    assert all(len(set(tree.split_indices.tolist())) > 2 for tree in local.trees_)
    whole = forest(max_features=2, feature_sampling="global").fit(X, Y)
    used = [tuple(sorted(set(tree.split_indices.tolist()))) for tree in whole.trees_]
    assert all(len(columns) <= 2 for columns in used)
    assert len(set(used)) > 1


def test_all_columns_are_the_same_local_or_global() -> None:
    one, two = (
        forest(max_features=None, feature_sampling=word).fit(X, Y) for word in ("local", "global")
    )
    assert same_forest(one, two)


def test_columns_that_are_constant_in_a_sample_do_not_end_growth() -> None:
    """One column parts the rows; a split that draws others goes on until it finds it."""
    rows = np.zeros((60, 20))
    rows[:, 13] = np.arange(60)
    rows[0, :13] = 1.0
    y = np.arange(60) // 7 % 3
    fitted = forest(max_features=1, **ALL_ROWS).fit(rows, y)
    assert fitted.score(rows, y) == 1.0


# --- rows out of the bag --------------------------------------------------------------------


@pytest.mark.parametrize("values", [{}, {"bootstrap": False, "max_samples": 0.5}], ids=str)
def test_out_of_bag_estimate_is_that_of_plain_loops(values: dict[str, Any]) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 200)
    fitted = forest(n_estimators=8, oob_score=True, max_depth=4, **values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted.fit(X, Y, sample_weight=weights)
    bootstrap = not values
    plan = SamplePlan(fitted._seed, 200 if bootstrap else 100, bootstrap, 3, False)
    answers = [outputs(tree, as_rows(X)) for tree in fitted.trees_]
    counts = [plan.row_counts(number, 200) for number in range(8)]
    expected = reference.out_of_bag(answers, counts)
    assert fitted.oob_decision_function_ == pytest.approx(expected, nan_ok=True)
    judged = ~np.isnan(expected[:, 0])
    is_right = expected[judged].argmax(axis=1) == Y[judged]
    assert fitted.oob_score_ == pytest.approx(np.average(is_right, weights=weights[judged]))


def test_out_of_bag_score_is_near_that_of_unseen_rows() -> None:
    rows, y = make_classification(900, 9, n_informative=6, n_classes=3, random_state=1)
    fitted = forest(n_estimators=60, oob_score=True).fit(rows[:400], y[:400])
    assert fitted.oob_score_ == pytest.approx(fitted.score(rows[400:], y[400:]), abs=0.08)


def test_out_of_bag_values_of_numbers_have_all_outputs() -> None:
    targets = np.column_stack([X[:, 0], X.sum(axis=1)])
    fitted = GreedyForestRegressor(40, oob_score=True, random_state=0).fit(X, targets)
    assert fitted.oob_prediction_.shape == (200, 2)
    assert 0.2 < fitted.oob_score_ < fitted.score(X, targets)


def test_out_of_bag_estimate_needs_rows_left_out() -> None:
    with pytest.raises(ValueError, match=r"every tree sees all 200 rows; leave some out; try"):
        forest(oob_score=True, **ALL_ROWS).fit(X, Y)


def test_out_of_bag_estimate_of_parts_is_that_of_the_whole() -> None:
    parts = forest(n_estimators=20, oob_score=True, warm_start=True).fit(X, Y)
    parts.set_params(n_estimators=30).fit(X, Y)
    whole = forest(n_estimators=30, oob_score=True).fit(X, Y)
    assert parts.oob_score_ == whole.oob_score_
    assert np.array_equal(parts.oob_decision_function_, whole.oob_decision_function_)
    with pytest.raises(ValueError, match=r"samples have changed .* give the same rows.* try"):
        parts.set_params(n_estimators=35, max_samples=0.3).fit(X, Y)
