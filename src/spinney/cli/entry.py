"""The entry point: read the words, run a subcommand, turn what happens into an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from spinney._version import __version__
from spinney.cli import (
    bench,
    compare,
    demo,
    evaluate,
    export,
    inspect,
    predict,
    report,
    train,
)
from spinney.cli.arguments import EXIT_CODES, Help, Parser
from spinney.cli.console import Console, one_line, standard_console
from spinney.cli.errors import FAILED, INTERRUPTED, OK, USAGE, CommandError
from spinney.data.tables import MissingValuesWarning, one_warning

COMMANDS = (train, predict, evaluate, compare, report, inspect, export, demo, bench)
DESCRIPTION = """\
Small forests of well-optimised oblique decision trees, from a table to predictions.

Results go to standard output, everything else to standard error. A table is a CSV or Parquet file,
or - for a pipe. Each command has examples: spinney COMMAND --help
"""
EXAMPLES = f"""\
examples:
  spinney train people.csv --target income -o income.spinney
  spinney predict income.spinney new.csv -o predictions.csv
  spinney evaluate income.spinney test.csv
  spinney compare people.csv --target income

{EXIT_CODES}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the name of the program. Default: those of the process.

    Returns
    -------
    int
        0 if all went well, 1 if data or model cannot be used, 2 for wrong usage, 130 after an
        interrupt.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = make_parser()
    if not words:  # whoever knows no word yet wants to see what there is
        parser.print_help(sys.stderr)
        return USAGE
    try:
        options = parser.parse_args(words)
    except SystemExit as end:  # argparse has said what is wrong, or printed the help
        return int(end.code or OK)
    console = standard_console(is_quiet=options.quiet, is_json=options.json)
    return run(options, console)


def run(options: argparse.Namespace, console: Console) -> int:
    """Run one subcommand; every error becomes one line and an exit code."""
    try:
        with warnings.catch_warnings(), one_warning():
            warnings.simplefilter("ignore")  # what is only for developers
            warnings.simplefilter("default", UserWarning)
            warnings.filterwarnings("default", category=FutureWarning, module="spinney")
            warnings.showwarning = _teller(console)
            code = int(options.run(options, console) or OK)
        console.out.flush()
        return code
    except BrokenPipeError:  # whoever reads the results has had enough
        _forget_output(console)
        return OK
    except KeyboardInterrupt:
        console.complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        if options.debug:
            traceback.print_exc(file=console.err)
        console.complain(message_of(error))
        return error.exit_code if isinstance(error, CommandError) else FAILED


def message_of(error: Exception) -> str:
    """What an error says, in one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory; try fewer rows, or fewer and shallower trees"
    if isinstance(error, CommandError | ValueError | TypeError | OSError | ImportError):
        return str(error)
    return f"{type(error).__name__}: {error}; --debug shows where"


def make_parser() -> argparse.ArgumentParser:
    """The parser of all subcommands."""
    parser = Parser(
        "spinney",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"spinney {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def _teller(console: Console) -> Any:
    """Writer of warnings as one line of talk."""

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        text = one_line(str(message))
        if isinstance(message, MissingValuesWarning):  # ends in advice for Python
            text = text.partition("; try missing=")[0]
        console.say(f"note: {text}")

    return tell


def _forget_output(console: Console) -> None:
    """Keep the interpreter from flushing into a closed pipe when it ends."""
    if console.out is sys.__stdout__:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())
