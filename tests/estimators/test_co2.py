"""What is special to CO2: words of the optimisation, single trees, and the gain over columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from spinney import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    GreedyForestClassifier,
)
from spinney.algorithms.grow import STRETCH, CO2Options, GrowOptions, grow_tree
from spinney.data import as_rows, classification_problem
from spinney.data.distinct import distinct_rows
from spinney.tree.route import outputs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6)).astype(np.float32)
DIRECTIONS = RNG.normal(size=(6, 3))
Y = (X @ DIRECTIONS + 0.3 * RNG.normal(size=(200, 3))).argmax(axis=1)
ALL = [CO2ForestClassifier, CO2ForestRegressor, CO2TreeClassifier, CO2TreeRegressor]
each_kind = pytest.mark.parametrize("kind", ALL)


def trees_of(fitted: Any) -> tuple[Any, ...]:
    return fitted.trees_ if hasattr(fitted, "forest_") else (fitted.tree_,)


def small(kind: Any, **values: Any) -> Any:
    size = {"n_estimators": 2} if "Forest" in kind.__name__ else {}
    return kind(random_state=0, **({"max_epochs": 10, **size} | values))


def test_tree_is_what_the_grower_grows() -> None:
    tree = small(CO2TreeClassifier, max_features=2, scale="deviation", criterion="gini").fit(X, Y)
    problem = classification_problem(X, Y.astype(np.int32), 3, np.ones(200))
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    options = GrowOptions(
        split="co2",
        criterion="gini",
        scale="deviation",
        n_candidates=2,
        co2=CO2Options(learning_rate=0.03, max_epochs=10),
        seed=int(seed),
    )
    assert tree.tree_.same_as(grow_tree(distinct_rows(problem), options))


@each_kind
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_norm", 1.0),
        ("learning_rate", 0.2),
        ("scale", "deviation"),
        ("max_features", 1),
        ("batch_size", 3),
        ("momentum", 0.0),
        ("refresh_epochs", 1),
        ("relabel_epochs", 20),
        ("max_epochs", 3),
        ("tol", 0.9),
    ],
)
def test_each_word_reaches_the_grower(kind: Any, name: str, value: Any) -> None:
    plain = small(kind, max_epochs=40).fit(X, Y)
    changed = small(kind, **({"max_epochs": 40} | {name: value})).fit(X, Y)
    pairs = zip(trees_of(plain), trees_of(changed), strict=True)
    assert not all(a.same_as(b) for a, b in pairs)


@each_kind
def test_distinct_rows_are_predicted_perfectly_by_trees_that_see_them(kind: Any) -> None:
    if "Forest" in kind.__name__:
        fitted = small(kind, bootstrap=False, max_samples=1.0).fit(X, Y)
    else:
        fitted = small(kind).fit(X, Y)
    for tree in trees_of(fitted):
        said = outputs(tree, as_rows(X))
        expected = np.eye(3)[Y] if "Classifier" in kind.__name__ else Y[:, None]
        assert said == pytest.approx(expected)
    assert fitted.score(X, Y) == pytest.approx(1)


@each_kind
def test_splits_use_all_columns(kind: Any) -> None:
    fitted = small(kind, max_features=1, max_depth=1, scale="deviation").fit(X, Y)
    assert all(len(tree.split_indices) == 6 for tree in trees_of(fitted))


@pytest.mark.parametrize("scale", ["range", "deviation"])
def test_units_of_the_columns_change_no_prediction(scale: str) -> None:
    units = 2.0 ** np.arange(-12, 12, 4)
    tree = small(CO2TreeClassifier, scale=scale)
    here = tree.fit(X, Y).apply(X)
    assert np.array_equal(here, tree.fit(X * units, Y).apply(X * units))


def test_oblique_forest_is_smaller_and_better_than_columns_on_digits() -> None:
    digits, labels = load_digits(return_X_y=True)
    train, test = slice(0, 900), slice(900, None)
    given = {"n_estimators": 6, "random_state": 0}
    oblique = CO2ForestClassifier(max_epochs=20, **given).fit(digits[train], labels[train])
    columns = GreedyForestClassifier(**given).fit(digits[train], labels[train])
    gain = oblique.score(digits[test], labels[test]) - columns.score(digits[test], labels[test])
    assert gain > 0.02
    n_oblique, n_columns = (
        sum(tree.n_leaves for tree in fitted.trees_) for fitted in (oblique, columns)
    )
    assert n_oblique < 0.6 * n_columns


def test_tree_of_all_rows_is_not_a_forest_of_one() -> None:
    tree = CO2TreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    assert tree.get_depth() == 3
    assert tree.get_n_leaves() == tree.tree_.n_leaves
    assert tree.trees_ == (tree.tree_,)
    assert len(tree) == 1


def test_regression_follows_a_slope_across_the_columns() -> None:
    y = X @ DIRECTIONS[:, 0]
    tree = CO2TreeRegressor(max_depth=3, random_state=0, max_epochs=50).fit(X, y)
    assert tree.score(X, y) > 0.8
    forest = CO2ForestRegressor(5, random_state=0, max_epochs=20, oob_score=False).fit(X, y)
    assert forest.score(X, y) > 0.8


def test_out_of_bag_score_of_a_forest() -> None:
    fitted = CO2ForestClassifier(30, max_epochs=5, oob_score=True, random_state=0).fit(X, Y)
    assert 0.6 < fitted.oob_score_ < 1
    values = CO2ForestRegressor(30, max_epochs=5, oob_score=True, random_state=0).fit(X, X[:, 0])
    assert values.oob_score_ > 0.5
    assert values.oob_prediction_.shape == (200,)


@pytest.mark.parametrize("kind", [CO2ForestClassifier, CO2ForestRegressor])
def test_rows_not_drawn_choose_some_columns(kind: Any) -> None:
    def sizes(choice: str) -> list[int]:
        trees = small(kind, max_epochs=40, choice=choice).fit(X, Y).trees_
        return np.concatenate([np.diff(tree.split_indptr)[tree.split_nodes] for tree in trees])

    assert np.count_nonzero(sizes("bound") == 1) < np.count_nonzero(sizes("oob") == 1)
    assert np.count_nonzero(sizes("oob") == 6) > 0


def test_choice_by_rows_not_drawn_wants_some_of_them() -> None:
    forest = small(CO2ForestClassifier, choice="oob", bootstrap=False, max_samples=1.0)
    with pytest.raises(ValueError, match=r"choice='oob' but every tree sees all 200 rows.* try b"):
        forest.fit(X, Y)
    forest.set_params(max_samples=0.8).fit(X, Y)


def stretched(**values: Any) -> Any:
    given = {"n_estimators": 3, "scale_spread": 0.5, "bootstrap": False, "max_samples": 1.0}
    return small(CO2ForestClassifier, **given | values).fit(X, Y)


def is_same(one: Any, two: Any) -> bool:
    return all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))


def test_a_stretched_tree_is_one_grown_in_stretched_units() -> None:
    problem = classification_problem(X, Y.astype(np.int32), 3, np.ones(200))
    options = GrowOptions(split="co2", scale="deviation", max_depth=1, seed=7)
    factors = np.exp(0.5 * np.random.default_rng([7, STRETCH]).standard_normal(6))
    in_units = replace(problem, deviation=problem.deviation / factors)
    wanted = grow_tree(in_units, options)
    tree = grow_tree(problem, replace(options, scale_spread=0.5))
    np.testing.assert_allclose(tree.split_weights, wanted.split_weights, rtol=1e-3)
    assert not np.allclose(tree.split_weights, grow_tree(problem, options).split_weights, rtol=0.05)


def test_trees_are_stretched_each_in_its_own_way_and_by_the_seed_alone() -> None:
    forest = stretched()
    roots = [tree.split_weights[:6] for tree in forest.trees_]
    assert not np.allclose(roots[0], roots[1])
    assert is_same(forest, stretched(n_jobs=2))
    assert not is_same(forest, stretched(scale_spread=0.4))
    begun = stretched(n_estimators=1, warm_start=True)
    assert is_same(begun.set_params(n_estimators=3).fit(X, Y), forest)


def test_the_unit_of_a_column_still_changes_nothing() -> None:
    units = np.array([1, 2, 4, 0.5, 1024, 2**-20], dtype=np.float32)
    in_units = stretched().fit(X * units, Y)
    assert np.array_equal(in_units.predict(X * units), stretched().predict(X))


@pytest.mark.parametrize("size", [1e-15, 1e15])
def test_columns_of_any_size_can_be_stretched(size: float) -> None:
    forest = stretched(scale_spread=2.0).fit(X * np.float32(size), Y)
    assert forest.score(X * np.float32(size), Y) == 1.0


@pytest.mark.parametrize("kind", [CO2ForestClassifier, CO2ForestRegressor])
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-0.1, ValueError, "scale_spread=-0.1 is too small"),
        (2.5, ValueError, "scale_spread=2.5 leaves a tree one column .* from 0 to 2;"),
        ("much", TypeError, "scale_spread='much' is of type str"),
        (np.nan, ValueError, "scale_spread=nan"),
    ],
)
def test_spreads_of_no_use_are_refused(kind: Any, value: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        kind(scale_spread=value).fit(X, Y)


def test_noise_of_one_hot_columns_is_judged_away() -> None:
    rng = np.random.default_rng(0)
    noise = np.eye(4, dtype=np.float32)[rng.integers(0, 4, (1200, 15))].reshape(1200, 60)
    shown = rng.integers(0, 2, (1200, 4)).astype(np.float32)
    labels = (shown[:, 0] + 2 * shown[:, 1] * shown[:, 2]).astype(int)
    labels = np.where(rng.random(1200) < 0.1, rng.integers(0, 4, 1200), labels)
    rows = np.hstack([shown, noise])
    fitted = {
        choice: CO2ForestClassifier(
            10, max_epochs=10, relabel_epochs=5, choice=choice, max_features=None, random_state=0
        ).fit(rows[:400], labels[:400])
        for choice in ("bound", "oob")
    }
    errors = {choice: 1 - one.score(rows[400:], labels[400:]) for choice, one in fitted.items()}
    assert errors["oob"] < 0.75 * errors["bound"]  # 0.08 and 0.13


@each_kind
def test_whatever_the_length_and_steps_trees_are_finite(kind: Any) -> None:
    for values in ({"max_norm": 1e-20}, {"max_norm": 1e20}, {"learning_rate": 100.0},
                   {"learning_rate": 1e-8}, {"momentum": 0.999}, {"batch_size": 10**9},
                   {"refresh_epochs": 10**9}, {"tol": 1e9}):  # fmt: skip
        fitted = small(
            kind, max_epochs=20, **{k: v for k, v in values.items() if k != "max_epochs"}
        )
        fitted.fit(X, Y)
        for tree in trees_of(fitted):
            assert np.isfinite(tree.check().split_weights).all()
            assert np.isfinite(tree.bias).all()
