"""Windows around pixels as rows."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spinney.images.windows as windows_module
from spinney.images import WindowRows
from spinney.images.windows import BORDERS
from tests import reference
from tests.strategies import seeds

odd_lengths = st.integers(0, 3).map(lambda half: 2 * half + 1)


@st.composite
def windows_of_images(draw):
    """Small images of different sizes with windows that fit into them if they have to."""
    border = draw(st.sampled_from(BORDERS))
    window = draw(st.tuples(odd_lengths, odd_lengths))
    least = window if border == "skip" else (1, 1)
    channels = draw(st.sampled_from([(), (1,), (3,)]))
    dtype = draw(st.sampled_from([np.uint8, np.float32, np.bool_, np.int64]))
    rng = np.random.default_rng(draw(seeds()))
    images = []
    for _ in range(draw(st.integers(1, 3))):
        height = draw(st.integers(least[0], least[0] + 3))
        width = draw(st.integers(least[1], least[1] + 3))
        images.append(rng.integers(0, 256, (height, width, *channels)).astype(dtype))
    return WindowRows(images, window, border=border), images


@given(windows_of_images(), st.integers(1, 20))
def test_rows_equal_slices_of_the_padded_image(made, max_rows):
    windows, images = made
    blocks = list(windows.blocks(max_rows))
    assert max(len(rows) for _, rows in blocks) <= max_rows
    positions = np.concatenate([where for where, _ in blocks])
    rows = np.concatenate([rows for _, rows in blocks])
    expected = [
        reference.window_row(images[image], row, column, windows.window, windows.border)
        for image, row, column in positions
    ]
    assert rows.dtype == np.float32
    assert np.array_equal(rows, expected)


@given(windows_of_images())
def test_eligible_pixels_are_all_that_have_a_window(made):
    windows, images = made
    down, along = (length // 2 for length in windows.window)
    if windows.border != "skip":
        down = along = 0
    expected = [
        [number, row, column]
        for number, image in enumerate(images)
        for row in range(down, image.shape[0] - down)
        for column in range(along, image.shape[1] - along)
    ]
    assert windows.positions(np.arange(windows.n_eligible.sum())).tolist() == expected
    for number in range(len(images)):
        inside = [where for where in expected if where[0] == number]
        assert windows.n_eligible[number] == len(inside)
        blocks = [where for where, _ in windows.blocks(7, image=number)]
        assert np.concatenate(blocks).tolist() == inside
        is_inside = np.zeros(images[number].shape[:2], dtype=bool)
        is_inside[windows.inside(number)] = True
        assert np.argwhere(is_inside).tolist() == [where[1:] for where in inside]


def three_images(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, (*shape, 3), np.uint8) for shape in [(9, 8), (5, 5), (7, 12)]]


def test_rows_come_in_the_order_asked_for_with_repeats():
    windows = WindowRows(three_images(), (5, 3))
    pixels = np.random.default_rng(0).integers(0, windows.n_eligible.sum(), 200)
    positions = windows.positions(pixels)
    everything = np.concatenate([rows for _, rows in windows.blocks(1000)])
    assert np.array_equal(windows.rows(positions), everything[pixels])


def test_copying_in_pieces_changes_nothing(monkeypatch):
    windows = WindowRows(three_images(), (3, 3), border="edge")
    positions = windows.positions(np.arange(windows.n_eligible.sum())[::-1])
    whole = windows.rows(positions)
    monkeypatch.setattr(windows_module, "COPIED_AT_ONCE", 7)
    assert np.array_equal(windows.rows(positions), whole)


def test_stacks_of_images_are_lists_of_images():
    stack = np.random.default_rng(0).normal(size=(3, 6, 7))
    one, other = WindowRows(stack, (3, 5)), WindowRows(list(stack), (3, 5))
    for (_, rows), (_, same) in zip(one.blocks(10), other.blocks(10), strict=True):
        assert np.array_equal(rows, same)


def test_grey_images_have_one_channel():
    image = np.arange(12.0).reshape(3, 4)
    grey, flat = WindowRows([image], (3, 3)), WindowRows([image[:, :, None]], (3, 3))
    assert (grey.n_channels, grey.n_columns) == (flat.n_channels, flat.n_columns) == (1, 9)
    assert np.array_equal(grey.rows([[0, 1, 2]]), flat.rows([[0, 1, 2]]))


def test_skipping_copies_no_image():
    images = three_images()
    windows = WindowRows(images, (3, 3))
    assert all(map(np.shares_memory, windows.images, images))
    assert all(map(np.shares_memory, windows._padded, images))


def test_no_positions_give_no_rows():
    windows = WindowRows(three_images(), (3, 3))
    assert windows.rows(windows.positions([])).shape == (0, 27)


def test_windows_cannot_be_changed_but_pickled():
    windows = WindowRows(three_images(), (3, 3), border="reflect")
    with pytest.raises(dataclasses.FrozenInstanceError):
        windows.border = "edge"
    again = pickle.loads(pickle.dumps(windows))
    assert np.array_equal(again.rows([[2, 0, 0]]), windows.rows([[2, 0, 0]]))


# --- errors -----------------------------------------------------------------------------------

GREY = np.zeros((6, 6))


@pytest.mark.parametrize(
    ("window", "error"),
    [
        ((4, 3), ValueError),
        ((3, 0), ValueError),
        ((3, -1), ValueError),
        ((3,), ValueError),
        ((3, 3, 3), ValueError),
        (3, TypeError),
        ((3.0, 3), TypeError),
        ((True, 3), TypeError),
        ("33", TypeError),
    ],
)
def test_windows_without_a_middle_are_refused(window, error):
    with pytest.raises(error, match=r"window=.*; give two odd integers >= 1.* try window="):
        WindowRows([GREY], window)


@pytest.mark.parametrize(
    ("images", "error", "text"),
    [
        ([], ValueError, r"images is empty; give .* try \[image\]"),
        (GREY, ValueError, r"images\[0\] has shape \(6,\); give .* try images=\[image\]"),
        ([GREY, np.zeros((6, 0))], ValueError, r"images\[1\] has shape \(6, 0\); give"),
        ([GREY, np.zeros((6, 6, 3))], ValueError, r"images\[1\] has 3 channels but .* has 1; give"),
        ([GREY.astype(complex)], ValueError, r"images\[0\] holds values of dtype complex128; give"),
        ([GREY.astype(str)], ValueError, r"images\[0\] holds values of dtype <U.*; give"),
        (None, TypeError, r"images is of type NoneType; give a list of arrays; try"),
        ("photo.png", TypeError, r"images is of type str; give a list of arrays; try"),
        ([GREY, np.zeros((6, 2))], ValueError, r"images\[1\] is 6 pixels high and 2 wide, sm"),
    ],
)
def test_what_is_no_list_of_images_is_refused(images, error, text):
    with pytest.raises(error, match=text):
        WindowRows(images, (3, 3))


@pytest.mark.parametrize(
    ("value", "text"), [(np.nan, "missing"), (np.inf, "too large"), (-1e39, "too large")]
)
def test_values_that_rows_cannot_hold_are_named(value, text):
    image = np.zeros((6, 6, 3))
    image[2, 4, 1] = value
    with pytest.raises(ValueError, match=rf"images\[1\]\[2, 4, 1\]=.* is {text}; give .* try"):
        WindowRows([np.zeros((6, 6, 3)), image], (3, 3))


def test_borders_must_be_known():
    with pytest.raises(ValueError, match=r"border='wrap' is not known; give \"skip\" or"):
        WindowRows([GREY], (3, 3), border="wrap")


def test_small_images_are_fine_with_a_border():
    assert WindowRows([np.zeros((2, 1))], (9, 9), border="reflect").n_eligible.tolist() == [2]


@pytest.mark.parametrize(
    "position", [[0, 0, 1], [0, 1, 5], [1, 1, 1], [-1, 1, 1], [0, -1, 1], [0, 1, 6]]
)
def test_positions_without_a_window_are_named(position):
    windows = WindowRows([GREY], (3, 3))
    with pytest.raises(ValueError, match=r"positions\[1\]=\[.*\] has no window; give .* try"):
        windows.rows([[0, 1, 1], position])


@pytest.mark.parametrize("positions", [[0, 1, 1], [[0, 1]], [[[0, 1, 1]]]])
def test_positions_of_another_shape_are_refused(positions):
    with pytest.raises(ValueError, match=r"positions has shape .*; give \(n, 3\); try"):
        WindowRows([GREY], (3, 3)).rows(positions)


def test_positions_must_be_integers():
    with pytest.raises(ValueError, match="positions holds values of dtype float64; give integers"):
        WindowRows([GREY], (3, 3)).rows([[0.0, 1.0, 1.0]])


@pytest.mark.parametrize("pixel", [-1, 16])
def test_pixels_that_do_not_exist_are_named(pixel):
    with pytest.raises(ValueError, match=rf"pixels holds {pixel}; give numbers from 0 to 15; try"):
        WindowRows([GREY], (3, 3)).positions([0, pixel])


def test_blocks_are_checked_when_asked_for():
    windows = WindowRows([GREY], (3, 3))
    with pytest.raises(ValueError, match="max_rows=0 is too small"):
        windows.blocks(0)
    with pytest.raises(ValueError, match="image=1 is too large; give a number from 0 to 0; try"):
        windows.blocks(5, image=1)
