"""What ``train`` and ``compare`` read: columns, target and task, said aloud as they are found."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from spinney.cli.arguments import format_of
from spinney.cli.columns import check_finite, check_known, split_names
from spinney.cli.console import Console
from spinney.cli.errors import CommandError, UsageError
from spinney.cli.odd_cells import odd_cells, told_cells, ways_out
from spinney.cli.reading import Data, read_data
from spinney.cli.target import TASKS, Target, as_y, guess_task, take_target
from spinney.cli.target_texts import check_target_texts
from spinney.data.tables.columns import DATETIME, shown_cells
from spinney.data.tables.texts import FREE, Look, look_at
from spinney.data.wording import counted, listed

#: Types of Arrow that are text; older releases of it do not know the last.
_TEXTS = ("string", "large_string", "string_view")


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
    check_target_texts(data, target, options.task)
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
    free: dict[str, Look] = {}
    for name in text_names(data):
        if name in categorical:
            continue
        texts = data.table.column(name).to_pylist()
        look = look_at(texts, data.decimal)
        if look is not None and look.kind == FREE:
            free[name] = look
        elif look is not None:
            _refuse_texts(data, name, texts, look)
    told = [
        f"column {name!r} has {look.n_like:,} different texts in {look.n_values:,} rows"
        for name, look in free.items()
    ]
    if free and len(free) == len(data.names):
        raise CommandError(
            f"{data.name}: nothing can be learned from texts that do not come again: "
            f"{shown_cells(told)}; give other columns, too, or try --categorical {next(iter(free))}"
        )
    for name, text in zip(free, told, strict=True):
        console.say(f"note: {text}; if it only names the rows: --drop {name}")


def _refuse_texts(data: Data, name: str, texts: list[str | None], look: Look) -> NoReturn:
    """Raise with the cells that make a column of numbers or dates text, and what to type."""
    odd = odd_cells(data, texts, look)
    are = "dates" if look.kind == DATETIME else "numbers"
    why = f"is text because of {told_cells(data, odd)}" if odd else f"is stored as text, not {are}"
    ways = ways_out(data, texts, look, odd) if odd else [f"storing it as {are}"]
    ways += [f"--categorical {name} for codes", f"--drop {name}"]
    raise CommandError(
        f"{data.name}: column {name!r} {why}; {look.n_like:,} of its {look.n_values:,} cells are "
        f"{are}; try {', or '.join(ways)}"
    )


def text_names(data: Data) -> list[str]:
    """Columns of text."""
    return [field.name for field in data.table.schema if str(field.type) in _TEXTS]


def categorical_features(options: argparse.Namespace, data: Data) -> Any:
    """Columns of text and those that were named, or what dtypes say if there are none.

    Text was looked at in the whole table. Named, it is not looked at again in the rows of a fold,
    where the answer may be another.
    """
    import pyarrow

    named = split_names(options.categorical, data.names)
    check_known(named, data, "--categorical")
    texts = text_names(data)
    if not named and not texts:
        return "from_dtype"
    coded = [field.name for field in data.table.schema if pyarrow.types.is_dictionary(field.type)]
    return [name for name in data.names if name in (*named, *texts, *coded)]
