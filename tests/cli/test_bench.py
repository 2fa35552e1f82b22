from __future__ import annotations

import json
from pathlib import Path

import pytest

from spinney.cli import bench
from tests.cli.conftest import Run


def test_words_go_to_the_script_of_the_clone(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "benchmarks" / "run.py"
    script.parent.mkdir()
    said = tmp_path / "said.json"
    script.write_text(
        f"import json, sys\njson.dump(sys.argv[1:], open({str(said)!r}, 'w'))\nsys.exit(7)\n"
    )
    ran = run("bench", "--clone", tmp_path, "--quiet", "--", "letter", "--seeds", "0")
    assert ran.code == 7
    assert json.loads(said.read_text()) == ["letter", "--seeds", "0"]


def test_without_a_clone_it_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "lib" / "site" / "spinney" / "__init__.py"
    monkeypatch.setattr(bench.spinney, "__file__", str(installed))
    monkeypatch.chdir(tmp_path)
    ran = run("bench", "letter")
    assert ran.code == 1
    assert "run this in a clone of the repository" in ran.err


def test_the_clone_of_the_package_is_found() -> None:
    assert (bench.find_clone(None) / "benchmarks" / "run.py").is_file()
