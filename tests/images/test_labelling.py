"""Labels of pixels from the windows around them, with any classifier."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from spinney.images import PixelLabeler, WindowRows, class_average_jaccard
from spinney.images.windows import BORDERS

SHAPES = [(14, 12), (11, 17), (13, 13)]
TREE = DecisionTreeClassifier(max_depth=6, random_state=0)
PRIOR = DummyClassifier(strategy="prior")


def blobs(seed=0, shapes=SHAPES):
    """Noisy RGB images with a red square and a blue square, and labels 0, 3 and 7."""
    rng = np.random.default_rng(seed)
    images, truth = [], []
    for height, width in shapes:
        image = rng.normal(0, 20, (height, width, 3)) + 100
        labels = np.zeros((height, width), dtype=np.uint8)
        for label, channel, size in ((3, 0, 4), (7, 2, 3)):
            row = rng.integers(2, height - 2 - size)
            column = rng.integers(2, width - 2 - size)
            square = slice(row, row + size), slice(column, column + size)
            image[square] = rng.normal(0, 20, (size, size, 3)) + 100
            image[(*square, channel)] += 100
            labels[square] = label
        images.append(image.clip(0, 255).astype(np.uint8))
        truth.append(labels)
    return images, truth


IMAGES, TRUTH = blobs()


def inner(labels, margin=1):
    """Labels of all pixels but those at the border."""
    return np.concatenate([image[margin:-margin, margin:-margin].ravel() for image in labels])


def labeler(estimator=TREE, **options):
    options = {"n_windows": 300, "random_state": 0} | options
    return PixelLabeler(estimator, options.pop("window", (3, 3)), **options)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted to and how many rows it had to predict at once."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X.copy(), y, np.unique(y)
        self.batches_ = []
        return self

    def predict_proba(self, X):
        self.batches_.append(len(X))
        shares = [np.mean(self.y_ == label) for label in self.classes_]
        return np.tile(shares, (len(X), 1))


# --- training ---------------------------------------------------------------------------------


def test_parts_are_found_in_new_images():
    model = labeler(RandomForestClassifier(10, random_state=0)).fit(IMAGES, TRUTH)
    assert model.score(IMAGES, TRUTH) > 0.9
    assert model.score(*blobs(seed=1)) > 0.6
    assert model.classes_.tolist() == [0, 3, 7]


def test_each_class_gets_the_same_number_of_windows():
    model = labeler(Recorder(), n_windows=100).fit(IMAGES, TRUTH)
    assert np.unique(model.estimator_.y_, return_counts=True)[1].tolist() == [33, 33, 33]


def test_windows_are_those_of_pixels_with_their_label():
    model = labeler(Recorder(), standardize=False, n_windows=90).fit(IMAGES, TRUTH)
    windows = WindowRows(IMAGES, (3, 3))
    rows = np.concatenate([rows for _, rows in windows.blocks(1000)])
    known = {(row.tobytes(), label) for row, label in zip(rows, inner(TRUTH).tolist(), strict=True)}
    drawn = zip(model.estimator_.X_, model.estimator_.y_.tolist(), strict=True)
    assert all((row.tobytes(), label) in known for row, label in drawn)


def test_pixels_are_drawn_once_where_there_are_enough():
    model = labeler(Recorder(), standardize=False, n_windows=60).fit(IMAGES, TRUTH)
    assert len(np.unique(model.estimator_.X_, axis=0)) == 60


def test_small_classes_give_all_their_pixels_several_times():
    n_of_7 = int(np.sum(inner(TRUTH) == 7))
    model = labeler(Recorder(), standardize=False, n_windows=3 * (2 * n_of_7 + 1))
    recorder = model.fit(IMAGES, TRUTH).estimator_
    _, times = np.unique(recorder.X_[recorder.y_ == 7], axis=0, return_counts=True)
    assert sorted(times) == [2] * (n_of_7 - 1) + [3]


def test_unbalanced_draws_take_pixels_as_they_come():
    recorder = labeler(Recorder(), balance=False, n_windows=10**6).fit(IMAGES, TRUTH).estimator_
    assert np.array_equal(recorder.y_, inner(TRUTH))
    recorder = labeler(Recorder(), balance=False, n_windows=200).fit(IMAGES, TRUTH).estimator_
    assert len(recorder.y_) == 200
    assert np.mean(recorder.y_ == 0) > 0.7


def test_columns_are_scaled_to_mean_0_and_variance_1():
    images = [image.astype(float) for image in IMAGES]
    for image in images:
        image[..., 1] = 5.0  # no spread
    model = labeler(Recorder(), batch_size=70).fit(images, TRUTH)
    X = model.estimator_.X_.astype(np.float64)
    assert X.mean(axis=0) == pytest.approx(np.zeros(27), abs=1e-5)
    assert X.std(axis=0) == pytest.approx(np.tile([1.0, 0.0, 1.0], 9), abs=1e-5)
    raw = labeler(Recorder(), standardize=False).fit(images, TRUTH)
    assert raw.scaler_ is None
    assert model.scaler_.mean_ == pytest.approx(raw.estimator_.X_.mean(axis=0, dtype=float))


def test_scaling_by_hand_gives_the_same_labels():
    inside = labeler(GaussianNB()).fit(IMAGES, TRUTH)
    by_hand = labeler(make_pipeline(StandardScaler(), GaussianNB()), standardize=False)
    by_hand.fit(IMAGES, TRUTH)
    for one, other in zip(inside.predict_proba(IMAGES), by_hand.predict_proba(IMAGES), strict=True):
        assert one == pytest.approx(other, abs=1e-3, nan_ok=True)


def test_ignored_pixels_are_not_trained_on_and_not_scored():
    ignored = [np.where(labels == 3, -1, labels.astype(int)) for labels in TRUTH]
    model = labeler(Recorder()).fit(IMAGES, ignored)
    assert model.classes_.tolist() == [0, 7]
    scored = labeler().fit(IMAGES, TRUTH)
    wrong = [
        np.where(labels == 3, -1, predicted)
        for labels, predicted in zip(TRUTH, scored.predict(IMAGES), strict=True)
    ]
    assert scored.score(IMAGES, wrong) == 1.0


def test_borders_that_are_skipped_are_not_trained_on():
    labels = [np.full(shape, 9) for shape in SHAPES]
    for image, inside in zip(labels, TRUTH, strict=True):
        image[2:-2, 2:-2] = inside[2:-2, 2:-2]
    model = labeler(window=(5, 5)).fit(IMAGES, labels)
    assert model.classes_.tolist() == [0, 3, 7]
    model = labeler(window=(5, 5), border="edge").fit(IMAGES, labels)
    assert model.classes_.tolist() == [0, 3, 7, 9]


def test_one_class_is_enough_for_some_classifiers():
    labels = [np.full(shape, 4) for shape in SHAPES]
    model = labeler(PRIOR).fit(IMAGES, labels)
    assert np.all(inner(model.predict(IMAGES)) == 4)
    assert np.all(inner(model.predict_proba(IMAGES)) == 1.0)
    with pytest.raises(ValueError, match="at least 2 classes"):
        labeler(LogisticRegression()).fit(IMAGES, labels)


def test_boolean_masks_are_labels():
    masks = [labels > 0 for labels in TRUTH]
    model = labeler().fit(IMAGES, masks)
    numbers = labeler().fit(IMAGES, [mask.astype(int) for mask in masks])
    assert model.classes_.tolist() == [0, 1]
    assert model.score(IMAGES, masks) == numbers.score(IMAGES, masks) > 0.8


# --- probabilities ----------------------------------------------------------------------------


@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize("border", BORDERS)
def test_reweighting_undoes_the_balancing(balance, border):
    """A classifier that knows nothing but the shares of the classes tells the true ones."""
    model = labeler(PRIOR, balance=balance, border=border).fit(IMAGES, TRUTH)
    labels = inner(TRUTH) if border == "skip" else np.concatenate([y.ravel() for y in TRUTH])
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    for probabilities in model.predict_proba(IMAGES):
        inside = probabilities[1:-1, 1:-1]
        assert inside == pytest.approx(np.broadcast_to(shares, inside.shape))
    assert set(inner(model.predict(IMAGES))) == {0}


def test_without_reweighting_balanced_classes_are_equally_likely():
    model = labeler(PRIOR, reweight=False).fit(IMAGES, TRUTH)
    assert inner(model.predict_proba(IMAGES)) == pytest.approx(1 / 3)


def test_factors_are_shares_of_windows_over_shares_of_pixels():
    model = labeler().fit(IMAGES, TRUTH)
    shares = np.unique(inner(TRUTH), return_counts=True)[1] / len(inner(TRUTH))
    assert model.sampling_factors_ == pytest.approx(1 / 3 / shares)


def test_a_class_that_was_not_drawn_has_no_chance():
    labels = [y.astype(int) for y in TRUTH]
    labels[0][5, 5] = 1
    model = labeler(balance=False, n_windows=40, random_state=0).fit(IMAGES, labels)
    assert model.classes_.tolist() == [0, 1, 3, 7]
    assert model.estimator_.classes_.tolist() == [0, 3, 7]
    probabilities = model.predict_proba(IMAGES)[0][1:-1, 1:-1]
    assert np.all(probabilities[..., 1] == 0)
    assert probabilities.sum(axis=2) == pytest.approx(1.0)
    assert probabilities[..., 3].max() > 0


def test_probabilities_have_the_shape_of_the_image_and_nan_at_the_border():
    model = labeler(window=(5, 3)).fit(IMAGES, TRUTH)
    for image, probabilities in zip(IMAGES, model.predict_proba(IMAGES), strict=True):
        assert probabilities.shape == (*image.shape[:2], 3)
        is_inside = np.zeros(image.shape[:2], dtype=bool)
        is_inside[2:-2, 1:-1] = True
        assert np.array_equal(np.isfinite(probabilities).all(axis=2), is_inside)
        assert np.array_equal(np.isnan(probabilities).any(axis=2), ~is_inside)
        assert probabilities[is_inside].sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("border", BORDERS[1:])
def test_continued_images_have_labels_everywhere(border):
    model = labeler(border=border, window=(7, 7)).fit(IMAGES, TRUTH)
    assert all(np.isfinite(found).all() for found in model.predict_proba(IMAGES))
    assert all((found >= 0).all() for found in model.predict(IMAGES))


# --- labels and scores ------------------------------------------------------------------------


@pytest.mark.parametrize("ignore_label", [-1, 255])
def test_labels_are_the_most_probable_classes(ignore_label):
    model = labeler(ignore_label=ignore_label).fit(IMAGES, TRUTH)
    for probabilities, labels in zip(
        model.predict_proba(IMAGES), model.predict(IMAGES), strict=True
    ):
        is_inside = np.isfinite(probabilities).all(axis=2)
        assert np.all(labels[~is_inside] == ignore_label)
        winners = model.classes_[probabilities[is_inside].argmax(axis=1)]
        assert np.array_equal(labels[is_inside], winners)


@pytest.mark.parametrize("batch_size", [1, 17, 143, 10**6])
def test_the_size_of_blocks_changes_nothing(batch_size):
    model = labeler().fit(IMAGES, TRUTH)
    whole, labels = model.predict_proba(IMAGES), model.predict(IMAGES)
    model.set_params(batch_size=batch_size)
    for one, other in zip(model.predict_proba(IMAGES), whole, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert all(map(np.array_equal, model.predict(IMAGES), labels))


def test_no_more_rows_than_a_block_are_predicted_at_once():
    model = labeler(Recorder(), batch_size=100).fit(IMAGES, TRUTH)
    model.predict(IMAGES)
    n_pixels = len(inner(TRUTH))
    assert model.estimator_.batches_ == [100] * (n_pixels // 100) + [n_pixels % 100]


def test_images_do_not_depend_on_each_other():
    model = labeler().fit(IMAGES, TRUTH)
    together = model.predict(IMAGES)
    for image, labels in zip(IMAGES, together, strict=True):
        assert np.array_equal(model.predict([image])[0], labels)


def test_score_is_the_jaccard_score_of_eligible_pixels():
    model = labeler(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(IMAGES, TRUTH)
    predicted = model.predict(IMAGES)
    score = model.score(IMAGES, TRUTH)
    assert score == class_average_jaccard(inner(TRUTH), inner(predicted))
    assert score == class_average_jaccard(TRUTH, predicted, ignore=-1) < 1


def test_inputs_are_not_written_to():
    images = [image.astype(np.float32) for image in IMAGES]
    before = [image.copy() for image in images]
    labeler(window=(1, 1), border="edge").fit(images, TRUTH).predict(images)
    assert all(map(np.array_equal, images, before))


# --- scikit-learn -----------------------------------------------------------------------------


def test_random_state_fixes_the_windows_and_the_estimator():
    forest = RandomForestClassifier(3)
    models = [labeler(forest, random_state=seed).fit(IMAGES, TRUTH) for seed in (5, 5, 6)]
    same, again, other = (np.nan_to_num(model.predict_proba(IMAGES)[0]) for model in models)
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)
    assert forest.random_state is None


def test_a_seed_of_the_estimator_is_kept():
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=11))
    model = labeler(pipeline).fit(IMAGES, TRUTH)
    assert model.estimator_[-1].random_state == 11
    model = labeler(make_pipeline(StandardScaler(), RandomForestClassifier(3))).fit(IMAGES, TRUTH)
    assert isinstance(model.estimator_[-1].random_state, int)


def test_parameters_survive_cloning_and_the_estimator_stays_unfitted():
    model = labeler(clone(TREE), window=(5, 3), border="edge", ignore_label=9)
    copy = clone(model.fit(IMAGES, TRUTH))
    assert not hasattr(copy, "estimator_")
    assert not hasattr(model.estimator, "tree_")
    assert copy.window == (5, 3)
    assert copy.set_params(estimator__max_depth=2).estimator.max_depth == 2


def test_fitted_labelers_can_be_pickled():
    model = labeler().fit(IMAGES, TRUTH)
    again = pickle.loads(pickle.dumps(model))
    assert all(map(np.array_equal, again.predict(IMAGES), model.predict(IMAGES)))


def test_images_can_be_cross_validated_and_searched():
    images, truth = blobs(shapes=SHAPES * 2)
    assert np.all(cross_val_score(labeler(), images, truth, cv=3) > 0.3)
    search = GridSearchCV(labeler(), {"estimator__max_depth": [1, 6]}, cv=2).fit(images, truth)
    assert search.best_params_ == {"estimator__max_depth": 6}


def test_pandas_output_elsewhere_does_no_harm():
    expected = labeler().fit(IMAGES, TRUTH).predict(IMAGES)
    with config_context(transform_output="pandas"):
        found = labeler().fit(IMAGES, TRUTH).predict(IMAGES)
    assert all(map(np.array_equal, found, expected))


def test_a_failed_fit_leaves_the_labeler_as_it_was():
    model = labeler().fit(IMAGES, TRUTH)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="label images"):
        model.fit(IMAGES, TRUTH[:2])
    assert vars(model) == before


def test_a_frozen_classifier_may_know_no_other_classes_than_the_images():
    forest = labeler(RandomForestClassifier(3, random_state=0)).fit(IMAGES, TRUTH).estimator_
    two = [np.where(labels == 7, 0, labels) for labels in TRUTH]
    with pytest.raises(
        ValueError, match=r"knows the classes \[0, 3, 7\] .* drawn of \[0, 3\]; giv"
    ):
        labeler(FrozenEstimator(forest)).fit(IMAGES, two)
    more = [labels.astype(int) for labels in TRUTH]
    more[0][5:8, 5:8] = 9
    model = labeler(FrozenEstimator(forest)).fit(IMAGES, more)
    assert model.classes_.tolist() == [0, 3, 7, 9]
    assert np.all(model.predict_proba(IMAGES)[0][1:-1, 1:-1, 3] == 0)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"batch_size": 0}, "batch_size=0 is too small"),
        ({"ignore_label": 2**63}, "ignore_label=9223372036854775808 is no int64; give .* try"),
        ({"ignore_label": "none"}, "ignore_label='none' is of type str"),
        ({"reweight": "yes"}, "reweight='yes' is of type str"),
    ],
)
def test_parameters_that_predictions_read_are_checked_there(parameters, text):
    model = labeler().fit(IMAGES, TRUTH).set_params(**parameters)
    for ask in (model.predict, model.predict_proba):
        with pytest.raises((TypeError, ValueError), match=text):
            ask(IMAGES)


def test_prediction_needs_a_fit():
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(labeler(), method)(IMAGES)
    with pytest.raises(NotFittedError):
        labeler().score(IMAGES, TRUTH)


# --- errors -----------------------------------------------------------------------------------


class Untouchable(ClassifierMixin, BaseEstimator):
    """Fails if an error comes too late."""

    def fit(self, X, y):
        raise AssertionError(f"the work has begun with {len(X)} rows and {len(y)} labels")

    predict_proba = fit


def changed(images, number, image):
    return [image if k == number else old for k, old in enumerate(images)]


MISSING = IMAGES[1].astype(float)
MISSING[3, 4, 2] = np.nan


@pytest.mark.parametrize(
    ("images", "labels", "text"),
    [
        (IMAGES, TRUTH[:2], "there are 3 images but 2 label images; give .* try"),
        (IMAGES, [], "label_images is empty; give .* try"),
        ([], [], "images is empty; give .* try"),
        (
            IMAGES,
            changed(TRUTH, 1, TRUTH[0]),
            r"label_images\[1\] has shape \(14, 12\) but its image is 11 .* 17 wide; give .* try",
        ),
        (IMAGES, changed(TRUTH, 0, TRUTH[0][..., None]), r"has shape \(14, 12, 1\) .* try labels"),
        (changed(IMAGES, 1, IMAGES[1][:2]), TRUTH, r"images\[1\] is 2 pixels high .* give .* try"),
        (changed(IMAGES, 1, MISSING), TRUTH, r"images\[1\]\[3, 4, 2\]=nan is missing; give .* try"),
        (IMAGES, changed(TRUTH, 2, TRUTH[2] * 1.0), r"label_images\[2\] .* float64; give integers"),
        (IMAGES, [np.full(shape, -1) for shape in SHAPES], "no pixel .* other than -1; give .* tr"),
    ],
)
def test_images_of_no_use_are_refused_before_the_work(images, labels, text):
    with pytest.raises(ValueError, match=text):
        labeler(Untouchable()).fit(images, labels)


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        (
            {"window": (4, 4)},
            ValueError,
            r"window=\(4, 4\) has no pixel in its middle; give .* try",
        ),
        ({"n_windows": 0}, ValueError, "n_windows=0 is too small; give .* try"),
        ({"n_windows": 2}, ValueError, "n_windows=2 is less than one a class; give at least 3"),
        ({"n_windows": 1e5}, TypeError, "n_windows=100000.0 is of type float; give .* try"),
        ({"border": "wrap"}, ValueError, "border='wrap' is not known; give .* try"),
        ({"balance": "yes"}, TypeError, "balance='yes' is of type str; give .* try"),
        ({"reweight": 1}, TypeError, "reweight=1 is of type int; give .* try"),
        ({"standardize": None}, TypeError, "standardize=None is of type NoneType; give .* try"),
        ({"ignore_label": None}, TypeError, "ignore_label=None is of type NoneType; give .* try"),
        ({"batch_size": 0}, ValueError, "batch_size=0 is too small; give .* try"),
        ({"estimator": SVC()}, TypeError, r"SVC\(\) cannot give class probabilities; give .* try"),
        ({"estimator": "tree"}, TypeError, "estimator='tree' cannot give class .* give .* try"),
        ({"estimator": DecisionTreeClassifier}, TypeError, "cannot give class probabilities; give"),
    ],
)
def test_parameters_of_no_use_are_refused_before_the_work(parameters, error, text):
    with pytest.raises(error, match=text):
        labeler(Untouchable()).set_params(**parameters).fit(IMAGES, TRUTH)


def test_other_channels_than_in_training_are_refused():
    model = labeler().fit(IMAGES, TRUTH)
    with pytest.raises(ValueError, match=r"images have 1 channels but 3 in fit; give .* try"):
        model.predict([image[..., 0] for image in IMAGES])


def test_images_are_checked_in_prediction_too():
    model = labeler(Recorder()).fit(IMAGES, TRUTH)
    with pytest.raises(ValueError, match=r"images\[1\]\[3, 4, 2\]=nan is missing"):
        model.predict(changed(IMAGES, 1, MISSING))
    with pytest.raises(ValueError, match=r"images\[0\] is 2 pixels high"):
        model.predict_proba([IMAGES[0][:2]])
    with pytest.raises(ValueError, match="there are 3 images but 1 label images"):
        model.score(IMAGES, TRUTH[:1])
    with pytest.raises(ValueError, match="no pixel is left to score"):
        model.score(IMAGES, [np.full(shape, -1) for shape in SHAPES])
    assert model.estimator_.batches_ == [len(inner(TRUTH))]
