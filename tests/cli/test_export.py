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
