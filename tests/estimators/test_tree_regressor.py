"""Behaviour of TAOTreeRegressor: losses, several outputs, weights, starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

from spinney.estimators import TAOTreeRegressor

X, Y = load_diabetes(return_X_y=True)
Y = Y / Y.std()
Y2 = np.column_stack([Y, X[:, 2] * 10 - X[:, 8] * 5])
WAYS = [
    {},
    {"split": "axis"},
    {"leaf": "linear"},
    {"loss": "absolute_error"},
    {"loss": "huber", "huber_delta": 0.5},
    {"init": "balanced"},
    {"init": "cart"},
    {"init": "random_structure", "max_depth": 5},
    {"strict_descent": True},
]
all_ways = pytest.mark.parametrize("values", WAYS, ids=str)


def regressor(**values: Any) -> TAOTreeRegressor:
    return TAOTreeRegressor(**{"max_depth": 3, "max_iter": 4, "random_state": 0} | values)


@all_ways
def test_each_way_explains_part_of_the_variance(values: dict[str, Any]) -> None:
    assert regressor(**values).fit(X, Y).score(X, Y) > 0.3


@all_ways
def test_several_outputs_are_predicted_at_once(values: dict[str, Any]) -> None:
    tree = regressor(**values).fit(X, Y2)
    assert tree.n_outputs_ == 2
    assert tree.tree_.n_outputs == 2
    assert tree.predict(X).shape == Y2.shape
    assert tree.score(X, Y2) > 0.3


def test_one_column_of_targets_is_predicted_as_a_vector() -> None:
    column, vector = regressor().fit(X, Y[:, None]), regressor().fit(X, Y)
    assert column.predict(X).shape == (len(Y),)
    assert column.tree_.same_as(vector.tree_)


def test_constant_leaves_hold_the_mean_for_squared_error() -> None:
    tree = regressor().fit(X, Y)
    leaves, predicted = tree.apply(X), tree.predict(X)
    for leaf in np.unique(leaves):
        assert predicted[leaves == leaf] == pytest.approx(Y[leaves == leaf].mean(), rel=1e-6)


def test_constant_leaves_hold_a_median_for_absolute_error() -> None:
    tree = regressor(loss="absolute_error").fit(X, Y)
    leaves, predicted = tree.apply(X), tree.predict(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        assert np.mean(Y[here] < predicted[here]) <= 0.5
        assert np.mean(Y[here] > predicted[here]) <= 0.5


def test_linear_leaves_fit_a_linear_target() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3))
    target = rows @ [1.0, -2.0, 0.0] + 3.0
    tree = regressor(leaf="linear", max_depth=1, alpha=1e-3).fit(rows, target)
    assert tree.score(rows, target) > 0.999


def test_constant_target_gives_one_leaf() -> None:
    tree = regressor().fit(X, np.full(len(X), 2.5))
    assert tree.get_n_leaves() == 1
    assert tree.predict(X) == pytest.approx(np.full(len(X), 2.5))


def test_cart_start_is_never_made_worse() -> None:
    for seed in range(3):
        cart = DecisionTreeRegressor(max_depth=4, random_state=seed).fit(X, Y)
        tree = regressor(init=cart, split="axis", alpha=0.0).fit(X, Y)
        assert tree.score(X, Y) >= cart.score(X, Y) - 1e-9


def test_start_can_be_a_tree_of_several_outputs() -> None:
    first = regressor().fit(X, Y2)
    again = regressor(init=first.tree_).fit(X, Y2)
    assert again.score(X, Y2) >= first.score(X, Y2) - 0.05


def test_warm_start_goes_on_and_refuses_other_outputs() -> None:
    tree = regressor(warm_start=True, max_iter=2, tol=0.0).fit(X, Y)
    n_first = tree.n_iter_
    assert tree.fit(X, Y).n_iter_ > n_first
    with pytest.raises(ValueError, match=r"goes on from trees of 1 outputs but y has 2"):
        tree.fit(X, Y2)


def test_leaf_penalty_l2_keeps_small_weights_that_l1_removes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    y = X[:, 0] + 0.05 * X[:, 1] + 0.01 * rng.standard_normal(200)
    settings = {"max_depth": 1, "leaf": "linear", "alpha": 20.0, "random_state": 0}
    lasso = TAOTreeRegressor(leaf_penalty="l1", **settings).fit(X, y)
    ridge = TAOTreeRegressor(leaf_penalty="l2", **settings).fit(X, y)
    assert lasso.tree_.leaf_weights.size < ridge.tree_.leaf_weights.size
    assert ridge.score(X, y) > 0.8
