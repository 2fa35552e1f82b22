"""Label every pixel of an image from the window around it, with any classifier.

``fit`` draws pixels, builds their windows, scales the columns and fits the classifier; prediction
does the same for all pixels, a block at a time. No classifier lives here, and no smoothing of the
labels either: each pixel is judged by itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from spinney.data.checks import check_boolean, check_choice, check_integer
from spinney.estimators.model import Model
from spinney.fitting.checkpoint import Checkpoint
from spinney.fitting.fingerprint import generator_state
from spinney.fitting.progress import FitEvent, check_callback
from spinney.images.fingerprint import identity_of_labeler
from spinney.images.jaccard import class_average_jaccard
from spinney.images.sampling import (
    count_classes,
    draw_pixels,
    sampling_factors,
    share_out,
    undo_sampling,
)
from spinney.images.scaling import scale_columns, standardize
from spinney.images.validation import Images, check_label, check_window, checked_label_images
from spinney.images.windows import BORDERS, WindowRows


# No ClassifierMixin: scikit-learn stratifies the folds of a classifier by its labels, and a label
# image is no class.
class PixelLabeler(MetaEstimatorMixin, BaseEstimator):
    """Labels of pixels, predicted by a classifier from the windows around them.

    Trains on as many windows of each class, so that small parts are learnt as well as the
    background, and weighs the predicted probabilities by how rare each class really is.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Reads windows as rows, float32. A copy of it is fitted.
    window : (int, int), default=(31, 31)
        Height and width of a window, both odd.
    n_windows : int, default=100_000
        Windows to train on, at most. They are all in memory at once: 4 bytes a value.
    border : {"skip", "reflect", "edge", "constant"}, default="skip"
        What to do where a window would leave its image: "skip" such pixels in training and
        prediction, or continue the image as ``np.pad`` does: mirrored, with its outermost pixels,
        or with zeros.
    balance : bool, default=True
        Whether to draw the same number of windows of each class, ``n_windows // n_classes``. A
        class of fewer pixels gives each of them several times. Otherwise pixels are drawn as they
        come, each at most once.
    reweight : bool, default=True
        Whether to divide the probabilities by the factor by which each class was over- or
        undersampled.
    standardize : bool, default=True
        Whether to shift and scale the columns of the drawn windows to mean 0 and variance 1, and
        those of later windows in the same way.
    ignore_label : int, default=-1
        Label of pixels that are not trained on and not scored; also what ``predict`` gives to
        pixels that have no window.
    batch_size : int, default=20_000
        Most windows in memory at once in prediction.
    random_state : int, RandomState or None, default=None
        Draws the pixels, and seeds the estimator where its own ``random_state`` is None.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to the drawn windows.
    classes_ : int64 ndarray of shape (n_classes,)
        Labels that eligible pixels have, sorted.
    sampling_factors_ : float64 ndarray of shape (n_classes,)
        Share of each class among the drawn windows, divided by its share among all eligible
        pixels: above 1 if it was oversampled.
    scaler_ : StandardScaler or None
        Scales the columns; None if ``standardize=False``.
    n_channels_ : int
        Channels of an image.
    window_, border_
        Those of the fit, by which images are read from then on.

    Notes
    -----
    The paper draws new windows for each tree of a forest; here all trees share those that were
    drawn, because the classifier need not be a forest. The "unit norm and variance" of the paper
    is read as mean 0 and variance 1 of each column.

    Probabilities are reweighted after the classifier has averaged its trees. Averages of many deep
    trees are cautious, and reweighting then gives most doubtful pixels to the largest class; the
    class-average Jaccard score can fall with the number of trees. Compare ``reweight=False``, which
    is also what reweighting each tree by itself would give if all leaves are pure.

    References
    ----------
    .. [1] Norouzi, Collins, Fleet and Kohli, "CO2 forest: improved random forest by continuous
       optimization of oblique splits", arXiv 2015, section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from spinney.images import PixelLabeler
    >>> images = np.random.default_rng(0).normal(size=(4, 20, 20))
    >>> truth = (images > 1).astype(int)
    >>> model = PixelLabeler(RandomForestClassifier(5), (3, 3), n_windows=500, random_state=0)
    >>> model.fit(images[:3], truth[:3]).score(images[3:], truth[3:]) > 0.8
    True
    """

    estimator_: Any
    classes_: NDArray[np.int64]
    sampling_factors_: NDArray[np.float64]
    scaler_: StandardScaler | None
    n_channels_: int
    window_: tuple[int, int]
    border_: str

    def __init__(
        self,
        estimator: Any,
        window: tuple[int, int] = (31, 31),
        *,
        n_windows: int = 100_000,
        border: str = "skip",
        balance: bool = True,
        reweight: bool = True,
        standardize: bool = True,
        ignore_label: int = -1,
        batch_size: int = 20_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.window = window
        self.n_windows = n_windows
        self.border = border
        self.balance = balance
        self.reweight = reweight
        self.standardize = standardize
        self.ignore_label = ignore_label
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(
        self,
        images: Images,
        label_images: Images,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Fit a copy of the estimator to windows drawn from the images.

        Parameters
        ----------
        images : list of arrays of shape (height, width) or (height, width, channels)
            Finite numbers. Sizes may differ, the number of channels may not.
        label_images : list of integer arrays of shape (height, width)
            A label a pixel.
        checkpoint : str, path or None, default=None
            File that the fit is saved to as it goes on; `estimator` must be one of this library.
            The same call after a crash, a kill or Ctrl-C draws the same windows, goes on with the
            classifier and ends in the same model, bit for bit. A file of other images or
            parameters is refused. See `docs/guide/checkpoints.md`.
        callback : callable or None, default=None
            Given to the ``fit`` of the estimator, which has to be one of this library.

        Returns
        -------
        self
            An error or an interrupt leaves the labeler as it was.
        """
        self._check_parameters()
        self._check_callback(callback)
        if checkpoint is not None:
            self._check_can_resume()
        told = {} if callback is None else {"callback": callback}
        with closing(Checkpoint(checkpoint)) as saved:
            fitted = self._fitted(images, label_images, saved, told)
        # One assignment, so that Ctrl-C finds either the old state or the new one.
        self.__dict__ = {**self.__dict__, **fitted}
        return self

    def _fitted(
        self, images: Images, label_images: Images, saved: Checkpoint, told: dict[str, Any]
    ) -> dict[str, Any]:
        """What a fit stores, by name; `told` goes to the estimator's fit as well."""
        windows = WindowRows(images, self.window, border=self.border)
        truth = checked_label_images(label_images, windows.images)
        labels = [image[windows.inside(number)].ravel() for number, image in enumerate(truth)]
        classes, counts = count_classes(labels, int(self.ignore_label))
        self._check_classes(classes)
        estimator = clone(self.estimator)
        unseeded = _unseeded(estimator)
        seeds = saved.begin_around(
            lambda: identity_of_labeler(self, unseeded, windows.images, truth),
            lambda: self._draw_seeds(1 + len(unseeded)),
            lambda: generator_state(self.random_state),
            n_seeds=1 + len(unseeded),
        )
        rng = np.random.default_rng(seeds[0])
        n_drawn = share_out(counts, int(self.n_windows), balance=bool(self.balance), rng=rng)
        pixels, y = draw_pixels(labels, classes, counts, n_drawn, rng)
        rows = windows.rows(windows.positions(pixels))
        scaler = standardize(rows, int(self.batch_size)) if self.standardize else None
        estimator.set_params(**dict(zip(unseeded, seeds[1:], strict=True)))
        options = {**told, "checkpoint": saved} if saved.has_path else told
        estimator = estimator.fit(rows, y, **options)
        _check_known(estimator.classes_, classes[n_drawn > 0])
        return {
            "estimator_": estimator,
            "scaler_": scaler,
            "classes_": classes,
            "sampling_factors_": sampling_factors(counts, n_drawn),
            "n_channels_": windows.n_channels,
            "window_": windows.window,
            "border_": windows.border,
        }

    def _draw_seeds(self, n_seeds: int) -> list[int]:
        """Seeds of the windows and of what the estimator leaves to chance."""
        random = check_random_state(self.random_state)
        return [int(random.randint(np.iinfo(np.int32).max)) for _ in range(n_seeds)]

    def predict_proba(self, images: Images) -> list[NDArray[np.float64]]:
        """Class probabilities of each pixel.

        Parameters
        ----------
        images : list of arrays of shape (height, width) or (height, width, channels)
            With as many channels as in ``fit``.

        Returns
        -------
        list of float64 ndarrays of shape (height, width, n_classes)
            In the order of ``classes_``; nan for pixels that have no window.
        """
        windows = self._windows(images)
        n_classes = len(self.classes_)
        found = [np.full((*np.shape(image)[:2], n_classes), np.nan) for image in windows.images]
        for positions, probabilities in self._answers(windows):
            _scatter(found, positions, probabilities)
        return found

    def predict(self, images: Images) -> list[NDArray[np.int64]]:
        """The most probable label of each pixel.

        Parameters
        ----------
        images : list of arrays of shape (height, width) or (height, width, channels)
            With as many channels as in ``fit``.

        Returns
        -------
        list of int64 ndarrays of shape (height, width)
            The first of equally probable labels; `ignore_label` for pixels that have no window.
        """
        return self._predict(self._windows(images))

    def score(self, images: Images, label_images: Images) -> float:
        """Class-average Jaccard score of the predicted labels, between 0 and 1.

        Parameters
        ----------
        images : list of arrays of shape (height, width) or (height, width, channels)
        label_images : list of integer arrays of shape (height, width)

        Returns
        -------
        float
            Over all pixels that have a window and a label other than `ignore_label`.
        """
        windows = self._windows(images)
        labels = checked_label_images(label_images, windows.images)
        return class_average_jaccard(labels, self._predict(windows), ignore=self.ignore_label)

    def _predict(self, windows: WindowRows) -> list[NDArray[np.int64]]:
        found = [
            np.full(np.shape(image)[:2], self.ignore_label, dtype=np.int64)
            for image in windows.images
        ]
        for positions, probabilities in self._answers(windows):
            _scatter(found, positions, self.classes_[probabilities.argmax(axis=1)])
        return found

    def _answers(
        self, windows: WindowRows
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Positions of all eligible pixels and their class probabilities, block by block."""
        # A class that was not drawn is unknown to the classifier and has no chance.
        known = np.searchsorted(self.classes_, self.estimator_.classes_)
        for positions, rows in windows.blocks(self.batch_size):
            if self.scaler_ is not None:
                scale_columns(self.scaler_, rows)
            probabilities = np.zeros((len(rows), len(self.classes_)))
            probabilities[:, known] = self.estimator_.predict_proba(rows)
            if self.reweight:
                probabilities = undo_sampling(probabilities, self.sampling_factors_)
            yield positions, probabilities

    def _windows(self, images: Images) -> WindowRows:
        """Windows of images to predict."""
        check_is_fitted(self)
        self._check_reading()
        windows = WindowRows(images, self.window_, border=self.border_)
        if windows.n_channels != self.n_channels_:
            raise ValueError(
                f"images have {windows.n_channels} channels but {self.n_channels_} in fit; give "
                "images of the same kind; try image.mean(axis=2) in both to make them grey."
            )
        return windows

    def _check_parameters(self) -> None:
        """Raise if a constructor value is of no use."""
        check_window(self.window)
        check_integer("n_windows", self.n_windows, minimum=1, example="100_000")
        check_choice("border", self.border, BORDERS)
        for name in ("balance", "standardize"):
            check_boolean(name, getattr(self, name))
        self._check_reading()
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator={self.estimator!r} cannot give class probabilities; give a classifier "
                "that has predict_proba; try RandomForestClassifier()."
            )

    def _check_reading(self) -> None:
        """Raise if a constructor value that predictions read is of no use."""
        check_boolean("reweight", self.reweight)
        check_label("ignore_label", self.ignore_label)
        check_integer("batch_size", self.batch_size, minimum=1, example="20_000")

    def _check_can_resume(self) -> None:
        """Raise unless the estimator can go on from a checkpoint, before there is a file."""
        if not isinstance(self.estimator, Model):
            raise TypeError(
                f"checkpoint is given, but estimator is a {type(self.estimator).__name__}, whose "
                "fit cannot be resumed; give an unfitted classifier of spinney that takes "
                "checkpoint in fit; try checkpoint=None."
            )
        clone(self.estimator)._check_parameters()

    def _check_callback(self, callback: object) -> None:
        """Raise unless the estimator can be given the callback."""
        check_callback(callback)
        if callback is not None and not isinstance(self.estimator, Model):
            raise TypeError(
                f"callback was given, but estimator={type(self.estimator).__name__} takes none; "
                "give an estimator of spinney; try TAOForestClassifier."
            )

    def _check_classes(self, classes: NDArray[np.int64]) -> None:
        """Raise unless there are pixels to train on, and windows for each class."""
        if len(classes) == 0:
            raise ValueError(
                f"no pixel that has a window has a label other than {self.ignore_label}; give at "
                "least one labelled pixel; try a smaller window, or another ignore_label."
            )
        if self.balance and self.n_windows < len(classes):
            raise ValueError(
                f"n_windows={self.n_windows} is less than one a class; give at least "
                f"{len(classes)}, the number of classes; try n_windows=100_000."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


def _unseeded(estimator: Any) -> list[str]:
    """Names of each ``random_state`` within an estimator that is None."""
    return [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]


def _check_known(found: NDArray[Any], drawn: NDArray[np.int64]) -> None:
    """Raise if a classifier, fitted elsewhere and frozen, knows a class that was not drawn."""
    if not np.isin(found, drawn).all():
        raise ValueError(
            f"estimator knows the classes {np.asarray(found).tolist()} but windows were drawn of "
            f"{drawn.tolist()}; give one that knows no others; try an estimator that is not frozen."
        )


def _scatter(
    images: list[NDArray[Any]], positions: NDArray[np.int64], values: NDArray[Any]
) -> None:
    """Write values to the positions (image, row, column) they belong to; images in order."""
    numbers, starts = np.unique(positions[:, 0], return_index=True)
    ends = [*starts[1:], len(positions)]
    for number, start, end in zip(numbers, starts, ends, strict=True):
        part = slice(start, end)
        images[number][positions[part, 1], positions[part, 2]] = values[part]
