"""What becomes of the leaves that a row reaches, as those who explain or show a model ask for it.

The estimators make it; explanations and reports, which lie below them, know it by this shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.tree.forest import Forest
from spinney.tree.structure import Tree

Floats = NDArray[np.float64]


class Readout(Protocol):
    """How the trees of a forest become a prediction; every estimator makes one."""

    @property
    def forest(self) -> Forest:
        """The trees."""

    @property
    def says(self) -> str:
        """What a tree adds: a vote for its "label", its "outputs" or its "probabilities"."""

    @property
    def finish(self) -> str:
        """What becomes of the totals, a word of `spinney.estimators.readout`."""

    @property
    def tree_weights(self) -> Floats:
        """What each tree counts."""

    @property
    def offsets(self) -> Floats:
        """What is added to the sum over the trees."""

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels, None for numbers."""

    @property
    def reject_label(self) -> object:
        """Label of rows whose best classes tie, or None."""

    @property
    def is_flat(self) -> bool:
        """Whether a prediction of numbers is one number a row."""

    def finished(self, totals: Floats) -> Floats:
        """Probabilities or numbers."""

    def labels(self, totals: Floats) -> NDArray[Any]:
        """Class of each row."""


def holds_scores(trees: Iterable[Tree]) -> bool:
    """Whether leaves of these trees hold scores of classes to add up, and not class fractions.

    The answer is of use for classifiers alone. Linear leaves give scores.
    """
    return not all(
        not tree.is_linear
        and bool((tree.leaf_values >= 0).all())
        and np.allclose(tree.leaf_values.sum(axis=1), 1.0)
        for tree in trees
    )
