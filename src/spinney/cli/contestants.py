"""What ``spinney compare`` compares: our models, peers, and the answer that reads no column.

All of them have one face: prepare a table, fit, predict, tell the size.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import spinney
from spinney.cli.models import MODELS, build
from spinney.cli.peers import PEERS, Peer, PeerEncoding, PeerRows
from spinney.cli.target import CLASSIFICATION

BASELINE = "baseline"

#: Quick ones first, so that a short budget still gives most of the leaderboard.
ORDER = (
    BASELINE,
    "tree",
    "ho",
    "greedy",
    "lightgbm",
    "hist_gb",
    "extra_trees",
    "random_forest",
    "xgboost",
    "bagged",
    "fao",
    "boosted",
    "co2",
    "gradient",
    "catboost",
    "ydf",
)


class Contestant(Protocol):
    """One model of the leaderboard, for one fold."""

    def prepare(self, X: Any) -> Any:
        """The table as the model takes it; the time it takes is not counted."""

    def fit(self, rows: Any, y: NDArray[Any]) -> None:
        """Train."""

    def predict(self, rows: Any) -> NDArray[Any]:
        """Labels or numbers."""

    def n_bytes(self) -> int:
        """Size of the stored model."""


class Ours:
    """A model of this library; it reads the table as it is."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def prepare(self, X: Any) -> Any:
        """The table itself."""
        return X

    def fit(self, rows: Any, y: NDArray[Any]) -> None:
        """Train, with the encoding of the columns."""
        self._estimator.fit(rows, y)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Labels or numbers."""
        return np.asarray(self._estimator.predict(rows))

    def n_bytes(self) -> int:
        """Size of the model file."""
        with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
            path = Path(folder) / "model.spinney"
            spinney.save(self._estimator, path)
            return path.stat().st_size


class Theirs:
    """A model of another library, on rows that were encoded for it."""

    def __init__(self, peer: Peer, task: str, categorical_features: Any) -> None:
        self._peer = peer
        self._is_classifier = task == CLASSIFICATION
        self._categorical_features = categorical_features
        self._encoding: PeerEncoding | None = None
        self._classes: NDArray[Any] = np.zeros(0)

    def prepare(self, X: Any) -> PeerRows:
        """Numbers; the first table that comes decides on the levels of categories."""
        if self._encoding is None:
            self._encoding = PeerEncoding(X, self._categorical_features)
        return self._encoding.encode(X)

    def fit(self, rows: PeerRows, y: NDArray[Any]) -> None:
        """Train."""
        if self._is_classifier:
            self._classes, y = np.unique(y, return_inverse=True)
        self._peer.fit(rows, y)

    def predict(self, rows: PeerRows) -> NDArray[Any]:
        """Labels or numbers."""
        found = self._peer.predict(rows)
        return self._classes[found.astype(np.intp)] if self._is_classifier else found

    def n_bytes(self) -> int:
        """Size of what its library stores."""
        return self._peer.n_bytes()


class Baseline:
    """Always the most frequent class, or the mean."""

    def __init__(self, task: str) -> None:
        self._is_classifier = task == CLASSIFICATION
        self._answer: Any = None

    def prepare(self, X: Any) -> int:
        """How many rows there are; nothing else is read."""
        return int(X.num_rows)

    def fit(self, rows: int, y: NDArray[Any]) -> None:  # noqa: ARG002
        """Look at the answers."""
        if self._is_classifier:
            classes, counts = np.unique(y, return_counts=True)
            self._answer = classes[counts.argmax()]
        else:
            self._answer = y.mean()

    def predict(self, rows: int) -> NDArray[Any]:
        """The same for each row."""
        return np.full(rows, self._answer)

    def n_bytes(self) -> int:
        """One number."""
        return 8


def title_of(name: str, task: str) -> str:
    """What a contestant is called."""
    if name == BASELINE:
        return "most frequent class" if task == CLASSIFICATION else "mean of the target"
    return f"spinney {MODELS[name].title}" if name in MODELS else PEERS[name].title


def available(task: str) -> tuple[list[str], list[str]]:
    """Names that can take part, in order, and titles of libraries that are not installed."""
    names, absent = [], []
    for name in ORDER:
        if name in PEERS and not PEERS[name].is_installed:
            absent.append(PEERS[name].title)
        elif name not in MODELS or MODELS[name].estimator(task) is not None:
            names.append(name)
    return names, absent


def make(name: str, task: str, *, seed: int, n_jobs: int, categorical_features: Any) -> Contestant:
    """A fresh contestant for one fold, with the defaults of its library."""
    if name == BASELINE:
        return Baseline(task)
    if name in PEERS:
        return Theirs(PEERS[name].make(task, seed, n_jobs), task, categorical_features)
    options = {"random_state": seed, "n_jobs": n_jobs, "categorical_features": categorical_features}
    return Ours(build(name, task, (), **options))
