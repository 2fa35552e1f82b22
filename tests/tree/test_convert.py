"""Trees converted from scikit-learn predict the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

from spinney.tree import from_sklearn
from tests import reference
from tests.strategies import classification_rows, regression_rows, seeds

any_float32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


def rows_around_thresholds(cart, X):
    """The rows, then copies with each split's feature at and beside its threshold."""
    tree = cart.tree_
    extra = []
    for node in np.flatnonzero(tree.children_left >= 0):
        at = np.float32(tree.threshold[node])
        for value in (
            np.nextafter(at, np.float32(-np.inf)),
            at,
            np.nextafter(at, np.float32(3e38)),
        ):
            row = X[0].copy()
            row[tree.feature[node]] = value
            extra.append(row)
    return np.vstack([X, *extra])


@given(classification_rows(), seeds())
def test_class_fractions_are_scikit_learns(problem, seed):
    cart = DecisionTreeClassifier(max_depth=4, random_state=seed % 2**31)
    cart.fit(problem.X, problem.y, problem.sample_weight)
    rows = rows_around_thresholds(cart, problem.X)
    found = reference.outputs(from_sklearn(cart), rows)
    np.testing.assert_array_equal(found, cart.predict_proba(rows))


@given(regression_rows())
def test_values_are_scikit_learns(problem):
    cart = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(problem.X, problem.y)
    rows = rows_around_thresholds(cart, problem.X)
    found = reference.outputs(from_sklearn(cart), rows)
    np.testing.assert_array_equal(found, cart.predict(rows).reshape(found.shape))


@given(hnp.arrays(np.float32, 12, elements=any_float32), st.booleans())
def test_rows_at_any_float32_threshold_go_scikit_learns_way(column, random_thresholds):
    X = column[:, None]
    kind = ExtraTreeRegressor if random_thresholds else DecisionTreeRegressor
    cart = kind(random_state=0).fit(X, np.arange(12.0))
    rows = rows_around_thresholds(cart, X)
    rows = rows[np.isfinite(rows[:, 0])]
    for score in (reference.score, reference.score_float32):
        found = reference.outputs(from_sklearn(cart), rows, score)
        np.testing.assert_array_equal(found[:, 0], cart.predict(rows))


@pytest.mark.parametrize("max_leaf_nodes", [None, 20])
def test_a_real_tree_keeps_its_shape(max_leaf_nodes):
    X, y = load_diabetes(return_X_y=True)
    cart = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0).fit(X, y)
    tree = from_sklearn(cart).check()
    assert tree.max_depth == cart.get_depth()
    assert tree.n_leaves == cart.get_n_leaves()
    assert tree.n_features == X.shape[1]


def test_the_inner_tree_converts_like_its_estimator():
    cart = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    assert from_sklearn(cart.tree_).same_as(from_sklearn(cart))


def test_one_class_gives_a_single_leaf():
    tree = from_sklearn(DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "a"]))
    assert (tree.n_nodes, tree.max_depth) == (1, 0)
    np.testing.assert_array_equal(tree.leaf_values, [[1.0]])


@pytest.mark.parametrize("other", [DecisionTreeClassifier(), LinearRegression(), 3])
def test_what_is_no_fitted_tree_is_refused(other):
    with pytest.raises(TypeError, match="no fitted scikit-learn tree"):
        from_sklearn(other)


def test_several_classification_outputs_are_refused():
    cart = DecisionTreeClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="classifies 2 outputs"):
        from_sklearn(cart)


def test_a_split_on_missing_values_is_refused():
    cart = DecisionTreeClassifier().fit([[0.0], [0.0], [np.nan]], [0, 0, 1])
    with pytest.raises(ValueError, match="missing values"):
        from_sklearn(cart)
