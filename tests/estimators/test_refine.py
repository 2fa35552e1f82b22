"""All leaves of a fitted forest, whoever grew it, optimised together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_digits, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from spinney import (
    FAOForestClassifier,
    RefinedForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOForestRegressor,
    TAOTreeClassifier,
    refine_leaves,
)
from spinney.algorithms.leaves import solve_leaves
from spinney.data import as_rows
from spinney.data.tables import encode_training, read_table
from spinney.tree.forest import Forest
from tests import reference
from tests.spies import replace_everywhere

X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = train_test_split(*load_digits(return_X_y=True), random_state=0)
X_R, Y_R = load_diabetes(return_X_y=True)
CLASSIFIERS = [
    RandomForestClassifier(20, max_depth=5, random_state=0),
    ExtraTreesClassifier(20, max_depth=5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, max_depth=3, random_state=0),
    BaggingClassifier(DecisionTreeClassifier(max_depth=5), 20, max_features=0.7, random_state=0),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=10, random_state=0),
    TAOForestClassifier(5, max_depth=4, max_iter=3, random_state=0),
    TAOBoostClassifier(5, max_depth=4, max_sweeps=3, random_state=0),
]
REGRESSORS = [
    RandomForestRegressor(20, max_depth=3, random_state=0),
    ExtraTreesRegressor(20, max_depth=3, random_state=0),
    GradientBoostingRegressor(n_estimators=10, max_depth=2, random_state=0),
    TAOForestRegressor(5, max_depth=3, max_iter=3, random_state=0),
]


@pytest.mark.parametrize("forest", CLASSIFIERS, ids=lambda forest: type(forest).__name__)
def test_weak_classifiers_become_better_on_new_rows(forest):
    forest.fit(X_TRAIN, Y_TRAIN)
    before = forest.predict(X_TEST)
    refined = refine_leaves(forest, X_TRAIN, Y_TRAIN)
    assert refined.score(X_TEST, Y_TEST) > accuracy_score(Y_TEST, before)
    assert refined.score_after_ >= refined.score_before_
    assert np.array_equal(forest.predict(X_TEST), before)


@pytest.mark.parametrize("forest", REGRESSORS, ids=lambda forest: type(forest).__name__)
def test_regressors_fit_their_rows_better(forest):
    forest.fit(X_R, Y_R)
    refined = refine_leaves(forest, X_R, Y_R, leaf_alpha=5.0)
    assert refined.score_after_ > refined.score_before_
    assert refined.score_before_ == pytest.approx(forest.score(X_R, Y_R))
    assert refined.predict(X_R).shape == Y_R.shape


def test_leaves_solve_the_normal_equations():
    forest = RandomForestRegressor(4, max_depth=3, random_state=0).fit(X_R, Y_R)
    weights = np.random.default_rng(0).integers(1, 4, len(Y_R)).astype(float)
    refined = refine_leaves(forest, X_R, Y_R, leaf_alpha=2.0, sample_weight=weights)
    reached = forest.apply(X_R)
    firsts = np.cumsum([0] + [len(np.unique(column)) for column in reached.T])
    leaves = [
        first + np.unique(column, return_inverse=True)[1]
        for first, column in zip(firsts[:-1], reached.T, strict=True)
    ]
    centred = (Y_R - np.average(Y_R, weights=weights))[:, None]
    judge = reference.ridge_leaves(leaves, weights, centred, refined.n_leaves_, 2.0)
    assert refined.leaf_values_ == pytest.approx(judge, rel=1e-6, abs=1e-6)


def test_two_classes_and_names():
    X, y = make_classification(200, random_state=0)
    names = np.where(y, "yes", "no")
    forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, names)
    refined = refine_leaves(forest, X, names)
    decision = refined.decision_function(X)
    assert np.array_equal(refined.predict(X), np.where(decision > 0, "yes", "no"))


def test_several_outputs():
    targets = np.column_stack([Y_R, -(Y_R**2)])
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X_R, targets)
    assert refine_leaves(forest, X_R, targets).predict(X_R).shape == targets.shape


def test_a_leaf_that_no_training_row_reached_adds_nothing():
    forest = RandomForestRegressor(1, max_depth=4, random_state=0).fit(X_R, Y_R)
    part = X_R[:20]
    refined = refine_leaves(forest, part, Y_R[:20], leaf_alpha=0.1)
    seen = set(forest.apply(part)[:, 0])
    is_new = np.array([leaf not in seen for leaf in forest.apply(X_R)[:, 0]])
    assert is_new.any()
    assert refined.predict(X_R[is_new]) == pytest.approx(Y_R[:20].mean())


def test_one_step_on_an_fao_forest_changes_little():
    forest = FAOForestClassifier(1, 4, max_depth=3, leaf_alpha=2.0, random_state=0)
    forest.fit(X_TRAIN, Y_TRAIN)
    refined = refine_leaves(forest, X_TRAIN, Y_TRAIN, leaf_alpha=2.0)
    agree = refined.predict(X_TEST) == forest.predict(X_TEST)
    assert agree.mean() > 0.97


def test_what_is_no_forest_is_refused():
    with pytest.raises(TypeError, match="neither a classifier nor a regressor"):
        refine_leaves(object(), X_TRAIN, Y_TRAIN)
    no_forest = GaussianNB().fit(X_TRAIN, Y_TRAIN)
    with pytest.raises(TypeError, match="does not tell the leaves"):
        refine_leaves(no_forest, X_TRAIN, Y_TRAIN)
    boosted = HistGradientBoostingClassifier(max_iter=2).fit(X_TRAIN[:200], Y_TRAIN[:200])
    with pytest.raises(TypeError, match="try RandomForestClassifier in place of Hist"):
        refine_leaves(boosted, X_TRAIN, Y_TRAIN)


def test_bad_input_is_refused():
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X_TRAIN, Y_TRAIN)
    with pytest.raises(NotFittedError):
        refine_leaves(RandomForestClassifier(), X_TRAIN, Y_TRAIN)
    with pytest.raises(ValueError, match=r"y holds .*99.*which the forest does not know"):
        refine_leaves(forest, X_TRAIN, np.where(Y_TRAIN == 3, 99, Y_TRAIN))
    with pytest.raises(ValueError, match="leaf_alpha=-1 is too small"):
        refine_leaves(forest, X_TRAIN, Y_TRAIN, leaf_alpha=-1)
    with pytest.raises(ValueError, match="loss='huber' is for numbers"):
        refine_leaves(forest, X_TRAIN, Y_TRAIN, loss="huber")
    with pytest.raises(ValueError, match="n_jobs=0"):
        refine_leaves(forest, X_TRAIN, Y_TRAIN, n_jobs=0)
    with pytest.raises(ValueError, match="y is empty"):
        refine_leaves(forest, X_TRAIN[:0], Y_TRAIN[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        refine_leaves(forest, X_TRAIN, Y_TRAIN[:5])
    with pytest.raises(NotFittedError):
        RefinedForestClassifier(forest).predict(X_TEST)


def test_bad_numbers_are_refused():
    forest = RandomForestRegressor(3, max_depth=2, random_state=0).fit(X_R, Y_R)
    with pytest.raises(ValueError, match="NaN"):
        refine_leaves(forest, X_R, np.where(Y_R > 100, np.nan, Y_R))
    with pytest.raises(ValueError, match="too large"):
        refine_leaves(forest, X_R, Y_R * 1e200)
    with pytest.raises(ValueError, match="y has 2 outputs but the forest gives 1"):
        refine_leaves(forest, X_R, np.column_stack([Y_R, Y_R]))
    with pytest.raises(ValueError, match="is for classes"):
        refine_leaves(forest, X_R, Y_R, loss="squared_hinge")


def test_a_forest_of_several_class_targets_is_refused():
    two = np.column_stack([Y_TRAIN, Y_TRAIN % 2])
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X_TRAIN, two)
    with pytest.raises(ValueError, match="predicts 2 targets"):
        refine_leaves(forest, X_TRAIN, Y_TRAIN)


def test_classes_may_be_in_any_order():
    class Backwards(ClassifierMixin, BaseEstimator):
        """As CatBoost, which sorts numbers that are written as text by their size."""

        def __init__(self, forest):
            self.apply, self.predict, self.fit = forest.apply, forest.predict, forest.fit
            self.classes_ = forest.classes_[::-1]

    usual = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X_TRAIN, Y_TRAIN)
    forest = Backwards(usual)
    refined = refine_leaves(forest, X_TRAIN, Y_TRAIN)
    judge = refine_leaves(usual, X_TRAIN, Y_TRAIN)
    assert np.array_equal(refined.predict(X_TEST), judge.predict(X_TEST))
    assert refined.leaf_values_[:, ::-1] == pytest.approx(judge.leaf_values_)


def test_leaf_alpha_can_be_searched():
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X_TRAIN, Y_TRAIN)
    refined = RefinedForestClassifier(forest)
    search = GridSearchCV(refined, {"leaf_alpha": [0.1, 100.0]}, cv=2).fit(X_TRAIN, Y_TRAIN)
    assert search.best_estimator_.forest is forest


def test_an_interrupted_fit_changes_nothing():
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X_TRAIN, Y_TRAIN)
    refined = refine_leaves(forest, X_TRAIN, Y_TRAIN)
    before = dict(vars(refined))

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refined.fit(X_TRAIN[:50], Y_TRAIN[:50], callback=interrupt)
    assert vars(refined) == before


def test_bagged_trees_read_frames_and_sparse_rows():
    frame = pd.DataFrame(X_TRAIN, columns=[f"pixel{j}" for j in range(64)])
    trees = DecisionTreeClassifier(max_depth=5)
    forest = BaggingClassifier(trees, 5, max_features=0.5, random_state=0).fit(frame, Y_TRAIN)
    refined = refine_leaves(forest, frame, Y_TRAIN)
    with pytest.raises(ValueError, match="feature names"):
        refined.predict(frame.iloc[:, ::-1])
    plain = BaggingClassifier(trees, 5, max_features=0.5, random_state=0).fit(X_TRAIN, Y_TRAIN)
    sparse = refine_leaves(plain, sp.csr_matrix(X_TRAIN), Y_TRAIN)
    assert np.array_equal(
        sparse.predict(X_TEST), refined.predict(frame.__class__(X_TEST, columns=frame.columns))
    )


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_forests_of_other_libraries(library):
    module = pytest.importorskip(library)
    make = {
        "xgboost": lambda: module.XGBClassifier(n_estimators=3, max_depth=3),
        "lightgbm": lambda: module.LGBMClassifier(n_estimators=3, num_leaves=8, verbose=-1),
        "catboost": lambda: module.CatBoostClassifier(
            iterations=5, depth=3, verbose=0, allow_writing_files=False
        ),
    }
    forest = make[library]().fit(X_TRAIN, Y_TRAIN)
    refined = refine_leaves(forest, X_TRAIN, Y_TRAIN)
    assert refined.score_after_ > refined.score_before_


@pytest.mark.parametrize(
    ("library", "estimator", "booster_of"),
    [
        ("xgboost", "XGBClassifier", lambda fitted: fitted.get_booster()),
        ("lightgbm", "LGBMClassifier", lambda fitted: fitted.booster_),
    ],
)
def test_native_boosters_are_refused_by_name(library, estimator, booster_of):
    kind = getattr(pytest.importorskip(library), estimator)
    booster = booster_of(kind(n_estimators=1).fit(X_TRAIN[:100], Y_TRAIN[:100]))
    for refining in (refine_leaves, lambda *task: RefinedForestClassifier(task[0]).fit(*task[1:])):
        with pytest.raises(TypeError, match=rf"{library}.Booster .* give .* try {estimator}"):
            refining(booster, X_TRAIN, Y_TRAIN)


def test_linear_models_are_no_forests():
    module = pytest.importorskip("xgboost")
    linear = module.XGBClassifier(booster="gblinear", n_estimators=1)
    linear.fit(X_TRAIN[:100], Y_TRAIN[:100])
    with pytest.raises(ValueError, match=r'booster="gblinear", a linear model .* give .* try'):
        refine_leaves(linear, X_TRAIN, Y_TRAIN)


def test_linear_leaves_become_constants_with_a_warning():
    forest = TAOForestClassifier(2, max_depth=2, max_iter=2, leaf="linear", random_state=0)
    forest.fit(X_TRAIN[:200], Y_TRAIN[:200])
    with pytest.warns(UserWarning, match=r"has linear leaves, .* give .* try") as told:
        refined = refine_leaves(forest, X_TRAIN[:200], Y_TRAIN[:200])
    assert len(told) == 1
    assert not any(tree.is_linear for tree in refined.trees_)


def test_linear_leaves_of_lightgbm_become_constants_with_a_warning():
    module = pytest.importorskip("lightgbm")
    forest = module.LGBMClassifier(n_estimators=1, num_leaves=4, linear_tree=True, verbose=-1)
    forest.fit(X_TRAIN[:200], Y_TRAIN[:200])
    with pytest.warns(UserWarning, match="has linear leaves"):
        refine_leaves(forest, X_TRAIN[:200], Y_TRAIN[:200])


N_NOISE = 300


def noise():
    """A frame with one column of many levels, and a target that nothing in it tells of."""
    rng = np.random.default_rng(0)
    names = pd.Series(rng.integers(0, 60, N_NOISE)).map("level {}".format)
    frame = pd.DataFrame({"noise": names, "number": rng.normal(size=N_NOISE)})
    weights = rng.integers(0, 3, N_NOISE).astype(float)
    return frame, rng.normal(size=N_NOISE), weights


def leaves_of_fit(forest, X, y, weights, monkeypatch):
    """Leaves that `refine_leaves` hands to its solver, one row a tree, and the refined forest."""
    handed = []

    def solve(task, leaves, *rest):
        handed.append(leaves)
        return solve_leaves(task, leaves, *rest)

    replace_everywhere(monkeypatch, solve_leaves, solve)
    refined = refine_leaves(forest, X, y, sample_weight=weights)
    return handed[0], refined


def check_leaves(forest, handed, targets, frame, weights):
    """The leaves are those of cross-fitted means in every tree, and not those of `apply`."""
    is_kept = weights > 0
    table = read_table(frame[is_kept], tuple(frame.columns))
    rows = encode_training(forest.encoding_, table, targets[is_kept], weights[is_kept])
    trees = forest.trees_ if hasattr(forest, "trees_") else [forest.tree_]
    wanted = Forest(tuple(trees)).apply(as_rows(rows))
    leaked = forest.apply(frame).reshape(len(frame), -1)[is_kept]
    assert not np.array_equal(wanted, leaked)
    for numbers, leaves in zip(handed[:, is_kept], wanted.T, strict=True):
        pairs = set(zip(numbers.tolist(), leaves.tolist(), strict=True))
        assert len(pairs) == len(set(numbers.tolist())) == len(set(leaves.tolist()))


def test_numbers_are_refined_in_the_leaves_of_cross_fitted_means(monkeypatch):
    frame, y, weights = noise()
    forest = TAOForestRegressor(3, max_depth=4, random_state=0).fit(frame, y, weights)
    handed, refined = leaves_of_fit(forest, frame, y, weights, monkeypatch)
    check_leaves(forest, handed, y[:, None], frame, weights)
    assert refined.score_before_ == pytest.approx(forest.score(frame, y, weights))
    assert refined.score_after_ == pytest.approx(refined.score(frame, y, weights))


@pytest.mark.parametrize("class_weight", [None, {"low": 0.5}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_refined_in_the_leaves_of_cross_fitted_means(
    n_classes, class_weight, monkeypatch
):
    frame, y, weights = noise()
    labels = np.array(["high", "low", "middle"])[np.digitize(y, [-0.3, 0.5][: n_classes - 1])]
    classes = np.unique(labels)
    forest = TAOForestClassifier(3, max_depth=4, class_weight=class_weight, random_state=0)
    forest.fit(frame, labels, weights)
    handed, _ = leaves_of_fit(forest, frame, labels, weights, monkeypatch)
    shown = classes[1:] if n_classes == 2 else classes
    factors = np.where(labels == "low", 0.5, 1.0) if class_weight else 1.0
    check_leaves(forest, handed, (labels[:, None] == shown) * 1.0, frame, weights * factors)


def test_one_tree_is_refined_in_the_leaves_of_cross_fitted_means(monkeypatch):
    frame, y, weights = noise()
    tree = TAOTreeClassifier(max_depth=4, random_state=0).fit(frame, y > 0, weights)
    handed, _ = leaves_of_fit(tree, frame, y > 0, weights, monkeypatch)
    check_leaves(tree, handed, (y > 0)[:, None] * 1.0, frame, weights)


def with_holes(X: np.ndarray) -> np.ndarray:
    holed = X.copy()
    holed[::7, 1] = np.nan
    return holed


def test_trees_that_cannot_be_read_are_no_attribute() -> None:
    X = with_holes(X_TRAIN[:200])
    y = np.isnan(X[:, 1]).astype(int)  # so that a split parts missing values from all others
    forest = RandomForestClassifier(3, max_depth=3, max_features=None, random_state=0).fit(X, y)
    refined = refine_leaves(forest, X, y)
    assert not hasattr(refined, "trees_")
    assert "predict" in dir(refined)
    assert refined._compact_summary() == ""
    with pytest.raises(TypeError, match="has trees that cannot be read"):
        refined.apply(X_TRAIN[:2])
    assert refined.predict(X).tolist() == y.tolist()


def test_rows_with_holes_are_predicted_and_have_no_leaves() -> None:
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    refined = refine_leaves(forest.fit(X_TRAIN[:200], Y_TRAIN[:200]), X_TRAIN, Y_TRAIN)
    assert len(refined.predict(with_holes(X_TRAIN))) == len(X_TRAIN)
    with pytest.raises(ValueError, match=r"X holds missing values, .* give complete rows; try"):
        refined.apply(with_holes(X_TRAIN))


def test_leaves_can_be_refined_again_without_a_look_at_the_targets() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"job": [f"k{i}" for i in rng.integers(0, 150, 400)]})
    frame["size"] = rng.normal(size=400)
    target = rng.normal(size=400)
    forest = TAOForestRegressor(5, max_depth=4, random_state=0).fit(frame, target)
    refined = refine_leaves(forest, frame, target)
    again = refine_leaves(refined, frame, target)
    # A second time would be better by far if rows were read by means of their own targets.
    assert again.score(frame, target) < refined.score(frame, target) + 0.1
    assert again.apply(frame).shape == (400, 5)
