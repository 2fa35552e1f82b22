"""Targets that are text: which of them are no numbers, and numbers that would become classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.tables.columns import NUMBER, named_row, shown_cells
from spinney.data.tables.number_texts import is_number
from spinney.data.tables.texts import MOSTLY, Odd, how_to_convert, look_at, odd_texts

#: Numbers in text are no surprise as classes if there are at most so many, and nothing else.
MOST_CLASSES = 20

#: 007 is a name, not 7.
_CODE = re.compile(r"-?0[0-9]")


def check_numeric_texts(y: object) -> None:
    """Raise, with rows, if targets that are to be numbers hold text that is none."""
    values = _objects(y)
    if values is None or not values.ndim or not len(values):
        return
    width = values.size // len(values)
    texts = [value if isinstance(value, str) else None for value in values.ravel().tolist()]
    odd = odd_texts(texts, _reads_as_number)
    if odd:
        read = f"{_how_to_convert(texts)} and leave out the rows that are NaN then, or "
        has_numbers = any(text is None or is_number(text) for text in texts)
        raise ValueError(
            f"y holds text that is no number: {_told(odd, y, width)}; give numbers; try "
            f"{read if has_numbers else ''}TAOTreeClassifier if y holds classes."
        )


def check_no_missing_labels(y: object) -> None:
    """Raise, with the row, if a label among objects is missing: None, NaN or pandas' NA."""
    values = _objects(y)
    if values is None or not values.ndim:
        return
    for place, label in enumerate(values.ravel().tolist()):
        is_nan = isinstance(label, float) and label != label
        if label is None or is_nan or type(label).__name__ == "NAType":
            raise ValueError(
                f"Input y contains NaN: y[{place}] is {label!r}; give a label for each row; try "
                "leaving out such rows, or a label of its own for them."
            )


def doubt_of_labels(labels: NDArray[Any], y: object) -> str | None:
    """What to warn of if labels are text that nearly all is numbers, so that y may be no classes.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Checked labels.
    y : array-like
        What they were read from; it may have an index.
    """
    if labels.dtype.kind not in "OUT" or not isinstance(labels[0], str):
        return None
    texts = [str(label) for label in labels.tolist()]
    look = look_at(texts)
    if look is None or look.kind != NUMBER:
        return None
    odd, n_classes = odd_texts(texts, look.is_of_kind), len(set(texts))
    n_numbers = len(texts) - sum(cell.n_rows for cell in odd)
    is_code = any(_CODE.match(text) for text in texts)
    if n_numbers < MOSTLY * len(texts) or (not odd and (is_code or n_classes <= MOST_CLASSES)):
        return None
    others = f"; not so {len(texts) - n_numbers:,}: {_told(odd, y)}" if odd else ""
    return (
        f"y is text of {n_classes:,} classes, but {n_numbers:,} of its {len(texts):,} values are "
        f"numbers, as {look.example!r}{others}; classes have no order; if numbers are meant, take "
        f"a regressor, and {_how_to_convert(texts)}; if some labels stand for none, leave out "
        "their rows."
    )


def _objects(y: object) -> NDArray[Any] | None:
    """Targets as Python objects if some may be text, else None."""
    try:
        values = np.asarray(y)
        if values.dtype.kind in "USOT":
            return np.asarray(y, dtype=object)
    except (ValueError, TypeError):  # ragged rows, sparse matrices; the checks that follow say so
        pass
    return None


def _how_to_convert(texts: Sequence[str | None]) -> str:
    return how_to_convert(texts, NUMBER).replace("(column", "(pd.Series(y)")


def _told(odd: list[Odd], y: object, width: int = 1) -> str:
    index = getattr(y, "index", None)
    rows = index if hasattr(index, "to_numpy") else None
    return shown_cells([cell.told(named_row(cell.row // width, rows)) for cell in odd])


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
