"""A target of numbers that a few cells make text: refused, unless classes are asked for."""

from __future__ import annotations

import warnings
from typing import NoReturn

import numpy as np

from spinney.cli.errors import CommandError
from spinney.cli.odd_cells import odd_cells, told_cells, ways_out
from spinney.cli.reading import Data
from spinney.cli.target import CLASSIFICATION, MOST_CLASSES_OF_NUMBERS, Target
from spinney.data.tables.columns import NUMBER
from spinney.data.tables.texts import Look, look_at, odd_texts


def check_target_texts(data: Data, target: Target, task: str | None) -> None:
    """Refuse numbers that would become classes because some cells are no plain numbers.

    Parameters
    ----------
    data : Data
    target : Target
    task : {"classification", "regression"} or None
        What was asked for; None if it is to be guessed.
    """
    if task == CLASSIFICATION:  # asked for, so that there is nothing to doubt
        warnings.filterwarnings("ignore", message="y is text of", category=UserWarning)
        return
    for name, values in zip(target.names, target.columns, strict=True):
        if values.dtype.kind != "U":
            continue
        texts = values.tolist()
        look = look_at(texts, data.decimal)
        if look is not None and look.kind == NUMBER and _is_spoilt(texts, look):
            _refuse(data, name, texts, look)


def _is_spoilt(texts: list[str], look: Look) -> bool:
    """Whether cells differ from most, or all are many numbers, none of them plain; 007 is a name.

    Some shares as 10% and 20% may well be classes.
    """
    is_many = len(np.unique(texts)) > MOST_CLASSES_OF_NUMBERS
    return bool(odd_texts(texts, look.is_like)) or (is_many and not look.is_plain)


def _refuse(data: Data, name: str, texts: list[str], look: Look) -> NoReturn:
    odd = odd_cells(data, texts, look)
    why = f"is text because of {told_cells(data, odd)}" if odd else "is stored as text"
    ways = [
        f"{way}, with --skip-missing-target" if way.startswith("--missing") else way
        for way in ways_out(data, texts, look, odd)
    ]
    if 2 * len(set(texts)) <= len(texts):  # others would be refused as classes, too
        ways.append("--task classification if they are classes")
    ways.append("another --target")
    raise CommandError(
        f"{data.name}: target {name!r} {why}; {look.n_like:,} of its {look.n_values:,} cells are "
        f"numbers; try {', or '.join(ways)}"
    )
