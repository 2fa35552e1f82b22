"""The scikit-learn estimator for boosted TAO trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.data import Problem
from spinney.data.checks import check_boolean, check_choice
from spinney.ensembles.boosting import BoostedTree, BoostedTrees, BoostingRule, RoundWeights
from spinney.ensembles.calibration import (
    FEW_TREES,
    ProbabilityMap,
    Unseen,
    cross_fitted,
    map_of_votes,
)
from spinney.ensembles.copies import GappedCopies
from spinney.estimators.construction import estimator
from spinney.estimators.parameter_checks import CLASSIFICATION_LOSSES, check_copies
from spinney.estimators.tao_parameters import TAOParameters, tao_options, tree_start
from spinney.estimators.tasks import Classifier
from spinney.estimators.validated import BoostedForest
from spinney.fitting.fitted_record import are_weights, fitted, is_curve, numbers_of
from spinney.fitting.loop import fit_parts
from spinney.fitting.session import Session
from spinney.fitting.validation_curve import Judged, VoteWatch
from spinney.tree.forest import Forest
from spinney.tree.gains import GainRule
from spinney.tree.readout import Readout
from spinney.tree.shares import vote_shares

ALGORITHMS = ("samme", "m1")


@estimator
class TAOBoostClassifier(Classifier, BoostedForest, TAOParameters):
    """A small forest of boosted trees: SAMME or AdaBoost.M1 over TAO trees.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees, unless boosting stops before.
    max_depth : int or None, default=8
        Depth of each tree's start. None is for ``init="cart"`` only. A RandomStructure or a tree
        given as `init` has its own.
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of the rows; the
        papers' λ. The row weights of each tree sum to what the sample weights sum to, so that
        it means the same in every round.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective. More gives smoother and weaker trees.
    max_weights : int or None, default=None
        Most features a split may use. The optimiser begins with all and drops the least step by
        step. None leaves sparsity to `alpha`.
    max_leaf_weights : int or None, default=None
        The same for each class score or value of a linear leaf.
    split : {"oblique", "axis"}, default="oblique"
        Hyperplanes over all features; or one column a split, with a threshold or a set of levels,
        and a side for missing values.
    leaf : {"constant", "linear"}, default="constant"
        Class fractions in each leaf, or a sparse softmax model.
    leaf_alpha : float or None, default=None
        Weight of the penalty on linear leaves; the FAO paper's μ. None takes `alpha` for them,
        too. Constant leaves are labels and have none.
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves: `leaf_alpha` times the sum of absolute weights, or half of it
        times the sum of squares.
    relax_leaves : bool, default=False
        Refit linear leaves at the end on the features they use, without the penalty. It makes
        weights sparse, but also too short; forests of wide rows gain by undoing that.
    loss : {"zero_one", "log_loss"}, default="zero_one"
        Loss of a row. The weighted 0/1 loss is what boosting wants to be low.
    init : str, RandomStructure, Tree or fitted tree estimator, default="supervised"
        The start of each tree, as in :class:`TAOTreeClassifier`.
    max_sweeps : int, default=20
        Sweeps over each tree.
    strict_descent : bool or "sweep", default=False
        Accept a node (True) or a sweep over a tree ("sweep") only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop a tree when sweeps lower its objective by less than this share.
    algorithm : {"samme", "m1"}, default="samme"
        SAMME stops at a tree with a weighted error of 1 - 1/K or more, AdaBoost.M1 at 1/2.
    learning_rate : float, default=0.1
        Shrinkage of the trees' weights, from 1e-6 to 10; the papers' η.
    resample : bool, default=False
        Optimise each tree on rows drawn by their weights, instead of on the exact weights.
    n_copies : int, default=0
        Further copies of each row that a tree is optimised on, in which values are left out. They
        take as much time and memory as so many more rows, weigh no more than the rows alone, and
        make trees generalise better where 0 means nothing there: pixels, counts, words, flags.
        Each tree draws its own. A row of weight 2 then has one set of gaps, two rows have two.
    dropout : float, default=0.2
        Share of the values of a copy that become 0.
    calibrate : bool, default=True
        Whether probabilities come from a map that is fitted to what trees say of rows they have
        not seen: validation rows, or else a fifth of the rows, held out of a boosting of 10 trees
        at most for that purpose; where rows are few, each fifth in turn. `predict` answers the
        same, and no probability is 0. False gives shares of the vote as they are.
    early_stopping : bool or None, default=None
        Whether to stop when the error on validation rows no longer falls, and to keep the trees up
        to the best number; at least three are tried. Validation rows are those given to ``fit``,
        or else a part of the training rows. None does so if `n_iter_no_change` is given.
    n_iter_no_change : int or None, default=None
        Trees without a lower error after which to stop. None is 10.
    validation_fraction : float, default=0.1
        Part of the training rows set aside to stop by if no validation rows are given.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and boosts on to `n_estimators`.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads inside each tree and of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the rounds on stderr, 2 prints a line for each.
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
        The trees as plain arrays.
    forest_ : Forest
        The trees together, ready to predict.
    estimator_weights_, estimator_errors_ : ndarray of shape (n_trees,)
        Weight in the vote, and weighted training error, of each tree.
    traces_ : list of Trace
        How each tree was optimised.
    validation_errors_ : ndarray
        Error on the validation rows after each tree, also of trees not kept; if there were any.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_, n_iter_ : int
        Number of classes, of targets (1), of columns, and of trees.
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
        Numbers the forest holds.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in what the splits are good for, see `importance_type`.
    probability_slope_, probability_votes_ : float
        The map to probabilities, if `calibrate`: those of v weighted votes, in units of the mean
        weight of a tree, are proportional to
        ``(v + probability_votes_ / n_classes_) ** probability_slope_``.

    Notes
    -----
    A tree without training errors would get an infinite weight. Its error counts as that of half
    a row; the row weights stay as they are, and the next tree starts elsewhere. Boosting goes on.

    If the first tree is no better than chance it is kept as the whole forest, with a
    ``ConvergenceWarning``.

    References
    ----------
    .. [1] Gabidolla, Zharmagambetov and Carreira-Perpiñán, "Improved multiclass AdaBoost using
       sparse oblique decision trees", IJCNN 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = TAOBoostClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    """

    algorithm: str = "samme"
    resample: bool = False
    n_copies: int = 0
    dropout: float = 0.2

    estimator_weights_: NDArray[np.float64] = fitted("a finite weight a tree", are_weights)
    estimator_errors_: NDArray[np.float64] = fitted("a finite number a tree", numbers_of(len))
    validation_errors_: NDArray[np.float64] = fitted(
        "a finite number a round", is_curve, is_required=False
    )
    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION_LOSSES

    def _check_own(self) -> None:
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_boolean("resample", self.resample)
        check_copies(self.n_copies, self.dropout)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Weighted votes, divided by the sum of the weights.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes)
            With two classes of shape (n_rows,): the share of the second less that of the first.
        """
        shares = vote_shares(self._totals(X))
        return self._kept_readout().decisions(shares)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Probabilities by the votes of the first tree, the first two, and so on.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)

        Yields
        ------
        float64 ndarray of shape (n_rows, n_classes)
        """
        for readout, votes in self._stages(X):
            yield readout.finished(votes)

    def _recipe(self) -> BoostedTrees:
        """Which trees there are to be."""
        copies = GappedCopies(int(self.n_copies), float(self.dropout))
        rate, resample = float(self.learning_rate), bool(self.resample)
        rule = BoostingRule(self.algorithm, rate, self.n_classes_, resample, copies)
        options = tao_options(self, float(self.alpha), n_threads=self._n_threads())
        start = tree_start(self, self.classes_)
        return BoostedTrees(start, options, rule, self._seed, int(self.n_estimators))

    def _grow(self, session: Session, problem: Problem, judged: Judged | None) -> None:
        recipe = self._recipe()
        watch = VoteWatch(judged, self.n_classes_, self._patience(), self._n_threads())
        known = self._known_parts(recipe.rule) if session.goes_on else []

        def store(model: TAOBoostClassifier, members: list[BoostedTree]) -> None:
            model._store_members(members, problem)

        store(self, fit_parts(recipe, problem, session, self, store, known, watch))
        self._store_curve("validation_errors_", watch.errors)
        self._store_map(self._fitted_map(recipe, problem, judged) if self.calibrate else None)

    def _known_parts(self, rule: BoostingRule) -> list[BoostedTree]:
        """Trees of the last fit."""
        if len(self) == 1 and rule.is_weak(float(self.estimator_errors_[0])):
            return []  # boosting could not even begin; it begins anew
        parts = (self.trees_, self.traces_, self.estimator_errors_, self.estimator_weights_)
        return [
            BoostedTree(tree, trace, float(error), float(weight))
            for tree, trace, error, weight in zip(*parts, strict=True)
        ]

    def _store_members(self, members: list[BoostedTree], problem: Problem) -> None:
        weights = np.array([member.weight for member in members])
        self._store(members, problem, weights)
        self.estimator_weights_ = weights
        self.estimator_errors_ = np.array([member.error for member in members])

    def _fitted_map(
        self, recipe: BoostedTrees, problem: Problem, judged: Judged | None
    ) -> ProbabilityMap:
        """The map that suits votes about validation rows, or about rows that are held out."""
        n_trees, n_threads = len(self), self._n_threads()
        if judged is not None:
            weights = self.estimator_weights_
            votes = self.forest_.votes(judged.rows, weights, n_threads=n_threads)
            codes = judged.targets.astype(np.int32, copy=False)
            unseen = Unseen(votes / weights.mean(), codes, judged.weights)
            return map_of_votes(unseen, n_trees)
        n_trees = min(n_trees, FEW_TREES)

        def votes_of(part: Problem, rows: _core.Rows) -> NDArray[np.float64]:
            members = recipe.few(part, n_trees)
            forest = Forest(tuple(member.tree for member in members))
            weights = np.array([member.weight for member in members])
            weights = weights if weights.any() else np.ones(1)  # the first is no better than chance
            votes = forest.votes(rows, weights, n_threads=n_threads)
            return votes * float(n_trees / weights.sum())

        return map_of_votes(cross_fitted(problem, votes_of), n_trees)

    def _gain_rule(self, problem: Problem) -> GainRule:
        return RoundWeights(problem, self._n_threads())

    def _readout(self) -> Readout:
        weights, offsets = self.estimator_weights_, np.zeros(self.n_classes_)
        readout = Readout(self.forest_, "label", "shares", weights, offsets, self.classes_)
        return self._calibrated(readout)
