"""A few lines for notebooks."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone

import spinney
from spinney.inspection.fitted_model import fitted_model
from tests.compat.models import FORESTS, classes, rows, small_model


@pytest.mark.parametrize("family", FORESTS)
def test_fitted_models_add_their_summary_to_scikit_learns_diagram(family):
    model = small_model(family)
    shown = model._repr_html_()
    assert "sk-container" in shown
    assert f"{fitted_model(model).forest.n_parameters:,} parameters" in shown
    assert model._repr_mimebundle_()["text/html"].count("spinney-summary") == 1


def test_unfitted_models_keep_scikit_learns_diagram():
    model = spinney.TAOForestClassifier()
    assert "sk-container" in model._repr_html_()
    assert "spinney-summary" not in model._repr_html_()
    assert "spinney-summary" not in model._repr_mimebundle_()["text/html"]
    assert "spinney-summary" not in clone(small_model("refined_forest_classifier"))._repr_html_()


def test_text_is_shown_where_scikit_learn_is_told_so():
    model = small_model("tao_tree_classifier")
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]


def test_names_in_the_summary_are_escaped():
    X = pd.DataFrame(rows(), columns=["<script>alert(1)</script>", "<b>", '"'])
    model = spinney.TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0)
    model.set_params(importance_type="weight").fit(X, classes())  # no column has nothing
    summary = model._compact_summary()
    assert "<script" not in summary
    assert "<b>" not in summary
    assert "&lt;script&gt;" in summary


def test_the_largest_importances_come_first():
    model = small_model("tao_forest_classifier")
    summary = model._compact_summary()
    importances = model.feature_importances_
    order = [column for column in np.argsort(-importances) if importances[column] > 0]
    places = [summary.index(f">x{column}<") for column in order]
    assert places == sorted(places)
