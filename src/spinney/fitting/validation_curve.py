"""Watch a forest on validation rows as it grows, to know its best number of trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from spinney import _core
from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.losses import ForestLoss
from spinney.data import Matrix, Problem, as_rows
from spinney.data.validation import check_known_labels, check_rows, check_targets
from spinney.ensembles.boosting import BoostedTree
from spinney.ensembles.forest_set import ForestSet
from spinney.ensembles.gradient import AddedTree
from spinney.ensembles.seeds import VALIDATION, stream
from spinney.tree.route import outputs
from spinney.tree.structure import Tree


class Judged(NamedTuple):
    """Rows to judge by: codes of unknown classes are -1 and always count as wrong.

    Numbers are in the unit that the user gave them in.
    """

    rows: _core.Rows
    targets: NDArray[np.int32] | NDArray[np.float64]
    weights: NDArray[np.float64]
    matrix: Matrix | None = None  # the rows once more, if the user gave them

    @property
    def values(self) -> tuple[Matrix | None, NDArray[np.int32] | NDArray[np.float64]]:
        """Rows and targets as plain values."""
        return self.matrix, self.targets


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Let errors say what they are about: checks call all rows X, and all targets y."""
    try:
        yield
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def given_classes(estimator: Any, X: ArrayLike, y: ArrayLike) -> Judged:
    """Validation rows that the user gave, with their classes."""
    with _errors_of("X_val"):
        rows = check_rows(estimator, X)
    with _errors_of("y_val"):
        labels: NDArray[Any] = column_or_1d(y)
        check_consistent_length(rows, labels)
    assert_all_finite(labels, input_name="y_val")
    with _errors_of("y_val"):
        check_classification_targets(labels)
    check_known_labels(estimator.classes_, labels)
    code_of = {label: code for code, label in enumerate(estimator.classes_.tolist())}
    codes = np.array([code_of.get(label, -1) for label in labels.tolist()], dtype=np.int32)
    return Judged(as_rows(rows), codes, np.ones(len(codes)), rows)


def given_numbers(estimator: Any, X: ArrayLike, y: ArrayLike) -> Judged:
    """Validation rows that the user gave, with their numbers."""
    with _errors_of("X_val"):
        rows = check_rows(estimator, X)
    with _errors_of("y_val"):
        targets = check_targets(y)
        check_consistent_length(rows, targets)
    assert_all_finite(targets, input_name="y_val")
    if targets.shape[1] != estimator.n_outputs_:
        raise ValueError(
            f"y_val has {targets.shape[1]} outputs but y has {estimator.n_outputs_}; give as many."
        )
    return Judged(as_rows(rows), targets, np.ones(len(targets)), rows)


def set_aside(problem: Problem, fraction: float, seed: int) -> tuple[Judged, NDArray[np.float64]]:
    """Part of the training rows to judge by, and the weights that leave them out of training.

    The same share of every class is set aside, at random.
    """
    n_rows, n_groups = problem.n_rows, max(problem.n_classes, 1)
    groups = problem.classes if problem.n_classes else np.zeros(n_rows, dtype=np.int32)
    shuffled = stream(seed, 0, VALIDATION).permutation(n_rows)
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    sizes = np.bincount(groups, minlength=n_groups)
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_aside = np.zeros(n_rows, dtype=np.bool_)
    n_aside = np.minimum(np.round(fraction * sizes), sizes - 1)  # every class is left to train on
    is_aside[order] = np.arange(n_rows) - firsts < np.repeat(n_aside, sizes)
    if not is_aside.any():
        among = f" in {problem.n_classes} classes" if problem.n_classes else ""
        raise ValueError(
            f"validation_fraction={fraction} of {n_rows} rows{among} "
            "leaves no row to validate; give a share that rounds to at least one of several rows "
            f"{'of a class' if problem.n_classes else ''}; try more rows, or X_val and y_val."
        )
    judged = np.where(is_aside, problem.sample_weight, 0.0)
    trained = np.where(is_aside, 0.0, problem.sample_weight)
    return Judged(problem.rows, problem.targets, judged), trained


class Watch:
    """What has been seen so far, and whether it has stopped falling.

    Parameters
    ----------
    patience : int or None
        Trees without progress after which growing is over; None never ends it.
    """

    word = "error"
    fewest = 1  # trees that are tried before patience may end
    judges_steps = False  # whether parts are judged at their steps, before they are done

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.errors: list[float] = []
        self.n_given = 0  # trees of an earlier fit, which patience does not count

    def see(self, part: Any) -> None:
        """Judge with one more part; by itself a watch has nothing to judge by."""

    def judged_with(self, parts: Sequence[Any]) -> float | None:
        """What would be seen with these parts, the last of which is not done yet."""

    def begin(self) -> None:
        """Count from here: what has been seen so far are trees that were there before."""
        self.n_given = len(self.errors)

    @property
    def best(self) -> int | None:
        """Number of trees with the least error, the fewest if several; None without patience."""
        if self.patience is None or not self.errors:
            return None
        return int(np.argmin(self.errors)) + 1

    @property
    def is_over(self) -> bool:
        """Whether the last `patience` trees, of those that are new, brought nothing."""
        if self.patience is None or self.best is None or len(self.errors) < self.fewest:
            return False
        return len(self.errors) - max(self.best, self.n_given) >= self.patience

    @property
    def last(self) -> float | None:
        """The last error, if there is one."""
        return self.errors[-1] if self.errors else None


class VoteWatch(Watch):
    """Error of a weighted vote after each tree.

    Of two trees the heavier one decides alone, so that only a third shows whether more help.

    Parameters
    ----------
    judged : Judged or None
        None watches nothing.
    n_classes : int
    patience : int or None
    """

    fewest = 3

    def __init__(
        self, judged: Judged | None, n_classes: int, patience: int | None, n_threads: int = 1
    ) -> None:
        super().__init__(patience)
        self.judged = judged
        self._n_threads = n_threads
        n_rows = 0 if judged is None else len(judged.targets)
        self._votes = np.zeros((n_rows, n_classes))

    def see(self, part: BoostedTree) -> None:
        """Add a tree to the vote."""
        if self.judged is None:
            return
        labels = outputs(part.tree, self.judged.rows, self._n_threads).argmax(axis=1)
        self._votes[np.arange(len(labels)), labels] += part.weight
        is_wrong = self._votes.argmax(axis=1) != self.judged.targets
        self.errors.append(float(np.average(is_wrong, weights=self.judged.weights)))


class LossWatch(Watch):
    """Mean loss of a growing sum after each tree, in the unit of the targets.

    Parameters
    ----------
    judged : Judged or None
        None watches nothing.
    n_classes : int
        0 for regression.
    loss : ForestLoss
    first : float64[n_outputs]
        The sum before the first tree.
    patience : int or None
    """

    word = "loss"

    def __init__(
        self,
        judged: Judged | None,
        n_classes: int,
        loss: ForestLoss,
        first: NDArray[np.float64],
        patience: int | None,
        n_threads: int = 1,
    ) -> None:
        super().__init__(patience)
        self.judged = judged
        self._n_threads = n_threads
        if judged is None:
            return
        self.loss = loss
        if n_classes:
            self._codes = judged.targets.astype(np.int32, copy=False)
            _check_all_known(self._codes)
            self._wanted = loss.wanted(self._codes, n_classes)
        else:
            self._codes = np.zeros(0, dtype=np.int32)
            self._wanted = judged.targets.astype(np.float64, copy=False)
        self._scores = np.tile(first, (len(self._wanted), 1))

    def see(self, part: AddedTree) -> None:
        """Add a tree to the sum."""
        if self.judged is None:
            return
        self._scores += outputs(part.tree, self.judged.rows, self._n_threads)
        self.judge(self._scores)

    def sum_of(self, trees: Sequence[Tree]) -> NDArray[np.float64]:
        """What trees give the rows together, (n_rows, n_outputs)."""
        assert self.judged is not None, "there are no rows to ask about"
        total = np.zeros_like(self._scores)
        for tree in trees:
            total += outputs(tree, self.judged.rows, self._n_threads)
        return total

    def judge(self, scores: NDArray[np.float64]) -> None:
        """Note the mean loss of scores of the rows."""
        self.errors.append(self.loss_of(scores))

    def loss_of(self, scores: NDArray[np.float64]) -> float:
        """Mean loss of scores of the rows."""
        assert self.judged is not None, "there are no rows to judge by"
        weights = self.judged.weights
        total = self.loss.total(self._wanted, scores, self._codes, weights)
        return total / float(weights.sum())


class AverageWatch(LossWatch):
    """Mean loss of an average of forests, after each of their iterations.

    Parameters
    ----------
    forests : ForestSet
        Those that stay as they are, or that the fit goes on from.
    *others, n_threads
        As of a LossWatch; averages start from nothing and are never over before their end.
    """

    def __init__(
        self,
        forests: ForestSet,
        judged: Judged | None,
        n_classes: int,
        loss: ForestLoss,
        n_outputs: int,
        n_threads: int = 1,
    ) -> None:
        super().__init__(judged, n_classes, loss, np.zeros(n_outputs), None, n_threads)
        self._forests = forests

    def see(self, part: object) -> None:
        """Forests are judged at their iterations, see `judge_iterations`."""

    @property
    def judges_steps(self) -> bool:  # type: ignore[override]
        """Whether there are rows to judge by."""
        return self.judged is not None

    def judged_with(self, parts: Sequence[OptimizedForest]) -> float:
        """Mean loss of the average of these forests and of those that are not come to yet."""
        present = self._forests.with_found(parts[len(self._forests.known) :])
        return self.loss_of(self.sum_of(present.trees_at(None)) / len(present.all))

    def judge_iterations(self, forests: ForestSet) -> None:
        """Note the loss of the average of all forests after each iteration of those found."""
        if self.judged is None:
            return
        longest = max((len(forest.iterations) for forest in forests.found), default=0)
        fixed = self.sum_of([tree for forest in forests.known for tree in forest.trees])
        moving = replace(forests, known=[])
        for iteration in range(longest):
            sums = self.sum_of(moving.trees_at(iteration))
            self.judge((fixed + sums) / len(forests.all))


def _check_all_known(codes: NDArray[np.int32]) -> None:
    """Raise if a class to validate by was not trained: no score would be its own."""
    if (codes < 0).any():
        row = int((codes < 0).argmax())
        raise ValueError(
            f"y_val[{row}] is a class that y does not hold; give rows of the training classes "
            "only; try dropping such rows."
        )
