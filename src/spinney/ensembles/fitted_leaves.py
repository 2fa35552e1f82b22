"""The leaves that rows reach in a fitted forest, whichever library has grown it.

Here is all that refining knows of other libraries: whether a model has leaves, what is lost when
they become constants, and how each library is asked for the leaves of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from spinney.data import as_rows
from spinney.data.row_reader import reading_model
from spinney.data.validation import check_training_rows
from spinney.data.warn_caller import warn_caller
from spinney.ensembles.fitted_trees import own_forest

#: Rows whose leaves another library is asked for at once.
ROWS_AT_ONCE = 1 << 16

#: Estimators to take in place of the native models of other libraries.
IN_PLACE_OF_BOOSTERS = {
    "xgboost": "XGBClassifier or XGBRegressor",
    "lightgbm": "LGBMClassifier or LGBMRegressor",
}


def library_of(forest: Any) -> str:
    """Name of the library that a forest is of."""
    return type(forest).__module__.split(".")[0]


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
    own = own_forest(forest)
    if own is not None:
        return any(tree.is_linear for tree in own.trees)
    return library_of(forest) == "lightgbm" and bool(forest.get_params().get("linear_tree"))


def training_leaves(
    forest: Any,
    X: ArrayLike,
    outputs: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.int64]:
    """Leaf of each training row in each tree, numbered as by `leaf_reader`.

    A forest of spinney that has learned means of levels reads its training rows by the means of
    other folds, so that no row is put into a leaf by its own target.
    """
    own = own_forest(forest)
    reader = reading_model(forest)
    if own is None or reader.encoding_ is None:
        return leaf_reader(forest)(X)
    rows = as_rows(check_training_rows(reader, X, outputs, weights))
    return own.apply(rows, n_threads=n_threads).astype(np.int64)


def leaf_reader(forest: Any) -> Callable[[ArrayLike], NDArray[np.int64]]:
    """Function that gives the leaf of each row in each tree of a fitted forest, in any numbering.

    Trees for single classes, as gradient boosting has them, count as trees of the forest.
    """
    library = library_of(forest)
    if library == "lightgbm":
        read = _of_lightgbm
    elif library == "catboost":
        read = _of_catboost
    elif hasattr(forest, "apply"):
        read = _of_apply
    elif all(hasattr(tree, "apply") for tree in getattr(forest, "estimators_", [None])):
        read = _of_single_trees
    else:
        raise TypeError(
            f"forest={type(forest).__name__} does not tell the leaves of a row; give a forest of "
            "spinney, scikit-learn, XGBoost, LightGBM or CatBoost that has an apply method; try "
            "RandomForestClassifier in place of HistGradientBoostingClassifier."
        )

    def leaves(X: ArrayLike) -> NDArray[np.int64]:
        found = np.concatenate([np.asarray(read(forest, rows)) for rows in _blocks_of(X)])
        return found.reshape(len(found), -1).astype(np.int64, copy=False)

    return leaves


def _blocks_of(X: ArrayLike) -> Iterator[ArrayLike]:
    """Rows of a long array in blocks: other libraries do not answer Ctrl-C while they read one."""
    if not isinstance(X, np.ndarray) or len(X) <= ROWS_AT_ONCE:
        yield X
        return
    for first in range(0, len(X), ROWS_AT_ONCE):
        yield X[first : first + ROWS_AT_ONCE]


def _of_apply(forest: Any, X: ArrayLike) -> Any:
    return forest.apply(X)


def _of_lightgbm(forest: Any, X: ArrayLike) -> Any:
    return forest.predict(X, pred_leaf=True)


def _of_catboost(forest: Any, X: ArrayLike) -> Any:
    return forest.calc_leaf_indexes(X)


def _of_single_trees(forest: Any, X: ArrayLike) -> Any:
    """Leaves in the trees of an ensemble that knows nothing of leaves, as bagging or AdaBoost."""
    rows = validate_data(
        forest, X, reset=False, accept_sparse="csr", dtype=None, ensure_all_finite=False
    )
    every = [slice(None)] * len(forest.estimators_)
    columns = getattr(forest, "estimators_features_", every)
    pairs = zip(forest.estimators_, columns, strict=True)
    return np.column_stack([tree.apply(rows[:, used]) for tree, used in pairs])


def leaf_numbers(
    reached: NDArray[np.int64], ids: list[NDArray[np.int64]]
) -> Iterator[NDArray[np.int64]]:
    """Number of the leaf of each row through all trees, tree by tree; -1 if it is not in `ids`."""
    first = 0
    for of_tree, known in zip(reached.T, ids, strict=True):
        place = np.minimum(np.searchsorted(known, of_tree), len(known) - 1)
        yield np.where(known[place] == of_tree, first + place, -1)
        first += len(known)
