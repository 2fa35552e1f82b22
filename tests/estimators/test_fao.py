"""Behaviour of FAOForestClassifier and FAOForestRegressor."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split

from spinney import FAOForestClassifier, FAOForestRegressor, Tree
from spinney.tree.route import outputs
from spinney.tree.shares import nearest_shares
from tests import reference

DIGITS = train_test_split(*load_digits(return_X_y=True), random_state=0)
X, Y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
X = X.astype(np.float32)
NAMES = np.array(["oak", "ash", "elm"])[Y]
XR, YR = make_regression(200, 6, n_targets=2, noise=3.0, random_state=0)
XR = XR.astype(np.float32)
YR = YR + 100 * np.abs(XR[:, :2])
LOSSES = pytest.mark.parametrize("loss", ["squared_hinge", "squared_error", "log_loss"])


def classifier(**values: Any) -> FAOForestClassifier:
    defaults = {"n_forests": 2, "n_trees": 3, "max_depth": 3, "max_iter": 3, "random_state": 0}
    return FAOForestClassifier(**(defaults | values))


def regressor(**values: Any) -> FAOForestRegressor:
    defaults = {"n_forests": 2, "n_trees": 3, "max_depth": 3, "max_iter": 3, "random_state": 0}
    return FAOForestRegressor(**(defaults | values))


def same(one: Any, two: Any) -> bool:
    trees = zip(one.trees_, two.trees_, strict=True)
    return all(a.same_as(b) for a, b in trees)


@pytest.mark.slow
def test_digits_are_told_apart_better_than_by_ten_times_as_many_greedy_trees():
    X_train, X_test, y_train, y_test = DIGITS
    forest = FAOForestClassifier(n_forests=3, n_trees=5, max_depth=4, random_state=0, n_jobs=2)
    greedy = RandomForestClassifier(150, random_state=0).fit(X_train, y_train)
    score = forest.fit(X_train, y_train).score(X_test, y_test)
    assert score > greedy.score(X_test, y_test)
    assert score > 0.98


@pytest.mark.slow
def test_the_average_of_forests_beats_each_of_them():
    X_train, X_test, y_train, y_test = DIGITS
    forest = FAOForestClassifier(n_forests=4, n_trees=4, max_depth=4, random_state=1, n_jobs=2)
    forest.fit(X_train, y_train)
    singles = []
    for first in range(0, 16, 4):
        scores = sum(outputs(tree, _rows(X_test), 1) for tree in forest.trees_[first : first + 4])
        singles.append((scores.argmax(axis=1) == y_test).mean())
    assert forest.score(X_test, y_test) > max(singles)


def _rows(X):
    from spinney.data import as_rows

    return as_rows(X.astype(np.float32))


@LOSSES
def test_scores_are_the_mean_of_summed_trees(loss):
    forest = classifier(loss=loss).fit(X, NAMES)
    slow = sum(np.array(reference.outputs(tree, X)) for tree in forest.trees_) / 2
    assert forest.decision_function(X) == pytest.approx(slow, abs=1e-5)
    assert np.array_equal(forest.predict(X), forest.classes_[forest.decision_function(X).argmax(1)])


def test_nearest_probabilities_are_those_of_a_slow_search():
    scores = np.random.default_rng(0).normal(scale=2.0, size=(200, 4))
    scores[:3] = [[0, 0, 0, 0], [5, 5, -5, -5], [-1e9, 0, 0, 1]]
    slow = np.array([reference.nearest_shares(row) for row in scores])
    assert nearest_shares(scores) == pytest.approx(slow, abs=1e-9)
    assert nearest_shares(np.array([[1e300, 0.0, -1e300]])).tolist() == [[1.0, 0.0, 0.0]]


def test_two_classes_have_one_decision():
    forest = classifier().fit(X, Y > 0)
    decision = forest.decision_function(X)
    assert decision.shape == (200,)
    assert np.array_equal(forest.predict(X), decision > 0)


def test_one_class_is_predicted():
    forest = classifier().fit(X, np.full(200, "oak"))
    assert (forest.predict(X) == "oak").all()
    assert forest.predict_proba(X) == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_numbers_are_predicted_in_their_unit(loss):
    one = regressor(loss=loss, huber_delta=20.0, max_iter=10).fit(XR, YR)
    assert one.predict(XR).shape == (200, 2)
    assert one.score(XR, YR) > 0.8
    # A power of two changes no rounding, and the mean of the targets is no part of the penalty.
    scaled = regressor(loss=loss, huber_delta=1024 * 20.0, max_iter=10).fit(XR, 1024 * YR)
    assert scaled.predict(XR) == pytest.approx(1024 * one.predict(XR), rel=1e-6)
    single = regressor(loss=loss).fit(XR, YR[:, 0])
    assert single.predict(XR).shape == (200,)


def test_a_shifted_target_shifts_the_prediction():
    one = regressor(leaf_alpha=50.0).fit(XR, YR)
    shifted = regressor(leaf_alpha=50.0).fit(XR, YR + 1000.0)
    assert shifted.predict(XR) - 1000.0 == pytest.approx(one.predict(XR), abs=0.05 * YR.std())


@pytest.mark.parametrize(
    ("name", "value"), [("n_forests", 1), ("n_trees", 4), ("loss", "log_loss")]
)
def test_a_warm_start_that_cannot_go_on_is_refused(name, value):
    forest = classifier(warm_start=True).fit(X, NAMES)
    before = forest.trees_
    with pytest.raises(ValueError, match=f"{name}={value!r} with warm_start=True"):
        forest.set_params(**{name: value}).fit(X, NAMES)
    assert forest.trees_ == before


def test_refit_goes_on_from_the_fitted_forests():
    X_train, X_test, y_train, y_test = DIGITS
    forest = classifier(max_iter=8, max_depth=4).fit(X_train[:300], y_train[:300])
    few = forest.score(X_test, y_test)
    parameters = forest.n_parameters_
    assert forest.refit(X_train, y_train) is forest
    assert forest.score(X_test, y_test) > few + 0.01
    assert len(forest.trees_) == 6
    assert forest.n_parameters_ < 3 * parameters
    assert "_is_refit" not in vars(forest)


def test_what_few_rows_do_not_need_is_there_again_for_many():
    X_train, X_test, y_train, y_test = DIGITS
    forest = FAOForestClassifier(2, 5, max_depth=5, max_iter=5, random_state=0)
    forest.fit(X_train[:600], y_train[:600])
    shapes = [tree.left.tolist() for tree in forest.trees_]
    whole = forest.score(X_test, y_test)
    for first in (600, 690, 780):
        forest.refit(X_train[first : first + 90], y_train[first : first + 90])
        assert [tree.left.tolist() for tree in forest.trees_] == shapes
    forest.refit(X_train[:600], y_train[:600])
    assert forest.score(X_test, y_test) > whole - 0.02


def test_refit_on_the_same_rows_starts_where_fit_ended():
    forest = classifier(strict_descent=True).fit(X, NAMES)
    ends = [trace.loss[-1] for trace in forest.traces_]
    forest.refit(X, NAMES)
    assert [trace.loss[0] for trace in forest.traces_] == pytest.approx(ends, rel=1e-6)
    assert all(trace.objective[-1] <= trace.objective[0] for trace in forest.traces_)


def test_refit_takes_rows_of_some_classes_but_no_new_ones():
    forest = classifier().fit(X, NAMES)
    forest.refit(X[NAMES != "oak"], NAMES[NAMES != "oak"])
    assert forest.classes_.tolist() == ["ash", "elm", "oak"]
    before = forest.trees_
    with pytest.raises(ValueError, match=r"new classes \['yew'\].*try fit with all rows"):
        forest.refit(X, np.where(NAMES == "oak", "yew", NAMES))
    assert forest.trees_ == before
    with pytest.raises(ValueError, match="features"):
        forest.refit(X[:, :3], NAMES)
    with pytest.raises(ValueError, match="goes on from trees of 2 outputs but y has 1"):
        regressor().fit(XR, YR).refit(XR, YR[:, 0])


def test_refit_needs_a_fit():
    with pytest.raises(NotFittedError):
        classifier().refit(X, NAMES)


def test_what_is_fitted_can_be_read():
    forest = classifier().fit(X, NAMES)
    assert forest.n_iter_ == 3
    assert len(forest) == 6
    assert all(isinstance(tree, Tree) for tree in forest.trees_)
    assert forest.apply(X).shape == (200, 6)
    assert forest.decision_path(X)[0].shape[0] == 200
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    assert forest.n_parameters_ == sum(reference.count_parameters(t) for t in forest.trees_)
    assert forest.flops_ > 0
    assert set(forest.traces_[0].phase) == {"start", "tree", "leaves"}


def test_a_line_an_iteration_is_printed():
    told = io.StringIO()
    with redirect_stderr(told):
        classifier(verbose=2).fit(X, NAMES)
    lines = told.getvalue().splitlines()
    assert len(lines) == 6
    assert lines[4].startswith("forest   2 of 2  iteration    2 of 3  objective ")


def test_forests_can_be_searched():
    search = GridSearchCV(classifier(max_iter=2), {"leaf_alpha": [0.1, 10.0]}, cv=2).fit(X, NAMES)
    assert search.best_params_["leaf_alpha"] in (0.1, 10.0)


@pytest.mark.parametrize("init", ["supervised", "balanced", "random", "cart", "random_structure"])
def test_every_start_works(init):
    assert classifier(init=init).fit(X, NAMES).score(X, NAMES) > 0.7
    assert regressor(init=init).fit(XR, YR).score(XR, YR) > 0.4


def test_an_interrupted_fit_leaves_the_forest_as_it_was():
    forest = classifier().fit(X, NAMES)
    before = dict(vars(forest))

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        forest.fit(X, NAMES, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        forest.refit(X, NAMES, callback=interrupt)
    assert vars(forest) == before


# --- early stopping -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [classifier, regressor])
def test_early_stopping_keeps_the_best_iteration_of_the_average(make):
    rows, y = (X, NAMES) if make is classifier else (XR, YR)
    # Weak penalties and many iterations, so that forests overfit.
    values = {"max_iter": 12, "tol": 0, "leaf_alpha": 0.01, "n_trees": 5, "max_depth": 4}
    forest = make(early_stopping=True, **values).fit(
        rows[:120], y[:120], X_val=rows[120:], y_val=y[120:]
    )
    losses = forest.validation_losses_
    assert len(losses) == 12
    assert forest.n_iter_ == np.argmin(losses) + 1
    shorter = make(**values | {"max_iter": int(forest.n_iter_)}).fit(rows[:120], y[:120])
    assert same(forest, shorter)


@pytest.mark.parametrize("values", [{}, {"split": "mixed"}, {"n_jobs": 2}], ids=str)
def test_the_kept_iteration_has_no_more_weights_than_it_may(values):
    rows, y = load_digits(return_X_y=True)
    forest = FAOForestClassifier(
        2, 3, max_depth=3, max_iter=8, random_state=0, early_stopping=True, max_weights=3, **values
    ).fit(rows[:400], y[:400])
    assert max(int(np.diff(tree.split_indptr).max()) for tree in forest.trees_) <= 3
    # Of the iterations that keep the limit it is the best.
    assert forest.n_iter_ == 7 + np.argmin(forest.validation_losses_[6:])


@pytest.mark.parametrize("last", [3, 10])
def test_a_callback_that_ends_an_early_stopping_fit_keeps_the_limit(last):
    rows, y = load_digits(return_X_y=True)
    heard = []

    def stop(event):
        heard.append(event)
        return len(heard) == last

    forest = classifier(max_iter=8, early_stopping=True, max_weights=3)
    forest.fit(rows[:300], y[:300], callback=stop)
    assert forest.stopped_by_callback_
    assert max(int(np.diff(tree.split_indptr).max()) for tree in forest.trees_) <= 3


@pytest.mark.parametrize("make", [classifier, regressor])
def test_means_of_hyperplanes_do_not_go_with_early_stopping(make):
    rows, y = (X, NAMES) if make is classifier else (XR, YR)
    with pytest.raises(ValueError, match=r"average_last=2 with early_stopping=True.* give .* try"):
        make(average_last=2, early_stopping=True).fit(rows, y)


def test_validation_losses_are_those_of_the_average():
    values = {"max_iter": 4, "tol": 0, "loss": "log_loss"}
    forest = classifier(**values).fit(X[:120], Y[:120], X_val=X[120:], y_val=Y[120:])
    expected = [
        log_loss(Y[120:], classifier(**values | {"max_iter": n}).fit(X[:120], Y[:120])
                 .predict_proba(X[120:]))
        for n in range(1, 5)
    ]  # fmt: skip
    assert forest.validation_losses_ == pytest.approx(expected)
    assert forest.n_iter_ == 4  # nothing stops unless it is asked to


def test_given_validation_rows_do_not_change_the_forest():
    plain = classifier().fit(X, Y)
    assert same(plain, classifier().fit(X, Y, X_val=X[:20], y_val=Y[:20]))


def test_rows_set_aside_are_not_trained_on():
    stopped = classifier(early_stopping=True, validation_fraction=0.3).fit(X, Y)
    assert len(stopped.validation_losses_) == 3
    again = classifier(early_stopping=True, validation_fraction=0.3, n_jobs=2).fit(X, Y)
    assert same(stopped, again)
    other = classifier(early_stopping=True, validation_fraction=0.2).fit(X, Y)
    assert not same(stopped, other)


def test_forests_added_later_are_judged_with_those_there_are():
    values = {"early_stopping": True, "max_iter": 6, "warm_start": True}
    forest = classifier(**values).fit(X, Y)
    first = forest.trees_
    forest.set_params(n_forests=3).fit(X, Y)
    assert all(a.same_as(b) for a, b in zip(first, forest.trees_, strict=False))
    assert len(forest) == 9
    with pytest.raises(ValueError, match=r"its trees know some of these rows; give .* try"):
        forest.set_params(validation_fraction=0.5, n_forests=4).fit(X, Y)


def test_refit_can_stop_early():
    forest = classifier(early_stopping=True).fit(X, Y)
    forest.refit(X, Y)
    assert len(forest) == 6


ON_OTHER_ROWS = r"not those of the last fit, .* give X_val and y_val.* try"


@pytest.mark.parametrize("rows", [(X + 1, Y), (X[::-1], Y[::-1]), (X[:100], Y[:100])])
def test_rows_that_may_have_been_trained_on_are_not_set_aside(rows):
    forest = classifier(early_stopping=True, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=f"{ON_OTHER_ROWS} warm_start=False"):
        forest.set_params(n_forests=3).fit(*rows)
    with pytest.raises(ValueError, match=f"{ON_OTHER_ROWS} early_stopping=False, or a new fit"):
        forest.refit(*rows)
    forest.refit(*rows, X_val=X[:20], y_val=Y[:20])
    assert len(forest.validation_losses_) == 3
    with pytest.raises(ValueError, match=r"last fit had 0.0 aside"):
        forest.refit(X, Y)


def test_refit_is_judged_on_validation_rows_without_changing_the_forest():
    plain, judged = classifier().fit(X, Y), classifier().fit(X, Y)
    assert same(plain.refit(X, Y), judged.refit(X, Y, X_val=X[:20], y_val=Y[:20]))
    assert len(judged.validation_losses_) == 3
    with pytest.raises(ValueError, match="y_val is None; give both or neither"):
        plain.refit(X, Y, X_val=X[:20])


def test_a_warm_start_without_new_forests_is_told_of():
    forest = classifier(warm_start=True).fit(X, Y)
    with pytest.warns(UserWarning, match=r"n_forests=2 .* so that nothing is; give .* try"):
        forest.fit(X, Y)
    assert len(forest.refit(X, Y)) == 6  # without a warning


def test_early_stopping_is_yes_or_no():
    with pytest.raises(TypeError, match="early_stopping='auto' is of type str"):
        classifier(early_stopping="auto").fit(X, Y)


@pytest.mark.parametrize(
    ("y_val", "message"),
    [(["oak", "yew"], r"y_val\[1\] is a class that y does not hold; give .* try"), (None, "y_val")],
)
@pytest.mark.usefixtures("_no_work")
def test_rows_that_cannot_be_judged_are_refused_before_any_work(y_val, message):
    with pytest.raises(ValueError, match=message):
        classifier().fit(X, NAMES, X_val=X[:2], y_val=y_val)


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_error"])
def test_a_strong_penalty_shrinks_scores_to_where_it_is_told(loss):
    strong = classifier(loss=loss, shrink_to=0.3, leaf_alpha=1e7).fit(X, NAMES)
    np.testing.assert_allclose(strong.decision_function(X), 0.3, atol=1e-3)
    weak = classifier(loss=loss, shrink_to=0.3, leaf_alpha=0.1).fit(X, NAMES)
    assert weak.score(X, NAMES) > 0.8


def test_refit_starts_where_fit_ended_wherever_leaves_are_shrunk_to():
    forest = classifier(shrink_to=0.4, strict_descent=True).fit(X, NAMES)
    ends = [trace.loss[-1] for trace in forest.traces_]
    forest.refit(X, NAMES)
    assert [trace.loss[0] for trace in forest.traces_] == pytest.approx(ends, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"shrink_to": 1.5}, ValueError, "shrink_to=1.5 with loss='squared_hinge'"),
        ({"shrink_to": -0.1}, ValueError, "shrink_to=-0.1 is too small"),
        ({"shrink_to": "mean"}, TypeError, "shrink_to='mean' is of type str"),
        ({"shrink_to": 0.2, "loss": "log_loss"}, ValueError, "shrink_to=0.2 with loss='log_loss'"),
    ],
)
def test_scores_to_shrink_to_that_are_of_no_use_are_refused(values, error, message):
    with pytest.raises(error, match=message):
        FAOForestClassifier(**values).fit([[0.0], [1.0]], [0, 1])
