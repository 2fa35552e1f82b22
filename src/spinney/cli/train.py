"""``spinney train``: from a table to a model file."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spinney
from spinney.cli.arguments import add_command, add_json, add_table, add_target, format_of, share
from spinney.cli.columns import check_finite, check_known, split_names
from spinney.cli.console import Console, standard_console
from spinney.cli.errors import OK, CommandError, UsageError
from spinney.cli.layout import bytes_text, counted, listed
from spinney.cli.loading import trees_of
from spinney.cli.models import DEFAULT, MODELS, build, parameters_of, when_to_take
from spinney.cli.output import check_output, say_written
from spinney.cli.reading import Data, read_data
from spinney.cli.scores import main_score, score_text
from spinney.cli.target import CLASSIFICATION, TASKS, Target, as_y, guess_task, take_target

#: A column of text is told of if so many of its cells are numbers, or if it has so many levels.
MOSTLY = 0.9

DESCRIPTION = f"""\
Fit a model to a table and store it.

Columns are read as they are: numbers, categories, text of a few levels, dates, missing values. How
they were read is part of the model, so spinney predict takes the same raw table. The task is
guessed from the target and said aloud; --task decides. All cores are used, and the model is the
same for any number of them. An existing model file is replaced.

models (--model):
{when_to_take()}
"""
EXAMPLES = """
  spinney train people.csv --target income -o income.spinney
  spinney train houses.parquet --target price --model fao --validation 0.2 -o price.spinney
  spinney train people.csv -t income --drop id,name --categorical zip -o income.spinney
  spinney train people.csv -t income --model bagged --param max_depth=6 -o m.spinney
  spinney train people.csv -t income --checkpoint m.checkpoint -o m.spinney   # survives Ctrl-C
  zcat people.csv.gz | spinney train - --target income -o income.spinney
  spinney train --parameters-of fao
"""


class _ListParameters(argparse.Action):
    """Print the parameters of a model and end, as --help does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002
        values: Any,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        standard_console().result(parameters_of(values))
        parser.exit()


def add_parser(commands: Any) -> None:
    """Tell the parser of this subcommand."""
    parser = add_command(
        commands,
        "train",
        run,
        "fit a model to a table and store it",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_table(parser)
    add_target(parser, is_required=True, several="; repeat it for several numbers")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="model file to write")
    parser.add_argument(
        "--model", choices=MODELS, default=DEFAULT, help=f"see above (default {DEFAULT})"
    )
    parser.add_argument("--task", choices=TASKS, help="classes or numbers (default: guessed)")
    parser.add_argument(
        "--param", metavar="NAME=VALUE", action="append", default=[], help="may be repeated"
    )
    parser.add_argument(
        "--parameters-of",
        metavar="MODEL",
        choices=MODELS,
        action=_ListParameters,
        help="list the parameters of a model and end",
    )
    add_columns(parser)
    parser.add_argument(
        "--validation", metavar="SHARE", type=share, help="rows to set aside and judge by, as 0.2"
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the fit as it goes on; the same "
        "command after a crash or Ctrl-C goes on from there",
    )
    add_fitting(parser)
    add_json(parser)


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


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, fit, judge, store, tell."""
    check_output(options.output)
    data, y, task = read_training(options, console)
    estimator = build(
        options.model,
        task,
        options.param,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        verbose=int(not console.is_quiet),
        categorical_features=categorical_features(options, data),
    )
    rows, held_out = _divide(data.table, y, task, options)
    console.say(
        f"fitting {type(estimator).__name__} to {counted(rows[0].num_rows, 'row')} and "
        f"{counted(data.table.num_columns, 'column')}"
    )
    start = perf_counter()
    _fit(estimator, rows, held_out, options.checkpoint, console)
    seconds = perf_counter() - start
    estimator.set_params(verbose=0)  # the file's readers did not ask for talk
    was_there = Path(options.output).exists()
    spinney.save(estimator, options.output)
    say_written(options.output, was_there, console)
    found = _summary(estimator, task, rows, held_out, seconds, options)
    console.answer(found, _text(found))
    return OK


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
    data = data.with_table(data.table.drop_columns(dropped)) if dropped else data
    data, target = take_target(
        data, options.target, console, skip_missing=options.skip_missing_target
    )
    task, why = guess_task(target)
    if options.task is None:
        console.say(f"{task} of {target.name}, because {why}{_otherwise(target, task)}")
    task = options.task or task
    check_finite(data, data.names)
    tell_of_texts(data, console)
    return data, as_y(target, task, data), task


def _otherwise(target: Target, task: str) -> str:
    """How to have the other task, where it is possible."""
    if len(target.columns) > 1 or target.columns[0].dtype.kind != "f":
        return ""
    return f"; --task {next(name for name in TASKS if name != task)} if that is meant"


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


def _divide(
    table: Any, y: NDArray[Any], task: str, options: argparse.Namespace
) -> tuple[tuple[Any, NDArray[Any]], tuple[Any, NDArray[Any]] | None]:
    """Training rows, and those set aside to judge by."""
    if options.validation is None:
        return (table, y), None
    from sklearn.model_selection import train_test_split

    if len(y) < 4:
        raise CommandError(f"--validation needs at least 4 rows; there are {len(y)}")
    labels = y if task == CLASSIFICATION and np.unique(y, return_counts=True)[1].min() > 1 else None
    try:
        fitted, aside = train_test_split(
            np.arange(len(y)),
            test_size=options.validation,
            random_state=options.random_state,
            stratify=labels,
        )
    except ValueError as error:
        raise CommandError(f"--validation {options.validation}: {error}") from error
    fitted, aside = np.sort(fitted), np.sort(aside)
    return (table.take(fitted), y[fitted]), (table.take(aside), y[aside])


def _fit(
    estimator: Any,
    rows: tuple[Any, NDArray[Any]],
    held_out: tuple[Any, NDArray[Any]] | None,
    checkpoint: str | None,
    console: Console,
) -> None:
    """Fit, with validation rows where the model chooses by them."""
    options: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    if held_out is not None and _stops_early(estimator):
        options.update(X_val=held_out[0], y_val=held_out[1])
        console.say("the rows set aside decide when to stop, so their error flatters a little")
    try:
        with console.only_talk():
            estimator.fit(*rows, **options)
    except KeyboardInterrupt:
        if checkpoint is not None:
            console.say("\nthe same command goes on from the checkpoint")
        raise


def _stops_early(estimator: Any) -> bool:
    """Whether the fit looks at validation rows if there are any."""
    parameters = estimator.get_params()
    wanted = parameters.get("early_stopping") or parameters.get("n_iter_no_change") is not None
    return bool(wanted) and "X_val" in inspect.signature(estimator.fit).parameters


def _summary(
    estimator: Any,
    task: str,
    rows: tuple[Any, NDArray[Any]],
    held_out: tuple[Any, NDArray[Any]] | None,
    seconds: float,
    options: argparse.Namespace,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "file": options.output,
        "model": type(estimator).__name__,
        "task": task,
        "target": options.target,
        "rows": int(rows[0].num_rows),
        "columns": int(rows[0].num_columns),
        "trees": len(trees_of(estimator)),
        "parameters": int(estimator.n_parameters_),
        "bytes": Path(options.output).stat().st_size,
        "fit_seconds": round(seconds, 3),
        "measure": "error" if task == CLASSIFICATION else "rmse",
        "training": main_score(estimator, *rows),
    }
    if task == CLASSIFICATION:
        found["classes"] = estimator.classes_.tolist()
    if held_out is not None:
        found["validation_rows"] = int(held_out[0].num_rows)
        found["validation"] = main_score(estimator, *held_out)
    return found


def _text(found: dict[str, Any]) -> str:
    lines = [
        f"{found['model']}: {counted(found['trees'], 'tree')}, "
        f"{counted(found['parameters'], 'parameter')}, {bytes_text(found['bytes'])}, "
        f"{found['fit_seconds']:.1f} s"
    ]
    if "classes" in found:
        lines.append(f"classes: {listed(_texts(found['classes']))}")
    measure = found["measure"]
    lines.append(f"{_name(measure)} on training rows: {score_text(measure, found['training'])}")
    if "validation" in found:
        lines.append(
            f"{_name(measure)} on {counted(found['validation_rows'], 'row')} set aside: "
            f"{score_text(measure, found['validation'])}"
        )
    return "\n".join(lines)


def _name(measure: str) -> str:
    return "error" if measure == "error" else "RMSE"


def _texts(values: Sequence[object]) -> list[str]:
    return [str(value) for value in values]
