from types import SimpleNamespace

import curves
import numpy as np
import pytest
from datasets import Dataset
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from spinney import TAOTreeClassifier


@pytest.fixture(scope="module")
def data():
    X, y = load_digits(n_class=4, return_X_y=True)
    X = X.astype(np.float32)
    return Dataset("digits", X[:400], y[:400], X[400:], y[400:], "scikit-learn")


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(4, max_depth=3, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
    ],
)
def test_a_curve_ends_at_the_forest_itself(data, forest):
    forest.fit(data.X_train, data.y_train)
    found = curves.curve(forest, data, wall_seconds=8.0, ticks=[])
    assert found["trees"] == [1, 2, 3, 4]
    assert found["seconds"] == [2.0, 4.0, 6.0, 8.0]
    assert found["test_error"][-1] == pytest.approx(
        100 * np.mean(forest.predict(data.X_test) != data.y_test)
    )


def our_forest(data, **params):
    """What a bagged forest of ours shows of itself: trees, traces, classes and a vote."""
    fits = [
        TAOTreeClassifier(max_depth=2, max_iter=1, random_state=seed, **params).fit(
            data.X_train, data.y_train
        )
        for seed in range(3)
    ]
    is_linear = params.get("leaf") == "linear"

    def predict(X):
        given = [fit.predict_proba(X) for fit in fits]
        votes = given if is_linear else [np.eye(4)[p.argmax(axis=1)] for p in given]
        return np.sum(votes, axis=0).argmax(axis=1)

    return SimpleNamespace(
        trees_=tuple(fit.tree_ for fit in fits),
        traces_=tuple(fit.trace_ for fit in fits),
        classes_=fits[0].classes_,
        voting="auto",
        predict=predict,
    )


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_our_trees_vote_as_the_forest_does(data, leaf):
    forest = our_forest(data, leaf=leaf)
    found = curves.curve(forest, data, wall_seconds=3.0, ticks=[])
    assert found["test_error"][-1] == 100 * np.mean(forest.predict(data.X_test) != data.y_test)
    assert found["test_error"][0] == found["tree_error"][0]
    assert found["seconds"][-1] == pytest.approx(3.0)
    assert np.all(np.diff(found["parameters"]) > 0)


def test_another_vote_is_noticed(data):
    forest = our_forest(data)
    forest.predict = lambda X: np.zeros(len(X), dtype=int)
    with pytest.raises(ValueError, match="differs from predict"):
        curves.curve(forest, data, wall_seconds=1.0, ticks=[])


def test_long_curves_have_few_points():
    points = curves._points(5000)
    assert points[0] == 1
    assert points[-1] == 5000
    assert len(points) <= curves.N_POINTS


def test_a_single_tree_has_no_curve(data):
    tree = DecisionTreeClassifier(max_depth=2).fit(data.X_train, data.y_train)
    assert curves.curve(tree, data, 1.0, []) is None
