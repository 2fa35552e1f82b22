"""From rows to predict to what the trees read, where values are missing that never were before.

A column of a model with an encoding fills its holes by its own rule; plain numbers are filled with
what is typical of their column. Both are done with a warning, or refused if the model says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.checks import check_choice
from spinney.data.tables import (
    Holes,
    Matrix,
    MissingValuesWarning,
    Table,
    TableEncoding,
    TypicalRow,
    encoding_of_numbers,
    is_news,
    new_holes,
    with_typical,
)
from spinney.data.tables.columns import shown_cells
from spinney.data.tables.table import label_of
from spinney.data.warn_caller import warn_caller
from spinney.data.wording import counted

FILL, ERROR = "fill", "error"

#: What `missing` of every estimator can be.
RULES = (FILL, ERROR)


@dataclass(frozen=True, eq=False)
class RowReader:
    """How rows to predict become what the trees read.

    Attributes
    ----------
    encoding : TableEncoding or None
        How columns become coordinates; None if numbers are read as they are.
    typical : TypicalRow or None
        What is typical of each column in training; None if the model does not know it.
    names : sequence of str or None
        Names of the columns.
    n_columns : int
    missing : {"fill", "error"}
        What to do about holes in columns that had none in training.
    owner : str
        Class of the model.
    """

    encoding: TableEncoding | None
    typical: TypicalRow | None
    names: Sequence[str] | None
    n_columns: int
    missing: str
    owner: str

    def coordinates(self, rows: Matrix | Table) -> Matrix:
        """What the trees read of a table or of numbers; holes are filled or refused."""
        self.check(rows)
        return self.filled(rows) if self.encoding is None else self.encoding.encode(rows)

    def filled(self, rows: Matrix | Table) -> Matrix:
        """Plain numbers without holes, as far as it is known what is typical."""
        if isinstance(rows, Table):
            rows = encoding_of_numbers(len(rows.columns), rows.names).encode(rows)
        return rows if self.typical is None else with_typical(rows, self.typical.coordinates)

    def check(self, rows: Matrix | Table) -> None:
        """Warn of holes in columns that had none in training, or refuse them."""
        holes = new_holes(rows, self.had_missing())
        if not holes:
            return
        check_choice("missing", self.missing, RULES)
        if self.missing == ERROR or (self.encoding is None and self.typical is None):
            self._refuse(holes)
        self._warn(holes)

    def had_missing(self) -> NDArray[np.bool_]:
        """Columns that had holes in training, or whose holes are nothing to speak of."""
        if self.typical is not None:
            return self.typical.had_missing
        if self.encoding is not None and self.missing == ERROR:
            return self.encoding.has_missing
        # Older models of tables do not know, and fill without a word.
        return np.full(self.n_columns, self.encoding is not None)

    def _refuse(self, holes: Holes) -> None:
        """Raise with the first hole."""
        row, column = min((int(rows[0]), column) for column, rows in holes.items())
        found = f"Input X contains NaN: X[{row}, {column}] is missing"
        label = label_of(column, self.names)
        if self.typical is None:
            raise ValueError(
                f"{found}, but this {self.owner} does not know what is typical of {label}, nor "
                "whether values were missing there in training: models made by older releases, or "
                "of forests of other libraries, do not; give complete rows; try filling them, or "
                "fitting it again."
            )
        raise ValueError(
            f"{found}, but no value of {label} was missing in training, and missing={ERROR!r} "
            "refuses such holes; give complete rows; try filling them, or fit to rows of which "
            f"some values are missing, or missing={FILL!r}."
        )

    def _warn(self, holes: Holes) -> None:
        told = [
            f"{label_of(column, self.names)} in {counted(len(rows), 'row')}"
            for column, rows in sorted(holes.items())
        ]
        text = (
            "values are missing in columns that had none missing in training: "
            f"{shown_cells(told)}; numbers were filled with their mean in training, categories "
            "with what stands for an unknown level; give complete rows, or fit to rows of which "
            f"some values are missing; try missing={ERROR!r} to have such rows refused."
        )
        if is_news(text):
            warn_caller(text, MissingValuesWarning)


def reading_model(model: Any) -> Any:
    """The model that reads rows: a refined forest reads them as the forest inside it does."""
    while not hasattr(model, "encoding_") and hasattr(model, "forest"):
        model = model.forest
    return model


def row_reader(model: Any) -> RowReader:
    """How a fitted model, or the forest that it refines, reads rows."""
    own = reading_model(model)
    return RowReader(
        getattr(own, "encoding_", None),
        getattr(own, "typical_", None),
        getattr(model, "feature_names_in_", None),
        int(model.n_features_in_),
        getattr(own, "missing", FILL),
        type(model).__name__,
    )


def encoding_of(model: Any) -> TableEncoding | None:
    """How a model turns columns into coordinates; None if it reads numbers as they are."""
    encoding: TableEncoding | None = getattr(reading_model(model), "encoding_", None)
    return encoding


def typical_of(model: Any) -> TypicalRow | None:
    """What is typical of the columns of a model, None if it was fitted before that was stored.

    A refined forest has that of its forest; forests of other libraries have none.
    """
    typical: TypicalRow | None = getattr(reading_model(model), "typical_", None)
    return typical
