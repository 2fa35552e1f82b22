"""Windows around pixels as rows of a matrix, built only when they are asked for.

A 31x31 window of RGB values has 2883 columns, so that the windows of one small photograph fill a
gigabyte. :class:`WindowRows` knows where all of them are and builds any of them, or all of them
block by block. It knows nothing of labels or classifiers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from spinney.data.checks import check_choice, check_integer
from spinney.images.validation import Images, check_window, checked_images

BORDERS = ("skip", "reflect", "edge", "constant")

COPIED_AT_ONCE = 1024
"""Windows that are copied in the dtype of their image before they become float32."""


@dataclass(frozen=True, eq=False, repr=False)
class WindowRows:
    """Windows around the pixels of images, as rows that are built on demand.

    A pixel is *eligible* if it has a window. Eligible pixels are numbered through all images, in
    each image row by row.

    Parameters
    ----------
    images : list of arrays of shape (height, width) or (height, width, channels)
        Grey or coloured images, of any sizes but of the same number of channels. Finite numbers.
    window : (int, int), default=(31, 31)
        Height and width of a window, both odd.
    border : {"skip", "reflect", "edge", "constant"}, default="skip"
        What to do where a window would leave its image: "skip" such pixels as in the paper, or
        continue the image as ``np.pad`` does: mirrored, with its outermost pixels, or with zeros.

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 forest: improved random forest by continuous
       optimization of oblique splits", arXiv 2015, section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.images import WindowRows
    >>> windows = WindowRows([np.arange(30).reshape(5, 6)], window=(3, 3))
    >>> windows.n_eligible.tolist()
    [12]
    >>> windows.rows([[0, 1, 1]])
    array([[ 0.,  1.,  2.,  6.,  7.,  8., 12., 13., 14.]], dtype=float32)
    """

    images: Images
    window: tuple[int, int] = (31, 31)
    border: str = field(default="skip", kw_only=True)
    _padded: tuple[NDArray[Any], ...] = field(init=False)
    _ends: NDArray[np.int64] = field(init=False)  # number of the first pixel after each image

    def __post_init__(self) -> None:
        window = check_window(self.window)
        check_choice("border", self.border, BORDERS)
        images = checked_images(self.images)
        if self.border == "skip":
            _check_sizes(images, window)
        padded = tuple(_pad(image, window, self.border) for image in images)
        counts = [
            (image.shape[0] - window[0] + 1) * (image.shape[1] - window[1] + 1) for image in padded
        ]
        for name, value in (
            ("images", images),
            ("window", window),
            ("_padded", padded),
            ("_ends", np.cumsum(counts, dtype=np.int64)),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_columns(self) -> int:
        """Values of a window: height times width times channels."""
        return self.window[0] * self.window[1] * self.n_channels

    @property
    def n_channels(self) -> int:
        """Channels of each image; 1 if they are grey."""
        return int(self._padded[0].shape[2])

    @property
    def n_eligible(self) -> NDArray[np.int64]:
        """Number of pixels of each image that have a window, shape (n_images,)."""
        return np.diff(self._ends, prepend=0)

    def inside(self, image: int) -> tuple[slice, slice]:
        """Rows and columns of an image that hold its eligible pixels."""
        margins = _margins(self.window) if self.border == "skip" else (0, 0)
        height, width = np.shape(self.images[image])[:2]
        return slice(margins[0], height - margins[0]), slice(margins[1], width - margins[1])

    def positions(self, pixels: ArrayLike) -> NDArray[np.int64]:
        """Where eligible pixels are.

        Parameters
        ----------
        pixels : array-like of int of shape (n,)
            Numbers of eligible pixels, from 0 to ``n_eligible.sum() - 1``.

        Returns
        -------
        int64 ndarray of shape (n, 3)
            Image, row and column of each.
        """
        numbers = _checked_integers("pixels", pixels, n_dimensions=1)
        n_pixels = int(self._ends[-1])
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < n_pixels:
            wrong = numbers[(numbers < 0) | (numbers >= n_pixels)][0]
            raise ValueError(
                f"pixels holds {wrong}; give numbers from 0 to {n_pixels - 1}; try "
                f"range({n_pixels}) for all pixels."
            )
        found = np.empty((len(numbers), 3), dtype=np.int64)
        found[:, 0] = np.searchsorted(self._ends, numbers, side="right")
        for image, part in _by_image(found):
            rows, columns = self.inside(image)
            first = int(self._ends[image - 1]) if image else 0
            down, along = np.divmod(numbers[part] - first, columns.stop - columns.start)
            found[part, 1], found[part, 2] = down + rows.start, along + columns.start
        return found

    def rows(self, positions: ArrayLike) -> NDArray[np.float32]:
        """Windows around some pixels, one a row.

        Parameters
        ----------
        positions : array-like of int of shape (n, 3)
            Image, row and column of eligible pixels, in any order, repeats allowed.

        Returns
        -------
        float32 ndarray of shape (n, n_columns)
            Values of a window row by row, of a pixel channel by channel.
        """
        where = _checked_integers("positions", positions, n_dimensions=2)
        self._check_positions(where)
        values = np.empty((len(where), self.n_columns), dtype=np.float32)
        for image, part in _by_image(where):
            views = sliding_window_view(self._padded[image], (*self.window, self.n_channels))
            rows, columns = self.inside(image)
            for some in np.split(part, range(COPIED_AT_ONCE, len(part), COPIED_AT_ONCE)):
                down, along = where[some, 1] - rows.start, where[some, 2] - columns.start
                values[some] = views[down, along, 0].reshape(len(some), -1)
        return values

    def blocks(
        self, max_rows: int, image: int | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """All windows of an image, or of all images, a bounded number at a time.

        Parameters
        ----------
        max_rows : int
            Most rows of a block.
        image : int or None, default=None
            Number of an image; None goes through all of them.

        Yields
        ------
        positions : int64 ndarray of shape (n, 3)
        rows : float32 ndarray of shape (n, n_columns)
            Windows around these positions, in the order of the pixels.
        """
        check_integer("max_rows", max_rows, minimum=1, example="20_000")
        start, stop = 0, int(self._ends[-1])
        if image is not None:
            self._check_image(image)
            start, stop = int(self._ends[image] - self.n_eligible[image]), int(self._ends[image])
        return self._iterate(start, stop, int(max_rows))

    def _iterate(
        self, start: int, stop: int, max_rows: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        for first in range(start, stop, max_rows):
            where = self.positions(np.arange(first, min(first + max_rows, stop)))
            yield where, self.rows(where)

    def _check_image(self, image: int) -> None:
        """Raise unless there is an image of this number."""
        check_integer("image", image, minimum=0, example="0")
        if image >= len(self._padded):
            raise ValueError(
                f"image={image} is too large; give a number from 0 to {len(self._padded) - 1}; try "
                "image=None for all images."
            )

    def _check_positions(self, where: NDArray[np.int64]) -> None:
        """Raise unless every position is an eligible pixel."""
        is_bad = (where[:, 0] < 0) | (where[:, 0] >= len(self._padded))
        for image, part in _by_image(np.where(is_bad[:, None], 0, where)):
            for axis, inside in enumerate(self.inside(image), start=1):
                is_bad[part] |= where[part, axis] < inside.start
                is_bad[part] |= where[part, axis] >= inside.stop
        if is_bad.any():
            number = int(is_bad.argmax())
            raise ValueError(
                f"positions[{number}]={where[number].tolist()} has no window; give (image, row, "
                "column) of eligible pixels; try positions(range(n)) for the first n."
            )


def _margins(window: tuple[int, int]) -> tuple[int, int]:
    """Pixels of a window above and to the left of its middle."""
    return window[0] // 2, window[1] // 2


def _pad(image: NDArray[Any], window: tuple[int, int], border: str) -> NDArray[Any]:
    """The image continued so that every eligible pixel has a full window."""
    if border == "skip":
        return image
    down, along = _margins(window)
    # mypy wants to know the word itself.
    mode: Literal["reflect", "edge", "constant"] = border  # type: ignore[assignment]
    return np.pad(image, ((down, down), (along, along), (0, 0)), mode=mode)


def _check_sizes(images: tuple[NDArray[Any], ...], window: tuple[int, int]) -> None:
    """Raise if a window does not fit into some image."""
    for number, image in enumerate(images):
        if image.shape[0] < window[0] or image.shape[1] < window[1]:
            raise ValueError(
                f"images[{number}] is {image.shape[0]} pixels high and {image.shape[1]} wide, "
                f"smaller than window={window}; give larger images or a smaller window; try "
                'border="reflect".'
            )


def _by_image(positions: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each image that occurs, and which of the positions lie in it."""
    if len(positions) == 0:
        return
    order = np.argsort(positions[:, 0], kind="stable")
    images, starts = np.unique(positions[order, 0], return_index=True)
    yield from zip(images.tolist(), np.split(order, starts[1:]), strict=True)


def _checked_integers(name: str, values: ArrayLike, *, n_dimensions: int) -> NDArray[np.int64]:
    """Integers of shape (n,) or (n, 3)."""
    found = np.asarray(values)
    shape = "(n,)" if n_dimensions == 1 else "(n, 3)"
    if found.ndim != n_dimensions or (n_dimensions == 2 and found.shape[1] != 3):
        raise ValueError(
            f"{name} has shape {found.shape}; give {shape}; try np.reshape({name}, "
            f"{'-1' if n_dimensions == 1 else '(-1, 3)'})."
        )
    if found.dtype.kind not in "iu" and found.size:
        raise ValueError(
            f"{name} holds values of dtype {found.dtype}; give integers; try {name}.astype(int)."
        )
    return found.astype(np.int64, copy=False)
