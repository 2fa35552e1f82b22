"""The models that are compared, each built from settings that fit in JSON.

`kind` chooses the model and `params` go to its constructor. Kind "spinney" is the class of our
package named `estimator`, a single tree if none is named; `start` says what that tree starts from:
"own" (its own random start), "shared" (that of the LIBLINEAR version) or "cart".
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from datasets import Dataset
from hyperplanes import Scaling, balanced_start, spinney_start
from liblinear_tao import LiblinearTAO
from peers import PEERS, build_peer
from sklearn.tree import DecisionTreeClassifier

Settings = dict[str, Any]

#: The tables are about errors and times of the papers' forests, which know no map to probabilities.
AS_IN_PAPERS = {"voting": "auto", "calibrate": False}


def as_in_papers(estimator: type[Any]) -> Settings:
    """Those of a class of estimators that knows them."""
    known = estimator._get_param_names()
    return {name: value for name, value in AS_IN_PAPERS.items() if name in known}


def spinney(*, start: str = "own", **params: Any) -> Settings:
    """Settings of our tree."""
    return {"kind": "spinney", "start": start, "params": {"n_jobs": 1, **params}}


def liblinear(**params: Any) -> Settings:
    """Settings of the LIBLINEAR version; it always takes the shared start."""
    return {"kind": "liblinear", "params": params}


def cart(**params: Any) -> Settings:
    """Settings of scikit-learn's greedy tree."""
    return {"kind": "cart", "params": params}


def forest(**params: Any) -> Settings:
    """Settings of scikit-learn's random forest."""
    return {"kind": "rf", "params": {"n_estimators": 100, "n_jobs": 1, **params}}


def build(settings: Settings, data: Dataset, seed: int) -> Any:
    """Unfitted estimator for `settings`; its start is made here, outside any timing."""
    kind, params = settings["kind"], settings["params"]
    if kind == "spinney":
        return _build_spinney(settings, data, seed)
    if kind == "liblinear":
        planes = _shared_planes(data, params["max_depth"], seed)
        return LiblinearTAO(**params, start=planes, random_state=seed)
    if kind == "catboost" and not isinstance(data.X_train, np.ndarray):
        params = params | {"cat_features": category_columns(data.X_train)}
    return build_peer(kind, params, seed, settings.get("threads", 1), data.is_regression)


def category_columns(X: Any) -> list[str]:
    """Names of a frame's columns of categories: other libraries read them from the frame."""
    dtypes = getattr(X, "dtypes", {})
    return [str(name) for name, dtype in dtypes.items() if str(dtype) == "category"]


def missing(settings: Settings) -> str | None:
    """Why the model cannot be built here; None if it can."""
    if settings["kind"] == "spinney":
        if find_spec("spinney") is None:
            return "spinney is not installed (make install)"
        import spinney

        name = settings.get("estimator", "TAOTreeClassifier")
        return None if hasattr(spinney, name) else f"spinney has no {name} yet"
    peer = PEERS.get(settings["kind"])
    if peer is None or peer.is_installed:
        return None
    return f"the package {peer.package} is not installed (pip install 'spinney[bench]')"


def _build_spinney(settings: Settings, data: Dataset, seed: int) -> Any:
    import spinney
    from spinney.estimators.renamed import current_names

    params = dict(settings["params"])
    start = settings.get("start", "own")
    if start == "shared":
        planes = _shared_planes(data, params["max_depth"], seed)
        scaling = Scaling.of(data.X_train)
        params["init"] = spinney_start(planes, scaling, data.X_train, data.y_train)
    elif start == "cart":
        params["init"] = fit_cart(data, params["max_depth"], seed)
    elif isinstance(params.get("init"), dict):
        params["init"] = spinney.RandomStructure(**params["init"])
    if isinstance(params.get("alpha"), list):
        params["alpha"] = tuple(params["alpha"])  # a path; JSON and TOML know only lists
    params.setdefault("n_jobs", settings.get("threads", 1))
    estimator = getattr(spinney, settings.get("estimator", "TAOTreeClassifier"))
    # Results are kept under the parameters as they were called when they were measured.
    params = current_names(estimator, params)
    return estimator(**(as_in_papers(estimator) | params), random_state=seed)


def fit_cart(data: Dataset, max_depth: int | None, seed: int) -> DecisionTreeClassifier:
    """Greedy tree of the given depth, fitted."""
    tree = DecisionTreeClassifier(max_depth=max_depth, random_state=seed)
    return tree.fit(data.X_train, data.y_train)


def _shared_planes(data: Dataset, depth: int, seed: int) -> Any:
    Z = Scaling.of(data.X_train).apply(data.X_train)
    return balanced_start(Z, depth, seed)


def name_of(settings: Settings) -> str:
    """Short name of a model, for tables and file names."""
    params = settings["params"]
    depth = params.get("max_depth")
    if settings["kind"] == "spinney":
        split = "axis-" if params.get("split") == "axis" else ""
        return f"spinney-{split}{params.get('leaf', 'constant')}-d{depth}"
    if settings["kind"] == "rf":
        return f"rf-{params['n_estimators']}"
    return f"{settings['kind']}-{'full' if depth is None else f'd{depth}'}"
