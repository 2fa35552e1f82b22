from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import spinney
from tests.cli.conftest import Run


def test_json_reads_back_as_the_same_model(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    ran = run("export", model, "json", "-o", path)
    assert (ran.code, ran.out) == (0, "")
    again = spinney.from_dict(json.loads(path.read_text()))
    assert spinney.export_text(again) == spinney.export_text(spinney.load(model))


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_c_is_what_the_library_writes(run: Run, model: Path, weights: str) -> None:
    ran = run("export", model, "c", "--weights", weights, "--name", "income", "-o", "-")
    assert ran.out == spinney.to_c(spinney.load(model), weights=weights, name="income").text


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_onnx_is_what_the_library_writes(run: Run, model: Path, tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "m.onnx"
    assert run("export", model, "onnx", "--dtype", dtype, "-o", path).code == 0
    assert onnx.load(path) == spinney.to_onnx(spinney.load(model), dtype=dtype)


def test_an_option_of_another_format_is_refused(run: Run, model: Path, tmp_path: Path) -> None:
    ran = run("export", model, "json", "--weights", "int8", "-o", tmp_path / "m.json")
    assert ran.code == 2
    assert "--weights is an option of the format c only" in ran.err
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("name", ["m.onnx", "m.C", "m.json"])
def test_the_ending_says_the_format(run: Run, model: Path, tmp_path: Path, name: str) -> None:
    form = name.split(".")[1].lower()
    guessed, named = tmp_path / name, tmp_path / "named"
    assert run("export", model, "-o", guessed).code == 0
    assert run("export", model, form, "-o", named).code == 0
    assert guessed.read_bytes() == named.read_bytes()


def test_a_format_that_is_named_is_taken_whatever_the_ending(
    run: Run, model: Path, tmp_path: Path
) -> None:
    for words in ((model, "json", "-o"), (model, "-o")):
        path = tmp_path / "m.onnx"
        ran = run("export", *words, path, *(() if "json" in words else ("json",)))
        assert ran.code == 0, ran.err
        assert json.loads(path.read_text())["kind"] == "model"


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("m.bin", "m.bin does not say the format as .onnx, .c and .json do; name it: spinney"),
        ("m", "spinney export MODEL onnx -o"),
        ("m.txt", "spinney inspect MODEL --tree 0 prints a tree as text"),
        ("-", "-o - does not say the format"),
    ],
)
def test_an_ending_that_says_nothing_is_refused(
    run: Run, model: Path, tmp_path: Path, output: str, says: str
) -> None:
    ran = run("export", model, "-o", output if output == "-" else tmp_path / output)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert list(tmp_path.glob("m*")) == []


def test_an_unknown_format_is_refused(run: Run, model: Path, tmp_path: Path) -> None:
    ran = run("export", model, "pmml", "-o", tmp_path / "m.onnx")
    assert ran.code == 2
    assert "argument format: invalid choice: 'pmml'" in ran.err
