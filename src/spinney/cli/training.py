"""What ``train`` and ``compare`` read: columns, target and task, said aloud as they are found."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli.arguments import format_of
from spinney.cli.columns import check_finite, check_known, split_names
from spinney.cli.console import Console
from spinney.cli.errors import UsageError
from spinney.cli.layout import counted, listed
from spinney.cli.reading import Data, read_data
from spinney.cli.target import TASKS, Target, as_y, guess_task, take_target

#: A column of text is told of if so many of its cells are numbers, or if it has so many levels.
MOSTLY = 0.9


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
    tell_of_texts(data, console)
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


def tell_of_texts(data: Data, console: Console) -> None:
    """Tell of columns of text that are probably no categories."""
    import pyarrow
    from pyarrow import compute

    for name in data.names:
        column = data.table.column(name)
        if not pyarrow.types.is_string(column.type):
            continue
        texts = compute.drop_null(column)
        n_levels = len(compute.unique(texts))
        if len(texts) >= 20 and n_levels > MOSTLY * len(texts):
            console.say(
                f"note: column {name!r} has {n_levels:,} different texts in {len(texts):,} rows; "
                f"if it only names the rows: --drop {name}"
            )
            continue
        is_number = compute.match_substring_regex(texts, r"^\s*[-+]?(\d|\.\d)")
        n_numbers = compute.sum(is_number).as_py() or 0
        if MOSTLY * len(texts) <= n_numbers < len(texts):
            other = compute.filter(texts, compute.invert(is_number))[0].as_py()
            console.say(
                f"note: column {name!r} is read as text because of {other!r}; if that means a "
                f"missing value: --missing {other!r}"
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
