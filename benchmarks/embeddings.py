"""Documents as vectors: gensim's Doc2Vec, or TF-IDF with a truncated SVD.

Both learn from the training text alone; test documents are only mapped. (The papers trained
Doc2Vec on all documents, test text included.) One worker and fixed seeds: the same bits each time.
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SIZE = 400
SEED = 0


@dataclass(frozen=True)
class Doc2VecSettings:
    """What is chosen on held-out training documents. `window` means nothing where `dm` is 0."""

    dm: int
    epochs: int
    window: int


CANDIDATES = (
    Doc2VecSettings(dm=0, epochs=10, window=5),
    Doc2VecSettings(dm=0, epochs=20, window=5),
    Doc2VecSettings(dm=0, epochs=40, window=5),
    Doc2VecSettings(dm=1, epochs=20, window=5),
    Doc2VecSettings(dm=1, epochs=20, window=10),
)


def doc2vec(
    texts: list[str],
    y: NDArray[np.int64],
    is_train: NDArray[np.bool_],
    candidates: tuple[Doc2VecSettings, ...] = CANDIDATES,
) -> tuple[NDArray[np.float32], str]:
    """Vectors of all documents, and a sentence on how they were made.

    The settings are those whose vectors give a logistic regression the least error on 20 % of
    the training documents. All vectors, those of training documents too, are inferred: vectors
    found during training have another spread, and a classifier would meet new ones unprepared.
    """
    words = [text.split() for text in texts]
    train = np.flatnonzero(is_train)
    fit, held = train_test_split(train, test_size=0.2, stratify=y[train], random_state=SEED)
    errors = [_validation_error(words, y, fit, held, settings) for settings in candidates]
    best = candidates[int(np.argmin(errors))]
    model = _train(words, train, best)
    how = (
        f"Doc2Vec {SIZE} (gensim, {asdict(best)}) trained on the training text, all vectors "
        f"inferred, chosen on 20 % of the training documents (error {100 * min(errors):.2f} %)"
    )
    return _infer(model, words), how


def _validation_error(
    words: list[list[str]],
    y: NDArray[np.int64],
    fit: NDArray[np.int64],
    held: NDArray[np.int64],
    settings: Doc2VecSettings,
) -> float:
    model = _train(words, fit, settings)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
    classifier.fit(_infer(model, [words[i] for i in fit]), y[fit])
    error = 1 - float(classifier.score(_infer(model, [words[i] for i in held]), y[held]))
    print(f"    {settings}: {100 * error:.2f} % held out", file=sys.stderr, flush=True)
    return error


def _train(words: list[list[str]], rows: NDArray[np.int64], settings: Doc2VecSettings) -> Any:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    documents = [TaggedDocument(words[i], [k]) for k, i in enumerate(rows)]
    return Doc2Vec(
        documents,
        vector_size=SIZE,
        min_count=2,
        seed=SEED,
        workers=1,
        **asdict(settings),
    )


def _infer(model: Any, words: list[list[str]]) -> NDArray[np.float32]:
    from gensim.models import doc2vec as module

    # gensim starts a vector from Python's hash of the text, which differs between processes.
    start = partial(module.pseudorandom_weak_vector, hashfxn=_stable_hash)
    vectors = np.empty((len(words), SIZE), dtype=np.float32)
    with patch.object(module, "pseudorandom_weak_vector", start):
        for i, document in enumerate(words):
            model.random.seed(SEED)  # else a vector depends on the documents inferred before it
            vectors[i] = model.infer_vector(document)
    return vectors


def _stable_hash(word: str) -> int:
    return zlib.crc32(word.encode())


def tfidf_svd(
    texts: list[str], y: NDArray[np.int64], is_train: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], str]:
    """TF-IDF of words reduced to its leading directions; the labels `y` are not looked at."""
    from sklearn.decomposition import TruncatedSVD

    del y
    weights = TfidfVectorizer(sublinear_tf=True, min_df=2)
    learnt = [text for text, kept in zip(texts, is_train, strict=True) if kept]
    svd = TruncatedSVD(SIZE, random_state=SEED).fit(weights.fit_transform(learnt))
    vectors = svd.transform(weights.transform(texts)).astype(np.float32)
    return vectors, f"TF-IDF + SVD {SIZE} fitted on the training text"
