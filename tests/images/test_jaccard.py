"""The class-average Jaccard score of label images."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import jaccard_score

from spinney.images import class_average_jaccard

small_labels = st.integers(-1, 4)


@st.composite
def label_pairs(draw):
    """Two flat arrays of labels of the same length."""
    n = draw(st.integers(1, 40))
    arrays = hnp.arrays(np.int64, n, elements=small_labels)
    return draw(arrays), draw(arrays)


@given(label_pairs())
def test_score_is_that_of_scikit_learn(pair):
    true, predicted = pair
    found = class_average_jaccard(true, predicted)
    assert found == pytest.approx(jaccard_score(true, predicted, average="macro"))
    assert 0 <= found <= 1


@given(label_pairs(), st.sets(small_labels, min_size=1))
def test_chosen_labels_are_averaged_if_they_occur(pair, labels):
    occurring = sorted(labels & {*pair[0].tolist(), *pair[1].tolist()})
    if not occurring:
        with pytest.raises(ValueError, match=r"no pixel is left to score with labels=\[.* try"):
            class_average_jaccard(*pair, labels=sorted(labels))
        return
    expected = jaccard_score(*pair, labels=occurring, average="macro")
    assert class_average_jaccard(*pair, labels=sorted(labels)) == pytest.approx(expected)


@given(label_pairs(), small_labels)
def test_ignored_pixels_are_as_if_not_there(pair, ignore):
    is_counted = (pair[0] != ignore) & (pair[1] != ignore)
    if is_counted.any():
        expected = class_average_jaccard(pair[0][is_counted], pair[1][is_counted])
        assert class_average_jaccard(*pair, ignore=ignore) == expected


@given(label_pairs(), st.integers(1, 5))
def test_lists_of_images_are_counted_together(pair, n_parts):
    true, predicted = ([part[:, None] for part in np.array_split(y, n_parts)] for y in pair)
    assert class_average_jaccard(true, predicted) == class_average_jaccard(*pair)


@given(label_pairs())
def test_score_is_symmetric(pair):
    assert class_average_jaccard(*pair) == class_average_jaccard(*pair[::-1])


def test_perfect_labels_score_1_and_wrong_ones_0():
    image = np.arange(6).reshape(2, 3)
    assert class_average_jaccard([image], [image]) == 1.0
    assert class_average_jaccard([image], [image + 6]) == 0.0


def test_every_class_counts_alike():
    true = np.r_[np.zeros(98, int), 1, 2]
    assert class_average_jaccard(true, np.zeros(100, int)) == pytest.approx(0.98 / 3)


@pytest.mark.parametrize("form", [list, tuple, np.asarray, pd.Series])
def test_flat_labels_of_any_kind_are_read(form):
    true, predicted = ["a", "b", "b", "c"], ["a", "b", "c", "c"]
    assert class_average_jaccard(form(true), form(predicted)) == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert class_average_jaccard(form(true), form(predicted), ignore="c") == 1.0


def test_stacks_and_lists_may_be_mixed():
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 3, (2, 4, 5, 6))
    expected = class_average_jaccard(true.ravel(), predicted.ravel())
    assert class_average_jaccard(true, list(predicted)) == expected
    assert class_average_jaccard(true.astype(np.uint8), predicted) == expected


def test_labels_beyond_a_narrow_dtype_may_be_ignored():
    true = np.array([0, 1, 1], dtype=np.uint8)
    assert class_average_jaccard(true, np.array([0, 1, -1]), ignore=-1) == 1.0


@pytest.mark.parametrize(
    ("true", "predicted", "text"),
    [
        ([[0, 1], [1, 1]], [[0, 1]], "y_true has 2 label images but y_pred has 1; give .* try"),
        ([0, 1, 1], [0, 1], r"y_true\[0\] has shape \(3,\) but y_pred\[0\] has shape \(2,\); give"),
        ([[0], [0, 1]], [[0], [0]], r"y_true\[1\] has shape \(2,\) but .* give .* try"),
        ([], [], "no pixel is left to score with labels=None and ignore=None; give .* try"),
    ],
)
def test_labels_of_different_pixels_are_refused(true, predicted, text):
    with pytest.raises(ValueError, match=text):
        class_average_jaccard(true, predicted)


def test_nothing_but_ignored_pixels_is_refused():
    with pytest.raises(ValueError, match=r"no pixel is left .* ignore=0; give .* try"):
        class_average_jaccard([0, 1], [1, 0], ignore=0)
