"""``spinney export``: a model for other programs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import spinney
from spinney.cli.arguments import add_command
from spinney.cli.console import Console
from spinney.cli.errors import OK, UsageError
from spinney.cli.loading import load_model
from spinney.cli.output import STANDARD_OUTPUT, check_output, write_output

DESCRIPTION = """\
Write a model in a form that needs no spinney. All forms predict as the model does, also for rows on
a hyperplane.

  onnx  for onnxruntime and everything that reads ONNX (needs: pip install 'spinney[onnx]')
  c     one file of C99 without dependencies, for firmware and for services
  json  all trees and tables as plain JSON; spinney.from_dict reads it back

The ending of the file says which, unless you do. An existing file is replaced.
"""
EXAMPLES = """
  spinney export income.spinney -o income.onnx
  spinney export income.spinney --weights int8 --name income -o income.c
  spinney export income.spinney json -o - | jq keys
"""
FORMATS = ("onnx", "c", "json")
TEXTS = ("txt", "text", "md", "dot")  # endings of what is for people

#: Options that only one format has, with their defaults.
ONLY = {"dtype": "onnx", "encoding": "onnx", "weights": "c", "name": "c"}


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "export",
        run,
        "write a model as ONNX, C or JSON",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.is_mixed = True
    parser.add_argument("model", help="model file")
    parser.add_argument(
        "format", nargs="?", choices=FORMATS, help="(default: the ending of the output)"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="file to write; - for a pipe"
    )
    parser.add_argument("--dtype", choices=("float32", "float64"), help="onnx: type of the rows")
    parser.add_argument(
        "--encoding", choices=("auto", "axis", "gather", "gemm"), help="onnx: how trees are walked"
    )
    parser.add_argument("--weights", choices=("float32", "int8"), help="c: type of the weights")
    parser.add_argument("--name", help="c: prefix of its functions (default model)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Load, convert, write."""
    form = options.format or format_of(options.output)
    given = {name: getattr(options, name) for name in ONLY if getattr(options, name) is not None}
    for name in given:
        if ONLY[name] != form:
            raise UsageError(f"--{name} is an option of the format {ONLY[name]} only")
    is_piped = options.output == STANDARD_OUTPUT
    if not is_piped:
        check_output(options.output)
    data = converted(load_model(options.model).model, form, given)
    if not is_piped:
        write_output(options.output, data, console)
    elif form == "onnx":
        _write_binary(data, console)
    else:
        console.out.write(data.decode())
    return OK


def format_of(path: str) -> str:
    """The format that the ending of a file stands for.

    Raises
    ------
    UsageError
        If it stands for none.
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending in FORMATS:
        return ending
    text = "; spinney inspect MODEL --tree 0 prints a tree as text" if ending in TEXTS else ""
    raise UsageError(
        f"-o {path} does not say the format as .onnx, .c and .json do; name it: "
        f"spinney export MODEL onnx -o {path}{text}"
    )


def converted(model: Any, form: str, options: dict[str, str]) -> bytes:
    """The model in another form."""
    if form == "c":
        return spinney.to_c(model, **options).text.encode()
    if form == "onnx":
        return bytes(spinney.to_onnx(model, **options).SerializeToString())
    return (json.dumps(spinney.to_dict(model), allow_nan=False) + "\n").encode()


def _write_binary(data: bytes, console: Console) -> None:
    if console.out.isatty():
        raise UsageError("-o -: ONNX is binary and standard output is a terminal; name a file")
    stream = getattr(console.out, "buffer", sys.stdout.buffer)
    stream.write(data)
    stream.flush()
