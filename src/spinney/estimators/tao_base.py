"""What estimators of TAO trees share: the values they are built with, and what these mean."""

from __future__ import annotations

from numpy.typing import ArrayLike

from spinney.algorithms.tao import TAOOptions
from spinney.data import Problem
from spinney.data.checks import check_integer, check_real
from spinney.data.validation import check_units
from spinney.ensembles.tree_start import Start, check_init, check_same_encoding, drawn_start
from spinney.estimators.base import Classification, Estimator, Regression
from spinney.estimators.parameters import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    SPLITS,
    check_leaf_alpha,
    check_tree_parameters,
)


class TAOEstimator(Estimator):
    """Options of the optimiser and starts of trees, from the constructor's values."""

    _splits: tuple[str, ...] = SPLITS
    _sweeps = "max_iter"  # the parameter that counts sweeps

    def _check_parameters(self) -> None:
        check_tree_parameters(self, self._losses(), self._splits)
        check_integer(self._sweeps, getattr(self, self._sweeps), minimum=1, example="20")
        self._check_leaf_alpha()
        self._check_init()

    def _check_leaf_alpha(self) -> None:
        """Raise unless leaves can have a penalty of that weight."""
        check_leaf_alpha(self.leaf_alpha, self.leaf, type(self).__name__)

    def _check_init(self) -> None:
        """Raise unless trees can start from `init`."""
        check_init(self.init)

    def _losses(self) -> tuple[str, ...]:
        raise NotImplementedError

    def _options(self, alpha: float, seed: int = 0, n_threads: int = 1) -> TAOOptions:
        """The optimiser's options from the constructor's values."""
        return TAOOptions(
            loss=self.loss,
            split=self.split,
            leaf=self.leaf,
            alpha=alpha,
            ridge=float(self.ridge),
            max_weights=int(self.max_weights or 0),
            max_leaf_weights=int(self.max_leaf_weights or 0),
            max_iter=self._n_sweeps(),
            strict_descent="sweep" if self._guards_sweeps() else bool(self.strict_descent),
            leaf_alpha=self._leaf_alpha_of_trees(),
            leaf_penalty=self.leaf_penalty,
            relax_leaves=bool(self.relax_leaves),
            order=self.order,
            tol=float(self.tol),
            huber_delta=float(getattr(self, "huber_delta", 1.0)),
            n_threads=n_threads,
            seed=seed,
            init=drawn_start(self._tree_init()),
        )

    def _n_sweeps(self) -> int:
        """Most sweeps over a tree."""
        return int(getattr(self, self._sweeps))

    def _guards_sweeps(self) -> bool:
        return isinstance(self.strict_descent, str)

    def _leaf_alpha_of_trees(self) -> float | None:
        """Weight of the leaves in the objective of one tree; None if it has none of its own."""
        return None if self.leaf_alpha is None else float(self.leaf_alpha)

    def _start(self) -> Start:
        """Rule that makes the start of a tree."""
        check_same_encoding(self.init, self.encoding_)
        classes = self.classes_ if hasattr(self, "classes_") else None
        return Start(self._tree_init(), self.max_depth, self.split, classes)

    def _tree_init(self) -> object:
        """What a single tree starts from."""
        return self.init


class TAOClassification(Classification, TAOEstimator):
    """Trees that predict classes."""

    def _losses(self) -> tuple[str, ...]:
        return CLASSIFICATION_LOSSES


class TAORegression(Regression, TAOEstimator):
    """Trees that predict numbers."""

    def _losses(self) -> tuple[str, ...]:
        return REGRESSION_LOSSES

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("huber_delta", self.huber_delta, minimum=0.0, is_open=True, example="1.0")

    def _problem(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Problem:
        problem = super()._problem(X, y, sample_weight)
        if self.leaf == "linear":
            check_units(problem, self._label_of_coordinate)
        return problem
