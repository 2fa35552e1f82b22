"""Behaviour of TAOTreeClassifier, and of ``fit`` as a transaction."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import spinney.ensembles.one_tree as estimator_module
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


@all_ways
def test_probabilities_agree_with_labels(values: dict[str, Any]) -> None:
    tree = classifier(**values).fit(X, Y)
    fractions = tree.predict_proba(X)
    assert fractions.shape == (150, 3)
    assert np.allclose(fractions.sum(axis=1), 1)
    assert (fractions >= 0).all()
    assert np.array_equal(tree.classes_[fractions.argmax(axis=1)], tree.predict(X))
    with np.errstate(divide="ignore"):
        assert np.allclose(tree.predict_log_proba(X), np.log(fractions))


def test_constant_leaves_hold_the_weighted_class_fractions() -> None:
    weights = np.random.default_rng(0).uniform(0.1, 2, size=150)
    tree = classifier().fit(X, CODES, sample_weight=weights)
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        expected = np.bincount(CODES[here], weights=weights[here], minlength=3)
        found = tree.predict_proba(X[here][:1])[0]
        assert found == pytest.approx(expected / expected.sum(), abs=1e-6)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]], ids=str)
def test_two_classes_of_any_kind_keep_their_labels(labels: list[Any]) -> None:
    X2, y2 = load_breast_cancer(return_X_y=True)
    y = np.array(labels)[y2]
    tree = classifier().fit(X2, y)
    assert tree.classes_.tolist() == labels
    assert tree.n_classes_ == 2
    assert tree.predict(X2).dtype == y.dtype
    assert tree.score(X2, y) > 0.9


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


@pytest.mark.parametrize("values", [{}, {"split": "axis"}, {"init": "cart"}], ids=str)
def test_weight_k_equals_the_row_repeated(values: dict[str, Any]) -> None:
    counts = np.random.default_rng(3).integers(0, 4, size=150)
    weighted = classifier(**values).fit(X, CODES, sample_weight=counts)
    repeated = classifier(**values).fit(np.repeat(X, counts, axis=0), np.repeat(CODES, counts))
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-6)
    assert weighted.flops_ == pytest.approx(repeated.flops_)
    assert weighted.feature_importances_ == pytest.approx(repeated.feature_importances_, abs=1e-5)


@all_ways
def test_weight_zero_equals_the_row_left_out(values: dict[str, Any]) -> None:
    kept = np.random.default_rng(3).random(150) < 0.7
    weighted = classifier(**values).fit(X, Y, sample_weight=kept.astype(float))
    without = classifier(**values).fit(X[kept], Y[kept])
    assert weighted.tree_.same_as(without.tree_)


@pytest.mark.parametrize("init", ["balanced", "cart"])
def test_class_of_weight_zero_keeps_its_column(init: str) -> None:
    tree = classifier(init=init).fit(X, CODES, sample_weight=(CODES != 1).astype(float))
    assert tree.classes_.tolist() == [0, 1, 2]
    assert tree.predict_proba(X).shape == (150, 3)
    assert np.array_equal(tree.predict_proba(X)[:, 1], np.zeros(150))


def test_class_weight_multiplies_the_sample_weight() -> None:
    factors = {"setosa": 2.0, "versicolor": 0.5, "virginica": 0.0}
    by_class = classifier(class_weight=factors).fit(X, Y)
    by_row = classifier().fit(X, Y, sample_weight=np.array([2.0, 0.5, 0.0])[CODES])
    assert by_class.tree_.same_as(by_row.tree_)


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


def test_without_warm_start_a_second_fit_starts_afresh() -> None:
    tree = classifier().fit(X, Y)
    first = tree.tree_
    assert tree.fit(X, Y).tree_.same_as(first)
    assert tree.n_iter_ == len(tree.trace_)


def test_warm_start_refuses_other_classes_and_columns() -> None:
    tree = classifier(warm_start=True).fit(X, CODES)
    text = r"classes \[0, 1, 2\] but y holds \[1, 2, 3\]; give .* try warm_start=False"
    with pytest.raises(ValueError, match=text):
        tree.fit(X, CODES + 1)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 4"):
        tree.fit(X[:, :2], CODES)


# --- copies ---------------------------------------------------------------------------------


@all_ways
def test_pickling_keeps_predictions(values: dict[str, Any], tmp_path: Any) -> None:
    tree = classifier(**values).fit(X, Y)
    joblib.dump(tree, tmp_path / "tree.joblib")
    mapped = joblib.load(tmp_path / "tree.joblib", mmap_mode="r")
    for copy in (pickle.loads(pickle.dumps(tree)), mapped):
        assert np.array_equal(copy.predict_proba(X), tree.predict_proba(X))
        assert copy.tree_.same_as(tree.tree_)


def test_clone_forgets_the_fit_and_keeps_the_values() -> None:
    tree = classifier(init=RandomStructure(1, 3, 9), alpha=0.5).fit(X, Y)
    copy = clone(tree)
    assert not hasattr(copy, "tree_")
    assert copy.init == tree.init
    assert copy.fit(X, Y).tree_.same_as(tree.tree_)


# --- determinism ----------------------------------------------------------------------------


@all_ways
def test_number_of_threads_changes_nothing(values: dict[str, Any]) -> None:
    X3, y3 = noisy_task()
    one = classifier(n_jobs=1, **values).fit(X3, y3)
    two = classifier(n_jobs=2, **values).fit(X3, y3)
    assert one.tree_.same_as(two.tree_)
    assert np.array_equal(one.predict_proba(X3), two.predict_proba(X3))
    assert list(one.trace_.objective) == list(two.trace_.objective)


@all_ways
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_order_and_precision_of_the_copy_change_nothing(
    values: dict[str, Any], order: Any, dtype: Any
) -> None:
    X3, y3 = noisy_task()
    expected = classifier(**values).fit(X3, y3)
    copy = classifier(**values).fit(np.array(X3, dtype=dtype, order=order), y3)
    assert copy.tree_.same_as(expected.tree_)


def test_seed_decides_the_tree() -> None:
    X3, y3 = noisy_task()
    trees = [classifier(random_state=seed).fit(X3, y3).tree_ for seed in (0, 0, 1)]
    assert trees[0].same_as(trees[1])
    assert not trees[0].same_as(trees[2])
    by_generator = classifier(random_state=np.random.RandomState(0)).fit(X3, y3).tree_
    assert by_generator.same_as(trees[0])


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


def test_axis_tree_is_the_same_from_dense_and_sparse_rows() -> None:
    X3, y3 = noisy_task()
    X3 = np.where(np.abs(X3) < 0.5, 0, X3).astype(np.float32)
    dense = classifier(split="axis", init="cart").fit(X3, y3)
    sparse = classifier(split="axis", init="cart").fit(sp.csr_matrix(X3), y3)
    assert dense.tree_.same_as(sparse.tree_)


def test_dense_and_sparse_rows_are_predicted_alike() -> None:
    X3, y3 = noisy_task()
    X3 = np.where(np.abs(X3) < 0.5, 0, X3).astype(np.float32)
    for tree in (classifier().fit(X3, y3), classifier().fit(sp.csr_matrix(X3), y3)):
        assert tree.score(X3, y3) > 0.6
        assert np.array_equal(tree.predict_proba(X3), tree.predict_proba(sp.csr_matrix(X3)))


def test_batches_are_predicted_as_the_whole() -> None:
    X3, y3 = noisy_task()
    tree = classifier(leaf="linear").fit(X3, y3)
    batches = [tree.predict_proba(X3[start : start + 37]) for start in range(0, 400, 37)]
    assert np.array_equal(np.concatenate(batches), tree.predict_proba(X3))


# --- transaction ----------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
@pytest.mark.parametrize("warm_start", [False, True])
def test_interrupted_fit_leaves_the_estimator_as_it_was(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], warm_start: bool
) -> None:
    tree = classifier(warm_start=warm_start).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    before, predicted = dict(vars(tree)), tree.predict_proba(X_named())

    def interrupt(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(estimator_module, "optimize_tree", interrupt)
    with pytest.raises(error):
        tree.fit(pd.DataFrame(X[:, ::-1], columns=list("abcd")), np.roll(Y, 7))
    assert vars(tree) == before
    assert np.array_equal(tree.predict_proba(X_named()), predicted)


def X_named() -> pd.DataFrame:  # noqa: N802
    return pd.DataFrame(X, columns=list("abcd"))


def test_interrupted_first_fit_leaves_the_estimator_unfitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator_module, "optimize_tree", interrupt)
    tree = classifier()
    before = dict(vars(tree))
    with pytest.raises(KeyboardInterrupt):
        tree.fit(X, Y)
    assert vars(tree) == before
