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


def cut_at(name: str, n_train: int, *, is_shuffled: bool) -> Dataset:
    """All rows of a set, cut anew into training and test rows."""
    data = load(name)
    X = np.concatenate([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    order = np.arange(len(y))
    if is_shuffled:
        order = np.random.RandomState(SUBSAMPLE_SEED).permutation(len(y))
    fit, held = np.sort(order[:n_train]), np.sort(order[n_train:])
    how = f"drawn (seed {SUBSAMPLE_SEED})" if is_shuffled else "first"
    source = f"{data.source}, {n_train} rows {how} for training"
    return Dataset(f"{name}_{n_train}", X[fit], y[fit], X[held], y[held], source)


def mnist_boxes() -> Dataset:
    """MNIST as binary images of 20x20: the box of each digit's ink, centred, dark is 1.

    It stands in for the NIST digits of Ho's random decision forests, which had this form.
    """
    data = load("mnist")
    X_fit, X_held = (_boxes(X) for X in (data.X_train, data.X_test))
    source = f"{data.source}, boxes of 20x20, binary at 128"
    return Dataset("mnist_boxes", X_fit, data.y_train, X_held, data.y_test, source)


def mnist_neighbors() -> Dataset:
    """The same with Ho's conjunctions of neighbouring pixels, 852 columns."""
    from spinney.images import NeighborFeatures

    data = mnist_boxes()
    transform = NeighborFeatures((20, 20)).fit(data.X_train[:1]).transform
    X_fit, X_held = transform(data.X_train), transform(data.X_test)
    source = f"{data.source}, with neighbour features"
    return Dataset("mnist_neighbors", X_fit, data.y_train, X_held, data.y_test, source)


def _boxes(X: NDArray[np.float32], size: int = 20) -> NDArray[np.float32]:
    images = X.reshape(-1, 28, 28) >= 128
    boxes = np.zeros((len(images), size, size), dtype=np.float32)
    for image, box in zip(images, boxes, strict=True):
        rows, columns = (np.flatnonzero(image.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            continue
        ink = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1][:size, :size]
        top, left = ((size - extent) // 2 for extent in ink.shape)
        box[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return boxes.reshape(len(images), -1)


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


def mixed(name: str, target: str, codes: tuple[str, ...] = ()) -> Dataset:
    """A table as it is: numbers, and text or the integers in `codes` as categories.

    ``?`` and ``unknown`` are levels like others, so that every library reads the same table.
    Without a split of its own, a fifth of the rows, drawn by class, are for testing.
    """
    import pandas as pd

    table = pd.read_parquet(_needed(f"{name}.parquet"))
    y = np.unique(table[target], return_inverse=True)[1].astype(np.int64)
    rows = np.arange(len(y))
    source = f"{name}.parquet as it is"
    if "split" in table:
        is_train = (table["split"] == "train").to_numpy()
        fit, held = rows[is_train], rows[~is_train]
        table = table.drop(columns="split")
    else:
        fit, held = train_test_split(rows, test_size=0.2, stratify=y, random_state=SUBSAMPLE_SEED)
        source += f", 80/20 by class (seed {SUBSAMPLE_SEED})"
    X = table.drop(columns=target)
    texts = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    X = X.astype(dict.fromkeys([*texts, *codes], "category"))
    return Dataset(f"mixed_{name}", X.iloc[fit], y[fit], X.iloc[held], y[held], source)


def news20_tfidf() -> Dataset:
    """20 newsgroups as sublinear TF-IDF of unit length, fitted on the training posts; sparse."""
    from sklearn.feature_extraction.text import TfidfTransformer

    data = load("news20")
    transform = TfidfTransformer(sublinear_tf=True).fit(data.X_train)
    X_fit, X_held = (transform.transform(X).astype(np.float32) for X in (data.X_train, data.X_test))
    source = f"{data.source}, sublinear TF-IDF"
    return Dataset("news20_tfidf", X_fit, data.y_train, X_held, data.y_test, source)


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
    "mixed_adult": lambda: mixed("adult", "income"),
    "mixed_bank": lambda: mixed("bank_additional_full", "y"),
    "mixed_credit": lambda: mixed(
        "credit_default", "default.payment.next.month", ("SEX", "EDUCATION", "MARRIAGE")
    ),
    "mixed_german": lambda: mixed("german_credit", "class"),
    "letter15k": lambda: cut_at("letter", 15_000, is_shuffled=False),
    "covtype500k": lambda: cut_at("covtype", 500_000, is_shuffled=True),
    "mnist_boxes": mnist_boxes,
    "mnist_neighbors": mnist_neighbors,
    "mnist10k": lambda: subsample("mnist", 10_000),
    "covtype100k": lambda: subsample("covtype", 100_000),
    "news20_tfidf": news20_tfidf,
    "r8_doc2vec": r8_doc2vec,
    "r8_svd": r8_svd,
}
