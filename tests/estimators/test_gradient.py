"""Gradient boosting through scikit-learn: scores, stages, early stopping, going on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from spinney import (
    TAOGradientBoostingClassifier,
    TAOGradientBoostingRegressor,
    refine_leaves,
)
from spinney.algorithms.fao import optimize_forest
from spinney.estimators import RandomStructure
from tests.spies import replace_everywhere

DIGITS = load_digits(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
X, Y = load_iris(return_X_y=True)
Z = X @ [1.0, -2.0, 0.5, 1.0] + np.sin(3 * X[:, 0])


def classifier(**values: Any) -> TAOGradientBoostingClassifier:
    values = {"n_estimators": 6, "max_depth": 2, "random_state": 0} | values
    return TAOGradientBoostingClassifier(**values)


def regressor(**values: Any) -> TAOGradientBoostingRegressor:
    values = {"n_estimators": 6, "max_depth": 2, "random_state": 0} | values
    return TAOGradientBoostingRegressor(**values)


both = pytest.mark.parametrize(("make", "y"), [(classifier, Y), (regressor, Z)])


def same(one: Any, two: Any) -> bool:
    return len(one) == len(two) and all(
        a.same_as(b) for a, b in zip(one.trees_, two.trees_, strict=True)
    )


@pytest.mark.slow
def test_fifty_trees_beat_a_hundred_of_a_random_forest_on_digits() -> None:
    (rows, labels), n = DIGITS, 1000
    forest = RandomForestClassifier(100, random_state=0).fit(rows[:n], labels[:n])
    boosted = TAOGradientBoostingClassifier(50, random_state=0).fit(rows[:n], labels[:n])
    assert boosted.score(rows[n:], labels[n:]) > forest.score(rows[n:], labels[n:])


@pytest.mark.slow
def test_smooth_function_is_fitted_better_than_by_axis_aligned_boosting() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1200, 6))
    y = np.sin(rows @ rng.normal(size=6)) + 0.1 * rng.normal(size=1200)
    ours = TAOGradientBoostingRegressor(100, random_state=0).fit(rows[:800], y[:800])
    theirs = GradientBoostingRegressor(random_state=0).fit(rows[:800], y[:800])
    assert ours.score(rows[800:], y[800:]) > theirs.score(rows[800:], y[800:])


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "squared_error"])
@pytest.mark.parametrize("step", ["newton", "gradient"])
def test_each_way_learns_iris(loss: str, step: str) -> None:
    forest = classifier(loss=loss, step=step, learning_rate=0.5).fit(X, Y)
    assert forest.score(X, Y) > 0.95
    shares = forest.predict_proba(X)
    assert shares == pytest.approx(np.clip(shares, 0, 1))
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (forest.classes_[shares.argmax(axis=1)] == forest.predict(X)).mean() > 0.99


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
@pytest.mark.parametrize("step", ["newton", "gradient"])
def test_each_way_learns_numbers(loss: str, step: str) -> None:
    forest = regressor(loss=loss, step=step, n_estimators=40, max_depth=3).fit(X, Z)
    assert forest.score(X, Z) > 0.9


def test_scores_are_first_scores_and_what_trees_add() -> None:
    forest = classifier().fit(X, Y)
    slow = np.tile(np.log([1 / 3] * 3), (150, 1))
    leaves = forest.apply(X)
    for number, tree in enumerate(forest.trees_):
        slow += tree.leaf_values[tree.leaf_index[leaves[:, number]]]
    assert forest.decision_function(X) == pytest.approx(slow)
    assert forest.predict_proba(X) == pytest.approx(softmax(slow, axis=1))


def test_two_classes_have_one_decision() -> None:
    forest = classifier().fit(X, Y == 1)
    decision = forest.decision_function(X)
    assert decision.shape == (150,)
    assert np.array_equal(decision > 0, forest.predict(X))
    odds = np.log(forest.predict_proba(X))
    assert decision == pytest.approx(odds[:, 1] - odds[:, 0])


def test_one_class_and_one_row() -> None:
    assert classifier().fit(X, np.full(150, "a")).predict(X[:2]).tolist() == ["a", "a"]
    assert classifier().fit(X[:1], Y[:1]).predict(X[:1]) == Y[:1]
    assert regressor().fit(X[:1], [7.0]).predict(X[:1]) == pytest.approx(7.0)


def test_unit_and_centre_of_the_targets_do_not_matter() -> None:
    plain = regressor().fit(X, Z)
    assert np.array_equal(regressor().fit(X, 1024.0 * Z).predict(X), 1024.0 * plain.predict(X))
    shifted = regressor().fit(X, Z + 4096.0)
    assert shifted.score(X, Z + 4096.0) == pytest.approx(plain.score(X, Z), abs=0.05)


def test_several_outputs() -> None:
    targets = np.column_stack([Z, -Z, Y])
    forest = regressor(n_estimators=30).fit(X, targets)
    assert forest.predict(X).shape == (150, 3)
    assert forest.score(X, targets) > 0.9


@pytest.mark.parametrize(
    ("split", "is_axis"),
    [("mixed", [False, True, False]), ("axis", 3 * [True]), ("oblique", 3 * [False])],
)
@pytest.mark.parametrize("step", ["newton", "gradient"])
def test_trees_have_the_splits_asked_for(split: str, is_axis: list[bool], step: str) -> None:
    forest = classifier(n_estimators=3, split=split, step=step, alpha=0.01).fit(X, Y)
    widths = [int(np.diff(tree.split_indptr).max()) for tree in forest.trees_]
    assert [width == 1 for width in widths] == is_axis


def test_an_oblique_start_is_refused_where_splits_take_turns() -> None:
    tree = regressor(n_estimators=1, split="oblique", alpha=0.01).fit(X, Z).trees_[0]
    with pytest.raises(ValueError, match=r'columns in a split but split="mixed"; give .* try'):
        regressor(init=tree).fit(X, Z)
    assert len(regressor(init=tree, split="oblique").fit(X, Z)) == 6


# --- stages -----------------------------------------------------------------------------------


@both
def test_last_stage_is_the_forest_bit_for_bit(make: Any, y: NDArray[Any]) -> None:
    forest = make().fit(X, y)
    *_, last = forest.staged_predict(X)
    assert np.array_equal(last, forest.predict(X))
    *_, score = forest.staged_score(X, y)
    assert score == forest.score(X, y)


def test_stages_are_the_smaller_forests() -> None:
    stages = classifier().fit(X, Y).staged_predict_proba(X)
    decisions = classifier().fit(X, Y).staged_decision_function(X)
    for number, (shares, scores) in enumerate(zip(stages, decisions, strict=True), start=1):
        smaller = classifier(n_estimators=number).fit(X, Y)
        assert np.array_equal(shares, smaller.predict_proba(X))
        assert np.array_equal(scores, smaller.decision_function(X))
    assert number == 6


# --- early stopping -----------------------------------------------------------------------------


def test_validation_losses_are_those_of_the_stages() -> None:
    forest = classifier().fit(X[::2], Y[::2], X_val=X[1::2], y_val=Y[1::2])
    expected = [log_loss(Y[1::2], shares) for shares in forest.staged_predict_proba(X[1::2])]
    assert forest.validation_losses_ == pytest.approx(expected)
    numbers = regressor().fit(X[::2], Z[::2], X_val=X[1::2], y_val=Z[1::2])
    expected = [mean_squared_error(Z[1::2], of) for of in numbers.staged_predict(X[1::2])]
    assert numbers.validation_losses_ == pytest.approx(expected)


def test_early_stopping_keeps_the_best_number_of_trees() -> None:
    rows, y = DIABETES
    forest = regressor(n_estimators=300, n_iter_no_change=5, learning_rate=0.3).fit(rows, y)
    best = int(np.argmin(forest.validation_losses_)) + 1
    assert len(forest) == best
    assert len(forest.validation_losses_) == best + 5 < 300


@both
def test_rows_set_aside_are_not_trained_on(make: Any, y: NDArray[Any], monkeypatch: Any) -> None:
    seen = []

    def spy(problem: Any, *arguments: Any, **values: Any) -> Any:
        seen.append(problem.sample_weight)
        return optimize_forest(problem, *arguments, **values)

    replace_everywhere(monkeypatch, optimize_forest, spy)
    make(n_iter_no_change=2, validation_fraction=0.3).fit(X, y)
    masks = {(weights > 0).tobytes() for weights in seen}
    assert len(masks) == 1
    assert (seen[0] > 0).sum() == 105


def test_unknown_classes_cannot_be_judged_by_a_loss() -> None:
    with pytest.raises(
        ValueError, match=r"y_val\[1\] is a class that y does not hold; give .* try"
    ):
        classifier().fit(X, Y, X_val=X[:2], y_val=[0, 7])


def test_validation_numbers_have_the_outputs_of_y() -> None:
    with pytest.raises(ValueError, match="y_val has 2 outputs but y has 1"):
        regressor().fit(X, Z, X_val=X, y_val=np.column_stack([Z, Z]))
    with pytest.raises(ValueError, match="y_val contains NaN"):
        regressor().fit(X, Z, X_val=X, y_val=np.full(150, np.nan))


# --- the same answer everywhere -----------------------------------------------------------------


@both
def test_boosted_in_parts_holds_out_the_same_rows(make: Any, y: NDArray[Any]) -> None:
    values = {"n_iter_no_change": 50}
    at_once = make(**values).fit(X, y)
    parts = make(n_estimators=2, warm_start=True, **values).fit(X, y)
    parts.set_params(n_estimators=6).fit(X, y)
    assert same(at_once, parts)
    assert np.array_equal(at_once.predict(X), parts.predict(X))


@both
def test_rows_that_may_have_been_trained_on_are_not_set_aside(make: Any, y: NDArray[Any]) -> None:
    forest = make(n_estimators=2, warm_start=True, n_iter_no_change=50).fit(X, y)
    with pytest.raises(ValueError, match=r"not those of the last fit.* give X_val .* try"):
        forest.set_params(n_estimators=4).fit(X[::-1], y[::-1])


def test_patience_begins_where_a_warm_start_goes_on() -> None:
    rows, y = DIABETES
    train, validation = (rows[::2], y[::2]), {"X_val": rows[1::2], "y_val": y[1::2]}
    fitted = regressor(n_estimators=30, learning_rate=0.5, warm_start=True).fit(*train)
    fitted.set_params(n_estimators=60, n_iter_no_change=3).fit(*train, **validation)
    losses = fitted.validation_losses_
    assert len(losses) == 33
    assert len(fitted) == int(np.argmin(losses)) + 1 < 27  # those after it were worse


def test_warm_start_keeps_its_loss() -> None:
    forest = classifier(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"loss='squared_hinge' with warm_start=True.*try"):
        forest.set_params(loss="squared_hinge").fit(X, Y)


# --- use ------------------------------------------------------------------------------------------


def test_leaves_can_be_refined() -> None:
    forest = classifier(learning_rate=0.1).fit(X, Y)
    refined = refine_leaves(forest, X, Y)
    assert refined.score(X, Y) >= forest.score(X, Y)


def test_forests_can_be_searched() -> None:
    search = GridSearchCV(regressor(), {"learning_rate": [0.01, 0.5]}, cv=2).fit(X, Z)
    assert search.best_params_ == {"learning_rate": 0.5}


@pytest.mark.parametrize(
    "init",
    ["supervised", "balanced", "random", "cart", "random_structure", RandomStructure(1, 3, 9)],
)
def test_every_start_works(init: Any) -> None:
    assert classifier(init=init, learning_rate=0.5).fit(X, Y).score(X, Y) > 0.9


def test_a_classifier_is_no_start() -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"init=DecisionTreeClassifier solves another task"):
        classifier(init=tree).fit(X, Y)


def test_verbose_prints_a_line_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    classifier(verbose=2).fit(X, Y, X_val=X, y_val=Y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert all("validation loss" in line for line in lines)


def test_what_is_fitted_can_be_read() -> None:
    forest = classifier(max_sweeps=3, tol=0).fit(X, Y)
    assert len(forest) == 6
    assert forest.n_iter_ == 6
    assert all(len(trace) == 3 for trace in forest.traces_)
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert forest.n_parameters_ == forest.forest_.n_parameters > 0
