"""Files of labelers and of neighbour features: what agrees is loaded, all else is refused."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier

import spinney
from spinney import DamagedFileError, from_dict, to_dict
from spinney.images import NeighborFeatures, PixelLabeler
from tests.compat.models import pictures, small_model

FITTED = ("model", "fitted")
PARAMETERS = ("model", "parameters")
FEATURES = "neighbor_features"


def edited(name, path, value):
    """The dict of a small model with one value exchanged; ``...`` leaves it out."""
    found = copy.deepcopy(to_dict(small_model(name)))
    *inner, last = path
    place = found
    for key in inner:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return found


def refused(name, path, value, message):
    with pytest.raises(DamagedFileError, match=message):
        from_dict(edited(name, path, value))


def pair(first, second):
    return {"type": "tuple", "items": [first, second]}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*FITTED, "window_"), pair(3, 1), None),  # as many columns
        ((*FITTED, "window_"), pair(1, 5), "estimator_ of PixelLabeler"),
        ((*FITTED, "window_"), pair(2, 3), "window_ .* pair of odd"),
        ((*FITTED, "window_"), pair(-1, -3), "window_"),
        ((*FITTED, "window_"), pair(2**40 + 1, 2**40 + 1), "estimator_"),
        ((*FITTED, "window_"), [1, 3], "window_"),
        ((*FITTED, "window_"), pair(True, 3), "window_"),
        ((*FITTED, "border_"), "wrap", "border_ .* one of"),
        ((*FITTED, "border_"), None, "border_"),
        ((*FITTED, "n_channels_"), 0, "n_channels_"),
        ((*FITTED, "n_channels_"), 3, "estimator_"),
        ((*FITTED, "estimator_"), None, "estimator_ .* a fitted classifier"),
        ((*FITTED, "scaler_"), 1.0, "scaler_"),
        ((*FITTED, "scaler_"), ..., "is fitted but has no scaler_"),
        ((*FITTED, "scaler_", "n_samples_seen_"), 0.5, "n_samples_seen_"),
        ((*FITTED, "scaler_", "mean_"), None, "mean_ is no row of numbers"),
        ((*FITTED, "scaler_", "more"), 1, "keys"),
        ((*FITTED, "more_"), 1, "no fit makes"),
        ((*PARAMETERS, "batch_size"), 0, "batch_size=0 is too small"),
        ((*PARAMETERS, "ignore_label"), 2**63, "ignore_label=.* is no int64"),
        ((*PARAMETERS, "ignore_label"), "x", "ignore_label"),
        ((*PARAMETERS, "reweight"), None, "reweight"),
        (("model", "output"), "pandas", "is a PixelLabeler that answers with 'pandas'"),
    ],
)
def test_a_labeler_must_agree_with_itself(path, value, message):
    if message is None:
        assert from_dict(edited("pixel_labeler", path, value)).window_ == (3, 1)
    else:
        refused("pixel_labeler", path, value, message)


@pytest.mark.parametrize(
    ("array", "place", "value", "message"),
    [
        ("classes_", 0, 7, "classes_ .* ascending"),
        ("classes_", 0, 2, "estimator_"),  # no class of the classifier
        ("sampling_factors_", 0, float("nan"), "sampling_factors_"),
        ("sampling_factors_", 0, -1.0, "sampling_factors_"),
        ("sampling_factors_", 0, 0.0, "sampling_factors_"),  # the classifier knows the class
        ("sampling_factors_", 0, 1e-300, "sampling_factors_"),
        ("scaler_.mean_", 1, float("inf"), "scaler_"),
        ("scaler_.mean_", 1, 1e300, "scaler_"),
        ("scaler_.scale_", 1, 0.0, "scaler_"),
        ("scaler_.scale_", 1, -1.0, "scaler_"),
        ("scaler_.var_", 1, -1.0, "scaler_"),
    ],
)
def test_arrays_of_a_labeler_are_checked(array, place, value, message):
    path = ("arrays", f"model.{array}", "values", place)
    refused("pixel_labeler", path, value, message)


def test_a_scaler_of_other_columns_is_refused():
    found = to_dict(small_model("pixel_labeler"))
    for name in ("mean_", "var_", "scale_"):
        array = found["arrays"][f"model.scaler_.{name}"]
        array["shape"], array["values"] = [5], array["values"][:5]
    with pytest.raises(DamagedFileError, match=r"scaler_ .* windows of this size"):
        from_dict(found)


def test_a_labeler_of_an_unfitted_or_numeric_estimator_is_refused():
    for name in ("tao_forest_regressor", "neighbor_features", "pixel_labeler"):
        found = to_dict(small_model("pixel_labeler"))
        inner = to_dict(small_model(name))["model"]
        inner["fitted"] = {}
        found["model"]["fitted"]["estimator_"] = inner
        with pytest.raises(DamagedFileError, match="estimator_ of PixelLabeler"):
            from_dict(found)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*FITTED, "image_shape_"), pair(6, 5), None),
        ((*FITTED, "image_shape_"), pair(5, 5), "image_shape_"),
        ((*FITTED, "image_shape_"), pair(-5, -6), "image_shape_"),
        ((*FITTED, "image_shape_"), pair(0, 0), "image_shape_"),
        ((*FITTED, "image_shape_"), [5, 6], "image_shape_"),
        ((*FITTED, "n_features_in_"), 0, "n_features_in_"),
        ((*FITTED, "n_features_in_"), 2**40, "n_features_in_ .* from 1 to 16777216"),
        ((*FITTED, "n_features_in_"), 31, "feature_names_in_"),
        ((*PARAMETERS, "step"), 0, "step=0 is too small"),
        ((*PARAMETERS, "step"), "a", "step"),
        ((*PARAMETERS, "include_pixels"), 1, "include_pixels"),
        (("model", "output"), "csv", "answers with 'csv'"),
        (("model", "output"), ["pandas"], "instead of a string"),
    ],
)
def test_neighbor_features_must_agree_with_themselves(path, value, message):
    if message is None:
        assert from_dict(edited(FEATURES, path, value)).image_shape_ == (6, 5)
    else:
        refused(FEATURES, path, value, message)


def test_features_of_nothing_are_refused():
    found = edited(FEATURES, (*FITTED, "image_shape_"), pair(1, 30))
    from_dict(found)
    found["model"]["parameters"]["include_pixels"] = False
    with pytest.raises(DamagedFileError, match="have no neighbour features"):
        from_dict(found)


def test_the_output_of_a_transformer_is_kept_fitted_or_not(tmp_path):
    for features in (small_model(FEATURES), NeighborFeatures().set_output(transform="pandas")):
        spinney.save(features, tmp_path / "file")
        found = spinney.load(tmp_path / "file")
        assert found._sklearn_output_config == {"transform": "pandas"}
        assert hasattr(found, "image_shape_") == hasattr(features, "image_shape_")


def test_requests_of_a_labeler_are_kept(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = PixelLabeler(spinney.TAOTreeClassifier()).set_predict_proba_request(images=True)
        spinney.save(model, tmp_path / "file")
        routing = spinney.load(tmp_path / "file").get_metadata_routing()
        assert routing.predict_proba.requests == {"images": True}


def test_a_labeler_around_another_library_is_refused_by_name(tmp_path):
    images = pictures(2, 6, 6, 1)
    model = PixelLabeler(RandomForestClassifier(2), (3, 3), n_windows=20, random_state=0)
    for labeler in (model, model.fit(images, [image[..., 0] > 0 for image in images])):
        with pytest.raises(TypeError, match=r"model\.estimator is a RandomForestClassifier"):
            spinney.save(labeler, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_scaler_of_another_kind_is_refused(tmp_path):
    model = copy.deepcopy(small_model("pixel_labeler"))
    model.scaler_.set_params(with_mean=False)
    with pytest.raises(TypeError, match="a scaler of windows"):
        spinney.save(model, tmp_path / "file")


def test_a_loaded_labeler_can_be_fitted_again(tmp_path):
    model = small_model("pixel_labeler")
    spinney.save(model, tmp_path / "file")
    images = pictures(2, 7, 7, 1)
    labels = [image[..., 0] > 0 for image in images]
    found = spinney.load(tmp_path / "file").fit(images, labels).predict(images)
    assert np.array_equal(found, copy.deepcopy(model).fit(images, labels).predict(images))


def test_importing_the_library_is_enough_to_load(tmp_path):
    spinney.save(small_model("pixel_labeler"), tmp_path / "file")
    code = "import sys, spinney; print(type(spinney.load(sys.argv[1])).__name__)"
    command = [sys.executable, "-c", code, str(tmp_path / "file")]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "PixelLabeler"
