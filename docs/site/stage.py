"""The sources of the site: the pages of the repository in their places, beside generated ones.

Pages lie as they do in the repository, so a relative link means the same on a code host and here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from gallery import write_gallery
from links import linked_files
from paths import ROOT, STAGE, pages
from reference import write_reference

SCRIPT = re.compile(r"(\]\((?:[./]*examples/)?\w+)\.py\)")


def stage(run: Callable[[Path], Path]) -> Path:
    """Write the sources anew; files that did not change keep their time, so Sphinx skips them.

    `run` runs an example and returns the folder of what it wrote.
    """
    fresh = STAGE.with_name("docs-source.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for page in pages():
        for file in (page, *linked_files(page)):
            if file.is_file() and file.is_relative_to(ROOT):
                _copy(file, fresh)
    for page in fresh.rglob("*.md"):
        _lead_to_gallery(page)
    write_gallery(fresh / "examples", run=run)
    write_reference(fresh / "docs" / "api")
    _replace(STAGE, fresh)
    return STAGE


def _lead_to_gallery(page: Path) -> None:
    """Links to the script of an example lead to its page, which has what it prints and draws."""
    text = page.read_text(encoding="utf-8")
    page.write_text(SCRIPT.sub(r"\1.md)", text), encoding="utf-8")


def _copy(file: Path, folder: Path) -> None:
    target = folder / file.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


def _replace(old: Path, new: Path) -> None:
    """Make `old` what `new` is, touching only what differs."""
    wanted = {file.relative_to(new) for file in new.rglob("*") if file.is_file()}
    for file in [file for file in old.rglob("*") if file.is_file()]:
        if file.relative_to(old) not in wanted:
            file.unlink()
    for name in wanted:
        target = old / name
        if not target.is_file() or target.read_bytes() != (new / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new / name, target)
    shutil.rmtree(new)
