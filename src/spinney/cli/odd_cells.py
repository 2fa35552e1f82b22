"""Cells that make a column of numbers or dates text: where they are, and what to type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from spinney.cli.reading import Data
from spinney.data.tables.columns import DATETIME, shown_cells
from spinney.data.tables.number_texts import may_be_decimal_comma
from spinney.data.tables.texts import Look, Odd, odd_texts

#: Cells whose line is looked up: each takes a walk through the file.
_SHOWN = 3


def odd_cells(data: Data, texts: Sequence[str | None], look: Look) -> list[Odd]:
    """Cells that are not as most are; if all are, those that the reader refused, or the first.

    Empty if nothing but the type of the column is to blame, as it can be in Parquet.
    """
    odd = odd_texts(texts, look.is_like)
    if odd or data.text is None:
        return odd
    if look.is_plain:
        return odd_texts(texts, _is_read)
    alike = ((row, text) for row, text in enumerate(texts) if text and look.is_like(text))
    return [Odd(text, row, 1) for row, text in islice(alike, 1)]


def _is_read(text: str) -> bool:
    """Whether the reader takes a plain number for one: it knows neither spaces nor +."""
    return text == text.strip() and not text.startswith("+")


def told_cells(data: Data, odd: Sequence[Odd]) -> str:
    """The first few cells with their lines, and how many there are besides."""
    told = [cell.told(data.place(cell.row)) for cell in odd[:_SHOWN]]
    return shown_cells([*told, *(cell.text for cell in odd[_SHOWN:])])


def ways_out(data: Data, texts: Sequence[str | None], look: Look, odd: Sequence[Odd]) -> list[str]:
    """What to try so that the column is read as numbers or dates."""
    words = [cell.text for cell in odd if not look.is_of_kind(cell.text)]
    ways = []
    if words:
        missing = " ".join(f"--missing {text!r}" for text in words[:_SHOWN])
        ways.append(f"{missing} if that means a missing value")
    if look.kind == DATETIME:
        return [*ways, "writing all dates as 2024-01-31 in the file"]
    spelled = [text for text in texts if text is not None and look.is_of_kind(text)]
    if data.decimal == "." and may_be_decimal_comma(spelled):
        ways.append("--decimal , if the comma is a decimal point")
    if len(words) < len(odd) or not look.is_plain:
        point = "" if data.decimal == "." else f", as 1234{data.decimal}5,"
        ways.append(f"writing plain numbers{point} in the file")
    return ways
