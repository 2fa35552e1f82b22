"""Which pixels to train on: as many of each class, or as they come.

Works on the labels of the eligible pixels, image by image, and gives the numbers of pixels, as
:class:`spinney.images.windows.WindowRows` counts them. No window is built here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def count_classes(
    labels: Sequence[NDArray[Any]], ignore_label: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sorted classes of all images and the number of their pixels, without `ignore_label`."""
    found: dict[int, int] = {}
    for image in labels:
        for label, count in zip(*np.unique(image, return_counts=True), strict=True):
            found[int(label)] = found.get(int(label), 0) + int(count)
    found.pop(ignore_label, None)
    classes = sorted(found)
    counts = [found[label] for label in classes]
    return np.array(classes, dtype=np.int64), np.array(counts, dtype=np.int64)


def share_out(
    counts: NDArray[np.int64], n_windows: int, *, balance: bool, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How many windows to draw of each class.

    Parameters
    ----------
    counts : int64 ndarray of shape (n_classes,)
        Pixels of each class.
    n_windows : int
        Windows of all classes together, at most.
    balance : bool
        Whether each class gets the same number, ``n_windows // n_classes``. Otherwise the numbers
        are those of a draw from all pixels without replacement.
    rng : Generator

    Returns
    -------
    int64 ndarray of shape (n_classes,)
    """
    if balance:
        return np.full(len(counts), n_windows // len(counts), dtype=np.int64)
    if n_windows >= counts.sum():
        return counts
    return rng.multivariate_hypergeometric(counts, n_windows)


def draw_pixels(
    labels: Sequence[NDArray[Any]],
    classes: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_drawn: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of drawn pixels in ascending order, `n_drawn` of each class, and their labels.

    A class of too few pixels gives all of them, as often as needed: no pixel is drawn more than
    once more than another one of its class.
    """
    # Pixels are drawn by their number within the class, then looked up image by image, so that
    # there is never a list of all pixels.
    pixels = []
    for label, count, n in zip(classes, counts.tolist(), n_drawn.tolist(), strict=True):
        pixels.append(_pixels_of_class(labels, label, _draw(count, n, rng)))
    drawn = np.concatenate(pixels)
    order = np.argsort(drawn, kind="stable")
    return drawn[order], np.repeat(classes, n_drawn)[order]


def _pixels_of_class(
    labels: Sequence[NDArray[Any]], label: np.int64, chosen: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Numbers among all pixels, from sorted numbers among the pixels of one class."""
    found = []
    n_pixels = n_of_class = 0
    for image in labels:
        places = np.flatnonzero(image == label)
        start, stop = np.searchsorted(chosen, [n_of_class, n_of_class + len(places)])
        found.append(n_pixels + places[chosen[start:stop] - n_of_class])
        n_pixels += image.size
        n_of_class += len(places)
    return np.concatenate(found)


def _draw(n_pixels: int, n_drawn: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sorted numbers of drawn pixels of one class; any two occur equally often, up to one."""
    n_rounds, n_rest = divmod(n_drawn, n_pixels)
    rest = rng.choice(n_pixels, n_rest, replace=False, shuffle=False)
    return np.sort(np.concatenate([np.tile(np.arange(n_pixels), n_rounds), rest]))


def sampling_factors(counts: NDArray[np.int64], n_drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share of each class among the drawn pixels, divided by its share among all of them."""
    return np.asarray((n_drawn / n_drawn.sum()) / (counts / counts.sum()))


def undo_sampling(
    probabilities: NDArray[np.float64], factors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Class probabilities of pixels as they come, from those of pixels as they were drawn.

    Each is divided by the factor by which its class was over- or undersampled, then all are scaled
    to sum to 1 [1, §6.2].

    Parameters
    ----------
    probabilities : float64 ndarray of shape (n_rows, n_classes)
    factors : float64 ndarray of shape (n_classes,)
        0 for a class that was not drawn; it keeps the probability 0.

    Returns
    -------
    float64 ndarray of shape (n_rows, n_classes)

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 forest: improved random forest by continuous
       optimization of oblique splits", arXiv 2015.
    """
    inverse = np.divide(1.0, factors, out=np.zeros(len(factors)), where=factors > 0)
    weighted = probabilities * inverse
    return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))
