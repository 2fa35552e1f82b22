"""``spinney evaluate``: how good a model is on rows whose answers are known."""

from __future__ import annotations

import argparse
from typing import Any

from spinney.cli.arguments import add_command, add_json, add_table, add_target, format_of
from spinney.cli.columns import rows_for, text_columns
from spinney.cli.console import Console
from spinney.cli.errors import OK, CommandError, UsageError
from spinney.cli.layout import align
from spinney.cli.loading import load_model
from spinney.cli.reading import Data, read_data, read_text
from spinney.cli.scores import MOST_CLASSES_SHOWN, class_scores, number_scores, score_text
from spinney.cli.target import REGRESSION, as_y, label_texts, take_target
from spinney.data.wording import listed
from spinney.inspection.fitted_model import FittedModel

DESCRIPTION = """\
Judge a stored model by rows whose answers are known: error, AUC, log loss and the confusion matrix
for classes; RMSE, MAE and R2 for numbers. The target is the one column of the table that the model
does not read; if there are several, --target says which.

Judge by rows that the model was not trained on: a forest knows its training rows nearly by heart.
"""
EXAMPLES = """
  spinney evaluate income.spinney test.csv
  spinney evaluate income.spinney test.csv --target income --json
"""


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "evaluate",
        run,
        "judge a model by rows whose answers are known",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("model", help="model file")
    add_table(parser)
    add_target(parser, is_required=False, several=" (default: the column the model does not read)")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Load, read, judge."""
    fitted = load_model(options.model)
    X, y = read_labelled(fitted, options, console)
    if fitted.is_classifier:
        found = class_scores(fitted.model, X, y)
        console.answer(found, _text_of_classes(found))
    else:
        found = number_scores(fitted.model, X, y)
        console.answer(found, _text_of_numbers(found))
    return OK


def read_labelled(
    fitted: FittedModel, options: argparse.Namespace, console: Console
) -> tuple[Any, Any]:
    """Rows of a table as a model takes them, and the answers: numbers, or classes as text."""
    texts = [*text_columns(fitted), *(options.target or ())]
    data = read_data(options.data, format_of(options), texts=texts)
    names = options.target
    if names is None:
        name, why = find_target(fitted, data)
        names = [name]
        console.say(f"target: {name!r}, {why}")
        if data.text is not None:  # again, with the labels as they are written
            form = format_of(options)
            data = read_text(data.text, data.name, data.delimiter, form, [*texts, *names])
    data, target = take_target(data, names, console, skip_missing=options.skip_missing_target)
    X = rows_for(fitted, data, console)
    if not fitted.is_classifier:
        n_outputs = fitted.forest.n_outputs
        if len(names) != n_outputs:
            raise UsageError(f"the model predicts {n_outputs} numbers; name each --target")
        return X, as_y(target, REGRESSION, data)
    if len(names) > 1:
        raise UsageError("the model predicts one class; name one --target")
    return X, label_texts(target, fitted.model.classes_)


def find_target(fitted: FittedModel, data: Data) -> tuple[str, str]:
    """The column that must be the target, and why: no other fits."""
    names = fitted.given_names
    if names is None:
        raise UsageError("the model knows no names of columns; name the --target")
    extra = [name for name in data.names if name not in names]
    if not extra:
        raise CommandError(
            f"{data.name} has no target: the model reads all of its columns; add the answers"
        )
    if len(extra) == 1:
        return extra[0], "the one column that the model does not read"
    if fitted.class_names is not None:
        labels = set(fitted.class_names)
        fitting = [name for name in extra if labels.issuperset(_texts(data, name))]
        if len(fitting) == 1:
            return fitting[0], "the one column that holds the classes of the model"
    raise UsageError(
        f"--target is needed: {data.name} has several columns that the model does not read "
        f"({listed(extra)})"
    )


def _texts(data: Data, name: str) -> set[str]:
    """What a column holds, as text; missing values do not count."""
    values = data.table.column(name).unique().to_pylist()
    return {str(value) for value in values if value is not None}


def _text_of_classes(found: dict[str, Any]) -> str:
    lines = [
        ("rows", f"{found['rows']:,}"),
        ("error", score_text("error", found["error"])),
        ("error of always the most frequent class", score_text("error", found["baseline_error"])),
        ("AUC", _or_dash(found["auc"])),
        ("log loss", _or_dash(found["log_loss"])),
    ]
    if found["unknown_labels"]:
        lines.append(("labels the model does not know", listed(found["unknown_labels"])))
    labels = found["classes"] + found["unknown_labels"]
    text = "\n".join(f"{name}: {value}" for name, value in lines)
    if len(labels) > MOST_CLASSES_SHOWN:
        return text + f"\n\n{len(labels)} classes; --json has all confusions"
    rows = [
        [label, *map(str, counts)] for label, counts in zip(labels, found["confusion"], strict=True)
    ]
    return f"{text}\n\n" + align(["true \\ predicted", *labels], rows)


def _text_of_numbers(found: dict[str, Any]) -> str:
    lines = [
        ("rows", f"{found['rows']:,}"),
        ("RMSE", score_text("rmse", found["rmse"])),
        ("RMSE of always the mean", score_text("rmse", found["baseline_rmse"])),
        ("MAE", score_text("mae", found["mae"])),
        ("R2", _or_dash(found["r2"])),
    ]
    return "\n".join(f"{name}: {value}" for name, value in lines)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
