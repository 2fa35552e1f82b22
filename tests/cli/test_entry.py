from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

import spinney
from spinney.cli import main, predict
from spinney.cli.entry import COMMANDS, make_parser
from spinney.cli.reading import INSTALL
from tests.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
NAMES = [command.__name__.rpartition(".")[2] for command in COMMANDS]


def test_the_version_is_that_of_the_library(run: Run) -> None:
    ran = run("--version")
    assert (ran.code, ran.out) == (0, f"spinney {spinney.__version__}\n")


def test_the_program_of_the_package_is_this_function() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["spinney"].partition(":")
    assert getattr(importlib.import_module(module), function) is main
    assert INSTALL == "pip install 'spinney[cli]'"
    assert "cli" in project["optional-dependencies"]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_teaches_with_examples(run: Run, name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert f"\nexamples:\n  spinney {name}" in ran.out
    assert "exit codes: 0 done, 1 data or model cannot be used, 2 wrong usage" in ran.out


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_the_help_are_understood(run: Run, name: str) -> None:
    text = run(name, "--help").out.partition("\nexamples:\n")[2].partition("\n\n")[0]
    lines = [line.strip() for line in text.splitlines()]
    assert lines
    for line in lines:
        words = line.partition("spinney ")[2].partition("#")[0].partition("|")[0].partition(">")[0]
        if "--parameters-of" not in words:
            make_parser().parse_args(words.split())


@pytest.mark.parametrize("words", [("fly",), ("train",), ("predict", "m"), ("train", "--no")])
def test_wrong_words_end_with_code_2_and_one_line(run: Run, words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert ran.err.startswith("spinney")
    assert ran.err.endswith(" --help\n")
    assert len(ran.err.splitlines()) == 1


def test_no_word_shows_what_there_is(run: Run) -> None:
    ran = run()
    assert ran.code == 2
    assert "train     fit a model to a table and store it" in ran.err


def test_an_error_is_one_line_and_debug_shows_where(run: Run, tmp_path: Path, table: Path) -> None:
    words = ("predict", tmp_path / "no.spinney", table)
    ran = run(*words)
    assert ran.code == 1
    assert ran.err == f"spinney: error: {tmp_path / 'no.spinney'}: No such file or directory\n"
    assert "Traceback" in run(*words, "--debug").err


def test_an_error_nobody_foresaw_is_one_line_too(
    run: Run, model: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("what\nnow")

    monkeypatch.setattr(predict, "predictions", fail)
    ran = run("predict", model, table, "--quiet")
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1
    assert "KeyError" in ran.err


def test_an_interrupt_ends_with_code_130(
    run: Run, model: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(predict, "predictions", interrupt)
    ran = run("predict", model, table, "--quiet")
    assert (ran.code, ran.err) == (130, "spinney: error: interrupted\n")


def test_a_terminal_as_input_is_refused(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli import conftest

    monkeypatch.setattr(conftest.Pipe, "isatty", lambda _: True)
    ran = run("predict", model, "-")
    assert ran.code == 1
    assert "standard input is a terminal" in ran.err


def test_model_and_table_the_wrong_way_round_are_told_apart(
    run: Run, model: Path, table: Path
) -> None:
    assert "the model file comes first" in run("predict", table, model).err
    assert "the model comes first" in run("predict", model, model).err
