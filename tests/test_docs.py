"""The examples people read first must run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import spinney

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(spinney.__path__, "spinney.")
    if not module.name.endswith("._core")
)
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["spinney", *MODULES])
def test_docstring_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = re.findall(r"```python\n(.*?)```", text_of(README), flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line]) <= 15
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    accuracy = float(re.findall(r"accuracy ([0-9.]+)", printed)[0])
    assert accuracy > 0.9
    assert "if " in printed


@each_page
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text_of(page))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@each_page
def test_files_that_pages_name_exist(page: Path) -> None:
    named = re.findall(r"`((?:src|cpp|bindings|benchmarks|tests|examples)/[\w./]+)`", text_of(page))
    assert [path for path in named if not (ROOT / path).exists()] == []
