"""What FAO forests and gradient boosting share: constant leaves that add up to the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from spinney import _core
from spinney.algorithms.fao import FAOOptions
from spinney.algorithms.losses import ForestLoss, forest_loss
from spinney.data import Problem
from spinney.ensembles.calibration import Unseen, cross_fitted, map_of_scores
from spinney.estimators.tao_parameters import TAOParameters, tao_options
from spinney.fitting.validation_curve import Judged
from spinney.tree.readout import Readout, finish_of

Scores = NDArray[np.float64]


def loss_of(trees: TAOParameters, unit: float = 1.0) -> ForestLoss:
    """The loss of sums that are measured in this unit."""
    return forest_loss(trees.loss, float(getattr(trees, "huber_delta", 1.0)) / unit)


def fao_options(
    trees: TAOParameters, problem: Problem, n_threads: int = 1, **others: Any
) -> FAOOptions:
    """Options of the joint optimisation from the constructor's values, and some others."""
    tao = tao_options(trees, float(trees.alpha), n_threads=n_threads)
    return FAOOptions(
        tao=tao,
        loss=loss_of(trees, problem.target_scale),
        leaf_alpha=float(trees.leaf_alpha or 0.0),
        leaf_penalty=trees.leaf_penalty,
        max_iter=tao.max_iter,
        tol=tao.tol,
        n_threads=n_threads,
        **others,
    )


def check_same_loss(model: Any) -> None:
    """Raise if a warm start would add trees of another loss to those there are."""
    if model.loss != model._fitted_loss:
        raise ValueError(
            f"loss={model.loss!r} with warm_start=True, but the trees there are were fitted "
            f"with loss={model._fitted_loss!r}, and sums of the two mean nothing; give the "
            "same; try warm_start=False."
        )


def sum_of_trees(model: Any, tree_weights: Scores, offsets: Scores) -> Readout:
    """Weighted sums of the trees as scores of classes, or as the numbers to predict."""
    forest = model.forest_
    if not is_classifier(model):
        is_flat = model.n_outputs_ == 1
        return Readout(forest, "outputs", "identity", tree_weights, offsets, is_flat=is_flat)
    finish = finish_of(model._fitted_loss)
    readout = Readout(forest, "outputs", finish, tree_weights, offsets, model.classes_)
    calibrated: Readout = model._calibrated(readout)
    return calibrated


def calibrate(
    model: Any,
    problem: Problem,
    judged: Judged | None,
    scores_apart: Callable[[Problem, _core.Rows], Scores],
) -> None:
    """Fit the map to probabilities to validation rows, or to rows that are held out.

    Parameters
    ----------
    model : classifier or regressor
        Numbers have no map, and the softmax of scores found by log loss needs none.
    problem : Problem
    judged : Judged or None
        Validation rows, if there are any.
    scores_apart : callable
        Scores of rows by trees that are fitted to another task, as those of the forest.
    """
    if not is_classifier(model):
        return
    if not model.calibrate or model._fitted_loss == "log_loss":
        model._store_map(None)
        return
    if judged is not None:
        scores = model._readout().totals(judged.rows, model._n_threads())
        unseen = Unseen(scores, judged.targets.astype(np.int32, copy=False), judged.weights)
    else:
        unseen = cross_fitted(problem, scores_apart)
    model._store_map(map_of_scores(unseen))
