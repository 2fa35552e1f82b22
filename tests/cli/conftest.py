"""Small tables and models that the tests of the command line share."""

from __future__ import annotations

import csv
import datetime
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from spinney.cli import main

HEADER = ["id", "age", "job", "zip", "since", "wage", "income"]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class Pipe(io.TextIOWrapper):
    """Standard input with bytes in it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")

    def isatty(self) -> bool:
        return False


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process."""

    def run_words(*words: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", Pipe(stdin))
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run_words


def people(n_rows: int, seed: int) -> list[list[object]]:
    """Rows of a mixed table whose income follows from age and job."""
    random = np.random.RandomState(seed)
    rows: list[list[object]] = []
    for number in range(n_rows):
        age = int(random.randint(18, 80))
        job = str(random.choice(["clerk", "cook", "smith, black"]))
        since = datetime.date(2020, 1, 1) + datetime.timedelta(days=int(random.randint(900)))
        score = age / 10 + 3 * (job == "smith, black") + 0.3 * random.randn()
        rows.append(
            [
                f"p{number}",
                "" if random.rand() < 0.1 else age,
                "NA" if random.rand() < 0.1 else job,
                int(random.randint(100, 105)),
                since,
                round(2.5 * age + random.randn(), 3),
                "high" if score > 5 else "low",
            ]
        )
    return rows


def write_csv(
    path: Path, header: list[str], rows: list[list[object]], delimiter: str = ","
) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", HEADER, people(120, 0))


@pytest.fixture
def test_table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "test.csv", HEADER, people(50, 1))


FAST = ("--model", "tree", "--param", "max_depth=3", "--n-jobs", "1")


@pytest.fixture
def model(run: Run, table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "income.spinney"
    ran = run("train", table, "--target", "income", "--drop", "id", *FAST, "-o", path, "--quiet")
    assert ran.code == 0, ran.err
    return path
