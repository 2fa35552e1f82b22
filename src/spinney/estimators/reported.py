"""Fitted models for people: the HTML explorer, and a few lines in a notebook.

All is drawn by :mod:`spinney.inspection.report`, which is imported when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from spinney.data.tables import one_warning
from spinney.estimators.renamed import OldNames


class Reported(OldNames):
    """What can be shown: estimators that are trees or forests."""

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        image_shape: Sequence[int] | None = None,
        baselines: Mapping[str, Any] | None = None,
        max_rows: int = 500,
    ) -> Path:
        """Write the explorer of the model: one HTML file that needs no network.

        It shows the summary of the model, its trees with their hyperplanes, and the way of rows
        through every tree. See `docs/guide/explorer.md`.

        Parameters
        ----------
        path : str or path
            File to write. One that is there is replaced when the new one is complete.
        X : frame, array-like or sparse matrix of shape (n_rows, n_features), default=None
            Rows to show the model with, best such that it was not fitted to.
        y : array-like of shape (n_rows,), for regression also (n_rows, n_outputs), default=None
            Their classes or numbers.
        image_shape : (height, width) or None, default=None
            Shape of rows that are pictures: hyperplanes and rows are then drawn as such.
        baselines : dict or None, default=None
            What to compare with, by name: fitted estimators, which are asked to predict X, or
            errors on it as numbers (share of wrong rows; root mean squared error).
        max_rows : int, default=500
            Most rows that the file carries. Of more, wrong ones are taken first, up to half, and
            the others at random. Errors and counts are of all rows in any case.

        Returns
        -------
        Path
            The file, below 15 MB: large forests are rounded, as the page then says.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> from spinney import TAOTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     tree.report(Path(folder) / "iris.html", X, y).name
        'iris.html'
        """
        from spinney.inspection.report import write_report

        with one_warning():
            return write_report(
                path,
                self,
                X,
                y,
                image_shape=image_shape,
                baselines=baselines,
                max_rows=max_rows,
            )

    @property
    def _repr_html_(self) -> Callable[[], str]:
        of_sklearn = super()._repr_html_  # raises AttributeError where it is switched off
        return lambda: of_sklearn() + self._compact_summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._compact_summary()
        return bundle

    def _compact_summary(self) -> str:
        """A few lines on a fitted model; nothing on others."""
        from spinney.inspection.report import compact_summary

        return compact_summary(self)
