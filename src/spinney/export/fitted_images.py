"""What fitted labelers of pixels and neighbour features have, and what it must agree on.

The lines of :mod:`spinney.export.fitted` for the classes of :mod:`spinney.images`. The size of a
window is bounded by the classifier that reads it, and so by what the file holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from spinney.ensembles.tree_start import unfrozen
from spinney.estimators.tasks import Classifier
from spinney.fitting.fitted_record import Attribute, are_names, is_ascending, is_finite, whole
from spinney.images import NeighborFeatures, PixelLabeler
from spinney.images.windows import BORDERS

MOST_PIXELS = 2**24
"""Pixels of an image with neighbour features; a short file could claim any number of them."""

MOST_SAMPLING = 2.0**64
"""Factor by which classes of fewer pixels than this can be over- or undersampled."""

LARGEST = float(np.finfo(np.float32).max)
LEAST_SCALE = float(np.finfo(np.float32).smallest_subnormal)
"""Scales are rounded to float32, and zero divides nothing."""


def _is_window(value: Any, _: Any) -> bool:
    is_pair = type(value) is tuple and [type(length) for length in value] == [int, int]
    return is_pair and all(length >= 1 and length % 2 == 1 for length in value)


def _n_columns(model: PixelLabeler) -> int:
    return model.window_[0] * model.window_[1] * model.n_channels_


def _reads_windows(value: Any, model: PixelLabeler) -> bool:
    """Whether a classifier is fitted to rows as long as a window, and to labels of the model."""
    classifier: Any = unfrozen(value)
    is_ours = isinstance(classifier, Classifier)
    if not is_ours or not hasattr(classifier, "classes_"):
        return False
    known = classifier.classes_
    return (
        classifier.n_features_in_ == _n_columns(model)
        and is_ascending(known)
        and bool(np.isin(known, model.classes_).all())
    )


def _are_factors(value: Any, model: PixelLabeler) -> bool:
    """Positive numbers; 0 for classes of which no window was drawn, which no classifier knows."""
    if not is_finite(value, len(model.classes_)):
        return False
    is_drawn = (value >= 1 / MOST_SAMPLING) & (value <= MOST_SAMPLING)
    is_known = np.isin(model.classes_, model.estimator_.classes_)
    return bool((is_drawn | (value == 0)).all() and is_drawn[is_known].all())


def _is_scaler(value: Any, model: PixelLabeler) -> bool:
    if value is None:
        return True
    if type(value) is not StandardScaler or value.n_features_in_ != _n_columns(model):
        return False
    columns = (value.mean_, value.var_, value.scale_)
    if not all(is_finite(column, _n_columns(model)) for column in columns):
        return False
    is_mean = np.abs(value.mean_) <= LARGEST
    is_scale = (value.scale_ >= LEAST_SCALE) & (value.scale_ <= LARGEST)
    return bool((is_mean & is_scale & (value.var_ >= 0)).all())


def _is_image_shape(value: Any, model: NeighborFeatures) -> bool:
    is_pair = type(value) is tuple and [type(length) for length in value] == [int, int]
    return is_pair and min(value) >= 1 and bool(value[0] * value[1] == model.n_features_in_)


IMAGE_ATTRIBUTES: dict[type[Any], dict[str, Attribute]] = {
    PixelLabeler: {
        "window_": Attribute("a pair of odd integers >= 1", _is_window),
        "border_": Attribute(
            f"one of {BORDERS}", lambda value, _: type(value) is str and value in BORDERS
        ),
        "n_channels_": Attribute("an integer >= 1", whole(1)),
        "classes_": Attribute("ascending int64 labels", lambda value, _: is_ascending(value)),
        "estimator_": Attribute(
            "a fitted classifier of windows of this size and of these classes", _reads_windows
        ),
        "sampling_factors_": Attribute("a positive number a class drawn", _are_factors),
        "scaler_": Attribute("None or a scaler of windows of this size", _is_scaler),
    },
    NeighborFeatures: {
        "n_features_in_": Attribute(
            f"an integer from 1 to {MOST_PIXELS}",
            lambda value, _: type(value) is int and 1 <= value <= MOST_PIXELS,
        ),
        "feature_names_in_": Attribute("a distinct string a column", are_names, False),
        "image_shape_": Attribute("rows and columns of such images", _is_image_shape),
    },
}
