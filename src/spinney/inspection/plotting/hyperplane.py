"""One hyperplane for people: its largest weights with names, or a picture of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.moments import moment
from spinney.inspection.arguments import is_whole
from spinney.inspection.plotting.colors import DIVERGING
from spinney.inspection.plotting.lettering import number
from spinney.inspection.split_words import SplitWords
from spinney.tree.hyperplanes import hyperplane
from spinney.tree.structure import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The non-zero weights of a split, those of most effect first.

    Attributes
    ----------
    node : int
        The split's number in its tree.
    features : int32 ndarray of shape (n_weights,)
        Coordinates with a weight, by falling ``|weight * scale|``.
    names : tuple of str
        Their names.
    weights : float64 ndarray of shape (n_weights,)
        The weights, as in the tree.
    shown : float64 ndarray of shape (n_weights,)
        ``weight * scale``: the lengths of bars.
    bias : float
        A row goes right if ``weights . x + bias >= 0``.
    origins : tuple of float or None
        Of each feature that is a date, what is taken off it, in days since 1970-01-01; None of the
        others.
    words : SplitWords or None
        What a split of one column of a table asks; None of other hyperplanes.
    """

    node: int
    features: NDArray[np.int32]
    names: tuple[str, ...]
    weights: NDArray[np.float64]
    shown: NDArray[np.float64]
    bias: float
    origins: tuple[float | None, ...] = ()
    words: SplitWords | None = None

    @property
    def is_told_by_rule(self) -> bool:
        """Whether the rule says all: of one weight, or of one column of a table."""
        return self.words is not None or len(self.weights) == 1

    def rule(self) -> tuple[str, str]:
        """When a row goes right: what is compared, and with what."""
        if self.words is not None:
            return self.words.subject, self.words.end()
        if len(self.weights) != 1:
            return "w·x", f" ≥ {number(-self.bias)}"
        weight, origin = float(self.weights[0]), self.origins[0] if self.origins else None
        threshold = -self.bias / weight
        shown = number(threshold) if origin is None else moment(origin + threshold)
        return self.names[0], f" {'≥' if weight > 0 else '≤'} {shown}"


def hyperplane_of(
    tree: Tree,
    node: int,
    names: Sequence[str],
    scale: NDArray[np.float64],
    origins: Mapping[int, float] | None = None,
    words: SplitWords | None = None,
) -> Hyperplane:
    """The hyperplane of a split; `origins` has those of the features that are dates."""
    features, weights = hyperplane(tree, node)
    shown = weights * scale[features]
    order = np.argsort(-np.abs(shown), kind="stable")
    return Hyperplane(
        node,
        features[order],
        tuple(names[feature] for feature in features[order]),
        weights[order],
        shown[order],
        float(tree.bias[node]),
        tuple((origins or {}).get(feature) for feature in features[order].tolist()),
        words,
    )


def picture_of(plane: Hyperplane, image_shape: tuple[int, int]) -> NDArray[np.float64]:
    """The weights in the places of their pixels, rows of pixels one after the other."""
    picture = np.zeros(image_shape[0] * image_shape[1])
    picture[plane.features] = plane.shown
    return picture.reshape(image_shape)


def draw_picture(ax: Axes, picture: NDArray[np.float64], **options: Any) -> AxesImage:
    """Draw weights in diverging colours: zero is white, the largest weight has the full colour."""
    largest = float(np.abs(picture).max()) or 1.0
    return ax.imshow(picture, cmap=DIVERGING, vmin=-largest, vmax=largest, **options)


def checked_image_shape(image_shape: Any, n_features: int) -> tuple[int, int] | None:
    """Height and width, after a look at whether they fit the coordinates."""
    if image_shape is None:
        return None
    shape = image_shape if isinstance(image_shape, tuple | list) else ()
    is_pair = len(shape) == 2 and all(is_whole(size) for size in shape)
    if not is_pair or min(shape) < 1 or shape[0] * shape[1] != n_features:
        raise ValueError(
            f"image_shape={image_shape!r} for hyperplanes of {n_features} coordinates; give "
            "(height, width) whose product is that number; try leaving it out to see bars."
        )
    return int(shape[0]), int(shape[1])
