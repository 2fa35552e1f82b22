"""Forests of other libraries, for ``spinney compare``.

Each is used with its own defaults and told which columns are categories, in its own way. A library
is imported when it is used, so what is not installed is just left out.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.cli.target import CLASSIFICATION
from spinney.data.tables import Table, category_mask, read_table

#: Categories of more levels are numbers for scikit-learn's histograms, which have no more bins.
MOST_LEVELS_OF_HISTOGRAMS = 255


@dataclass(frozen=True, eq=False)
class PeerRows:
    """Rows as numbers: NaN is missing, a category is the place of its level among those known."""

    matrix: NDArray[np.float64]
    is_category: NDArray[np.bool_]
    n_levels: NDArray[np.int64]

    @property
    def categories(self) -> list[int]:
        """Numbers of the columns of categories."""
        return [int(column) for column in np.flatnonzero(self.is_category)]


class PeerEncoding:
    """The levels of training rows, by which rows become `PeerRows`."""

    def __init__(self, X: Any, categorical_features: Any) -> None:
        table = read_table(X, X.column_names)
        self._is_category = category_mask(categorical_features, table)
        self._levels = [
            _levels(table, column) if is_category else {}
            for column, is_category in enumerate(self._is_category)
        ]

    def encode(self, X: Any) -> PeerRows:
        """Rows as numbers; a level that training did not have is missing."""
        table = read_table(X, X.column_names)
        columns = [
            self._codes(table, column) if is_category else table.columns[column].numbers
            for column, is_category in enumerate(self._is_category)
        ]
        n_levels = np.array([len(levels) for levels in self._levels])
        return PeerRows(np.column_stack(columns), self._is_category, n_levels)

    def _codes(self, table: Table, column: int) -> NDArray[np.float64]:
        levels = self._levels[column]
        codes = [levels.get(value, np.nan) for value in _values(table, column)]
        return np.array(codes, dtype=np.float64)


def _values(table: Table, column: int) -> list[Any]:
    found = table.columns[column]
    return list(found.texts) if found.kind == "text" else found.numbers.tolist()


def _levels(table: Table, column: int) -> dict[Any, int]:
    values = {value for value in _values(table, column) if value is not None and value == value}
    return {level: code for code, level in enumerate(sorted(values))}


class Peer(Protocol):
    """What compare asks of a peer; classes are whole numbers from 0."""

    def fit(self, rows: PeerRows, y: NDArray[Any]) -> None:
        """Train."""

    def predict(self, rows: PeerRows) -> NDArray[Any]:
        """Codes of classes, or numbers."""

    def n_bytes(self) -> int:
        """Size of the stored model."""


@dataclass(frozen=True)
class PeerKind:
    """A peer by its name: what it is called, what it needs, how it is made."""

    title: str
    package: str
    make: Callable[[str, int, int], Peer]

    @property
    def is_installed(self) -> bool:
        """Whether its library can be imported."""
        return find_spec(self.package) is not None


class _Matrix:
    """An estimator with scikit-learn's face, on rows in a matrix.

    `make` gives the estimator and the options of its fit, for rows that are known by then.
    """

    def __init__(self, make: Callable[[PeerRows], tuple[Any, dict[str, Any]]]) -> None:
        self._make = make
        self._estimator: Any = None

    def fit(self, rows: PeerRows, y: NDArray[Any]) -> None:
        self._estimator, options = self._make(rows)
        self._estimator.fit(rows.matrix, y, **options)

    def predict(self, rows: PeerRows) -> NDArray[Any]:
        return np.asarray(self._estimator.predict(rows.matrix)).ravel()

    def n_bytes(self) -> int:
        return len(pickle.dumps(self._estimator))


class _CatBoost:
    """CatBoost, which wants numbers and categories apart, the latter as bytes."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, rows: PeerRows, y: NDArray[Any]) -> None:
        self._estimator.fit(_pool(rows, y))

    def predict(self, rows: PeerRows) -> NDArray[Any]:
        return np.asarray(self._estimator.predict(_pool(rows))).ravel()

    def n_bytes(self) -> int:
        return len(pickle.dumps(self._estimator))


def _pool(rows: PeerRows, y: NDArray[Any] | None = None) -> Any:
    import catboost

    codes = rows.matrix[:, rows.is_category]
    texts = [[b"" if code != code else b"%d" % code for code in row] for row in codes.tolist()]
    data = catboost.FeaturesData(
        num_feature_data=rows.matrix[:, ~rows.is_category].astype(np.float32),
        cat_feature_data=np.array(texts, dtype=object).reshape(codes.shape),
    )
    return catboost.Pool(data, y)


class _YDF:
    """YDF's random forest of sparse oblique trees, the nearest relative in use."""

    def __init__(self, task: str, seed: int, n_jobs: int) -> None:
        self._is_classifier = task == CLASSIFICATION
        self._options = {"random_seed": seed, "num_threads": n_jobs}
        self._model: Any = None

    def fit(self, rows: PeerRows, y: NDArray[Any]) -> None:
        import ydf

        ydf.verbose(0)
        task = ydf.Task.CLASSIFICATION if self._is_classifier else ydf.Task.REGRESSION
        learner = ydf.RandomForestLearner(
            label="y",
            task=task,
            split_axis="SPARSE_OBLIQUE",
            compute_oob_performances=False,
            **self._options,
        )
        labels = y if self._is_classifier else y.astype(np.float32)
        self._model = learner.train({**_named(rows), "y": labels})

    def predict(self, rows: PeerRows) -> NDArray[Any]:
        found = self._model.predict(_named(rows))
        if not self._is_classifier:
            return np.asarray(found, dtype=np.float64)
        labels = np.array([int(label) for label in self._model.label_classes()])
        codes = found >= 0.5 if found.ndim == 1 else found.argmax(axis=1)
        return labels[np.asarray(codes, dtype=np.intp)]

    def n_bytes(self) -> int:
        return len(self._model.serialize())


def _named(rows: PeerRows) -> dict[str, NDArray[Any]]:
    """Columns by name, categories as text."""
    found: dict[str, NDArray[Any]] = {}
    for column, is_category in enumerate(rows.is_category):
        values = rows.matrix[:, column]
        if is_category:
            texts = ["" if value != value else f"level {value:.0f}" for value in values]
            found[f"x{column}"] = np.array(texts)
        else:
            found[f"x{column}"] = values.astype(np.float32)
    return found


def _random_forest(task: str, seed: int, n_jobs: int) -> Peer:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if task == CLASSIFICATION else RandomForestRegressor
    return _Matrix(lambda _: (kind(random_state=seed, n_jobs=n_jobs), {}))


def _extra_trees(task: str, seed: int, n_jobs: int) -> Peer:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    kind = ExtraTreesClassifier if task == CLASSIFICATION else ExtraTreesRegressor
    return _Matrix(lambda _: (kind(random_state=seed, n_jobs=n_jobs), {}))


def _histograms(task: str, seed: int, n_jobs: int) -> Peer:  # noqa: ARG001  # threads are OpenMP's
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    is_class = task == CLASSIFICATION
    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor

    def make(rows: PeerRows) -> tuple[Any, dict[str, Any]]:
        fits = rows.is_category & (rows.n_levels <= MOST_LEVELS_OF_HISTOGRAMS)
        return kind(random_state=seed, categorical_features=fits), {}

    return _Matrix(make)


def _xgboost(task: str, seed: int, n_jobs: int) -> Peer:
    import xgboost

    kind = xgboost.XGBClassifier if task == CLASSIFICATION else xgboost.XGBRegressor

    def make(rows: PeerRows) -> tuple[Any, dict[str, Any]]:
        types = ["c" if is_category else "float" for is_category in rows.is_category]
        options = {"feature_types": types, "enable_categorical": True}
        return kind(random_state=seed, n_jobs=n_jobs, **options), {}

    return _Matrix(make)


def _lightgbm(task: str, seed: int, n_jobs: int) -> Peer:
    import lightgbm

    kind = lightgbm.LGBMClassifier if task == CLASSIFICATION else lightgbm.LGBMRegressor

    def make(rows: PeerRows) -> tuple[Any, dict[str, Any]]:
        estimator = kind(random_state=seed, n_jobs=n_jobs, verbose=-1)
        return estimator, {"categorical_feature": rows.categories}

    return _Matrix(make)


def _catboost(task: str, seed: int, n_jobs: int) -> Peer:
    import catboost

    kind = catboost.CatBoostClassifier if task == CLASSIFICATION else catboost.CatBoostRegressor
    options = {"logging_level": "Silent", "allow_writing_files": False}
    return _CatBoost(kind(random_seed=seed, thread_count=n_jobs, **options))


PEERS = {
    "lightgbm": PeerKind("LightGBM", "lightgbm", _lightgbm),
    "hist_gb": PeerKind("scikit-learn HistGradientBoosting", "sklearn", _histograms),
    "extra_trees": PeerKind("scikit-learn ExtraTrees", "sklearn", _extra_trees),
    "random_forest": PeerKind("scikit-learn RandomForest", "sklearn", _random_forest),
    "xgboost": PeerKind("XGBoost", "xgboost", _xgboost),
    "ydf": PeerKind("YDF oblique random forest", "ydf", _YDF),
    "catboost": PeerKind("CatBoost", "catboost", _catboost),
}
