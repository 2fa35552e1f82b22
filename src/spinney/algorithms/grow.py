"""Grow one tree greedily from the root down, with any split.

CO2 trees ([1]_ section 4), Ho's trees ([2]_ section 2) and the usual baselines are one grower with
different rules for a split; grower and rules are native (`cpp/src/grow/`). A grown tree is an
ordinary :class:`~spinney.tree.structure.Tree`: TAO can start from it.

References
----------
.. [1] Norouzi, Collins, Fleet and Kohli, "CO2 Forest: Improved Random Forest by Continuous
   Optimization of Oblique Splits", 2015.
.. [2] Ho, "Random Decision Forests", ICDAR 1995.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.data import SCALE_OF_RANGE, Problem
from spinney.tree.route import apply
from spinney.tree.shrink import shrink_leaves
from spinney.tree.structure import Tree, constant_leaves

#: Columns of a node are candidates, pairs or sums of them are, or all are used together.
COLUMN_SPLITS = ("axis", "oc1", "ridge", "lda", "logistic")
DIRECTION_SPLITS = ("probes", "projections")
HO_SPLITS = ("central_axis", "perceptron")
SPLITS = (*COLUMN_SPLITS, *DIRECTION_SPLITS, *HO_SPLITS, "co2")

#: Splits that square the scales of the columns in float32.
SQUARING_SPLITS = ("co2", "perceptron")

#: Splits that are found step by step from row to row.
STEPPING_SPLITS = ("co2", "perceptron")

#: Purpose of the random numbers that stretch the columns of a tree; the core has the others.
STRETCH = 1

#: Largest count that the core is given; more means the same.
LARGEST_COUNT = 2**62

CRITERIA = ("entropy", "gini")
SCALES = ("range", "deviation")

#: Whether the optimised split is always taken, or rows out of the bag may want its start instead.
CHOICES = ("bound", "oob")


@dataclass(frozen=True)
class CO2Options:
    """How a CO2 stump is optimised ([1]_, Alg. 1).

    Attributes
    ----------
    max_norm : float
        Largest squared length of the weights with the bias; the ν of [1]_ eq. (9).
    learning_rate : float
        First step length; the η of Alg. 1, lines 9 to 13.
    batch_size : int
        Rows of a step, 100 in [1]_ section 4.2. Nodes of fewer than ten batches have smaller ones.
    momentum : float
        0.9 in [1]_ section 4.2.
    refresh_epochs : int
        Passes between two tangents of the concave part of [1]_ eq. (11); the τ of section 4.2.
    relabel_epochs : int
        First passes whose tangents lie where the leaves want the rows, not where the rows are. If
        there are any, the leaves are fitted to their sides at every tangent. Not in [1]_.
    max_epochs : int
        Most passes over the rows of a node.
    tol : float
        The bound has to fall by this share, else the learning rate is halved, and at last it ends:
        the "oscillates" of [1]_ section 4.2.
    """

    max_norm: float = 10.0
    learning_rate: float = 0.03
    batch_size: int = 100
    momentum: float = 0.9
    refresh_epochs: int = 5
    relabel_epochs: int = 0
    max_epochs: int = 50
    tol: float = 1e-3


@dataclass(frozen=True)
class GrowOptions:
    """How a tree is grown.

    Attributes
    ----------
    split : str
        One of `SPLITS`.
    criterion : {"entropy", "gini"}
        Impurity of classes; numbers have the squared error. The entropy is the log loss of [1]_
        eq. (3) at its best leaves, the squared error eq. (4).
    scale : {"range", "deviation"}
        Columns are measured about their means, in units of their range or deviation.
    scale_spread : float
        How much these units differ from tree to tree: each is divided by e to the power of this
        times a normal number, which follows from `seed`.
    max_depth : int
        0 for no limit.
    min_samples_split : int
        Nodes of fewer rows are leaves.
    min_leaf_share : float
        Least weight of the rows of a leaf, as a share of that of all rows. A hyperplane that would
        leave less on a side is replaced by the best column that does not.
    choice : {"bound", "oob"}
        Whether the trees of a forest have their splits judged by the rows not drawn for them.
    leaf_shrinkage : float
        How far leaves are drawn towards the nodes above them, in rows; 0 for not at all.
    n_candidates : int
        Columns, pairs or sums of columns that a split tries, or the columns of the subspace of a
        node for Ho's splits; 0 for as many as there are columns.
    co2 : CO2Options
        For ``split="co2"``.
    n_steps : int
        Stops along the central axis ([2]_ section 2), for ``split="central_axis"`` and where a
        perceptron fails.
    max_epochs : int
        Passes of the perceptron ([2]_ section 2) over the rows of a node.
    n_restarts, n_jumps : int
        Random starts, and random steps out of each local minimum, of ``split="oc1"``.
    most_columns : int
        Columns of a sum, for ``split="projections"``.
    ridge : float
        Penalty of ``split="ridge"`` and ``"logistic"``, as a share of the columns' mean variance.
    seed, n_threads : int
    """

    split: str = "axis"
    criterion: str = "entropy"
    scale: str = "range"
    scale_spread: float = 0.0
    max_depth: int = 0
    min_samples_split: int = 2
    min_leaf_share: float = 0.0
    choice: str = "bound"
    leaf_shrinkage: float = 0.0
    n_candidates: int = 0
    co2: CO2Options = field(default_factory=CO2Options)
    n_steps: int = 100
    max_epochs: int = 50
    n_restarts: int = 0
    n_jumps: int = 5
    most_columns: int = 3
    ridge: float = 0.01
    seed: int = 0
    n_threads: int = 1


def grow_tree(
    problem: Problem,
    options: GrowOptions,
    callback: Callable[[], None] | None = None,
    columns: NDArray[np.intp] | None = None,
    judge_weights: NDArray[np.float64] | None = None,
) -> Tree:
    """A tree grown until its leaves are pure, no split parts their rows, or a limit is met.

    Parameters
    ----------
    problem : Problem
        Rows of weight 0 take no part.
    options : GrowOptions
    callback : callable or None, default=None
        Called now and then; what it raises ends the work.
    columns : integer ndarray or None, default=None
        Columns that the tree may read; None is all.
    judge_weights : float64 ndarray of shape (n_rows,) or None, default=None
        Rows of positive weight judge splits: where a CO2 split serves them worse than the column
        it started from, the column is kept. They should have no weight in `problem`.

    Notes
    -----
    Other columns are not cut away but left without a scale: sums over a row depend in their last
    bits on the places of its columns, and a tree is to meet the same sums when it predicts.
    """
    left, right, bias, indptr, indices, weights, values = _core.grow_tree(
        problem.rows,
        problem.mean,
        _inverse_scale(problem, options.scale, columns) * _stretch(problem.n_features, options),
        problem.classes,
        problem.values if problem.n_classes else problem.targets.astype(np.float64, copy=False),
        problem.sample_weight,
        np.zeros(0) if judge_weights is None else judge_weights,
        problem.n_outputs,
        _split_options(options),
        _core.GrowOptions(
            options.criterion,
            min(options.max_depth, LARGEST_COUNT),
            min(options.min_samples_split, LARGEST_COUNT),
            options.min_leaf_share * float(problem.sample_weight.sum()),
            min(options.n_candidates or problem.n_features, LARGEST_COUNT),
            options.seed,
            options.n_threads,
        ),
        callback,
    )
    tree = Tree(
        n_features=problem.n_features,
        left=left,
        right=right,
        bias=bias,
        split_indptr=indptr,
        split_indices=indices,
        split_weights=weights,
        **constant_leaves(values),
    )
    if options.leaf_shrinkage == 0:
        return tree
    leaves = tree.leaf_index[apply(tree, problem.rows, options.n_threads)]
    leaf_rows = np.zeros(tree.n_leaves)
    np.add.at(leaf_rows, leaves, problem.sample_weight)
    return shrink_leaves(tree, leaf_rows, options.leaf_shrinkage)


def _inverse_scale(
    problem: Problem, scale: str, columns: NDArray[np.intp] | None
) -> NDArray[np.float64]:
    """1 / unit of each column, 0 where it is constant or of no use to the tree."""
    is_used = problem.scale > 0
    if columns is not None:
        is_used = is_used & np.isin(np.arange(problem.n_features), columns)
    if scale == "range":
        return np.where(is_used, problem.inverse_scale * SCALE_OF_RANGE, 0.0)
    is_used = is_used & (problem.deviation > 0)  # where rows have weight, it may be constant
    return np.divide(1.0, problem.deviation, out=np.zeros_like(problem.scale), where=is_used)


def _stretch(n_features: int, options: GrowOptions) -> NDArray[np.float64]:
    """Factors on the scales of the columns, one tree's own."""
    if options.scale_spread == 0:
        return np.ones(n_features)
    # Log-normal: a column is as likely to be stretched by a factor as to be shrunk by it.
    normal = np.random.default_rng([options.seed, STRETCH]).standard_normal(n_features)
    return np.exp(options.scale_spread * normal)


def _split_options(options: GrowOptions) -> _core.SplitOptions:
    split = _core.SplitOptions(options.split)
    for name in ("n_steps", "n_restarts", "n_jumps", "most_columns"):
        setattr(split, name, min(getattr(options, name), LARGEST_COUNT))
    split.max_iter = min(options.max_epochs, LARGEST_COUNT)
    split.ridge = options.ridge
    co2 = _core.CO2Options()
    for name in ("batch_size", "refresh_epochs", "relabel_epochs", "max_epochs"):
        setattr(co2, name, min(getattr(options.co2, name), LARGEST_COUNT))
    for name in ("max_norm", "learning_rate", "momentum"):
        setattr(co2, name, getattr(options.co2, name))
    co2.tolerance = options.co2.tol
    split.co2 = co2
    return split
