"""What fitted attributes each estimator has, and what they must agree on.

One table: for each family its attributes, what they must be, and whether a fit always sets them.
The same check is made before a model is written and after it was read, so that what is saved can be
loaded, and what was loaded is whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.algorithms.trace import Trace
from spinney.data.checks import check_n_jobs
from spinney.data.tables import TableEncoding, TypicalRow
from spinney.estimators.additive import SummedForest
from spinney.estimators.base import Classification, Estimator, Regression
from spinney.estimators.boost import TAOBoostClassifier
from spinney.estimators.early_stopping import WatchedForest
from spinney.estimators.fao import _FAOForest
from spinney.estimators.forest import _TAOForest
from spinney.estimators.forest_base import ForestEstimator, TracedForest, VotingForest
from spinney.estimators.gradient import _GradientBoosting
from spinney.estimators.independent_trees import SampledClassifier, SampledForest, SampledRegressor
from spinney.estimators.parameters import SCORE_LOSSES
from spinney.estimators.path import RegularizationPath
from spinney.estimators.refine import (
    RefinedForestClassifier,
    RefinedForestRegressor,
    _RefinedForest,
)
from spinney.estimators.tree import TAOTreeClassifier, TAOTreeRegressor, _TAOTree
from spinney.estimators.tree_base import TreeEstimator
from spinney.export.field_checks import (
    Field,
    are_names,
    is_ascending,
    is_bool,
    is_digest,
    is_finite,
    is_number,
    is_number_or_nan,
    is_sampling,
    is_seed,
    is_share,
    is_table,
    whole,
)
from spinney.export.fitted_images import IMAGE_FIELDS, IMAGE_MODELS
from spinney.fitting.sklearn_callbacks import CALLBACKS
from spinney.tree.forest import Forest
from spinney.tree.structure import Tree

MOST_THREADS = 2**31 - 1

OF_SKLEARN = ("_metadata_request", "_sklearn_output_config")
"""Set by methods of scikit-learn, not by a fit; stored by other means."""

NOT_FITTED = (*OF_SKLEARN, CALLBACKS)
"""Beside the parameters, what is there before a fit. Callbacks belong to who fits: no model file
has them."""


def fitted_names(model: Any) -> list[str]:
    """Names of what a fit has stored in an estimator."""
    others = {*model.get_params(deep=False), *NOT_FITTED}
    return [name for name in vars(model) if name not in others]


def check_fitted(model: Any) -> None:
    """Raise ValueError unless an estimator is unfitted, or fitted with all that belongs to it.

    Trees are not looked at one by one here; `Tree.check` has done that.
    """
    names = vars(model).keys() if isinstance(model, RegularizationPath) else fitted_names(model)
    if not names:
        return
    fields = [field for field in FIELDS if isinstance(model, field.owner)]
    kind = type(model).__name__
    if odd := sorted(set(names) - {field.name for field in fields}):
        raise ValueError(
            f"{kind} has the attribute {odd[0][:60]!r}, which no fit makes; delete it."
        )
    for field in fields:
        if field.name not in names:
            if field.is_required:
                raise ValueError(f"{kind} is fitted but has no {field.name}.")
            continue
        value = getattr(model, field.name)
        if not field.holds(value, model):
            raise ValueError(
                f"{field.name} of {kind} is {_short(value)}; it must be {field.wanted}."
            )
    _check_parameters_of_predictions(model)


def _check_parameters_of_predictions(model: Any) -> None:
    """Raise unless predictions can read their parameters; most are read by a fit alone."""
    if isinstance(model, IMAGE_MODELS):
        model._check_reading()
    elif hasattr(model, "n_jobs"):
        _check_threads(model.n_jobs)
    if isinstance(model, Estimator):
        model._readout()  # reads what predictions read, and refuses what is of no use to them


def _check_threads(n_jobs: Any) -> None:
    check_n_jobs(n_jobs)
    if n_jobs is not None and abs(int(n_jobs)) > MOST_THREADS:
        raise ValueError(f"n_jobs={str(n_jobs)[:40]}; give at most {MOST_THREADS}.")


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return f"{str(value)[:60]!r} ({type(value).__name__})"


def _are_labels(value: Any, model: Any) -> bool:
    """Distinct labels of one kind."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "biufUO":
        return False
    labels = value.tolist()
    is_known = len(labels) >= 1 and all(label == label for label in labels)  # nan is no class
    return is_known and len(set(labels)) == len(labels) and _fits_outputs(len(labels), model)


def _fits_outputs(n_outputs: int, model: Any) -> bool:
    trees = getattr(model, "forest_", getattr(model, "tree_", None))
    return trees is None or bool(trees.n_outputs == n_outputs)


def _is_encoding(value: Any, model: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, TableEncoding) or value.n_columns != model.n_features_in_:
        return False
    names = getattr(model, "feature_names_in_", None)
    return value.names is None if names is None else value.names == tuple(names)


def _is_typical(value: Any, model: Any) -> bool:
    """A typical row of the model's coordinates, with a level for each column of categories."""
    if not isinstance(value, TypicalRow) or not np.isfinite(value.coordinates).all():
        return False
    encoding, n_columns = model.encoding_, model.n_features_in_
    n_read = n_columns if encoding is None else encoding.n_coordinates
    shapes = (value.coordinates.shape, value.had_missing.shape)
    if shapes != ((n_read,), (n_columns,)):
        return False
    return value.levels.keys() == (set() if encoding is None else encoding.levels.keys())


def _are_leaf_ids(value: Any, model: Any) -> bool:
    """Ascending node numbers for each tree of the forest that was refined."""
    if not isinstance(value, list) or len(value) != _n_trees(model.forest):
        return False
    return all(is_ascending(ids) and ids[0] >= 0 for ids in value)


# Claims about trees.


def _suits(trees: Tree | Forest, model: Any) -> bool:
    """Whether trees read the coordinates of the model and answer with its outputs."""
    n_outputs = model.n_classes_ if isinstance(model, Classification) else model.n_outputs_
    encoding = model.encoding_
    n_read = model.n_features_in_ if encoding is None else encoding.n_coordinates
    return bool(trees.n_features == n_read and trees.n_outputs == n_outputs)


def _is_tree(value: Any, model: Any) -> bool:
    return isinstance(value, Tree) and _suits(value, model)


def _is_last_tree(value: Any, model: Any) -> bool:
    return value is None or _is_tree(value, model)


def _is_forest(value: Any, model: Any) -> bool:
    return isinstance(value, Forest) and _suits(value, model)


def _are_traces(value: Any, model: Any) -> bool:
    n_traces = model.n_forests_ if isinstance(model, _FAOForest) else model.forest_.n_trees
    is_list = isinstance(value, list) and len(value) == n_traces
    return is_list and all(isinstance(trace, Trace) for trace in value)


def _are_weights(value: Any, model: Any) -> bool:
    is_vector = is_finite(value, model.forest_.n_trees)
    return is_vector and bool((value >= 0).all() and 0 < value.sum() < np.inf)


def _is_fitted_forest(model: Any) -> bool:
    return isinstance(model, ForestEstimator | TreeEstimator) and bool(fitted_names(model))


def _n_trees(forest: Any) -> int:
    return len(forest.trees_) if isinstance(forest, ForestEstimator) else 1


def _suits_forest(value: Any, model: Any) -> bool:
    """Number of columns of a refined forest, which is that of a fitted forest of this library."""
    return _is_fitted_forest(model.forest) and value == model.forest.n_features_in_


def _n_path(model: RegularizationPath) -> int:
    return len(model.estimators)


def _are_path_trees(value: Any, _: Any) -> bool:
    is_path = isinstance(value, tuple) and len(value) >= 1
    trees = TAOTreeClassifier | TAOTreeRegressor
    return is_path and all(isinstance(tree, trees) and hasattr(tree, "tree_") for tree in value)


def _are_counts(value: Any, model: RegularizationPath) -> bool:
    is_vector = isinstance(value, np.ndarray) and value.dtype == np.int64
    return is_vector and value.shape == (_n_path(model),) and bool((value >= 0).all())


def _are_errors(value: Any, model: RegularizationPath) -> bool:
    return is_finite(value, _n_path(model))


def _are_errors_or_none(value: Any, model: RegularizationPath) -> bool:
    return value is None or _are_errors(value, model)


# A claim may look at the attributes of the lines above it.
FIELDS = (
    Field(Estimator, "n_features_in_", "an integer >= 1", whole(1)),
    Field(Estimator, "feature_names_in_", "a distinct string a column", are_names, False),
    Field(Estimator, "encoding_", "None or an encoding of these columns", _is_encoding),
    Field(Classification, "n_outputs_", "1", lambda value, _: type(value) is int and value == 1),
    Field(Regression, "n_outputs_", "an integer >= 1", whole(1)),
    Field(Classification, "n_classes_", "an integer >= 1", whole(1)),
    Field(TreeEstimator, "tree_", "a tree of these columns and outputs", _is_tree),
    Field(ForestEstimator, "forest_", "a forest of these columns and outputs", _is_forest),
    Field(Classification, "classes_", "a distinct label a class", _are_labels),
    Field(Estimator, "n_parameters_", "an integer >= 0", whole(0)),
    Field(Estimator, "flops_", "a finite number", is_number),
    Field(
        Estimator,
        "feature_importances_",
        "a finite number a column",
        lambda value, model: is_finite(value, model.n_features_in_),
    ),
    # Models of older releases have none.
    Field(Estimator, "typical_", "a typical row of these columns", _is_typical, False),
    Field(Estimator, "stopped_by_callback_", "true or false", is_bool, False),
    Field(_TAOTree, "trace_", "a Trace", lambda value, _: isinstance(value, Trace)),
    Field(
        _FAOForest,
        "n_forests_",
        "a divisor of the number of trees",
        lambda value, model: whole(1)(value, model) and model.forest_.n_trees % value == 0,
    ),
    Field(TracedForest, "traces_", "a Trace a tree, or a forest of FAO", _are_traces),
    Field(_TAOTree, "n_iter_", "an integer >= 0", whole(0)),
    Field(TracedForest, "n_iter_", "an integer >= 0", whole(0)),
    Field(SampledForest, "_seed", "a seed", is_seed),
    Field(SampledForest, "_sampling", "None or (rows, drawn, bootstrap)", is_sampling),
    Field(SampledForest, "_row_digest", "None or a digest of rows", is_digest, False),
    Field(WatchedForest, "_seed", "a seed", is_seed),
    Field(WatchedForest, "_fraction_aside", "a share of the rows", is_share),
    Field(WatchedForest, "_row_digest", "None or a digest of rows", is_digest, False),
    Field(_TAOForest, "_last_tree", "None or a tree of these columns and outputs", _is_last_tree),
    Field(
        SummedForest,
        "_fitted_loss",
        "a loss of these forests",
        lambda value, model: type(value) is str and value in model._losses(),
    ),
    Field(
        _GradientBoosting,
        "first_scores_",
        "a finite number an output",
        lambda value, model: is_finite(value, model.forest_.n_outputs),
    ),
    Field(TAOBoostClassifier, "estimator_weights_", "a finite weight a tree", _are_weights),
    Field(
        TAOBoostClassifier,
        "estimator_errors_",
        "a finite number a tree",
        lambda value, model: is_finite(value, model.forest_.n_trees),
    ),
    Field(
        TAOBoostClassifier,
        "validation_errors_",
        "a finite number a round",
        lambda value, _: np.ndim(value) == 1 and is_finite(value, len(value)),
        False,
    ),
    Field(
        SummedForest,
        "validation_losses_",
        "a finite number a round",
        lambda value, _: np.ndim(value) == 1 and is_finite(value, len(value)),
        False,
    ),
    Field(SampledForest, "oob_score_", "a number or nan", is_number_or_nan, False),
    Field(
        SampledClassifier,
        "oob_decision_function_",
        "a number or nan a row and class",
        lambda value, model: np.ndim(value) == 2 and is_table(value, model.n_classes_),
        False,
    ),
    Field(
        SampledRegressor,
        "oob_prediction_",
        "a number or nan a row and output",
        lambda value, model: is_table(value, model.n_outputs_),
        False,
    ),
    Field(_RefinedForest, "n_features_in_", "that of a fitted forest", _suits_forest),
    Field(_RefinedForest, "feature_names_in_", "a distinct string a column", are_names, False),
    Field(_RefinedForest, "stopped_by_callback_", "true or false", is_bool, False),
    Field(_RefinedForest, "_leaf_ids", "ascending node numbers a tree", _are_leaf_ids),
    Field(
        _RefinedForest,
        "n_leaves_",
        "the number of leaf ids",
        lambda value, model: value == sum(len(ids) for ids in model._leaf_ids),
    ),
    Field(
        VotingForest,
        "probability_votes_",
        "a finite number >= 0",
        lambda value, _: is_number(value, _) and value >= 0,
        False,
    ),
    Field(
        VotingForest,
        "probability_slope_",
        "a finite number above 0, beside probability_votes_",
        lambda value, model: (
            is_number(value, model) and value > 0 and hasattr(model, "probability_votes_")
        ),
        False,
    ),
    Field(RefinedForestClassifier, "classes_", "distinct labels", _are_labels),
    Field(
        RefinedForestRegressor,
        "mean_",
        "a finite number an output",
        lambda value, _: np.ndim(value) == 1 and len(value) >= 1 and is_finite(value, len(value)),
    ),
    Field(
        RefinedForestClassifier,
        "leaf_values_",
        "a finite number a leaf and class",
        lambda value, model: is_finite(value, model.n_leaves_, len(model.classes_)),
    ),
    Field(
        RefinedForestRegressor,
        "leaf_values_",
        "a finite number a leaf and output",
        lambda value, model: is_finite(value, model.n_leaves_, len(model.mean_)),
    ),
    Field(RefinedForestRegressor, "_is_flat", "true or false", is_bool),
    Field(
        _RefinedForest,
        "_fitted_loss",
        "a loss of refined forests",
        lambda value, _: type(value) is str and value in SCORE_LOSSES,
    ),
    Field(_RefinedForest, "score_before_", "a number or nan", is_number_or_nan),
    Field(_RefinedForest, "score_after_", "a number or nan", is_number_or_nan),
    Field(RegularizationPath, "estimators", "fitted TAO trees", _are_path_trees),
    Field(RegularizationPath, "alphas", "a finite number a tree", _are_errors),
    Field(RegularizationPath, "n_parameters", "an integer a tree", _are_counts),
    Field(RegularizationPath, "n_leaves", "an integer a tree", _are_counts),
    Field(RegularizationPath, "train_error", "a finite number a tree", _are_errors),
    Field(RegularizationPath, "validation_error", "a finite number a tree", _are_errors_or_none),
    Field(
        RegularizationPath,
        "validation_standard_error",
        "a finite number a tree",
        _are_errors_or_none,
    ),
    *IMAGE_FIELDS,
)
