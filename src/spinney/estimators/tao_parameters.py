"""The parameters of trees that TAO optimises, and what they mean for optimiser and starts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.tao import TAOOptions
from spinney.data import Problem
from spinney.data.checks import check_boolean, check_choice, check_integer, check_real
from spinney.data.validation import check_units
from spinney.ensembles.tree_start import Start, check_init, check_same_encoding, drawn_start
from spinney.estimators.construction import parameters
from spinney.estimators.parameter_checks import check_loss

SPLITS = ("oblique", "axis")
SPLITS_OF_SUMS = (*SPLITS, "mixed")  # of forests whose trees add up
LEAVES = ("constant", "linear")
LEAF_PENALTIES = ("l1", "l2")
ORDERS = ("leaves_first", "root_first")

DEEPEST_FULL_TREE = 20
"""A complete tree of depth 20 has two million nodes; one more level doubles them."""


@parameters
class TAOParameters:
    """Parameters of trees that TAO optimises.

    What several families say of a parameter in the same words stands here; each adds its own.

    Parameters
    ----------
    max_depth : int or None, default=8
        Depth of
    alpha : float, default=0.1
        Weight of the l1 penalty on the hyperplanes
    ridge : float, default=0.01
        Squared penalty on the hyperplanes while they are solved, as a share of the mean squared
        length of a row. It is no part of the objective.
    max_weights : int or None, default=None
        Most features a split may use.
    max_leaf_weights : int or None, default=None
        The same for each class score or value of a linear leaf.
    split : str, default="oblique"
        Hyperplanes over all features
    leaf : {"constant", "linear"}, default="constant"
    leaf_alpha : float or None, default=None
        Weight of the penalty on
    leaf_penalty : {"l1", "l2"}, default="l1"
    relax_leaves : bool, default=False
        Refit linear leaves at the end on the features they use, without the penalty.
    loss : str, default="zero_one"
    init : str, RandomStructure, Tree or fitted tree estimator, default="supervised"
        The start
    strict_descent : bool or "sweep", default=False
    order : {"leaves_first", "root_first"}, default="leaves_first"
        Order of the levels in a sweep
    tol : float, default=1e-4
        Stop
    """

    max_depth: int | None = 8
    alpha: float = 0.1
    ridge: float = 0.01
    max_weights: int | None = None
    max_leaf_weights: int | None = None
    split: str = "oblique"
    leaf: str = "constant"
    leaf_alpha: float | None = None
    leaf_penalty: str = "l1"
    relax_leaves: bool = False
    loss: str = "zero_one"
    init: object = "supervised"
    strict_descent: bool | str = False
    order: str = "leaves_first"
    tol: float = 1e-4

    #: Losses that the estimator can be fitted with.
    _losses: ClassVar[tuple[str, ...]] = ()
    #: Whether constant leaves of all trees add up to the answer, as in FAO and gradient boosting.
    _is_additive: ClassVar[bool] = False
    #: The parameter that counts sweeps.
    _sweeps: ClassVar[str] = "max_iter"

    def _check_own(self) -> None:
        name = type(self).__name__
        check_choice("split", self.split, SPLITS_OF_SUMS if self._is_additive else SPLITS)
        check_choice("leaf", self.leaf, LEAVES)
        check_loss(self.loss, self._losses, name)
        check_choice("leaf_penalty", self.leaf_penalty, LEAF_PENALTIES)
        check_choice("order", self.order, ORDERS)
        check_real("tol", self.tol, minimum=0.0, example="1e-4; 0 never stops early")
        check_max_depth(self.max_depth, self.init)
        check_real("ridge", self.ridge, minimum=0.0, example="0.01; 0 switches it off")
        _check_limits(self)
        _check_relaxing(self)
        _check_strict_descent(self.strict_descent)
        check_integer(self._sweeps, getattr(self, self._sweeps), minimum=1, example="20")
        if hasattr(self, "huber_delta"):
            check_real("huber_delta", self.huber_delta, minimum=0.0, is_open=True, example="1.0")
        if self._is_additive:
            check_real("leaf_alpha", self.leaf_alpha, minimum=0.0, example="1.0")
        else:
            check_leaf_alpha(self.leaf_alpha, self.leaf, name)
        self._check_init()

    def _check_init(self) -> None:
        """Raise unless trees can start from `init`."""
        check_init(self.init)

    def _tree_init(self) -> object:
        """What a single tree starts from."""
        return self.init

    def _check_own_task(self, problem: Problem) -> None:
        if self.leaf == "linear" and not problem.n_classes:
            check_units(problem, self._label_of_coordinate)  # type: ignore[attr-defined]  # a Model


def tao_options(tree: TAOParameters, alpha: float, seed: int = 0, n_threads: int = 1) -> TAOOptions:
    """The optimiser's options from the constructor's values."""
    guards_sweeps = isinstance(tree.strict_descent, str)
    leaf_alpha = None if tree._is_additive or tree.leaf_alpha is None else float(tree.leaf_alpha)
    return TAOOptions(
        loss=tree.loss,
        split=tree.split,
        leaf=tree.leaf,
        alpha=alpha,
        ridge=float(tree.ridge),
        max_weights=int(tree.max_weights or 0),
        max_leaf_weights=int(tree.max_leaf_weights or 0),
        max_iter=int(getattr(tree, tree._sweeps)),
        strict_descent="sweep" if guards_sweeps else bool(tree.strict_descent),
        leaf_alpha=leaf_alpha,
        leaf_penalty=tree.leaf_penalty,
        relax_leaves=bool(tree.relax_leaves),
        order=tree.order,
        tol=float(tree.tol),
        huber_delta=float(getattr(tree, "huber_delta", 1.0)),
        n_threads=n_threads,
        seed=seed,
        init=drawn_start(tree._tree_init()),
    )


def tree_start(model: Any, classes: NDArray[Any] | None) -> Start:
    """Rule that makes the start of a tree of a fitted-to-be model; None are trees of numbers."""
    check_same_encoding(model.init, model.encoding_)
    init = model._tree_init()
    return Start(init, model.max_depth, model.split, classes, model._coordinate_columns)


def _check_strict_descent(value: object) -> None:
    """Raise unless it says whether nodes are guarded, or sweeps are."""
    if isinstance(value, (bool, np.bool_)) or value == "sweep":
        return
    what = f"strict_descent={value!r}"
    if not isinstance(value, str):
        what += f" is of type {type(value).__name__}"
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f'{what}; give True, False or "sweep"; try strict_descent={bool(value)}.')


def _check_limits(tree: TAOParameters) -> None:
    """Raise unless the limits on the weights of a hyperplane can be kept."""
    for name, kind, where, bare, other in (
        ("max_weights", tree.split, "split", "axis", "oblique"),
        ("max_leaf_weights", tree.leaf, "leaf", "constant", "linear"),
    ):
        limit = getattr(tree, name)
        if limit is None:
            continue
        check_integer(name, limit, minimum=1, example="50, or None for no limit")
        if kind == bare:
            raise ValueError(
                f'{name}={limit!r} with {where}="{kind}", which has no hyperplanes; give '
                f'{name}=None; try {where}="{other}".'
            )
        if tree.strict_descent:
            raise ValueError(
                f"{name}={limit!r} with strict_descent={tree.strict_descent!r}: dropping "
                f"weights can raise the objective; give {name}=None; try a larger alpha for fewer "
                "weights."
            )


def _check_relaxing(tree: TAOParameters) -> None:
    """Raise unless there are leaves whose penalty can be undone."""
    check_boolean("relax_leaves", tree.relax_leaves)
    if not tree.relax_leaves:
        return
    if tree.leaf != "linear":
        raise ValueError(
            f'relax_leaves=True with leaf="{tree.leaf}", which has no weights; give '
            'relax_leaves=False; try leaf="linear".'
        )
    if tree.strict_descent:
        raise ValueError(
            f"relax_leaves=True with strict_descent={tree.strict_descent!r}: longer weights "
            "raise the objective; give relax_leaves=False; try a smaller alpha for longer weights."
        )


def check_leaf_alpha(leaf_alpha: object, leaf: str, estimator: str) -> None:
    """Raise unless leaves of this kind can have a penalty of weight `leaf_alpha`."""
    if leaf_alpha is None:
        return
    check_real("leaf_alpha", leaf_alpha, minimum=0.0, example="0.1, or None")
    if leaf == "constant" and estimator.endswith("Classifier"):
        raise ValueError(
            f'leaf_alpha={leaf_alpha!r} with leaf="constant": the leaves are labels, which have no '
            'size; give leaf_alpha=None; try leaf="linear", or FAOForestClassifier for penalised '
            "scores."
        )


def check_max_depth(max_depth: object, init: object) -> None:
    """Raise unless `max_depth` can be the depth of the tree that `init` asks for."""
    if max_depth is None:
        if init == "cart":
            return
        raise ValueError(
            "max_depth=None has no meaning for a tree whose structure is fixed before it is "
            'fitted; give an integer >= 1; try max_depth=8, or init="cart" to let CART choose.'
        )
    check_integer("max_depth", max_depth, minimum=1, example="8")
    is_full = isinstance(init, str) and init != "cart"
    if is_full and int(max_depth) > DEEPEST_FULL_TREE:  # type: ignore[call-overload]
        raise ValueError(
            f"max_depth={max_depth} makes a start of about 2**{max_depth} leaves; give an integer "
            f'from 1 to {DEEPEST_FULL_TREE}; try max_depth=12, or init="cart" or a '
            "RandomStructure for a deep tree with gaps."
        )
