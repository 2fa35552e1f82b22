"""How well label images agree: the class-average Jaccard score.

Most pixels of a photograph are background, so that their share of right labels says little about
the small parts. This score counts every class alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.images.validation import Images


def class_average_jaccard(
    y_true: ArrayLike | Images,
    y_pred: ArrayLike | Images,
    *,
    labels: ArrayLike | None = None,
    ignore: object = None,
) -> float:
    """Mean over the classes of tp / (tp + fp + fn), a fraction between 0 and 1.

    For each class, the pixels that have it in both images are divided by the pixels that have it
    in at least one of them. All images are counted together.

    Parameters
    ----------
    y_true, y_pred : array-like of labels, or list of label images
        Right and predicted labels. Images may differ in size from each other, not from their
        partner.
    labels : array-like of shape (n_classes,) or None, default=None
        Classes to average over. None takes all that occur in `y_true` or `y_pred`. A class that
        occurs in neither has no score and is left out of the mean.
    ignore : label or None, default=None
        Pixels with this label in either of the two are left out.

    Returns
    -------
    float
        1 if all labels agree, 0 if none does. The paper prints 100 times this number.

    Notes
    -----
    Without `ignore` this is ``sklearn.metrics.jaccard_score(average="macro")``, which takes flat
    arrays only.

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 forest: improved random forest by continuous
       optimization of oblique splits", arXiv 2015, section 6.2.

    Examples
    --------
    >>> from spinney.images import class_average_jaccard
    >>> class_average_jaccard([[0, 0, 0, 1]], [[0, 0, 1, 1]])  # 2/3 of class 0, 1/2 of class 1
    0.5833333333333333
    """
    true, predicted = _flat_pair(y_true, y_pred)
    if ignore is not None:
        is_counted = (true != ignore) & (predicted != ignore)
        true, predicted = true[is_counted], predicted[is_counted]
    occurring = np.unique(np.concatenate([np.unique(true), np.unique(predicted)]))
    tp, union = _overlaps(true, predicted, occurring)
    is_averaged = np.ones(len(occurring), dtype=bool)
    if labels is not None:
        is_averaged = np.isin(occurring, np.asarray(labels))
    if not is_averaged.any():
        raise ValueError(
            f"no pixel is left to score with labels={labels!r} and ignore={ignore!r}; give at "
            "least one labelled pixel; try labels=None and ignore=None."
        )
    return float(np.mean(tp[is_averaged] / union[is_averaged]))


def _overlaps(
    true: NDArray[Any], predicted: NDArray[Any], classes: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pixels of each class in both images, and in at least one of them."""

    def count(values: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(np.searchsorted(classes, values), minlength=len(classes))

    tp = count(true[true == predicted])
    return tp, count(true) + count(predicted) - tp


def _flat_pair(y_true: object, y_pred: object) -> tuple[NDArray[Any], NDArray[Any]]:
    """Labels of all pixels, partners at the same place."""
    true, predicted = _images(y_true), _images(y_pred)
    if len(true) != len(predicted):
        raise ValueError(
            f"y_true has {len(true)} label images but y_pred has {len(predicted)}; give as many of "
            "both; try y_pred = model.predict(images)."
        )
    for number, (one, other) in enumerate(zip(true, predicted, strict=True)):
        if one.shape != other.shape:
            raise ValueError(
                f"y_true[{number}] has shape {one.shape} but y_pred[{number}] has shape "
                f"{other.shape}; give labels of the same pixels; try ravel() on both."
            )
    return _joined(true), _joined(predicted)


def _images(labels: Any) -> list[NDArray[Any]]:
    """Label images of a list or of a stack; flat labels are one image."""
    is_list = isinstance(labels, (list, tuple)) and any(np.ndim(part) for part in labels[:1])
    if is_list or np.ndim(labels) > 1:
        return [np.asarray(part) for part in labels]
    return [np.atleast_1d(np.asarray(labels))]


def _joined(images: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([image.ravel() for image in images])
