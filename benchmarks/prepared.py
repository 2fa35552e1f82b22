"""Data sets made from others: subsamples, folds, one-hot tables and document embeddings.

All of them are deterministic. Only what takes long (embeddings) is cached, outside the
repository: see `cache_folder`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, find_file, load
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

SUBSAMPLE_SEED = 0
N_FOLDS = 10
BINARY_TASKS = {
    "mnist_2v4": lambda digit: np.where(digit == 2, 0, np.where(digit == 4, 1, -1)),
    "mnist_3v8": lambda digit: np.where(digit == 3, 0, np.where(digit == 8, 1, -1)),
    "mnist_evenodd": lambda digit: digit % 2,
}
FOLD_NAME = re.compile(r"(?P<task>\w+)_fold(?P<fold>\d)")


def knows(name: str) -> bool:
    """Whether `prepare` can make this set."""
    fold = FOLD_NAME.fullmatch(name)
    return name in PREPARED or bool(fold and fold["task"] in BINARY_TASKS)


def names() -> list[str]:
    """Names of the prepared sets."""
    return sorted([*PREPARED, *(f"{task}_fold0..{N_FOLDS - 1}" for task in BINARY_TASKS)])


def prepare(name: str) -> Dataset:
    """The prepared set `name`."""
    fold = FOLD_NAME.fullmatch(name)
    if fold:
        return binary_fold(fold["task"], int(fold["fold"]))
    return PREPARED[name]()


def cache_folder() -> Path:
    """Where embeddings are kept: ``$SPINNEY_CACHE``, else the user's cache folder."""
    given = os.environ.get("SPINNEY_CACHE")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "spinney"


def subsample(name: str, n_rows: int) -> Dataset:
    """`n_rows` of the training rows with the classes in proportion, and all test rows."""
    data = load(name)
    kept = train_test_split(
        np.arange(len(data.y_train)),
        train_size=n_rows,
        stratify=data.y_train,
        random_state=SUBSAMPLE_SEED,
    )[0]
    kept.sort()
    source = f"{data.source}, {n_rows} stratified training rows (seed {SUBSAMPLE_SEED})"
    return Dataset(
        f"{name}_{n_rows}", data.X_train[kept], data.y_train[kept], data.X_test, data.y_test, source
    )


def binary_fold(task: str, fold: int) -> Dataset:
    """Two groups of MNIST digits: nine tenths of the 60000 training rows against one tenth.

    The 10000 test rows are left aside: the paper's figure is a mean over folds of one set.
    """
    data = load("mnist")
    label = BINARY_TASKS[task](data.y_train)
    rows = np.flatnonzero(label >= 0)
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=SUBSAMPLE_SEED)
    fit, held = list(splitter.split(rows, label[rows]))[fold]
    fit, held = rows[fit], rows[held]
    source = f"{data.source}, fold {fold} of {N_FOLDS} of the training rows"
    return Dataset(
        f"{task}_fold{fold}",
        data.X_train[fit],
        label[fit].astype(np.int64),
        data.X_train[held],
        label[held].astype(np.int64),
        source,
    )


def digits() -> Dataset:
    """The small digits that come with scikit-learn; for a quick look at the harness."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X.astype(np.float32), y, stratify=y, random_state=SUBSAMPLE_SEED)
    X_fit, X_held, y_fit, y_held = parts
    return Dataset("digits", X_fit, y_fit, X_held, y_held, "scikit-learn's digits, 75/25")


def adult() -> Dataset:
    """Adult with one column a category; ``?`` is a category of its own."""
    import pandas as pd

    table = pd.read_parquet(_needed("adult.parquet"))
    features = table.drop(columns=["income", "split"])
    # Categories of both parts: a value seen only in the test rows is a column of zeros in training.
    X = pd.get_dummies(features, dtype=np.float32).to_numpy(np.float32)
    y = table["income"].str.startswith(">").to_numpy(np.int64)
    is_train = (table["split"] == "train").to_numpy()
    return _split("adult", X, y, is_train, "adult.parquet, one-hot, '?' as a category")


def r8_doc2vec() -> Dataset:
    """R8 as 400-dimensional Doc2Vec vectors, trained on the training text only."""
    import embeddings

    return _r8("r8_doc2vec", embeddings.doc2vec)


def r8_svd() -> Dataset:
    """R8 as 400 leading directions of TF-IDF, fitted on the training text only."""
    import embeddings

    return _r8("r8_svd", embeddings.tfidf_svd)


def _r8(name: str, embed: Callable[..., tuple[NDArray[np.float32], str]]) -> Dataset:
    import pandas as pd

    table = pd.read_parquet(_needed("r8_text.parquet"))
    is_train = (table["split"] == "train").to_numpy()
    y = np.unique(table["label"], return_inverse=True)[1].astype(np.int64)
    path = cache_folder() / f"{name}.npz"
    if not path.is_file():
        X, how = embed(table["text"].tolist(), y, is_train)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, X=X, how=np.array(how))
        part.replace(path)
    with np.load(path) as saved:
        return _split(name, saved["X"], y, is_train, f"r8_text.parquet, {saved['how']}")


def _split(
    name: str, X: NDArray[Any], y: NDArray[Any], is_train: NDArray[np.bool_], source: str
) -> Dataset:
    X = np.ascontiguousarray(X, dtype=np.float32)
    return Dataset(name, X[is_train], y[is_train], X[~is_train], y[~is_train], source)


def _needed(file_name: str) -> Path:
    path = find_file(file_name)
    if path is None:
        raise FileNotFoundError(
            f"{file_name} is in no data folder; set SPINNEY_DATA to the folder that has it."
        )
    return path


PREPARED: dict[str, Callable[[], Dataset]] = {
    "digits": digits,
    "adult": adult,
    "mnist10k": lambda: subsample("mnist", 10_000),
    "covtype100k": lambda: subsample("covtype", 100_000),
    "r8_doc2vec": r8_doc2vec,
    "r8_svd": r8_svd,
}
