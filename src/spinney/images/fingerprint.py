"""Which fit a call of ``PixelLabeler.fit`` is, in a form that can be compared.

Images count by the values that windows would have, in any container. The parameters of the
classifier inside are compared when its own fit begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from spinney.fitting.checkpoint import Identity
from spinney.fitting.fingerprint import described_generator, described_value, digest
from spinney.images.validation import Images


def identity_of_labeler(
    labeler: BaseEstimator,
    unseeded: list[str],
    images: Images,
    label_images: Sequence[NDArray[Any]],
) -> Identity:
    """What decides which windows are drawn, and of which classifier.

    Parameters
    ----------
    labeler : PixelLabeler
    unseeded : list of str
        Parameters of its classifier that are drawn.
    images : sequence of arrays
    label_images : sequence of integer arrays
    """
    from spinney import __version__

    parameters = labeler.get_params(deep=False)
    estimator, random_state = parameters.pop("estimator"), parameters.pop("random_state")
    described = {name: described_value(name, value) for name, value in parameters.items()}
    described["estimator"] = {"shown": f"a {type(estimator).__name__}", "drawn": unseeded}
    described["random_state"] = described_generator(random_state)
    facts = {
        "n_images": len(images),
        "images": digest(*(np.asarray(image, dtype=np.float32) for image in images)),
        "labels": digest(*(np.asarray(image, dtype=np.int64) for image in label_images)),
    }
    return Identity(__version__, type(labeler).__name__, described, facts)
