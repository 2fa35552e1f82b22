"""Behaviour of TAOTreeClassifier, and of ``fit`` as a transaction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from spinney.estimators import RandomStructure, TAOTreeClassifier

X, CODES = load_iris(return_X_y=True)
Y = load_iris().target_names[CODES]
WAYS = [
    {},
    {"split": "axis"},
    {"leaf": "linear", "max_depth": 2},
    {"loss": "log_loss"},
    {"strict_descent": True},
    {"order": "leaves_first"},
    {"init": "random"},
    {"init": "balanced"},
    {"init": "cart"},
    {"init": "random_structure", "max_depth": 5},
]
all_ways = pytest.mark.parametrize("values", WAYS, ids=str)


def classifier(**values: Any) -> TAOTreeClassifier:
    return TAOTreeClassifier(**{"max_depth": 3, "max_iter": 4, "random_state": 0} | values)


def noisy_task() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    X, y = make_classification(400, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
    return X.astype(np.float32), y


# --- predictions ----------------------------------------------------------------------------


@all_ways
def test_each_way_learns_iris(values: dict[str, Any]) -> None:
    assert classifier(**values).fit(X, Y).score(X, Y) > 0.9


def test_constant_leaves_hold_the_weighted_class_fractions() -> None:
    weights = np.random.default_rng(0).uniform(0.1, 2, size=150)
    tree = classifier().fit(X, CODES, sample_weight=weights)
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        expected = np.bincount(CODES[here], weights=weights[here], minlength=3)
        found = tree.predict_proba(X[here][:1])[0]
        assert found == pytest.approx(expected / expected.sum(), abs=1e-6)


def test_paths_end_in_the_leaf_that_apply_names() -> None:
    tree = classifier().fit(X, Y)
    paths, leaves = tree.decision_path(X), tree.apply(X)
    assert sp.issparse(paths)
    assert paths.shape == (150, tree.tree_.n_nodes)
    assert np.array_equal(np.asarray(paths[np.arange(150), leaves]).ravel(), np.ones(150))
    assert np.array_equal(np.asarray(paths.sum(axis=1)).ravel(), tree.tree_.depth[leaves] + 1)
    assert (tree.tree_.left[leaves] == -1).all()


# --- fitted attributes ----------------------------------------------------------------------


def test_fitted_attributes_describe_the_tree() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    tree = classifier().fit(frame, Y)
    tree.tree_.check()
    assert tree.get_depth() == tree.tree_.max_depth <= 3
    assert tree.get_n_leaves() == tree.tree_.n_leaves <= 8
    assert tree.n_features_in_ == 4
    assert tree.feature_names_in_.tolist() == list("abcd")
    assert (tree.n_classes_, tree.n_outputs_) == (3, 1)
    assert tree.n_iter_ == len(tree.trace_) >= 1
    assert 0 < tree.flops_ <= tree.n_parameters_


def test_split_kinds_show_in_the_hyperplanes() -> None:
    axis = classifier(split="axis").fit(X, Y).tree_
    assert np.diff(axis.split_indptr).max() == 1
    oblique = classifier(alpha=1e-3).fit(X, Y).tree_
    assert np.diff(oblique.split_indptr).max() > 1


def test_large_alpha_leaves_one_leaf() -> None:
    tree = classifier(alpha=1e6).fit(X, Y)
    assert tree.get_n_leaves() == 1
    assert np.array_equal(tree.feature_importances_, np.zeros(4))


def test_importances_are_shares_of_the_features() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 3))
    signal = rng.normal(size=300)
    tree = classifier(alpha=1.0).fit(np.column_stack([noise, signal]), signal > 0)
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert tree.feature_importances_.argmax() == 3
    assert tree.feature_importances_[3] > 0.9


def test_importances_do_not_depend_on_the_units() -> None:
    one = classifier(split="axis").fit(X, Y).feature_importances_
    two = classifier(split="axis").fit(X * np.array([1, 1024, 2**-10, 4]), Y).feature_importances_
    assert one == pytest.approx(two)


def test_verbose_prints_a_line_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    tree = classifier(verbose=2).fit(X, Y)
    assert capsys.readouterr().err.count("objective") == tree.n_iter_
    classifier().fit(X, Y)
    assert capsys.readouterr() == ("", "")


# --- weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["balanced", "cart"])
def test_class_of_weight_zero_keeps_its_column(init: str) -> None:
    tree = classifier(init=init).fit(X, CODES, sample_weight=(CODES != 1).astype(float))
    assert tree.classes_.tolist() == [0, 1, 2]
    assert tree.predict_proba(X).shape == (150, 3)
    assert np.array_equal(tree.predict_proba(X)[:, 1], np.zeros(150))


def test_class_weight_of_some_classes_leaves_the_others_alone() -> None:
    by_class = classifier(class_weight={1: 3}).fit(X, CODES)
    by_row = classifier().fit(X, CODES, sample_weight=np.array([1.0, 3.0, 1.0])[CODES])
    assert by_class.tree_.same_as(by_row.tree_)


def test_balanced_class_weight_counts_weighted_rows() -> None:
    weights = np.array([1.0, 2.0, 4.0])[CODES]
    balanced = classifier(class_weight="balanced").fit(X, CODES, sample_weight=weights)
    plain = classifier().fit(X, CODES, sample_weight=np.full(150, 7 / 3))
    assert balanced.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-6)


# --- starts ---------------------------------------------------------------------------------


def test_start_can_be_a_tree_or_a_fitted_estimator() -> None:
    first = classifier().fit(X, Y)
    from_tree = classifier(init=first.tree_).fit(X, Y)
    from_estimator = classifier(init=first).fit(X, Y)
    from_frozen = classifier(init=FrozenEstimator(first)).fit(X, Y)
    assert from_tree.tree_.same_as(from_estimator.tree_)
    assert from_tree.tree_.same_as(from_frozen.tree_)
    assert from_tree.get_depth() <= first.get_depth()


def test_word_cart_means_the_scikit_learn_tree_of_that_seed_and_depth() -> None:
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    cart = DecisionTreeClassifier(max_depth=3, random_state=seed).fit(X, Y)
    given = classifier(init=cart, split="axis").fit(X, Y)
    word = classifier(init="cart", split="axis").fit(X, Y)
    assert word.tree_.same_as(given.tree_)


def test_cart_start_is_never_made_worse() -> None:
    X3, y3 = noisy_task()
    for seed in range(3):
        cart = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(X3, y3)
        tree = classifier(init=cart, split="axis", alpha=0.0).fit(X3, y3)
        assert tree.score(X3, y3) >= cart.score(X3, y3)


def test_cart_may_choose_its_own_depth() -> None:
    tree = classifier(init="cart", max_depth=None, split="axis", alpha=0.0).fit(X, Y)
    assert tree.score(X, Y) > 0.99


def test_random_structure_bounds_the_depth() -> None:
    X3, y3 = noisy_task()
    structure = RandomStructure(min_depth=2, max_depth=6, expected_nodes=31)
    tree = classifier(init=structure, max_depth=1, alpha=0.01).fit(X3, y3)
    assert 1 <= tree.get_depth() <= 6


def test_frozen_start_survives_a_grid_search() -> None:
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    search = GridSearchCV(classifier(init=FrozenEstimator(cart)), {"alpha": [0.1, 1.0]}, cv=2)
    assert search.fit(X, Y).best_score_ > 0.8


# --- warm start -----------------------------------------------------------------------------


def test_warm_start_goes_on_with_a_longer_trace() -> None:
    X3, y3 = noisy_task()
    # Five sweeps end with a guarded one, so the last objective is that of the tree.
    tree = classifier(warm_start=True, max_iter=5, tol=0.0).fit(X3, y3)
    first_trace, first_tree = tree.trace_, tree.tree_
    tree.fit(X3, y3)
    assert len(tree.trace_) == tree.n_iter_ > len(first_trace)
    assert tree.trace_.objective[: len(first_trace) + 1] == first_trace.objective
    assert tree.trace_.objective[-1] <= first_trace.objective[-1] * (1 + 1e-9)
    assert tree.tree_.n_nodes <= first_tree.n_nodes


def test_warm_start_refuses_other_classes_and_columns() -> None:
    tree = classifier(warm_start=True).fit(X, CODES)
    text = r"classes \[0, 1, 2\] but y holds \[1, 2, 3\]; give .* try warm_start=False"
    with pytest.raises(ValueError, match=text):
        tree.fit(X, CODES + 1)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 4"):
        tree.fit(X[:, :2], CODES)


# --- copies ---------------------------------------------------------------------------------


# --- determinism ----------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["random", "balanced", "supervised"])
@pytest.mark.parametrize("values", [{"strict_descent": True}, {"max_iter": 1}, {}], ids=str)
def test_axis_tree_has_no_oblique_split(values: dict[str, Any], init: str) -> None:
    wine, classes = load_wine(return_X_y=True)
    for seed in range(8):
        tree = classifier(split="axis", init=init, random_state=seed, **values).fit(wine, classes)
        assert np.diff(tree.tree_.split_indptr).max() <= 1


@pytest.mark.parametrize("init", ["supervised", "cart"])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 4])
def test_trace_ends_with_the_tree(max_iter: int, init: str) -> None:
    wine, classes = load_wine(return_X_y=True)
    for seed in range(8):
        tree = classifier(max_iter=max_iter, init=init, random_state=seed).fit(wine, classes)
        assert tree.trace_.loss[-1] == np.count_nonzero(tree.predict(wine) != classes)


# --- transaction ----------------------------------------------------------------------------
