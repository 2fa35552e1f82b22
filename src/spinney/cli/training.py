"""What ``train`` and ``compare`` read: columns, target and task, said aloud as they are found."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from spinney.cli.arguments import format_of
from spinney.cli.columns import check_finite, check_known, split_names
from spinney.cli.console import Console
from spinney.cli.errors import CommandError, UsageError
from spinney.cli.layout import counted, listed
from spinney.cli.reading import Data, read_data
from spinney.cli.target import TASKS, Target, as_y, guess_task, take_target
from spinney.tables.columns import DATETIME, SHOWN
from spinney.tables.texts import FREE, Look, look_at, other_texts


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Which columns are read, and how."""
    parser.add_argument(
        "--drop", metavar="COLUMNS", action="append", help="columns to leave out, with commas"
    )
    parser.add_argument(
        "--categorical",
        metavar="COLUMNS",
        action="append",
        help="columns of numbers that are categories; text always is",
    )


def add_fitting(parser: argparse.ArgumentParser, *, n_jobs: int = -1, why: str = "all") -> None:
    """Seed and cores."""
    parser.add_argument("--random-state", metavar="N", type=int, default=0, help="seed (default 0)")
    parser.add_argument(
        "--n-jobs", metavar="N", type=int, default=n_jobs, help=f"cores (default {n_jobs}: {why})"
    )


def read_training(options: argparse.Namespace, console: Console) -> tuple[Data, NDArray[Any], str]:
    """The columns to read, the target, and the task, said aloud."""
    data = read_data(options.data, format_of(options), texts=options.target)
    if data.unnamed:
        console.say(f"left out {counted(data.unnamed, 'column')} without a name, as an index is")
    dropped = split_names(options.drop, data.names)
    check_known(dropped, data, "--drop")
    for name in options.target:
        if name in dropped:
            raise UsageError(f"--drop {name!r}: it is the target; it is no column to read anyway")
    categorical = split_names(options.categorical, data.names)
    dropped += _unnamed_index(data, [*dropped, *options.target, *categorical], console)
    data = data.with_table(data.table.drop_columns(dropped)) if dropped else data
    data, target = take_target(
        data, options.target, console, skip_missing=options.skip_missing_target
    )
    task, why = guess_task(target)
    if options.task is None:
        console.say(f"{task} of {target.name}, because {why}{_otherwise(target, task)}")
    tell_of_one_value(target, console)
    task = options.task or task
    check_finite(data, data.names)
    check_texts(data, categorical, console)
    return data, as_y(target, task, data), task


def _unnamed_index(data: Data, named: Collection[str], console: Console) -> list[str]:
    """Columns of the data frame's index that no option names, said aloud."""
    index = [name for name in data.index if name not in named]
    if index:
        console.say(
            f"left out the index of the data frame: {listed(index)}; to read it, write the table "
            "after reset_index()"
        )
    return index


def _otherwise(target: Target, task: str) -> str:
    """How to have the other task, where it is possible."""
    if len(target.columns) > 1 or target.columns[0].dtype.kind != "f":
        return ""
    return f"; --task {next(name for name in TASKS if name != task)} if that is meant"


def tell_of_one_value(target: Target, console: Console) -> None:
    """Tell of targets that are the same in all rows, so that there is nothing to learn."""
    for name, values in zip(target.names, target.columns, strict=True):
        if len(np.unique(values)) == 1:
            shown = f"{values[0]:g}" if values.dtype.kind == "f" else repr(str(values[0]))
            console.say(
                f"note: target {name!r} is {shown} in {_all(len(values))}; the model can only "
                "say the same; check the table, or name another target"
            )


def _all(n_rows: int) -> str:
    return "the only row" if n_rows == 1 else f"all {n_rows:,} rows"


def check_texts(data: Data, categorical: Collection[str], console: Console) -> None:
    """Refuse text that is mostly numbers or dates; tell of texts that nearly all differ.

    Parameters
    ----------
    data : Data
    categorical : collection of str
        Columns that were said to be categories.
    console : Console
    """
    import pyarrow

    for name in data.names:
        kind = data.table.schema.field(name).type
        is_text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
        if not is_text or name in categorical:
            continue
        texts = data.table.column(name).to_pylist()
        look = look_at(texts)
        if look is not None and look.kind == FREE:
            console.say(
                f"note: column {name!r} has {look.n_like:,} different texts in {look.n_values:,} "
                f"rows; if it only names the rows: --drop {name}"
            )
            # Told of here, with what to type.
            warnings.filterwarnings("ignore", message=".*different texts in", category=UserWarning)
        elif look is not None:
            _refuse_texts(data, name, texts, look)


def _refuse_texts(data: Data, name: str, texts: list[str | None], look: Look) -> NoReturn:
    """Raise with the cells that make a column of numbers or dates text, and what to type."""
    bad = other_texts(texts, look.kind)
    shown = bad or [(texts.index(look.example), look.example)]
    cells = [f"{text!r} in {data.place(row)}" for row, text in shown[:SHOWN]]
    more = f" and {len(shown) - SHOWN:,} more" if len(shown) > SHOWN else ""
    are = "dates" if look.kind == DATETIME else "numbers"
    plainly = "all dates as 2024-01-31" if look.kind == DATETIME else "plain numbers"
    missing = " ".join(f"--missing {text!r}" for _, text in bad[:SHOWN])
    advice = [f"{missing} if that means a missing value"] if bad else []
    if "," in look.marks:
        advice.append("--decimal , if the comma is a decimal point")
    if look.marks or look.kind == DATETIME:
        advice.append(f"writing {plainly} in the file")
    advice += [f"--categorical {name} for codes", f"--drop {name}"]
    raise CommandError(
        f"{data.name}: column {name!r} is text because of {', '.join(cells)}{more}; "
        f"{look.n_like:,} of its {look.n_values:,} cells are {are}; try {', or '.join(advice)}"
    )


def categorical_features(options: argparse.Namespace, data: Data) -> Any:
    """Columns of text and those that were named, or what dtypes say if none was."""
    import pyarrow

    named = split_names(options.categorical, data.names)
    check_known(named, data, "--categorical")
    if not named:
        return "from_dtype"
    types = pyarrow.types
    texts = [
        field.name
        for field in data.table.schema
        if types.is_string(field.type)
        or types.is_large_string(field.type)
        or types.is_dictionary(field.type)
    ]
    return [name for name in data.names if name in named or name in texts]
