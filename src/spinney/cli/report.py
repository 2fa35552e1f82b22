"""``spinney report``: a model and how it decides, as one HTML file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli.arguments import add_command, add_table, add_target
from spinney.cli.console import Console
from spinney.cli.errors import OK, CommandError
from spinney.cli.evaluate import read_labelled
from spinney.cli.loading import load_model
from spinney.cli.output import check_output, write_with
from spinney.data.wording import listed

DESCRIPTION = """\
Write one HTML file that shows a model at work on a table: its trees, the hyperplanes of their
nodes, the path of each row, errors, importances. It needs no network and opens in any browser. An
existing file is replaced.

--image-shape 28x28 draws hyperplanes over pixels as pictures.
"""
EXAMPLES = """
  spinney report income.spinney test.csv -o income.html
  spinney report digits.spinney digits.csv --target digit --image-shape 8x8 -o digits.html
"""


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "report",
        run,
        "write an HTML file that shows how a model decides",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("model", help="model file")
    add_table(parser)
    add_target(parser, is_required=False, several=" (default: the column the model does not read)")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="HTML file to write")
    parser.add_argument("--image-shape", metavar="HxW", type=_shape, help="rows are pictures")


def run(options: argparse.Namespace, console: Console) -> int:
    """Load, read, write."""
    check_output(options.output)
    fitted = load_model(options.model)
    if not hasattr(fitted.model, "report"):
        raise CommandError(f"{options.model}: a {fitted.model_name} has no report")
    X, y = read_labelled(fitted, options, console)
    if fitted.is_classifier:
        y = labels_of(fitted.model.classes_, y, options.data)

    def write(path: Path) -> None:
        with console.only_talk():
            fitted.model.report(path, X, y, image_shape=options.image_shape)

    write_with(options.output, write, ".html", console)
    return OK


def labels_of(classes: NDArray[Any], texts: NDArray[np.str_], name: str) -> NDArray[Any]:
    """Labels from their texts."""
    place = {str(label): number for number, label in enumerate(classes)}
    unknown = sorted(set(texts.tolist()) - set(place))
    if unknown:
        raise CommandError(
            f"{name} has labels that the model does not know ({listed(unknown)}); correct them or "
            "leave these rows out"
        )
    labels: NDArray[Any] = classes[[place[text] for text in texts.tolist()]]
    return labels


def _shape(text: str) -> tuple[int, ...]:
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form 28x28")
    return tuple(int(part) for part in parts)
