"""Scikit-learn estimators for bagged TAO trees.

They validate, build a problem and a plan, call :func:`spinney.ensembles.bagging.bag_trees`, and
store what came back. No algorithm lives here.
"""

from __future__ import annotations

import warnings
from contextlib import closing

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.metrics import r2_score

from spinney.data import Problem, as_rows
from spinney.ensembles.bagging import BaggingPlan, bag_trees, out_of_bag
from spinney.estimators.base import TAORegression
from spinney.estimators.forest_base import ForestEstimator, VotingForest
from spinney.estimators.parameters import check_boolean, check_choice
from spinney.estimators.progress import report_tree
from spinney.estimators.sampling import (
    alpha_of_trees,
    check_n_estimators,
    count_features,
    count_samples,
)
from spinney.estimators.start import check_starts_apart
from spinney.optimize.trace import Trace
from spinney.tree.route import outputs
from spinney.tree.structure import Tree

STARTS = ("own", "same", "previous")
FEATURE_SAMPLINGS = ("local", "global")
VOTINGS = ("auto", "hard", "soft")


class _TAOForest(ForestEstimator):
    """What both estimators share: the plan, the growing, and the out-of-bag estimate."""

    _seed: int
    _sampling: tuple[int, int, bool] | None  # None once they differ between trees
    _last_tree: Tree | None  # unpruned; where the next tree starts if it goes on from this one

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_n_estimators(self.n_estimators, len(self.trees_) if self._is_continued() else 0)
        alpha_of_trees(self.alpha, 2)
        check_choice("start", self.start, STARTS)
        check_choice("feature_sampling", self.feature_sampling, FEATURE_SAMPLINGS)
        check_boolean("bootstrap", self.bootstrap)
        check_boolean("oob_score", self.oob_score)
        # Shares and words can be judged before any data is seen, counts only with it.
        if isinstance(self.max_features, (str, float)):
            count_features(self.max_features, 1)
        if isinstance(self.max_samples, float):
            count_samples(self.max_samples, 1, bootstrap=False)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        problem = self._problem(X, y, sample_weight)
        is_continued = self._is_continued()
        if not is_continued:
            self._seed = self._draw_seed()
        plan = self._plan(problem)
        self._check_sampling(plan, problem)
        trees: list[Tree] = list(self.trees_) if is_continued else []
        traces: list[Trace] = list(self.traces_) if is_continued else []
        grown = bag_trees(
            problem,
            self._start(),
            self._options(plan.alphas[0]),
            plan,
            first=len(trees),
            last_tree=self._last_tree if is_continued else None,
            n_jobs=self.n_jobs,
        )
        # Closed also if reporting fails or Ctrl-C comes between two trees: no worker goes on alone.
        with closing(grown):
            for found in grown:
                trees.append(found.tree)
                traces.append(found.trace)
                self._last_tree = found.unpruned if self.start == "previous" else None
                report_tree(self.verbose, len(trees), int(self.n_estimators), found.trace)
        self._store_forest(trees, traces, problem, np.ones(len(trees)))
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)  # a warm start may find those of fewer trees
        if self.oob_score:
            self._store_out_of_bag(plan, problem)

    def _plan(self, problem: Problem) -> BaggingPlan:
        """What sets the trees apart, checked against the data."""
        n_rows = problem.n_rows
        bootstrap = bool(self.bootstrap)
        plan = BaggingPlan(
            seed=self._seed,
            n_samples=count_samples(self.max_samples, n_rows, bootstrap=bootstrap),
            with_replacement=bootstrap,
            n_columns=count_features(self.max_features, problem.n_features),
            is_global=self.feature_sampling == "global",
            start=self.start,
            alphas=alpha_of_trees(self.alpha, int(self.n_estimators)),
        )
        if self.oob_score and plan.n_samples == n_rows and not bootstrap:
            raise ValueError(
                f"oob_score=True but every tree sees all {n_rows} rows; leave some out; try "
                "max_samples=0.9 or bootstrap=True."
            )
        if plan.n_columns and plan.is_global:
            check_starts_apart(self.init, self.start)
        return plan

    def _check_sampling(self, plan: BaggingPlan, problem: Problem) -> None:
        """Raise if a warm start cannot know which rows its first trees have seen."""
        sampling = (problem.n_rows, plan.n_samples, plan.with_replacement)
        is_mixed = self._is_continued() and sampling != self._sampling
        if is_mixed and self.oob_score:
            raise ValueError(
                f"oob_score=True with warm_start=True, but the samples have changed to (rows, "
                f"drawn, bootstrap)={sampling}; give the same rows, max_samples and bootstrap in "
                "all fits; try warm_start=False."
            )
        self._sampling = None if is_mixed else sampling

    def _out_of_bag_sums(
        self, plan: BaggingPlan, problem: Problem
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sums over the trees that did not see a row; warns if some row has none."""

        def outputs_of(tree: Tree) -> NDArray[np.float64]:
            return self._tree_outputs(outputs(tree, problem.rows, self._n_threads()), tree)

        sums, counts = out_of_bag(self.trees_, plan, problem.n_rows, outputs_of)
        n_missing = int(np.count_nonzero(counts == 0))
        if n_missing:
            warnings.warn(
                f"{n_missing} of {problem.n_rows} rows were seen by every tree and have no "
                "out-of-bag prediction; theirs is nan; try more trees or a smaller max_samples.",
                UserWarning,
                stacklevel=6,  # the caller of ``fit``
            )
        return sums, counts

    def _for_given_rows(
        self, sums: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Means over the trees, nan for rows of no weight or seen by all trees."""
        means = np.full_like(sums, np.nan)
        np.divide(sums, counts[:, None], out=means, where=counts[:, None] > 0)
        given = np.full((len(self._is_kept), sums.shape[1]), np.nan)
        given[self._is_kept] = means
        return given

    def _tree_outputs(self, values: NDArray[np.float64], tree: Tree) -> NDArray[np.float64]:
        """What one tree adds to the forest, from its leaf outputs."""
        raise NotImplementedError

    def _store_out_of_bag(self, plan: BaggingPlan, problem: Problem) -> None:
        raise NotImplementedError


class TAOForestClassifier(_TAOForest, VotingForest):
    """A small forest of independently optimised trees, combined by vote or average.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_depth : int or None, default=8
        Depth of each tree's start. None is for ``init="cart"`` only.
    alpha : float or (float, float), default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of a tree's rows; the
        papers' λ. A pair is a path, evenly spaced in logarithms: the first tree gets the first
        end, the last tree the second ("forest over λ"). The path depends on `n_estimators`, also
        in a warm start.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective. More gives smoother and weaker trees.
    max_weights : int or None, default=None
        Most features a split may use. The optimiser begins with all and drops the least step by
        step. None leaves sparsity to `alpha`.
    max_leaf_weights : int or None, default=None
        The same for each class score or value of a linear leaf.
    split : {"oblique", "axis"}, default="oblique"
        Hyperplanes over all features, or one feature a split.
    leaf : {"constant", "linear"}, default="constant"
        Class fractions in each leaf, or a sparse softmax model.
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves.
    relax_leaves : bool, default=False
        Refit linear leaves at the end on the features they use, without the penalty. It makes
        weights sparse, but also too short; forests of wide rows gain by undoing that.
    loss : {"zero_one", "log_loss"}, default="zero_one"
        Loss of a row.
    init : str, RandomStructure, Tree or fitted tree estimator, default="supervised"
        The start of each tree, as in :class:`TAOTreeClassifier`. Random structures differ from
        tree to tree.
    start : {"own", "same", "previous"}, default="own"
        Each tree has its own random start, all have the same, or each goes on from the tree
        before it; with a path of `alpha` the last is the regularisation path.
    max_iter : int, default=20
        Sweeps over each tree.
    monotone : bool, default=False
        Accept a node only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop a tree when sweeps lower its objective by less than this share.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a count, or a share; 1.0 is all rows. None is 0.9 of the rows,
        or with ``bootstrap=True`` as many as there are.
    bootstrap : bool, default=False
        Draw the rows with replacement.
    max_features : int, float, str or None, default=None
        Columns that may be used: a count, a share, "sqrt", or a power of the number of columns
        such as "D**0.9". None is all. TAO trees are best with all.
    feature_sampling : {"local", "global"}, default="local"
        Draw the columns anew for each split, or once for each tree. Linear leaves use all columns
        if the draw is local. A tree given as `init` keeps the columns of splits that are not
        improved.
    voting : {"auto", "hard", "soft"}, default="auto"
        Combine the trees by majority vote ("hard") or by averaging class probabilities ("soft").
        "auto" is hard for constant and soft for linear leaves.
    oob_score : bool, default=False
        Whether to judge the forest by the rows that each tree did not see.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and grows the missing ones.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs` and joblib backend.
    n_jobs : int or None, default=None
        Trees grown at once, and threads of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 prints a line a tree.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees as plain arrays.
    forest_ : Forest
        The trees together, ready to predict.
    traces_ : list of Trace
        How each tree was optimised.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_, n_iter_ : int
        Number of classes, of targets (1), of columns, and of sweeps of the longest optimisation.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    n_parameters_ : int
        Numbers the forest holds.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean over the trees of the share of each feature in the splits.
    oob_score_ : float
        Accuracy on the rows that trees did not see, if `oob_score`.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Their class probabilities; nan for a row that every tree saw or that has no weight.

    Notes
    -----
    A weight counts in the loss of a row that was drawn, not in the draw: a row of weight 3 is in
    the sample of a tree or not, while three copies of it are drawn one by one. Rows of weight 0
    are left out before the draw.

    References
    ----------
    .. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently
       improve over random forests, AdaBoost and gradient boosting", FODS 2020, sections 4 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = TAOForestClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        max_depth: int | None = 8,
        alpha: float | tuple[float, float] = 0.1,
        ridge: float = 0.01,
        max_weights: int | None = None,
        max_leaf_weights: int | None = None,
        split: str = "oblique",
        leaf: str = "constant",
        leaf_penalty: str = "l1",
        relax_leaves: bool = False,
        loss: str = "zero_one",
        init: object = "supervised",
        start: str = "own",
        max_iter: int = 20,
        monotone: bool = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        max_samples: int | float | None = None,
        bootstrap: bool = False,
        max_features: int | float | str | None = None,
        feature_sampling: str = "local",
        voting: str = "auto",
        oob_score: bool = False,
        class_weight: object = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.alpha = alpha
        self.ridge = ridge
        self.max_weights = max_weights
        self.max_leaf_weights = max_leaf_weights
        self.split = split
        self.leaf = leaf
        self.leaf_penalty = leaf_penalty
        self.relax_leaves = relax_leaves
        self.loss = loss
        self.init = init
        self.start = start
        self.max_iter = max_iter
        self.monotone = monotone
        self.order = order
        self.tol = tol
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.voting = voting
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities of each row: shares of the votes, or means over the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows, n_classes), columns in the order of `classes_`
        """
        votes = self._votes(X)
        return votes / self.forest_.n_trees

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, VOTINGS)

    def _is_hard(self) -> bool:
        check_choice("voting", self.voting, VOTINGS)  # it may be changed after ``fit``
        return self.voting == "hard" or (self.voting == "auto" and not self.trees_[0].is_linear)

    def _votes(self, X: ArrayLike) -> NDArray[np.float64]:
        """Votes, or sums of probabilities, of all trees."""
        rows = as_rows(self._checked_rows(X))
        weights = np.ones(self.forest_.n_trees)
        if self._is_hard():
            return self.forest_.votes(rows, weights, n_threads=self._n_threads())
        return self.forest_.sums(rows, weights, is_softmax=True, n_threads=self._n_threads())

    def _tree_outputs(self, values: NDArray[np.float64], tree: Tree) -> NDArray[np.float64]:
        if self._is_hard():
            said = np.eye(values.shape[1])[values.argmax(axis=1)]
        else:
            said = softmax(values, axis=1) if tree.is_linear else values
        return np.asarray(said)

    def _store_out_of_bag(self, plan: BaggingPlan, problem: Problem) -> None:
        sums, counts = self._out_of_bag_sums(plan, problem)
        self.oob_decision_function_ = self._for_given_rows(sums, counts)
        weights = np.where(counts > 0, problem.sample_weight, 0.0)
        is_right = sums.argmax(axis=1) == problem.classes
        self.oob_score_ = float(np.average(is_right, weights=weights)) if weights.any() else np.nan


class TAOForestRegressor(_TAOForest, TAORegression):
    """A small forest of independently optimised regression trees, averaged.

    Parameters
    ----------
    n_estimators : int, default=30
        Number of trees.
    max_depth : int or None, default=8
        Depth of each tree's start. None is for ``init="cart"`` only.
    alpha : float or (float, float), default=0.1
        Weight of the l1 penalty on the hyperplanes against the summed loss of a tree's rows; the
        papers' λ. A pair is a path over the trees, as in :class:`TAOForestClassifier`.
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective. More gives smoother and weaker trees.
    max_weights : int or None, default=None
        Most features a split may use. The optimiser begins with all and drops the least step by
        step. None leaves sparsity to `alpha`.
    max_leaf_weights : int or None, default=None
        The same for each class score or value of a linear leaf.
    split : {"oblique", "axis"}, default="oblique"
        Hyperplanes over all features, or one feature a split.
    leaf : {"constant", "linear"}, default="constant"
        One value in each leaf, or a sparse linear regression.
    leaf_penalty : {"l1", "l2"}, default="l1"
        Penalty of linear leaves.
    relax_leaves : bool, default=False
        Refit linear leaves at the end on the features they use, without the penalty. It makes
        weights sparse, but also too short; forests of wide rows gain by undoing that.
    loss : {"squared_error", "absolute_error", "huber"}, default="squared_error"
        Loss of a row, summed over the outputs.
    huber_delta : float, default=1.0
        Residual at which the Huber loss turns from squared to absolute.
    init : str, RandomStructure, Tree or fitted tree estimator, default="supervised"
        The start of each tree, as in :class:`TAOTreeRegressor`.
    start : {"own", "same", "previous"}, default="own"
        Each tree has its own random start, all have the same, or each goes on from the tree
        before it.
    max_iter : int, default=20
        Sweeps over each tree.
    monotone : bool, default=False
        Accept a node only if it lowers the objective.
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep.
    tol : float, default=1e-4
        Stop a tree when sweeps lower its objective by less than this share.
    max_samples : int, float or None, default=None
        Rows drawn for each tree, as in :class:`TAOForestClassifier`.
    bootstrap : bool, default=False
        Draw the rows with replacement.
    max_features : int, float, str or None, default=None
        Columns that may be used, as in :class:`TAOForestClassifier`.
    feature_sampling : {"local", "global"}, default="local"
        Draw the columns anew for each split, or once for each tree.
    oob_score : bool, default=False
        Whether to judge the forest by the rows that each tree did not see.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and grows the missing ones.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs` and joblib backend.
    n_jobs : int or None, default=None
        Trees grown at once, and threads of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 prints a line a tree.

    Attributes
    ----------
    trees_ : tuple of Tree
        The trees as plain arrays.
    forest_ : Forest
        The trees together, ready to predict.
    traces_ : list of Trace
        How each tree was optimised.
    n_outputs_, n_features_in_, n_iter_ : int
        Number of targets, of columns, and of sweeps of the longest optimisation.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    n_parameters_ : int
        Numbers the forest holds.
    flops_ : float
        Mean number of parameters a training row meets in all trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean over the trees of the share of each feature in the splits.
    oob_score_ : float
        R² on the rows that trees did not see, if `oob_score`.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Their predictions; nan for a row that every tree saw or that has no weight.

    Notes
    -----
    A weight counts in the loss of a row that was drawn, not in the draw: a row of weight 3 is in
    the sample of a tree or not, while three copies of it are drawn one by one. Rows of weight 0
    are left out before the draw.

    References
    ----------
    .. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently
       improve over random forests, AdaBoost and gradient boosting", FODS 2020, sections 4 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spinney import TAOForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = TAOForestRegressor(n_estimators=5, max_depth=3, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.4)
    True
    """

    def __init__(
        self,
        n_estimators: int = 30,
        *,
        max_depth: int | None = 8,
        alpha: float | tuple[float, float] = 0.1,
        ridge: float = 0.01,
        max_weights: int | None = None,
        max_leaf_weights: int | None = None,
        split: str = "oblique",
        leaf: str = "constant",
        leaf_penalty: str = "l1",
        relax_leaves: bool = False,
        loss: str = "squared_error",
        huber_delta: float = 1.0,
        init: object = "supervised",
        start: str = "own",
        max_iter: int = 20,
        monotone: bool = False,
        order: str = "leaves_first",
        tol: float = 1e-4,
        max_samples: int | float | None = None,
        bootstrap: bool = False,
        max_features: int | float | str | None = None,
        feature_sampling: str = "local",
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.alpha = alpha
        self.ridge = ridge
        self.max_weights = max_weights
        self.max_leaf_weights = max_leaf_weights
        self.split = split
        self.leaf = leaf
        self.leaf_penalty = leaf_penalty
        self.relax_leaves = relax_leaves
        self.loss = loss
        self.huber_delta = huber_delta
        self.init = init
        self.start = start
        self.max_iter = max_iter
        self.monotone = monotone
        self.order = order
        self.tol = tol
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Mean over the trees of what they predict for each row.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric frame of shape (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_rows,), or (n_rows, n_outputs) with several outputs
        """
        rows = as_rows(self._checked_rows(X))
        weights = np.ones(self.forest_.n_trees)
        sums = self.forest_.sums(rows, weights, is_softmax=False, n_threads=self._n_threads())
        values = sums / len(weights)
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _tree_outputs(self, values: NDArray[np.float64], tree: Tree) -> NDArray[np.float64]:
        del tree  # constant and linear leaves alike say the value itself
        return values

    def _store_out_of_bag(self, plan: BaggingPlan, problem: Problem) -> None:
        sums, counts = self._out_of_bag_sums(plan, problem)
        given = self._for_given_rows(sums, counts)
        self.oob_prediction_ = given[:, 0] if self.n_outputs_ == 1 else given
        is_judged = counts > 0
        self.oob_score_ = np.nan  # R² needs two rows
        if np.count_nonzero(is_judged) > 1:
            self.oob_score_ = float(
                r2_score(
                    problem.targets[is_judged],
                    sums[is_judged] / counts[is_judged, None],
                    sample_weight=problem.sample_weight[is_judged],
                )
            )
