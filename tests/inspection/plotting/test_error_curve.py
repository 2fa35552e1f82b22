"""Curves are the errors of the stages of each model."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import log_loss, mean_absolute_error, root_mean_squared_error, zero_one_loss

from spinney.inspection.plotting import ErrorCurveDisplay
from tests.compat.models import FORESTS, classes, rows, small_model
from tests.inspection.plotting.models import draw, rows_for, targets_for


@pytest.mark.parametrize("name", FORESTS)
def test_the_last_error_is_that_of_the_model(name: str) -> None:
    model = small_model(name)
    X, y = rows_for(model), targets_for(model)
    display = ErrorCurveDisplay.from_estimator(model, X, y)
    draw(display)
    [curve] = display.curves
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        assert curve.errors[-1] == pytest.approx(np.mean(predicted != y))
    else:
        assert curve.errors[-1] == pytest.approx(np.sqrt(np.mean((predicted - y) ** 2)))
    assert display.lines_[0].get_ydata().tolist() == curve.errors.tolist()


@pytest.mark.parametrize("name", ["tao_boost_classifier", "tao_gradient_boosting_classifier"])
def test_errors_are_those_of_staged_predictions(name: str) -> None:
    model = small_model(name)
    [curve] = ErrorCurveDisplay.from_estimator(model, rows(), classes()).curves
    expected = [zero_one_loss(classes(), said) for said in model.staged_predict(rows())]
    assert curve.errors == pytest.approx(expected)
    assert curve.n_trees.tolist() == list(range(1, len(model.trees_) + 1))


def test_several_models_share_axes_and_have_their_names() -> None:
    models = {name: small_model(name) for name in ("tao_forest_classifier", "co2_tree_classifier")}
    models["_$a$"] = small_model("fao_forest_classifier")
    _, ax = plt.subplots()
    display = ErrorCurveDisplay.from_estimators(models, rows(), classes(), ax=ax)
    draw(display)
    assert display.ax_ is ax
    assert len(ax.lines) == 3
    names = [text.get_text().replace("\\$", "$").strip() for text in ax.get_legend().get_texts()]
    assert names == list(models)


def test_errors_can_be_drawn_against_parameters() -> None:
    model = small_model("tao_forest_classifier")
    display = ErrorCurveDisplay.from_estimator(model, rows(), classes(), against="parameters")
    draw(display)
    assert display.lines_[0].get_xdata()[-1] == model.n_parameters_
    assert display.ax_.get_xscale() == "log"
    assert display.plot(against="trees").lines_[0].get_xdata().tolist() == [1, 2, 3]


def test_another_metric_can_be_given() -> None:
    model = small_model("greedy_forest_regressor")
    y = targets_for(model)
    display = ErrorCurveDisplay.from_estimator(model, rows(), y, metric=mean_absolute_error)
    assert display.curves[0].errors[-1] == pytest.approx(
        mean_absolute_error(y, model.predict(rows()))
    )
    assert display.ax_.get_ylabel() == "mean absolute error"


def test_the_error_of_numbers_is_in_their_unit() -> None:
    model = small_model("tao_forest_regressor")
    y = targets_for(model)
    [curve] = ErrorCurveDisplay.from_estimator(model, rows(), y).curves
    assert curve.errors[-1] == pytest.approx(root_mean_squared_error(y, model.predict(rows())))


def test_predictions_can_come_from_anywhere() -> None:
    model = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(rows(), classes())
    given = ErrorCurveDisplay.from_predictions(classes(), model.staged_predict(rows())).curves[0]
    asked = ErrorCurveDisplay.from_estimator(model, rows(), classes()).curves[0]
    assert given.errors.tolist() == asked.errors.tolist()
    probabilities = ErrorCurveDisplay.from_predictions(
        classes(), model.staged_predict_proba(rows()), metric=log_loss
    )
    assert probabilities.curves[0].errors[-1] == pytest.approx(
        log_loss(classes(), model.predict_proba(rows()))
    )


def test_percent_are_on_the_axis_and_shares_in_the_data() -> None:
    display = ErrorCurveDisplay.from_predictions([0, 1, 0, 1], [[1, 0, 1, 1], [0, 1, 0, 0]])
    draw(display)
    assert display.curves[0].errors.tolist() == [0.75, 0.25]
    ticks = {label.get_text() for label in display.ax_.get_yticklabels()}
    assert "50" in ticks


def test_parameters_that_cannot_be_counted_are_refused_by_name() -> None:
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(rows(), classes())
    with pytest.raises(ValueError, match="parameters of 'theirs' cannot be counted"):
        ErrorCurveDisplay.from_estimator(
            model, rows(), classes(), against="parameters", name="theirs"
        )


def test_classes_and_numbers_do_not_share_axes() -> None:
    models = {name: small_model(name) for name in ("tao_tree_classifier", "tao_tree_regressor")}
    with pytest.raises(ValueError, match="classes and numbers"):
        ErrorCurveDisplay.from_estimators(models, rows(), classes())


def test_a_bare_tree_does_not_predict() -> None:
    with pytest.raises(TypeError, match="Tree does not predict"):
        ErrorCurveDisplay.from_estimator(small_model("bare_tree"), rows(), classes())


@pytest.mark.parametrize(
    ("models", "options", "words"),
    [({}, {}, "models is empty"), (None, {"against": "leaves"}, "against='leaves'")],
)
def test_bad_options_are_refused_by_name(models, options: dict, words: str) -> None:
    models = {"tree": small_model("tao_tree_classifier")} if models is None else models
    with pytest.raises(ValueError, match=words):
        ErrorCurveDisplay.from_estimators(models, rows(), classes(), **options)
