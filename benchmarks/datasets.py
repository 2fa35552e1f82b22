"""Named benchmark data sets with their standard train and test rows.

Sets that are made from others (subsamples, folds, one-hot columns, embeddings) are in
`prepared`. The rest are looked for in ``$SPINNEY_DATA``, then in ``../shared/data`` beside the
repository, then on OpenML. Dense features come back as C-ordered float32, sparse ones as float32
CSR, class labels as int64 from 0, regression targets as float64. Nothing is scaled here. Tables
with categories (`prepared`, names that begin with "mixed_") stay frames.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Dataset:
    """Train and test rows of one task."""

    name: str
    X_train: NDArray[np.float32] | sparse.csr_matrix
    y_train: NDArray[np.int64] | NDArray[np.float64]
    X_test: NDArray[np.float32] | sparse.csr_matrix
    y_test: NDArray[np.int64] | NDArray[np.float64]
    source: str

    @property
    def is_regression(self) -> bool:
        """Whether the targets are numbers, not classes."""
        return self.y_train.dtype.kind == "f"


@dataclass(frozen=True)
class OpenMLSplit:
    """Where OpenML keeps a data set, and the sizes of its standard split."""

    name: str
    version: int
    n_train: int
    n_test: int


# ASSUMED, not checked against the files: that OpenML keeps the training rows first, in the
# order of the standard split. The number of rows is checked when a set is loaded.
OPENML = {
    "letter": OpenMLSplit("letter", 1, 16000, 4000),
    "mnist": OpenMLSplit("mnist_784", 1, 60000, 10000),
    "fashion_mnist": OpenMLSplit("Fashion-MNIST", 1, 60000, 10000),
    "pendigits": OpenMLSplit("pendigits", 1, 7494, 3498),
    "satimage": OpenMLSplit("satimage", 1, 4435, 2000),
    "usps": OpenMLSplit("USPS", 1, 7291, 2007),
}


def load(name: str) -> Dataset:
    """Data set `name`: prepared from others, or from the first place that has it."""
    import prepared

    if prepared.knows(name):
        return prepared.prepare(name)
    path = find_file(f"{name}.npz")
    if path is not None:
        return load_file(name, path)
    if name in OPENML:
        return load_openml(name)
    raise FileNotFoundError(
        f"no data set named {name!r}: looked for {name}.npz in "
        f"{[str(folder) for folder in data_folders()]}, OpenML is known to serve only "
        f"{sorted(OPENML)}, and those made from others are {prepared.names()}. "
        f"Set SPINNEY_DATA to the folder that holds {name}.npz."
    )


def find_file(file_name: str) -> Path | None:
    """First file of this name in the data folders."""
    paths = (folder / file_name for folder in data_folders())
    return next((path for path in paths if path.is_file()), None)


def data_folders() -> list[Path]:
    """Folders to look in, the first match wins."""
    given = os.environ.get("SPINNEY_DATA")
    beside = REPOSITORY.parent / "shared" / "data"
    return [Path(given), beside] if given else [beside]


def load_file(name: str, path: Path) -> Dataset:
    """Data set in an ``.npz`` file with keys X_train, y_train, X_test, y_test."""
    with np.load(path) as arrays:
        if "y_test" not in arrays:
            raise ValueError(f"{path} has no test rows (y_test); choose a set with a split.")
        return Dataset(
            name=name,
            X_train=_features(arrays, "X_train"),
            y_train=_targets(arrays["y_train"]),
            X_test=_features(arrays, "X_test"),
            y_test=_targets(arrays["y_test"]),
            source=str(path.name),
        )


def _targets(y: NDArray[np.generic]) -> NDArray[np.int64] | NDArray[np.float64]:
    return y.astype(np.float64 if y.dtype.kind == "f" else np.int64)


def _features(arrays: np.lib.npyio.NpzFile, key: str) -> NDArray[np.float32] | sparse.csr_matrix:
    if key in arrays:
        return np.ascontiguousarray(arrays[key], dtype=np.float32)
    parts = tuple(arrays[f"{key}_{part}"] for part in ("data", "indices", "indptr"))
    shape = tuple(arrays[f"{key}_shape"])
    return sparse.csr_matrix((parts[0].astype(np.float32), *parts[1:]), shape=shape)


def load_openml(name: str) -> Dataset:
    """Data set fetched from OpenML and cut at its standard split."""
    from sklearn.datasets import fetch_openml

    split = OPENML[name]
    try:
        X, y = fetch_openml(
            split.name, version=split.version, return_X_y=True, as_frame=False, parser="auto"
        )
    except OSError as error:
        raise FileNotFoundError(
            f"data set {name!r} is in none of {[str(f) for f in data_folders()]} and OpenML "
            f"could not be reached ({error}). Set SPINNEY_DATA to the folder of {name}.npz."
        ) from error
    X = np.ascontiguousarray(X, dtype=np.float32)
    codes = np.unique(y, return_inverse=True)[1].astype(np.int64)
    n, expected = split.n_train, split.n_train + split.n_test
    if len(X) != expected:
        raise ValueError(
            f"OpenML's {split.name} version {split.version} has {len(X)} rows, the standard split "
            f"has {expected}. Set SPINNEY_DATA to a folder with the standard {name}.npz."
        )
    source = f"OpenML {split.name}, cut by row order"
    return Dataset(name, X[:n], codes[:n], X[n:], codes[n:], source)
