"""The source distribution holds what building and testing need, and no measurements."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("scikit_build_core", reason="what builds the package is not installed here")

ROOT = Path(__file__).resolve().parents[1]
BUILD = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
LEFT_OUT = {"tests/benchmarks/test_doc_tables.py", "tests/docs/test_links.py"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([sys.executable, "-c", BUILD, folder], cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="module")
def names(archive: Path) -> set[str]:
    with tarfile.open(archive) as opened:
        return {name.split("/", 1)[1] for name in opened.getnames() if "/" in name}


def test_it_is_small(archive: Path) -> None:
    assert archive.stat().st_size < 2_000_000


def test_measurements_are_left_out(names: set[str]) -> None:
    assert not [name for name in names if name.startswith("benchmarks/results")]


@pytest.mark.parametrize("folder", ["src", "cpp", "bindings", "tests"])
def test_all_sources_are_in_it(folder: str, names: set[str]) -> None:
    kinds = {".py", ".pyi", ".typed", ".hpp", ".cpp", ".txt", ".js", ".css", ".html", ".spinney"}
    there = {
        p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob("*") if p.suffix in kinds
    }
    assert there - names <= LEFT_OUT


def test_what_make_needs_is_in_it(names: set[str]) -> None:
    assert {"Makefile", "CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"} <= names
