"""From the leaves that a row reaches to a prediction: the one way, and as data.

A prediction is a short sum over the trees. A `Readout` says which: what a tree adds for a row, what
that counts, what is added at the end, and how the totals become labels, probabilities or numbers.
Estimators make it when they are asked, and it is no part of their state; predictions, stages, rows
out of the bag, explanations, reports, compiled models and exports all go through it.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020, section 4.
.. [2] Gabidolla, Zharmagambetov and Carreira-Perpiñán, "Improved multiclass AdaBoost using sparse
   oblique decision trees", IJCNN 2022, algorithm 1.
.. [3] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023, section 4.
.. [4] Ho, "Random Decision Forests", ICDAR 1995, section 4: g_c(x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.tree.forest import Forest
from spinney.tree.shares import nearest_shares, power_shares, softmax, vote_shares
from spinney.tree.structure import Tree
from spinney.tree.ties import is_tied, with_rejects

Says = Literal["label", "outputs", "probabilities"]
Finish = Literal["identity", "mean", "shares", "powers", "softmax", "nearest"]
Totals = NDArray[np.float64]

#: The score of a class that no training row of a linear leaf had is below this.
UNSEEN = -1e199


@dataclass(frozen=True, eq=False)
class Readout:
    """How the trees of a forest become a prediction.

    ============================ ======== ==================================================
    method                       takes    gives
    ============================ ======== ==================================================
    ``totals``                   rows     what the trees say together, weighted, with offsets
    ``said_by``, ``said_for``    rows     what one tree says, before it is weighted
    ``stages``                   rows     readout and totals of the first trees, one by one
    ``predict``                  rows     labels, or numbers: ``answers`` of ``totals``
    ``answers``, ``labels``      totals   labels, or numbers
    ``finished``                 totals   probabilities, or numbers
    ``decisions``                totals   of two classes the second less the first
    ============================ ======== ==================================================

    Parameters
    ----------
    forest : Forest
        The trees.
    says : {"label", "outputs", "probabilities"}
        What a tree adds for a row: a vote for the largest output of its leaf, the outputs, or the
        outputs with the scores of linear leaves turned into probabilities.
    finish : {"identity", "mean", "shares", "powers", "softmax", "nearest"}
        What becomes of the totals: nothing, their share of the number of trees, of their own sum,
        powers of the totals as shares of their sum, their softmax, or the nearest probabilities.
    tree_weights : float64 ndarray of shape (n_trees,)
        What each tree counts.
    offsets : float64 ndarray of shape (n_outputs,)
        What is added to the sum over the trees.
    classes : ndarray of shape (n_outputs,) or None
        Class labels; None if the totals are numbers to predict.
    reject_label : object or None
        Label of rows whose best classes tie; None gives them the first of these classes.
    is_flat : bool
        Whether a prediction of numbers has one number a row, and no second axis.
    slope : float
        The power of "powers", or the factor of the scores before "softmax".
    shared_votes : float
        Votes of a mean tree that are shared among the outputs before "powers".
    """

    forest: Forest
    says: Says
    finish: Finish
    tree_weights: NDArray[np.float64]
    offsets: NDArray[np.float64]
    classes: NDArray[Any] | None = None
    reject_label: object = None
    is_flat: bool = True
    slope: float = 1.0
    shared_votes: float = 0.0

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    @property
    def n_trees(self) -> int:
        """Trees that are asked."""
        return len(self.tree_weights)

    @property
    def shift(self) -> float:
        """What is added to each total before "powers"."""
        # A heavier tree has as many votes as it weighs.
        vote = float(self.tree_weights.mean())
        return self.shared_votes * vote / len(self.offsets)

    @cached_property
    def is_moved(self) -> bool:
        """Whether there is anything to add; adding zeros would make 0 of -0."""
        return bool(self.offsets.any())

    @cached_property
    def native(self) -> _core.Readout:
        """The same in the core: for plain rows, single ones too."""
        return _core.Readout(self.forest.native, self.says, self.tree_weights, self.offsets)

    def calibrated(self, slope: float, shared_votes: float) -> Readout:
        """The same answers with probabilities by a map that was fitted to unseen rows."""
        finish: Finish = "powers" if shared_votes > 0 else "softmax"
        return replace(self, finish=finish, slope=slope, shared_votes=shared_votes)

    def totals(self, rows: _core.Rows, n_threads: int = 1) -> Totals:
        """What the trees give each row together, of shape (n_rows, n_outputs)."""
        sums = self._sums(self.forest, rows, self.tree_weights, n_threads)
        return sums + self.offsets if self.is_moved else sums

    def said_by(self, tree: Tree, rows: _core.Rows, n_threads: int = 1) -> Totals:
        """What one tree says of each row, before it is weighted."""
        return self._sums(Forest((tree,)), rows, np.ones(1), n_threads)

    def said_for(self, tree: Tree, outputs: Totals) -> Totals:
        """What a tree says for outputs of its leaves, (n, n_outputs), before it is weighted."""
        if self.says == "label":
            votes: Totals = np.eye(tree.n_outputs)[outputs.argmax(axis=1)]
            return votes
        if self.says == "probabilities" and tree.is_linear:
            return softmax(outputs)
        return outputs

    def stages(self, rows: _core.Rows, n_threads: int = 1) -> Iterator[tuple[Readout, Totals]]:
        """The readout and the totals of the first tree, the first two, and so on."""
        sums = np.zeros((rows.n_rows, len(self.offsets)))
        for number, tree in enumerate(self.forest.trees):
            sums += self.tree_weights[number] * self.said_by(tree, rows, n_threads)
            first = replace(self, tree_weights=self.tree_weights[: number + 1])
            yield first, sums + self.offsets if self.is_moved else sums.copy()

    def predict(self, rows: _core.Rows, n_threads: int = 1) -> NDArray[Any]:
        """Labels or numbers of rows."""
        if self.classes is None or self.finish != "identity":
            return self.answers(self.totals(rows, n_threads))
        # One tree of class fractions: a label a leaf is far less to look at.
        best = self.forest.labels(rows, n_threads)[:, 0]
        labels: NDArray[Any] = self.classes[best]
        return labels

    def answers(self, totals: Totals) -> NDArray[Any]:
        """Labels or numbers from totals."""
        if self.classes is not None:
            return self.labels(totals)
        values = self.finished(totals)
        return values[:, 0] if self.is_flat else values

    def labels(self, totals: Totals) -> NDArray[Any]:
        """Class of each row; the first of those whose totals are the largest."""
        assert self.classes is not None
        labels: NDArray[Any] = self.classes[totals.argmax(axis=1)]
        if self.reject_label is None:
            return labels
        # Classes that share the largest g_c(x) are rejected in section 5 of [4].
        return with_rejects(labels, is_tied(totals), self.reject_label)

    def decisions(self, totals: Totals) -> Totals:
        """Totals as a decision function: of two classes the second less the first."""
        return totals[:, 1] - totals[:, 0] if totals.shape[1] == 2 else totals

    def finished(self, totals: Totals) -> Totals:
        """Probabilities, or the numbers to predict, of shape (n_rows, n_outputs)."""
        if self.finish == "mean":
            return totals / self.n_trees
        if self.finish == "powers":
            return power_shares(totals, self.shift, self.slope)
        if self.finish == "softmax":
            return softmax(self.slope * totals)
        return _FINISHES[self.finish](totals)

    def _sums(
        self, forest: Forest, rows: _core.Rows, weights: NDArray[np.float64], n_threads: int
    ) -> Totals:
        if self.says == "label":
            # sum_t alpha_t I(T_t(x) = k), the last line of [2]; TAO-c of [1] has all alpha_t = 1.
            return forest.votes(rows, weights, n_threads)
        # sum_t T_t(x) of [3]; the mean g_c(x) of [4], and that of TAO-l of [1], times their number.
        is_softmax = self.says == "probabilities"
        return forest.sums(rows, weights, is_softmax=is_softmax, n_threads=n_threads)


_FINISHES: dict[str, Callable[[Totals], Totals]] = {
    "identity": lambda totals: totals,
    "shares": vote_shares,
    "nearest": nearest_shares,
}


def finish_of(loss: str) -> Finish:
    """How class scores found by a loss become probabilities.

    The cross-entropy is a loss of the softmax of the scores. Other losses make scores estimates of
    one-hot targets, and the nearest probabilities are returned.
    """
    return "softmax" if loss == "log_loss" else "nearest"


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
