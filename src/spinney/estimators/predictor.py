"""Fitted models as callables with little overhead, for single rows and small batches.

A prediction through an estimator spends most of a row's time on checks that also take frames,
sparse matrices and lists. A predictor takes plain rows alone and hands them to the native core at
once. The bits are those of the estimator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from spinney import _core
from spinney.estimators.calls import explained
from spinney.estimators.holes import encoding_of
from spinney.estimators.readout import Readout, readout_of
from spinney.tables import TableEncoding

PLAIN = (np.dtype(np.float32), np.dtype(np.float64))


class Predictor:
    """A fitted model that answers plain rows; made by ``compile`` of an estimator.

    It holds the trees as they were when it was made: a later ``fit`` changes nothing. Any number
    of threads may call it at once.

    Parameters
    ----------
    readout : Readout
        What the model does with the leaves of a row.
    encoding : TableEncoding or None, default=None
        How numbers with holes become what the trees read.
    names : tuple of str or None, default=None
        Names of the columns, which a frame or a Series must have in this order.
    n_threads : int, default=1
        Threads for batches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = TAOForestClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, y)
    >>> predict = forest.compile()
    >>> bool(predict(X[0]) == forest.predict(X[:1])[0])
    True
    """

    def __init__(
        self,
        readout: Readout,
        encoding: TableEncoding | None = None,
        names: tuple[str, ...] | None = None,
        n_threads: int = 1,
    ) -> None:
        self._readout = readout
        self._encoding = encoding
        self._names = names
        self._n_threads = n_threads
        self._native = _core.Readout(
            readout.forest.native, readout.says, readout.tree_weights, readout.offsets
        )
        self.n_features_in_ = readout.forest.n_features if encoding is None else encoding.n_columns

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._readout, self._encoding, self._names, self._n_threads)

    def __call__(self, x: ArrayLike) -> Any:
        """What `predict` returns."""
        return self.predict(x)

    def predict(self, x: ArrayLike) -> Any:
        """Prediction for one row, or for each row of a matrix.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_rows, n_features)
            Finite numbers, float32 or float64 where it must be fast.

        Returns
        -------
        label or number for one row, ndarray for several
            As of the estimator's ``predict``, bit for bit.
        """
        raise NotImplementedError

    def _totals(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        return self._native.totals(rows, self._n_threads)

    def _plain(self, x: ArrayLike) -> NDArray[Any]:
        """Rows as the core takes them; an array of floats is not looked at here."""
        if type(x) is np.ndarray and x.dtype in PLAIN and self._encoding is None:
            return x
        self._check_names(x)
        rows = np.asarray(x)
        if rows.dtype.kind not in "fiub":
            raise ValueError(
                f"x holds values of dtype {rows.dtype}; give rows of numbers; try predict of the "
                "estimator, which reads frames."
            )
        if self._encoding is None:
            return rows if rows.dtype in PLAIN else rows.astype(np.float64)
        return self._filled(rows)

    def _check_names(self, x: ArrayLike) -> None:
        """Raise if a frame or a Series has other columns than the model, or in another order."""
        given = getattr(x, "columns", getattr(x, "index", None))
        if self._names is None or given is None or callable(given):
            return
        if tuple(given) != self._names:
            raise ValueError(
                f"x has the columns {list(given)[:5]}, the model was fitted to "
                f"{list(self._names)[:5]}; give the same in the same order; try an array."
            )

    def _filled(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Coordinates of numbers with holes, as float32."""
        assert self._encoding is not None
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.n_features_in_:
            raise ValueError(
                f"x has shape {rows.shape}; give a row of {self.n_features_in_} numbers, or a "
                "matrix of such rows."
            )
        with np.errstate(over="ignore"):
            matrix = np.atleast_2d(rows).astype(np.float32)
        if np.isinf(matrix).any():
            raise ValueError(
                "x holds a number that is infinite or too large for float32; give finite numbers, "
                "or NaN where one is missing."
            )
        encoded = np.asarray(self._encoding.encode(matrix))
        return encoded[0] if rows.ndim == 1 else encoded


class ClassPredictor(Predictor):
    """Labels and probabilities of plain rows."""

    def __init__(
        self,
        readout: Readout,
        encoding: TableEncoding | None = None,
        names: tuple[str, ...] | None = None,
        n_threads: int = 1,
    ) -> None:
        super().__init__(readout, encoding, names, n_threads)
        assert readout.classes is not None
        self.classes_ = readout.classes
        self._labels = list(readout.classes)  # scalars of numpy, made once
        self._rejects = readout.reject_label is not None

    __doc__ = Predictor.__doc__

    def predict(self, x: ArrayLike) -> Any:
        """Class of one row, or of each row of a matrix; as of the estimator's ``predict``.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_rows, n_features)

        Returns
        -------
        label for one row, ndarray of shape (n_rows,) for several
        """
        rows = self._plain(x)
        if self._rejects:
            labels = self._readout.labels(self._totals(rows))
            return labels[0] if rows.ndim == 1 else labels
        best = self._native.largest(rows, self._n_threads)
        return self._labels[best] if type(best) is int else self.classes_[best]

    def predict_proba(self, x: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities; as of the estimator's ``predict_proba``, bit for bit.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_rows, n_features)

        Returns
        -------
        float64 ndarray of shape (n_classes,) or (n_rows, n_classes)
        """
        rows = self._plain(x)
        shares = self._readout.finished(self._totals(rows))
        return shares[0] if rows.ndim == 1 else shares


class NumberPredictor(Predictor):
    """Numbers for plain rows."""

    __doc__ = Predictor.__doc__

    def predict(self, x: ArrayLike) -> Any:
        """Numbers for one row, or for each row of a matrix; as of the estimator's ``predict``.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_rows, n_features)

        Returns
        -------
        float64 for one row, ndarray for several rows or several outputs
        """
        rows = self._plain(x)
        values = self._readout.finished(self._totals(rows))
        if self._readout.is_flat:
            values = values[:, 0]
        return values[0] if rows.ndim == 1 else values


class Compilable:
    """What can be compiled: estimators that are forests."""

    n_jobs: int | None

    @explained
    def compile(self) -> ClassPredictor | NumberPredictor:
        """A callable that predicts single rows and small batches with little overhead.

        Returns
        -------
        Predictor
            Takes a row or a matrix of numbers and answers with the bits of ``predict``. Numbers
            may be missing if some were in training. Models of categories, text or dates are
            refused: reading these takes longer than the trees do.
        """
        encoding = encoding_of(self)
        if encoding is not None and not encoding.is_numeric:
            refuse_tables(self, "compile()", "try predict, which reads frames")
        readout = readout_of(self)
        names = getattr(self, "feature_names_in_", None)
        kind = NumberPredictor if readout.classes is None else ClassPredictor
        return kind(
            readout,
            encoding,
            None if names is None else tuple(names),
            int(effective_n_jobs(self.n_jobs)),
        )


def refuse_tables(model: object, what: str, instead: str) -> None:
    """Raise if the model reads frames of mixed columns, which `what` cannot."""
    if encoding_of(model) is not None:
        raise ValueError(
            f"{what} reads rows of numbers, but this {type(model).__name__} was fitted to a table "
            f"with categories or missing values; give a model of plain numbers; {instead}."
        )
