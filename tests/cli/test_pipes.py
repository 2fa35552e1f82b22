"""The command line as a shell runs it: real processes, real pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import spinney
from tests.cli.conftest import HEADER, people, write_csv

SPINNEY = [sys.executable, "-m", "spinney"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(spinney.__file__).resolve().parents[1])}


def test_a_reader_that_has_had_enough_is_no_error(model: Path, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", HEADER, people(50, 1) * 400)
    command = f"{' '.join(SPINNEY)} predict {model} {table} --proba; echo $? >&2"
    done = subprocess.run(
        f"( {command} ) | head -n 2",
        shell=True,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    assert done.stdout.splitlines()[0] == "prediction,probability_high,probability_low"
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.splitlines()[-1] == "0"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.slow
def test_a_pipeline_from_training_to_prediction(tmp_path: Path) -> None:
    data = write_csv(tmp_path / "t.csv", HEADER, people(60, 1)).read_bytes()

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [*SPINNEY, *words]
        return subprocess.run(
            command, input=data, capture_output=True, env=ENVIRONMENT, cwd=tmp_path, check=True
        )

    run("train", "-", "-t", "income", "--model", "tree", "--n-jobs", "1", "-o", "m.spinney")
    done = run("predict", "m.spinney", "-", "--quiet")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 61
    assert done.stderr == b""


def test_ctrl_c_ends_with_130_and_leaves_nothing(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", HEADER, people(400, 1))
    words = ["--param", "n_estimators=100000", "--n-jobs", "1", "-o", str(tmp_path / "m.spinney")]
    process = subprocess.Popen(
        [*SPINNEY, "train", str(table), "-t", "income", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=ENVIRONMENT,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("fitting"):
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.endswith("spinney: error: interrupted\n")
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
