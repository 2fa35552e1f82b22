"""Check the constructor values of an estimator before any work is done.

Scikit-learn estimators store their arguments untouched, so wrong values are found in ``fit``.
Each check says what was wrong with the value, what is accepted, and what to try. Wrong kinds
raise ``TypeError``, wrong values ``ValueError``. Data are checked in
:mod:`spinney.data.validation`, the start of a tree in :mod:`spinney.ensembles.tree_start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from spinney.data.checks import (
    check_boolean,
    check_choice,
    check_integer,
    check_n_jobs,
    check_real,
    check_share,
)

CLASSIFICATION_LOSSES = ("zero_one", "log_loss")
SCORE_LOSSES = ("squared_hinge", "squared_error", "log_loss")  # of scores that trees add up
REGRESSION_LOSSES = ("squared_error", "absolute_error", "huber")
SPLITS = ("oblique", "axis")
SPLITS_OF_SUMS = (*SPLITS, "mixed")  # of forests whose trees add up
LEAVES = ("constant", "linear")
LEAF_PENALTIES = ("l1", "l2")
IMPORTANCE_TYPES = ("gain", "weight")
ORDERS = ("leaves_first", "root_first")


class TreeParameters(Protocol):
    """The constructor values that all estimators of TAO trees share."""

    max_depth: int | None
    ridge: float
    max_weights: int | None
    max_leaf_weights: int | None
    split: str
    leaf: str
    loss: str
    init: object
    strict_descent: bool | str
    leaf_penalty: str
    relax_leaves: bool
    order: str
    tol: float
    warm_start: bool
    n_jobs: int | None
    verbose: int


def check_tree_parameters(
    parameters: TreeParameters, losses: Sequence[str], splits: Sequence[str]
) -> None:
    """Raise if a constructor value of a tree estimator is of no use.

    Parameters
    ----------
    parameters : estimator
        Holds the values as attributes.
    losses, splits : sequence of str
        The losses and the kinds of split this estimator knows.
    """
    check_choice("split", parameters.split, splits)
    check_choice("leaf", parameters.leaf, LEAVES)
    check_loss(parameters.loss, losses, type(parameters).__name__)
    check_choice("leaf_penalty", parameters.leaf_penalty, LEAF_PENALTIES)
    check_choice("order", parameters.order, ORDERS)
    check_real("tol", parameters.tol, minimum=0.0, example="1e-4; 0 never stops early")
    check_max_depth(parameters.max_depth, parameters.init)
    check_real("ridge", parameters.ridge, minimum=0.0, example="0.01; 0 switches it off")
    _check_limits(parameters)
    _check_relaxing(parameters)
    _check_strict_descent(parameters.strict_descent)
    check_boolean("warm_start", parameters.warm_start)
    check_n_jobs(parameters.n_jobs)
    if not isinstance(parameters.verbose, (bool, np.bool_)):
        check_integer("verbose", parameters.verbose, minimum=0, example="1 for a live bar")


def _check_strict_descent(value: object) -> None:
    """Raise unless it says whether nodes are guarded, or sweeps are."""
    if isinstance(value, (bool, np.bool_)) or value == "sweep":
        return
    what = f"strict_descent={value!r}"
    if not isinstance(value, str):
        what += f" is of type {type(value).__name__}"
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f'{what}; give True, False or "sweep"; try strict_descent={bool(value)}.')


def _check_limits(parameters: TreeParameters) -> None:
    """Raise unless the limits on the weights of a hyperplane can be kept."""
    for name, kind, where, bare, other in (
        ("max_weights", parameters.split, "split", "axis", "oblique"),
        ("max_leaf_weights", parameters.leaf, "leaf", "constant", "linear"),
    ):
        limit = getattr(parameters, name)
        if limit is None:
            continue
        check_integer(name, limit, minimum=1, example="50, or None for no limit")
        if kind == bare:
            raise ValueError(
                f'{name}={limit!r} with {where}="{kind}", which has no hyperplanes; give '
                f'{name}=None; try {where}="{other}".'
            )
        if parameters.strict_descent:
            raise ValueError(
                f"{name}={limit!r} with strict_descent={parameters.strict_descent!r}: dropping "
                f"weights can raise the objective; give {name}=None; try a larger alpha for fewer "
                "weights."
            )


def _check_relaxing(parameters: TreeParameters) -> None:
    """Raise unless there are leaves whose penalty can be undone."""
    check_boolean("relax_leaves", parameters.relax_leaves)
    if not parameters.relax_leaves:
        return
    if parameters.leaf != "linear":
        raise ValueError(
            f'relax_leaves=True with leaf="{parameters.leaf}", which has no weights; give '
            'relax_leaves=False; try leaf="linear".'
        )
    if parameters.strict_descent:
        raise ValueError(
            f"relax_leaves=True with strict_descent={parameters.strict_descent!r}: longer weights "
            "raise the objective; give relax_leaves=False; try a smaller alpha for longer weights."
        )


def check_alpha(alpha: object) -> None:
    """Raise unless `alpha` is a weight of the penalty."""
    check_real("alpha", alpha, minimum=0.0, example="0.1; 0 switches the penalty off")


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


#: What other libraries call the losses.
LOSSES_ELSEWHERE = {
    **dict.fromkeys(("deviance", "logloss", "cross_entropy", "crossentropy"), "log_loss"),
    **dict.fromkeys(("binary", "multiclass", "multinomial", "binomial"), "log_loss"),
    **dict.fromkeys(("mse", "rmse", "l2", "ls", "squared_loss", "regression"), "squared_error"),
    **dict.fromkeys(("mae", "l1", "lad"), "absolute_error"),
    "hinge": "squared_hinge",
}


def check_loss(loss: object, losses: Sequence[str], estimator: str) -> None:
    """Raise unless `loss` suits the task; a loss of the other task gets its own hint."""
    if estimator == "TAOBoostClassifier":
        estimator = "TAOForestClassifier"  # boosting has no regressor
    if isinstance(loss, str) and loss not in losses:
        words = " or ".join(f'"{word}"' for word in losses)
        is_of_classes = loss in {*CLASSIFICATION_LOSSES, *SCORE_LOSSES} - set(REGRESSION_LOSSES)
        if is_of_classes and estimator.endswith("Regressor"):
            raise ValueError(
                f"loss={loss!r} is for classes, this estimator predicts numbers; give {words}; "
                f"try {estimator.replace('Regressor', 'Classifier')} if y holds classes."
            )
        if loss in REGRESSION_LOSSES and estimator.endswith("Classifier"):
            raise ValueError(
                f"loss={loss!r} is for numbers, this estimator predicts classes; give {words}; "
                f"try {estimator.replace('Classifier', 'Regressor')} if y holds numbers."
            )
    meant = LOSSES_ELSEWHERE.get(loss) if isinstance(loss, str) else None
    # The first is the one to try.
    check_choice("loss", loss, sorted(losses, key=lambda word: word != meant))


def check_copies(n_copies: object, dropout: object) -> None:
    """Raise unless rows can be copied so often with such a share of gaps."""
    check_integer("n_copies", n_copies, minimum=0, example="4")
    check_share("dropout", dropout, example="0.2")


LEARNING_RATES = (1e-6, 10.0)
"""Beyond these the weights of trees or rows leave the range of numbers."""


def check_learning_rate(
    value: object, bounds: tuple[float, float] = LEARNING_RATES, example: str = "0.1"
) -> None:
    """Raise unless `value` is a number within the bounds."""
    check_real("learning_rate", value, minimum=0.0, is_open=True, example=example)
    low, high = bounds
    if not low <= float(value) <= high:  # type: ignore[arg-type]
        raise ValueError(
            f"learning_rate={value!r} is out of range; give a number from {low:g} to {high:g}; "
            f"try learning_rate={example}."
        )


DEEPEST_FULL_TREE = 20
"""A complete tree of depth 20 has two million nodes; one more level doubles them."""


def check_max_depth(max_depth: object, init: object) -> None:
    """Raise unless `max_depth` can be the depth of the tree that `init` asks for."""
    if max_depth is None:
        if init == "cart":
            return
        raise ValueError(
            "max_depth=None has no meaning for a tree whose structure is fixed before it is "
            'fitted; give an integer >= 1; try max_depth=8, or init="cart" to let CART choose.'
        )
    check_integer("max_depth", max_depth, minimum=1, example="8; DummyClassifier has no split")
    is_full = isinstance(init, str) and init != "cart"
    if is_full and int(max_depth) > DEEPEST_FULL_TREE:  # type: ignore[call-overload]
        raise ValueError(
            f"max_depth={max_depth} makes a start of about 2**{max_depth} leaves; give an integer "
            f'from 1 to {DEEPEST_FULL_TREE}; try max_depth=12, or init="cart" or a '
            "RandomStructure for a deep tree with gaps."
        )
