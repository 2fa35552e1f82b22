"""Options that several subcommands share, and the way their help is laid out."""

from __future__ import annotations

import argparse
import shutil
from typing import Any, NoReturn

from spinney.cli.errors import USAGE
from spinney.cli.reading import Format

EXIT_CODES = "exit codes: 0 done, 1 data or model cannot be used, 2 wrong usage, 130 interrupted"


class Help(argparse.RawDescriptionHelpFormatter):
    """Help with descriptions and examples laid out as they are written."""

    def __init__(self, prog: str, **options: Any) -> None:
        options["width"] = min(100, shutil.get_terminal_size().columns - 2)
        super().__init__(prog, max_help_position=28, **options)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors of the program are.

    Attributes
    ----------
    is_mixed : bool
        Whether a word that may be left out can also follow options, which argparse itself allows
        only in later versions of Python.
    """

    is_mixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the words, those of `is_mixed` parsers in any order."""
        if not self.is_mixed:
            return super().parse_known_args(args, namespace)
        self.is_mixed = False  # the call below comes back here
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.is_mixed = True

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end."""
        self.exit(USAGE, f"{self.prog}: error: {message}; see {self.prog} --help\n")


def add_command(
    commands: Any, name: str, run: Any, summary: str, *, description: str, examples: str
) -> Parser:
    """A subcommand with the options that all of them have."""
    parser: Parser = commands.add_parser(
        name,
        help=summary,
        description=description.strip(),
        epilog=f"examples:\n{examples.strip(chr(10))}\n\n{EXIT_CODES}",
        formatter_class=Help,
        allow_abbrev=False,
    )
    talk = parser.add_argument_group("talk")
    talk.add_argument("--quiet", "-q", action="store_true", help="only results and errors")
    talk.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.set_defaults(run=run, json=False)
    return parser


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option for machines."""
    parser.add_argument("--json", action="store_true", help="the result as JSON")


def add_table(parser: argparse.ArgumentParser) -> None:
    """The table and how it is written."""
    parser.add_argument("data", help="table: .csv, .tsv, .parquet (also .gz), or - for a pipe")
    form = parser.add_argument_group("how the CSV is written")
    form.add_argument(
        "--delimiter", metavar="CHAR", type=_delimiter, help="between cells: , or tab for .tsv"
    )
    form.add_argument("--decimal", metavar="CHAR", default=".", help="decimal point (default .)")
    form.add_argument("--encoding", default="utf-8", help="of the text (default utf-8)")
    form.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        default=[],
        help="a cell that means missing, beside the empty cell, NA, NaN, null; may be repeated",
    )


def add_target(parser: argparse.ArgumentParser, *, is_required: bool, several: str = "") -> None:
    """What is to be predicted."""
    parser.add_argument(
        "--target",
        "-t",
        metavar="COLUMN",
        action=_Different,
        required=is_required,
        help=f"column to predict{several}",
    )
    parser.add_argument(
        "--skip-missing-target",
        action="store_true",
        help="leave out rows whose target is missing; they are refused otherwise",
    )


class _Different(argparse.Action):
    """Collect values, each once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        known = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*known, values] if values not in known else known)


def format_of(options: argparse.Namespace) -> Format:
    """How the CSV is written, from the options."""
    return Format(
        options.delimiter, options.decimal, options.encoding.lower(), tuple(options.missing)
    )


def share(text: str) -> float:
    """A number between 0 and 1, both excluded."""
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1, as 0.2 is")
    return value


def at_least(least: int) -> Any:
    """A reader of whole numbers that are not too small."""

    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value

    read.__name__ = "whole number"  # what argparse calls it in its message
    return read


def _delimiter(text: str) -> str:
    text = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(text) != 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one character; tab means a tab")
    return text
