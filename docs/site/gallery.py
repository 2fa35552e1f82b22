"""Pages of the examples: what each is about, what it prints and draws, and its code.

An example runs in a folder of its own when the site is built. What it printed and drew is kept
until the example or the library changes.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from paths import ROOT, STAGE

EXAMPLES = ROOT / "examples"
KEPT = STAGE.with_name("docs-gallery")
LIMIT_SECONDS = 300


def write_gallery(folder: Path, *, run: Callable[[Path], Path]) -> None:
    """A page an example, and a table of contents at the end of the folder's README."""
    for script in sorted(EXAMPLES.glob("*.py")):
        result = run(script)
        pictures = sorted(result.rglob("*.png"))
        for picture in pictures:
            shutil.copy(picture, folder / picture.name)
        printed = (result / "printed.txt").read_text(encoding="utf-8")
        page = page_of(script, printed, [picture.name for picture in pictures])
        (folder / f"{script.stem}.md").write_text(page, encoding="utf-8")
    with (folder / "README.md").open("a", encoding="utf-8") as readme:
        readme.write("\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n")


def page_of(script: Path, printed: str, pictures: list[str]) -> str:
    """The page of an example in Markdown."""
    code = script.read_text(encoding="utf-8")
    parsed = ast.parse(code)
    title, _, about = (ast.get_docstring(parsed) or script.stem).partition("\n")
    code = "\n".join(code.splitlines()[parsed.body[0].end_lineno :]).strip()
    lines = [f"# {title.rstrip('.')}", "", about.strip(), ""]
    lines += [f"![drawn by {script.name}]({picture})" for picture in pictures]
    lines += ["", "It prints:", "", "```text", printed.rstrip(), "```", ""]
    lines += [f"The code, `examples/{script.name}`:", "", "````python", code, "````", ""]
    return "\n".join(lines)


def do_not_run(script: Path) -> Path:
    """For checks that have no time: a folder in which an example has printed nothing."""
    folder = KEPT / "not-run" / script.stem
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "printed.txt").write_text("(not run)")
    return folder


def run_once(script: Path) -> Path:
    """Run an example unless it has been run as it is; return the folder of what it wrote."""
    folder, key = KEPT / script.stem, _key(script)
    stamp = folder / "key"
    if not stamp.is_file() or stamp.read_text() != key:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        start = perf_counter()
        run = subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_SECONDS,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            check=False,
        )
        if run.returncode:
            raise SystemExit(f"{script.name} ended with {run.returncode}:\n{run.stderr}")
        print(f"{script.name} ran in {perf_counter() - start:.0f} s")
        (folder / "printed.txt").write_text(run.stdout, encoding="utf-8")
        stamp.write_text(key)
    return folder


def _key(script: Path) -> str:
    """Changes with the example and with the installed library."""
    import spinney

    seen = hashlib.sha256(script.read_bytes())
    package = Path(spinney.__file__).parent
    for file in sorted([*package.rglob("*.py"), *package.glob("_core*.so")]):
        seen.update(file.read_bytes())
    return seen.hexdigest()
