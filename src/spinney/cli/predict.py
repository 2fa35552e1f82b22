"""``spinney predict``: predictions for the rows of a table."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli.arguments import add_command, add_json, add_table, format_of
from spinney.cli.columns import check_known, rows_for, split_names, text_columns
from spinney.cli.console import Console, plain
from spinney.cli.errors import OK, CommandError, UsageError
from spinney.cli.loading import load_model
from spinney.cli.output import STANDARD_OUTPUT, check_output, write_output
from spinney.cli.reading import Data, read_data
from spinney.data.wording import counted

DESCRIPTION = """\
Predict the rows of a table with a stored model.

Columns are found by their names, in any order. Columns that the model does not read are left aside,
with a note. The result is CSV with a header, one line a row, in the order of the table. With --json
each row is one JSON object on a line of its own.
"""
EXAMPLES = """
  spinney predict income.spinney new.csv -o predictions.csv
  spinney predict income.spinney new.csv --proba | head
  spinney predict income.spinney new.csv --keep id,name > named.csv
  zcat new.csv.gz | spinney predict income.spinney - --json
"""


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "predict",
        run,
        "predict the rows of a table",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("model", help="model file")
    add_table(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default=STANDARD_OUTPUT, help="default: standard output"
    )
    parser.add_argument("--proba", action="store_true", help="also the probability of each class")
    parser.add_argument(
        "--keep", metavar="COLUMNS", action="append", help="columns of the table to write beside"
    )
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Load, read, predict, write."""
    if options.output != STANDARD_OUTPUT:
        check_output(options.output)
    fitted = load_model(options.model)
    if options.proba and not fitted.is_classifier:
        raise UsageError(f"--proba: {options.model} predicts numbers, which have no probabilities")
    data = read_data(options.data, format_of(options), texts=text_columns(fitted))
    kept = split_names(options.keep, data.names)
    check_known(kept, data, "--keep")
    rows = rows_for(fitted, data, console, aside=kept)
    columns = {name: data.table.column(name).to_pylist() for name in kept}
    predicted = predictions(fitted.model, rows, with_shares=options.proba)
    twice = [name for name in kept if name in predicted]
    if twice:
        raise CommandError(f"--keep {twice[0]!r}: a column of the result has this name, too")
    columns.update(predicted)
    text = _as_json(columns) if console.is_json else _as_csv(columns)
    if options.output == STANDARD_OUTPUT:
        for piece in text:
            console.out.write(piece)
    else:
        write_output(options.output, "".join(text).encode(), console)
        console.say(f"{counted(_n_rows(data), 'row')} predicted")
    return OK


def predictions(model: Any, rows: Any, *, with_shares: bool) -> dict[str, NDArray[Any]]:
    """Predicted columns by name."""
    predicted = np.asarray(model.predict(rows))
    if predicted.ndim == 2:
        return {f"prediction_{number}": column for number, column in enumerate(predicted.T)}
    found = {"prediction": predicted}
    if with_shares:
        shares = model.predict_proba(rows)
        for label, column in zip(model.classes_.tolist(), shares.T, strict=True):
            found[f"probability_{label}"] = column
    return found


def _n_rows(data: Data) -> int:
    return int(data.table.num_rows)


def _as_csv(columns: dict[str, Any]) -> Iterator[str]:
    """Lines of CSV; numbers in their shortest form that reads back as the same number."""
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for row in chain([tuple(columns)], zip(*_lists(columns), strict=True)):
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _as_json(columns: dict[str, Any]) -> Iterator[str]:
    for row in zip(*_lists(columns), strict=True):
        named = dict(zip(columns, row, strict=True))
        yield json.dumps(plain(named), ensure_ascii=False, allow_nan=False) + "\n"


def _lists(columns: dict[str, Any]) -> list[list[Any]]:
    return [values.tolist() if hasattr(values, "tolist") else values for values in columns.values()]
