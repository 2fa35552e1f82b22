"""``spinney bench``: the tables of the papers, from a clone of the repository."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import spinney
from spinney.cli.arguments import add_command
from spinney.cli.console import Console
from spinney.cli.errors import CommandError

DESCRIPTION = """\
Run the project's benchmarks: the tables of the papers with peers beside us. They read data sets and
files that are not part of the installed package, so this works in a clone of the repository, or
with --clone. All words after it go to benchmarks/run.py: spinney bench -- --help
"""
EXAMPLES = """
  spinney bench -- --help
  spinney bench letter
  spinney bench --clone ~/spinney -- letter
"""
SCRIPT = Path("benchmarks", "run.py")


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "bench",
        run,
        "run the project's benchmarks, from a clone",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("--clone", metavar="FOLDER", help="the clone (default: found by itself)")
    parser.add_argument("words", nargs="*", metavar="WORD", help="for benchmarks/run.py")


def run(options: argparse.Namespace, console: Console) -> int:
    """Run the script of the clone; its exit code is ours."""
    clone = find_clone(options.clone)
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    console.say(f"running {clone / SCRIPT}")
    return subprocess.run([sys.executable, str(clone / SCRIPT), *words], check=False).returncode


def find_clone(given: str | None) -> Path:
    """The clone that was named, else that of the package, else the folder we are in."""
    package = Path(spinney.__file__).resolve().parents[2]
    folders = [Path(given)] if given else [package, Path.cwd()]
    for folder in folders:
        if (folder / SCRIPT).is_file():
            return folder
    raise CommandError(
        f"{' and '.join(map(str, folders))}: no {SCRIPT}; the benchmarks are not part of the "
        "installed package; run this in a clone of the repository, or name one with --clone"
    )
