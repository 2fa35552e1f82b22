"""Jointly optimised forests start from forests that something else has grown."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from spinney import (
    FAOForestClassifier,
    FAOForestRegressor,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
)
from tests.column_trees import EVERY_KIND, column_tree, forest_model, table, targets

X, Y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
X = X.astype(np.float32)
XR, YR = make_regression(200, 6, noise=3.0, random_state=0)
XR = XR.astype(np.float32)
SMALL: dict[str, Any] = {"max_depth": 3, "random_state": 0}

CLASSIFIERS = [
    TAOForestClassifier(6, max_iter=3, **SMALL),
    TAOBoostClassifier(6, max_sweeps=3, **SMALL),
    TAOGradientBoostingClassifier(6, max_sweeps=3, **SMALL),
    FAOForestClassifier(1, 6, max_iter=3, **SMALL),
    RandomForestClassifier(6, **SMALL),
    GradientBoostingClassifier(n_estimators=2, **SMALL),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=6, random_state=0),
    BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 6, max_features=4, bootstrap_features=True,
        random_state=0,
    ),
]  # fmt: skip
REGRESSORS = [
    TAOForestRegressor(6, max_iter=3, **SMALL),
    TAOGradientBoostingRegressor(6, max_sweeps=3, **SMALL),
    FAOForestRegressor(1, 6, max_iter=3, **SMALL),
    RandomForestRegressor(6, **SMALL),
    ExtraTreesRegressor(6, **SMALL),
    GradientBoostingRegressor(n_estimators=6, **SMALL),
]


def classifier(**values: Any) -> FAOForestClassifier:
    return FAOForestClassifier(**({"n_forests": 2, "n_trees": 3, "max_iter": 3} | SMALL | values))


def regressor(**values: Any) -> FAOForestRegressor:
    return FAOForestRegressor(**({"n_forests": 2, "n_trees": 3, "max_iter": 3} | SMALL | values))


def name_of(forest: Any) -> str:
    return type(forest).__name__


def same(one: Any, two: Any) -> bool:
    return all(a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True))


@pytest.mark.parametrize("forest", CLASSIFIERS, ids=name_of)
def test_classifiers_start_from_any_forest(forest: Any) -> None:
    fitted = classifier(init=forest.fit(X, Y)).fit(X, Y)
    assert fitted.score(X, Y) > 0.75
    assert len(fitted) == 6


@pytest.mark.parametrize("forest", REGRESSORS, ids=name_of)
def test_regressors_start_from_any_forest(forest: Any) -> None:
    fitted = regressor(init=forest.fit(XR, YR), leaf_alpha=0.1).fit(XR, YR)
    assert fitted.score(XR, YR) > 0.75


@pytest.mark.parametrize("forest", [*CLASSIFIERS[:5], CLASSIFIERS[7]], ids=name_of)
def test_the_splits_of_the_given_trees_are_the_start(forest: Any) -> None:
    """One guarded iteration with a penalty that no split is worth moves nothing."""
    forest.fit(X, Y)
    start = classifier(init=forest, n_forests=1, n_trees=6, max_iter=1, strict_descent=True)
    objective = start.fit(X, Y).traces_[0].objective
    own = classifier(n_forests=1, n_trees=6, max_iter=1, strict_descent=True).fit(X, Y)
    # Leaves of trees that were grown on these classes fit them better than drawn ones.
    assert start.traces_[0].loss[0] < own.traces_[0].loss[0]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()


def test_trees_are_dealt_out_to_the_forests_in_order() -> None:
    forest = TAOForestClassifier(6, **SMALL).fit(X, Y)
    from spinney.ensembles.given_starts import given_starts

    dealt = given_starts(forest, 2, 3, 6, "oblique")
    assert [tree for of_forest in dealt for tree in of_forest] == list(forest.trees_)


@pytest.mark.parametrize("init", ["bagged", "boosted"])
@pytest.mark.parametrize("split", ["oblique", "mixed"])
def test_grown_starts_begin_lower_than_drawn_ones(init: str, split: str) -> None:
    grown = classifier(init=init, split=split).fit(X, Y)
    drawn = classifier(split=split).fit(X, Y)
    for one, other in zip(grown.traces_, drawn.traces_, strict=True):
        assert one.loss[0] < other.loss[0]
    assert regressor(init=init, split=split).fit(XR, YR).score(XR, YR) > 0.7


@pytest.mark.parametrize("word", ["bagged", "boosted"])
def test_starts_with_leaves_begin_with_what_their_trees_say(word: str) -> None:
    """Without a penalty, leaves that are fitted anew are better; the splits are the same."""
    values: dict[str, Any] = {"leaf_alpha": 0.0, "max_iter": 3, "tol": 0.0, "strict_descent": True}
    whole = regressor(init=f"{word}_with_leaves", **values).fit(XR, YR)
    splits = regressor(init=word, **values).fit(XR, YR)
    n_rows = len(YR)
    for one, other in zip(whole.traces_, splits.traces_, strict=True):
        assert other.loss[0] < one.loss[0] < n_rows  # what the mean alone leaves over
        assert (np.diff(one.objective) <= 1e-9 * one.objective[0]).all()
    assert whole.score(XR, YR) > 0.9


def test_bagged_starts_with_leaves_are_the_mean_of_the_trees() -> None:
    bagged = {"init": "bagged_with_leaves", "loss": "squared_error", "tol": 0.0}
    forest = classifier(n_forests=1, n_trees=4, max_iter=1, **bagged).fit(X, Y)
    # Four trees that are right on most rows: a quarter of each says most of what is wanted.
    assert forest.traces_[0].loss[0] < 0.5 * len(Y)
    assert forest.score(X, Y) > 0.8


@pytest.mark.parametrize("init", ["bagged", "boosted", TAOForestClassifier(6, **SMALL).fit(X, Y)])
def test_jobs_and_backend_change_nothing(init: Any) -> None:
    one = classifier(init=init).fit(X, Y)
    assert same(one, classifier(init=init, n_jobs=2).fit(X, Y))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert same(one, classifier(init=init).fit(X, Y))


def test_forests_of_one_plan_differ() -> None:
    forest = classifier(init="boosted").fit(X, Y)
    assert not forest.trees_[0].same_as(forest.trees_[3])


def test_a_frozen_forest_survives_a_search() -> None:
    frozen = FrozenEstimator(RandomForestClassifier(6, **SMALL).fit(X, Y))
    search = GridSearchCV(classifier(init=frozen), {"leaf_alpha": [0.1, 1.0]}, cv=2)
    assert search.fit(X, Y).best_score_ > 0.5


@pytest.mark.parametrize(
    ("init", "error", "message"),
    [
        (
            RandomForestClassifier(),
            ValueError,
            r"init=RandomForestClassifier is not fitted; .* try",
        ),
        (RandomForestClassifier(5).fit(X, Y), ValueError, r"has 5 trees, .* is 6; give .* try"),
        (RandomForestClassifier(6).fit(X[:, :3], Y), ValueError, r"on 3 columns .* try"),
        (
            BaggingClassifier(LogisticRegression(), 6).fit(X, Y),
            TypeError,
            r"holds LogisticRegression; give .* try",
        ),
        (
            HistGradientBoostingClassifier(max_iter=2).fit(X, Y),
            TypeError,
            r"is not a tree estimator; .* try",
        ),
        (
            "grown",
            ValueError,
            r"'grown' is not known; .*\"bagged\", \"boosted\", a fitted forest.* try",
        ),
        (7, TypeError, r"init=7 is of type int; .*\"bagged\", \"boosted\", a fitted forest.* try"),
    ],
    ids=str,
)
def test_starts_of_no_use_are_refused(init: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        classifier(init=init).fit(X, Y)


def test_starts_of_one_column_of_the_table_a_split_are_accepted() -> None:
    frame, start = table(), forest_model(column_tree(EVERY_KIND), column_tree(EVERY_KIND))
    forest = FAOForestClassifier(
        1, 2, init=FrozenEstimator(start), split="axis", max_iter=1, random_state=0
    )
    y = targets(frame)
    assert forest.fit(frame, y).score(frame, y) > 0.9


def test_oblique_starts_are_refused_where_splits_are_of_one_column() -> None:
    forest = TAOForestClassifier(6, **SMALL).fit(X, Y)
    with pytest.raises(ValueError, match=r'columns in a split but split="axis"; give .* try'):
        classifier(init=forest, split="axis").fit(X, Y)


@pytest.mark.parametrize(
    "forest",
    [
        FAOForestClassifier(2, 3, max_iter=3, split="mixed", **SMALL),
        TAOGradientBoostingClassifier(6, max_sweeps=3, split="mixed", **SMALL),
        RandomForestClassifier(6, **SMALL),
    ],
    ids=name_of,
)
def test_mixed_forests_start_from_trees_of_both_kinds(forest: Any) -> None:
    # Trees of gradient boosting take turns all along, those of a forest begin anew in each.
    n_trees = 6 if isinstance(forest, TAOGradientBoostingClassifier) else 3
    start = forest.fit(X, Y)
    fitted = classifier(init=start, split="mixed", n_forests=6 // n_trees, n_trees=n_trees)
    fitted.fit(X, Y)
    widest = [int(np.diff(tree.split_indptr).max()) for tree in fitted.trees_]
    is_axis = [number % n_trees % 2 == 1 for number in range(6)]
    assert [width == 1 for width in widest] == is_axis


def test_a_hyperplane_where_a_mixed_forest_wants_a_column_is_refused() -> None:
    forest = TAOForestClassifier(6, **SMALL).fit(X, Y)
    message = r'tree 1 of init, which split="mixed" wants axis, .* give .* try'
    with pytest.raises(ValueError, match=message):
        classifier(init=forest, split="mixed").fit(X, Y)


def test_a_tree_of_one_leaf_is_a_start() -> None:
    forest = RandomForestClassifier(6, **SMALL).fit(X, np.zeros(200))
    assert classifier(init=forest, n_forests=1, n_trees=6).fit(X, Y).score(X, Y) > 0.3
