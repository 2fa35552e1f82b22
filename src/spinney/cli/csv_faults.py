"""Where a CSV file is broken, in lines as an editor counts them.

The fast reader says only that something is wrong. These functions read the text again, row by row,
and are called when an error is certain, so they need not be fast.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

#: Longest piece of a broken row that a message shows.
SHOWN = 60


def rows_of(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row starts and its cells, header first; blank lines are no rows."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    start = 1
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1
    except csv.Error:  # a cell beyond the limit of the module: what follows stays unknown
        return


def bad_row(text: str, delimiter: str) -> str | None:
    """What is wrong with the first row that has more or fewer cells than the header."""
    rows = rows_of(text, delimiter)
    width = len(next(rows, (1, []))[1])
    for line, cells in rows:
        if len(cells) == width:
            continue
        shown = delimiter.join(cells)
        if "\n" in shown:
            return (
                f"line {line}: a quote opens here and the row does not end as the header says "
                f"({len(cells)} values instead of {width}); close the quote"
            )
        cut = shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"
        advice = "complete the row or delete it"
        if len(cells) > width:
            advice = f"put values that hold {delimiter!r} in double quotes"
        return f"line {line}: {len(cells)} values where the header has {width}: {cut!r}; {advice}"
    return None


def unclosed_quote(text: str, delimiter: str) -> str | None:
    """Where a quote opens that nothing closes, so that the rest of the file is one cell."""
    if text.count('"') % 2 == 0:
        return None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for _ in reader:
            start = reader.line_num + 1
    except csv.Error as error:
        if "unexpected end" in str(error):
            return f"line {start}: a quote opens here that is never closed; close it"
    return None


def line_of_row(text: str, delimiter: str, row: int) -> int | None:
    """The line on which row number `row` starts; the first row below the header is 0."""
    for number, (line, _) in enumerate(rows_of(text, delimiter)):
        if number == row + 1:
            return line
    return None


def first_cell(
    text: str, delimiter: str, column: str, is_bad: Callable[[str], bool]
) -> tuple[int, str] | None:
    """Line and value of the first bad cell of a column."""
    rows = rows_of(text, delimiter)
    _, header = next(rows, (1, []))
    if column not in header:
        return None
    place = header.index(column)
    for line, cells in rows:
        if place < len(cells) and is_bad(cells[place]):
            return line, cells[place]
    return None


def line_of_byte(data: bytes, offset: int) -> int:
    """The line of a byte."""
    return data.count(b"\n", 0, offset) + 1


def looks_separated_by(header: str, delimiter: str) -> str | None:
    """Another delimiter that the header line seems to use, if any."""
    found = {other: header.count(other) for other in ";\t|," if other != delimiter}
    best = max(found, key=lambda other: found[other])
    return best if found[best] else None
