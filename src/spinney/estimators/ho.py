"""The scikit-learn estimator for Ho's random decision forests."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from spinney.algorithms.grow import HO_SPLITS
from spinney.data import Problem
from spinney.data.checks import check_choice, check_integer
from spinney.data.warn_caller import warn_caller
from spinney.ensembles.greedy import GreedyTrees, SubspacePlan, count_subspaces
from spinney.estimators.construction import estimator
from spinney.estimators.greedy import Growth, columns_to_try
from spinney.estimators.independent_trees import IndependentTrees
from spinney.estimators.tasks import Classifier
from spinney.tree.readout import Readout
from spinney.tree.ties import is_tied

ON_TIE = ("first", "reject")
MOST_STEPS = 100_000


@estimator
class RandomDecisionForestClassifier(Classifier, IndependentTrees, Growth):
    """Oblique trees grown to pure leaves on all rows, in random subspaces.

    Parameters
    ----------
    n_estimators : int, default=20
        Number of trees. No two have the same subspace; where there are fewer subspaces, there are
        fewer trees, and a warning. With ``feature_sampling="local"`` there are always as many.
    split : {"central_axis", "perceptron"}, default="central_axis"
        Across the line between the two class means that lie farthest apart, or by a perceptron
        that parts these two classes, each with the classes nearer to it. Perceptrons make smaller
        trees and take longer; where one parts nothing, the central axis does.
    max_features : int, float, str or None, default=0.5
        Columns of each subspace: a count, a share, "sqrt", or a power of the number of columns
        such as "D**0.8". None is all columns, which is of use for a single tree.
    feature_sampling : {"global", "local"}, default="global"
        A subspace for each tree, as in the experiments of [1]_, or one for each node, which its
        section 5 suggests.
    n_steps : int, default=100
        The central axis is cut at one of its `n_steps` - 1 evenly spaced stops.
    max_epochs : int, default=50
        Most passes of a perceptron over the rows of a node.
    on_tie : {"first", "reject"}, default="first"
        A row whose best classes have equal probabilities gets the first of them, or is rejected.
    reject_label : object, default=None
        What `predict` says of a rejected row. None is -1 for numbers and "rejected" for others.
    calibrate : bool, default=True
        Whether probabilities come from a map that is fitted to what trees say of rows they have
        not seen: a forest of 10 trees at most, grown without
        a fifth of the rows, or several such; `predict` answers the same, and no probability is 0.
        False gives means over the trees as they are.
    max_depth : int or None, default=None
        Depth at which growth ends. None grows until leaves are pure.
    min_samples_split : int, default=2
        Nodes of fewer rows are leaves. Where trees see all rows, alike ones count as one.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of the rows of a leaf, as a share of that of all rows. A split that would
        leave less on a side gives way to the best column that does not. Class weights can only
        matter where leaves are not pure.
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class.
    warm_start : bool, default=False
        If True, ``fit`` keeps the trees it has and grows the missing ones.
    random_state : int, RandomState or None, default=None
        The same seed gives the same forest, bit for bit, for any `n_jobs` and joblib backend.
    n_jobs : int or None, default=None
        Trees grown at once, and threads of a prediction. None is one, -1 is all cores.
    verbose : int, default=0
        1 shows a live bar of the trees on stderr, 2 prints a line for each.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_, n_outputs_, n_features_in_ : int
        Number of classes, of targets (1), and of columns.
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
        The map to probabilities, if `calibrate`: those of v votes, or summed class fractions, are
        proportional to ``(v + probability_votes_ / n_classes_) ** probability_slope_``.

    Notes
    -----
    Without limits on its growth, every tree predicts all training rows correctly that are
    distinct in its subspace; with a subspace for each node, all that are distinct. Where the means
    of the classes coincide, or rounding leaves all rows on one side, a node is split at the best
    column; [1]_ would stop there.

    Distances and increments are measured in columns that are scaled by their range, which changes
    nothing for binary images.

    References
    ----------
    .. [1] Ho, "Random Decision Forests", ICDAR 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from spinney import RandomDecisionForestClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> forest = RandomDecisionForestClassifier(n_estimators=10, random_state=0)
    >>> forest = forest.fit(X[:1000], y[:1000])
    >>> float(forest.score(X[:1000], y[:1000])), bool(forest.score(X[1000:], y[1000:]) > 0.85)
    (1.0, True)
    """

    n_estimators: int = field(default=20, kw_only=False)
    split: str = "central_axis"
    max_features: int | float | str | None = 0.5
    feature_sampling: str = "global"
    n_steps: int = 100
    max_epochs: int = 50
    on_tie: str = "first"
    reject_label: object = None
    criterion: str = field(default="entropy", init=False)
    bootstrap: bool = field(default=False, init=False)
    max_samples: int | float | None = field(default=1.0, init=False)
    oob_score: bool = field(default=False, init=False)
    leaf_shrinkage: float = field(default=0.0, init=False)  # as they were grown [1], section 3

    def reject_rate(self, X: ArrayLike) -> float:
        """Share of rows whose best classes have equal probabilities.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
        """
        return float(is_tied(self._totals(X)).mean())

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of rows that are predicted correctly; a rejected row is not.

        Parameters
        ----------
        X : frame, array-like or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,) or None, default=None

        Returns
        -------
        float
        """
        predicted, truth = self.predict(X), column_or_1d(y)
        check_consistent_length(predicted, truth, sample_weight)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(predicted == truth, weights=weights))

    def _readout_key(self) -> object:
        # Labels of any kind: 1 and True are equal and not the same. The readout keeps them alive.
        return self.on_tie, self.calibrate, id(self.reject_label)

    def _readout(self) -> Readout:
        check_choice("on_tie", self.on_tie, ON_TIE)
        label = self._label_of_rejects() if self.on_tie == "reject" else None
        return replace(super()._readout(), reject_label=label)

    def _check_own(self) -> None:
        check_choice("split", self.split, HO_SPLITS)
        check_integer("n_steps", self.n_steps, minimum=2, example="100")
        if int(self.n_steps) > MOST_STEPS:
            raise ValueError(
                f"n_steps={self.n_steps} is more than single precision can tell apart; give an "
                f"integer from 2 to {MOST_STEPS}; try n_steps=100."
            )
        check_integer("max_epochs", self.max_epochs, minimum=1, example="50")
        check_choice("on_tie", self.on_tie, ON_TIE)

    def _recipe(self, problem: Problem) -> GreedyTrees:
        plan = SubspacePlan(**vars(self._sample_plan(problem)))
        if self.on_tie == "reject":
            self._label_of_rejects()
        options = self._grow_options(
            columns_to_try(plan), n_steps=int(self.n_steps), max_epochs=int(self.max_epochs)
        )
        return GreedyTrees(options, plan, self._n_trees(problem, plan), self.n_jobs)

    def _n_trees(self, problem: Problem, plan: SubspacePlan) -> int:
        """No more trees than subspaces; warns if there are fewer than asked for."""
        if not plan.is_global:
            return int(self.n_estimators)
        n_subspaces = count_subspaces(problem.n_features, plan.n_columns)
        if int(self.n_estimators) > n_subspaces:
            warn_caller(
                f"n_estimators={self.n_estimators}, but {problem.n_features} columns have only "
                f"{n_subspaces} subspaces of max_features={self.max_features!r}, and no two trees "
                f"share one; {n_subspaces} trees are grown; try another max_features.",
            )
        return min(int(self.n_estimators), n_subspaces)

    def _label_of_rejects(self) -> Any:
        """What rejected rows are called; raises if a class has that name."""
        label = self.reject_label
        if label is None:
            label = -1 if self.classes_.dtype.kind in "biuf" else "rejected"
        if np.ndim(label) > 0:  # type: ignore[arg-type]
            raise TypeError(
                f"reject_label={label!r} is of type {type(label).__name__}; give a single label; "
                'try reject_label="?".'
            )
        if label in self.classes_.tolist():
            raise ValueError(
                f"reject_label={self.reject_label!r}: rejected rows would be called {label!r}, "
                'which is a class; give a label that is none; try reject_label="?".'
            )
        return label
