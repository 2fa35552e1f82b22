"""Shrunken leaves against the formula, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from spinney import CO2TreeClassifier, CO2TreeRegressor
from spinney.tree.shrink import shrink_leaves
from spinney.tree.structure import Tree
from tests import reference

IRIS, CODES = load_iris(return_X_y=True)
DIABETES, NUMBERS = load_diabetes(return_X_y=True)
WEIGHTS = np.random.RandomState(0).randint(0, 4, 60).astype(float)


def fits() -> list[tuple[object, np.ndarray, np.ndarray, np.ndarray]]:
    rows = np.random.RandomState(1).permutation(150)[:60]
    classes = (CO2TreeClassifier(max_epochs=5), IRIS[rows], CODES[rows], np.eye(3)[CODES[rows]])
    numbers = (CO2TreeRegressor(max_epochs=5), DIABETES[:60], NUMBERS[:60], NUMBERS[:60, None])
    return [classes, numbers]


@pytest.mark.parametrize(("estimator", "X", "y", "targets"), fits(), ids=["classes", "numbers"])
@pytest.mark.parametrize("strength", [0.5, 7.0])
def test_leaves_are_those_of_the_formula(estimator, X, y, targets, strength) -> None:
    X = X.astype(np.float32)
    estimator.set_params(leaf_shrinkage=strength, random_state=0)
    tree = estimator.fit(X, y, sample_weight=WEIGHTS).tree_
    expected = [reference.shrunken_answer(tree, X, WEIGHTS, targets, x, strength) for x in X[:20]]
    np.testing.assert_allclose(reference.outputs(tree, X[:20]), expected, rtol=1e-9)


def grown(strength: float) -> Tree:
    estimator = CO2TreeClassifier(max_epochs=5, random_state=0, leaf_shrinkage=strength)
    return estimator.fit(IRIS, CODES).tree_


def test_no_strength_changes_nothing() -> None:
    tree = grown(0.0)
    assert shrink_leaves(tree, np.ones(tree.n_leaves), 0.0) is tree


def test_only_the_leaves_change() -> None:
    plain, shrunk = grown(0.0), grown(3.0)
    assert (plain.bias == shrunk.bias).all()
    assert (plain.split_weights == shrunk.split_weights).all()
    assert (plain.leaf_values != shrunk.leaf_values).any()


def test_endless_strength_leaves_the_shares_of_all_rows() -> None:
    values = grown(1e12).leaf_values
    np.testing.assert_allclose(values, np.full_like(values, 1 / 3), atol=1e-9)


@pytest.mark.parametrize("strength", [1e-9, 0.3, 10.0, 1e6])
def test_fractions_stay_fractions(strength: float) -> None:
    values = grown(strength).leaf_values
    assert (values >= 0).all()
    np.testing.assert_allclose(values.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "much", None])
def test_a_strength_of_no_use_is_refused(value: object) -> None:
    with pytest.raises((ValueError, TypeError), match="leaf_shrinkage"):
        CO2TreeClassifier(leaf_shrinkage=value).fit(IRIS, CODES)
