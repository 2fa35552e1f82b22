"""One tree in the core: made for a task, given its splits, and read as a `Tree`.

The core works in units of its own: targets over their deviation, and about their mean where a
penalty draws leaves towards it. Here, and nowhere else, a tree is taken from one unit to the other.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020.
.. [2] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.tao_options import TAOOptions
from spinney.data import Problem
from spinney.tree.hyperplanes import leaf_functions
from spinney.tree.sparse_rows import nonzero_rows
from spinney.tree.structure import Tree

_NO_VALUES = np.zeros((0, 1))
_NO_WEIGHTS = np.zeros((0, 1), dtype=np.float32)


def core_task(problem: Problem, options: TAOOptions) -> _core.Task:
    """What a single tree is optimised for: loss and leaf penalty of [2]_ eq. (1)."""
    l1, l2 = (1.0, 0.0) if options.leaf_penalty == "l1" else (0.0, 1.0)
    centre = _leaf_centre(problem, options)
    return _core.Task(
        classes=problem.classes,
        values=problem.values if centre is None else problem.values - centre,
        weights=problem.sample_weight,
        n_outputs=problem.n_outputs,
        loss=options.loss,
        leaf=options.leaf,
        huber_delta=options.huber_delta / problem.target_scale,
        # mu psi(theta_j) of eq. (1) of [2]: |w|_1 or |w|^2 / 2 of the weights of a linear leaf,
        # |theta| or theta^2 of a constant one, measured from the mean of the targets.
        leaf_alpha=l1 * options.linear_alpha,
        leaf_ridge=l2 * options.linear_alpha,
        leaf_epochs=options.leaf_epochs,
        constant_l1=l1 * options.constant_alpha,
        constant_l2=l2 * options.constant_alpha,
    )


def _leaf_centre(problem: Problem, options: TAOOptions) -> NDArray[np.float64] | None:
    """What a penalty draws constant leaves towards: the mean, wherever the zero of y may lie.

    None where they have no penalty.
    """
    if problem.n_classes or not options.constant_alpha:
        return None
    return np.asarray(np.average(problem.values, axis=0, weights=problem.sample_weight))


def native_optimizer(
    problem: Problem,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    task: _core.Task,
    options: TAOOptions,
    state: _core.RowState | None = None,
) -> _core.TreeOptimizer:
    """A tree of this shape in the core, still without splits.

    Trees that take turns may be given one `state`; by default it has its own.
    """
    return _core.TreeOptimizer(
        rows=problem.rows,
        mean=problem.mean,
        inverse_scale=problem.inverse_scale,
        left=left,
        right=right,
        task=task,
        solver={
            **options.solver,
            # lambda of [1] eq. (1): of |w|_1 in units of the columns' scale.
            "alpha": options.alpha,
            # Of the surrogate alone, no part of eq. (1); a share of the mean squared row length.
            "ridge": options.ridge * problem.squared_length,
        },
        split=options.split,
        n_threads=options.n_threads,
        seed=options.seed,
        max_features=options.max_features,
        start_seed=options.start_seed,
        deviation=problem.deviation,
        state=state,
    )


def draw_into(native: _core.TreeOptimizer, options: TAOOptions) -> None:
    """Draw random hyperplanes for a shape.

    A guard may keep what was drawn, so there it has to be what was asked for. Exploring replaces
    it, and a partition by hyperplanes is the better one to start from.
    """
    is_axis = options.split == "axis" and bool(options.strict_descent)
    native.draw_splits(options.init, _start_length(options), is_axis)


def _start_length(options: TAOOptions) -> float:
    """Deviation of the weights of random hyperplanes, of which only the direction matters.

    While exploring, short ones keep nodes that no row reaches from adding much to the penalty.
    Guards compare penalties, so a strict run starts with hyperplanes of ordinary length.
    """
    return 1.0 if options.strict_descent else 1e-3


def set_tree(
    native: _core.TreeOptimizer, tree: Tree, problem: Problem, options: TAOOptions
) -> None:
    """Start from a tree; its leaves are kept if they are of the wanted kind, else refitted."""
    if tree.leaf_kind != options.leaf:
        set_tree_splits(native, tree)
        return
    values = tree.leaf_values / problem.target_scale
    centre = _leaf_centre(problem, options)
    if centre is not None:
        values = values - centre
    weights = _NO_WEIGHTS
    if tree.is_linear:
        dense = leaf_functions(tree).toarray()
        weights = (dense / problem.target_scale).astype(np.float32)
    _set(native, tree, values, weights)


def set_tree_splits(native: _core.TreeOptimizer, tree: Tree) -> None:
    """Start from the splits of a tree; the leaves are fitted to them."""
    _set(native, tree, _NO_VALUES, _NO_WEIGHTS)


def _set(
    native: _core.TreeOptimizer,
    tree: Tree,
    leaf_values: NDArray[np.float64],
    leaf_weights: NDArray[np.float32],
) -> None:
    native.set_tree(
        tree.bias,
        tree.split_indptr,
        tree.split_indices,
        tree.split_weights,
        leaf_values,
        leaf_weights,
    )


def tree_of(
    native: _core.TreeOptimizer,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    problem: Problem,
    options: TAOOptions,
) -> Tree:
    """The tree that the core holds, in the unit of the targets."""
    bias, (indptr, indices, weights) = native.splits()
    values, (leaf_indptr, leaf_indices, leaf_weights) = native.leaves()
    centre = _leaf_centre(problem, options)
    if centre is not None:
        values = values + centre
    leaf_rows = nonzero_rows(leaf_indptr, leaf_indices, leaf_weights * problem.target_scale)
    return Tree(
        n_features=problem.n_features,
        left=left,
        right=right,
        bias=bias,
        split_indptr=indptr,
        split_indices=indices,
        split_weights=weights,
        leaf_kind="linear" if options.leaf == "linear" else "constant",
        leaf_values=values * problem.target_scale,
        leaf_indptr=leaf_rows[0],
        leaf_indices=leaf_rows[1],
        leaf_weights=leaf_rows[2],
    )
