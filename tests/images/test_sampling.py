"""Which pixels are drawn to train on, and how their shares are undone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.images.sampling import (
    count_classes,
    draw_pixels,
    sampling_factors,
    share_out,
    undo_sampling,
)
from tests.strategies import seeds

label_lists = st.lists(
    hnp.arrays(np.int16, st.integers(1, 30), elements=st.integers(-1, 3)), min_size=1, max_size=4
).filter(lambda labels: any((image != -1).any() for image in labels))


@given(label_lists)
def test_classes_are_counted_over_all_images(labels):
    classes, counts = count_classes(labels, -1)
    values = np.concatenate(labels)
    expected, n_expected = np.unique(values[values != -1], return_counts=True)
    assert np.array_equal(classes, expected)
    assert np.array_equal(counts, n_expected)


@given(label_lists, st.integers(1, 60), st.booleans(), seeds())
def test_drawn_pixels_have_the_labels_and_numbers_asked_for(labels, n_windows, balance, seed):
    rng = np.random.default_rng(seed)
    classes, counts = count_classes(labels, -1)
    n_drawn = share_out(counts, n_windows, balance=balance, rng=rng)
    pixels, y = draw_pixels(labels, classes, counts, n_drawn, rng)
    assert np.array_equal(np.concatenate(labels)[pixels], y)
    assert np.array_equal([np.sum(y == label) for label in classes], n_drawn)
    assert np.all(np.diff(pixels) >= 0)
    times = np.bincount(pixels, minlength=sum(map(len, labels)))
    for label, count, n in zip(classes, counts, n_drawn, strict=True):
        of_class = times[np.concatenate(labels) == label]
        assert set(of_class) <= {n // count, n // count + 1}


@given(hnp.arrays(np.int64, 4, elements=st.integers(1, 50)), st.integers(4, 100), seeds())
def test_balanced_shares_are_equal_and_others_possible(counts, n_windows, seed):
    rng = np.random.default_rng(seed)
    assert set(share_out(counts, n_windows, balance=True, rng=rng)) == {n_windows // 4}
    as_they_come = share_out(counts, n_windows, balance=False, rng=rng)
    assert as_they_come.sum() == min(n_windows, counts.sum())
    assert np.all(as_they_come <= counts)


def test_pixels_of_a_class_are_equally_likely():
    labels = [np.array([0, 1, 0]), np.array([1, 0, 1, 1])]
    classes, counts = count_classes(labels, -1)
    times = np.zeros(7)
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        times[draw_pixels(labels, classes, counts, np.array([1, 2]), rng)[0]] += 1
    assert times / 2000 == pytest.approx(
        [1 / 3, 1 / 2, 1 / 3, 1 / 2, 1 / 3, 1 / 2, 1 / 2], abs=0.05
    )


def test_unbalanced_shares_follow_the_counts():
    counts = np.array([900, 90, 10])
    shares = [
        share_out(counts, 100, balance=False, rng=np.random.default_rng(seed))
        for seed in range(200)
    ]
    assert np.mean(shares, axis=0) == pytest.approx([90, 9, 1], abs=0.5)


@given(
    hnp.arrays(np.int64, 3, elements=st.integers(1, 1000)),
    hnp.arrays(np.int64, 3, elements=st.integers(0, 1000)).filter(np.any),
)
def test_undoing_turns_drawn_shares_into_real_ones(counts, n_drawn):
    factors = sampling_factors(counts, n_drawn)
    found = undo_sampling((n_drawn / n_drawn.sum())[None], factors)[0]
    known = np.where(n_drawn > 0, counts, 0)
    assert found == pytest.approx(known / known.sum())


def test_factors_say_how_often_a_class_is_too_frequent():
    factors = sampling_factors(np.array([80, 20]), np.array([50, 50]))
    assert factors == pytest.approx([0.5 / 0.8, 0.5 / 0.2])
    assert undo_sampling(np.array([[0.5, 0.5], [1.0, 0.0]]), factors) == pytest.approx(
        np.array([[0.8, 0.2], [1.0, 0.0]])
    )
