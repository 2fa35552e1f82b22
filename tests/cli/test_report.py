from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spinney
from tests.cli.conftest import FAST, HEADER, Run, write_csv


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Stand in for the method of the estimators."""
    found: list[dict[str, Any]] = []

    def report(
        self: Any, path: Path, X: Any = None, y: Any = None, *, image_shape: Any = None
    ) -> None:
        found.append({"model": self, "X": X, "y": y, "image_shape": image_shape})
        Path(path).write_text("<!doctype html>half")
        self.predict(X)
        Path(path).write_text("<!doctype html>whole")

    monkeypatch.setattr(spinney.TAOTreeClassifier, "report", report, raising=False)
    return found


def test_a_report_is_written_of_the_rows_as_the_model_takes_them(
    run: Run, model: Path, test_table: Path, tmp_path: Path, calls: list[dict[str, Any]]
) -> None:
    path = tmp_path / "r.html"
    ran = run("report", model, test_table, "-o", path, "--image-shape", "5x1")
    assert ran.code == 0, ran.err
    assert path.read_text() == "<!doctype html>whole"
    [call] = calls
    assert call["X"].column_names == HEADER[1:-1]
    assert set(call["y"]) == {"high", "low"}
    assert call["image_shape"] == (5, 1)


def test_a_report_that_fails_leaves_the_old_one(
    run: Run,
    model: Path,
    test_table: Path,
    tmp_path: Path,
    calls: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no")

    path = tmp_path / "r.html"
    path.write_text("old")
    monkeypatch.setattr(spinney.TAOTreeClassifier, "predict", fail)
    assert run("report", model, test_table, "-o", path).code == 1
    assert len(calls) == 1
    assert path.read_text() == "old"


def test_labels_are_those_of_the_model(
    run: Run, tmp_path: Path, calls: list[dict[str, Any]]
) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i % 7, i % 2] for i in range(20)])
    model = tmp_path / "m.spinney"
    run("train", path, "-t", "y", *FAST, "-o", model)
    assert run("report", model, path, "-o", tmp_path / "r.html").code == 0
    assert calls[0]["y"].tolist() == [0, 1] * 10
    strange = write_csv(tmp_path / "s.csv", ["x", "y"], [[1, 0], [2, 5]])
    ran = run("report", model, strange, "-o", tmp_path / "r.html")
    assert ran.code == 1
    assert "labels that the model does not know (5)" in ran.err


def test_a_shape_must_be_two_numbers(run: Run) -> None:
    ran = run("report", "m", "t.csv", "-o", "r.html", "--image-shape", "28")
    assert ran.code == 2
    assert "'28' is not of the form 28x28" in ran.err
