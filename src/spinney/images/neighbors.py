"""Ho's second feature vector: which strokes pass near each pixel of a binary image.

A column says whether two pixels two apart in some direction are both set, at one of four places
side by side. Trees that read one column then read a small stroke instead of a pixel. Only binary
images make sense here; grey ones must be cut at a threshold first.
"""

from __future__ import annotations

import copy
import math
import numbers
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney.data.checks import check_boolean, check_integer

N_TERMS = 4
"""Conjunctions that are joined by OR in one feature."""


class Kind(NamedTuple):
    """One of H', V', N' and S': (rows, columns) from pixel to pixel and from term to term."""

    name: str
    pair: tuple[int, int]
    side: tuple[int, int]


KINDS = (
    Kind("h", pair=(0, 2), side=(1, 0)),
    Kind("v", pair=(2, 0), side=(0, 1)),
    Kind("n", pair=(2, 2), side=(1, -1)),
    Kind("s", pair=(2, -2), side=(1, 1)),
)


class NeighborFeatures(TransformerMixin, BaseEstimator):
    """Ho's features of binary images: the pixels, then conjunctions of neighbouring pixels.

    With I(i, j) the pixel at row i and column j, the four kinds of feature are

    - ``H'(i, j)``: OR of ``I(i+k, j) AND I(i+k, j+2)`` over k = 0..3, named ``h_i_j``;
    - ``V'(i, j)``: OR of ``I(i, j+k) AND I(i+2, j+k)``, named ``v_i_j``;
    - ``N'(i, j)``: OR of ``I(i+k, j-k) AND I(i+k+2, j-k+2)``, named ``n_i_j``;
    - ``S'(i, j)``: OR of ``I(i+k, j+k) AND I(i+k+2, j+k-2)``, named ``s_i_j``.

    There is a feature only where all of its pixels lie within the image. Images too small for a
    kind have none of it.

    Parameters
    ----------
    image_shape : (int, int) or None, default=None
        Rows and columns of an image. None means that images are square.
    include_pixels : bool, default=True
        Whether the pixels themselves come first, named ``pixel_i_j``: the vector f2 of the paper.
    step : int, default=2
        Distance of neighbouring groups of four, in the directions in which a group extends: down
        for H', to the right for V', both for N' and S'. 1 gives a feature wherever one is well
        defined.

    Attributes
    ----------
    image_shape_ : (int, int)
        Rows and columns of an image.
    n_features_in_ : int
        Pixels of an image.
    feature_names_in_ : object ndarray of shape (n_features_in_,)
        Names of the columns, if the data had any.

    Notes
    -----
    The paper counts 852 components for 20x20 pixels. A feature at every well-defined place makes
    1462. Groups that overlap by half, which is ``step=2`` from the first well-defined place on,
    make exactly 852; that is why it is the default. The paper does not speak of a step.

    References
    ----------
    .. [1] Ho, "Random decision forests", ICDAR 1995, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.images import NeighborFeatures
    >>> images = np.random.default_rng(0).integers(0, 2, (5, 400))
    >>> features = NeighborFeatures().fit(images)
    >>> features.transform(images).shape
    (5, 852)
    >>> features.get_feature_names_out()[[0, 399, 400, 851]].tolist()
    ['pixel_0_0', 'pixel_19_19', 'h_0_0', 's_14_16']
    """

    image_shape_: tuple[int, int]
    n_features_in_: int

    def __init__(
        self,
        image_shape: tuple[int, int] | None = None,
        include_pixels: bool = True,
        *,
        step: int = 2,
    ) -> None:
        self.image_shape = image_shape
        self.include_pixels = include_pixels
        self.step = step

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002  # of pipelines
        """Learn the shape of an image; nothing else depends on the rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, height * width)
            Images row by row, their pixels 0 or 1 (or bools) in row-major order.
        y : object
            Not read.

        Returns
        -------
        self
            An error leaves the transformer as it was.
        """
        self._check_parameters()
        fitted = copy.copy(self)
        n_pixels = _checked_pixels(fitted, X, reset=True).shape[1]
        fitted.image_shape_ = _checked_shape(self.image_shape, n_pixels)
        fitted._check_reading()
        self.__dict__ = fitted.__dict__
        return self

    def _check_parameters(self) -> None:
        """Raise if a constructor value is of no use."""
        check_boolean("include_pixels", self.include_pixels)
        check_integer("step", self.step, minimum=1, example="2")

    def _check_reading(self) -> None:
        """Raise if images of the fitted shape have no features with these parameters."""
        self._check_parameters()
        shape = self.image_shape_
        if not self.include_pixels and not any(_count(places(k, shape, self.step)) for k in KINDS):
            raise ValueError(
                f"images of {shape[0]}x{shape[1]} pixels have no neighbour features; give images "
                "of at least 4x3 or 3x4 pixels; try include_pixels=True."
            )

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Features of each image.

        Parameters
        ----------
        X : array-like of shape (n_rows, height * width)
            Images row by row, their pixels 0 or 1 (or bools) in row-major order.

        Returns
        -------
        float32 ndarray of shape (n_rows, n_features_out)
            Zeros and ones, as float32 because that is what forests read without a copy.
        """
        check_is_fitted(self)
        self._check_reading()
        pixels = _checked_pixels(self, X, reset=False)
        images = pixels.reshape(len(pixels), *self.image_shape_)
        blocks = [pixels] if self.include_pixels else []
        blocks += [neighbor_values(images, kind, self.step) for kind in KINDS]
        return np.concatenate(blocks, axis=1, dtype=np.float32)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Only counted: names say where in the image a feature is, whatever the columns of X are
            called.

        Returns
        -------
        object ndarray of shape (n_features_out,)
            ``pixel_i_j``, then ``h_i_j``, ``v_i_j``, ``n_i_j`` and ``s_i_j``.
        """
        check_is_fitted(self)
        self._check_reading()
        if input_features is not None and len(np.asarray(input_features)) != self.n_features_in_:
            raise ValueError(
                f"input_features has length {len(np.asarray(input_features))}; give one name a "
                f"pixel, {self.n_features_in_}; try input_features=None."
            )
        height, width = self.image_shape_
        names = []
        if self.include_pixels:
            names += [f"pixel_{i}_{j}" for i in range(height) for j in range(width)]
        for kind in KINDS:
            rows, columns = places(kind, self.image_shape_, self.step)
            names += [f"{kind.name}_{i}_{j}" for i in rows for j in columns]
        return np.array(names, dtype=object)


def places(kind: Kind, shape: tuple[int, int], step: int) -> tuple[range, range]:
    """Rows i and columns j at which a kind of feature stands; either may be empty."""
    return _places_along(kind, 0, shape[0], step), _places_along(kind, 1, shape[1], step)


def _places_along(kind: Kind, axis: int, length: int, step: int) -> range:
    """Places along one axis from which all pixels of a feature lie within the image."""
    reach = [k * kind.side[axis] + m * kind.pair[axis] for k in range(N_TERMS) for m in (0, 1)]
    return range(-min(reach), length - max(reach), step if kind.side[axis] else 1)


def _count(where: tuple[range, range]) -> int:
    return len(where[0]) * len(where[1])


def neighbor_values(images: NDArray[np.bool_], kind: Kind, step: int) -> NDArray[np.bool_]:
    """One kind of feature of all images, shape (n_images, n_places), places in row-major order."""
    where = places(kind, (images.shape[1], images.shape[2]), step)
    if not _count(where):
        return np.zeros((len(images), 0), dtype=np.bool_)

    def shifted(di: int, dj: int) -> NDArray[np.bool_]:
        rows, columns = where
        return images[
            :,
            rows[0] + di : rows[-1] + di + 1 : rows.step,
            columns[0] + dj : columns[-1] + dj + 1 : columns.step,
        ]

    values = np.zeros((len(images), len(where[0]), len(where[1])), dtype=np.bool_)
    for k in range(N_TERMS):
        di, dj = k * kind.side[0], k * kind.side[1]
        values |= shifted(di, dj) & shifted(di + kind.pair[0], dj + kind.pair[1])
    return values.reshape(len(images), -1)


def _checked_pixels(estimator: BaseEstimator, X: object, *, reset: bool) -> NDArray[np.bool_]:
    """Pixels as bools; all but zeros and ones are refused by place and value."""
    # Missing values pass here because the check below names their place.
    pixels: NDArray[Any] = validate_data(
        estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False
    )
    is_set: NDArray[np.bool_] = pixels == 1
    is_binary = is_set | (pixels == 0)
    if not is_binary.all():
        row, column = np.unravel_index(is_binary.argmin(), is_binary.shape)
        raise ValueError(
            f"X[{row}, {column}]={pixels[row, column]:.6g} is neither 0 nor 1; give binary images; "
            "try X > threshold, or sklearn.preprocessing.Binarizer."
        )
    return is_set


def _checked_shape(image_shape: object, n_pixels: int) -> tuple[int, int]:
    """Rows and columns of images of `n_pixels` pixels."""
    if image_shape is None:
        side = math.isqrt(n_pixels)
        if side**2 != n_pixels:
            raise ValueError(
                f"image_shape=None means square images, but X has {n_pixels} columns, which is no "
                "square number; give image_shape as (rows, columns); try image_shape=(1, "
                f"{n_pixels}) if the pixels form a line."
            )
        return side, side
    accepted = (
        f"give None or (rows, columns) with rows * columns = {n_pixels}, the number of columns of "
        "X; try image_shape=(20, 20) for 400 columns."
    )
    if not isinstance(image_shape, (tuple, list, np.ndarray)) or not all(
        isinstance(length, numbers.Integral) and not isinstance(length, bool)
        for length in image_shape
    ):
        raise TypeError(f"image_shape={image_shape!r} is no pair of integers; {accepted}")
    if len(image_shape) != 2 or min(image_shape) < 1 or math.prod(image_shape) != n_pixels:
        raise ValueError(f"image_shape={image_shape!r} does not fit; {accepted}")
    return int(image_shape[0]), int(image_shape[1])
