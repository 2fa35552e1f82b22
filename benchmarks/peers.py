"""The forests of other libraries, each named by a word and built from its own parameters.

A peer is imported only when it is built: a library that is not installed is named as missing on
the page, and the rest of the table goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Peer:
    """Where a library keeps its classifier and regressor, and how it names seed and threads."""

    module: str
    classifier: str
    regressor: str | None = None
    threads: str | None = "n_jobs"
    seed: str = "random_state"
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """Package to install."""
        root = self.module.split(".")[0]
        return {"sklearn": "scikit-learn", "peers": "ydf"}.get(root, root)

    @property
    def is_installed(self) -> bool:
        """Whether the library can be imported."""
        return find_spec(self.package.replace("scikit-learn", "sklearn")) is not None


_QUIET_CATBOOST = {"logging_level": "Silent", "allow_writing_files": False}
PEERS = {
    "cart": Peer("sklearn.tree", "DecisionTreeClassifier", "DecisionTreeRegressor", None),
    "rf": Peer("sklearn.ensemble", "RandomForestClassifier", "RandomForestRegressor"),
    "extra_trees": Peer("sklearn.ensemble", "ExtraTreesClassifier", "ExtraTreesRegressor"),
    "adaboost": Peer("sklearn.ensemble", "AdaBoostClassifier", None, None),
    "hist_gb": Peer(
        "sklearn.ensemble",
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRegressor",
        None,
        fixed={"early_stopping": False},
    ),
    "xgboost": Peer("xgboost", "XGBClassifier", "XGBRegressor"),
    "lightgbm": Peer("lightgbm", "LGBMClassifier", "LGBMRegressor", fixed={"verbose": -1}),
    "catboost": Peer(
        "catboost",
        "CatBoostClassifier",
        "CatBoostRegressor",
        "thread_count",
        fixed=_QUIET_CATBOOST,
    ),
    "ydf": Peer("peers", "YDFObliqueForest", None, "num_threads", "random_seed"),
}


def build_peer(
    kind: str, params: dict[str, Any], seed: int, n_threads: int, is_regression: bool
) -> Any:
    """Unfitted estimator of the peer `kind`."""
    peer = PEERS[kind]
    name = peer.regressor if is_regression else peer.classifier
    if name is None:
        raise ValueError(f"estimator {kind!r} has no regressor; leave its row out of the table.")
    given = {**peer.fixed, **params, peer.seed: seed}
    if peer.threads:
        given.setdefault(peer.threads, n_threads)
    if kind == "adaboost":
        given["estimator"] = _weak_learner(given)
    return getattr(import_module(peer.module), name)(**given)


def _weak_learner(given: dict[str, Any]) -> Any:
    """CART of the depth that the row asks for; boosting with scikit-learn's stumps is no rival."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=given.pop("max_depth", None))


class YDFObliqueForest:
    """YDF's random forest of sparse oblique trees with `fit` and `predict` over matrices."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> YDFObliqueForest:
        """Train; the classes must be the integers from 0."""
        import ydf

        ydf.verbose(0)
        settings = {"split_axis": "SPARSE_OBLIQUE", "compute_oob_performances": False}
        learner = ydf.RandomForestLearner(label="y", **settings, **self.params)
        self.model_ = learner.train({"x": X, "y": y})
        names = np.array(self.model_.label_classes(), dtype=np.int64)
        self._order = np.argsort(names)
        self.classes_ = names[self._order]
        return self

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.floating[Any]]:
        """Class probabilities, columns in the order of `classes_`."""
        found = self.model_.predict({"x": X})
        both = found if found.ndim == 2 else np.column_stack([1 - found, found])
        return np.asarray(both[:, self._order])

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """Most likely class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if "model_" in state:  # YDF's own form; its objects are not made for pickle
            state["model_"] = self.model_.serialize()
        return state
