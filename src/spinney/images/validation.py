"""Turn what users pass as images, label images and windows into plain checked values.

Images become arrays of shape (height, width, channels) in their own dtype, label images integer
arrays. Nothing is copied that need not be, and no input is ever written to.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Images: TypeAlias = Sequence[ArrayLike] | NDArray[Any]

LARGEST = float(np.finfo(np.float32).max)


def check_window(window: object) -> tuple[int, int]:
    """Height and width of a window, both odd so that it has a pixel in the middle."""
    accepted = "give two odd integers >= 1, (height, width); try window=(31, 31)."
    if not isinstance(window, (tuple, list)) or not all(
        isinstance(length, numbers.Integral) and not isinstance(length, bool) for length in window
    ):
        raise TypeError(f"window={window!r} is no pair of integers; {accepted}")
    if len(window) != 2:
        raise ValueError(f"window={window!r} has {len(window)} lengths; {accepted}")
    if any(length < 1 or length % 2 == 0 for length in window):
        raise ValueError(f"window={window!r} has no pixel in its middle; {accepted}")
    return int(window[0]), int(window[1])


def check_label(name: str, value: object) -> None:
    """Raise unless `value` can be a label of a pixel."""
    accepted = f"give an integer from -2**63 to 2**63 - 1; try {name}=-1."
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; {accepted}")
    if not -(2**63) <= int(value) < 2**63:
        raise ValueError(f"{name}={value!r} is no int64; {accepted}")


def checked_images(images: Images) -> tuple[NDArray[Any], ...]:
    """Images of shape (height, width, channels), all of the same number of channels."""
    found = tuple(_checked_image(image, f"images[{k}]") for k, image in _numbered(images, "images"))
    for number, image in enumerate(found):
        if image.shape[2] != found[0].shape[2]:
            raise ValueError(
                f"images[{number}] has {image.shape[2]} channels but images[0] has "
                f"{found[0].shape[2]}; give images of the same number of channels; try "
                "image.mean(axis=2) to make all grey."
            )
    return found


def _numbered(images: Images, name: str) -> Iterable[tuple[int, ArrayLike]]:
    """Members of a list of images; anything else is refused."""
    if isinstance(images, (str, bytes, dict)) or not hasattr(images, "__len__"):
        raise TypeError(
            f"{name} is of type {type(images).__name__}; give a list of arrays; try [image] for a "
            "single one."
        )
    if len(images) == 0:
        raise ValueError(f"{name} is empty; give at least one image; try [image] for a single one.")
    return enumerate(images)


def _checked_image(image: ArrayLike, name: str) -> NDArray[Any]:
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.size == 0:
        raise ValueError(
            f"{name} has shape {pixels.shape}; give (height, width) or (height, width, channels), "
            "none of them 0; try images=[image] for a single image."
        )
    if pixels.dtype.kind not in "buif":
        raise ValueError(
            f"{name} holds values of dtype {pixels.dtype}; give numbers; try "
            "image.astype(np.float32)."
        )
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    if pixels.dtype.kind == "f":
        _check_fits_float32(pixels, name)
    return pixels


def _check_fits_float32(pixels: NDArray[Any], name: str) -> None:
    """Raise if a value is missing, infinite or too large for the rows of windows."""
    if max(pixels.max(), -pixels.min()) <= LARGEST:  # False for nan
        return
    with np.errstate(invalid="ignore"):
        is_bad = ~(np.abs(pixels) <= LARGEST)
    row, column, channel = np.unravel_index(is_bad.argmax(), is_bad.shape)
    value = float(pixels[row, column, channel])
    raise ValueError(
        f"{name}[{row}, {column}, {channel}]={value:.6g} is "
        f"{'missing' if np.isnan(value) else 'too large'}; give numbers between -{LARGEST:.3g} and "
        f"{LARGEST:.3g}; try np.nan_to_num(image)."
    )


def checked_label_images(label_images: Images, images: Images) -> tuple[NDArray[Any], ...]:
    """A label image of each image, of the same height and width, integers of any dtype."""
    members = list(_numbered(label_images, "label_images"))
    if len(members) != len(images):
        raise ValueError(
            f"there are {len(images)} images but {len(members)} label images; give one label image "
            "an image; try zip(images, label_images, strict=True) where they are read."
        )
    return tuple(
        _checked_labels(labels, f"label_images[{number}]", np.shape(images[number])[:2])
        for number, labels in members
    )


def _checked_labels(labels: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    found = np.asarray(labels)
    if found.shape != shape:
        raise ValueError(
            f"{name} has shape {found.shape} but its image is {shape[0]} pixels high and "
            f"{shape[1]} wide; give one label a pixel; try labels.squeeze() if it has a channel."
        )
    if found.dtype.kind not in "bui":
        raise ValueError(
            f"{name} holds values of dtype {found.dtype}; give integers; try labels.astype(int) if "
            "they are whole numbers."
        )
    return found
