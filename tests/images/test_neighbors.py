"""Ho's neighbour features of binary images."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.tree import DecisionTreeClassifier

from spinney.images import NeighborFeatures
from tests import reference


def random_images(n_images, height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n_images, height * width))


@st.composite
def stacks(draw):
    """A few binary images of the same small shape."""
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 9)))
    return draw(hnp.arrays(np.bool_, shape))


@given(stacks(), st.integers(1, 3))
def test_features_and_names_are_those_of_the_formulas(images, step):
    features = NeighborFeatures(images.shape[1:], step=step)
    found = features.fit_transform(images.reshape(len(images), -1))
    expected = [reference.neighbor_features(image, step) for image in images]
    assert features.get_feature_names_out().tolist() == list(expected[0])
    assert found.tolist() == [list(values.values()) for values in expected]


@pytest.mark.parametrize("shape", [(20, 20), (7, 12), (15, 6)])
def test_larger_images_are_read_alike(shape):
    X = random_images(4, *shape)
    found = NeighborFeatures(shape).fit_transform(X)
    expected = [reference.neighbor_features(row.reshape(shape)) for row in X]
    assert found.tolist() == [list(values.values()) for values in expected]


@pytest.mark.parametrize(("step", "n_features"), [(1, 1462), (2, 852)])
def test_images_of_the_paper_have_as_many_features_as_it_says(step, n_features):
    X = random_images(3, 20, 20)
    assert NeighborFeatures(step=step).fit_transform(X).shape == (3, n_features)


def test_no_pixels_leaves_the_rest_unchanged():
    X = random_images(5, 8, 8)
    both, rest = NeighborFeatures().fit(X), NeighborFeatures(include_pixels=False).fit(X)
    assert np.array_equal(both.transform(X)[:, 64:], rest.transform(X))
    assert np.array_equal(both.get_feature_names_out()[64:], rest.get_feature_names_out())


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [((1, 1), ""), ((2, 9), ""), ((4, 3), "h"), ((3, 4), "v"), ((5, 5), "hv"), ((6, 6), "hvns")],
)
def test_images_too_small_for_a_kind_have_none_of_it(shape, kinds):
    names = NeighborFeatures(shape).fit(random_images(2, *shape)).get_feature_names_out()
    found = {name.split("_")[0] for name in names}
    assert found == {"pixel", *kinds}


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float64, object])
def test_every_dtype_gives_the_same_float32(dtype):
    X = random_images(3, 7, 7)
    found = NeighborFeatures().fit_transform(X.astype(dtype))
    assert found.dtype == np.float32
    assert np.array_equal(found, NeighborFeatures().fit_transform(X))


def test_rows_do_not_depend_on_each_other():
    X = random_images(6, 9, 9)
    features = NeighborFeatures().fit(X)
    alone = np.vstack([features.transform(X[[row]]) for row in range(len(X))])
    assert np.array_equal(features.transform(np.asfortranarray(X)), alone)


def test_images_are_not_written_to():
    X = random_images(3, 6, 6)
    before = X.copy()
    NeighborFeatures().fit_transform(X)[:] = 7
    assert np.array_equal(X, before)


# --- scikit-learn -----------------------------------------------------------------------------


def test_parameters_survive_cloning():
    features = NeighborFeatures((4, 9), include_pixels=False, step=1)
    copy = clone(features.fit(random_images(2, 4, 9)))
    assert copy.get_params() == {"image_shape": (4, 9), "include_pixels": False, "step": 1}
    assert not hasattr(copy, "image_shape_")
    assert features.set_params(step=3).step == 3


def test_a_failed_fit_leaves_the_features_as_they_were():
    features = NeighborFeatures().fit(random_images(2, 6, 6))
    before = dict(vars(features))
    with pytest.raises(ValueError, match="no square number"):
        features.fit(random_images(2, 5, 6))
    assert vars(features) == before


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"step": 0}, "step=0 is too small"),
        ({"include_pixels": None}, "include_pixels=None"),
        ({"include_pixels": False}, "2x2 pixels have no neighbour features"),
    ],
)
def test_parameters_that_transform_reads_are_checked_there(parameters, text):
    features = NeighborFeatures().fit(random_images(2, 2, 2)).set_params(**parameters)
    with pytest.raises((TypeError, ValueError), match=text):
        features.transform(random_images(2, 2, 2))
    with pytest.raises((TypeError, ValueError), match=text):
        features.get_feature_names_out()


def test_fitted_features_can_be_pickled():
    X = random_images(3, 6, 6)
    features = NeighborFeatures().fit(X)
    again = pickle.loads(pickle.dumps(features))
    assert np.array_equal(again.transform(X), features.transform(X))


def test_pandas_output_carries_the_names():
    X = random_images(3, 6, 6)
    features = NeighborFeatures().set_output(transform="pandas")
    frame = features.fit_transform(X)
    assert frame.columns.tolist() == features.get_feature_names_out().tolist()
    assert frame["h_0_1"].tolist() == [
        reference.neighbor_features(row.reshape(6, 6))["h_0_1"] for row in X
    ]


def test_frames_are_read_and_their_columns_are_remembered():
    X = random_images(3, 6, 6)
    frame = pd.DataFrame(X, columns=[f"p{column}" for column in range(36)])
    features = NeighborFeatures().fit(frame)
    assert np.array_equal(features.transform(frame), NeighborFeatures().fit_transform(X))
    assert features.get_feature_names_out(features.feature_names_in_)[0] == "pixel_0_0"
    with pytest.raises(ValueError, match="feature names should match"):
        features.transform(frame.iloc[:, ::-1])


def test_pipelines_learn_from_the_features():
    X, y = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    model = make_pipeline(Binarizer(threshold=7), NeighborFeatures(include_pixels=False), tree)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.7
    X_out = model.fit(X, y)[:-1].get_feature_names_out()
    assert len(X_out) == tree.fit(model[:-1].transform(X), y).n_features_in_


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, np.inf])
def test_values_other_than_0_and_1_are_named(value):
    X = random_images(4, 5, 5).astype(float)
    X[2, 13] = value
    text = rf"X\[2, 13\]={value:.6g} is neither 0 nor 1; give binary images; try X > threshold"
    with pytest.raises(ValueError, match=text):
        NeighborFeatures().fit(X)
    features = NeighborFeatures().fit(random_images(4, 5, 5))
    with pytest.raises(ValueError, match=text):
        features.transform(X)


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        (np.zeros((2, 10)), ValueError, "X has 10 columns, which is no square .* give .* try"),
        (np.zeros((0, 9)), ValueError, "Found array with 0 sample"),
        (np.zeros(9), ValueError, "Expected 2D array"),
        (np.zeros((2, 3, 3)), ValueError, "Found array with dim 3"),
        (np.full((2, 9), "x"), ValueError, "not compatible with arrays of bytes/strings"),
        (sp.csr_matrix((2, 9)), TypeError, "Sparse data was passed"),
    ],
)
def test_rows_that_are_no_images_are_refused(X, error, text):
    with pytest.raises(error, match=text):
        NeighborFeatures().fit(X)


@pytest.mark.parametrize(
    ("image_shape", "error"),
    [
        ((5, 6), ValueError),
        ((25,), ValueError),
        ((5, 5, 1), ValueError),
        ((-5, -5), ValueError),
        ((), ValueError),
        ((5.0, 5.0), TypeError),
        ((True, 25), TypeError),
        (25, TypeError),
        ("55", TypeError),
    ],
)
def test_shapes_that_do_not_fit_are_refused(image_shape, error):
    with pytest.raises(error, match=r"image_shape=.* = 25, the number of columns .* try"):
        NeighborFeatures(image_shape).fit(random_images(2, 5, 5))


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"include_pixels": 1}, TypeError, "include_pixels=1 .* give True or False; try"),
        ({"step": 0}, ValueError, "step=0 is too small; give .* try step=2"),
        ({"step": 1.5}, TypeError, r"step=1\.5 is of type float; give .* try step=2"),
    ],
)
def test_parameters_of_no_use_are_refused(parameters, error, text):
    with pytest.raises(error, match=text):
        NeighborFeatures(**parameters).fit(random_images(2, 5, 5))


def test_no_feature_at_all_is_refused():
    text = "images of 3x3 pixels have no neighbour features; give .* try include_pixels=True"
    with pytest.raises(ValueError, match=text):
        NeighborFeatures(include_pixels=False).fit(random_images(2, 3, 3))


def test_transform_needs_a_fit_and_the_same_columns():
    X = random_images(2, 5, 5)
    with pytest.raises(NotFittedError):
        NeighborFeatures().transform(X)
    with pytest.raises(NotFittedError):
        NeighborFeatures().get_feature_names_out()
    features = NeighborFeatures().fit(X)
    with pytest.raises(ValueError, match="X has 24 features, but NeighborFeatures is expecting 25"):
        features.transform(X[:, :24])
    with pytest.raises(ValueError, match="input_features has length 3; give one name a pixel, 25"):
        features.get_feature_names_out(["a", "b", "c"])
