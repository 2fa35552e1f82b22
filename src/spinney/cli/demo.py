"""``spinney demo``: our trees and forests beside the usual ones, on data that comes along."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from spinney.cli.arguments import add_command, add_json
from spinney.cli.console import Console
from spinney.cli.demo_models import (
    SEED,
    classifiers,
    microseconds_of_a_row,
    regressors,
    size_of,
)
from spinney.cli.errors import OK, UsageError
from spinney.cli.layout import align
from spinney.cli.output import check_output, write_with
from spinney.cli.scores import main_score, score_text

DESCRIPTION = """\
Fit optimised oblique trees, forests of them and the usual forests to two tasks that come along:
digits to tell apart, and a function to predict. Takes about half a minute of one core.

--picture draws the upper splits of a digits tree, and the error of forests as they grow.
"""
EXAMPLES = """
  spinney demo
  spinney demo --picture demo.png
  spinney demo --json
"""


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "demo",
        run,
        "our forests beside the usual ones, on bundled data",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("--picture", metavar="FILE", help="draw, too; needs 'spinney[plot]'")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Fit with one thread each, tell, draw."""
    from threadpoolctl import threadpool_limits

    if options.picture is not None:
        if find_spec("matplotlib") is None:
            raise UsageError("--picture needs matplotlib; try pip install 'spinney[plot]'")
        check_output(options.picture)
    with threadpool_limits(limits=1):
        _run(options, console)
    return OK


def _run(options: argparse.Namespace, console: Console) -> None:
    from sklearn.datasets import load_digits, make_friedman1
    from sklearn.model_selection import train_test_split

    digits = train_test_split(*load_digits(return_X_y=True), random_state=SEED)
    labellers = classifiers()
    title = "Digits: 1347 training rows, 64 features, 10 classes"
    found = {"digits": _task(title, labellers, digits, console)}
    friedman = make_friedman1(n_samples=4000, noise=1.0, random_state=SEED)
    split = train_test_split(*friedman, random_state=SEED)
    title = "Friedman's function 1: 3000 training rows, 10 features, noise 1"
    found["friedman1"] = _task(title, regressors(), split, console)
    if console.is_json:
        console.json(found)
    if options.picture is not None:
        from spinney.cli.demo_picture import draw

        suffix = Path(options.picture).suffix or ".png"
        write_with(options.picture, lambda path: draw(labellers, digits, path), suffix, console)


def _task(
    title: str, models: dict[str, Any], data: list[NDArray[Any]], console: Console
) -> list[dict[str, Any]]:
    """Fit each model and tell of it."""
    rows = []
    for number, (name, model) in enumerate(models.items(), start=1):
        console.say(f"[{number}/{len(models)}] {name} … ", end="")
        rows.append(_measured(name, model, data))
        console.say(f"{rows[-1]['fit_seconds']:.2f} s")
    if not console.is_json:
        console.result(f"\n{title}\n\n{_table(rows)}\n")
        console.out.flush()
    return rows


def _measured(name: str, model: Any, data: list[NDArray[Any]]) -> dict[str, Any]:
    X_train, X_test, y_train, y_test = data
    start = perf_counter()
    model.fit(X_train, y_train)
    seconds = perf_counter() - start
    n_trees, depth, n_parameters = size_of(model)
    measure = "error" if hasattr(model, "classes_") else "rmse"
    return {
        "model": name,
        measure: main_score(model, X_test, y_test),
        "trees": n_trees,
        "depth": depth,
        "parameters": n_parameters,
        "fit_seconds": seconds,
        "microseconds_a_row": microseconds_of_a_row(model, X_test[:1]),
    }


def _table(rows: list[dict[str, Any]]) -> str:
    measure = "error" if "error" in rows[0] else "rmse"
    title = "test error" if measure == "error" else "test RMSE"
    header = ["model", title, "trees", "depth", "parameters", "fit s", "one row µs"]
    return align(
        header,
        [
            [
                row["model"],
                score_text(measure, row[measure]),
                f"{row['trees']:,}",
                str(row["depth"]),
                f"{row['parameters']:,}",
                f"{row['fit_seconds']:.2f}",
                f"{row['microseconds_a_row']:,.0f}",
            ]
            for row in rows
        ],
    )
