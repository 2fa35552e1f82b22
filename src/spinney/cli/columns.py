"""Columns by name: those a user names, and those a model reads.

The order of the columns of a file does not matter. A column that the model reads and the file lacks
is an error, one that only the file has is left aside with a note.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli import csv_faults
from spinney.cli.console import Console
from spinney.cli.errors import CommandError
from spinney.cli.reading import Data, looks_like_data
from spinney.data.tables.columns import NUMBER
from spinney.data.tables.number_texts import is_number, is_plain, may_be_decimal_comma
from spinney.data.wording import counted, listed
from spinney.inspection.fitted_model import FittedModel

_TEXTS = ("text_levels",)


def split_names(given: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    """Names from options that may be repeated or hold several with commas."""
    names: list[str] = []
    for text in given or ():
        names += [text] if text in known else [name.strip() for name in text.split(",")]
    return [name for name in names if name]


def check_known(names: Iterable[str], data: Data, option: str) -> None:
    """Raise if a column that an option names is not in the table."""
    for name in names:
        if name not in data.names:
            raise CommandError(
                f"{option} {name!r}: {data.name} has no such column{hint(name, data.names)}"
            )


def hint(name: str, known: Sequence[str]) -> str:
    """What may have been meant, and what there is."""
    if looks_like_data(known):
        return f"; its first line holds numbers ({listed(known, 4)}); give a header line with names"
    by_form = {other.strip().lower(): other for other in known}
    near = difflib.get_close_matches(name.strip().lower(), by_form, n=1, cutoff=0.7)
    meant = f"; did you mean {by_form[near[0]]!r}?" if near else ""
    return f"{meant} (it has {listed([repr(other) for other in known])})"


def text_columns(fitted: FittedModel) -> list[str]:
    """Columns that a model reads as text, whatever their cells look like."""
    kinds = zip(fitted.given_names or (), fitted.column_kinds, strict=False)
    return [name for name, kind in kinds if kind in _TEXTS]


def rows_for(
    fitted: FittedModel, data: Data, console: Console, *, aside: Sequence[str] = ()
) -> Any:
    """The columns a model reads, in its order, as it takes them.

    Parameters
    ----------
    fitted : FittedModel
    data : Data
    console : Console
    aside : sequence of str
        Columns that are known to be something else, as the target.
    """
    names = fitted.given_names
    if names is None:
        return _unnamed_rows(fitted, data, console, aside)
    missing = [name for name in names if name not in data.names]
    if missing:
        others = f" and {counted(len(missing) - 1, 'other')}" if len(missing) > 1 else ""
        raise CommandError(
            f"{data.name} has no column {missing[0]!r}{others}, which the model reads"
            f"{hint(missing[0], data.names)}"
        )
    extra = [name for name in data.names if name not in names and name not in aside]
    if extra:
        console.say(f"left aside, because the model does not read them: {listed(extra)}")
    for name, kind in zip(names, fitted.column_kinds, strict=True):
        _check_kind(data, name, kind)
    check_finite(data, names)
    return data.table.select(list(names))


def check_finite(data: Data, names: Iterable[str]) -> None:
    """Raise, with the line, if a number is infinite."""
    import pyarrow
    from pyarrow import compute

    for name in names:
        column = data.table.column(name)
        if not pyarrow.types.is_floating(column.type):
            continue
        is_infinite = compute.fill_null(compute.is_inf(column), False)
        if compute.any(is_infinite).as_py():
            place = data.place(compute.index(is_infinite, True).as_py())
            raise CommandError(
                f"{data.name}, {place}: column {name!r} holds an infinite number; give a finite "
                "one, or leave the cell empty if it is not known"
            )


def _check_kind(data: Data, name: str, role: str) -> None:
    """Raise, with the line, if a column of numbers or dates holds text."""
    import pyarrow

    kind = data.table.schema.field(name).type
    is_text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
    if role not in _READERS or not is_text:
        return
    held, is_read = _READERS[role]
    found = _first_unread(data, name, is_read)
    if found is None:
        raise CommandError(
            f"{data.name}: column {name!r} is stored as text, but held {held} in training; store "
            f"it as {held}"
        )
    place, cell = found
    raise CommandError(
        f"{data.name}, {place}: column {name!r} holds {cell!r}, but held {held} in training; "
        f"{_way_out(data, cell, held)}"
    )


def _first_unread(
    data: Data, name: str, is_read: Callable[[str, str], bool]
) -> tuple[str, str] | None:
    """Place and value of the first cell that is neither missing nor as in training."""

    def is_bad(cell: str) -> bool:
        return cell not in data.nulls and bool(cell.strip()) and not is_read(cell, data.decimal)

    if data.text is not None:
        found = csv_faults.first_cell(data.text, data.delimiter, name, is_bad)
        return None if found is None else (f"line {found[0]}", found[1])
    for row, cell in enumerate(data.table.column(name).to_pylist()):
        if cell is not None and is_bad(cell):
            return data.place(row), cell
    return None


def _way_out(data: Data, cell: str, held: str) -> str:
    """What to try with a cell that is no number or date as programs write it."""
    if held == "numbers" and is_number(cell):
        if data.decimal == "." and may_be_decimal_comma([cell]):
            return "try --decimal , if the comma is a decimal point, or write a plain number"
        return "write a plain number"
    if data.text is None:
        return "correct it, or store it as missing if it means that"
    return f"correct it, or try --missing {cell!r} if it means a missing value"


def _is_date(cell: str, decimal: str) -> bool:
    del decimal
    try:
        datetime.datetime.fromisoformat(cell.strip())
    except ValueError:
        return False
    return True


#: What columns of a role held in training, and whether a cell is as there.
_READERS: dict[str, tuple[str, Callable[[str, str], bool]]] = {
    "number": ("numbers", is_plain),
    "number_levels": ("numbers", is_plain),
    "datetime": ("dates", _is_date),
}


def _unnamed_rows(
    fitted: FittedModel, data: Data, console: Console, aside: Sequence[str]
) -> NDArray[Any]:
    """Rows for a model that knows no names: all columns, in the order of the file."""
    kept = [name for name in data.names if name not in (*aside, *data.index)]
    if len(kept) != fitted.n_columns:
        raise CommandError(
            f"{data.name} has {counted(len(kept), 'column')}; the model was fitted without names "
            f"to {counted(fitted.n_columns, 'column')}; give just these, in their order"
        )
    console.say("the model knows no names of columns: they are taken in the order of the file")
    columns = [data.table.column(name).to_pylist() for name in kept]
    if set(fitted.column_kinds) <= {NUMBER}:
        return np.array(columns, dtype=np.float64).T
    return np.array(columns, dtype=object).T
