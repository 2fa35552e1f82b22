"""Scikit-learn estimators for averaged FAO forests.

They validate, build a problem and a plan, call :func:`spinney.ensembles.averaging.average_forests`,
and store what came back. No algorithm lives here.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from spinney import _core
from spinney.algorithms.fao import FAOOptions, OptimizedForest
from spinney.algorithms.state import ForestRun
from spinney.data import Problem
from spinney.data.checks import check_boolean, check_integer, check_real
from spinney.ensembles.averaging import AveragingPlan, ForestSaving, average_forests
from spinney.ensembles.calibration import FEW_FORESTS
from spinney.ensembles.copies import GappedCopies
from spinney.ensembles.given_starts import (
    check_forest_init,
    given_starts,
    is_forest,
    is_forest_word,
)
from spinney.estimators.additive import SummedClassifier, SummedForest, SummedRegressor
from spinney.estimators.fao_forests import FittedForests, Iterations
from spinney.estimators.held_out import HeldOut
from spinney.estimators.parameters import check_alpha, check_copies
from spinney.fitting.events import model_so_far
from spinney.fitting.progress import FitEvent
from spinney.fitting.validation_curve import Judged, LossWatch
from spinney.tree.forest import Forest


class _FAOForest(SummedForest):
    """What both estimators share: the plan, the growing, and going on with new rows."""

    _is_refit = False
    _weights_val: NDArray[np.float64] | None = None  # of validation rows; None counts each once
    _parts = "n_forests"

    def refit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[FitEvent], bool | None] | None = None,
    ) -> Self:
        """Go on from the fitted forests on other rows.

        Every forest is optimised for up to `max_iter` more iterations from where it is. As data are
        collected this takes a fraction of a new fit. Every node stays: leaves that no given row
        reaches keep their values, and splits that the rows do not need keep their hyperplanes, so
        that later rows find them again. Where rows do go, what they do not show is forgotten: give
        old and new rows together, or new rows that are many. `max_weights` holds from the first
        iteration on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
            Training rows: new ones, or old and new together.
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs)
            Classes, all of which are known from ``fit``, or numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight k counts a row k times, weight 0 leaves it out. None counts each row once.
        X_val, y_val : array-like or None, default=None
            Validation rows, as in ``fit``. With `early_stopping` they are needed unless the
            training rows are those of ``fit``: rows set aside from others may have been trained on.
        checkpoint : str, path or None, default=None
            File that the work is saved to as it goes on. The same call after a crash, a kill or
            Ctrl-C, on the same fitted forests, goes on from there and ends in the same model, bit
            for bit. See `docs/guide/checkpoints.md`.
        callback : callable or None, default=None
            As in ``fit``. Forests after the one at which it stops stay as they are.

        Returns
        -------
        self
            An error or an interrupt leaves the estimator exactly as it was.
        """
        check_is_fitted(self, "forest_")
        going_on = copy.copy(self)
        going_on._is_refit = True
        going_on._transact(
            X, y, sample_weight, X_val, y_val, checkpoint=checkpoint, callback=callback
        )
        del going_on._is_refit
        self.__dict__ = going_on.__dict__
        return self

    def _fit_judged(self, rows: HeldOut) -> Self:
        """Fit to one part of weighted rows, and be judged on the other."""
        self._weights_val = rows.weights_held
        return self.fit(rows.X_fit, rows.y_fit, rows.weights, X_val=rows.X_held, y_val=rows.y_held)

    def _judged(self, X_val: ArrayLike, y_val: ArrayLike) -> Judged:
        judged = super()._judged(X_val, y_val)
        return judged if self._weights_val is None else judged._replace(weights=self._weights_val)

    def _is_continued(self) -> bool:
        return self._is_refit or super()._is_continued()

    def _n_parts(self) -> int:
        return 0 if self._is_refit else self.n_forests_

    def _call(self) -> str:
        return "refit" if self._is_refit else super()._call()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_alpha(self.alpha)
        check_boolean("early_stopping", self.early_stopping)
        check_integer("average_last", self.average_last, minimum=1, example="7")
        check_copies(self.n_copies, self.dropout)
        if self.average_last > 1 and self.strict_descent:
            raise ValueError(
                f"average_last={self.average_last} with strict_descent={self.strict_descent!r}, "
                "but means of hyperplanes may raise the objective; give one of the two; try "
                "average_last=1."
            )
        if self.average_last > 1 and self.early_stopping:
            raise ValueError(
                f"average_last={self.average_last} with early_stopping=True, but hyperplanes are "
                "averaged at the end of a run, and stopping keeps an iteration before it; give one "
                "of the two; try early_stopping=False, and tune_fao for the other parameters."
            )
        if self._is_continued() and not self._is_refit:
            self._check_goes_on()

    def _check_init(self) -> None:
        check_integer("n_forests", self.n_forests, minimum=1, example="5")
        check_integer("n_trees", self.n_trees, minimum=1, example="10")
        check_forest_init(self.init, int(self.n_forests) * int(self.n_trees))

    def _check_goes_on(self) -> None:
        """Raise unless a warm start can add forests to those there are."""
        n_trees = self.forest_.n_trees // self.n_forests_
        if int(self.n_trees) != n_trees:
            raise ValueError(
                f"n_trees={self.n_trees} with warm_start=True, but the forests have {n_trees} "
                f"trees; give n_trees={n_trees}; try warm_start=False."
            )
        if int(self.n_forests) < self.n_forests_:
            raise ValueError(
                f"n_forests={self.n_forests} with warm_start=True, but there are "
                f"{self.n_forests_} forests; give at least as many; try warm_start=False."
            )
        self._check_same_loss()

    def _fresh_start(self) -> str:
        return "early_stopping=False, or a new fit" if self._is_refit else super()._fresh_start()

    def _stops_early(self) -> bool:
        return bool(self.early_stopping)

    def _may_grow(self) -> tuple[str, ...]:
        return ("n_forests",)  # a forest follows from the seed and its number

    def _grow_watched(self, problem: Problem, judged: Judged | None) -> None:
        plan = self._plan(problem)
        # Before any work, since it refuses rows that cannot be judged.
        watch = LossWatch(
            judged, problem.n_classes, self._loss(), np.zeros(problem.n_outputs), None
        )
        options = replace(
            self._forest_options(problem),
            keeps_iterations=judged is not None,
            average_last=int(self.average_last),
        )
        before = self._forests_before()
        forests = FittedForests([], before) if self._is_refit else FittedForests(before, [])
        first = len(forests.known)
        self._progress.begin(
            "iteration",
            options.max_iter,
            n_forests=plan.n_forests,
            first_forest=first,
            validation=watch.word,
        )
        saved = self._checkpoint.parts(OptimizedForest)[: plan.n_forests - first]
        is_watched = self._progress.is_watched
        grown = average_forests(
            problem,
            self._start(),
            options,
            plan,
            first,
            self.n_jobs,
            self._saving(first, range(first + len(saved), plan.n_forests)),
            Iterations(self, forests, watch, problem) if is_watched else None,
            saved,
        )
        # Closed also if a callback fails or Ctrl-C comes between two forests.
        with closing(grown):
            self._take(grown, len(saved), forests, problem)
        self._store_forests(forests, problem, watch if judged is not None else None)
        # The trees of a refit may know any of its rows.
        if judged is not None or not self._is_refit:
            self._calibrate_by(problem, judged)

    def _scores_apart(self, problem: Problem, rows: _core.Rows) -> NDArray[np.float64]:
        """Scores of rows by a few forests of another task; given trees may know these rows."""
        n_forests = min(self.n_forests_, FEW_FORESTS)
        plan = replace(self._plan(problem), n_forests=n_forests, given=(), grown=())
        options = self._forest_options(problem)
        grown = average_forests(problem, self._start(), options, plan, n_jobs=self.n_jobs)
        trees = [tree for forest in grown for tree in forest.trees]
        weights = np.full(len(trees), 1.0 / n_forests)
        return Forest(tuple(trees)).sums(rows, weights, n_threads=self._n_threads())

    def _forests_before(self) -> list[OptimizedForest]:
        """Forests of the last fit, if this one goes on from it."""
        if not self._is_continued():
            return []
        n_trees = self.forest_.n_trees // self.n_forests_
        return [
            OptimizedForest(self.trees_[number * n_trees : (number + 1) * n_trees], trace)
            for number, trace in enumerate(self.traces_)
        ]

    def _saving(self, first: int, missing: range) -> ForestSaving:
        """Where forests were when an earlier fit was interrupted, and who takes their states."""
        return ForestSaving(
            {first + number: run for number, run in self._checkpoint.runs(ForestRun).items()},
            {
                forest: saver
                for forest in missing
                if (saver := self._checkpoint.saver(forest - first)) is not None
            },
        )

    def _take(
        self,
        grown: Iterable[OptimizedForest],
        n_saved: int,
        forests: FittedForests,
        problem: Problem,
    ) -> None:
        """Take forests as they are done, until a callback wants no more."""
        for forest in grown:
            forests.found.append(forest)
            if self._progress.is_stopped:
                return  # it may not be whole, and is no part of the checkpoint
            if len(forests.found) > n_saved:
                self._checkpoint.add(forest)
            snapshot = model_so_far(self, lambda model: model._store_forests(forests, problem))
            if self._progress.end_forest(snapshot):
                return

    def _store_forests(
        self, forests: FittedForests, problem: Problem, watch: LossWatch | None = None
    ) -> None:
        """Set the attributes that describe the forests; with `watch`, as it judges them."""
        best: int | None = None
        self.__dict__.pop("validation_losses_", None)
        if watch is not None:
            forests.judge(watch, self._n_threads())
            self._store_watched("validation_losses_", watch.errors)
            if self.early_stopping:
                best = forests.best(watch.errors, int(self.max_weights or 0))
        trees = forests.trees_at(best)
        traces = forests.traces
        self.n_forests_ = len(traces)
        self._store_forest(trees, traces, problem, np.ones(len(trees)))
        lengths = [trace.phase.count("leaves") for trace in traces]
        self.n_iter_ = max(lengths) if best is None else best + 1
        self._fitted_loss = self.loss

    def _plan(self, problem: Problem) -> AveragingPlan:
        copies = GappedCopies(int(self.n_copies), float(self.dropout))
        if not self._is_refit:
            n_forests, n_trees = int(self.n_forests), int(self.n_trees)
            kind = str(self.init) if is_forest_word(self.init) else "own"
            grown = given_starts(self.init, n_forests, n_trees, problem.n_features, self.split)
            return AveragingPlan(self._seed, n_forests, n_trees, (), kind, grown, copies)
        given = tuple(forest.trees for forest in self._forests_before())
        return AveragingPlan(self._seed, self.n_forests_, len(given[0]), given, copies=copies)

    def _tree_init(self) -> object:
        """How a single tree starts, where the forest does not start from grown trees."""
        is_grown = is_forest_word(self.init) or is_forest(self.init)
        return "supervised" if is_grown else self.init

    def _tree_weights(self) -> NDArray[np.float64]:
        return np.full(self.forest_.n_trees, 1.0 / self.n_forests_)


class FAOForestClassifier(_FAOForest, SummedClassifier):
    """Forests optimised jointly over all their trees, averaged.

    Each forest is a sum of `n_trees` trees and minimises one objective over all their splits and
    leaves. A few such forests from different random starts are averaged, since one alone fits
    its training rows too closely.

    Parameters
    ----------
    n_forests : int, default=5
        Forests that are averaged; the paper's Q.
    n_trees : int, default=10
        Trees of each forest; the paper's T.
    max_depth : int or None, default=6
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes; the paper's λ.
    leaf_alpha : float, default=1.0
        Weight of the penalty on the leaves; the paper's μ.
    leaf_penalty : {"l1", "l2"}, default="l2"
        Absolute or squared leaf values. With "l1" many are zero, and all leaves of all trees are
        solved as a Lasso where the loss is squared.
    shrink_to : float, default=0.0
        Score of every class, from 0 to 1, towards which the penalty on the leaves shrinks. At 0,
        a row in small leaves is scored as what is wanted of other classes; further up it is
        undecided. 0 for ``loss="log_loss"``, which no constant changes.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective.
    max_weights : int or None, default=None
        Most features a split may use. None leaves sparsity to `alpha`.
    split : {"oblique", "axis", "mixed"}, default="oblique"
        Hyperplanes over all features; one feature a split; or trees of both kinds in turn.
    loss : {"squared_hinge", "squared_error", "log_loss"}, default="squared_hinge"
        Loss of the class scores that the trees of a forest give together. The paper has squared
        errors to one-hot targets. The squared hinge asks a score only to be on the right side of
        its target: rows that are safe do not care where a split sends them, and forests
        generalise far better.
    init : str, RandomStructure, Tree, fitted tree or fitted forest, default="supervised"
        The start of each tree, as in :class:`TAOTreeClassifier`. Further words: "bagged" optimises
        each tree by itself on 90 % of the rows first, "boosted" boosts the trees of a forest
        first. Only the splits of these trees count: all leaves are fitted anew, together.
        "bagged_with_leaves" and "boosted_with_leaves" begin with what the trees say. A fitted
        forest of this library or of scikit-learn gives the splits of its trees, the first `n_trees`
        to the first forest and so on.
    max_iter : int, default=20
        Iterations: each tree once, then all leaves together.
    average_last : int, default=1
        Iterations at the end over which the hyperplanes of each split are averaged; then all
        leaves are fitted anew. They are noisy copies of one another, and their mean generalises
        better; a third of `max_iter` is a good choice. 1 takes the last ones as they are. Not
        with `strict_descent` or `early_stopping`.
    calibrate : bool, default=True
        Whether probabilities come from a factor of the scores that is fitted to rows which trees
        have not seen: validation rows, or else a fifth of the rows, held out of two forests at most
        for that purpose; where rows are few, each fifth in turn. `predict` answers the same, and no
        probability is 0. False gives the probabilities nearest to the scores. "log_loss" needs
        none: its scores are logarithms of probabilities.
    n_copies : int, default=0
        Further copies of each row that a forest is trained on, in which values are left out. They
        take as much time and memory as so many more rows, weigh no more than the rows alone, and
        make forests generalise better where 0 means nothing there: pixels, counts, words, flags.
        Each forest draws its own. A row of weight k then is no longer the same as k equal rows,
        whose copies have different gaps.
    dropout : float, default=0.2
        Share of the values of a copy that become 0.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
        Then no step raises it.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep over a tree.
    tol : float, default=1e-4
        Stop when iterations lower the loss (with `strict_descent` the objective) by less than this
        share; 0 never does.
    early_stopping : bool, default=False
        Keep the forests of the iteration at which their average has the least loss on validation
        rows: those given to ``fit``, or else a part of the training rows. One forest overfits
        long before `max_iter`, an average of many hardly does. All `max_iter` iterations are run,
        since only then the best is known. With `max_weights`, which is reached after up to 0.8 of
        them, one of those within the limit is kept.
    validation_fraction : float, default=0.1
        Part of the training rows set aside if `early_stopping` and no validation rows are given.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` keeps the forests it has and adds others up to `n_forests`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Forests at once, and threads of a prediction. None is one, -1 is all cores. Each of the
        forests at once holds copies of its own (`n_copies`).
    verbose : int, default=0
        1 shows a live bar of the iterations on stderr, 2 prints a line for each.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories: those that the frame or their text says; none; or names or
        numbers of columns, or one truth value a column.
    missing : {"fill", "error"}, default="fill"
        Of values to predict that are missing in columns that had none missing in training: fill
        them by the rule of the column, with a :class:`MissingValuesWarning`, or raise an error.
    importance_type : {"gain", "weight"}, default="gain"
        What `feature_importances_` sums: how much the splits on a column lower the loss of the
        training rows beyond chance, or its share in the weights of the splits.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees of all forests, those of the first forest first. Leaves hold class scores.
    forest_ : Forest
        The trees together, ready to predict.
    n_forests_ : int
        Number of forests.
    traces_ : list of Trace
        How each forest was optimised, one entry a step.
    validation_losses_ : ndarray of shape (n_iterations,)
        Mean loss of the average of the forests on the validation rows after each iteration; if
        there were any.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_, n_iter_ : int
        Number of classes, of targets (1), of columns, and of iterations: of the longest run, or
        those that early stopping kept.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    encoding_ : TableEncoding or None
        How columns became the coordinates that splits are over; None if X held numbers alone,
        none of them missing.
    typical_ : TypicalRow
        What is typical of each column in training: means and most frequent levels.
    stopped_by_callback_ : bool
        Whether a callback ended the fit.
    n_parameters_ : int
        Numbers the forests hold.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.
    probability_slope_ : float
        The map to probabilities, if `calibrate`: they are proportional to
        ``exp(probability_slope_ * s)`` for scores s. `probability_votes_` is 0.

    References
    ----------
    .. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests:
       Forest Alternating Optimization", CVPR 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import FAOForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = FAOForestClassifier(n_forests=2, n_trees=3, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_forests: int = 5,
        n_trees: int = 10,
        *,
        max_depth: int | None = 6,
        alpha: float = 0.1,
        leaf_alpha: float = 1.0,
        leaf_penalty: str = "l2",
        shrink_to: float = 0.0,
        ridge: float = 0.01,
        max_weights: int | None = None,
        split: str = "oblique",
        loss: str = "squared_hinge",
        init: object = "supervised",
        max_iter: int = 20,
        average_last: int = 1,
        calibrate: bool = True,
        n_copies: int = 0,
        dropout: float = 0.2,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        class_weight: object = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
        self.n_forests = n_forests
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.alpha = alpha
        self.leaf_alpha = leaf_alpha
        self.leaf_penalty = leaf_penalty
        self.shrink_to = shrink_to
        self.ridge = ridge
        self.max_weights = max_weights
        self.split = split
        self.loss = loss
        self.init = init
        self.max_iter = max_iter
        self.average_last = average_last
        self.calibrate = calibrate
        self.n_copies = n_copies
        self.dropout = dropout
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("shrink_to", self.shrink_to, minimum=0.0, example="0.25")
        if self.shrink_to > 1 or (self.shrink_to > 0 and self._loss().ignores_shifts):
            raise ValueError(
                f"shrink_to={self.shrink_to!r} with loss={self.loss!r}; give a number from 0 to 1, "
                'and 0 with loss="log_loss"; try shrink_to=0.25.'
            )

    def _forest_options(self, problem: Problem, n_threads: int = 1) -> FAOOptions:
        options = super()._forest_options(problem, n_threads)
        return replace(options, shrink_to=float(self.shrink_to))

    def _known_classes(
        self, classes: NDArray[Any], codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """New rows need not hold all classes, but no new ones."""
        if not self._is_refit:
            return super()._known_classes(classes, codes)
        places = np.searchsorted(self.classes_, classes)
        is_known = np.isin(classes, self.classes_)
        if not is_known.all():
            raise ValueError(
                f"y holds the new classes {classes[~is_known].tolist()!r}; refit goes on from "
                f"forests of the classes {self.classes_.tolist()!r}; try fit with all rows."
            )
        return self.classes_, places.astype(np.int32)[codes]


class FAOForestRegressor(_FAOForest, SummedRegressor):
    """Forests optimised jointly over all their trees, averaged, for numbers.

    Parameters
    ----------
    n_forests : int, default=5
        Forests that are averaged; the paper's Q.
    n_trees : int, default=10
        Trees of each forest; the paper's T.
    max_depth : int or None, default=6
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes; the paper's λ.
    leaf_alpha : float, default=1.0
        Weight of the penalty on the leaves, about the mean of the targets and in units of their
        deviation; the paper's μ.
    leaf_penalty : {"l1", "l2"}, default="l2"
        Absolute or squared leaf values. With "l1" many are zero, and all leaves of all trees are
        solved as a Lasso where the loss is squared.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective.
    max_weights : int or None, default=None
        Most features a split may use. None leaves sparsity to `alpha`.
    split : {"oblique", "axis", "mixed"}, default="oblique"
        Hyperplanes over all features; one feature a split; or trees of both kinds in turn.
    loss : {"squared_error", "absolute_error", "huber"}, default="squared_error"
        Loss of what the trees of a forest give together.
    huber_delta : float, default=1.0
        Where Huber's loss becomes linear, in the unit of the targets.
    init : str, RandomStructure, Tree, fitted tree or fitted forest, default="supervised"
        The start of each tree, as in :class:`TAOTreeRegressor`. Further words: "bagged" optimises
        each tree by itself on 90 % of the rows first, "boosted" boosts the trees of a forest
        first. Only the splits of these trees count: all leaves are fitted anew, together.
        "bagged_with_leaves" and "boosted_with_leaves" begin with what the trees say. A fitted
        forest of this library or of scikit-learn gives the splits of its trees, the first `n_trees`
        to the first forest and so on.
    max_iter : int, default=20
        Iterations: each tree once, then all leaves together.
    average_last : int, default=1
        Iterations at the end over which the hyperplanes of each split are averaged; then all
        leaves are fitted anew. They are noisy copies of one another, and their mean generalises
        better; a third of `max_iter` is a good choice. 1 takes the last ones as they are. Not
        with `strict_descent` or `early_stopping`.
    n_copies : int, default=0
        Further copies of each row that a forest is trained on, in which values are left out. They
        take as much time and memory as so many more rows, weigh no more than the rows alone, and
        make forests generalise better where 0 means nothing there: pixels, counts, words, flags.
        Each forest draws its own. A row of weight k then is no longer the same as k equal rows,
        whose copies have different gaps.
    dropout : float, default=0.2
        Share of the values of a copy that become 0.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
        Then no step raises it.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep over a tree.
    tol : float, default=1e-4
        Stop when iterations lower the loss (with `strict_descent` the objective) by less than this
        share; 0 never does.
    early_stopping : bool, default=False
        Keep the forests of the iteration at which their average has the least loss on validation
        rows: those given to ``fit``, or else a part of the training rows. One forest overfits
        long before `max_iter`, an average of many hardly does. All `max_iter` iterations are run,
        since only then the best is known. With `max_weights`, which is reached after up to 0.8 of
        them, one of those within the limit is kept.
    validation_fraction : float, default=0.1
        Part of the training rows set aside if `early_stopping` and no validation rows are given.
    warm_start : bool, default=False
        If True, ``fit`` keeps the forests it has and adds others up to `n_forests`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Forests at once, and threads of a prediction. None is one, -1 is all cores. Each of the
        forests at once holds copies of its own (`n_copies`).
    verbose : int, default=0
        1 shows a live bar of the iterations on stderr, 2 prints a line for each.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are categories: those that the frame or their text says; none; or names or
        numbers of columns, or one truth value a column.
    missing : {"fill", "error"}, default="fill"
        Of values to predict that are missing in columns that had none missing in training: fill
        them by the rule of the column, with a :class:`MissingValuesWarning`, or raise an error.
    importance_type : {"gain", "weight"}, default="gain"
        What `feature_importances_` sums: how much the splits on a column lower the loss of the
        training rows beyond chance, or its share in the weights of the splits.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees of all forests, those of the first forest first. A forest is their sum.
    forest_ : Forest
        The trees together, ready to predict.
    n_forests_ : int
        Number of forests.
    traces_ : list of Trace
        How each forest was optimised, one entry a step.
    validation_losses_ : ndarray of shape (n_iterations,)
        Mean loss of the average of the forests on the validation rows after each iteration; if
        there were any.
    n_outputs_, n_features_in_, n_iter_ : int
        Number of targets, of columns, and of iterations: of the longest run, or those that early
        stopping kept.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    encoding_ : TableEncoding or None
        How columns became the coordinates that splits are over; None if X held numbers alone,
        none of them missing.
    typical_ : TypicalRow
        What is typical of each column in training: means and most frequent levels.
    stopped_by_callback_ : bool
        Whether a callback ended the fit.
    n_parameters_ : int
        Numbers the forests hold.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.

    References
    ----------
    .. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests:
       Forest Alternating Optimization", CVPR 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import FAOForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = FAOForestRegressor(n_forests=2, n_trees=3, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.4)
    True
    """

    def __init__(
        self,
        n_forests: int = 5,
        n_trees: int = 10,
        *,
        max_depth: int | None = 6,
        alpha: float = 0.1,
        leaf_alpha: float = 1.0,
        leaf_penalty: str = "l2",
        ridge: float = 0.01,
        max_weights: int | None = None,
        split: str = "oblique",
        loss: str = "squared_error",
        huber_delta: float = 1.0,
        init: object = "supervised",
        max_iter: int = 20,
        average_last: int = 1,
        n_copies: int = 0,
        dropout: float = 0.2,
        strict_descent: bool | str = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: object = "from_dtype",
        missing: str = "fill",
        importance_type: str = "gain",
    ) -> None:
        self.n_forests = n_forests
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.alpha = alpha
        self.leaf_alpha = leaf_alpha
        self.leaf_penalty = leaf_penalty
        self.ridge = ridge
        self.max_weights = max_weights
        self.split = split
        self.loss = loss
        self.huber_delta = huber_delta
        self.init = init
        self.max_iter = max_iter
        self.average_last = average_last
        self.n_copies = n_copies
        self.dropout = dropout
        self.strict_descent = strict_descent
        self.order = order
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.missing = missing
        self.importance_type = importance_type
