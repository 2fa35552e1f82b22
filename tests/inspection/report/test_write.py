"""model.report: what it accepts, what it refuses, what it leaves behind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import spinney
from spinney import TAOTreeClassifier
from tests.compat.models import FORESTS, classes, numbers, rows, small_model
from tests.contracts.registry import public_estimators


def targets_of(model):
    if not hasattr(model, "classes_"):
        return numbers()[:, : len(np.atleast_1d(model.predict(rows()[:1])[0]))]
    if hasattr(model, "feature_names_in_"):
        return np.array(list("xyz"))[classes()]
    return classes() > 0 if model.classes_.dtype == bool else classes()


@pytest.mark.parametrize("family", FORESTS)
def test_every_estimator_writes_a_report(family, tmp_path):
    model = small_model(family)
    names = getattr(model, "feature_names_in_", None)
    X = rows() if names is None else pd.DataFrame(rows(), columns=names)
    path = model.report(tmp_path / "r.html", X, targets_of(model))
    assert path == tmp_path / "r.html"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert type(model).__name__ in text


@pytest.mark.parametrize("kind", public_estimators().values())
def test_every_public_estimator_has_a_report(kind: type) -> None:
    assert callable(kind.report)


@pytest.fixture
def tree():
    return small_model("tao_tree_classifier")


def test_a_report_changes_nothing_in_the_model(tree, tmp_path):
    before = set(vars(tree))
    tree.report(tmp_path / "r.html", rows(), classes())
    assert set(vars(tree)) == before
    assert type(tree) is TAOTreeClassifier


def test_unfitted_models_have_no_report(tmp_path):
    with pytest.raises(NotFittedError):
        spinney.TAOTreeClassifier().report(tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": classes()}, "y is given but X is None"),
        ({"X": rows(), "y": classes()[:5]}, "y has 5 values for 48 rows"),
        ({"X": rows(), "y": classes() + 5}, "y holds 6, which is no class"),
        ({"X": rows(), "image_shape": (2, 2)}, r"image_shape=\(2, 2\) for rows of 3 numbers"),
        ({"X": rows(), "image_shape": (3,)}, "give .height, width."),
        ({"X": rows(), "max_rows": 0}, "max_rows=0; give an integer >= 1"),
        ({"X": rows(), "max_rows": 2.5}, "max_rows=2.5; give an integer >= 1"),
        ({"X": rows()[:, :2]}, "2 features"),
    ],
)
def test_bad_input_is_refused_before_a_file_is_written(tree, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        tree.report(tmp_path / "r.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_baselines_must_be_a_mapping(tree, tmp_path):
    with pytest.raises(TypeError, match="baselines is of type list"):
        tree.report(tmp_path / "r.html", rows(), classes(), baselines=[tree])


@pytest.mark.parametrize(
    ("y", "message"),
    [(numbers()[:, :1], "predicts 2 number"), (numbers() * np.nan, "y holds NaN")],
)
def test_bad_numbers_are_refused(y, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        small_model("tao_tree_regressor").report(tmp_path / "r.html", rows(), y)


def test_a_folder_that_is_not_there_is_named(tree, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tree.report(tmp_path / "nowhere" / "r.html")
