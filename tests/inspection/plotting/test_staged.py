"""Stages of a forest are what its first trees would predict by themselves."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

from spinney import TAOForestClassifier, TAOForestRegressor
from spinney.inspection.plotting.staged import staged_parameters, staged_predictions
from spinney.tree import Forest, count_parameters
from tests.compat.models import FORESTS, classes, numbers, rows, small_model
from tests.inspection.plotting.models import rows_for, trees_in

each_model = pytest.mark.parametrize("name", FORESTS)
SAMPLED = [
    name for name in FORESTS if ("forest" in name) and not name.startswith(("fao", "refined"))
]


def same(found, expected) -> None:
    if np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        np.testing.assert_array_equal(found, expected)


@each_model
def test_the_last_stage_is_the_prediction(name: str) -> None:
    model = small_model(name)
    X = rows_for(model)
    number, said = list(staged_predictions(model, X))[-1]
    assert number == len(trees_in(model))
    same(said, model.predict(X))


@pytest.mark.parametrize("name", SAMPLED)
def test_each_stage_is_the_prediction_of_the_first_trees(name: str) -> None:
    model = small_model(name)
    X = rows_for(model)
    stages = list(staged_predictions(model, X))
    assert [number for number, _ in stages] == list(range(1, len(model.trees_) + 1))
    for number, said in stages:
        part = copy.copy(model)
        part.forest_ = Forest(model.trees_[:number])
        same(said, part.predict(X))


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_votes_are_counted_as_the_forest_counts_them(voting: str) -> None:
    model = TAOForestClassifier(
        5, max_depth=2, max_iter=2, voting=voting, leaf="linear", loss="log_loss", random_state=0
    ).fit(rows(), classes())
    stages = list(staged_predictions(model, rows()))
    assert [number for number, _ in stages] == [1, 2, 3, 4, 5]
    for number, said in stages:
        part = copy.copy(model)
        part.forest_ = Forest(model.trees_[:number])
        same(said, part.predict(rows()))


def test_several_outputs_are_averaged_each() -> None:
    model = TAOForestRegressor(3, max_depth=2, max_iter=2, random_state=0).fit(rows(), numbers())
    said = [said for _, said in staged_predictions(model, rows())]
    single = [Forest((tree,)) for tree in model.trees_]
    first = single[0]
    from spinney.data import as_rows

    native = as_rows(rows().astype(np.float32))
    same(said[0], first.sums(native, [1.0]))
    same(said[1], np.mean([forest.sums(native, [1.0]) for forest in single[:2]], axis=0))


@pytest.mark.parametrize("name", ["fao_forest_classifier", "fao_forest_regressor"])
def test_forests_optimised_together_count_as_wholes(name: str) -> None:
    model = small_model(name)
    stages = dict(staged_predictions(model, rows()))
    assert sorted(stages) == [2, 4]
    part = copy.copy(model)
    part.forest_, part.n_forests_ = Forest(model.trees_[:2]), 1
    same(stages[2], part.predict(rows()))


@pytest.mark.parametrize("name", ["tao_boost_classifier", "tao_gradient_boosting_regressor"])
def test_boosted_trees_tell_their_stages_themselves(name: str) -> None:
    model = small_model(name)
    expected = list(model.staged_predict(rows()))
    for (number, said), theirs in zip(staged_predictions(model, rows()), expected, strict=True):
        assert number <= len(expected)
        np.testing.assert_array_equal(said, theirs)


@pytest.mark.parametrize("name", ["refined_forest_classifier", "tao_tree_regressor"])
def test_trees_that_mean_nothing_apart_are_one_stage(name: str) -> None:
    assert len(list(staged_predictions(small_model(name), rows()))) == 1


@each_model
def test_parameters_are_those_of_the_first_trees(name: str) -> None:
    model = small_model(name)
    found = staged_parameters(model)
    if not name.startswith("refined"):
        sizes = [count_parameters(tree) for tree in trees_in(model)]
        assert found.tolist() == np.cumsum(sizes).tolist()
        assert found[-1] == model.n_parameters_
    assert len(found) == len(trees_in(model))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesRegressor])
def test_forests_of_scikit_learn_are_averaged(kind: type) -> None:
    y = classes() if kind is RandomForestClassifier else numbers()[:, 0]
    model = kind(4, max_depth=3, random_state=0).fit(rows(), y)
    stages = list(staged_predictions(model, rows()))
    for number, said in stages:
        part = copy.copy(model)
        part.estimators_ = model.estimators_[:number]
        same(said, part.predict(rows()))
    n_nodes = sum(tree.tree_.node_count for tree in model.estimators_)
    n_leaves = sum(tree.tree_.n_leaves for tree in model.estimators_)
    assert staged_parameters(model)[-1] == 2 * (n_nodes - n_leaves) + n_leaves


def test_other_ensembles_are_one_stage_or_tell_their_own() -> None:
    boosting = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(rows(), classes())
    assert len(list(staged_predictions(boosting, rows()))) == 3
    assert staged_parameters(boosting) is None
    bagging = BaggingClassifier(n_estimators=3, max_features=2, random_state=0).fit(
        rows(), classes()
    )
    [(number, said)] = staged_predictions(bagging, rows())
    assert number == 3
    np.testing.assert_array_equal(said, bagging.predict(rows()))
    assert staged_parameters(bagging) is None
