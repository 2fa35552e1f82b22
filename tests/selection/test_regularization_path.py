"""regularization_path: fitted estimators, held-out errors, and the choice of alpha."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.tree import DecisionTreeClassifier

from spinney import RegularizationPath, TAOTreeClassifier, TAOTreeRegressor, regularization_path
from spinney.algorithms.path import optimize_path
from tests.spies import replace_everywhere

X, Y = load_breast_cancer(return_X_y=True)
X_FIT, X_VAL, Y_FIT, Y_VAL = train_test_split(X, Y, random_state=0)
ALPHAS = [0.1, 1.0, 10.0]


def classifier(**values: Any) -> TAOTreeClassifier:
    return TAOTreeClassifier(**{"max_depth": 3, "max_iter": 5, "random_state": 0} | values)


def validated_path(**values: Any) -> RegularizationPath:
    return regularization_path(
        classifier(**values), X_FIT, Y_FIT, alphas=ALPHAS, X_val=X_VAL, y_val=Y_VAL
    )


def made_up_path(alphas: list[float], errors: list[float], deviation: float) -> RegularizationPath:
    n = len(alphas)
    counts = np.ones(n, dtype=np.int64)
    trees = tuple(classifier(alpha=alpha) for alpha in alphas)
    return RegularizationPath(
        np.array(alphas),
        trees,
        counts,
        counts,
        np.zeros(n),
        np.array(errors),
        np.full(n, deviation),
    )


# --- the estimators of a path ---------------------------------------------------------------


def test_estimators_behave_like_fitted_ones() -> None:
    path = validated_path()
    assert [tree.alpha for tree in path.estimators] == ALPHAS
    for tree, n_parameters, n_leaves in zip(
        path.estimators, path.n_parameters, path.n_leaves, strict=True
    ):
        assert tree.score(X_VAL, Y_VAL) > 0.85
        assert (tree.n_parameters_, tree.get_n_leaves()) == (n_parameters, n_leaves)
        again = pickle.loads(pickle.dumps(tree))
        assert np.array_equal(again.predict_proba(X_VAL), tree.predict_proba(X_VAL))
        assert clone(tree).get_params() == tree.get_params()


def test_first_estimator_is_that_of_a_single_fit() -> None:
    single = classifier(alpha=ALPHAS[0]).fit(X_FIT, Y_FIT)
    first = validated_path().estimators[0]
    assert np.array_equal(first.predict_proba(X_VAL), single.predict_proba(X_VAL))
    assert first.trace_.objective == single.trace_.objective


def test_given_estimator_is_left_alone() -> None:
    tree = classifier(alpha=7.0)
    regularization_path(tree, X, Y, alphas=ALPHAS)
    assert tree.alpha == 7.0
    assert not hasattr(tree, "tree_")
    with pytest.raises(NotFittedError):
        tree.predict(X)


def test_fitted_estimator_is_left_alone() -> None:
    tree = classifier(warm_start=True).fit(X, Y)
    before = tree.tree_
    regularization_path(tree, X, Y, alphas=ALPHAS)
    assert tree.tree_ is before


def test_fitted_start_is_used_and_not_cloned() -> None:
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    path = regularization_path(classifier(init=cart), X, Y, alphas=[0.1])
    cart_loss = float((cart.predict(X) != Y).sum())
    assert path.estimators[0].trace_.loss[0] == cart_loss


def test_frames_and_sparse_rows_are_accepted() -> None:
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    named = regularization_path(classifier(), frame, pd.Series(Y), alphas=[0.1, 1.0], cv=2)
    assert named.estimators[0].feature_names_in_.tolist() == list(frame.columns)
    sparse = regularization_path(classifier(), sp.csr_array(X), Y, alphas=[0.1, 1.0], cv=2)
    assert np.array_equal(sparse.validation_error, named.validation_error)


def test_default_grid_is_increasing_and_spans_decades() -> None:
    path = regularization_path(classifier(max_iter=2, max_depth=2), X, Y)
    assert np.array_equal(path.alphas, np.geomspace(0.01, 100.0, 9))
    assert np.all(np.diff(path.alphas) > 0)
    assert path.alphas[-1] / path.alphas[0] > 1e3


# --- errors ---------------------------------------------------------------------------------


def test_errors_are_those_of_the_predictions() -> None:
    path = validated_path()
    for place, tree in enumerate(path.estimators):
        is_wrong = tree.predict(X_VAL) != Y_VAL
        assert path.validation_error[place] == pytest.approx(is_wrong.mean())
        expected = is_wrong.std() / np.sqrt(len(Y_VAL))
        assert path.validation_standard_error[place] == pytest.approx(expected)
        assert path.train_error[place] == pytest.approx(1 - tree.score(X_FIT, Y_FIT))


@pytest.mark.parametrize(
    "values",
    [{}, {"loss": "log_loss"}, {"leaf": "linear"}, {"class_weight": "balanced"}],
    ids=str,
)
def test_training_error_is_the_loss_of_the_trace(values: dict[str, Any]) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    path = regularization_path(classifier(**values), X, Y, alphas=[0.5], sample_weight=weights)
    tree = path.estimators[0]
    assert path.train_error[0] == pytest.approx(tree.trace_.loss[-1] / weights.sum())
    if tree.loss == "zero_one":
        losses = tree.predict(X) != Y
    else:
        losses = -np.log(tree.predict_proba(X)[np.arange(len(Y)), Y])
    if tree.class_weight == "balanced":
        weights = weights * (weights.sum() / (2 * np.bincount(Y, weights)))[Y]
    assert path.train_error[0] == pytest.approx(np.average(losses, weights=weights))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_training_error_of_regressors_is_the_loss_of_the_trace(loss: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    targets = np.column_stack([y, -y])
    tree = TAOTreeRegressor(max_depth=2, max_iter=3, loss=loss, huber_delta=20.0, random_state=0)
    path = regularization_path(tree, X, targets, alphas=[0.5])
    unit = y.std()  # the trace measures losses in this unit of y
    traced = path.estimators[0].trace_.loss[-1] * (unit if loss == "absolute_error" else unit**2)
    assert path.train_error[0] == pytest.approx(traced / len(y))


def test_log_loss_paths_are_judged_by_probabilities() -> None:
    path = validated_path(loss="log_loss", leaf="linear", max_depth=1)
    tree = path.estimators[-1]
    columns = np.searchsorted(tree.classes_, Y_VAL)
    chances = tree.predict_proba(X_VAL)[np.arange(len(Y_VAL)), columns]
    expected = -np.log(np.maximum(chances, 1e-3)).mean()
    assert path.validation_error[-1] == pytest.approx(expected)


def test_folds_are_fitted_without_their_test_rows() -> None:
    folds = StratifiedKFold(3)
    path = regularization_path(classifier(), X, Y, alphas=ALPHAS, cv=folds)
    errors = [
        [
            1 - tree.score(X[test], Y[test])
            for tree in regularization_path(
                classifier(), X[train], Y[train], alphas=ALPHAS
            ).estimators
        ]
        for train, test in folds.split(X, Y)
    ]
    assert path.validation_error == pytest.approx(np.mean(errors, axis=0))
    expected = np.std(errors, axis=0, ddof=1) / np.sqrt(3)
    assert path.validation_standard_error == pytest.approx(expected)


def test_folds_do_not_change_the_returned_trees() -> None:
    folds = regularization_path(classifier(), X_FIT, Y_FIT, alphas=ALPHAS, cv=3)
    for one, other in zip(folds.estimators, validated_path().estimators, strict=True):
        assert np.array_equal(one.predict_proba(X_VAL), other.predict_proba(X_VAL))


def test_integers_and_lists_of_folds_mean_the_same() -> None:
    listed = list(StratifiedKFold(3).split(X, Y))
    by_number = regularization_path(classifier(), X, Y, alphas=[0.1, 1.0], cv=3)
    by_list = regularization_path(classifier(), X, Y, alphas=[0.1, 1.0], cv=listed)
    assert np.array_equal(by_number.validation_error, by_list.validation_error)


def test_regressors_get_plain_folds_and_several_outputs() -> None:
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, 2 * y])
    tree = TAOTreeRegressor(max_depth=2, max_iter=3, random_state=0)
    path = regularization_path(tree, X, Y, alphas=[0.1, 1.0], cv=KFold(3))
    assert path.best_estimator().predict(X).shape == Y.shape
    assert np.all(path.validation_error > 0)


def test_fold_without_a_class_counts_its_rows_as_wrong() -> None:
    X, y = load_iris(return_X_y=True)
    folds = [(np.flatnonzero(y < 2), np.flatnonzero(y == 2))]
    for loss in ("zero_one", "log_loss"):
        path = regularization_path(classifier(loss=loss), X, y, alphas=[0.1], cv=folds)
        assert path.validation_error[0] == pytest.approx(1 if loss == "zero_one" else np.log(1000))
        assert path.validation_standard_error[0] == 0


# --- the choice -----------------------------------------------------------------------------


def test_best_alpha_has_the_least_error_and_ties_go_to_the_larger() -> None:
    path = made_up_path([0.1, 1.0, 10.0, 100.0], [0.2, 0.1, 0.1, 0.3], deviation=0.05)
    assert path.best_alpha == 10.0
    assert path.best_estimator().alpha == 10.0


def test_one_standard_error_prefers_the_larger_alpha_within_it() -> None:
    path = made_up_path([0.1, 1.0, 10.0, 100.0], [0.10, 0.12, 0.14, 0.3], deviation=0.05)
    assert path.best_estimator().alpha == 0.1
    assert path.best_estimator(one_standard_error=True).alpha == 10.0


def test_order_of_the_alphas_does_not_matter_to_the_choice() -> None:
    path = made_up_path([100.0, 10.0, 1.0, 0.1], [0.3, 0.14, 0.12, 0.1], deviation=0.05)
    assert path.best_alpha == 0.1
    assert path.best_estimator(one_standard_error=True).alpha == 10.0


def test_zero_can_be_the_best_alpha() -> None:
    assert made_up_path([0.0, 1.0], [0.1, 0.5], deviation=0.0).best_alpha == 0.0


def test_choice_without_held_out_rows_is_refused() -> None:
    path = regularization_path(classifier(), X, Y, alphas=[0.1])
    assert path.validation_error is None
    with pytest.raises(ValueError, match=r"no validation error .*; give X_val .* try .*cv=5"):
        path.best_estimator()


# --- bad input ------------------------------------------------------------------------------


@pytest.fixture
def _no_optimiser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the test fail if the work starts before everything is checked."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the optimiser was called")

    replace_everywhere(monkeypatch, optimize_path, refuse)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"alphas": []}, r"alphas has shape \(0,\); give a list of at least one number; try"),
        ({"alphas": [[0.1]]}, r"alphas has shape \(1, 1\)"),
        ({"alphas": [0.1, -1]}, r"alphas\[1\]=-1.0 is too small; give a finite number >= 0"),
        ({"alphas": [np.nan]}, r"alphas\[0\]=nan is not finite"),
        ({"X_val": X_VAL}, r"y_val is missing; give both X_val and y_val, or neither; try cv=5"),
        ({"y_val": Y_VAL}, r"X_val is missing"),
        ({"X_val": X_VAL, "y_val": Y_VAL, "cv": 3}, r"cv=3 was given beside X_val and y_val"),
        ({"X_val": X_VAL, "y_val": Y_VAL[:-1]}, r"y has shape \(142,\) for 143 rows and 1 outputs"),
        ({"X_val": X_VAL[:, 1:], "y_val": Y_VAL}, r"X has 29 features"),
        ({"X_val": X_VAL, "y_val": Y_VAL + 0.5 * np.arange(143) / 143}, r"Unknown label type"),
        ({"X_val": X_VAL, "y_val": Y_VAL.astype(str)}, r"y_val holds none of the classes \[0, 1\]"),
        ({"cv": "five"}, r"Expected `cv` as an integer"),
        ({"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\)"),
    ],
)
@pytest.mark.usefixtures("_no_optimiser")
def test_bad_value_is_a_value_error(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        regularization_path(classifier(), X_FIT, Y_FIT, **{"alphas": [0.1]} | values)


@pytest.mark.parametrize("alphas", [["much"], [True]], ids=str)
def test_alphas_of_a_wrong_kind_are_a_type_error(alphas: list[Any]) -> None:
    with pytest.raises(TypeError, match=r"alphas\[0\]=.* is of type"):
        regularization_path(classifier(), X, Y, alphas=alphas)


def test_other_estimators_are_refused() -> None:
    with pytest.raises(TypeError, match=r"estimator=LogisticRegression has no .* try GridSearchCV"):
        regularization_path(LogisticRegression(), X, Y)  # type: ignore[arg-type]


def test_outputs_must_be_those_of_the_training_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    tree = TAOTreeRegressor(max_depth=2, max_iter=2)
    with pytest.raises(ValueError, match=r"y has shape \(442, 2\) for 442 rows and 1 outputs"):
        regularization_path(tree, X, y, alphas=[0.1], X_val=X, y_val=np.column_stack([y, y]))


def test_held_out_rows_of_weight_zero_are_refused() -> None:
    weights = np.ones(len(Y))
    weights[:50] = 0
    folds = [(np.arange(50, len(Y)), np.arange(50))]
    with pytest.raises(ValueError, match=r"weight"):
        regularization_path(classifier(), X, Y, alphas=[0.1], sample_weight=weights, cv=folds)
