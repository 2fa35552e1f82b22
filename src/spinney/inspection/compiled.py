"""Fitted models as callables with little overhead, for single rows and small batches.

A prediction through an estimator spends most of a row's time on checks and on containers. A
predictor knows what each value of a column becomes and hands rows to the native core at once. The
bits are those of the estimator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.row_reader import RowReader, row_reader
from spinney.data.served_rows import PLAIN, ServedRows
from spinney.inspection.fitted_model import fitted_estimator
from spinney.tree.readout import Readout


class Predictor:
    """A fitted model that answers plain rows; made by ``compile`` of an estimator.

    It holds the trees as they were when it was made: a later ``fit`` changes nothing. Any number
    of threads may call it at once.

    Parameters
    ----------
    readout : Readout
        What the model does with the leaves of a row.
    reader : RowReader
        How columns become what the trees read, and what is done about missing values.
    n_threads : int, default=1
        Threads for batches.

    Examples
    --------
    >>> import pandas as pd
    >>> from spinney import TAOForestClassifier
    >>> table = pd.DataFrame({"age": [31.0, 58.0, 23.0] * 9, "job": ["cook", "smith", "cook"] * 9})
    >>> forest = TAOForestClassifier(3, max_depth=2, random_state=0)
    >>> predict = forest.fit(table, ["yes", "no", "yes"] * 9).compile()
    >>> str(predict({"age": 40, "job": "smith"})), str(predict([25, "cook"]))
    ('no', 'yes')
    """

    def __init__(self, readout: Readout, reader: RowReader, n_threads: int = 1) -> None:
        self._readout = readout
        self._reader = reader
        self._n_threads = n_threads
        self._served = ServedRows(reader)
        self._native = readout.native
        self.n_features_in_ = reader.n_columns

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._readout, self._reader, self._n_threads)

    def __call__(self, x: Any) -> Any:
        """What `predict` returns."""
        return self.predict(x)

    def predict(self, x: Any) -> Any:
        """Prediction for one row, or for each of several rows.

        Parameters
        ----------
        x : row or rows
            A row is a dict by the names of the columns, a list or tuple in their order, or a
            vector; rows are a list of such rows, a matrix or a frame. Plain numbers are fastest as
            an array of float32 or float64.

        Returns
        -------
        label or number for one row, ndarray for several
            As of the estimator's ``predict``, bit for bit.
        """
        raise NotImplementedError

    def _rows(self, x: Any) -> NDArray[Any]:
        """Rows as the core takes them; an array of floats is not looked at here."""
        if type(x) is np.ndarray and x.dtype in PLAIN and self._served.is_plain:
            return x
        return self._served.read(x)

    def _totals(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        try:
            return self._native.totals(rows, self._n_threads)
        except ValueError as error:
            return self._native.totals(self._served.filled(rows, error), self._n_threads)


class ClassPredictor(Predictor):
    """Labels and probabilities of plain rows."""

    def __init__(self, readout: Readout, reader: RowReader, n_threads: int = 1) -> None:
        super().__init__(readout, reader, n_threads)
        assert readout.classes is not None
        self.classes_ = readout.classes
        self._labels = list(readout.classes)  # scalars of numpy, made once
        self._rejects = readout.reject_label is not None

    __doc__ = Predictor.__doc__

    def predict(self, x: Any) -> Any:
        """Class of one row, or of each row of a matrix; as of the estimator's ``predict``.

        Parameters
        ----------
        x : row or rows
            A dict, a list or a vector; or a list of such rows, a matrix or a frame.

        Returns
        -------
        label for one row, ndarray of shape (n_rows,) for several
        """
        rows = self._rows(x)
        if self._rejects:
            labels = self._readout.labels(self._totals(rows))
            return labels[0] if rows.ndim == 1 else labels
        best = self._largest(rows)
        return self._labels[best] if type(best) is int else self.classes_[best]

    def predict_proba(self, x: Any) -> NDArray[np.float64]:
        """Class probabilities; as of the estimator's ``predict_proba``, bit for bit.

        Parameters
        ----------
        x : row or rows
            A dict, a list or a vector; or a list of such rows, a matrix or a frame.

        Returns
        -------
        float64 ndarray of shape (n_classes,) or (n_rows, n_classes)
        """
        rows = self._rows(x)
        shares = self._readout.finished(self._totals(rows))
        return shares[0] if rows.ndim == 1 else shares

    def _largest(self, rows: NDArray[Any]) -> Any:
        try:
            return self._native.largest(rows, self._n_threads)
        except ValueError as error:
            return self._native.largest(self._served.filled(rows, error), self._n_threads)


class NumberPredictor(Predictor):
    """Numbers for plain rows."""

    __doc__ = Predictor.__doc__

    def predict(self, x: Any) -> Any:
        """Numbers for one row, or for each row of a matrix; as of the estimator's ``predict``.

        Parameters
        ----------
        x : row or rows
            A dict, a list or a vector; or a list of such rows, a matrix or a frame.

        Returns
        -------
        float64 for one row, ndarray for several rows or several outputs
        """
        rows = self._rows(x)
        values = self._readout.finished(self._totals(rows))
        if self._readout.is_flat:
            values = values[:, 0]
        return values[0] if rows.ndim == 1 else values


def compiled(model: object, n_threads: int) -> ClassPredictor | NumberPredictor:
    """What ``compile`` of a fitted estimator gives."""
    readout = fitted_estimator(model).readout
    kind = NumberPredictor if readout.classes is None else ClassPredictor
    return kind(readout, row_reader(model), n_threads)
