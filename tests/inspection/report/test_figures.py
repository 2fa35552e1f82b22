"""Figures of the first page beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import confusion_matrix, log_loss, mean_absolute_error, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney.inspection.fitted_model import fitted_model
from spinney.inspection.report import figures
from spinney.inspection.report.rows import answered_rows
from tests.compat.models import classes, numbers, rows, small_model


@pytest.fixture(scope="module")
def forest():
    return small_model("tao_forest_classifier")


def answered(model, y):
    fitted = fitted_model(model)
    return fitted, answered_rows(fitted, rows(), y)


def values(found):
    return {score["name"]: score["value"] for score in found}


def test_scores_of_classes_are_scikit_learns(forest):
    found = values(figures.scores(*answered(forest, classes())))
    assert found["error"] == pytest.approx(1 - forest.score(rows(), classes()))
    assert found["wrong rows"] == (forest.predict(rows()) != classes()).sum()
    assert found["log loss"] == pytest.approx(log_loss(classes(), forest.predict_proba(rows())))


def test_scores_of_numbers_are_scikit_learns():
    model = small_model("tao_forest_regressor")
    y = numbers()[:, 0]
    found = values(figures.scores(*answered(model, y)))
    said = model.predict(rows())
    assert found["RMSE"] == pytest.approx(np.sqrt(((said - y) ** 2).mean()))
    assert found["mean absolute error"] == pytest.approx(mean_absolute_error(y, said))
    assert found["R²"] == pytest.approx(r2_score(y, said))


def test_confusion_counts_pairs(forest):
    found = np.zeros((3, 3), dtype=int)
    for truth, said, count in figures.confusion(*answered(forest, classes())):
        found[truth, said] = count
    np.testing.assert_array_equal(found, confusion_matrix(classes(), forest.predict(rows())))


def test_calibration_bins_hold_all_rows(forest):
    _, given = answered(forest, classes())
    bins = figures.calibration(given)
    assert sum(one["rows"] for one in bins) == len(rows())
    right = sum(one["rows"] * one["accuracy"] for one in bins)
    assert right / len(rows()) == pytest.approx(1 - figures.error_of(given.predicted, given.truth))


def test_baselines_are_estimators_or_errors(forest):
    cart = DecisionTreeClassifier(max_depth=1).fit(rows(), classes())
    found = figures.compared(*answered(forest, classes()), {"cart": cart, "quoted": 0.125})
    errors = {entry["name"]: entry["error"] for entry in found}
    assert errors["TAOForestClassifier"] == pytest.approx(1 - forest.score(rows(), classes()))
    assert errors["cart"] == pytest.approx(1 - cart.score(rows(), classes()))
    assert errors["quoted"] == 0.125
    constant = DummyClassifier().fit(rows(), classes())
    trivial = next(error for name, error in errors.items() if name.startswith("always"))
    assert trivial == pytest.approx(1 - constant.score(rows(), classes()))


def test_baselines_of_several_outputs_are_compared():
    model = small_model("tao_tree_regressor")
    cart = DecisionTreeRegressor().fit(rows(), numbers())
    found = figures.compared(*answered(model, numbers()), {"cart": cart})
    assert found[-1]["error"] == pytest.approx(0.0)


@pytest.mark.parametrize("bad", ["text", True, None, -0.5, float("nan")])
def test_other_baselines_are_refused(forest, bad):
    with pytest.raises((TypeError, ValueError), match=r"give an? "):
        figures.compared(*answered(forest, classes()), {"odd": bad})


def test_baselines_want_targets(forest):
    with pytest.raises(ValueError, match="give X and y too"):
        figures.compared(*answered(forest, None), {"quoted": 0.5})


def test_spreads_are_standard_deviations(forest):
    _, given = answered(forest, None)
    np.testing.assert_allclose(figures.spreads(given, 3), rows().std(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(figures.spreads(None, 3), np.ones(3))


def test_training_tells_objectives_and_validation():
    boosted = small_model("tao_boost_classifier")
    found = figures.training(fitted_model(boosted))
    assert found["objectives"] == [trace.objective for trace in boosted.traces_]
    assert found["validation"] == boosted.validation_errors_.tolist()
    assert (
        figures.training(fitted_model(small_model("greedy_forest_classifier")))["objectives"] == []
    )
