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
from sklearn.base import is_regressor

import spinney
from spinney.cli.arguments import add_command, add_json, add_table, add_target, share
from spinney.cli.console import Console, standard_console
from spinney.cli.errors import OK, CommandError
from spinney.cli.layout import bytes_text
from spinney.cli.models import DEFAULT, MODELS, build, parameters_of, when_to_take
from spinney.cli.output import check_output, say_written
from spinney.cli.scores import main_score, score_text
from spinney.cli.target import CLASSIFICATION, TASKS
from spinney.cli.training import add_columns, add_fitting, categorical_features, read_training
from spinney.data.wording import counted, listed
from spinney.inspection.fitted_model import fitted_estimator

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
    """Add this subcommand to the parser."""
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
    if not options.categorical:  # that text is a category need not be said in the file
        estimator.set_params(categorical_features="from_dtype")
    was_there = Path(options.output).exists()
    spinney.save(estimator, options.output)
    say_written(options.output, was_there, console)
    found = _summary(estimator, task, rows, held_out, seconds, options)
    console.answer(found, _text(found))
    return OK


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
    """Fit, with the rows set aside where the model can be judged by them as it grows."""
    options: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    if held_out is not None and "X_val" in inspect.signature(estimator.fit).parameters:
        options.update(_validation_rows(estimator, rows[1], *held_out))
        if _stops_early(estimator):
            console.say("the rows set aside decide when to stop, so their error flatters a little")
    try:
        with console.only_talk():
            estimator.fit(*rows, **options)
    except KeyboardInterrupt:
        if checkpoint is not None:
            console.say("\nthe same command goes on from the checkpoint")
        raise


def _validation_rows(
    estimator: Any, y: NDArray[Any], aside: Any, y_aside: NDArray[Any]
) -> dict[str, Any]:
    """Rows set aside as `fit` takes them: those of classes that the training rows have too."""
    if is_regressor(estimator):
        return {"X_val": aside, "y_val": y_aside}
    known = np.flatnonzero(np.isin(y_aside, y))
    return {"X_val": aside.take(known), "y_val": y_aside[known]} if len(known) else {}


def _stops_early(estimator: Any) -> bool:
    """Whether the fit chooses by validation rows, and not only tells of them."""
    parameters = estimator.get_params()
    stops = parameters.get("early_stopping")
    return bool(parameters.get("n_iter_no_change") if stops is None else stops)


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
        "trees": len(fitted_estimator(estimator).trees),
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
