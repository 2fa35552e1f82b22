"""Scikit-learn estimators for averaged FAO forests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from spinney import _core
from spinney.algorithms.fao import OptimizedForest
from spinney.data import Problem
from spinney.data.checks import check_boolean, check_integer, check_real
from spinney.ensembles.averaging import AveragedForests, AveragingPlan
from spinney.ensembles.calibration import FEW_FORESTS
from spinney.ensembles.copies import GappedCopies
from spinney.ensembles.forest_set import ForestSet
from spinney.ensembles.given_starts import (
    check_forest_init,
    given_starts,
    is_forest,
    is_forest_word,
)
from spinney.estimators.additive import (
    calibrate,
    check_same_loss,
    fao_options,
    loss_of,
    sum_of_trees,
)
from spinney.estimators.construction import estimator, parameters
from spinney.estimators.parameter_checks import (
    REGRESSION_LOSSES,
    SCORE_LOSSES,
    check_alpha,
    check_copies,
)
from spinney.estimators.tao_parameters import TAOParameters, tree_start
from spinney.estimators.tasks import Classifier, Regressor
from spinney.estimators.validated import ValidatedForest
from spinney.fitting.fitted_record import fitted, is_curve, is_own_loss
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Callback, CheckpointPath, Session
from spinney.fitting.validation_curve import AverageWatch, Judged
from spinney.tree.forest import Forest
from spinney.tree.readout import Readout


def _divides_trees(value: Any, model: Any) -> bool:
    return type(value) is int and value >= 1 and len(model) % value == 0


@parameters
class FAOForest(ValidatedForest, TAOParameters):
    """Forests that are each optimised jointly over all their trees, and averaged.

    Parameters
    ----------
    n_forests : int, default=5
        Forests that are averaged; the paper's Q.
    n_trees : int, default=10
        Trees of each forest; the paper's T.
    """

    n_forests: int = field(default=5, kw_only=False)
    n_trees: int = field(default=10, kw_only=False)
    max_depth: int | None = 6
    leaf_alpha: float = 1.0
    leaf_penalty: str = "l2"
    max_iter: int = 20
    average_last: int = 1
    n_copies: int = 0
    dropout: float = 0.2
    early_stopping: bool = False
    leaf: str = field(default="constant", init=False)
    max_leaf_weights: int | None = field(default=None, init=False)
    relax_leaves: bool = field(default=False, init=False)

    n_forests_: int = fitted("a divisor of the number of trees", _divides_trees)
    validation_losses_: NDArray[np.float64] = fitted(
        "a finite number a round", is_curve, is_required=False
    )
    _fitted_loss: str = fitted("a loss of these forests", is_own_loss)
    _is_additive: ClassVar[bool] = True
    _counted_by: ClassVar[str] = "n_forests"

    def refit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        checkpoint: CheckpointPath | None = None,
        callback: Callback | None = None,
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
        data, refit = (X, y, sample_weight, X_val, y_val), type(self)._refit
        return self._transact(data, refit, call="refit", checkpoint=checkpoint, callback=callback)

    def _check_own(self) -> None:
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

    def _check_init(self) -> None:
        check_integer("n_forests", self.n_forests, minimum=1, example="5")
        check_integer("n_trees", self.n_trees, minimum=1, example="10")
        check_forest_init(self.init, int(self.n_forests) * int(self.n_trees))

    def _check_goes_on(self, session: Session) -> None:
        """Raise unless a warm start can add forests to those there are; a refit adds none."""
        if session.call == "refit":
            return
        n_trees = len(self) // self.n_forests_
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
        check_same_loss(self)

    def _tree_init(self) -> object:
        """What a single tree starts from, where the forest does not start from grown trees."""
        is_grown = is_forest_word(self.init) or is_forest(self.init)
        return "supervised" if is_grown else self.init

    def _n_known(self, session: Session) -> int:
        return self.n_forests_ if session.goes_on and session.call == "fit" else 0

    def _fit(self, session: Session, *data: Any) -> None:
        """Add forests to those of the last fit, if this one goes on from it."""
        problem, judged = self._read_with_validation(session, *data)
        n_forests, n_trees = int(self.n_forests), int(self.n_trees)
        kind = str(self.init) if is_forest_word(self.init) else "own"
        grown = given_starts(
            self.init, n_forests, n_trees, problem.n_features, self.split, self._coordinate_columns
        )
        plan = AveragingPlan(self._seed, n_forests, n_trees, (), kind, grown, self._copies())
        known = self._fitted_forests() if session.goes_on else []
        recipe = self._optimise(session, problem, judged, plan, ForestSet(known, []))
        self._calibrate(recipe, problem, judged)

    def _refit(self, session: Session, *data: Any) -> None:
        """Optimise every forest further from where it is."""
        problem, judged = self._read_with_validation(session, *data)
        before = self._fitted_forests()
        given = tuple(forest.trees for forest in before)
        n_forests, n_trees = len(given), len(given[0])
        plan = AveragingPlan(self._seed, n_forests, n_trees, given, copies=self._copies())
        recipe = self._optimise(session, problem, judged, plan, ForestSet([], before))
        if judged is not None:  # else the trees may know any of these rows
            self._calibrate(recipe, problem, judged)

    def _copies(self) -> GappedCopies:
        return GappedCopies(int(self.n_copies), float(self.dropout))

    def _fitted_forests(self) -> list[OptimizedForest]:
        """Forests of the last fit."""
        n_trees = len(self) // self.n_forests_
        return [
            OptimizedForest(self.trees_[number * n_trees : (number + 1) * n_trees], trace)
            for number, trace in enumerate(self.traces_)
        ]

    def _options(self) -> dict[str, Any]:
        """Options of the joint optimisation that not all estimators have."""
        return {"average_last": int(self.average_last)}

    def _optimise(
        self,
        session: Session,
        problem: Problem,
        judged: Judged | None,
        plan: AveragingPlan,
        forests: ForestSet,
    ) -> AveragedForests:
        """Optimise the forests of a plan, store them, and return their recipe."""
        options = fao_options(self, problem, keeps_iterations=judged is not None, **self._options())
        start = tree_start(self, getattr(self, "classes_", None))
        recipe = AveragedForests(start, options, plan, self.n_jobs)
        watch = AverageWatch(
            forests, judged, problem.n_classes, loss_of(self), problem.n_outputs, self._n_threads()
        )
        n_known = len(forests.known)

        def store(model: FAOForest, parts: Sequence[OptimizedForest]) -> None:
            model._store(forests.with_found(parts[n_known:]), problem)

        parts = fit_parts(recipe, problem, session, self, store, forests.known, watch)
        done = forests.with_found(parts[n_known:])
        watch.judge_iterations(done)
        self._store_curve("validation_losses_", watch.errors)
        best = done.best(watch.errors, int(self.max_weights or 0)) if self.early_stopping else None
        self._store(done, problem, best)
        return recipe

    def _store(self, forests: ForestSet, problem: Problem, iteration: int | None = None) -> None:
        """Set the attributes that describe the forests after an iteration; None is the last."""
        trees = forests.trees_at(iteration)
        self.forest_ = Forest(tuple(trees))
        self._describe(trees, problem, np.ones(len(trees)))
        self.traces_ = forests.traces
        self.n_forests_ = len(self.traces_)
        lengths = [trace.phase.count("leaves") for trace in self.traces_]
        self.n_iter_ = max(lengths) if iteration is None else iteration + 1
        self._fitted_loss = self.loss

    def _calibrate(self, recipe: AveragedForests, problem: Problem, judged: Judged | None) -> None:
        """Fit the map to probabilities, if classes are predicted."""
        n_forests = min(self.n_forests_, FEW_FORESTS)

        def scores_apart(part: Problem, rows: _core.Rows) -> NDArray[np.float64]:
            trees = [tree for forest in recipe.few(n_forests).parts(part) for tree in forest.trees]
            weights = np.full(len(trees), 1.0 / n_forests)
            return Forest(tuple(trees)).sums(rows, weights, n_threads=self._n_threads())

        calibrate(self, problem, judged, scores_apart)

    def _readout(self) -> Readout:
        weights = np.full(len(self), 1.0 / self.n_forests_)
        return sum_of_trees(self, weights, np.zeros(self.forest_.n_outputs))


@estimator
class FAOForestClassifier(Classifier, FAOForest):
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
        Hyperplanes over all features; one column a split, with a threshold or a set of levels; or
        trees of both kinds in turn.
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

    loss: str = "squared_hinge"
    shrink_to: float = 0.0

    _losses: ClassVar[tuple[str, ...]] = SCORE_LOSSES

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of the classes.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
            With two classes of shape (n_rows,): the score of the second less that of the first.
        """
        scores = self._totals(X)
        return self._kept_readout().decisions(scores)

    def _check_own(self) -> None:
        check_real("shrink_to", self.shrink_to, minimum=0.0, example="0.25")
        if self.shrink_to > 1 or (self.shrink_to > 0 and loss_of(self).ignores_shifts):
            raise ValueError(
                f"shrink_to={self.shrink_to!r} with loss={self.loss!r}; give a number from 0 to 1, "
                'and 0 with loss="log_loss"; try shrink_to=0.25.'
            )

    def _options(self) -> dict[str, Any]:
        return super()._options() | {"shrink_to": float(self.shrink_to)}

    def _known_classes(
        self, session: Session, classes: NDArray[Any], codes: NDArray[np.int32]
    ) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """New rows need not hold all classes, but no new ones."""
        if session.call != "refit":
            return super()._known_classes(session, classes, codes)
        places = np.searchsorted(self.classes_, classes)
        is_known = np.isin(classes, self.classes_)
        if not is_known.all():
            raise ValueError(
                f"y holds the new classes {classes[~is_known].tolist()!r}; refit goes on from "
                f"forests of the classes {self.classes_.tolist()!r}; try fit with all rows."
            )
        return self.classes_, places.astype(np.int32)[codes]


@estimator
class FAOForestRegressor(Regressor, FAOForest):
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
        Hyperplanes over all features; one column a split, with a threshold or a set of levels; or
        trees of both kinds in turn.
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

    loss: str = "squared_error"
    huber_delta: float = 1.0

    _losses: ClassVar[tuple[str, ...]] = REGRESSION_LOSSES
