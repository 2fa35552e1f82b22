import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cell_file import CellFile, read_cells

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SHIPPED = sorted((BENCHMARKS / "results" / "cells").glob("*"))
RECORDER = """
import itertools, sys
from pathlib import Path
sys.path.append(sys.argv[-1])  # last, as a script there has the name of a standard module
from cell_file import CellFile
file, writer = CellFile(Path(sys.argv[1])), sys.argv[2]
for i in itertools.count() if len(sys.argv) == 4 else range(int(sys.argv[3])):
    file.put({"label": f"{writer}-{i}", "settings": {"writer": writer, "i": i}, "result": {}})
"""


@pytest.fixture
def file(tmp_path: Path) -> CellFile:
    return CellFile(tmp_path / "a_table.jsonl")


def cell(label: str, **result: Any) -> dict[str, Any]:
    return {"label": label, "settings": {"model": label}, "result": result}


def recorder(file: CellFile, *arguments: str) -> subprocess.Popen[bytes]:
    """A process that adds cells of its own."""
    command = [sys.executable, "-c", RECORDER, str(file.path), *arguments, str(BENCHMARKS)]
    return subprocess.Popen(command)


def labels(file: CellFile) -> list[str]:
    return [found["label"] for found in read_cells(file.path)]


def test_lines_are_in_the_order_of_the_labels(file):
    for label in "cab":
        file.put(cell(label))
    assert labels(file) == ["a", "b", "c"]


def test_a_new_cell_leaves_the_other_lines_as_they_are(file):
    for label in "ac":
        file.put(cell(label, test_error=0.1, auc=None, curve=[1e-300, 2]))
    before = file.path.read_text().splitlines()
    file.put(cell("b"))
    after = file.path.read_text().splitlines()
    assert [after[0], after[2]] == before


def test_a_cell_measured_anew_replaces_the_old_one_whatever_its_label(file):
    file.put(cell("a", test_error=1.0))
    file.put(cell("a", test_error=2.0) | {"label": "renamed"})
    (found,) = read_cells(file.path)
    assert (found["label"], found["result"]) == ("renamed", {"test_error": 2.0})


def test_the_order_of_settings_does_not_matter(file):
    file.put({"label": "a", "settings": {"x": 1, "y": 2}, "result": {}})
    assert file.find({"y": 2, "x": 1}) is not None


def test_cells_of_another_run_are_seen(file):
    other = CellFile(file.path)
    file.put(cell("a"))
    other.put(cell("b"))
    assert file.find({"model": "b"}) is not None
    file.put(cell("c"))
    assert labels(file) == ["a", "b", "c"]


def test_half_a_last_line_is_passed_over_with_a_note(file, capsys):
    file.put(cell("a"))
    with file.path.open("a") as opened:
        opened.write(json.dumps(cell("b"))[:-5])
    assert file.find({"model": "a"}) is not None
    assert file.find({"model": "b"}) is None
    assert "a_table.jsonl: the last line has no end" in capsys.readouterr().err
    file.put(cell("b"))
    assert labels(file) == ["a", "b"]


@pytest.mark.parametrize("damage", ['{"label": 1', "<<<<<<< HEAD", ""])
def test_a_damaged_line_stops_before_anything_is_overwritten(file, damage):
    file.path.write_text("\n".join([damage, json.dumps(cell("a")), ""]))
    before = file.path.read_bytes()
    with pytest.raises(ValueError, match="line 1, is no cell"):
        file.put(cell("b"))
    assert file.path.read_bytes() == before


def test_a_killed_run_leaves_whole_cells_without_a_gap(file):
    process = recorder(file, "w")
    while not file.path.exists() or file.path.read_text().count("\n") < 5:
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert file.path.read_bytes().endswith(b"\n")
    kept = sorted(found["settings"]["i"] for found in read_cells(file.path))
    assert kept == list(range(len(kept)))
    file.put(cell("the next run goes on"))
    assert len(read_cells(file.path)) == len(kept) + 1


def test_two_runs_at_once_keep_the_cells_of_both(file):
    processes = [recorder(file, writer, "20") for writer in "uv"]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(read_cells(file.path)) == 40
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_files_are_as_they_would_be_written_now(path, tmp_path):
    assert path.suffix == ".jsonl"
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    CellFile(copy).put(read_cells(path)[0])
    assert copy.read_bytes() == path.read_bytes()
