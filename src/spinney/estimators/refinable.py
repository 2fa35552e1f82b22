"""Which fitted forests have leaves that can be refined, and what is lost when they are."""

from __future__ import annotations

from typing import Any

from spinney.data.warn_caller import warn_caller
from spinney.estimators.base import Estimator
from spinney.tree.forest import Forest

#: Estimators to take in place of the native models of other libraries.
IN_PLACE_OF_BOOSTERS = {
    "xgboost": "XGBClassifier or XGBRegressor",
    "lightgbm": "LGBMClassifier or LGBMRegressor",
}


def library_of(forest: Any) -> str:
    """Name of the library that a forest is of."""
    return type(forest).__module__.split(".")[0]


def own_trees(forest: Any) -> Forest:
    """Trees of a fitted estimator of spinney."""
    own: Forest = forest.forest_ if hasattr(forest, "forest_") else Forest.of(forest.tree_)
    return own


def check_has_leaves(forest: Any) -> None:
    """Raise if a model of another library does not tell its task, or has no trees."""
    library = library_of(forest)
    if type(forest).__name__ == "Booster" and library in IN_PLACE_OF_BOOSTERS:
        raise TypeError(
            f"forest={library}.Booster does not tell what it predicts; give the fitted "
            f"scikit-learn estimator of {library}; try {IN_PLACE_OF_BOOSTERS[library]}."
        )
    if library == "xgboost" and getattr(forest, "booster", None) == "gblinear":
        raise ValueError(
            f'forest={type(forest).__name__} has booster="gblinear", a linear model without '
            'leaves; give a forest of trees; try booster="gbtree".'
        )


def warn_of_linear_leaves(forest: Any) -> None:
    """Warn if leaves are linear: refined ones are constants."""
    if not _has_linear_leaves(forest):
        return
    warn_caller(
        f"forest={type(forest).__name__} has linear leaves, and refined leaves are constants: its "
        "weights in leaves are not used, and it may become worse; give a forest of constant "
        'leaves, or compare score_before_ and score_after_; try leaf="constant" and deeper trees'
        " (in LightGBM linear_tree=False).",
    )


def _has_linear_leaves(forest: Any) -> bool:
    if isinstance(forest, Estimator):
        return any(tree.is_linear for tree in own_trees(forest).trees)
    return library_of(forest) == "lightgbm" and bool(forest.get_params().get("linear_tree"))
